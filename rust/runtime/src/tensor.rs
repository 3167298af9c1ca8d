//! Tensors from and to slices of numbers.

use std::sync::Arc;
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::device::Device;
use tiree_hal::types::{ElementType, encoding, memory_type, usage};
use tiree_vm::{Result, Status};

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
    if tiree_hal::buffer_view::element_count(shape) != Some(elements.len()) {
        return Err(Status::invalid_argument(format!(
            "{} elements do not make a tensor of shape [{}]",
            elements.len(),
            tiree_hal::buffer_view::shape_text(shape)
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
