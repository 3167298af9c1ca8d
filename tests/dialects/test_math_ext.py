"""Classification of floats: the text of `math.isnan` and its kin, flags included, against iree-opt."""

from tests.dialects.iree_opt import same_for_iree

OPS = ("isnan", "isinf", "isfinite")
FLAGS = ("", " fastmath<contract>", " fastmath<nnan,ninf>", " fastmath<fast>")


def test_predicates_of_every_shape_with_every_flag() -> None:
    lines = [
        f"  %{op}{number}{name} = math.{op} %{name}{flags} : {type}"
        for op in OPS
        for number, flags in enumerate(FLAGS)
        for name, type in (("s", "f32"), ("t", "tensor<2x3xf64>"))
    ]
    text = "func.func @f(%s: f32, %t: tensor<2x3xf64>) {\n" + "\n".join(lines) + "\n  return\n}\n"
    printed = same_for_iree(text)
    assert printed.count("math.is") == len(lines) == 24
