"""The `hal` dialect: devices, memory, executables and command buffers, one name space for its files."""

from __future__ import annotations

from xdsl.ir import Dialect

from tiree.dialects.hal_affinity import *  # noqa: F403
from tiree.dialects.hal_alias import *  # noqa: F403
from tiree.dialects.hal_alias import HAL_ALIAS_OPS
from tiree.dialects.hal_attrs import *  # noqa: F403
from tiree.dialects.hal_attrs import HAL_ATTRIBUTES
from tiree.dialects.hal_command_buffer import *  # noqa: F403
from tiree.dialects.hal_command_buffer import HAL_COMMAND_BUFFER_OPS
from tiree.dialects.hal_devices import *  # noqa: F403
from tiree.dialects.hal_executable import *  # noqa: F403
from tiree.dialects.hal_executable import HAL_EXECUTABLE_OPS
from tiree.dialects.hal_ops import *  # noqa: F403
from tiree.dialects.hal_ops import HAL_HOST_OPS
from tiree.dialects.hal_queue import *  # noqa: F403
from tiree.dialects.hal_queue import HAL_QUEUE_OPS

HAL = Dialect(
    "hal", [*HAL_HOST_OPS, *HAL_ALIAS_OPS, *HAL_QUEUE_OPS, *HAL_COMMAND_BUFFER_OPS, *HAL_EXECUTABLE_OPS], HAL_ATTRIBUTES
)
