//! A native module for tests and fuzzing: every kind of argument and result, spans of tuples, errors, suspension.
//!
//! `tiree.testing.native` in Python has the same functions, for the reference interpreter.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use crate::module::{CallFrame, Flow, NativeExport, NativeModule, Wait};
use crate::status::{Result, Status, StatusCode};
use crate::{AnyModule, VmBuffer};

const EXPORTS: [NativeExport; 9] = [
    // A number made of all arguments.
    NativeExport { name: "mix", cconv: "0iIfF_I" },
    // The sum of a span and how many it has.
    NativeExport { name: "sum", cconv: "0CiD_i" },
    // A number made of all, and the last f64 as it is.
    NativeExport { name: "tuples", cconv: "0ICiFD_IF" },
    // Three spans; of references only whether they are null.
    NativeExport { name: "spans", cconv: "0CfDCrDiCIfD_I" },
    // The reference.
    NativeExport { name: "same", cconv: "0r_r" },
    // One of the references, OUT_OF_RANGE when there is none of that number.
    NativeExport { name: "choose", cconv: "0iCrD_r" },
    // A buffer of up to 63 equal bytes.
    NativeExport { name: "make", cconv: "0i_r" },
    // An error for some numbers, the number for the others.
    NativeExport { name: "refuse", cconv: "0i_i" },
    // Results in another order than the arguments, after a suspension.
    NativeExport { name: "later", cconv: "0iFfI_fIiF" },
];

/// The module, called `native`.
pub fn native_module() -> AnyModule {
    AnyModule::from(Arc::new(Native) as Arc<dyn NativeModule>)
}

struct Native;

/// Numbers mixed into one, in order.
struct Mixture(u64);

impl Mixture {
    fn add(&mut self, bits: u64) {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(bits);
    }
}

/// What is over as soon as it is asked about.
struct Over;

impl Wait for Over {
    fn is_ready(&self) -> bool {
        true
    }

    fn wait(&self, _: Option<Instant>) -> bool {
        true
    }

    fn on_ready(&self, callback: Box<dyn FnOnce() + Send>) {
        callback();
    }
}

impl NativeModule for Native {
    fn name(&self) -> &str {
        "native"
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => mix(frame),
            1 => sum(frame),
            2 => tuples(frame),
            3 => spans(frame),
            4 => {
                let reference = frame.any_ref()?;
                frame.push_any_ref(reference);
                Ok(())
            }
            5 => choose(frame),
            6 => make(frame),
            7 => refuse(frame),
            8 => return later(frame),
            _ => Err(Status::out_of_range(format!("no function {ordinal}"))),
        }?;
        Ok(Flow::Done)
    }
}

fn mix(frame: &mut CallFrame<'_>) -> Result<()> {
    let mut mixture = Mixture(1);
    mixture.add(u64::from(frame.i32()? as u32));
    mixture.add(frame.i64()? as u64);
    mixture.add(frame.f32()?.to_bits().into());
    mixture.add(frame.f64()?.to_bits());
    frame.push_i64(mixture.0 as i64);
    Ok(())
}

fn sum(frame: &mut CallFrame<'_>) -> Result<()> {
    let count = frame.span()?;
    let mut sum = count as i32;
    for _ in 0..count {
        sum = sum.wrapping_add(frame.i32()?);
    }
    frame.push_i32(sum);
    Ok(())
}

fn tuples(frame: &mut CallFrame<'_>) -> Result<()> {
    let mut mixture = Mixture(frame.i64()? as u64);
    let mut last = 0.0;
    for _ in 0..frame.span()? {
        mixture.add(u64::from(frame.i32()? as u32));
        last = frame.f64()?;
        mixture.add(last.to_bits());
    }
    frame.push_i64(mixture.0 as i64);
    frame.push_f64(last);
    Ok(())
}

fn spans(frame: &mut CallFrame<'_>) -> Result<()> {
    let mut mixture = Mixture(1);
    for _ in 0..frame.span()? {
        mixture.add(frame.f32()?.to_bits().into());
    }
    for _ in 0..frame.span()? {
        mixture.add(frame.any_ref()?.is_some().into());
    }
    mixture.add(u64::from(frame.i32()? as u32));
    for _ in 0..frame.span()? {
        mixture.add(frame.i64()? as u64);
        mixture.add(frame.f32()?.to_bits().into());
    }
    frame.push_i64(mixture.0 as i64);
    Ok(())
}

fn choose(frame: &mut CallFrame<'_>) -> Result<()> {
    let index = frame.i32()? as u32 as usize;
    let count = frame.span()?;
    if index >= count {
        return Err(Status::out_of_range(format!("{index} of {count} references")));
    }
    for _ in 0..index {
        frame.any_ref()?;
    }
    let reference = frame.any_ref()?;
    frame.push_any_ref(reference);
    Ok(())
}

fn make(frame: &mut CallFrame<'_>) -> Result<()> {
    let number = frame.i32()?;
    let bytes = [number as u8; 63];
    let length = (number & 63) as usize;
    let charge = frame.charge(length)?;
    frame.push_ref(Arc::new(VmBuffer::copy_of(&bytes[..length], true)?.charged(charge)));
    Ok(())
}

fn refuse(frame: &mut CallFrame<'_>) -> Result<()> {
    let number = frame.i32()?;
    if let code @ 1..=16 = number & 63 {
        return Err(Status::new(StatusCode::from_u32(code as u32), "refused"));
    }
    frame.push_i32(number);
    Ok(())
}

fn later(frame: &mut CallFrame<'_>) -> Result<Flow> {
    if frame.resume_slot().take().is_none() {
        *frame.resume_slot() = Some(Box::new(()));
        return Ok(Flow::Suspend(Arc::new(Over)));
    }
    let (a, b, c, d) = (frame.i32()?, frame.f64()?, frame.f32()?, frame.i64()?);
    frame.push_f32(c);
    frame.push_i64(d);
    frame.push_i32(a);
    frame.push_f64(b);
    Ok(Flow::Done)
}
