//! The `check` module, with which test programs compare tensors.

use crate::buffer_view::BufferView;
use crate::import_table::{self, native_export};
use crate::types::ElementType;
use crate::values::element::{decode_float, decode_integer};
use crate::values::format_view;
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, NativeExport, NativeModule, Result, Status};

static EXPORTS: [NativeExport; import_table::CHECK.len()] = [
    native_export(&import_table::CHECK, "expect_true"),
    native_export(&import_table::CHECK, "expect_false"),
    native_export(&import_table::CHECK, "expect_all_true"),
    native_export(&import_table::CHECK, "expect_eq"),
    native_export(&import_table::CHECK, "expect_almost_eq"),
];

/// What a failed expectation calls, when it shall not end the call.
pub type FailureSink = Box<dyn Fn(&str) + Send + Sync>;

/// The module. Without a sink, a failed expectation fails the call with ABORTED.
#[derive(Default)]
pub struct CheckModule {
    sink: Option<FailureSink>,
}

impl CheckModule {
    /// A module whose failed expectations fail the call.
    pub fn new() -> CheckModule {
        CheckModule::default()
    }

    /// A module that reports failed expectations to `sink` and goes on.
    pub fn with_sink(sink: FailureSink) -> CheckModule {
        CheckModule { sink: Some(sink) }
    }

    fn expect(&self, holds: bool, text: impl FnOnce() -> String) -> Result<Flow> {
        match (holds, &self.sink) {
            (true, _) => {}
            (false, Some(sink)) => sink(&text()),
            (false, None) => return Err(Status::aborted(text())),
        }
        Ok(Flow::Done)
    }

    fn compare(&self, frame: &mut CallFrame<'_>, approximate: bool) -> Result<Flow> {
        frame.any_ref()?;
        let (have, want): (Arc<BufferView>, Arc<BufferView>) = (frame.get_ref()?, frame.get_ref()?);
        let tolerance = if approximate { Some((f64::from(frame.f32()?), f64::from(frame.f32()?))) } else { None };
        if have.element_type() != want.element_type() || have.shape() != want.shape() {
            let text = || format!("expected {} but the tensor is {}", want.type_text(), have.type_text());
            return self.expect(false, text);
        }
        let (a, b) = (have.to_vec()?, want.to_vec()?);
        let size = have.element_type().byte_count().max(1);
        let close = |x: &[u8], y: &[u8]| equal(have.element_type(), x, y, tolerance);
        let first = a.chunks(size).zip(b.chunks(size)).position(|(x, y)| !close(x, y));
        let (have, want) = (format_view(&have, 1024)?, format_view(&want, 1024)?);
        self.expect(first.is_none(), || {
            format!("element at index {} differs; expected {want} but the tensor is {have}", first.unwrap_or(0))
        })
    }
}

fn equal(element: ElementType, a: &[u8], b: &[u8], tolerance: Option<(f64, f64)>) -> bool {
    match (decode_float(element, a), decode_float(element, b), tolerance) {
        (Some(a), Some(b), Some((absolute, relative))) => {
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= absolute + relative * b.abs()
        }
        (Some(a), Some(b), None) => a == b || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

impl NativeModule for CheckModule {
    fn name(&self) -> &str {
        "check"
    }

    fn version(&self) -> u32 {
        import_table::CHECK_VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 | 1 => {
                let (value, expected) = (frame.i32()? != 0, ordinal == 0);
                self.expect(value == expected, || format!("expected {expected} but the value is {value}"))
            }
            2 => {
                frame.any_ref()?;
                let view: Arc<BufferView> = frame.get_ref()?;
                let element = view.element_type();
                let bytes = view.to_vec()?;
                let is_true = |bytes: &[u8]| match (decode_float(element, bytes), decode_integer(element, bytes)) {
                    (Some(value), _) => value != 0.0,
                    (_, Some(value)) => value != 0,
                    _ => bytes.iter().any(|&byte| byte != 0),
                };
                let holds = bytes.chunks(element.byte_count().max(1)).all(is_true);
                let text = format_view(&view, 1024)?;
                self.expect(holds, || format!("expected all elements to be true but the tensor is {text}"))
            }
            3 => self.compare(frame, false),
            4 => self.compare(frame, true),
            _ => Err(Status::out_of_range(format!("check has no function {ordinal}"))),
        }
    }
}
