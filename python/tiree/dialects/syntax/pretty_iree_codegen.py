"""Short forms of the `iree_codegen` dialect."""

from __future__ import annotations

from tiree.dialects.syntax.forms import forms
from tiree.dialects.syntax.reader import CustomReader

READERS: dict[str, CustomReader] = forms(
    {
        "iree_codegen.load_from_buffer": "$buffer {} : ~buffer -> ~tensor",
        "iree_codegen.store_to_buffer": "$tensor , $buffer {} : ~tensor into ~buffer",
        "iree_codegen.dispatch_config": (
            "$function_ref:symbol (? workgroup_size = $workgroup_size:attribute )? "
            "(? subgroup_size = $subgroup_size:i64 )? {}+ ^body"
        ),
        "iree_codegen.yield": "{} (? $values : ~values )?",
    }
)
