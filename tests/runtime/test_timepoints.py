"""Timepoints that one semaphore exports and another imports: with both packages, which must agree."""

from __future__ import annotations

from typing import Any

import pytest
import tiree.runtime as rt


def packages() -> list[Any]:
    try:
        import iree.runtime as iree
    except ImportError:
        return [rt]
    return [rt, iree]


@pytest.mark.parametrize("package", packages(), ids=lambda p: p.__name__)
class TestTimepoints:
    def test_travel_between_semaphores(self, package: Any) -> None:
        device = package.get_device("local-task")
        source, target = device.create_semaphore(0), device.create_semaphore(0)
        point = package.HalExternalTimepoint()
        assert (int(point.type), int(point.flags), int(point.compatibility)) == (0, 0, 0)
        source.export_timepoint(3, package.ExternalTimepointType.ASYNC_PRIMITIVE, 0, point)
        assert (int(point.type), int(point.compatibility)) == (1, 5)
        target.import_timepoint(7, point)
        assert target.query() == 0
        source.signal(3)
        assert target.wait(7, timeout=10**10) in (True, None)
        assert target.query() == 7

    def test_events_of_gpus(self, package: Any) -> None:
        semaphore = package.get_device("local-sync").create_semaphore(0)
        point = package.HalExternalTimepoint()
        with pytest.raises(NotImplementedError):
            semaphore.export_timepoint(1, package.ExternalTimepointType.CUDA_EVENT, 0, point)
        point.cuda_event = 5
        assert (point.cuda_event, int(point.type)) == (5, 2)
        with pytest.raises(ValueError, match="hip"):
            point.hip_event = 6
        with pytest.raises(NotImplementedError):
            semaphore.import_timepoint(1, point)

    def test_values(self, package: Any) -> None:
        members = {name: int(value.value) for name, value in package.ExternalTimepointType.__members__.items()}
        assert members == {"NONE": 0, "ASYNC_PRIMITIVE": 1, "CUDA_EVENT": 2, "HIP_EVENT": 3}
        assert int(package.ExternalTimepointFlags.NONE.value) == 0


def test_failures_travel() -> None:
    device = rt.get_device("local-task")
    source, target = device.create_semaphore(0), device.create_semaphore(0)
    point = rt.HalExternalTimepoint()
    source.export_timepoint(1, rt.ExternalTimepointType.ASYNC_PRIMITIVE, 0, point)
    target.import_timepoint(1, point)
    source.fail("no more")
    with pytest.raises(RuntimeError, match="no more"):
        target.wait(1, timeout=10**10)


def test_a_timepoint_that_was_not_exported() -> None:
    point = rt.HalExternalTimepoint()
    point.type = rt.ExternalTimepointType.ASYNC_PRIMITIVE
    with pytest.raises(NotImplementedError, match="ASYNC_PRIMITIVE only"):
        rt.get_device("local-sync").create_semaphore(0).import_timepoint(1, point)
