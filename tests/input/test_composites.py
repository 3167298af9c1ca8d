"""What a composite must be: a name with a namespace, a decomposition that has a body and does not lead back to it."""

from __future__ import annotations

import pytest
from tiree.support.errors import CompileError

T = "tensor<4xf32>"
CALL = f"""func.func @main(%a: {T}) -> {T} {{
  %r = "stablehlo.composite"(%a) <{{ATTRIBUTES}}> : ({T}) -> {T}
  return %r : {T}
}}
"""


def function(name: str, body: str) -> str:
    return f"func.func private @{name}(%x: {T}) -> {T} {{\n  %y = {body} : ({T}) -> {T}\n  return %y : {T}\n}}\n"


def composite(decomposition: str) -> str:
    return f'stablehlo.composite "my.op" %x {{decomposition = @{decomposition}}}'


PLAIN = function("d", "stablehlo.sine %x").replace(f"({T}) -> {T}\n  return", f"{T}\n  return")


def refused(text: str, lowered) -> list[tuple[str, str]]:
    with pytest.raises(CompileError) as caught:
        lowered(text)
    assert "supported_ops.md" in caught.value.diagnostics[-1].hint
    return [(one.location.partition(":")[2], one.message) for one in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("decomposition = @d", "its name is '', not one such as 'my_namespace.my_op'"),
        ('decomposition = @d, name = "op"', "its name is 'op', not one such as 'my_namespace.my_op'"),
        ('decomposition = @d, name = "a.b c"', "its name is 'a.b c', not one such as 'my_namespace.my_op'"),
        ('name = "my.op"', "it names no function as its decomposition"),
        ('name = "my.op", decomposition = "d"', "it names no function as its decomposition"),
        ('name = "my.op", decomposition = @e', "its decomposition @e has no body"),
    ],
)
def test_attributes_that_no_composite_has(attributes: str, message: str, lowered) -> None:
    text = CALL.replace("ATTRIBUTES", attributes) + PLAIN + f"func.func private @e(%x: {T}) -> {T}\n"
    assert refused(text, lowered) == [("2:8", f"stablehlo.composite is not valid: {message}")]


@pytest.mark.parametrize("name", ["my.op", "a.b.c", "f00._.$"])
def test_names_that_composites_have(name: str, lowered) -> None:
    lowered(CALL.replace("ATTRIBUTES", f'name = "{name}", decomposition = @d') + PLAIN)


NESTED = f"""func.func private @d(%x: {T}) -> {T} {{
  %c = stablehlo.constant dense<true> : tensor<i1>
  %r = "stablehlo.if"(%c) ({{
    %y = {composite("d")} : ({T}) -> {T}
    stablehlo.return %y : {T}
  }}, {{
    stablehlo.return %x : {T}
  }}) : (tensor<i1>) -> {T}
  return %r : {T}
}}
"""


@pytest.mark.parametrize(
    ("functions", "places"),
    [
        (function("d", composite("d")), {"6:8": "@d -> @d"}),
        (NESTED, {"8:10": "@d -> @d"}),
        (
            function("d", composite("e")) + function("e", composite("d")),
            {"6:8": "@e -> @d -> @e", "10:8": "@d -> @e -> @d"},
        ),
        (function("d", "func.call @e(%x)") + function("e", composite("d")), {"10:8": "@d -> @e -> @d"}),
        (function("d", composite("main")), {"2:8": "@d -> @main -> @d", "6:8": "@main -> @d -> @main"}),
    ],
)
def test_a_decomposition_that_leads_back(functions: str, places: dict[str, str], lowered) -> None:
    text = CALL.replace("ATTRIBUTES", 'name = "my.op", decomposition = @d') + functions
    wanted = "stablehlo.composite is not valid: its decomposition leads back to it: "
    assert dict(refused(text, lowered)) == {place: wanted + way for place, way in places.items()}


def test_composites_beside_functions_that_call_themselves(lowered) -> None:
    """These are none of the composite's doing."""
    text = CALL.replace("ATTRIBUTES", 'name = "my.op", decomposition = @d')
    lowered(text + function("d", "func.call @e(%x)") + function("e", "func.call @e(%x)"))
    lowered(text + function("d", composite("e")) + PLAIN.replace("@d", "@e"))
