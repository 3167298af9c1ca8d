//! `hal.buffer_view`: a buffer with a shape, an element type and an encoding.

use crate::buffer::Buffer;
use crate::types::{ElementType, encoding};
use smallvec::SmallVec;
use std::sync::Arc;
use tiree_vm::{Charge, RefObject, Result, Status};

/// The highest rank.
pub const MAX_RANK: usize = 128;

/// Dimensions, in the usual ranks without a heap allocation.
pub type Shape = SmallVec<[u64; 6]>;

/// A typed, shaped view of a buffer.
pub struct BufferView {
    buffer: Arc<Buffer>,
    element_type: ElementType,
    encoding: u32,
    shape: Shape,
    charge: Option<Charge>,
}

crate::charge::charged!(BufferView);

impl RefObject for BufferView {
    fn type_name(&self) -> &'static str {
        "hal.buffer_view"
    }
}

/// `2x3`, empty for a scalar.
pub fn shape_text(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// Product of the dimensions, None when it does not fit.
pub fn element_count(shape: &[u64]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |count, &dim| count.checked_mul(usize::try_from(dim).ok()?))
}

impl BufferView {
    /// A view of all of `buffer`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a rank above 128; OUT_OF_RANGE when a dense view needs more bytes than the buffer has.
    pub fn new(buffer: Arc<Buffer>, element_type: ElementType, encoding: u32, shape: &[u64]) -> Result<BufferView> {
        BufferView::with_shape(buffer, element_type, encoding, Shape::from_slice(shape))
    }

    /// As [`new`](Self::new), for dimensions that need not be copied.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_shape(
        buffer: Arc<Buffer>,
        element_type: ElementType,
        encoding: u32,
        shape: Shape,
    ) -> Result<BufferView> {
        if shape.len() > MAX_RANK {
            return Err(Status::invalid_argument(format!("rank {} is above the limit of {MAX_RANK}", shape.len())));
        }
        if encoding == encoding::DENSE_ROW_MAJOR {
            let needed = element_count(&shape).and_then(|count| element_type.dense_bytes(count));
            let have = buffer.byte_length();
            if needed.is_none_or(|needed| needed > have) {
                return Err(Status::out_of_range(format!(
                    "a view of shape [{}] and type {element_type} does not fit the buffer of {have} bytes",
                    shape_text(&shape)
                )));
            }
        }
        Ok(BufferView { buffer, element_type, encoding, shape, charge: None })
    }

    /// The buffer.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The encoding.
    pub fn encoding_type(&self) -> u32 {
        self.encoding
    }

    /// The dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Product of the dimensions.
    pub fn element_count(&self) -> usize {
        element_count(&self.shape).unwrap_or(0)
    }

    /// Bytes of the dense contents.
    pub fn byte_length(&self) -> usize {
        if self.encoding != encoding::DENSE_ROW_MAJOR {
            return self.buffer.byte_length();
        }
        self.element_type.dense_bytes(self.element_count()).unwrap_or(0)
    }

    /// The dense contents, copied.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.byte_length()];
        self.buffer.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// `2x3xf32`
    pub fn type_text(&self) -> String {
        let mut text = shape_text(&self.shape);
        if !text.is_empty() {
            text.push('x');
        }
        text + &self.element_type.to_string()
    }
}
