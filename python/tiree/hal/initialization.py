"""The initializer of a module: finds the devices, loads executables, uploads constants, records command buffers.

Everything happens in one `util.initializer`, so that values are shared. A global is kept only where code outside the
initializer reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import hal, util
from tiree.dialects.hal_affinity import ANY_QUEUE, DeviceAffinityAttr
from tiree.hal.executables import Executables
from tiree.hal.find_device import check_found, find_function, formats
from tiree.hal.select_variant import choose, load_function
from tiree.hal.targets import symbol_path
from tiree.hal.values import Emitter
from tiree.support.symbols import SymbolNames


class Initialization:
    """Builds the initializer step by step; `finish` puts it and the globals into the module."""

    def __init__(
        self,
        module: ModuleOp,
        executables: Executables,
        functions_by_name: bool,
        default: DeviceAffinityAttr,
        used: Sequence[util.GlobalOp],
    ) -> None:
        self.module = module
        self.functions_by_name = functions_by_name
        self.executables = executables
        self.default = default
        self.devices = used
        self.region = Region(Block())
        self.emitter = Emitter(self.region.blocks[0], default)
        self.names = SymbolNames(module)
        self._targets = executables.targets
        self._globals: list[util.GlobalOp] = []
        self._executables: dict[tuple[str, str], SSAValue] = {}
        self._functions: dict[tuple[SSAValue, tuple[str, ...]], SSAValue] = {}
        self._executable_globals: dict[tuple[str, str], str] = {}
        self._variants: dict[object, SSAValue] = {}
        self._variant_globals: dict[SSAValue, str] = {}
        self._get_devices()

    def _get_devices(self) -> None:
        emitter = self.emitter
        choices = {device.sym_name.data: self._targets.choices(device.sym_name.data) for device in self.devices}
        (first, *more), *others = choices.values()
        if not others and not more and not first.ordinal:
            # A context without devices gives null here, which the first call that takes the device refuses by name.
            self._keep_device(self.devices[0], emitter.value(hal.DevicesGetOp(emitter.index(0))))
            return
        finders: dict[object, str] = {}
        for device in self.devices:
            name = device.sym_name.data
            found: SSAValue | None = None
            for target in choices[name]:
                one = self._find(target, finders)
                found = one if found is None else self._otherwise(found, one)
            assert found is not None
            for op in check_found(found, name, choices[name]):
                emitter.add(op)
            self._keep_device(device, found)

    def _find(self, target: hal.DeviceTargetAttr, finders: dict[object, str]) -> SSAValue:
        """The device that a target describes, or null."""
        key = target.device_id, *formats(target)
        if key not in finders:
            find = find_function(self.names.unique("__find_device"), target)
            self.module.body.block.add_op(find)
            finders[key] = find.sym_name.data
        wanted = self.emitter.index(target.ordinal or 0)
        return self.emitter.value(util.CallOp(finders[key], [wanted], [hal.DeviceType()]))

    def _otherwise(self, device: SSAValue, other: SSAValue) -> SSAValue:
        """`device`, or `other` where that is null."""
        null = self.emitter.cached("null device", lambda: util.NullOp(hal.DeviceType()))
        missing = self.emitter.value(util.CmpEQOp(device, null))
        return self.emitter.value(arith.SelectOp(missing, other, device))

    def _keep_device(self, device: util.GlobalOp, value: SSAValue) -> None:
        name = device.sym_name.data
        self.emitter.remember(("global", name), value)
        self.emitter.add(util.GlobalStoreOp(value, name))

    def executable(self, name: str) -> SSAValue:
        """The executable as loaded for the device where the emitter is, inside the initializer."""
        key = self.emitter.device_name, name
        found = self._executables.get(key)
        if found is None:
            found = self._executables[key] = self._load(name)
        return found

    def _load(self, name: str) -> SSAValue:
        emitter = self.emitter
        images = self.executables.binary_symbols(name, emitter.device_name)
        if len(images) == 1:
            return emitter.value(hal.ExecutableCreateOp(emitter.device(), emitter.i64(ANY_QUEUE), images[0]))
        number = self.variant(name)
        assert number is not None
        load = load_function(self.names.unique(f"__load_{name}"), images, ANY_QUEUE)
        self.module.body.block.add_op(load)
        arguments = [emitter.device(), number]
        return emitter.value(util.CallOp(load.sym_name.data, arguments, [hal.ExecutableType()]))

    def variant(self, name: str) -> SSAValue | None:
        """The number of the variant that the emitter's device runs, inside the initializer; None: there is one."""
        device = self.emitter.device_name
        variants = self.executables.variants(name, device)
        if len(variants) < 2:
            return None
        key = device, tuple((one.target, str(one.condition or "")) for one in variants)
        found = self._variants.get(key)
        if found is None:
            what = f"HAL device `{device}` does not support any variant of executable `{name}`"
            found = self._variants[key] = choose(self.emitter, variants, what)
        return found

    def variant_global(self, name: str, affinity: Attribute | None) -> str | None:
        """The name of a global that holds the number of the variant, for code outside the initializer."""
        self.emitter.go_to(affinity)
        number = self.variant(name)
        if number is None:
            return None
        global_name = self._variant_globals.get(number)
        if global_name is None:
            global_name = self.add_global(f"{self.emitter.device_name}_variant_{name}", number)
            self._variant_globals[number] = global_name
        return global_name

    def executable_global(self, name: str, affinity: Attribute | None) -> str:
        """The name of a global that holds the executable of a device, for code outside the initializer."""
        self.emitter.go_to(affinity)
        key = self.emitter.device_name, name
        global_name = self._executable_globals.get(key)
        if global_name is None:
            global_name = self.add_global(f"{key[0]}_executable_{name}", self.executable(name))
            self._executable_globals[key] = global_name
        return global_name

    def function(self, executable: SSAValue, entry_point: SymbolRefAttr) -> SSAValue:
        """The id of a function, inside the initializer."""
        key = executable, symbol_path(entry_point)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = self.function_id(self.emitter, executable, entry_point)
        return found

    def function_id(self, emitter: Emitter, executable: SSAValue, entry_point: SymbolRefAttr) -> SSAValue:
        """Looks a function up; in images without names, its ordinal is the id that local devices use."""
        if self.functions_by_name or not self._is_local():
            return emitter.value(hal.ExecutableLookupFunctionOp(executable, entry_point))
        ordinal = self.executables.export(entry_point).ordinal
        assert ordinal is not None
        return emitter.i64(ordinal.value.data)

    def _is_local(self) -> bool:
        names = [device.sym_name.data for device in self.devices]
        return all(one.device_id.data == "local" for name in names for one in self._targets.choices(name))

    def add_global(self, wanted: str, value: SSAValue) -> str:
        """A global that the initializer sets to `value`; its name, which is `wanted` unless that is taken."""
        name = self.names.unique(wanted)
        self._globals.append(util.GlobalOp(name, value.type))
        self.emitter.add(util.GlobalStoreOp(value, name))
        return name

    def absorb(self, initializer: util.InitializerOp) -> None:
        """Continues with the blocks of another (already converted) initializer."""
        first, *others = list(initializer.body.blocks)
        for op in list(first.ops):
            op.detach()
            self.emitter.block.add_op(op)
        for block in others:
            initializer.body.detach_block(block)
            self.region.add_block(block)
        last = self.region.blocks[-1]
        terminator = last.last_op
        if isinstance(terminator, util.ReturnOp):
            last.erase_op(terminator)
        self.emitter.block = last
        initializer.detach()
        initializer.erase(safe_erase=False)

    def global_value(self, name: str, type: Attribute) -> SSAValue:
        """The value of a global that the initializer has set, without a load where it is known."""
        for block in reversed(self.region.blocks):
            for op in reversed(list(block.ops)):
                if isinstance(op, util.GlobalStoreOp) and op.global_.string_value() == name:
                    return op.value
        return self.emitter.load_global(name, type)

    def finish(self) -> None:
        """Adds what was built; drops globals that only the initializer used."""
        self.emitter.add(util.ReturnOp())
        initializer = util.InitializerOp(self.region)
        block = self.module.body.block
        for device in self.devices:
            device.properties.pop("initial_value", None)
        block.insert_ops_before(self._globals, self.devices[0])
        functions: Sequence[Operation] = [op for op in block.ops if op.name in ("util.func", "util.initializer")]
        if functions:
            block.insert_op_before(initializer, functions[0])
        else:
            block.add_op(initializer)
        self._drop_unread_globals(functions, initializer)

    def _drop_unread_globals(self, functions: Sequence[Operation], initializer: util.InitializerOp) -> None:
        read = {
            op.properties["global"]
            for function in (*functions, initializer)
            for op in function.walk()
            if op.name.startswith(("util.global.load", "util.global.address"))
        }
        for global_op in list(self.module.ops):
            if not isinstance(global_op, util.GlobalOp) or SymbolRefAttr(global_op.sym_name) in read:
                continue
            if global_op.sym_visibility is None or global_op.sym_visibility.data != "private":
                continue
            stores = [
                op
                for function in (*functions, initializer)
                for op in function.walk()
                if isinstance(op, util.GlobalStoreOp) and op.global_ == SymbolRefAttr(global_op.sym_name)
            ]
            if all(store.parent_op() is initializer for store in stores):
                for store in stores:
                    assert store.parent is not None
                    store.parent.erase_op(store)
                self.module.body.block.erase_op(global_op)
