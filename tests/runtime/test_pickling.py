"""What a user sends to another process: modules, functions, devices, results; and what says that it cannot be sent."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from runtime import remote
from runtime.modules import ADD, MIXED, iree_module, tiree_module
from runtime.remote import A

TWICE = (A + A).tolist()


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> rt.Module:
    path = tmp_path_factory.mktemp("pickling") / "add.vmfb"
    path.write_bytes(tiree_module(ADD))
    return rt.load(path, "local-sync")


PROTOCOLS = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))


@PROTOCOLS
def test_modules(local: rt.Module, protocol: int) -> None:
    found = pickle.loads(pickle.dumps(local, protocol))
    assert type(found) is rt.Module
    assert (found.name, found.device, repr(found)) == (local.name, local.device, repr(local))
    assert remote.add(found) == TWICE


def test_functions(local: rt.Module) -> None:
    found = again(local.add)
    assert (found.__name__, found.signature, remote.call(found, A, A)) == ("add", local.add.signature, TWICE)
    assert remote.call(again(partial(local.add, A)), A) == TWICE
    assert remote.call(again(again(local.add)), A, A) == TWICE


def test_limits_travel() -> None:
    module = rt.load(iree_module(MIXED), "local-sync", timeout=60.0, max_stack_depth=50)
    assert again(module)._origin.limits == {"timeout": 60.0, "max_stack_depth": 50}
    limited = module.split.limited(fuel=10)
    given = np.ones((2, 3), np.float32)
    for function in (limited, again(limited)):
        with pytest.raises(rt.FuelError):
            function(given)
    generous = again(limited.limited(fuel=10_000, timeout=5.0, max_stack_depth=7))
    assert remote.call(generous, given) is not None
    with pytest.raises(rt.FuelError):
        again(generous.limited(fuel=1))(given)


def test_bound_modules_and_their_contexts() -> None:
    bound = rt.load_vm_flatbuffer(iree_module(ADD), driver="local-sync")
    assert type(again(bound)) is rt.BoundModule
    assert remote.add(again(bound)) == TWICE
    context = rt.SystemContext(config=rt.Config("local-sync"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, iree_module(ADD)))
    assert remote.add(again(context.modules.module)) == TWICE
    assert again(rt.Config("local-sync", fuel=3)).limits == {"fuel": 3}
    assert again(rt.get_device("local-sync")) is rt.get_device("local-sync")
    with pytest.raises(TypeError, match="a SystemContext has the state of its modules and does not pickle"):
        pickle.dumps(context)
    by_hand = rt.FunctionInvoker(context.vm_context, context.config.device, bound.add.vm_function)
    with pytest.raises(TypeError, match=r"add\(\) was made of a VmContext, which does not pickle"):
        pickle.dumps(by_hand)
    for native in (context.vm_context, rt.HalFence(1), rt.HalBufferView.from_bytes(A, 0x21000020)):
        with pytest.raises(TypeError, match="cannot pickle or copy"):
            pickle.dumps(native)


def test_modules_in_python_do_not_travel() -> None:
    class Methods:
        def __init__(self, interface: rt.PyModuleInterface) -> None:
            pass

    interface = rt.PyModuleInterface("mine", Methods)
    with pytest.raises(
        TypeError, match='module "mine" is no bytecode and cannot be pickled; make it where it is needed'
    ):
        pickle.dumps(rt.load_vm_module(interface.create(), rt.Config("local-sync")))


INLINE = """
vm.module @inline version 0
vm.dependency @hal_inline version 0
vm.import @hal_inline.buffer.length cconv "0r_I"
vm.export @f
vm.func @f() -> (i32) {
^bb0:
  %i0 = vm.const.i32 7
  vm.return %i0
}
"""


def test_modules_that_need_native_ones() -> None:
    """`hal_inline` comes with the module that depends on it."""
    module = rt.load(rt.assemble(INLINE), "local-sync")
    assert again(module).f() == again(module.f)() == 7
    assert again(again(module)).f() == 7


def test_state_begins_anew_and_is_shared_by_what_travels_together() -> None:
    module = rt.load(iree_module(MIXED), "local-sync")
    start = module.next().item()
    module.next()
    found = again({"module": module, "function": module.next})
    assert found["module"].next().item() == start
    assert found["function"]().item() == start + 1
    assert copy.copy(module).next().item() == start + 2
    assert again(module.fork()).next().item() == again(module.fork().next)().item() == start
    assert copy.deepcopy(module).next().item() == start


def test_results_and_compiled_modules(local: rt.Module) -> None:
    result = local.add(A, A)
    assert type(again(result)) is np.ndarray
    assert again(result).tolist() == TWICE
    compiled = tiree.CompiledModule(tiree_module(ADD))
    assert type(again(compiled)) is tiree.CompiledModule
    assert remote.add(again(compiled).load("local-sync")) == TWICE


# Other libraries and Python 3.12 warn of forks while there are threads.
forks = pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning", "ignore:.*fork.*:DeprecationWarning")


@forks
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes(method: str, local: rt.Module) -> None:
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=remote.report, args=(theirs, local))
    process.start()
    assert ours.poll(60)
    assert ours.recv() == TWICE
    process.join(60)
    assert process.exitcode == 0


@forks
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_executors(method: str, local: rt.Module) -> None:
    task = rt.load(tiree_module(ADD), "local-task") if method == "spawn" else local
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(remote.add, task).result(60) == TWICE
        assert list(pool.map(remote.call, [local.add] * 2, [A] * 2, [A] * 2)) == [TWICE] * 2
        assert pool.submit(local.add.__call__, A, A).result(60).tolist() == TWICE


def test_cloudpickle(local: rt.Module) -> None:
    """What Ray and Dask send tasks with."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is a development dependency")

    def task(x: np.ndarray) -> np.ndarray:
        return local.add(x, x).to_host()

    for made in (task, partial(task), lambda x: local.add(x, x), local.add):
        found = pickle.loads(cloudpickle.dumps(made))
        arguments = (A, A) if made is local.add else (A,)
        assert np.asarray(found(*arguments)).tolist() == TWICE


