//! What is written can be read, at all times, and nothing is missing. The timeline is the process's, so the tests take
//! turns.

use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use tiree_trace::dispatches::{self, Dispatch, Label, Place};
use tiree_trace::{BeginError, begin, end, now};

static TURN: Mutex<()> = Mutex::new(());

fn turn(name: &str) -> (MutexGuard<'static, ()>, PathBuf) {
    let guard = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (guard, std::env::temp_dir().join(format!("tiree-trace-{}-{name}.json", std::process::id())))
}

fn read(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    whole["traceEvents"].as_array().unwrap().clone()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"] == name).collect()
}

#[test]
fn events_have_their_fields() {
    let (_turn, path) = turn("fields");
    begin(&path).unwrap();
    assert!(tiree_trace::timeline() && tiree_trace::active());
    let outer = now();
    let inner = now();
    tiree_trace::span("call", "in\"ner\\\n", inner, |arguments| {
        arguments.number("n", 3);
        arguments.text("text", "a\tb");
    });
    tiree_trace::instant("memory", "allocate", |arguments| arguments.number("bytes", 64));
    tiree_trace::counter("memory", "memory", 7, |values| values.number("live", 64));
    tiree_trace::span("call", "outer", outer, |_| ());
    end().unwrap();
    assert!(!tiree_trace::timeline() && !tiree_trace::active());
    let events = read(&path);
    assert_eq!(named(&events, "process_name").len(), 1);
    assert_eq!(named(&events, "thread_name").len(), 1);
    let inner = named(&events, "in\"ner\\\n")[0];
    assert_eq!((&inner["ph"], &inner["args"]["n"], &inner["args"]["text"]), (&"X".into(), &3.into(), &"a\tb".into()));
    let outer = named(&events, "outer")[0];
    let range = |event: &Value| {
        let start = event["ts"].as_f64().unwrap();
        (start, start + event["dur"].as_f64().unwrap())
    };
    assert!(range(outer).0 <= range(inner).0 && range(inner).1 <= range(outer).1);
    assert_eq!((&outer["tid"], &outer["pid"]), (&inner["tid"], &inner["pid"]));
    assert_eq!(named(&events, "allocate")[0]["ph"], "i");
    assert_eq!(named(&events, "memory")[0]["args"]["live"], 64);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn nothing_of_many_threads_is_lost() {
    let (_turn, path) = turn("threads");
    begin(&path).unwrap();
    std::thread::scope(|threads| {
        for thread in 0..8 {
            let body = move || {
                for index in 0..5000 {
                    tiree_trace::span("call", "work", now(), |arguments| arguments.number("n", thread * 5000 + index));
                }
            };
            std::thread::Builder::new().name(format!("worker {thread}")).spawn_scoped(threads, body).unwrap();
        }
    });
    end().unwrap();
    let events = read(&path);
    let mut numbers: Vec<u64> =
        named(&events, "work").iter().map(|event| event["args"]["n"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..40_000));
    let mut names: Vec<&str> =
        named(&events, "thread_name").iter().map(|event| event["args"]["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, (0..8).map(|thread| format!("worker {thread}")).collect::<Vec<_>>());
    std::fs::remove_file(path).unwrap();
}

/// A scope ends when its closures have returned; what the threads do on their way out may come after `end`.
#[test]
fn nothing_of_threads_on_their_way_out_is_lost() {
    let (_turn, path) = turn("leaving");
    for _ in 0..400 {
        begin(&path).unwrap();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| tiree_trace::instant("test", "leave", |_| ()));
            }
        });
        end().unwrap();
        assert_eq!(named(&read(&path), "leave").len(), 4);
    }
    std::fs::remove_file(path).unwrap();
}

