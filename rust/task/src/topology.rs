//! Which cores the executor uses: the physical cores that the affinity mask and the cgroup leave to this process.

use crate::error::Error;

/// No topology has more workers than this.
const MAX_GROUPS: usize = 256;
const FALLBACK_LOCAL_MEMORY: usize = 256 * 1024;

/// Options as the tools' `--task_topology_*` and `--task_worker_*` flags give them; zero means "choose".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyOptions {
    /// Force this many workers, unpinned. 0: one per usable physical core.
    pub group_count: usize,
    /// At most this many workers when the count is chosen.
    pub max_group_count: usize,
    /// Explicit CPUs, one pinned worker each; empty: chosen.
    pub cpu_ids: Vec<usize>,
    /// How long an idle worker spins before it sleeps, in microseconds.
    pub worker_spin_us: u32,
    /// Local memory per worker in bytes. 0: the size of the L2 cache.
    pub worker_local_memory: usize,
    /// Stack bytes per worker.
    pub worker_stack_size: usize,
}

impl Default for TopologyOptions {
    fn default() -> Self {
        Self {
            group_count: 0,
            max_group_count: 64,
            cpu_ids: Vec::new(),
            worker_spin_us: 20,
            worker_local_memory: 0,
            worker_stack_size: 256 * 1024,
        }
    }
}

/// The decided topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// One entry per worker: the CPU it is pinned to, or None.
    pub workers: Vec<Option<usize>>,
    /// Local memory limit per worker in bytes.
    pub local_memory: usize,
}

impl Topology {
    /// Decides the workers from the options and the machine.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for counts above the limit or CPUs that this process may not use.
    pub fn resolve(options: &TopologyOptions) -> Result<Topology, Error> {
        let allowed = allowed_cpus();
        let workers = if !options.cpu_ids.is_empty() {
            for cpu in &options.cpu_ids {
                if !allowed.contains(cpu) {
                    return Err(Error::InvalidOption(format!(
                        "cpu {cpu} of --task_topology_cpu_ids is not usable here; usable: {}",
                        list(&allowed)
                    )));
                }
            }
            options.cpu_ids.iter().copied().map(Some).collect()
        } else if options.group_count > 0 {
            vec![None; options.group_count]
        } else {
            let limit = options.max_group_count.max(1);
            vec![None; usable_core_count(&allowed).clamp(1, limit.min(MAX_GROUPS))]
        };
        if workers.len() > MAX_GROUPS {
            return Err(Error::InvalidOption(format!(
                "{} workers asked for, at most {MAX_GROUPS} are possible",
                workers.len()
            )));
        }
        let local_memory = match options.worker_local_memory {
            0 => l2_cache_size().unwrap_or(FALLBACK_LOCAL_MEMORY),
            size => size,
        };
        Ok(Topology { workers, local_memory })
    }
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Physical cores among `allowed`, further limited by the cgroup's CPU quota.
fn usable_core_count(allowed: &[usize]) -> usize {
    let mut cores: Vec<(String, String)> = Vec::new();
    let mut unknown = 0;
    for cpu in allowed {
        let base = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        match (read(&format!("{base}/physical_package_id")), read(&format!("{base}/core_id"))) {
            (Some(package), Some(core)) => {
                let key = (package, core);
                if !cores.contains(&key) {
                    cores.push(key);
                }
            }
            _ => unknown += 1,
        }
    }
    let count = (cores.len() + unknown).max(1);
    cgroup_cpu_limit().map_or(count, |limit| count.min(limit))
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// CPUs of the affinity mask; without one (other systems), as many as the library reports.
fn allowed_cpus() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: cpu_set_t is a plain bit array, for which all-zero is valid.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: writes at most size_of::<cpu_set_t>() bytes into `set`; 0 means the calling thread.
        let status = unsafe { libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set) };
        if status == 0 {
            // SAFETY: CPU_ISSET reads bit `cpu` of the set, and cpu < CPU_SETSIZE.
            let cpus: Vec<usize> =
                (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect();
            if !cpus.is_empty() {
                return cpus;
            }
        }
    }
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// The smallest CPU quota of this process's cgroup and its parents, rounded up to whole CPUs.
fn cgroup_cpu_limit() -> Option<usize> {
    let groups = read("/proc/self/cgroup")?;
    let mut limit: Option<usize> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let root = if controllers.is_empty() {
            "/sys/fs/cgroup"
        } else if controllers.split(',').any(|name| name == "cpu") {
            "/sys/fs/cgroup/cpu"
        } else {
            continue;
        };
        let mut directory = std::path::PathBuf::from(format!("{root}{path}"));
        while directory.starts_with(root) {
            if let Some(cpus) = quota_in(&directory) {
                limit = Some(limit.map_or(cpus, |old| old.min(cpus)));
            }
            if !directory.pop() {
                break;
            }
        }
    }
    limit
}

fn quota_in(directory: &std::path::Path) -> Option<usize> {
    let number = |name: &str| read(directory.join(name).to_str()?)?.parse::<f64>().ok();
    let (quota, period) = if let Some(text) = directory.join("cpu.max").to_str().and_then(read) {
        let mut parts = text.split_whitespace();
        (parts.next()?.parse::<f64>().ok()?, parts.next()?.parse::<f64>().ok()?)
    } else {
        (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
    };
    (quota > 0.0 && period > 0.0).then(|| ((quota / period).ceil() as usize).max(1))
}

fn l2_cache_size() -> Option<usize> {
    let text = read("/sys/devices/system/cpu/cpu0/cache/index2/size")?;
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1024),
        None => (text.strip_suffix('M')?, 1024 * 1024),
    };
    Some(digits.parse::<usize>().ok()? * unit)
}

/// Binds the calling thread to one CPU; a refusal is not an error, the thread just stays unbound.
pub(crate) fn pin_current_thread(cpu: usize) {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: as in allowed_cpus; the set is local and the CPU was checked against the allowed ones.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = cpu;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_count_forces_unpinned_workers() {
        let options = TopologyOptions { group_count: 3, ..Default::default() };
        assert_eq!(Topology::resolve(&options).unwrap().workers, vec![None; 3]);
    }

    #[test]
    fn default_fits_the_affinity_mask() {
        let workers = Topology::resolve(&TopologyOptions::default()).unwrap().workers.len();
        assert!(workers >= 1 && workers <= allowed_cpus().len());
    }

    #[test]
    fn unusable_cpu_is_named() {
        let options = TopologyOptions { cpu_ids: vec![100_000], ..Default::default() };
        let Err(Error::InvalidOption(text)) = Topology::resolve(&options) else { panic!("accepted") };
        assert!(text.contains("cpu 100000"), "{text}");
    }
}
