//! Contexts: modules linked with each other, and their state.

mod files;
mod fork;
mod globals;
mod memory;
mod teardown;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub(crate) use self::globals::lock_global;
pub use self::teardown::{Teardown, Work, set_teardown};
use crate::archive::schema::{Dependency, Import};
use crate::buffer::VmBuffer;
use crate::bytecode::BytecodeModule;
use crate::cconv::CallingConvention;
use crate::invocation::{self, Invocation};
use crate::limits::Limits;
use crate::list::Holders;
use crate::module::{Module, NativeModule};
use crate::quota::{Charge, Quota};
use crate::refs::Ref;
use crate::status::{Annotate, Result, Status};
use crate::value::Value;

/// A module of either make.
#[derive(Clone)]
pub enum AnyModule {
    /// Bytecode.
    Bytecode(Arc<BytecodeModule>),
    /// Written in Rust.
    Native(Arc<dyn NativeModule>),
}

impl From<Arc<BytecodeModule>> for AnyModule {
    fn from(module: Arc<BytecodeModule>) -> AnyModule {
        AnyModule::Bytecode(module)
    }
}

impl From<Arc<dyn NativeModule>> for AnyModule {
    fn from(module: Arc<dyn NativeModule>) -> AnyModule {
        AnyModule::Native(module)
    }
}

impl<T: NativeModule + 'static> From<Arc<T>> for AnyModule {
    fn from(module: Arc<T>) -> AnyModule {
        AnyModule::Native(module)
    }
}

impl Module for AnyModule {
    fn name(&self) -> &str {
        match self {
            AnyModule::Bytecode(module) => module.name(),
            AnyModule::Native(module) => module.name(),
        }
    }

    fn version(&self) -> u32 {
        match self {
            AnyModule::Bytecode(module) => module.version(),
            AnyModule::Native(module) => module.version(),
        }
    }

    fn lookup_export(&self, name: &str) -> Option<usize> {
        match self {
            AnyModule::Bytecode(module) => module.lookup_export(name),
            AnyModule::Native(module) => module.lookup_export(name),
        }
    }

    fn export_names(&self) -> Vec<&str> {
        match self {
            AnyModule::Bytecode(module) => module.export_names(),
            AnyModule::Native(module) => module.exports().iter().map(|export| export.name).collect(),
        }
    }
}

/// A file can ask for four billion with four bytes.
const MAX_GLOBAL_REFS: u32 = 1 << 20;

/// Where an import leads.
pub(crate) struct ImportTarget {
    pub instance: Arc<Instance>,
    pub ordinal: usize,
}

/// State of a bytecode module in one context.
pub(crate) struct BytecodeInstance {
    pub module: Arc<BytecodeModule>,
    pub rwdata: VmBuffer,
    pub refs: Box<[Mutex<Ref>]>,
    pub imports: Box<[Option<ImportTarget>]>,
    /// What the memory of its objects is taken from.
    pub quota: Option<Arc<Quota>>,
    /// The lists of the context that may hold each other.
    pub holders: Arc<Holders>,
}

/// State of a native module in one context.
pub(crate) struct NativeInstance {
    pub module: Arc<dyn NativeModule>,
    /// What `module` points to: an `Arc` of a trait object has to look up where its object begins.
    object: *const dyn NativeModule,
    pub state: Box<dyn Any + Send + Sync>,
    pub cconvs: Box<[CallingConvention]>,
}

// SAFETY: the pointer is that of the `Arc`, which is Send and Sync.
unsafe impl Send for NativeInstance {}
// SAFETY: as for Send.
unsafe impl Sync for NativeInstance {}

impl NativeInstance {
    /// The module.
    #[inline(always)]
    pub fn module(&self) -> &dyn NativeModule {
        // SAFETY: `module` keeps it alive.
        unsafe { &*self.object }
    }
}

/// A module in a context. Aligned so that the counts of its `Arc`, which every call changes, share no cache line (nor the
/// pair of lines that processors fetch together) with anything that calls on other threads use.
#[repr(align(128))]
pub(crate) enum Instance {
    Bytecode(BytecodeInstance),
    Native(NativeInstance),
}

impl Instance {
    pub fn any_module(&self) -> AnyModule {
        match self {
            Instance::Bytecode(i) => AnyModule::Bytecode(i.module.clone()),
            Instance::Native(i) => AnyModule::Native(i.module.clone()),
        }
    }

