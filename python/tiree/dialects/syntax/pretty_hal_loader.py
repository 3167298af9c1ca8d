"""Short forms of the `hal_loader` dialect."""

from __future__ import annotations

from tiree.dialects.syntax.forms import forms
from tiree.dialects.syntax.pretty_hal import read_bindings
from tiree.dialects.syntax.reader import CustomReader

_FORMS = {
    "hal_loader.executable.query_support": "format ( $executable_format:string ) : ~supported {}",
    "hal_loader.executable.load": (
        "format ( $format:string ) data ( $data ) (? constants ( [ $constants ] ) )? : ~result {}"
    ),
    "hal_loader.executable.lookup.function": (
        "target ( $executable : ~executable ) function ( $entry_point:symbol ) : ~result {}"
    ),
    "hal_loader.executable.dispatch": (
        "executable ( $executable : ~executable ) [ $function_id ] "
        "workgroups ( [ $workgroup_x , $workgroup_y , $workgroup_z ] ) "
        "(? constants ( [ $constants ] ) )? bindings ( !bindings ) {}"
    ),
}

READERS: dict[str, CustomReader] = forms(_FORMS, custom={"bindings": read_bindings})
