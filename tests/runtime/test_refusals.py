"""What functions do not take, and how they say so: function, argument, what came, what is needed, what to do."""

from __future__ import annotations

import array
import re
from decimal import Decimal

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ELEMENTS, iree_module, movements, tiree_module

F = np.ones(4, np.float32)
SELF: list = [1, 2]
SELF.append(SELF)
DEEP: list = [1]
for _ in range(1000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((F.astype(np.float64), F), TypeError,
         'add(): argument 1 ("input0") is float64 [4]; needs float32 [4]. Pass input0.astype("float32").'),
        ((F, F.astype(np.int32)), TypeError,
         'add(): argument 2 ("input1") is int32 [4]; needs float32 [4]. Pass input1.astype("float32").'),
        ((F[:3], F), ValueError, 'add(): argument 1 ("input0") has shape [3]; needs [4].'),
        ((F.reshape(2, 2), F), ValueError, 'add(): argument 1 ("input0") has shape [2x2]; needs [4].'),
        ((np.float32(1), F), ValueError, 'add(): argument 1 ("input0") has shape []; needs [4].'),
        ((F,), TypeError, "add(input0: f32[4], input1: f32[4]) takes 2 arguments, 1 given."),
        ((), TypeError, "add(input0: f32[4], input1: f32[4]) takes 2 arguments, 0 given."),
        ((F, F, F), TypeError, "add(input0: f32[4], input1: f32[4]) takes 2 arguments, 3 given."),
        (([1, 2, 3], F), ValueError, 'add(): argument 1 ("input0") has shape [3]; needs [4].'),
        (([[1], [1, 2]], F), ValueError,
         'add(): argument 1 ("input0") is a list of uneven lengths; needs float32 [4].'),
        ((["a", "b"], F), TypeError,
         'add(): argument 1 ("input0") is a list; needs float32 [4]. Pass np.array(..., dtype="float32").'),
        (("text", F), TypeError, 'add(): argument 1 ("input0") is a str; needs float32 [4].'),
        ((b"bytes", F), TypeError, 'add(): argument 1 ("input0") is a bytes of uint8 [5]; needs float32 [4]. '
         'Pass numpy.frombuffer(..., dtype="float32").'),
        ((None, F), TypeError, 'add(): argument 1 ("input0") is None; needs float32 [4].'),
        (({}, F), TypeError, 'add(): argument 1 ("input0") is a dict; needs float32 [4].'),
        ((object(), F), TypeError, 'add(): argument 1 ("input0") is an object; needs float32 [4].'),
        (([1j] * 4, F), TypeError, 'add(): argument 1 ("input0") holds complex numbers; needs float32 [4].'),
        ((set(), F), TypeError, 'add(): argument 1 ("input0") is a set; needs float32 [4].'),
        (((n for n in F), F), TypeError, 'add(): argument 1 ("input0") is a generator; needs float32 [4].'),
        (([None] * 4, F), TypeError, 'add(): argument 1 ("input0") is a list; needs float32 [4].'),
        (([1e300] * 4, F), ValueError, 'add(): argument 1 ("input0"): 1e+300 is out of range for float32; needs'),
        (([10**400] * 4, F), ValueError, 'add(): argument 1 ("input0") holds integers that are out of range for'),
        ((array.array("d", F), F), TypeError,
         'add(): argument 1 ("input0") is an array of float64 [4]; needs float32 [4]. Pass numbers of that type.'),
        ((bytearray(16), F), TypeError, 'add(): argument 1 ("input0") is a bytearray of uint8 [16]; needs float32 [4]. '
         'Pass numpy.frombuffer(..., dtype="float32").'),
        ((np.ma.array(F, mask=[0, 1, 0, 0]), F), TypeError,
         'add(): argument 1 ("input0") is an array with masked elements. Pass .filled(...)'),
        ((np.array(["a"] * 4), F), TypeError, 'add(): argument 1 ("input0") is <U1 [4]; needs float32 [4].'),
        ((F.astype(object), F), TypeError, 'add(): argument 1 ("input0") is object [4]; needs float32 [4].'),
        ((np.zeros(4, [("x", "f4"), ("y", "i4")]), F), TypeError,
         'add(): argument 1 ("input0") is an array of structures [4] with fields \'x\', \'y\'; needs float32 [4]. '
         "Pass one field: input0['x']."),
        ((np.zeros(4, "V4"), F), TypeError, 'add(): argument 1 ("input0") is |V4 [4], raw bytes; needs float32 [4]. '
         "Pass input0.view(...) of the dtype that they are."),
        ((SELF, F), ValueError, 'add(): argument 1 ("input0") is a list that contains itself; needs float32 [4].'),
        ((DEEP, F), ValueError, 'add(): argument 1 ("input0") is a list nested more than 64 deep; needs float32 [4].'),
        (([1, (2, 3)], F), ValueError, 'add(): argument 1 ("input0") is a list of uneven lengths; needs float32 [4].'),
        ((np.zeros(4, "M8[s]"), F), TypeError, 'add(): argument 1 ("input0") is datetime64[s] [4]; needs float32 [4].'),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value[:60],
)  # fmt: skip
def test_tensors(add: rt.FunctionInvoker, arguments: tuple, kind: type, text: str):
    with pytest.raises(kind) as caught:
        add(*arguments)
    assert str(caught.value).startswith(text)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("x", 2, 1.0, 2.0), TypeError, 'scalars(): argument 1 ("input0") must be a number for i32, got a str.'),
        ((F, 2, 1.0, 2.0), TypeError, 'scalars(): argument 1 ("input0") must be a number for i32, got float32 [4].'),
        ((None, 2, 1.0, 2.0), TypeError, 'scalars(): argument 1 ("input0") must be a number for i32, got None.'),
        ((1.5, 2, 1.0, 2.0), TypeError,
         'scalars(): argument 1 ("input0") is 1.5; needs a whole number for i32. Pass int(...).'),
        ((2**32, 2, 1.0, 2.0), ValueError,
         'scalars(): argument 1 ("input0"): 4294967296 is out of range for i32 (-2147483648 to 2147483647).'),
        ((3_000_000_000, 2, 1.0, 2.0), ValueError,
         'scalars(): argument 1 ("input0"): 3000000000 is out of range for i32 (-2147483648 to 2147483647).'),
        ((1, 2**64, 1.0, 2.0), ValueError,
         'scalars(): argument 2 ("input1"): 18446744073709551616 is out of range for i64 '
         '(-9223372036854775808 to 9223372036854775807).'),
        ((1, 2, [1.0], 2.0), TypeError, 'scalars(): argument 3 ("input2") must be a number for f32, got a list.'),
        ((1, 2, 1e39, 2.0), ValueError,
         'scalars(): argument 3 ("input2"): 1e+39 is out of range for f32 (max 3.4028235e+38).'),
        ((1, 2, 1.0, 10**400), ValueError, 'scalars(): argument 4 ("input3"): an integer of 1329 bits is out of range '
         "for f64 (max 1.7976931348623157e+308)."),
        ((1, 10**400, 1.0, 2.0), ValueError,
         'scalars(): argument 2 ("input1"): an integer of 1329 bits is out of range for i64 '
         "(-9223372036854775808 to 9223372036854775807)."),
        ((float("nan"), 2, 1.0, 2.0), TypeError,
         'scalars(): argument 1 ("input0") is nan; needs a whole number for i32. Pass int(...).'),
        ((Decimal(1), 2, 1.0, 2.0), TypeError,
         'scalars(): argument 1 ("input0") must be a number for i32, got a Decimal.'),
        ((1, 2, 3j, 2.0), TypeError, 'scalars(): argument 3 ("input2") must be a number for f32, got a complex.'),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value[:60],
)  # fmt: skip
def test_scalars(mixed: rt.Module, arguments: tuple, kind: type, text: str):
    with pytest.raises(kind) as caught:
        mixed.scalars(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((2, 0, 0), 'small(): argument 1 ("input0"): 2 is out of range for i1 (0 to 1).'),
        ((-1, 0, 0), 'small(): argument 1 ("input0"): -1 is out of range for i1 (0 to 1).'),
        ((True, 200, 0), 'small(): argument 2 ("input1"): 200 is out of range for i8 (-128 to 127).'),
        ((True, 0, -32769), 'small(): argument 3 ("input2"): -32769 is out of range for i16 (-32768 to 32767).'),
        ((True, np.int64(300), 0), 'small(): argument 2 ("input1"): 300 is out of range for i8 (-128 to 127).'),
    ],
)
def test_scalars_narrower_than_their_register(mixed: rt.Module, arguments: tuple, text: str):
    with pytest.raises(ValueError, match=re.escape(text)):
        mixed.small(*arguments)
    assert mixed.small(1, np.uint8(200), -1) == (1, -56, -1)
    assert mixed.small(np.bool_(False), np.uint8(255), np.uint16(65535)) == (0, -1, -1)
    assert mixed.scalars(np.uint32(3_000_000_000), 2, 1.0, 2.0)[0] == 6_000_000_000 - 2**32


