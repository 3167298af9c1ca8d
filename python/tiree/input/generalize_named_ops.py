"""draft"""

from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class GeneralizeNamedOpsPass(ModulePass):
    name = "tiree-linalg-generalize-named-ops"

    def apply(self, ctx, op):
        pass
