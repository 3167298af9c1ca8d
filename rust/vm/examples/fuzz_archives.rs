//! Damages modules by numbers, loads and calls them: none may panic, crash, take over a second or leave anything behind.
//!
//! `fuzz_archives --count=1000000 [--first=0] [--state=FILE] [--out=FOLDER] SEED...`: seeds are modules, or folders of
//! such files (`.vmfb`). Case `n` is always the same for the same seeds; FILE holds the number of the case at hand, for whoever finds
//! this process dead. A finding is stored in FOLDER, and the exit code is 1.

#[path = "../fuzz/counting.rs"]
mod counting;
#[path = "../fuzz/damage.rs"]
mod damage;
#[path = "../fuzz/targets.rs"]
#[allow(dead_code)]
mod targets;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use damage::{Random, damage};

/// Longest that a case may take. On a busy machine it is tried again before that counts.
const LIMIT: Duration = Duration::from_secs(1);
/// After this time a case is given up, and the process with it.
const HANG: Duration = Duration::from_secs(60);

struct Options {
    count: u64,
    first: u64,
    state: Option<File>,
    out: PathBuf,
    seeds: Vec<Vec<u8>>,
}

fn options() -> std::io::Result<Options> {
    let mut options =
        Options { count: 1_000_000, first: 0, state: None, out: PathBuf::from("findings"), seeds: Vec::new() };
    let mut paths = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.split_once('=') {
            Some(("--count", value)) => options.count = value.parse().map_err(std::io::Error::other)?,
            Some(("--first", value)) => options.first = value.parse().map_err(std::io::Error::other)?,
            Some(("--state", value)) => options.state = Some(File::create(value)?),
            Some(("--out", value)) => options.out = PathBuf::from(value),
            _ => paths.push(PathBuf::from(arg)),
        }
    }
    for path in paths {
        let mut files = if path.is_dir() {
            std::fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?
        } else {
            vec![path]
        };
        // Numbers of cases must not depend on the order of a folder.
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "vmfb")) {
            options.seeds.push(std::fs::read(file)?);
        }
    }
    options.seeds.retain(|seed| !seed.is_empty());
    Ok(options)
}

fn case(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut bytes = seeds[random.below(seeds.len())].clone();
    damage(&mut bytes, &mut random);
    if bytes.is_empty() { vec![0] } else { bytes }
}

/// What is wrong with a case, if anything; how far it got.
fn check(bytes: &[u8]) -> (usize, Option<String>) {
    let before = counting::alive();
    let start = Instant::now();
    let Ok(reached) = catch_unwind(AssertUnwindSafe(|| targets::run(bytes))) else {
        return (0, Some("panic".to_owned()));
    };
    let again = || {
        let start = Instant::now();
        targets::run(bytes);
        start.elapsed()
    };
    if start.elapsed() > LIMIT && again() > LIMIT && again() > LIMIT {
        return (reached, Some(format!("takes {} s", start.elapsed().as_secs_f32() / 3.0)));
    }
    if counting::alive() != before {
        let left = counting::left_behind(|| {
            targets::run(bytes);
        });
        return (reached, (left != 0).then(|| format!("leaves {left} allocations behind")));
    }
    (reached, None)
}

/// Ends the process when one case does not end.
fn watch(current: &Arc<AtomicU64>, out: &Path) {
    let (current, out) = (current.clone(), out.to_owned());
    std::thread::spawn(move || {
        let mut last = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = current.load(Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > HANG {
                println!("case {now} does not end; files of findings are in {}", out.display());
                std::process::exit(2);
            }
        }
    });
}

fn main() -> std::io::Result<()> {
    let options = options()?;
    assert!(!options.seeds.is_empty(), "no seeds");
    let current = Arc::new(AtomicU64::new(options.first));
    watch(&current, &options.out);
    let start = Instant::now();
    let (mut reached, mut findings) = ([0_u64; 3], 0);
    for number in options.first..options.first + options.count {
        current.store(number, Relaxed);
        if let Some(state) = &options.state {
            state.write_all_at(format!("{number:20}").as_bytes(), 0)?;
        }
        let bytes = case(&options.seeds, number);
        let (far, wrong) = check(&bytes);
        reached[far] += 1;
        if let Some(wrong) = wrong {
            std::fs::create_dir_all(&options.out)?;
            let path = options.out.join(format!("archive-{number}.vmfb"));
            std::fs::write(&path, &bytes)?;
            println!("case {number} {wrong}: {}", path.display());
            findings += 1;
        }
        let done = number + 1 - options.first;
        if done.is_multiple_of(100_000) {
            println!("{done} archives in {:.0} s, {findings} findings", start.elapsed().as_secs_f32());
        }
    }
    println!(
        "{} archives in {:.0} s: {} not read, {} refused, {} called; {findings} findings",
        options.count,
        start.elapsed().as_secs_f32(),
        reached[0],
        reached[1],
        reached[2]
    );
    std::process::exit(i32::from(findings > 0));
}
