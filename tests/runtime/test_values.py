"""`VmVariantList`, `VmRef`, `VmBuffer` and `VmContext.invoke`: calls below the level of arrays."""

from __future__ import annotations

import numpy as np
import pytest
import tiree.runtime as rt

A = np.array([1, 2, 3, 4], np.float32)


@pytest.fixture
def view(device: rt.HalDevice) -> rt.HalBufferView:
    return rt.asdevicearray(device, A, implicit_host_transfer=True)


@pytest.fixture
def values(view: rt.HalBufferView) -> rt.VmVariantList:
    """An int, a float, a list and a buffer view."""
    inner = rt.VmVariantList(1)
    inner.push_int(1)
    values = rt.VmVariantList(3)
    values.push_int(5)
    values.push_float(2.5)
    values.push_list(inner)
    values.push_ref(view)
    return values


class TestVariantList:
    def test_reading(self, values: rt.VmVariantList, view: rt.HalBufferView):
        assert (len(values), values.size) == (4, 4)
        assert values.get_variant(0) == 5
        assert values.get_variant(1) == 2.5
        assert isinstance(values.get_variant(3), rt.VmRef)
        assert values.get_variant(3) == view.ref
        assert values.get_as_list(2).get_variant(0) == 1
        assert values.get_as_ref(3) == view.ref
        assert np.asarray(values.get_as_object(3)).tolist() == A.tolist()
        assert isinstance(values.get_as_object(3, rt.HalBufferView), rt.HalBufferView)
        assert values.get_as_object(3, rt.HalFence) is None

    def test_refusals(self, values: rt.VmVariantList):
        for read in (values.get_variant, values.get_as_ref, values.get_as_list, values.get_as_object):
            with pytest.raises(IndexError, match=r"index 4 out of bounds \(4\)"):
                read(4)
        with pytest.raises(ValueError, match="is a number, not a reference"):
            values.get_as_ref(0)
        with pytest.raises(ValueError, match="is a number, not a reference"):
            values.get_as_list(1)
        with pytest.raises(ValueError, match="not a list"):
            values.get_as_list(3)
        with pytest.raises(ValueError, match="cannot be appended to itself"):
            values.push_list(values)
        for wrong in (5, "text", A):
            with pytest.raises(TypeError, match="needs an object of the runtime"):
                values.push_ref(wrong)

    def test_null_goes_in(self):
        values = rt.VmVariantList(1)
        values.push_ref(None)
        assert values.get_variant(0) is None

    def test_every_object_of_the_runtime_goes_in(self, device: rt.HalDevice, view: rt.HalBufferView):
        objects = [
            view,
            view.ref,
            view.get_buffer(),
            device,
            device.create_semaphore(1),
            rt.HalFence(1),
            rt.HalCommandBuffer(device),
            rt.VmBuffer(4),
            rt.VmVariantList(0),
        ]
        values = rt.VmVariantList(len(objects))
        for number, given in enumerate(objects):
            values.push_ref(given)
            kind = rt.HalBufferView if isinstance(given, rt.VmRef) else type(given)
            assert isinstance(values.get_as_object(number), kind)
            assert values.get_as_ref(number) == given.__iree_vm_ref__

    def test_objects_that_hold_a_reference(self, view: rt.HalBufferView):
        class Holder:
            __iree_vm_ref__ = view.ref

        values = rt.VmVariantList(1)
        values.push_ref(Holder())
        assert values.get_as_ref(0) == view.ref

    def test_text(self, values: rt.VmVariantList):
        assert repr(values).startswith("<VmVariantList(4): [5, 2.500000, List[1], <Tiree DeviceArray")

    def test_serialized(self, values: rt.VmVariantList):
        assert [values.get_serialized_trace_value(i) for i in range(4)] == [
            {"type": "value", "i64": 5},
            {"type": "value", "f64": 2.5},
            {"type": "vm.list", "items": [{"type": "value", "i64": 1}]},
            {"type": "hal.buffer_view", "shape": [4], "element_type": "f32", "contents": A.tobytes()},
        ]