/// A lane that is due goes to the file while its thread records on; `end` may come at any time.
#[test]
fn what_is_on_its_way_to_the_file_at_the_end_is_not_lost() {
    let (_turn, path) = turn("due");
    let name = "n".repeat(1 << 12);
    for _ in 0..400 {
        begin(&path).unwrap();
        let recorded = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while tiree_trace::timeline() {
                    tiree_trace::instant("test", &name, |_| ());
                    recorded.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
            while recorded.load(std::sync::atomic::Ordering::SeqCst) < 31 {
                // Not a spin: on a busy machine that would keep the thread that records from its core.
                std::thread::yield_now();
            }
            let before = recorded.load(std::sync::atomic::Ordering::SeqCst);
            end().unwrap();
            let found = named(&read(&path), &name).len() as u64;
            assert!(found >= before, "{found} of {before}");
        });
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_file_is_valid_and_has_what_is_old_before_the_end() {
    let (_turn, path) = turn("old");
    begin(&path).unwrap();
    assert_eq!(read(&path).len(), 1);
    tiree_trace::instant("test", "first", |_| ());
    std::thread::sleep(std::time::Duration::from_millis(120));
    tiree_trace::instant("test", "second", |_| ());
    assert_eq!(named(&read(&path), "first").len(), 1);
    end().unwrap();
    std::fs::remove_file(path).unwrap();
}

#[test]
fn one_timeline_at_a_time_and_each_begins_empty() {
    let (_turn, path) = turn("second");
    begin(&path).unwrap();
    tiree_trace::instant("test", "of the first", |_| ());
    let error = begin(std::env::temp_dir().join("other.json")).unwrap_err();
    assert!(matches!(error, BeginError::Busy(_)) && error.to_string().contains("second.json"), "{error}");
    end().unwrap();
    end().unwrap();
    tiree_trace::instant("test", "between", |_| ());
    begin(&path).unwrap();
    tiree_trace::instant("test", "of the second", |_| ());
    end().unwrap();
    let events = read(&path);
    assert_eq!(named(&events, "of the second").len(), 1);
    assert!(named(&events, "of the first").is_empty() && named(&events, "between").is_empty());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_at_the_beginning() {
    let (_turn, _) = turn("none");
    let error = begin("/nonexistent/trace.json").unwrap_err();
    assert!(error.to_string().starts_with("cannot write the trace to /nonexistent/trace.json: "), "{error}");
    assert!(!tiree_trace::active());
}

#[test]
fn shares_of_one_dispatch_become_one_span_per_thread_and_are_summed_up() {
    let (_turn, path) = turn("dispatches");
    let label = Arc::new(Label { executable: "module_0".into(), function: "add".into() });
    begin(&path).unwrap();
    dispatches::collect();
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let place = Some(Place { device: "local", number: 1, queue: 2 });
        let dispatch = Dispatch { label: &label, number: dispatches::number(&label), grid: [5, 2, 1], place };
        numbers.push(dispatch.number);
        std::thread::scope(|threads| {
            threads.spawn(|| dispatches::share(dispatch, now(), 4));
            dispatches::share(dispatch, now(), 3);
            dispatches::share(dispatch, now(), 3);
        });
    }
    let sums = dispatches::collected();
    end().unwrap();
    assert_eq!(sums.len(), 1);
    assert_eq!((sums[0].1.count, sums[0].1.workgroups), (2, 20));
    let events = read(&path);
    for number in numbers {
        let of = |event: &&&Value| event["args"]["dispatch"] == number;
        let shares: Vec<&Value> = named(&events, "add").iter().filter(of).copied().collect();
        let mut counts: Vec<u64> = shares.iter().map(|event| event["args"]["workgroups"].as_u64().unwrap()).collect();
        counts.sort_unstable();
        assert_eq!(counts, [4, 6]);
        assert_ne!(shares[0]["tid"], shares[1]["tid"]);
        assert_eq!((&shares[0]["args"]["of"], &shares[0]["args"]["grid"]), (&10.into(), &"5x2x1".into()));
        assert_eq!(shares[0]["args"]["executable"], "module_0");
        assert_eq!((&shares[1]["args"]["device"], &shares[1]["args"]["queue"]), (&"local#1".into(), &2.into()));
    }
    assert!(dispatches::collected().is_empty());
    std::fs::remove_file(path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_forked_child_leaves_the_file_alone() {
    let (_turn, path) = turn("fork");
    begin(&path).unwrap();
    tiree_trace::instant("test", "parent", |_| ());
    // SAFETY: the child only records, ends the timeline and leaves.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let off = !tiree_trace::active();
        tiree_trace::instant("test", "child", |_| ());
        let ended = end().is_ok();
        // SAFETY: ends the child without destructors.
        unsafe { libc::_exit(i32::from(!(off && ended))) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    tiree_trace::instant("test", "parent again", |_| ());
    end().unwrap();
    let events = read(&path);
    assert!(named(&events, "child").is_empty());
    assert_eq!((named(&events, "parent").len(), named(&events, "parent again").len()), (1, 1));
    std::fs::remove_file(path).unwrap();
}
