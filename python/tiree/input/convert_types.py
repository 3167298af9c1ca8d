"""draft"""

from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class ConvertTypesPass(ModulePass):
    name = "tiree-input-convert-types"
    demote_f64_to_f32: bool = False
    demote_i64_to_i32: bool = False
    promote_f16_to_f32: bool = False
    promote_bf16_to_f32: bool = False
    is_needed = False

    def apply(self, ctx, op):
        pass
