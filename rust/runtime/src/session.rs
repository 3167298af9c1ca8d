//! Modules on a device.

use crate::call::Call;
use crate::instance::Instance;
use std::path::Path;
use std::sync::Arc;
use tiree_hal::device::Device;
use tiree_hal::module::{HalModule, native_module};
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, ContextOptions, Module, Result};

/// Modules linked with each other on one device: a context with the `hal` module, to which modules are added.
pub struct Session {
    instance: Arc<Instance>,
    device: Arc<Device>,
    context: Context,
}

impl Session {
    /// A session on `device`.
    ///
    /// # Errors
    /// Those of registering the `hal` module.
    pub fn new(instance: &Arc<Instance>, device: Arc<Device>) -> Result<Session> {
        Session::with_options(instance, device, &ContextOptions::default())
    }

    /// As [`new`](Self::new), with limits of memory, and of the calls that have none of their own.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_options(instance: &Arc<Instance>, device: Arc<Device>, options: &ContextOptions) -> Result<Session> {
        let context = Context::growable_with_options(options);
        context.register(Arc::new(HalModule::new(vec![device.clone()], false)))?;
        Ok(Session { instance: instance.clone(), device, context })
    }

    /// The instance.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Adds any module.
    ///
    /// # Errors
    /// Those of linking and of its initialiser.
    pub fn append_module(&self, module: impl Into<AnyModule>) -> Result<()> {
        self.context.register(module)
    }

    /// Loads a `.vmfb` file (mapped, not copied) and adds it.
    ///
    /// # Errors
    /// Those of the archive reader, the verifier, linking and the module's initialiser.
    pub fn append_module_from_file(&self, path: impl AsRef<Path>) -> Result<()> {
        self.append_archive(Archive::open(path)?)
    }

    /// Loads a module from bytes (copied) and adds it.
    ///
    /// # Errors
    /// As [`append_module_from_file`](Self::append_module_from_file).
    pub fn append_module_from_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.append_archive(Archive::copy(bytes, "<memory>")?)
    }

    /// Adds the module of an archive, after the native modules that it depends on and that are not there.
    fn append_archive(&self, archive: Arc<Archive>) -> Result<()> {
        let module = BytecodeModule::load(archive, self.instance.registry())?;
        for dependency in &module.archive().def().dependencies {
            if self.context.module(&dependency.name).is_some() {
                continue;
            }
            let options = self.device.load_options();
            if let Some(native) = native_module(&dependency.name, self.instance.topology(), options)? {
                self.append_module(native)?;
            }
        }
        self.append_module(module)
    }

    /// Prepares a call of `module.function`.
    ///
    /// # Errors
    /// NOT_FOUND, with the names that exist.
    pub fn call(&self, full_name: &str) -> Result<Call> {
        let function = self.context.lookup_function(full_name)?;
        Ok(Call::new(self.device.clone(), function))
    }

    /// Names of the functions that the modules added so far export, as `module.function`.
    pub fn function_names(&self) -> Vec<String> {
        let modules = self.context.modules();
        let bytecode = modules.iter().filter(|module| matches!(module, AnyModule::Bytecode(_)));
        bytecode
            .flat_map(|module| {
                let names = module.export_names().into_iter().filter(|name| !name.starts_with("__"));
                names.map(|name| format!("{}.{name}", module.name())).collect::<Vec<_>>()
            })
            .collect()
    }
}