def test_keywords(mixed: rt.Module):
    with pytest.raises(TypeError, match=r'^scale\(\) has no argument "c"; it has input0, input1\.$'):
        mixed.scale(1.0, c=F)
    with pytest.raises(TypeError, match=r'^scale\(\) got argument "input0" twice\.$'):
        mixed.scale(1.0, F, input0=2.0)
    with pytest.raises(TypeError, match=r"takes 2 arguments, 1 given"):
        mixed.scale(input0=2.0)
    with pytest.raises(TypeError, match=r'^nothing\(\) has no argument "c"; it has no named arguments\.$'):
        mixed.nothing(c=1)


def test_integers_that_do_not_fit():
    turned = rt.load(iree_module(movements()))
    for name, value, dtype, low, high in [
        ("i8", 200, "int8", -128, 127),
        ("ui8", -1, "uint8", 0, 255),
        ("i32", 2**31, "int32", -(2**31), 2**31 - 1),
    ]:
        with pytest.raises(ValueError, match=rf": {value} is out of range for {dtype} \({low} to {high}\)"):
            turned[f"pair_{name}"](value)
    with pytest.raises(TypeError, match=r"holds float64 numbers; needs int32 \[\]"):
        turned.pair_i32(1.5)
    with pytest.raises(ValueError, match=rf" {2**70} is out of range for int32; needs int32 \[\]"):
        turned.pair_i32(2**70)
    with pytest.raises(ValueError, match="an integer of 1329 bits is out of range for int32"):
        turned.pair_i32(10**400)
    with pytest.raises(ValueError, match="1e\\+39 is out of range for bfloat16"):
        turned.pair_bf16(1e39)
    with pytest.raises(ValueError, match=r"500\.0 is out of range for float8_e4m3fn"):
        turned.pair_f8E4M3FN(500.0)
    with pytest.raises(ValueError, match="i1 values are 0/1 or False/True"):
        turned.turn_i1([[0, 1, 2], [0, 0, 0]])


