"""Every public name of `iree.runtime` 3.13 exists here with the same parameters, or is absent for a stated reason."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest
import tiree.runtime as rt

iree = pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "runtime_parity.md"
ABSENT = dict(re.findall(r"^\| `([\w.]+)` \| (.+) \|$", PAGE.read_text().partition("\nDrivers:")[0], re.MULTILINE))
"""Names of IREE's that Tiree has not, with the reasons, as the documentation lists them."""

# What iree.runtime's submodules import for themselves.
FOREIGN = {
    "Any", "Callable", "Collection", "Dict", "List", "Literal", "MutableMapping", "Optional", "PathLike", "RLock",
    "Sequence", "TYPE_CHECKING", "Tuple", "Union", "annotations", "array", "cast", "dataclasses", "json", "logging",
    "DTYPE_TO_ABI_TYPE", "ml_dtypes", "namedtuple", "np", "numpy", "os", "reduce", "subprocess", "sys", "tempfile",
}  # fmt: skip
SUBMODULES = ["array_interop", "benchmark", "dtypes", "flags", "function", "io", "system_api", "system_setup", "typing"]


def public(thing: object) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def names_of_iree() -> list[str]:
    found = public(iree)
    for name in public(iree):
        if inspect.isclass(getattr(iree, name)):
            inherited = set(dir(int))
            found += [f"{name}.{member}" for member in public(getattr(iree, name)) if member not in inherited]
    for module in SUBMODULES:
        theirs = importlib.import_module(f"iree.runtime.{module}")
        for name in public(theirs):
            home = getattr(getattr(theirs, name), "__module__", theirs.__name__)
            # Names that a submodule imports from another one of the package belong to that one.
            imported = home != theirs.__name__ and home.startswith("iree.runtime")
            if name not in FOREIGN and not hasattr(iree, name) and not imported:
                found.append(f"{module}.{name}")
    return found


def ours(name: str) -> object:
    first, _, rest = name.partition(".")
    found = getattr(rt, first)
    if first == "SystemContext" and rest:
        found = rt.SystemContext(config=rt.Config("local-sync"))
    return getattr(found, rest) if rest else found


@pytest.mark.parametrize("name", names_of_iree())
def test_name(name: str):
    if name in ABSENT or name.partition(".")[0] in ABSENT:
        with pytest.raises(AttributeError):
            ours(name)
        return
    ours(name)


def test_the_list_of_absent_names_is_needed():
    assert set(ABSENT) <= set(names_of_iree())
    assert all(len(reason) > 20 for reason in ABSENT.values())


ENUMS = ["BufferCompatibility", "BufferUsage", "HalElementType", "Linkage", "MemoryAccess", "MemoryType",
         "SemaphoreCompatibility"]  # fmt: skip


@pytest.mark.parametrize("name", ENUMS)
def test_enum_values(name: str):
    theirs = {member: int(value.value) for member, value in getattr(iree, name).__members__.items()}
    found = {member: int(value) for member, value in getattr(rt, name).__members__.items()}
    assert {member: found.get(member) for member in theirs} == theirs


def test_helpers_of_element_types():
    for name, member in iree.HalElementType.__members__.items():
        mine = rt.HalElementType[name]
        for helper in ("is_byte_aligned", "dense_byte_count"):
            assert getattr(rt.HalElementType, helper)(mine) == getattr(iree.HalElementType, helper)(member), name
        if name in ("NONE", "INT_4", "SINT_4", "UINT_4") or name.startswith(("OPAQUE", "FLOAT_8", "BFLOAT")):
            continue
        assert rt.HalElementType.map_to_dtype(mine) == iree.HalElementType.map_to_dtype(member), name


# Functions and constructors written in Python, whose parameters introspection shows on both sides.
SIGNATURES = ["Config", "SystemContext", "asdevicearray", "get_device", "get_driver", "get_first_device",
              "load_vm_flatbuffer", "load_vm_flatbuffer_file", "load_vm_module", "load_vm_modules", "normalize_value",
              "query_available_drivers", "benchmark_exe", "benchmark_module", "SplatValue", "save_archive_file",
              "parameter_index_add_numpy_ndarray", "parameter_index_entry_as_numpy_ndarray",
              "parameter_index_entry_as_numpy_flat_ndarray", "FunctionInvoker"]  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters(name: str):
    theirs = inspect.signature(getattr(iree, name)).parameters
    found = dict(inspect.signature(getattr(rt, name)).parameters)
    # Tiree's own limits of calls, which a program written for iree.runtime never passes.
    found.pop("limits", None)
    assert [(p.name, p.kind) for p in found.values()] == [(p.name, p.kind) for p in theirs.values()]
    assert [p.default is p.empty for p in found.values()] == [p.default is p.empty for p in theirs.values()]


Parameter = inspect.Parameter


def parameters_of_native(text: str) -> list[str]:
    return [parameter.name for parameter in kinds_of_native(text)]


