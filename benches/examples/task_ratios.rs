//! The task system against rayon, as ratios in one run: `cargo run --release -p tiree-benches --example task_ratios`.
//!
//! Both pools have two threads, and for wake-ups one, bound to another core than the caller. A comparison is made of five
//! series of interleaved rounds. The figure of a series is its best round, which others on the machine disturb least; that
//! of a wake-up is the median round, because now and then either pool's worker happens to be awake. Prints one line per comparison: name, nanoseconds of Tiree and of rayon in the
//! middle series, its ratio, the least and the largest ratio, and the verdict. The claim is to be no slower than rayon: `ok`
//! when the middle ratio is at most 1; `ok within noise` when it is above but the series disagree, one of them at least
//! being at most 1; `MISSED` when Tiree was slower in all five. `--rounds N` makes it longer.

use rayon::ThreadPool;
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tiree_benches::WORKERS;
use tiree_task::{Error, Executor, GridOptions, Scope, TopologyOptions};

const SERIES: usize = 5;

/// Seconds of Tiree and of rayon in each series.
type Figures = [(f64, f64); SERIES];

struct Pools {
    tiree: Arc<Executor>,
    rayon: Arc<ThreadPool>,
}

/// Series of `rounds` turns of each, in seconds: of each series the one that `share` (0: the best, 0.5: the median) of the others are better than.
fn turns(
    share: f64,
    rounds: usize,
    mut tiree: impl FnMut() -> Duration,
    mut rayon: impl FnMut() -> Duration,
) -> Figures {
    let rounds = rounds.div_ceil(SERIES);
    let pick = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get((share * rounds as f64) as usize).map_or(f64::NAN, Duration::as_secs_f64)
    };
    std::array::from_fn(|_| {
        let (mut first, mut second): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (tiree(), rayon())).unzip();
        (pick(&mut first), pick(&mut second))
    })
}

/// The best of `rounds` turns of each, in seconds.
fn best(rounds: usize, tiree: impl FnMut() -> Duration, rayon: impl FnMut() -> Duration) -> Figures {
    turns(0.0, rounds, tiree, rayon)
}

/// The time of `count` calls of `body`, per call.
fn time(count: u32, mut body: impl FnMut()) -> Duration {
    body();
    let start = Instant::now();
    for _ in 0..count {
        body();
    }
    start.elapsed() / count
}

fn report(name: &str, mut figures: Figures) -> bool {
    let ratio = |(tiree, rayon): (f64, f64)| tiree / rayon;
    figures.sort_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
    let middle = figures[SERIES / 2];
    let (least, largest) = (ratio(figures[0]), ratio(figures[SERIES - 1]));
    let verdict = match ratio(middle) <= 1.0 {
        true => "ok",
        false if least <= 1.0 => "ok within noise",
        false => "MISSED",
    };
    let (tiree, rayon) = (middle.0 * 1e9, middle.1 * 1e9);
    println!("{name:<34} {tiree:>9.0} {rayon:>9.0} {:>7.3} {least:>7.3} {largest:>7.3}  {verdict}", ratio(middle));
    verdict != "MISSED"
}

/// Pools of one worker on the second core, for callers on the first: how long a wake-up takes depends more on where the
/// system runs the two threads than on who wakes whom, and it places the threads of the two pools differently.
fn apart() -> Option<Pools> {
    let cores = core_affinity::get_core_ids()?;
    let (&caller, &worker) = (cores.first()?, cores.get(1)?);
    let options = TopologyOptions { cpu_ids: vec![worker.id], ..Default::default() };
    let tiree = Executor::new(&options).ok()?;
    let pin =
        move |_| assert!(core_affinity::set_for_current(worker), "a thread cannot be bound to core {}", worker.id);
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(pin).build().ok()?;
    core_affinity::set_for_current(caller).then(|| Pools { tiree: Arc::new(tiree), rayon: Arc::new(rayon) })
}

/// From the call of `spawn` to the first instruction of the task, `pause` after the pool ran its last task, with the other
/// pool asleep. The caller sleeps in longer pauses, and is busy in those that are too short for the system's timers.
fn wake_up(pools: &Pools, rounds: usize, pause: Duration) -> Figures {
    let measure = |spawn: &dyn Fn(Box<dyn FnOnce() + Send>)| {
        let run = || {
            let (result, caller) = (Arc::new(OnceLock::new()), std::thread::current());
            let (theirs, start) = (result.clone(), Instant::now());
            spawn(Box::new(move || {
                _ = theirs.set(start.elapsed());
                caller.unpark();
            }));
            loop {
                match result.get() {
                    Some(time) => return *time,
                    None => std::thread::park(),
                }
            }
        };
        std::thread::sleep(Duration::from_micros(300));
        run();
        if pause >= Duration::from_micros(50) {
            std::thread::sleep(pause);
        } else {
            let start = Instant::now();
            while start.elapsed() < pause {
                std::hint::spin_loop();
            }
        }
        run()
    };
    turns(
        0.5,
        rounds,
        || measure(&|task| pools.tiree.spawn(None, task).unwrap()),
        || measure(&|task| pools.rayon.spawn(task)),
    )
}

