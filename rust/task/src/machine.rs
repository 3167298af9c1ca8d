//! What the machine is: the CPUs that the affinity mask leaves to this process, their cores, caches and memory nodes, and
//! the CPU quota of the cgroup.

use std::path::{Path, PathBuf};

/// Where to look; tests look at machines of their own.
pub(crate) struct Machine {
    /// `/sys`
    pub(crate) sys: PathBuf,
    /// `/proc/self/cgroup`
    pub(crate) cgroup: PathBuf,
    /// CPUs of the affinity mask.
    pub(crate) allowed: Vec<usize>,
    /// The CPU that asks.
    pub(crate) current: usize,
}

/// A physical core, by the first of its CPUs that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Core {
    pub(crate) cpu: usize,
    /// Memory node; 0 where the system does not say.
    pub(crate) node: usize,
    /// The CPUs that share its last-level cache, as the system writes them.
    pub(crate) cache: String,
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

impl Machine {
    /// This machine, as the calling thread may use it.
    pub(crate) fn host() -> Machine {
        let current = current_cpu();
        Machine { sys: "/sys".into(), cgroup: "/proc/self/cgroup".into(), allowed: allowed_cpus(), current }
    }

    fn cpu(&self, cpu: usize) -> PathBuf {
        self.sys.join(format!("devices/system/cpu/cpu{cpu}"))
    }

    /// The physical cores among the allowed CPUs, in the order of their CPUs.
    pub(crate) fn cores(&self) -> Vec<Core> {
        let mut keys: Vec<(String, String)> = Vec::new();
        let mut cores = Vec::new();
        for &cpu in &self.allowed {
            let topology = self.cpu(cpu).join("topology");
            // A CPU of which nothing is known is a core of its own.
            if let (Some(package), Some(core)) =
                (read(topology.join("physical_package_id")), read(topology.join("core_id")))
            {
                if keys.contains(&(package.clone(), core.clone())) {
                    continue;
                }
                keys.push((package, core));
            }
            cores.push(Core { cpu, node: self.node(cpu), cache: self.last_level_cache(cpu) });
        }
        cores
    }

    /// The memory node of a CPU.
    pub(crate) fn node(&self, cpu: usize) -> usize {
        let entries = std::fs::read_dir(self.cpu(cpu)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_prefix("node")?.parse().ok()).next().unwrap_or(0)
    }

    fn last_level_cache(&self, cpu: usize) -> String {
        let cache = |index: usize| read(self.cpu(cpu).join(format!("cache/index{index}/shared_cpu_list")));
        (0..8).rev().find_map(cache).unwrap_or_default()
    }

    /// The smallest CPU quota of this process's cgroup and its parents, rounded up to whole CPUs.
    pub(crate) fn quota(&self) -> Option<usize> {
        let groups = read(&self.cgroup)?;
        let mut limit: Option<usize> = None;
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let root = if controllers.is_empty() {
                self.sys.join("fs/cgroup")
            } else if controllers.split(',').any(|name| name == "cpu") {
                self.sys.join("fs/cgroup/cpu")
            } else {
                continue;
            };
            let mut directory = root.join(path.trim_start_matches('/'));
            while directory.starts_with(&root) {
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

    /// Bytes of the second-level cache of the first CPU.
    pub(crate) fn l2_cache_size(&self) -> Option<usize> {
        let text = read(self.cpu(*self.allowed.first()?).join("cache/index2/size"))?;
        let (digits, unit) = match text.strip_suffix('K') {
            Some(digits) => (digits, 1024),
            None => (text.strip_suffix('M')?, 1024 * 1024),
        };
        Some(digits.parse::<usize>().ok()? * unit)
    }
}

fn quota_in(directory: &Path) -> Option<usize> {
    let number = |name: &str| read(directory.join(name))?.parse::<f64>().ok();
    let (quota, period) = if let Some(text) = read(directory.join("cpu.max")) {
        let mut parts = text.split_whitespace();
        (parts.next()?.parse::<f64>().ok()?, parts.next()?.parse::<f64>().ok()?)
    } else {
        (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
    };
    (quota > 0.0 && period > 0.0).then(|| ((quota / period).ceil() as usize).max(1))
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

fn current_cpu() -> usize {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: asks for a number.
        let cpu = unsafe { libc::sched_getcpu() };
        usize::try_from(cpu).unwrap_or(0)
    }
    #[cfg(not(target_os = "linux"))]
    0
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