def kinds_of_native(text: str) -> list[Parameter]:
    """Parameters in a signature line such as `queue_copy(self, source_buffer: HalBuffer, ...) -> None`."""
    inside = text[text.index("(") + 1 : text.rindex(")")] if ")" in text else ""
    depth, parts, current = 0, [], ""
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    names = [part.partition(":")[0].partition("=")[0].strip() for part in [*parts, current] if part.strip()]
    found: list[Parameter] = []
    kind = Parameter.POSITIONAL_OR_KEYWORD
    for name in names:
        if name == "/":
            found = [parameter.replace(kind=Parameter.POSITIONAL_ONLY) for parameter in found]
        elif name == "*":
            kind = Parameter.KEYWORD_ONLY
        elif name.startswith("*"):
            found.append(Parameter(name[1:], Parameter.VAR_POSITIONAL))
        else:
            found.append(Parameter(name, kind))
    return found[names[:1] == ["self"] :]


def taken(mine: Parameter, their: Parameter) -> bool:
    """Whether every call that names or places `their` parameter does so here."""
    by_name = their.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    by_place = their.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.POSITIONAL_ONLY)
    can_be_named = mine.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    can_be_placed = mine.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.POSITIONAL_ONLY)
    if their.kind == Parameter.VAR_POSITIONAL:
        return mine.kind == Parameter.VAR_POSITIONAL
    # What nanobind calls `arg` has no name that a caller could use.
    nameless = re.fullmatch(r"arg\d*", their.name) is not None
    return (can_be_placed or not by_place) and (nameless or not by_name or (can_be_named and mine.name == their.name))


OWN = ("fuel", "timeout", "max_stack_depth", "memory_limit", "attrs")
"""Parameters of Tiree's own, which a program written for iree.runtime never passes."""

NATIVE_CLASSES = [
    "FileHandle",
    "HalAllocator",
    "HalBuffer",
    "HalCommandBuffer",
    "HalDevice",
    "HalFence",
    "HalSemaphore",
    "MappedMemory",
    "ParameterIndex",
    "PyModuleInterface",
    "VmContext",
    "VmModule",
    "VmVariantList",
    "VmRef",
]


@pytest.mark.parametrize("name", NATIVE_CLASSES)
def test_native_parameters(name: str):
    """By nanobind's documentation; parameters that it calls `arg` have no name that a caller could use."""
    for member in public(getattr(iree, name)):
        full = f"{name}.{member}"
        documentation = getattr(getattr(iree, name), member).__doc__ or ""
        first = documentation.splitlines()[0] if documentation else ""
        if full in ABSENT or not first.startswith(f"{member}(") or "Overloaded" in documentation:
            continue
        theirs = kinds_of_native(first.rpartition(" -> ")[0])
        names = {their.name for their in theirs}
        mine_all = inspect.signature(getattr(getattr(rt, name), member)).parameters.values()
        found = [p for p in mine_all if p.name != "self" and (p.name not in OWN or p.name in names)]
        assert len(found) == len(theirs), (full, found, theirs)
        for mine, their in zip(found, theirs, strict=True):
            assert taken(mine, their), (full, mine, their, found, theirs)


CONSTRUCTED = ["HalBufferView", "HalCommandBuffer", "HalDeviceLoopBridge", "HalFence", "HalModuleDebugSink",
               "ParameterIndex", "PyModuleInterface", "Shape", "VmBuffer", "VmContext", "VmInstance",
               "VmVariantList"]  # fmt: skip


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_constructors(name: str):
    theirs = kinds_of_native((getattr(iree, name).__init__.__doc__ or "").splitlines()[0].rpartition(" -> ")[0])
    names, mine_all = {their.name for their in theirs}, inspect.signature(getattr(rt, name)).parameters.values()
    found = [p for p in mine_all if p.name not in (*OWN, "version") or p.name in names]
    assert len(found) == len(theirs)
    for mine, their in zip(found, theirs, strict=True):
        assert taken(mine, their), (name, mine, their, found, theirs)


def test_attributes_are_attributes_and_methods_are_methods():
    different: list[str] = []
    for name in public(iree):
        theirs, mine = getattr(iree, name), getattr(rt, name, None)
        if not inspect.isclass(theirs) or mine is None or issubclass(mine, int):
            continue
        for member in public(theirs):
            found = inspect.getattr_static(mine, member, None)
            if found is None or f"{name}.{member}" in ABSENT:
                continue
            is_method = callable(getattr(theirs, member)) and not isinstance(getattr(theirs, member), property)
            if is_method != callable(getattr(mine, member)):
                different.append(f"{name}.{member}")
    assert different == []


def test_dtype_info_is_that_of_iree():
    for name in ("float32", "uint8", "bool", "int64", "complex64", "float16"):
        mine, theirs = rt.dtypes.map_name_to_dtype_info(name), iree.dtypes.map_name_to_dtype_info(name)
        assert (mine.dtype, mine.name, mine.abi_type) == (theirs.dtype, theirs.name, theirs.abi_type)
        assert int(mine.hal_type) == int(theirs.hal_type.value)
        for question in ("is_complex", "is_floating_point", "is_integer", "is_signed"):
            assert getattr(mine, question) == getattr(theirs, question), (name, question)
    for abi in ("f32", "i8", "i1", "i32", "complex<f32>", "f16"):
        mine, theirs = rt.dtypes.map_abi_type_to_dtype_info(abi), iree.dtypes.map_abi_type_to_dtype_info(abi)
        assert (mine.name, int(mine.hal_type)) == (theirs.name, int(theirs.hal_type.value))
    for function in (rt.dtypes.map_abi_type_to_dtype_info, rt.dtypes.map_name_to_dtype_info):
        with pytest.raises(KeyError, match="nope"):
            function("nope")