class TestRef:
    def test_deref(self, view: rt.HalBufferView):
        reference = view.ref
        assert reference.isinstance(rt.HalBufferView)
        assert not reference.isinstance(rt.HalFence)
        assert np.asarray(reference.deref(rt.HalBufferView)).tolist() == A.tolist()
        assert reference.deref(rt.HalFence, True) is None
        with pytest.raises(TypeError, match=r"the reference is a hal\.buffer_view, not a HalFence"):
            reference.deref(rt.HalFence)

    def test_equality(self, view: rt.HalBufferView, device: rt.HalDevice):
        assert view.ref == view.ref
        assert hash(view.ref) == hash(view.ref)
        assert view.ref != device.ref
        assert view.ref != 5
        assert repr(view.ref).startswith("<VmRef hal.buffer_view at 0x")


class TestBuffer:
    def test_bytes(self):
        buffer = rt.VmBuffer(4)
        assert (len(buffer), bytes(buffer)) == (4, bytes(4))
        memoryview(buffer)[1] = 7
        assert bytes(buffer) == b"\0\7\0\0"
        assert repr(buffer) == "<VmBuffer size 4>"
        assert memoryview(rt.VmBuffer(4, mutable=False)).readonly
        assert bytes(rt.VmBuffer(0)) == b""

    def test_alignment(self):
        assert np.frombuffer(rt.VmBuffer(64, 4096), np.uint8).ctypes.data % 4096 == 0
        with pytest.raises(ValueError, match="power"):
            rt.VmBuffer(4, 3)


class TestInvoke:
    def call(self, module: rt.Module, name: str, *given: object) -> rt.VmVariantList:
        inputs, outputs = rt.VmVariantList(len(given)), rt.VmVariantList(2)
        for value in given:
            if isinstance(value, int):
                inputs.push_int(value)
            elif isinstance(value, float):
                inputs.push_float(value)
            else:
                inputs.push_ref(value)
        config = rt.Config(device=rt.get_device(module.device))
        context = rt.SystemContext(vm_modules=[module.vm_module], config=config).vm_context
        context.invoke(module.vm_module.lookup_function(name), inputs, outputs)
        return outputs

    def test_numbers(self, mixed: rt.Module):
        """A list holds i64 and f64; functions get the widths that they declare."""
        outputs = self.call(mixed, "scalars", 5, 6, 1.5, 2.5)
        assert [outputs.get_variant(i) for i in range(4)] == [10, 12, 3.0, 5.0]

    def test_tensors(self, mixed: rt.Module, view: rt.HalBufferView):
        outputs = self.call(mixed, "scale", 2.0, view)
        assert len(outputs) == 1
        assert np.asarray(outputs.get_as_object(0, rt.HalBufferView)).tolist() == (A * 2).tolist()

    def test_nothing(self, mixed: rt.Module):
        assert len(self.call(mixed, "nothing")) == 0

    def test_refusals(self, mixed: rt.Module, view: rt.HalBufferView):
        with pytest.raises(ValueError, match="expected 2 arguments but passed 1"):
            self.call(mixed, "scale", view)
        with pytest.raises((ValueError, RuntimeError), match="argument 1"):
            self.call(mixed, "scale", view, view)
        with pytest.raises(ValueError, match=r"shape|rank"):
            self.call(mixed, "split", view)
        with pytest.raises((ValueError, RuntimeError), match=r"ref type mismatch; have vm\.list"):
            self.call(mixed, "split", rt.VmVariantList(0).ref)

    def test_results_replace_what_was_there(self, mixed: rt.Module):
        context = rt.SystemContext(vm_modules=[mixed.vm_module], config=rt.Config("local-sync")).vm_context
        outputs = rt.VmVariantList(2)
        outputs.push_int(7)
        outputs.push_int(8)
        with pytest.raises(ValueError, match="expected 4 arguments but passed 0"):
            context.invoke(mixed.vm_module.lookup_function("scalars"), rt.VmVariantList(0), outputs)
        assert [outputs.get_variant(i) for i in range(len(outputs))] == [7, 8]
        for number in (1, 2):
            context.invoke(mixed.vm_module.lookup_function("next"), rt.VmVariantList(0), outputs)
            assert len(outputs) == 1
            assert int(np.asarray(outputs.get_as_object(0))) == number

    def test_contexts_have_numbers(self, mixed: rt.Module):
        instance = rt.VmInstance()
        first, second = rt.VmContext(instance), rt.VmContext(instance)
        assert first.context_id != second.context_id
        first.register_modules([rt.create_hal_module(instance, rt.get_device("local-sync")), mixed.vm_module])
        assert first.module_names == ["hal", "mixed"]
