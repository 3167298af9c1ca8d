//! `hal.channel`: who takes part in collective operations. On these devices it is one process, so a channel has one
//! participant, and every collective operation is a copy.

use crate::command_buffer::{Binding, CommandBuffer};
use crate::types::ElementType;
use tiree_vm::{Charge, RefObject, Result, Status};

/// "The default", as rank or count.
const DEFAULT: i32 = -1;
/// A color of those that take no part after a split.
const NO_COLOR: i32 = -1;

/// A channel of one participant, whose rank is 0.
#[derive(Default)]
pub struct Channel {
    charge: Option<Charge>,
}

crate::charge::charged!(Channel);

impl RefObject for Channel {
    fn type_name(&self) -> &'static str {
        "hal.channel"
    }
}

impl Channel {
    /// The channel of participant `rank` of `count`; -1 stands for the default, which is the only one of one.
    ///
    /// # Errors
    /// UNIMPLEMENTED for more participants; INVALID_ARGUMENT for a rank that is none of theirs.
    pub fn new(rank: i32, count: i32) -> Result<Channel> {
        match (rank, count) {
            (DEFAULT | 0, DEFAULT | 1) => Ok(Channel::default()),
            (_, DEFAULT | 1) => Err(Status::invalid_argument(format!("rank {rank} is not one of a channel of 1"))),
            _ => Err(Status::unimplemented(format!(
                "a collective channel of {count} participants is not available: local devices are one process"
            ))),
        }
    }

    /// Rank and number of participants.
    pub fn rank_and_count(&self) -> (i32, i32) {
        (0, 1)
    }

    /// The channel of those who ask for the same color; None without a color.
    pub fn split(&self, color: i32) -> Option<Channel> {
        (color != NO_COLOR).then(Channel::default)
    }
}

/// A collective operation, unpacked.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    kind: u8,
    element: ElementType,
}

/// By number of the element type.
const ELEMENTS: [ElementType; 12] = [
    ElementType::SINT_8,
    ElementType::UINT_8,
    ElementType::SINT_16,
    ElementType::UINT_16,
    ElementType::SINT_32,
    ElementType::UINT_32,
    ElementType::SINT_64,
    ElementType::UINT_64,
    ElementType::FLOAT_16,
    ElementType::FLOAT_32,
    ElementType::FLOAT_64,
    ElementType::BFLOAT_16,
];
/// By number of the kind.
const KINDS: [&str; 9] =
    ["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce", "reduce_scatter", "send", "recv", "send_recv"];
const SEND: u8 = 6;
const RECV: u8 = 7;
/// Reductions by number: none, sum, product, minimum, maximum, average.
const REDUCTIONS: u8 = 6;

impl Collective {
    /// The operation of a packed word, with the rank (or ranks) that `param` names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for numbers without a meaning or other ranks than 0; UNIMPLEMENTED for sending without receiving,
    /// to which one participant cannot bring the other half.
    pub fn unpack(op: u32, param: u32) -> Result<Collective> {
        let [kind, reduction, element, _] = op.to_le_bytes();
        let Some(name) = KINDS.get(usize::from(kind)) else {
            return Err(Status::invalid_argument(format!("collective operation {op:#x} is of no known kind")));
        };
        let element = ELEMENTS.get(usize::from(element)).copied().filter(|_| reduction < REDUCTIONS);
        let element = element.ok_or_else(|| {
            Status::invalid_argument(format!("collective operation {op:#x} has no known reduction or element type"))
        })?;
        if matches!(kind, SEND | RECV) {
            return Err(Status::unimplemented(format!(
                "collective {name} needs a second participant; a local device has one"
            )));
        }
        if param != 0 {
            return Err(Status::invalid_argument(format!("collective {name} with rank {param:#x} of a channel of 1")));
        }
        Ok(Collective { kind, element })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        KINDS[usize::from(self.kind)]
    }

    /// Records the operation on `count` elements: what this participant sends is what it receives.
    ///
    /// # Errors
    /// As [`CommandBuffer::copy`]; OUT_OF_RANGE when a range has not that many elements.
    pub fn record(&self, commands: &CommandBuffer, send: Binding, receive: Binding, count: u64) -> Result<()> {
        let bytes = usize::try_from(count).ok().and_then(|count| self.element.dense_bytes(count)).unwrap_or(usize::MAX);
        for (what, binding) in [("send", &send), ("receive", &receive)] {
            if binding.length < bytes as u64 {
                return Err(Status::out_of_range(format!(
                    "collective {} of {count} elements of {} needs {bytes} bytes, its {what} range has {}",
                    self.name(),
                    self.element,
                    binding.length
                )));
            }
        }
        let length = bytes as u64;
        commands.copy(Binding { length, ..send }, Binding { length, ..receive })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiree_vm::StatusCode;

    #[test]
    fn one_participant() {
        for (rank, count) in [(-1, -1), (0, 1), (0, -1), (-1, 1)] {
            assert_eq!(Channel::new(rank, count).unwrap().rank_and_count(), (0, 1));
        }
        let code = |rank, count| Channel::new(rank, count).err().unwrap().code();
        assert_eq!((code(1, 1), code(0, 2)), (StatusCode::InvalidArgument, StatusCode::Unimplemented));
        let channel = Channel::new(0, 1).unwrap();
        assert!(channel.split(5).is_some() && channel.split(-1).is_none());
    }

    #[test]
    fn packed_operations() {
        assert_eq!(Collective::unpack(0x0009_0101, 0).unwrap().name(), "all_reduce");
        for (op, param) in [(9, 0), (0x0600, 0), (0x000C_0000, 0), (1, 3), (6, 0), (7, 0)] {
            assert!(Collective::unpack(op, param).is_err(), "{op:#x}");
        }
    }
}
