//! The API for Rust programs, in the shape of IREE's: an instance, sessions, calls.
//!
//! ```no_run
//! use tiree_hal::runtime::{Instance, Session};
//!
//! # fn main() -> tiree_vm::Result<()> {
//! let instance = Instance::new();
//! let device = instance.create_device("local-task")?;
//! let session = Session::new(&instance, device)?;
//! session.append_module_from_file("add.vmfb")?;
//! let mut call = session.call("module.add")?;
//! call.push_array(&[4], &[1.0f32, 2.0, 3.0, 4.0])?;
//! call.push_array(&[4], &[5.0f32, 6.0, 7.0, 8.0])?;
//! call.invoke()?;
//! assert_eq!(call.pop_array::<f32>()?, ([4].as_slice().into(), vec![6.0, 8.0, 10.0, 12.0]));
//! # Ok(())
//! # }
//! ```

use crate::buffer_view::{BufferView, Shape};
use crate::device::Device;
use crate::drivers;
use crate::module::{HalModule, native_module};
use crate::types::{ElementType, encoding, memory_type, usage};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use tiree_task::TopologyOptions;
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, Function, Module, Result, Status, TypeRegistry, Value};

/// What sessions share: the registered types, the topology and the devices opened so far.
pub struct Instance {
    registry: TypeRegistry,
    topology: TopologyOptions,
    devices: Mutex<Vec<(String, Arc<Device>)>>,
}

impl Instance {
    /// An instance with the default topology.
    pub fn new() -> Arc<Instance> {
        Instance::with_topology(TopologyOptions::default())
    }

    /// An instance whose worker threads follow `topology`.
    pub fn with_topology(topology: TopologyOptions) -> Arc<Instance> {
        Arc::new(Instance { registry: TypeRegistry::default(), topology, devices: Mutex::new(Vec::new()) })
    }

    /// The reference types that modules may name.
    pub fn registry(&self) -> &TypeRegistry {
        &self.registry
    }

    /// The device at `uri`, opened once per instance.
    ///
    /// # Errors
    /// As [`drivers::create_device`].
    pub fn create_device(&self, uri: &str) -> Result<Arc<Device>> {
        let mut devices = self.devices.lock();
        if let Some((_, device)) = devices.iter().find(|entry| entry.0 == uri) {
            return Ok(device.clone());
        }
        let device = drivers::create_device(uri, &self.topology)?;
        devices.push((uri.to_owned(), device.clone()));
        Ok(device)
    }
}

