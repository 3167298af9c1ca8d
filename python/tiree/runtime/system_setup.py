"""Drivers and devices: which exist, and one shared instance of each device that is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from threading import RLock
from typing import TypeAlias, cast

from tiree import _native

DEFAULT_DRIVER_NAMES = "local-task"
"""Comma-separated; the environment variable TIREE_DEFAULT_DEVICE (or IREE_DEFAULT_DEVICE) overrides it."""

_LOCK = RLock()
_DEVICES: dict[str, _native.HalDevice] = {}


class HalDriver:
    """A kind of device."""

    def __init__(self, name: str) -> None:
        if name not in _native.driver_names():
            known = ", ".join(_native.driver_names())
            raise ValueError(f'no driver "{name}"; this build has {known}. For the CPU use local-task.')
        self.name = name

    @staticmethod
    def query() -> list[str]:
        """Names of the drivers of this build."""
        return list(_native.driver_names())

    def query_available_devices(self) -> list[dict[str, object]]:
        return [{"device_id": 0, "path": "", "name": "default"}]

    def create_default_device(self, allocators: object = None) -> _native.HalDevice:
        return self.create_device_by_uri(self.name, allocators)

    def create_device(self, device_id: object, params: object = None, allocators: object = None) -> _native.HalDevice:
        """`device_id` 0 or an entry of `query_available_devices`."""
        number = cast("dict[str, object]", device_id).get("device_id") if isinstance(device_id, dict) else device_id
        if number != 0:
            raise ValueError(f"{self.name} has one device, 0; got {number!r}")
        if params:
            raise ValueError(f"{self.name} takes no parameters; got {params!r}")
        return self.create_default_device(allocators)

    def create_device_by_uri(self, device_uri: str, allocators: object = None) -> _native.HalDevice:
        if allocators:
            raise NotImplementedError("allocator wrappers are not supported; leave `allocators` out")
        return open_device(device_uri)

    def dump_device_info(self, device_id: int = 0) -> str:
        device = self.create_device(device_id)
        return f"{device.id}: {device.worker_count} worker(s)"


def open_device(device_uri: str) -> _native.HalDevice:
    """A new device, with the topology of `flags.parse_flags`."""
    from tiree.runtime.flags import topology

    return _native.HalDevice.open(device_uri, **topology())


def query_available_drivers() -> list[str]:
    return HalDriver.query()


def get_driver(device_uri: str) -> HalDriver:
    """The driver that `device_uri` (`local-task`, `local-task://0`) names. Raises `ValueError` for an unknown one."""
    return get_cached_hal_driver(device_uri.partition("://")[0])


@cache
def get_cached_hal_driver(name: str) -> HalDriver:
    """One object per driver."""
    return HalDriver(name)


def get_device(device_uri: str, cache: bool = True) -> _native.HalDevice:
    """The device of a URI, shared by all who ask with `cache`. Raises `ValueError` for an unknown one."""
    with _LOCK:
        if cache and device_uri in _DEVICES:
            return _DEVICES[device_uri]
        device = open_device(device_uri)
        if cache:
            _DEVICES[device_uri] = device
        return device


Devices: TypeAlias = "str | _native.HalDevice | Sequence[str | _native.HalDevice]"
"""A device or several, each as a URI or opened."""


def get_devices(devices: Devices) -> list[_native.HalDevice]:
    """The devices of a program. A URI that comes again is a further device of its kind."""
    if isinstance(devices, str | _native.HalDevice):
        devices = [devices]
    seen: set[str] = set()
    found: list[_native.HalDevice] = []
    for device in devices:
        if isinstance(device, str):
            found.append(get_device(device, cache=device not in seen))
            seen.add(device)
        else:
            found.append(device)
    return found


def get_first_device(device_uris: Sequence[str] | None = None, cache: bool = True) -> _native.HalDevice:
    """The first of `device_uris` (default: the default drivers) that opens. Raises `ValueError` when none does."""
    if device_uris is None:
        environment = os.environ.get("TIREE_DEFAULT_DEVICE") or os.environ.get("IREE_DEFAULT_DEVICE")
        device_uris = (environment or DEFAULT_DRIVER_NAMES).split(",")
    reasons: list[str] = []
    for uri in device_uris:
        try:
            return get_device(uri, cache)
        except (ValueError, RuntimeError) as error:
            reasons.append(str(error))
    raise ValueError(f"No device found from list {list(device_uris)}: {'; '.join(reasons)}")