def test_no_silent_change_of_dtype():
    """Every pair of different dtypes is refused, but signless integers take both signs of their width."""
    turned = rt.load(iree_module(movements()))
    for name, dtype in ELEMENTS.items():
        for given in ELEMENTS.values():
            same_width = given.kind in "iu" and dtype.kind == "i" and given.itemsize == dtype.itemsize
            if given == dtype or same_width:
                continue
            with pytest.raises(TypeError, match="needs"):
                turned[f"pair_{name}"](np.ones((), np.float32).astype(given))


def test_wrong_buffer_view(add: rt.FunctionInvoker, device: rt.HalDevice):
    wrong = rt.asdevicearray(device, np.ones(4, np.float64))
    with pytest.raises(TypeError, match=r'argument 2 \("input1"\) is float64 \[4\]; needs float32 \[4\]'):
        add(F, wrong)
    with pytest.raises(TypeError, match="argument 2"):
        add(F, rt.HalFence(1))


@pytest.mark.parametrize("made", ["iree", "tiree"])
def test_unknown_function(made: str):
    bound = rt.load(iree_module(ADD) if made == "iree" else tiree_module(ADD))
    text = 'module has no function "ad"; it has: add. Did you mean "add"?'
    with pytest.raises(AttributeError) as caught:
        bound.ad(F, F)
    assert str(caught.value) == text
    with pytest.raises(KeyError) as caught_item:
        bound["ad"]
    assert caught_item.value.args == (text,)
    assert not hasattr(bound, "nothing_like_it")


def test_unknown_device():
    text = 'no device "cpu"; this build has local-sync, local-task, null. For the CPU use local-task.'
    for attempt in (lambda: rt.get_device("cpu"), lambda: rt.Config("cpu"), lambda: rt.load(iree_module(ADD), "cpu")):
        with pytest.raises(ValueError, match="no device") as caught:
            attempt()
        assert text in str(caught.value)
    with pytest.raises(ValueError, match='no driver "cpu"'):
        rt.get_driver("cpu")


def test_statuses_have_codes(add_file):
    bound = rt.load(add_file)
    inputs, outputs = rt.VmVariantList(1), rt.VmVariantList(1)
    with pytest.raises(rt.StatusError) as caught:
        bound._vm_context.invoke(bound.vm_module.lookup_function("add"), inputs, outputs)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code_name == "INVALID_ARGUMENT"
    assert "Error invoking function: INVALID_ARGUMENT; input list and function mismatch" in str(caught.value)
