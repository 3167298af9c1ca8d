//! Which cores the executor uses: the physical cores that the affinity mask and the cgroup leave to this process.

use crate::error::Error;
use crate::machine::{Core, Machine};

/// No topology has more workers than this.
const MAX_GROUPS: usize = 256;
const FALLBACK_LOCAL_MEMORY: usize = 256 * 1024;

/// The memory nodes whose cores get workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// All that the process may use.
    #[default]
    All,
    /// The one of the thread that makes the pool.
    Current,
    /// These.
    Ids(Vec<usize>),
}

/// Where on those nodes the workers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Where the system places them; on all nodes, it may move them.
    #[default]
    System,
    /// Pinned, on the last-level caches in turn: each gets as much cache and bandwidth as possible.
    Scatter,
    /// Pinned, on as few last-level caches as possible: they share data well.
    Compact,
}

/// Options as the tools' `--task_topology_*` and `--task_worker_*` flags give them; zero means "choose".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyOptions {
    /// Force this many workers, unpinned. 0: one per usable physical core.
    pub group_count: usize,
    /// At most this many workers when the count is chosen.
    pub max_group_count: usize,
    /// Explicit CPUs, one pinned worker each; empty: chosen.
    pub cpu_ids: Vec<usize>,
    /// Nodes whose cores are used when the count is chosen. Workers are pinned when that is not all of them.
    pub nodes: Nodes,
    /// Which of these cores, and whether workers are pinned to them.
    pub distribution: Distribution,
    /// How long an idle worker spins before it sleeps, in microseconds; where that has been worth it, it yields for twice as
    /// long then.
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
            nodes: Nodes::All,
            distribution: Distribution::System,
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
    /// [`Error::InvalidOption`] for counts above the limit, or CPUs and nodes that this process may not use.
    pub fn resolve(options: &TopologyOptions) -> Result<Topology, Error> {
        Topology::resolve_on(options, &Machine::host())
    }

    fn resolve_on(options: &TopologyOptions, machine: &Machine) -> Result<Topology, Error> {
        let workers = if !options.cpu_ids.is_empty() {
            explicit(&options.cpu_ids, machine)?
        } else if options.group_count > 0 {
            vec![None; options.group_count]
        } else {
            chosen(options, machine)?
        };
        if workers.len() > MAX_GROUPS {
            return Err(Error::InvalidOption(format!(
                "{} workers asked for, at most {MAX_GROUPS} are possible",
                workers.len()
            )));
        }
        let local_memory = match options.worker_local_memory {
            0 => machine.l2_cache_size().unwrap_or(FALLBACK_LOCAL_MEMORY),
            size => size,
        };
        Ok(Topology { workers, local_memory })
    }
}

fn explicit(cpus: &[usize], machine: &Machine) -> Result<Vec<Option<usize>>, Error> {
    match cpus.iter().find(|cpu| !machine.allowed.contains(cpu)) {
        None => Ok(cpus.iter().copied().map(Some).collect()),
        Some(cpu) => Err(Error::InvalidOption(format!(
            "cpu {cpu} of --task_topology_cpu_ids is not usable here; usable: {}",
            list(&machine.allowed)
        ))),
    }
}