    fn cconv_text(&self, ordinal: usize) -> String {
        match self {
            Instance::Bytecode(i) => i.module.signature(ordinal).map(|s| s.cconv.clone()).unwrap_or_default(),
            Instance::Native(i) => i.module.exports().get(ordinal).map(|e| e.cconv.to_owned()).unwrap_or_default(),
        }
    }

    pub fn cconv(&self, ordinal: usize) -> &CallingConvention {
        match self {
            Instance::Bytecode(i) => &i.module.functions[ordinal].cconv,
            Instance::Native(i) => &i.cconvs[ordinal],
        }
    }
}

/// How a context is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextOptions {
    /// Bytes that all objects made by its modules may take together: RESOURCE_EXHAUSTED beyond. Native modules take part
    /// by [`CallFrame::charge`](crate::CallFrame::charge).
    pub memory: Option<usize>,
    /// Limits of every call that does not have its own, of `__init` and `__deinit` too.
    pub limits: Limits,
}

/// Aligned for the same reason as [`Instance`].
#[repr(align(128))]
struct Inner {
    instances: RwLock<Vec<Arc<Instance>>>,
    frozen: bool,
    limits: Limits,
    quota: Option<Arc<Quota>>,
    holders: Arc<Holders>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let instances = std::mem::take(self.instances.get_mut().unwrap_or_else(PoisonError::into_inner));
        teardown::deinitialize(&instances, &self.limits);
        instances.into_iter().rev().for_each(drop);
        self.holders.end();
    }
}

/// Modules that are linked with each other. Cheap to clone; clones are the same context.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.modules().iter().map(|m| m.name().to_owned()).collect();
        write!(f, "<Context {}>", names.join(", "))
    }
}

impl Context {
    /// Tells contexts apart that are alive.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// A context of `modules`, which are linked in this order; it cannot grow afterwards.
    pub fn new(modules: impl IntoIterator<Item = AnyModule>) -> Result<Context> {
        Context::with_options(modules, &ContextOptions::default())
    }

    /// As [`Context::new`], with limits.
    pub fn with_options(modules: impl IntoIterator<Item = AnyModule>, options: &ContextOptions) -> Result<Context> {
        Context::empty(true, options).link_all(modules)
    }

    /// As [`Context::new`], for code that a module of another context has executed: `limits` as in [`ContextOptions`],
    /// memory out of that context's `quota`.
    pub fn within(
        modules: impl IntoIterator<Item = AnyModule>,
        quota: Option<Arc<Quota>>,
        limits: &Limits,
    ) -> Result<Context> {
        let inner =
            Inner { instances: RwLock::default(), frozen: true, limits: *limits, quota, holders: Arc::default() };
        Context(Arc::new(inner)).link_all(modules)
    }

    /// An empty context that grows by [`Context::register`].
    pub fn growable() -> Context {
        Context::growable_with_options(&ContextOptions::default())
    }

    /// As [`Context::growable`], with limits.
    pub fn growable_with_options(options: &ContextOptions) -> Context {
        Context::empty(false, options)
    }

    fn empty(frozen: bool, options: &ContextOptions) -> Context {
        let quota = options.memory.map(Quota::new);
        Context(Arc::new(Inner {
            instances: RwLock::default(),
            frozen,
            limits: options.limits,
            quota,
            holders: Arc::default(),
        }))
    }

    /// The memory of its objects, when it is limited.
    pub fn quota(&self) -> Option<&Arc<Quota>> {
        self.0.quota.as_ref()
    }

    /// Links another module: its dependencies and imports are looked up in the modules registered before (latest
    /// first), its state is created, its `__init` runs. FAILED_PRECONDITION when the context cannot grow.
    pub fn register(&self, module: impl Into<AnyModule>) -> Result<()> {
        if self.0.frozen {
            return Err(Status::failed_precondition("context was created with its modules and cannot grow"));
        }
        self.link(module.into()).annotate(|| "registering module with VM context".into())
    }

    fn link_all(self, modules: impl IntoIterator<Item = AnyModule>) -> Result<Context> {
        for module in modules {
            self.link(module).annotate(|| "creating VM context".into())?;
        }
        Ok(self)
    }

