"""Random programs whose parts are spread over places: devices, and queues of them."""

from __future__ import annotations

import random

SIZE = 16
TENSOR = f"tensor<{SIZE}x{SIZE}xf32>"
PLACES = ("@a", "@b", "@a, [1]", "@b, [0, 2]")
CONSTANT = ", ".join(f"[{', '.join(f'{(7 * i + 3 * j) % 5}.0' for j in range(SIZE))}]" for i in range(SIZE))


def to(place: str) -> str:
    return f"#hal.device.promise<{place}>"


def on_one_device(text: str) -> str:
    """The program with all places being the one: transfers stay, so that the same operations are fused."""
    for place in PLACES:
        text = text.replace(to(place), to("@a"))
    return text


class RandomProgram:
    """One function `@main` of two tensors, `text`, that is the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values = ["%x", "%y", "%constant", "%splat"]
        for _ in range(self.random.randrange(4, 16)):
            self._add()
        outputs = [self.random.choice(self.values[4:]) for _ in range(self.random.randrange(1, 4))]
        results = ", ".join(TENSOR + self._abi() for _ in outputs)
        self.text = f"""
func.func @main(%x: {TENSOR}{self._abi()}, %y: {TENSOR}{self._abi()}) -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %constant = arith.constant dense<[{CONSTANT}]> : {TENSOR}
  %splat = arith.constant dense<2.0> : {TENSOR}
{chr(10).join("  " + line for line in self.lines)}
  return {", ".join(outputs)} : {", ".join(TENSOR for _ in outputs)}
}}
"""

    def _abi(self) -> str:
        if self.random.randrange(2):
            return ""
        return f" {{iree.abi.affinity = {to(self.random.choice(PLACES))}}}"

    def _add(self) -> None:
        a, b = self.random.choice(self.values), self.random.choice(self.values)
        name = f"%v{len(self.values)}"
        kinds = (
            self._elementwise,
            self._transfer,
            self._transfer,
            self._matmul,
            self._insert,
            self._loop,
            self._branch,
        )
        self.lines += self.random.choice(kinds)(name, a, b)
        self.values.append(name)

    def _elementwise(self, name: str, a: str, b: str) -> list[str]:
        op = self.random.choice(["addf", "mulf", "subf", "maximumf"])
        return [f"{name} = arith.{op} {a}, {b} : {TENSOR}"]

    def _transfer(self, name: str, a: str, b: str) -> list[str]:
        del b
        return [f"{name} = flow.tensor.transfer {a} : {TENSOR} to {to(self.random.choice(PLACES))}"]

    def _matmul(self, name: str, a: str, b: str) -> list[str]:
        return [
            f"{name}e = tensor.empty() : {TENSOR}",
            f"{name}i = linalg.fill ins(%zero : f32) outs({name}e : {TENSOR}) -> {TENSOR}",
            f"{name} = linalg.matmul ins({a}, {b} : {TENSOR}, {TENSOR}) outs({name}i : {TENSOR}) -> {TENSOR}",
        ]

    def _insert(self, name: str, a: str, b: str) -> list[str]:
        row, part = self.random.randrange(SIZE - 4), f"tensor<4x{SIZE}xf32>"
        return [
            f"{name}s = tensor.extract_slice {a}[2, 0] [4, {SIZE}] [1, 1] : {TENSOR} to {part}",
            f"{name} = tensor.insert_slice {name}s into {b}[{row}, 0] [4, {SIZE}] [1, 1] : {part} into {TENSOR}",
        ]

    def _loop(self, name: str, a: str, b: str) -> list[str]:
        return [
            f"{name} = scf.for {name}k = %c0 to %c3 step %c1 iter_args({name}c = {a}) -> ({TENSOR}) {{",
            *(f"  {line}" for line in self._transfer(f"{name}t", f"{name}c", "")),
            f"  {name}u = arith.addf {name}t, {b} : {TENSOR}",
            f"  scf.yield {name}u : {TENSOR}",
            "}",
        ]

    def _branch(self, name: str, a: str, b: str) -> list[str]:
        return [
            f"{name}x = tensor.extract {a}[%c3, %c1] : {TENSOR}",
            f"{name}c = arith.cmpf ogt, {name}x, %zero : f32",
            f"{name} = scf.if {name}c -> ({TENSOR}) {{",
            f"  {name}p = arith.addf {a}, {b} : {TENSOR}",
            f"  scf.yield {name}p : {TENSOR}",
            "} else {",
            *(f"  {line}" for line in self._transfer(f"{name}q", b, "")),
            f"  scf.yield {name}q : {TENSOR}",
            "}",
        ]
