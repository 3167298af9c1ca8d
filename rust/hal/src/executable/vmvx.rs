//! `vmvx-bytecode-fb`: kernels as VM bytecode that works on its bindings through the `vmvx` module. Slow, but it runs on
//! any machine and needs no trust: all accesses are checked.

use super::{DispatchArguments, Entry, Failure, Share, workgroup_id};
use crate::vmvx::VmvxModule;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use tiree_vm::context::Function;
use tiree_vm::limits;
use tiree_vm::{
    AnyModule, Archive, BytecodeModule, Context, Module, Quota, Result, Status, TypeDef, TypeRegistry, Value, VmBuffer,
    VmList,
};

/// The format's name.
pub(super) const FORMAT: &str = "vmvx-bytecode-fb";
/// What every entry point takes: local memory, constants, bindings, then id, size and count of the workgroup.
const CCONV: &str = "0rrriiiiiiiii_v";
const SET_CONSTANTS: &str = "__set_constants";
const SET_CONSTANTS_CCONV: &str = "0r_v";

/// See the module head.
pub(super) struct Library {
    name: String,
    functions: Box<[Function]>,
}

fn bad(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

impl Library {
    /// The module's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Loads the module in `data`; every function that it exports is an entry point.
    /// The limits of the call that loads it hold for its initializer too.
    pub(super) fn load(data: &[u8], constants: &[u32], quota: Option<&Arc<Quota>>) -> Result<(Box<[Entry]>, Library)> {
        let archive = Archive::copy(data, "<executable>")?;
        let module = BytecodeModule::load(archive, &TypeRegistry::default())?;
        let name = module.name().to_owned();
        let names: Vec<String> = module.export_names().into_iter().map(str::to_owned).collect();
        let modules = [AnyModule::from(Arc::new(VmvxModule)), AnyModule::from(module.clone())];
        let context = Context::within(modules, quota.cloned(), &limits::current())?;
        let cconv = |export: &str| {
            let signature = module.lookup_export(export).and_then(|ordinal| module.signature(ordinal));
            signature.map(|signature| signature.cconv.clone()).unwrap_or_default()
        };
        let (mut entries, mut functions) = (Vec::new(), Vec::new());
        let mut takes_constants = false;
        for export in names {
            let function = context.function(&name, &export)?;
            match export.as_str() {
                "__init" | "__deinit" => continue,
                SET_CONSTANTS => {
                    check_cconv(&export, &cconv(&export), SET_CONSTANTS_CCONV)?;
                    set_constants(&function, constants)?;
                    takes_constants = true;
                    continue;
                }
                _ => check_cconv(&export, &cconv(&export), CCONV)?,
            }
            let place = place_of(&module, function.ordinal());
            entries.push(entry(export, &function.attrs(), place)?);
            functions.push(function);
        }
        if !takes_constants && !constants.is_empty() {
            return Err(Status::failed_precondition(format!(
                "executable requires 0 constants but caller provided {}",
                constants.len()
            )));
        }
        Ok((entries.into(), Library { name, functions: functions.into() }))
    }

    /// Runs a share of the workgroups of a dispatch.
    pub(super) fn run(&self, arguments: &DispatchArguments<'_>, share: &Share) -> std::result::Result<(), Failure> {
        let whole = |status| Failure { status, tile: None };
        let function = &self.functions[arguments.entry];
        let memory = LocalMemory::get(share.local_memory).map_err(whole)?;
        // Whatever call executes on this thread: it may be one that only helps.
        let _scope = limits::Scope::enter(arguments.limits);
        let fixed = fixed_arguments(&memory.0, arguments).map_err(whole)?;
        for tile in share.tiles.clone() {
            let id = workgroup_id(tile, arguments.counts);
            let mut values = fixed.clone();
            let numbers = id.map(|coordinate| coordinate as i32);
            // Workgroups of bytecode are of one invocation.
            let counts = arguments.counts.map(|count| count as i32);
            values.extend([numbers, [1; 3], counts].into_iter().flatten().map(Value::I32));
            function
                .invoke_limited(values, &arguments.limits)
                .map_err(|status| Failure { status, tile: Some(tile) })?;
        }
        Ok(())
    }
}

thread_local! {
    static MEMORY: RefCell<Option<Arc<VmBuffer>>> = const { RefCell::new(None) };
}

/// Scratch memory of this thread, kept for the next dispatch. Executables do not say how much they need, so they get all
/// that a worker may have.
struct LocalMemory(Arc<VmBuffer>);

impl LocalMemory {
    fn get(size: usize) -> Result<LocalMemory> {
        // A buffer that a kernel has kept is not given to another one.
        let kept = MEMORY.take().filter(|memory| memory.len() == size && Arc::strong_count(memory) == 1);
        match kept {
            Some(memory) => Ok(LocalMemory(memory)),
            None => Ok(LocalMemory(Arc::new(VmBuffer::allocate(size, 64)?))),
        }
    }
}

impl Drop for LocalMemory {
    fn drop(&mut self) {
        // A thread that is ending keeps nothing.
        let _ = MEMORY.try_with(|memory| memory.replace(Some(self.0.clone())));
    }
}

/// Local memory, constants and bindings, which all workgroups of a share have in common.
fn fixed_arguments(memory: &Arc<VmBuffer>, arguments: &DispatchArguments<'_>) -> Result<Vec<Value>> {
    let words: Vec<u8> = arguments.constants.iter().flat_map(|word| word.to_le_bytes()).collect();
    let bindings = VmList::new(TypeDef::Any);
    for (index, (&pointer, &length)) in arguments.pointers.iter().zip(arguments.lengths).enumerate() {
        let (owner, writable) = arguments.owners.owner(index)?;
        let data = std::ptr::NonNull::new(pointer).ok_or_else(|| Status::internal("a binding without memory"))?;
        // SAFETY: the owner keeps the memory; that others change it meanwhile is up to the program's fences.
        let buffer = unsafe { VmBuffer::from_raw(data, length, writable, owner) };
        bindings.push(Value::from_object(Arc::new(buffer)))?;
    }
    Ok(vec![
        Value::from_object(memory.clone()),
        Value::from_object(Arc::new(VmBuffer::copy_of(&words, false)?)),
        Value::from_object(Arc::new(bindings)),
    ])
}

fn set_constants(function: &Function, constants: &[u32]) -> Result<()> {
    let bytes: Vec<u8> = constants.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = VmBuffer::copy_of(&bytes, false)?;
    function.invoke(vec![Value::from_object(Arc::new(buffer))]).map(|_| ())
}

fn check_cconv(name: &str, have: &str, want: &str) -> Result<()> {
    if have == want {
        return Ok(());
    }
    Err(bad(format!("executable function '{name}' has the signature {have}; expected {want}")))
}

/// Where function `ordinal` of a kernel's module comes from; empty where the module does not say.
fn place_of(module: &BytecodeModule, ordinal: usize) -> String {
    let place = |pc| module.archive().place(ordinal, pc).location;
    place(0).or_else(|| place(u32::MAX)).unwrap_or_default()
}

/// An entry point with the counts that its reflection attributes say.
fn entry(name: String, attributes: &[(String, String)], place: String) -> Result<Entry> {
    let count = |key: &str| {
        let found = attributes.iter().find(|attribute| attribute.0 == key);
        let number = found.map(|attribute| attribute.1.parse::<usize>());
        number.transpose().map_err(|_| bad(format!("executable function '{name}': attribute {key} is not a number")))
    };
    let (constant_count, binding_count) = (count("constant_count")?, count("binding_count")?);
    // An executable that says how many bindings it has leaves a count of no constants out.
    let constant_count = constant_count.or(binding_count.map(|_| 0));
    Ok(Entry { name, place, constant_count, binding_count, sequential: false, cost: AtomicU32::new(0) })
}