fn chosen(options: &TopologyOptions, machine: &Machine) -> Result<Vec<Option<usize>>, Error> {
    let all = machine.cores();
    let usable = |node: usize| all.iter().any(|core| core.node == node);
    let nodes = match &options.nodes {
        Nodes::All => None,
        Nodes::Current => Some(vec![machine.node(machine.current)]),
        Nodes::Ids(ids) => {
            if let Some(unknown) = ids.iter().find(|&&node| !usable(node)) {
                let mut nodes: Vec<usize> = all.iter().map(|core| core.node).collect();
                nodes.sort_unstable();
                nodes.dedup();
                return Err(Error::InvalidOption(format!(
                    "node {unknown} of --task_topology_nodes has no core that is usable here; nodes with some: {}",
                    list(&nodes)
                )));
            }
            Some(ids.clone())
        }
    };
    let in_nodes = |core: &&Core| nodes.as_ref().is_none_or(|nodes| nodes.contains(&core.node));
    let mut cores: Vec<Core> = all.iter().filter(in_nodes).cloned().collect();
    let pinned = options.distribution != Distribution::System || cores.len() < all.len();
    match options.distribution {
        Distribution::Scatter => cores = scattered(cores),
        Distribution::System | Distribution::Compact => cores.sort_by_key(|core| (core.node, core.cache.clone())),
    }
    let limit = options.max_group_count.clamp(1, MAX_GROUPS).min(machine.quota().unwrap_or(MAX_GROUPS));
    let count = cores.len().clamp(1, limit);
    if !pinned || cores.is_empty() {
        return Ok(vec![None; count]);
    }
    Ok(cores[..count].iter().map(|core| Some(core.cpu)).collect())
}

