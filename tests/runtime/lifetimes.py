"""Makes objects that share memory, looks at them and drops them, in an order that a seed decides.

    python lifetimes.py MODULE DEVICE SEED STEPS

Every array knows what it must hold. Memory that is freed too early is overwritten (MALLOC_PERTURB_, and arrays made
meanwhile), so that a look at it is wrong or ends the process; memory that is freed too late is counted at the end.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tiree.runtime as rt

COUNT = 4096


class Capsule:
    """A DLPack capsule that somebody may yet take."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Lives:
    """What is alive, each with what it must hold."""

    def __init__(self, path: str, device: str, seed: int) -> None:
        self.path = path
        self.device_uri = device
        self.random = random.Random(seed)
        self.device = rt.HalDevice.open(device)
        self.module = rt.load(path, self.device)
        self.arrays: list[tuple[Any, np.ndarray]] = []
        self.capsules: list[tuple[object, np.ndarray]] = []
        self.started: list[tuple[Any, np.ndarray]] = []
        self.steps: list[Callable[[], None]] = [
            self.make, self.make, self.lend, self.call, self.call, self.call_twice, self.begin, self.finish, self.look,
            self.derive, self.derive, self.give, self.take, self.check, self.drop, self.drop, self.drop, self.reload,
            self.collect, self.drop_capsule,
        ]  # fmt: skip

    def array(self) -> tuple[Any, np.ndarray]:
        if not self.arrays:
            self.make()
        return self.random.choice(self.arrays)

    def make(self) -> None:
        """An array of numpy's, aligned somehow, perhaps read-only."""
        raw = np.empty(COUNT + 16, np.float32)
        start = self.random.randrange(16)
        made = raw[start : start + COUNT]
        made[:] = np.random.default_rng(self.random.randrange(1 << 30)).integers(0, 64, COUNT)
        made.flags.writeable = self.random.random() < 0.8
        self.arrays.append((made, made.copy()))

    def lend(self) -> None:
        array, held = self.array()
        self.arrays.append((rt.from_dlpack(array), held))

    def call(self) -> None:
        array, held = self.array()
        if held.max() > 1 << 20:
            return
        twice = self.random.random() < 0.5
        result = self.module.twice(array) if twice else self.module.same(array)
        self.arrays.append((result, held * 2 if twice else held))

    def call_twice(self) -> None:
        """A result that nothing holds as an argument."""
        array, held = self.array()
        np.testing.assert_array_equal(self.module.twice(self.module.same(array)), held * 2)

    def begin(self) -> None:
        array, held = self.array()
        self.started.append((self.module.twice.begin(array), held * 2))

    def finish(self) -> None:
        if self.started:
            call, held = self.started.pop(self.random.randrange(len(self.started)))
            call.wait()
            self.arrays.append((call.results(), held))

    def look(self) -> None:
        """Another way to see the same memory."""
        array, held = self.array()
        seen = self.random.choice([np.asarray, memoryview, lambda a: np.asarray(a)[:], np.from_dlpack])
        if isinstance(array, memoryview) and seen is np.from_dlpack:
            return
        self.arrays.append((seen(array), held))

    def derive(self) -> None:
        """Through the objects of the runtime."""
        array, held = self.array()
        if not isinstance(array, rt.DeviceArray):
            return
        ways: list[Callable[[], Any]] = [
            lambda: np.frombuffer(array.map(), np.float32),
            lambda: memoryview(array.map()).cast("f"),
            lambda: rt.DeviceArray(None, array.ref.deref(rt.HalBufferView), implicit_host_transfer=True),
            lambda: rt.DeviceArray(None, rt.HalBufferView(array.get_buffer(), [COUNT], 0x21000020), True),
            lambda: array.get_buffer().map().asarray([COUNT], np.float32),
            lambda: self.through_list(array),
        ]
        self.arrays.append((self.random.choice(ways)(), held))

    def through_list(self, array: rt.DeviceArray) -> Any:
        values = rt.VmVariantList(1)
        values.push_ref(array)
        return rt.DeviceArray(None, values.get_as_object(0, rt.HalBufferView), implicit_host_transfer=True)

    def give(self) -> None:
        array, held = self.array()
        if isinstance(array, rt.DeviceArray):
            self.capsules.append((array.__dlpack__(max_version=self.random.choice([(1, 1), (1, 0)])), held))

    def take(self) -> None:
        if self.capsules:
            capsule, held = self.capsules.pop(self.random.randrange(len(self.capsules)))
            taker = self.random.choice([np.from_dlpack, rt.from_dlpack])
            self.arrays.append((taker(Capsule(capsule)), held))

    def check(self) -> None:
        array, held = self.array()
        np.testing.assert_array_equal(np.asarray(array), held)

    def drop(self) -> None:
        if self.arrays:
            self.arrays.pop(self.random.randrange(len(self.arrays)))

    def drop_capsule(self) -> None:
        if self.capsules:
            self.capsules.pop()

    def reload(self) -> None:
        """The module, its context and sometimes its device go before what they made."""
        if self.random.random() < 0.3:
            self.device = rt.HalDevice.open(self.device_uri)
        self.module = rt.load(self.path, self.device)

    def collect(self) -> None:
        self.random.choice([gc.collect, gc.disable, gc.enable])()

    def end(self) -> None:
        """Everything is still right, and then everything goes."""
        for lifetime in self.arrays:
            np.testing.assert_array_equal(np.asarray(lifetime[0]), lifetime[1])
        lifetime = None
        while self.started:
            self.finish()
        device = self.device
        del self.module
        for pool in (self.arrays, self.capsules):
            self.random.shuffle(pool)
            while pool:
                pool.pop()
        gc.collect()
        statistics = device.allocator.statistics
        assert statistics["device_bytes_allocated"] == statistics["device_bytes_freed"], statistics


def main(path: str, device: str, seed: str, steps: str) -> None:
    lives = Lives(path, device, int(seed))
    for _ in range(int(steps)):
        lives.random.choice(lives.steps)()
    lives.end()
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
