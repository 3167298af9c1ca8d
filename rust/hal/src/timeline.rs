//! What the device does, on the timeline: queue operations, command buffers, dispatches, transfers, waits, memory.

use crate::executable::Executable;
use crate::memory::{Kind, Statistics};
use crate::program::{Command, Program};
use std::cell::Cell;
use tiree_trace::Arguments;
use tiree_trace::dispatches::{self, Dispatch, Place};
use tiree_vm::Result;

/// Whether and as what a command is recorded.
#[derive(Clone, Copy)]
pub(crate) enum Traced {
    No,
    /// A dispatch, by the number of its execution, and where it was submitted.
    Dispatch(u64, Option<Place>),
    Transfer(Option<Place>),
}

thread_local! {
    /// Where the operation that runs on this thread was submitted.
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
}

impl Traced {
    /// An execution of `entry`, which is counted.
    #[cold]
    pub(crate) fn dispatch(executable: &Executable, entry: usize) -> Traced {
        Traced::Dispatch(dispatches::number(executable.label(entry)), PLACE.get())
    }

    /// A transfer: only timelines have them.
    pub(crate) fn transfer() -> Traced {
        if tiree_trace::timeline() { Traced::Transfer(PLACE.get()) } else { Traced::No }
    }
}

/// Runs a queue operation.
#[inline]
pub(crate) fn operation(
    name: &'static str,
    place: impl FnOnce() -> Option<Place>,
    body: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if tiree_trace::timeline() { placed(name, place(), body) } else { body() }
}

#[cold]
fn placed(name: &str, place: Option<Place>, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let outer = PLACE.replace(place);
    let result = spanned("queue", name, body);
    PLACE.set(outer);
    result
}

fn write_place(arguments: &mut Arguments<'_>, place: Option<Place>) {
    if let Some(place) = place {
        place.write(arguments);
    }
}

#[cold]
fn spanned(category: &'static str, name: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = tiree_trace::now();
    let result = body();
    tiree_trace::span(category, name, start, |arguments| {
        write_place(arguments, PLACE.get());
        if let Err(status) = &result {
            arguments.text("error", &status.to_string());
        }
    });
    result
}

/// Runs the commands of a command buffer.
#[cold]
pub(crate) fn program(program: &Program, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = tiree_trace::now();
    let result = body();
    tiree_trace::span("command_buffer", "command buffer", start, |arguments| {
        let dispatches = program.commands.iter().filter(|command| matches!(command, Command::Dispatch(_)));
        arguments.number("commands", program.commands.len() as u64);
        arguments.number("dispatches", dispatches.count() as u64);
        arguments.number("barriers", program.regions.len().saturating_sub(1) as u64);
        write_place(arguments, PLACE.get());
        if let Err(status) = &result {
            arguments.text("error", &status.to_string());
        }
    });
    result
}

/// Runs `workgroups` workgroups of a dispatch on the calling thread.
#[cold]
pub(crate) fn share(dispatch: Dispatch<'_>, workgroups: u64, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = tiree_trace::now();
    let result = body();
    dispatches::share(dispatch, start, workgroups);
    result
}

/// Runs a part of a fill, copy or update of `length` bytes in all.
#[cold]
pub(crate) fn transfer(
    name: &str,
    length: usize,
    place: Option<Place>,
    body: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let start = tiree_trace::now();
    let result = body();
    tiree_trace::span("transfer", name, start, |arguments| {
        arguments.number("bytes", length as u64);
        write_place(arguments, place);
    });
    result
}

/// Blocks until something is signalled.
#[cold]
pub(crate) fn wait(body: impl FnOnce() -> Result<()>) -> Result<()> {
    spanned("wait", "wait", body)
}

/// Memory was handed out or came back; `statistics` are those after it, `pool` tells devices apart.
#[cold]
pub(crate) fn memory(name: &str, bytes: usize, kind: Kind, pool: usize, statistics: &Statistics) {
    let kind = if kind == Kind::Host { "host" } else { "device" };
    tiree_trace::instant("memory", name, |arguments| {
        arguments.number("bytes", bytes as u64);
        arguments.text("kind", kind);
    });
    tiree_trace::counter("memory", "memory", pool as u64, |values| {
        values.number("host", statistics.host.allocated - statistics.host.freed);
        values.number("device", statistics.device.allocated - statistics.device.freed);
        values.number("cached", statistics.cached);
    });
}
