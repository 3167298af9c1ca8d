//! What calls of native functions that come from outside the VM pass instead of registers.

use std::mem::MaybeUninit;

use crate::bytecode::{Inst, kind};
use crate::refs::Ref;
use crate::slot::Slot;
use crate::status::{Result, Status};
use crate::value::Value;

/// Arguments of a native call that comes from outside the VM, laid out like registers.
#[derive(Default)]
pub struct Arguments {
    pub(super) words: Vec<Inst>,
    pub(super) spans: Vec<Inst>,
    /// Units of 8 bytes: one for a number, two for a reference.
    pub(super) frame: Vec<MaybeUninit<u64>>,
}

// SAFETY: the frame holds numbers and counted references to objects that are Send and Sync.
unsafe impl Send for Arguments {}
// SAFETY: as for Send; nothing changes the frame.
unsafe impl Sync for Arguments {}

/// Units of a reference.
const SLOT_UNITS: usize = size_of::<Slot>() / size_of::<u64>();

impl Arguments {
    /// Arguments, flat, and the number of tuples in each `C..D` span; RESOURCE_EXHAUSTED for tens of thousands.
    pub fn new(values: Vec<Value>, span_counts: &[u16]) -> Result<Arguments> {
        if values.len() >= 1 << 13 {
            return Err(Status::resource_exhausted("too many arguments"));
        }
        let mut arguments = Arguments::default();
        arguments.spans.extend(span_counts.iter().map(|count| Inst { op: *count, a: 0, b: 0, c: 0 }));
        // Nothing of the frame moves while it is filled.
        arguments.frame.reserve_exact(values.len() * SLOT_UNITS);
        for value in values {
            let unit = arguments.frame.len() as u16;
            let (op, bits) = match value {
                Value::I32(v) => (kind::I32, u64::from(v as u32)),
                Value::F32(v) => (kind::F32, v.to_bits().into()),
                Value::I64(v) => (kind::I64, v as u64),
                Value::F64(v) => (kind::F64, v.to_bits()),
                Value::Ref(object) => {
                    arguments.push_reference(object);
                    arguments.words.push(Inst { op: kind::REF, a: unit, b: 0, c: 0 });
                    continue;
                }
            };
            arguments.frame.push(MaybeUninit::new(bits));
            // Numbers are named by cells of 4 bytes.
            arguments.words.push(Inst { op, a: unit * 2, b: 0, c: 0 });
        }
        Ok(arguments)
    }

    fn push_reference(&mut self, object: Ref) {
        let unit = self.frame.len();
        self.frame.resize(unit + SLOT_UNITS, MaybeUninit::uninit());
        // SAFETY: as many units as a slot has have just been added.
        unsafe { self.frame.as_mut_ptr().add(unit).cast::<Slot>().write(Slot::new(object)) };
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        for word in self.words.iter().filter(|word| word.op == kind::REF) {
            // SAFETY: every such word was pushed after its reference.
            unsafe { (*self.frame.as_mut_ptr().add(word.a.into()).cast::<Slot>()).clear() };
        }
    }
}