    fn instances(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<Instance>>> {
        self.0.instances.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self, module: AnyModule) -> Result<()> {
        let instance = Arc::new(match module {
            AnyModule::Native(module) => Instance::Native(native_instance(module)?),
            AnyModule::Bytecode(module) => Instance::Bytecode(bytecode_instance(module, &self.instances(), &self.0)?),
        });
        if let (Instance::Bytecode(_), Some(ordinal)) = (&*instance, instance.any_module().lookup_export("__init")) {
            Invocation::on_instance(instance.clone(), ordinal, Vec::new(), &self.0.limits)
                .and_then(Invocation::finish)
                .annotate(|| format!("initializing module '{}'", instance.any_module().name()))?;
        }
        self.0.instances.write().unwrap_or_else(PoisonError::into_inner).push(instance);
        Ok(())
    }

    /// The modules in the order of registration.
    pub fn modules(&self) -> Vec<AnyModule> {
        self.instances().iter().map(|i| i.any_module()).collect()
    }

    /// The latest module called `name`.
    pub fn module(&self, name: &str) -> Option<AnyModule> {
        self.instances().iter().rev().map(|i| i.any_module()).find(|m| m.name() == name)
    }

    /// The function called `module.function`, or `function` of `module` when the module's name has dots.
    pub fn lookup_function(&self, full_name: &str) -> Result<Function> {
        let (module, function) = full_name.split_once('.').ok_or_else(|| {
            Status::invalid_argument(format!("function name '{full_name}' is not of the form module.function"))
        })?;
        self.function(module, function)
    }

    /// Export `function` of the latest module called `module`. NOT_FOUND says which names exist.
    pub fn function(&self, module: &str, function: &str) -> Result<Function> {
        let instances = self.instances();
        let instance = instances.iter().rev().find(|i| i.any_module().name() == module).ok_or_else(|| {
            let names: Vec<String> = instances.iter().map(|i| i.any_module().name().to_owned()).collect();
            Status::not_found(format!("no module \"{module}\" in the context; it has: {}", names.join(", ")))
        })?;
        let any = instance.any_module();
        match any.lookup_export(function) {
            Some(ordinal) => {
                Ok(Function { context: self.clone(), instance: instance.clone(), ordinal, name: function.to_owned() })
            }
            None => Err(no_function(&any, function)),
        }
    }
}

fn no_function(module: &AnyModule, function: &str) -> Status {
    let names: Vec<&str> = module.export_names().into_iter().filter(|name| !name.starts_with("__")).collect();
    Status::not_found(format!(
        "no function `{function}` exported by module `{}`; it has: {}",
        module.name(),
        names.join(", ")
    ))
}

/// A function in a context, ready to be called.
#[derive(Clone)]
pub struct Function {
    context: Context,
    instance: Arc<Instance>,
    ordinal: usize,
    name: String,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Function {}.{}>", self.module().name(), self.name)
    }
}

impl Function {
    /// Its context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Its module.
    pub fn module(&self) -> AnyModule {
        self.instance.any_module()
    }

    /// Name without the module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ordinal in its module.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// What it takes and returns.
    pub fn cconv(&self) -> &CallingConvention {
        self.instance.cconv(self.ordinal)
    }

    /// Its reflection attributes in order.
    pub fn attrs(&self) -> Vec<(String, String)> {
        match &*self.instance {
            Instance::Bytecode(i) => i
                .module
                .signature(self.ordinal)
                .map_or_else(Vec::new, |s| s.attrs.iter().map(|a| (a.key.clone(), a.value.clone())).collect()),
            Instance::Native(i) => i.module.attrs(self.ordinal),
        }
    }

    /// Starts a call; nothing is executed before the first [`Invocation::step`].
    pub fn start(&self, args: Vec<Value>) -> Result<Invocation> {
        self.start_limited(args, &Limits::default())
    }

    /// As [`Function::start`]; an error ends the call when it reaches a limit. Time counts from now.
    pub fn start_limited(&self, args: Vec<Value>, limits: &Limits) -> Result<Invocation> {
        let limits = &limits.or(&self.context.0.limits);
        let invocation = Invocation::on_instance(self.instance.clone(), self.ordinal, args, limits);
        invocation.map(|i| i.keep_context(self.context.clone())).annotate(|| self.calling())
    }

    /// Calls and waits for the result.
    pub fn invoke(&self, args: Vec<Value>) -> Result<Vec<Value>> {
        self.invoke_limited(args, &Limits::default())
    }

