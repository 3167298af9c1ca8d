"""A backend that emits C: executables become C functions, which `cc` makes a shared library of.

    tiree-compile --tiree-plugin=examples/plugins/c_backend.py --iree-hal-target-backends=c model.mlir -o model.vmfb
    tiree-run-module --system_executables --module=model.vmfb ...

Dispatches come as scalar loops over memory; each op is a line of C. The library has the tables that every runtime of
IREE looks for, and is loaded by the system's loader, which has to be allowed. `--iree-hal-dump-executable-files-to=DIR`
keeps the C.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_attrs import ExecutableTargetAttr
from tiree.plugins import Backend, Executable, Function, Registry
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.options import CompileOptions
from tiree.support.typed import int_of, is_memref_type, number_of, symbol_name, symbol_of
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

FORMATS = {"x86_64": "system-elf-x86_64", "aarch64": "system-elf-arm_64", "riscv64": "system-elf-riscv_64"}
CC = ("-x", "c", "-std=c11", "-O2", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno")
"""Integers wrap and nothing is contracted: the C computes what the program says."""

HEAD = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint32_t size_x, size_y; uint16_t size_z, constant_count; uint32_t count_x, count_y; uint16_t count_z;
  uint8_t concurrency, binding_count; const uint32_t* constants; void* const* bindings; const size_t* lengths;
} dispatch_t;
typedef struct { uint32_t id_x, id_y; uint16_t id_z, reserved; uint32_t processor; void* memory; uint32_t size;
} group_t;
typedef int (*function_t)(const void*, const dispatch_t*, const group_t*);
typedef struct { uint64_t flags; uint16_t pages; uint8_t constants, bindings; uint32_t x, y; uint16_t z, parameters;
  uint64_t reserved[5]; } attributes_t;
typedef struct { uint32_t version; const char* name; uint32_t features, sanitizer; } header_t;
typedef struct { uint32_t count; const void* names; } imports_t;
typedef struct { uint32_t count; const function_t* functions; const attributes_t* attributes; const void *parameters,
  *occupancy; const char* const* names; const void *tags, *parameter_names, *places, *stages; } exports_t;
typedef struct { const header_t* header; imports_t imports; exports_t exports; uint32_t constants; imports_t sources;
} library_t;

static inline double maximum(double a, double b) {
  return a != a ? a : b != b ? b : a > b || (a == b && !signbit(a)) ? a : b;
}
static inline double minimum(double a, double b) {
  return a != a ? a : b != b ? b : a < b || (a == b && signbit(a)) ? a : b;
}
"""

Emit = Callable[..., str]
BINARY = {
    "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/", "arith.addi": "+", "arith.subi": "-",
    "arith.muli": "*", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^", "arith.divsi": "/", "arith.remsi": "%",
}  # fmt: skip
CALLS = {
    "arith.maximumf": "maximum", "arith.minimumf": "minimum", "arith.maxnumf": "fmax", "arith.minnumf": "fmin",
    "math.absf": "fabs", "math.exp": "exp", "math.expm1": "expm1", "math.log": "log", "math.log1p": "log1p",
    "math.sqrt": "sqrt", "math.cbrt": "cbrt", "math.sin": "sin", "math.cos": "cos", "math.tan": "tan",
    "math.tanh": "tanh", "math.erf": "erf", "math.floor": "floor", "math.ceil": "ceil",
    "math.roundeven": "rint", "math.round": "round",
    "math.powf": "pow", "math.atan2": "atan2", "math.fma": "fma", "math.copysign": "copysign",
}  # fmt: skip
EXTREMES = {"arith.maxsi": (">", ""), "arith.minsi": ("<", ""), "arith.maxui": (">", "u"), "arith.minui": ("<", "u")}
CASTS = (
    "arith.extsi", "arith.trunci", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "arith.index_cast",
)  # fmt: skip
FLOAT_TESTS = ("0", "{a} == {b}", "{a} > {b}", "{a} >= {b}", "{a} < {b}", "{a} <= {b}", "islessgreater({a}, {b})",
               "!isunordered({a}, {b})", "!islessgreater({a}, {b})", "!({a} <= {b})", "!({a} < {b})", "!({a} >= {b})",
               "!({a} > {b})", "{a} != {b}", "isunordered({a}, {b})", "1")  # fmt: skip
