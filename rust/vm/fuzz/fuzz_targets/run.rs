#![no_main]

#[path = "../counting.rs"]
#[allow(dead_code)]
mod counting;
#[path = "../targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let left = counting::left_behind(|| {
        targets::run(data);
    });
    assert_eq!(left, 0, "allocations are left behind");
});
