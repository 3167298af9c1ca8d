//! Options of worker threads, as keywords of `HalDevice.open`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tiree_task::{Distribution, Nodes, Topology, TopologyOptions};

/// The options of counts and CPUs; of spin time, local memory and stack; of nodes and of distribution. Zeros, empty texts
/// and None mean the default.
pub(super) fn topology_options(
    (group_count, max_group_count, cpu_ids): (usize, usize, Vec<usize>),
    (spin, local_memory, stack): (Option<u32>, usize, usize),
    nodes: &str,
    distribution: &str,
) -> PyResult<TopologyOptions> {
    let defaults = TopologyOptions::default();
    let or = |value: usize, default: usize| if value == 0 { default } else { value };
    Ok(TopologyOptions {
        group_count,
        max_group_count: or(max_group_count, defaults.max_group_count),
        cpu_ids,
        nodes: parse_nodes(nodes)?,
        distribution: match distribution {
            "" => Distribution::System,
            "scatter" => Distribution::Scatter,
            "compact" => Distribution::Compact,
            _ => {
                let text = format!("distribution \"{distribution}\": write \"scatter\" or \"compact\"");
                return Err(PyValueError::new_err(text));
            }
        },
        worker_spin_us: spin.unwrap_or(defaults.worker_spin_us),
        worker_local_memory: or(local_memory, defaults.worker_local_memory),
        worker_stack_size: or(stack, defaults.worker_stack_size),
    })
}

/// `all`, `current`, or numbers with commas between them.
fn parse_nodes(text: &str) -> PyResult<Nodes> {
    match text {
        "" | "all" => Ok(Nodes::All),
        "current" => Ok(Nodes::Current),
        _ => text.split(',').map(|id| id.trim().parse()).collect::<Result<_, _>>().map(Nodes::Ids).map_err(|_| {
            PyValueError::new_err(format!("nodes \"{text}\": write \"all\", \"current\" or numbers such as \"0,2\""))
        }),
    }
}

/// What the workers of a local-task device of these options are like: their CPUs (None: unpinned), how long they spin,
/// bytes of local memory and of stack.
#[pyfunction]
#[pyo3(signature = (group_count = 0, max_group_count = 0, cpu_ids = vec![], worker_spin_us = None,
                    worker_local_memory = 0, worker_stack_size = 0, nodes = "", distribution = ""))]
#[expect(clippy::too_many_arguments, reason = "one per flag, keywords in Python")]
pub fn describe_topology<'py>(
    py: Python<'py>,
    group_count: usize,
    max_group_count: usize,
    cpu_ids: Vec<usize>,
    worker_spin_us: Option<u32>,
    worker_local_memory: usize,
    worker_stack_size: usize,
    nodes: &str,
    distribution: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let workers = (worker_spin_us, worker_local_memory, worker_stack_size);
    let options = topology_options((group_count, max_group_count, cpu_ids), workers, nodes, distribution)?;
    let topology = Topology::resolve(&options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let found = PyDict::new(py);
    found.set_item("worker_cpus", topology.workers)?;
    found.set_item("worker_spin_us", options.worker_spin_us)?;
    found.set_item("worker_local_memory", topology.local_memory)?;
    found.set_item("worker_stack_size", options.worker_stack_size)?;
    Ok(found)
}