/// A context with the `hal` module of one device; modules are added to it.
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
        let context = Context::growable();
        context.register(Arc::new(HalModule::new(vec![device.clone()], false)))?;
        Ok(Session { instance: instance.clone(), device, context })
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
        let module = BytecodeModule::load(archive, &self.instance.registry)?;
        for dependency in &module.archive().def().dependencies {
            if self.context.module(&dependency.name).is_some() {
                continue;
            }
            let options = self.device.load_options();
            if let Some(native) = native_module(&dependency.name, &self.instance.topology, options)? {
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
        Ok(Call { device: self.device.clone(), function, inputs: Vec::new(), outputs: VecDeque::new() })
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

/// A call: push the inputs, invoke, pop the outputs; then it can be used again.
pub struct Call {
    device: Arc<Device>,
    function: Function,
    inputs: Vec<Value>,
    outputs: VecDeque<Value>,
}

impl Call {
    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Adds an input.
    pub fn push(&mut self, value: impl Into<Value>) {
        self.inputs.push(value.into());
    }

    /// Adds a tensor input with a copy of `elements`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT when the shape has another number of elements; RESOURCE_EXHAUSTED.
    pub fn push_array<T: Element>(&mut self, shape: &[u64], elements: &[T]) -> Result<()> {
        let view = array_to_view(&self.device, shape, elements)?;
        self.inputs.push(Value::from_object(Arc::new(view)));
        Ok(())
    }

    /// Calls the function with the inputs pushed and waits for the outputs.
    ///
    /// # Errors
    /// Those of the function.
    pub fn invoke(&mut self) -> Result<()> {
        self.outputs = self.function.invoke(std::mem::take(&mut self.inputs))?.into();
        Ok(())
    }

    /// Takes the next output.
    ///
    /// # Errors
    /// OUT_OF_RANGE when there is none left.
    pub fn pop(&mut self) -> Result<Value> {
        self.outputs.pop_front().ok_or_else(|| Status::out_of_range("the call has no more outputs"))
    }

    /// Takes the next output, a tensor of `T`.
    ///
    /// # Errors
    /// OUT_OF_RANGE as [`pop`](Self::pop); INVALID_ARGUMENT when it is something else.
    pub fn pop_array<T: Element>(&mut self) -> Result<(Shape, Vec<T>)> {
        let value = self.pop()?;
        let Value::Ref(reference) = &value else {
            return Err(Status::invalid_argument(format!("the output is {value:?}, not a tensor")));
        };
        view_to_array(tiree_vm::refs::downcast_ref(reference)?)
    }
}

/// A number that tensors are made of.
pub trait Element: Copy + private::Sealed {
    /// Its element type.
    const TYPE: ElementType;
}

mod private {
    pub trait Sealed {
        fn write(self, target: &mut Vec<u8>);
        fn read(bytes: &[u8]) -> Self;
    }
}

macro_rules! elements {
    ($($ty:ty => $name:ident;)*) => {
        $(
            impl Element for $ty {
                const TYPE: ElementType = ElementType::$name;
            }
            impl private::Sealed for $ty {
                fn write(self, target: &mut Vec<u8>) {
                    target.extend_from_slice(&self.to_le_bytes());
                }
                fn read(bytes: &[u8]) -> Self {
                    let mut array = [0; size_of::<Self>()];
                    array.copy_from_slice(bytes);
                    Self::from_le_bytes(array)
                }
            }
        )*
    };
}

elements! {
    i8 => INT_8; i16 => INT_16; i32 => INT_32; i64 => INT_64; u8 => UINT_8; u16 => UINT_16; u32 => UINT_32;
    u64 => UINT_64; f32 => FLOAT_32; f64 => FLOAT_64; half::f16 => FLOAT_16; half::bf16 => BFLOAT_16;
}

/// A buffer view on `device` with a copy of `elements`.
///
/// # Errors
/// INVALID_ARGUMENT when the shape has another number of elements; RESOURCE_EXHAUSTED.
pub fn array_to_view<T: Element>(device: &Device, shape: &[u64], elements: &[T]) -> Result<BufferView> {
    if crate::buffer_view::element_count(shape) != Some(elements.len()) {
        return Err(Status::invalid_argument(format!(
            "{} elements do not make a tensor of shape [{}]",
            elements.len(),
            crate::buffer_view::shape_text(shape)
        )));
    }
    let mut bytes = Vec::with_capacity(size_of_val(elements));
    elements.iter().for_each(|element| element.write(&mut bytes));
    let types = memory_type::DEVICE_LOCAL | memory_type::HOST_VISIBLE;
    let buffer = device.allocator().allocate_copy(types, usage::DEFAULT | usage::MAPPING, &bytes)?;
    BufferView::new(Arc::new(buffer), T::TYPE, encoding::DENSE_ROW_MAJOR, shape)
}

/// Shape and elements of a view.
///
/// # Errors
/// INVALID_ARGUMENT for another element type (signless integers read as either kind).
pub fn view_to_array<T: Element>(view: &BufferView) -> Result<(Shape, Vec<T>)> {
    let have = view.element_type();
    let both_integers = have.is_integer() && T::TYPE.is_integer() && have.bit_count() == T::TYPE.bit_count();
    if have != T::TYPE && !both_integers {
        return Err(Status::invalid_argument(format!("the tensor is {}, not of {}", view.type_text(), T::TYPE)));
    }
    let bytes = view.to_vec()?;
    Ok((Shape::from_slice(view.shape()), bytes.chunks_exact(size_of::<T>()).map(T::read).collect()))
}