"""C for each predicate of `arith.cmpf`, by its number."""
INTEGER_TESTS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""C for each predicate of `arith.cmpi`; from the seventh on they are unsigned."""


def c_type(type: Attribute) -> str | None:
    """The C type of a scalar, or None: there is none."""
    text = "index" if isinstance(type, IndexType) else str(type)
    integers = {f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)}
    return {"index": "int64_t", "i1": "int8_t", "f32": "float", "f64": "double", **integers}.get(text)


@dataclass
class Writer:
    """The C of one function."""

    name: str
    lines: list[str] = field(default_factory=list)
    names: dict[SSAValue, str] = field(default_factory=dict)
    depth: int = 1

    def refuse(self, op: Operation, why: str) -> CompileError:
        message = f"backend c has no C for {op.name} in {self.name}: {why}"
        return CompileError(Diagnostic(message, location_of(op), "compile this program with llvm-cpu"))

    def line(self, text: str) -> None:
        self.lines.append(f"{'  ' * self.depth}{text}")

    def type(self, op: Operation, type: Attribute) -> str:
        text = c_type(type)
        if text is None:
            raise self.refuse(op, f"{type} is no type of C")
        return text

    def define(self, op: Operation, expression: str) -> None:
        """The one result of `op`."""
        (result,) = op.results
        self.names[result] = name = f"v{len(self.names)}"
        self.line(f"{self.type(op, result.type)} {name} = {expression};")

    def block(self, block: Block) -> list[str]:
        """Writes all ops of a block; the values that it ends with."""
        for op in block.ops:
            if op is block.last_op and op.name in ("scf.yield", "func.return"):
                return [self.names[value] for value in op.operands]
            self.op(op)
        return []

    def op(self, op: Operation) -> None:
        args = [self.names.get(value, "") for value in op.operands]
        special: Callable[[Operation, list[str]], None] | None = getattr(self, op.name.replace(".", "_"), None)
        if op.name in BINARY:
            self.define(op, f"{args[0]} {BINARY[op.name]} {args[1]}")
        elif op.name in CALLS:
            single = self.type(op, op.results[0].type) == "float" and CALLS[op.name] not in ("maximum", "minimum")
            self.define(op, f"{CALLS[op.name]}{'f' if single else ''}({', '.join(args)})")
        elif op.name in EXTREMES:
            sign, unsigned = EXTREMES[op.name]
            cast = f"(u{self.type(op, op.results[0].type)})" if unsigned else ""
            self.define(op, f"{cast}{args[0]} {sign} {cast}{args[1]} ? {args[0]} : {args[1]}")
        elif op.name in CASTS:
            self.define(op, f"({self.type(op, op.results[0].type)}){self.bits(op, args[0])}")
        elif special is not None:
            special(op, args)
        else:
            raise self.refuse(op, "the operation is not known")

    def bits(self, op: Operation, text: str) -> str:
        """A signed `i1` is 0 or -1."""
        return f"-{text}" if str(op.operands[0].type) == "i1" and op.name in ("arith.extsi", "arith.sitofp") else text

    # Operations, by their names.

    def arith_constant(self, op: Operation, args: list[str]) -> None:
        del args
        value = op.properties["value"]
        if not isinstance(value, (IntegerAttr, FloatAttr)):
            raise self.refuse(op, "it is no number")
        number = number_of(value)
        if isinstance(number, float):
            special = "NAN" if number != number else "INFINITY" if number > 0 else "-INFINITY"
            text = float.hex(number) if abs(number) < float("inf") else special
        else:
            text = str(number & 1) if str(value.type) == "i1" else f"(int64_t){number & (2**64 - 1)}u"
        self.define(op, text)

    def arith_negf(self, op: Operation, args: list[str]) -> None:
        self.define(op, f"-{args[0]}")

    def arith_extui(self, op: Operation, args: list[str]) -> None:
        mask = {"i1": "1", "i8": "0xff", "i16": "0xffff", "i32": "0xffffffff"}[str(op.operands[0].type)]
        self.define(op, f"{args[0]} & {mask}")

    def arith_cmpf(self, op: Operation, args: list[str]) -> None:
        self.define(op, FLOAT_TESTS[int_of(op.properties["predicate"])].format(a=args[0], b=args[1]))

    def arith_cmpi(self, op: Operation, args: list[str]) -> None:
        number = int_of(op.properties["predicate"])
        cast = f"(u{self.type(op, op.operands[0].type)})" if number > 5 else ""
        self.define(op, f"{cast}{args[0]} {INTEGER_TESTS[number]} {cast}{args[1]}")

    def arith_select(self, op: Operation, args: list[str]) -> None:
        self.define(op, f"{args[0]} ? {args[1]} : {args[2]}")

    def memref_load(self, op: Operation, args: list[str]) -> None:
        self.define(op, f"{args[0]}[{args[1]}]")

    def memref_store(self, op: Operation, args: list[str]) -> None:
        del op
        self.line(f"{args[1]}[{args[2]}] = {args[0]};")

    def memref_get_global(self, op: Operation, args: list[str]) -> None:
        del args
        self.names[op.results[0]] = f"table_{symbol_of(op.properties['name'])}"

    def memref_alloca(self, op: Operation, args: list[str]) -> None:
        del args
        type = op.results[0].type
        if not is_memref_type(type) or "tiree.workgroup_memory" in op.attributes:
            raise self.refuse(op, "it needs memory of the workgroup")
        self.names[op.results[0]] = name = f"v{len(self.names)}"
        self.line(f"_Alignas(64) {self.type(op, type.element_type)} {name}[{type.get_shape()[0]}];")

    def hal_interface_binding_subspan(self, op: Operation, args: list[str]) -> None:
        type = op.results[0].type
        if not is_memref_type(type):
            raise self.refuse(op, f"it gives {type}")
        self.names[op.results[0]] = name = f"v{len(self.names)}"
        element, number = self.type(op, type.element_type), int_of(op.properties["binding"])
        self.line(f"{element}* {name} = ({element}*)((char*)dispatch->bindings[{number}] + {args[0] if args else 0});")

    def hal_interface_workgroup_id(self, op: Operation, args: list[str]) -> None:
        del args
        self.define(op, f"group->id_{'xyz'[int_of(op.properties['dimension'])]}")

    def hal_interface_constant_load(self, op: Operation, args: list[str]) -> None:
        del args
        self.define(op, f"dispatch->constants[{int_of(op.properties['ordinal'])}]")

    def scf_for(self, op: Operation, args: list[str]) -> None:
        low, high, step, *starts = args
        body = op.regions[0].block
        index, *carried = body.args
        for value, start in zip(carried, starts, strict=True):
            self.names[value] = name = f"v{len(self.names)}"
            self.line(f"{self.type(op, value.type)} {name} = {start};")
        self.names[index] = name = f"v{len(self.names)}"
        self.line(f"for (int64_t {name} = {low}; {name} < {high}; {name} += {step}) {{")
        self.assign(op, body, [self.names[value] for value in carried])
        self.line("}")
        for result, value in zip(op.results, carried, strict=True):
            self.names[result] = self.names[value]

    def scf_if(self, op: Operation, args: list[str]) -> None:
        for result in op.results:
            self.names[result] = name = f"v{len(self.names)}"
            self.line(f"{self.type(op, result.type)} {name};")
        results = [self.names[result] for result in op.results]
        for head, region in zip((f"if ({args[0]}) {{", "else {"), op.regions, strict=True):
            if region.blocks:
                self.line(head)
                self.assign(op, region.block, results)
                self.line("}")

    def assign(self, op: Operation, block: Block, names: list[str]) -> None:
        """A block whose last values are assigned to variables, all at once."""
        self.depth += 1
        values = self.block(block)
        types = [self.type(op, result.type) for result in op.results]
        fresh = [f"{name}_next" for name in names]
        for type, new, value in zip(types, fresh, values, strict=True):
            self.line(f"{type} {new} = {value};")
        for name, new in zip(names, fresh, strict=True):
            self.line(f"{name} = {new};")
        self.depth -= 1


def function_text(number: int, function: Function) -> str:
    writer = Writer(function.name)
    writer.block(function.op.regions[0].block)
    head = f"static int function_{number}(const void* environment, const dispatch_t* dispatch, const group_t* group) {{"
    return "\n".join([f"// {function.name}", head, "  (void)environment, (void)dispatch, (void)group;", *writer.lines,
                      "  return 0;", "}"])  # fmt: skip


def table_text(op: Operation) -> str:
    """The bytes of a table of constants, aligned for every type."""
    value, type = op.properties["initial_value"], op.properties["type"]
    assert isinstance(value, DenseAttr)
    assert is_memref_type(type)
    data = bytes(value.buffer) * (type.get_shape()[0] if value.is_splat else 1)
    name, element = symbol_name(op), c_type(type.element_type) or "int8_t"
    raw = ", ".join(map(str, data)) or "0"
    return (
        f"static const _Alignas(64) uint8_t bytes_{name}[] = {{{raw}}};\n"
        f"#define table_{name} ((const {element}*)bytes_{name})"
    )


def library_text(executable: Executable) -> str:
    """All functions, and the tables that the runtime asks for."""
    functions = executable.functions
    tables = [table_text(op) for op in executable.module.ops if op.name == "memref.global"]
    attributes = ", ".join(f"{{0, 0, {one.constants}, {one.bindings}, 1, 1, 1, 0, {{0}}}}" for one in functions)
    names = ", ".join(f'"{one.name}"' for one in functions)
    return "\n\n".join([
        HEAD,
        *tables,
        *(function_text(number, one) for number, one in enumerate(functions)),
        f"static const function_t functions[] = {{{', '.join(f'function_{n}' for n in range(len(functions)))}}};\n"
        f"static const attributes_t attributes[] = {{{attributes}}};\n"
        f"static const char* const names[] = {{{names}}};\n"
        f'static const header_t header = {{6, "{executable.name}", 0, 0}};\n'
        f"static const library_t library = {{&header, {{0, 0}}, {{{len(functions)}, functions, attributes, 0, 0, "
        "names, 0, 0, 0, 0}, 0, {0, 0}};\n\n"
        "const header_t* const* iree_hal_executable_library_query(uint32_t version, const void* environment) {\n"
        "  (void)environment;\n"
        "  return version == 6 ? (const header_t* const*)&library : 0;\n"
        "}\n",
    ])  # fmt: skip


class CBackend(Backend):
    """`--iree-hal-target-backends=c`."""

    name = "c"

    def target(self, options: CompileOptions) -> ExecutableTargetAttr:
        del options
        machine = platform.machine()
        if machine not in FORMATS:
            raise CompileError(f"backend c knows no executable format of {machine} machines")
        return ExecutableTargetAttr(self.name, FORMATS[machine], {})

    def compile(self, executable: Executable) -> bytes:
        text = library_text(executable)
        folder = executable.options.dump_intermediates_to
        if folder:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{executable.name}.c"), "w", encoding="utf-8") as file:
                file.write(text)
        compiler = shutil.which(os.environ.get("CC", "cc"))
        if compiler is None:
            hint = "install one, or name it in the environment variable CC"
            raise CompileError(Diagnostic("backend c needs a C compiler, and there is no cc", hint=hint))
        with tempfile.TemporaryDirectory() as temporary:
            library = os.path.join(temporary, "library.so")
            command = [compiler, *CC, "-", "-o", library, "-Wl,--build-id=none", "-lm"]
            done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
            if done.returncode:
                raise CompileError(Diagnostic(f"{compiler} refuses the C: {done.stderr.decode().strip()}"))
            with open(library, "rb") as file:
                return file.read()


def register(registry: Registry) -> None:
    registry.add_backend(CBackend())