/// The first core of each cache, then the second of each, and so on.
fn scattered(cores: Vec<Core>) -> Vec<Core> {
    let mut caches: Vec<(usize, String)> = Vec::new();
    let mut numbered: Vec<(usize, usize, Core)> = Vec::new();
    for core in cores {
        let cache = (core.node, core.cache.clone());
        let place = caches.iter().position(|other| *other == cache).unwrap_or_else(|| {
            caches.push(cache);
            caches.len() - 1
        });
        let turn = numbered.iter().filter(|other| other.1 == place).count();
        numbered.push((turn, place, core));
    }
    numbered.sort_by_key(|(turn, place, _)| (*turn, *place));
    numbered.into_iter().map(|(_, _, core)| core).collect()
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// Eight CPUs, two per core, two cores per cache, a cache per node: 0 and 4 are one core, and so on.
    struct Fake {
        root: PathBuf,
        machine: Machine,
    }

    impl Fake {
        fn new(name: &str, allowed: &[usize]) -> Fake {
            let root = std::env::temp_dir().join(format!("tiree-topology-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            let write = |path: String, text: &str| {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            };
            for cpu in 0..8 {
                let (core, node) = (cpu % 4, cpu % 4 / 2);
                let base = format!("sys/devices/system/cpu/cpu{cpu}");
                write(format!("{base}/topology/physical_package_id"), "0\n");
                write(format!("{base}/topology/core_id"), &format!("{core}\n"));
                write(format!("{base}/cache/index2/size"), "512K\n");
                write(format!("{base}/cache/index2/shared_cpu_list"), &format!("{core},{}\n", core + 4));
                let cache = if node == 0 { "0-1,4-5\n" } else { "2-3,6-7\n" };
                write(format!("{base}/cache/index3/shared_cpu_list"), cache);
                write(format!("{base}/node{node}/cpulist"), "\n");
            }
            let machine =
                Machine { sys: root.join("sys"), cgroup: root.join("cgroup"), allowed: allowed.to_vec(), current: 6 };
            Fake { root, machine }
        }

        fn quota(&self, path: &str, text: &str) {
            let path = self.root.join("sys/fs/cgroup").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            fs::write(&self.machine.cgroup, "0::/outer/inner\n").unwrap();
        }

        fn workers(&self, options: TopologyOptions) -> Vec<Option<usize>> {
            Topology::resolve_on(&options, &self.machine).unwrap().workers
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn options() -> TopologyOptions {
        TopologyOptions::default()
    }

    #[test]
    fn one_worker_per_physical_core_of_the_affinity_mask() {
        assert_eq!(Fake::new("all", &[0, 1, 2, 3, 4, 5, 6, 7]).workers(options()), vec![None; 4]);
        assert_eq!(Fake::new("pair", &[1, 5]).workers(options()), vec![None; 1]);
        assert_eq!(Fake::new("some", &[1, 5, 6]).workers(options()), vec![None; 2]);
        let local = Topology::resolve_on(&options(), &Fake::new("l2", &[0]).machine).unwrap().local_memory;
        assert_eq!(local, 512 * 1024);
    }

    #[test]
    fn the_quota_of_the_cgroup_and_its_parents_counts() {
        let fake = Fake::new("quota", &[0, 1, 2, 3]);
        fake.quota("outer/inner/cpu.max", "max 100000\n");
        assert_eq!(fake.workers(options()).len(), 4);
        fake.quota("outer/cpu.max", "250000 100000\n");
        assert_eq!(fake.workers(options()).len(), 3);
        fake.quota("outer/inner/cpu.max", "50000 100000\n");
        assert_eq!(fake.workers(options()).len(), 1);
        // A count that was asked for is not cut.
        assert_eq!(fake.workers(TopologyOptions { group_count: 4, ..options() }).len(), 4);
    }

    #[test]
    fn quotas_of_the_first_version_of_cgroups() {
        let fake = Fake::new("quota1", &[0, 1, 2, 3]);
        fake.quota("cpu/box/cpu.cfs_quota_us", "150000\n");
        fake.quota("cpu/box/cpu.cfs_period_us", "100000\n");
        fs::write(&fake.machine.cgroup, "4:cpu,cpuacct:/box\n3:memory:/box\n").unwrap();
        assert_eq!(fake.workers(options()).len(), 2);
    }

    #[test]
    fn distributions_pin_the_workers() {
        let fake = Fake::new("distribution", &[0, 1, 2, 3, 4, 5, 6, 7]);
        let with = |distribution, max_group_count| {
            let workers = fake.workers(TopologyOptions { distribution, max_group_count, ..options() });
            workers.into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(with(Distribution::Compact, 64), [0, 1, 2, 3]);
        assert_eq!(with(Distribution::Scatter, 64), [0, 2, 1, 3]);
        assert_eq!(with(Distribution::Compact, 2), [0, 1]);
        assert_eq!(with(Distribution::Scatter, 2), [0, 2]);
        assert!(with(Distribution::System, 2).is_empty());
    }

    #[test]
    fn nodes_choose_the_cores() {
        let fake = Fake::new("nodes", &[0, 1, 2, 3]);
        let with = |nodes| fake.workers(TopologyOptions { nodes, ..options() });
        assert_eq!(with(Nodes::Current), [Some(2), Some(3)]);
        assert_eq!(with(Nodes::Ids(vec![0])), [Some(0), Some(1)]);
        assert_eq!(with(Nodes::Ids(vec![0, 1])), [None; 4]);
        let wrong = TopologyOptions { nodes: Nodes::Ids(vec![0, 5]), ..options() };
        let error = Topology::resolve_on(&wrong, &fake.machine).unwrap_err().to_string();
        assert!(
            error.contains("node 5 of --task_topology_nodes") && error.ends_with("nodes with some: 0,1"),
            "{error}"
        );
    }

    #[test]
    fn group_count_forces_unpinned_workers() {
        let forced = TopologyOptions { group_count: 3, distribution: Distribution::Compact, ..options() };
        assert_eq!(Topology::resolve(&forced).unwrap().workers, vec![None; 3]);
        let many = TopologyOptions { group_count: 257, ..options() };
        assert!(Topology::resolve(&many).unwrap_err().to_string().contains("at most 256"));
    }

    #[test]
    fn this_machine_has_workers() {
        let workers = Topology::resolve(&options()).unwrap().workers.len();
        assert!(workers >= 1 && workers <= Machine::host().allowed.len());
    }

    #[test]
    fn unusable_cpu_is_named() {
        let wrong = TopologyOptions { cpu_ids: vec![100_000], ..options() };
        let Err(Error::InvalidOption(text)) = Topology::resolve(&wrong) else { panic!("accepted") };
        assert!(text.contains("cpu 100000"), "{text}");
    }
}
