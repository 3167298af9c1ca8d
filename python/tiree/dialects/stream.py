"""The `stream` dialect: device memory with sizes, commands that run asynchronously, and timepoints that order them.

Sizes and offsets are `index` in bytes; every use of a resource carries its size. The `async` forms that IREE uses
between tensors and commands have no counterpart here: `tiree.stream` goes from tensors to commands in one step. This
file is the name space of the dialect's five files.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from tiree.dialects.flow_parameters import StreamParameterAttr
from tiree.dialects.stream_attrs import *  # noqa: F403
from tiree.dialects.stream_attrs import STREAM_ATTRIBUTES
from tiree.dialects.stream_cmd import *  # noqa: F403
from tiree.dialects.stream_cmd import STREAM_CMD_OPS
from tiree.dialects.stream_executable import *  # noqa: F403
from tiree.dialects.stream_executable import STREAM_EXECUTABLE_OPS
from tiree.dialects.stream_parameters import *  # noqa: F403
from tiree.dialects.stream_parameters import STREAM_PARAMETER_OPS
from tiree.dialects.stream_resource import *  # noqa: F403
from tiree.dialects.stream_resource import STREAM_RESOURCE_OPS

Stream = Dialect(
    "stream",
    [*STREAM_EXECUTABLE_OPS, *STREAM_RESOURCE_OPS, *STREAM_CMD_OPS, *STREAM_PARAMETER_OPS],
    [*STREAM_ATTRIBUTES, StreamParameterAttr],
)