/// All wake-ups; binds the calling thread.
fn wake_ups(rounds: usize) -> bool {
    let Some(pools) = apart() else {
        println!("wake-up: not measured, it needs two cores that threads can be bound to");
        return true;
    };
    let mut ok = true;
    for (micros, kind, share) in
        [(300, "asleep", 10), (5000, "asleep", 3), (50, "asleep", 10), (30, "idle", 10), (5, "idle", 10)]
    {
        let pause = Duration::from_micros(micros);
        ok &= report(&format!("wake-up, {kind} for {pause:?}"), wake_up(&pools, rounds * share, pause));
    }
    ok
}

/// Empty tiles from a thread outside of the pool, which waits for them.
fn fork_join(pools: &Pools, rounds: usize, tiles: u64, begin_inline: bool) -> Figures {
    let options = GridOptions { begin_inline, ..Default::default() };
    let body = |_: &tiree_task::Participant, range: std::ops::Range<u64>| {
        range.for_each(|tile| _ = black_box(tile));
        Ok::<(), Error>(())
    };
    best(
        rounds,
        || time(200, || pools.tiree.run_grid_with(options, tiles, body).unwrap()),
        || time(200, || pools.rayon.install(|| (0..tiles).into_par_iter().for_each(|tile| _ = black_box(tile)))),
    )
}

/// Tasks that one worker spawns and the other steals, each of about a microsecond.
fn steal(pools: &Pools, rounds: usize, tasks: usize) -> Figures {
    fn work() {
        for _ in 0..50 {
            std::hint::spin_loop();
        }
    }
    let tiree = || {
        let (executor, scope) = (pools.tiree.clone(), Scope::new());
        let inner = scope.clone();
        let start = Instant::now();
        let spawner = Box::new(move || {
            for _ in 0..tasks {
                executor.spawn(Some(&inner), Box::new(work)).unwrap();
            }
        });
        pools.tiree.spawn(Some(&scope), spawner).unwrap();
        scope.wait_idle(None);
        start.elapsed()
    };
    let rayon = || {
        let start = Instant::now();
        pools.rayon.install(|| {
            rayon::scope(|scope| (0..tasks).for_each(|_| scope.spawn(|_| work())));
        });
        start.elapsed()
    };
    best(rounds, tiree, rayon)
}

/// Empty tasks spawned from outside, until the last has run.
fn spawn(pools: &Pools, rounds: usize, tasks: u32) -> Figures {
    let tiree = || {
        let (scope, start) = (Scope::new(), Instant::now());
        (0..tasks).for_each(|_| pools.tiree.spawn(Some(&scope), Box::new(|| ())).unwrap());
        scope.wait_idle(None);
        start.elapsed() / tasks
    };
    let rayon = || {
        let start = Instant::now();
        pools.rayon.in_place_scope(|scope| (0..tasks).for_each(|_| scope.spawn(|_| ())));
        start.elapsed() / tasks
    };
    best(rounds, tiree, rayon)
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = match arguments.iter().position(|argument| argument == "--rounds") {
        Some(at) => arguments.get(at + 1).and_then(|text| text.parse().ok()).unwrap_or(30),
        None => 30,
    };
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(WORKERS).build();
    let Ok(rayon) = rayon else { return std::process::ExitCode::FAILURE };
    let pools = Pools { tiree: Arc::new(tiree_benches::executor(&tiree_benches::workers())), rayon: Arc::new(rayon) };
    println!("{:<34} {:>9} {:>9} {:>7} {:>7} {:>7}", "nanoseconds", "tiree", "rayon", "ratio", "least", "largest");
    // In a thread of its own, as the caller is bound to a core.
    let woken = std::thread::spawn(move || wake_ups(rounds)).join();
    let mut ok = woken.unwrap_or(false);
    for tiles in [2, 16, 256, 4096] {
        ok &= report(&format!("fork-join, {tiles} empty tiles"), fork_join(&pools, rounds, tiles, false));
        let small = format!("fork-join, {tiles}, begun inline");
        ok &= report(&small, fork_join(&pools, rounds, tiles, true));
    }
    ok &= report("steal, 1000 tasks of one worker", steal(&pools, rounds, 1000));
    ok &= report("spawn, 1000 empty tasks, each", spawn(&pools, rounds, 1000));
    std::process::ExitCode::from(u8::from(!ok))
}
