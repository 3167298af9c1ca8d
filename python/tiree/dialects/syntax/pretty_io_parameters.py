"""Short forms of the `io_parameters` dialect."""

from __future__ import annotations

from tiree.dialects.syntax.forms import forms
from tiree.dialects.syntax.parameter_lists import parameters_reader
from tiree.dialects.syntax.reader import CustomReader

_FORMS = {
    "io_parameters.load": (
        "< $device : ~device > affinity ( $queue_affinity ) wait ( $wait_fence ) signal ( $signal_fence ) "
        "type ( $memory_type ) usage ( $buffer_usage ) !parameters {}"
    ),
}

READERS: dict[str, CustomReader] = forms(_FORMS, custom={"parameters": parameters_reader("lengths")})