def test_a_module_from_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "add.vmfb"
    path.write_bytes(tiree_module(ADD))
    module = rt.load(path, "local-sync")
    path.unlink()
    assert remote.add(again(module)) == TWICE


@PROTOCOLS
def test_everything_that_pickles_does_in_every_protocol(local: rt.Module, protocol: int) -> None:
    things = {
        "function": local.add,
        "limited": local.add.limited(fuel=10),
        "module of the VM": local._vm_module if hasattr(local, "_vm_module") else local.add,
        "instance": rt.VmInstance(),
        "device": rt.get_device("local-sync"),
        "config": rt.Config("local-sync"),
        "shape": rt.Shape([2, 3]),
        "splat": rt.SplatValue(np.float32(1), 4),
        "bound": rt.load_vm_flatbuffer(tiree_module(ADD), driver="local-sync"),
        "result": local.add(A, A),
    }
    for name, thing in things.items():
        found = pickle.loads(pickle.dumps(thing, protocol))
        assert type(found) is (np.ndarray if name == "result" else type(thing)), name
    assert pickle.loads(pickle.dumps(rt.Shape([2, 3]), protocol)) == rt.Shape([2, 3])


@PROTOCOLS
def test_the_rest_is_refused_when_it_is_written(local: rt.Module, protocol: int) -> None:
    device = rt.get_device("local-sync")
    rest = [
        device.create_semaphore(0), rt.HalFence(1), rt.VmVariantList(1), rt.VmBuffer(4), rt.ParameterIndex(),
        local.add.begin(A, A), local.add.vm_function, device.allocator, rt.asdevicearray(device, A).get_buffer(),
        rt.HalCommandBuffer(device), rt.VmContext(rt.VmInstance()), device.allocator.track_peak(),
    ]  # fmt: skip
    for thing in rest:
        name = type(thing).__name__
        for use in (partial(pickle.dumps, protocol=protocol), copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"^cannot pickle or copy a {name}: it belongs to its process"):
                use(thing)
