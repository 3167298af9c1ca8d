//! Calls on the timeline.

use crate::context::Instance;
use crate::module::Module;
use crate::status::Result;

/// Runs `body`, a call of function `ordinal` or a part of one, as a span of the timeline. `outcome` says in a word how it
/// ended.
#[cold]
pub(crate) fn call<R>(
    instance: &Instance,
    ordinal: usize,
    outcome: impl FnOnce(&R) -> &'static str,
    body: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let start = tiree_trace::now();
    let result = body();
    tiree_trace::span("call", &full_name(instance, ordinal), start, |arguments| match &result {
        Ok(done) => arguments.text("outcome", outcome(done)),
        Err(status) => arguments.text("error", &status.to_string()),
    });
    result
}

fn full_name(instance: &Instance, ordinal: usize) -> String {
    match instance {
        Instance::Bytecode(i) => format!("{}.{}", i.module.name(), i.module.function_name(ordinal).unwrap_or("?")),
        Instance::Native(i) => {
            format!("{}.{}", i.module.name(), i.module.exports().get(ordinal).map_or("?", |export| export.name))
        }
    }
}