    /// As [`Function::invoke`]; an error ends the call when it reaches a limit.
    pub fn invoke_limited(&self, args: Vec<Value>, limits: &Limits) -> Result<Vec<Value>> {
        let limits = &limits.or(&self.context.0.limits);
        invocation::invoke(&self.instance, self.ordinal, args, limits).annotate(|| self.calling())
    }

    fn calling(&self) -> String {
        format!("invoking function '{}'", self.name)
    }
}

fn native_instance(module: Arc<dyn NativeModule>) -> Result<NativeInstance> {
    let cconvs = module
        .exports()
        .iter()
        .map(|e| CallingConvention::parse(e.cconv).annotate(|| format!("function {}.{}", module.name(), e.name)))
        .collect::<Result<_>>()?;
    Ok(NativeInstance { state: module.create_state()?, cconvs, object: Arc::as_ptr(&module), module })
}

fn bytecode_instance(
    module: Arc<BytecodeModule>,
    before: &[Arc<Instance>],
    context: &Inner,
) -> Result<BytecodeInstance> {
    let (quota, holders) = (context.quota.clone(), context.holders.clone());
    let def = module.archive().def();
    for dependency in &def.dependencies {
        check_dependency(dependency, &module, before)?;
    }
    let imports =
        module.import_defs().iter().map(|import| resolve(import, module.name(), before)).collect::<Result<_>>()?;
    let (bytes, refs) = def.state.unwrap_or_default();
    if refs > MAX_GLOBAL_REFS {
        return Err(Status::resource_exhausted(format!(
            "{refs} global references; at most {MAX_GLOBAL_REFS} are possible"
        )));
    }
    let size = bytes as usize + refs as usize * size_of::<Mutex<Ref>>();
    let charge = quota.as_ref().map(|quota| Charge::new(quota, size)).transpose()?;
    let mut slots = Vec::new();
    slots.resize_with(refs as usize, Mutex::default);
    let rwdata = VmBuffer::allocate(bytes as usize, 0)?.charged(charge);
    Ok(BytecodeInstance { rwdata, refs: slots.into(), imports, quota, holders, module })
}

fn check_dependency(dependency: &Dependency, dependent: &BytecodeModule, before: &[Arc<Instance>]) -> Result<()> {
    if !dependency.is_required() {
        return Ok(());
    }
    let (name, need) = (&dependency.name, dependency.minimum_version);
    let Some(found) = before.iter().rev().map(|i| i.any_module()).find(|m| m.name() == name) else {
        return Err(Status::not_found(format!("required module '{name}' not registered with the context")));
    };
    let have = found.version();
    if have < need {
        return Err(Status::not_found(format!(
            "required module '{name}' version mismatch; have {have} but require {need}. {} was compiled by {}; this is \
             tiree {release}. Install a newer one (pip install --upgrade tiree), or recompile the module with tiree \
             {release}.",
            dependent.archive().source(),
            dependent.archive().maker(),
            release = env!("CARGO_PKG_VERSION")
        )));
    }
    Ok(())
}

fn resolve(import: &Import, importer: &str, before: &[Arc<Instance>]) -> Result<Option<ImportTarget>> {
    let full_name = &import.full_name;
    let (module, function) = full_name
        .split_once('.')
        .ok_or_else(|| Status::invalid_argument(format!("import name not fully-qualified: '{full_name}'")))?;
    let instance = before.iter().rev().find(|i| i.any_module().name() == module);
    let found = instance.and_then(|i| Some((i, i.any_module().lookup_export(function)?)));
    match (found, instance) {
        (Some((instance, ordinal)), _) => {
            let (have, want) = (instance.cconv_text(ordinal), import.cconv());
            // Who gives no convention gets nothing from native functions; bytecode functions would be called wrongly.
            let anything = want.is_empty() && matches!(**instance, Instance::Native(_));
            let fits = anything || want == have || *instance.cconv(ordinal) == CallingConvention::parse(want)?;
            if !fits {
                return Err(Status::internal(format!(
                    "import function {full_name} signature mismatch between {importer} and source {module}; expected \
                     {want} but got {have}"
                )));
            }
            Ok(Some(ImportTarget { instance: instance.clone(), ordinal }))
        }
        _ if import.is_optional() => Ok(None),
        (None, Some(instance)) => Err(no_function(&instance.any_module(), function)),
        (None, None) => Err(Status::not_found(format!(
            "module '{module}' required for import '{full_name}' not registered with the context"
        ))),
    }
}
