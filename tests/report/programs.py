"""Programs whose reports tests look at, and their reports."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import tiree

ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
CHAIN = """
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = stablehlo.dot %b, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = stablehlo.dot %1, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = stablehlo.dot %3, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
"""
LOOP = """
func.func @main(%n: tensor<i32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.dot %y, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}
"""
DYNAMIC = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.tanh %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
"""
HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror=document.title="taken">'
_SYMBOL = HOSTILE.replace('"', "\\22")
HOSTILE_PROGRAM = f"""
func.func @"{_SYMBOL}"(%a: tensor<4x4xf32> loc("{_SYMBOL}")) -> tensor<4x4xf32> {{
  %0 = stablehlo.dot %a, %a {{"<!--<script>" = "{_SYMBOL}"}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("{_SYMBOL}")
  return %1 : tensor<4x4xf32>
}}
"""


def long_program(count: int) -> str:
    """A function of `3 * count` ops that become `count` dispatches."""
    type = "tensor<16x16xf32>"
    lines = [f"func.func @main(%x: {type}, %w: {type}) -> {type} {{"]
    last = "x"
    for n in range(count):
        lines += [
            f"  %a{n} = stablehlo.dot %{last}, %w : ({type}, {type}) -> {type}",
            f"  %b{n} = stablehlo.tanh %a{n} : {type}",
            f"  %c{n} = stablehlo.add %b{n}, %{last} : {type}",
        ]
        last = f"c{n}"
    return "\n".join([*lines, f"  return %{last} : {type}", "}", ""])


def nested_program(depth: int) -> str:
    """`depth` conditionals, each in the one before."""
    type = "tensor<8xf32>"
    first = [f'%{n} = "stablehlo.if"(%c) ({{' for n in range(depth)]
    last = [
        f"stablehlo.return %{n + 1} : {type} }}, {{ stablehlo.return %x : {type} }}) : (tensor<i1>) -> {type}"
        for n in reversed(range(depth))
    ]
    head = f"func.func @main(%c: tensor<i1>, %x: {type}) -> {type} {{"
    inner = f"%{depth} = stablehlo.add %x, %x : {type}"
    return "\n".join([head, *first, inner, *last, f"return %0 : {type}", "}", ""])


def write_page(program: str, file: Path, *flags: str) -> bytes:
    """Writes the page of a program; the compiled module."""
    return tiree.compile(program, flags=["--iree-llvmcpu-target-cpu=generic", f"--tiree-report={file}", *flags])


class Page(HTMLParser):
    """A page as an HTML parser sees it: elements in order, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self._in_script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        """What the page draws."""
        return json.loads(self.scripts[0])


def read_page(file: Path) -> Page:
    return Page(file.read_text("utf-8"))
