//! Events as text: each begins with a comma and a line break, so that lanes can be written one after the other.

use std::io::Write;

/// Everything that events are appended to.
pub(crate) type Text = Vec<u8>;

/// The arguments of an event, as its details pane shows them.
pub struct Arguments<'a> {
    text: &'a mut Text,
    first: bool,
}

impl Arguments<'_> {
    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.text.push(b',');
        }
        string(self.text, name);
        self.text.push(b':');
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, value: u64) {
        self.key(name);
        digits(self.text, value);
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.key(name);
        string(self.text, value);
    }
}

/// The number of this process.
fn process(text: &mut Text) {
    digits(text, u64::from(std::process::id()));
}

fn digits(text: &mut Text, value: u64) {
    // Writing to a vector cannot fail.
    let _ = write!(text, "{value}");
}

/// Nanoseconds as microseconds, the unit of the format.
fn microseconds(text: &mut Text, nanoseconds: u64) {
    let _ = write!(text, "{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

fn string(text: &mut Text, value: &str) {
    text.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            0..=0x1f => _ = write!(text, "\\u{byte:04x}"),
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}

/// What an event is about.
pub(crate) struct Subject<'a> {
    pub(crate) category: &'static str,
    pub(crate) name: &'a str,
    /// The thread that it is an event of.
    pub(crate) thread: u64,
}

/// `,{"ph":"X","pid":1,"tid":2,"name":...` and the time.
fn head(text: &mut Text, phase: &str, subject: &Subject<'_>, at: u64) {
    text.extend_from_slice(b",\n{\"ph\":");
    string(text, phase);
    text.extend_from_slice(b",\"pid\":");
    process(text);
    text.extend_from_slice(b",\"tid\":");
    digits(text, subject.thread);
    text.extend_from_slice(b",\"name\":");
    string(text, subject.name);
    text.extend_from_slice(b",\"cat\":");
    string(text, subject.category);
    text.extend_from_slice(b",\"ts\":");
    microseconds(text, at);
}

fn tail(text: &mut Text, arguments: impl FnOnce(&mut Arguments<'_>)) {
    text.extend_from_slice(b",\"args\":{");
    arguments(&mut Arguments { text, first: true });
    text.extend_from_slice(b"}}");
}

/// A span, from `at` for `duration`.
pub(crate) fn complete(
    text: &mut Text,
    subject: &Subject<'_>,
    (at, duration): (u64, u64),
    arguments: impl FnOnce(&mut Arguments<'_>),
) {
    head(text, "X", subject, at);
    text.extend_from_slice(b",\"dur\":");
    microseconds(text, duration);
    tail(text, arguments);
}

/// A moment of a thread.
pub(crate) fn instant(text: &mut Text, subject: &Subject<'_>, at: u64, arguments: impl FnOnce(&mut Arguments<'_>)) {
    head(text, "i", subject, at);
    text.extend_from_slice(b",\"s\":\"t\"");
    tail(text, arguments);
}

/// Values of a counter of the process.
pub(crate) fn counter(
    text: &mut Text,
    subject: &Subject<'_>,
    id: u64,
    at: u64,
    values: impl FnOnce(&mut Arguments<'_>),
) {
    head(text, "C", subject, at);
    let _ = write!(text, ",\"id\":\"{id:#x}\"");
    tail(text, values);
}

/// The name of a thread (`thread_name`) or of the process (`process_name`).
pub(crate) fn metadata(text: &mut Text, what: &str, thread: u64, name: &str) {
    head(text, "M", &Subject { category: "__metadata", name: what, thread }, 0);
    tail(text, |arguments| arguments.text("name", name));
}
