//! The shapes of operations on numbers: which registers are read and written.

/// result = f(left, right)
macro_rules! binary {
    ($name:ident, $read:ident, $set:ident, |$l:ident, $r:ident| $value:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($l, $r) = (s.$read(inst.a), s.$read(inst.b));
            s.$set(inst.c, $value);
            s.next(1)
        });
    };
}

/// result = f(left, constant); the constant has 16 bits and a sign.
macro_rules! immediate {
    ($name:ident, $read:ident, $set:ident, |$l:ident, $r:ident: $ty:ty| $value:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($l, $r) = (s.$read(inst.a), inst.b as i16 as $ty);
            s.$set(inst.c, $value);
            s.next(1)
        });
    };
}

/// result = f(operand)
macro_rules! unary {
    ($name:ident, $read:ident, $set:ident, |$v:ident| $value:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let $v = s.$read(inst.a);
            s.$set(inst.b, $value);
            s.next(1)
        });
    };
}

/// result = f(operand, amount)
macro_rules! shift {
    ($name:ident, $read:ident, $set:ident, |$v:ident, $n:ident| $value:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($v, $n) = (s.$read(inst.a), s.u32(inst.b));
            s.$set(inst.c, $value);
            s.next(1)
        });
    };
}

/// result = f(a, b, c)
macro_rules! ternary {
    ($name:ident, $read:ident, $set:ident, |$x:ident, $y:ident, $z:ident| $value:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($x, $y, $z) = (s.$read(inst.a), s.$read(inst.b), s.$read(inst.c));
            s.$set(s.word(1).op, $value);
            s.next(2)
        });
    };
}

/// Quotients and remainders: None from the checked operation is an error.
macro_rules! divide {
    ($name:ident, $read:ident, $set:ident, $op:ident, $what:literal, $unsigned:ty) => {
        operation!($name, |s| {
            let inst = s.inst();
            let (l, r) = (s.$read(inst.a), s.$read(inst.b));
            match l.$op(r) {
                Some(value) => s.$set(inst.c, value as $unsigned),
                None => return s.fail(ops::divide_error(r == 0, $what)),
            }
            s.next(1)
        });
    };
}

pub(super) use {binary, divide, immediate, shift, ternary, unary};
