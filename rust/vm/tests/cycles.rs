//! Lists that hold themselves or each other leave nothing behind.

#[path = "../fuzz/counting.rs"]
mod counting;

use std::sync::Arc;

use tiree_vm::asm::assemble;
use tiree_vm::types::TypeDef;
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, ContextOptions, TypeRegistry, Value, VmList};

const TEXT: &str = "vm.module @m
vm.state bytes 0 refs 1
vm.export @itself
vm.func @itself() -> () {
^bb0:
  %i1 = vm.const.i32 1
  %r1 = vm.list.alloc %i1 : !vm.list<!vm.opaque>
  vm.list.resize %r1, %i1
  vm.list.set.ref %r1, %i0, %R1
  vm.return
}
vm.export @each_other
vm.func @each_other(%r0: !vm.ref<?>) -> (!vm.ref<?>) {
^bb0:
  %i1 = vm.const.i32 1
  %i2 = vm.const.i32 2
  %r1 = vm.list.alloc %i1 : !vm.list<!vm.opaque>
  %r2 = vm.list.alloc %i2 : !vm.list<!vm.list<i32>>
  vm.list.resize %r1, %i1
  vm.list.resize %r2, %i2
  vm.list.set.ref %r1, %i0, %r2
  vm.list.set.ref %r2, %i0, %r1
  vm.list.set.ref %r2, %i1, %r0
  vm.return %R1
}
vm.export @keep
vm.func @keep() -> () {
^bb0:
  %i1 = vm.const.i32 1
  %r1 = vm.list.alloc %i1 : !vm.list<!vm.opaque>
  vm.list.resize %r1, %i1
  vm.list.set.ref %r1, %i0, %r1
  vm.global.store.ref %R1, .refs[0] : !vm.list<!vm.opaque>
  vm.return
}
";

fn module() -> Arc<BytecodeModule> {
    let bytes = assemble(TEXT, "cycles").unwrap().bytes;
    BytecodeModule::load(Archive::copy(&bytes, "cycles").unwrap(), &TypeRegistry::default()).unwrap()
}

fn context() -> Context {
    Context::new([AnyModule::from(module())]).unwrap()
}

/// All in one, as what is alive is counted for the whole process.
#[test]
fn cycles_go_with_their_context() {
    for name in ["itself", "keep"] {
        let left = counting::left_behind(|| {
            let context = context();
            for _ in 0..10 {
                context.function("m", name).unwrap().invoke(Vec::new()).unwrap();
            }
        });
        assert_eq!(left, 0, "{name}");
    }
    what_is_in_use_stays();
    a_long_lived_context_does_not_grow();
    a_memory_limit_holds_for_what_is_in_use();
}

/// A list that is still referred to keeps everything in it, and goes later.
fn what_is_in_use_stays() {
    let left = counting::left_behind(|| {
        let inner = Arc::new(VmList::new(TypeDef::Any));
        inner.push(Value::I32(7)).unwrap();
        let context = context();
        let function = context.function("m", "each_other").unwrap();
        let [Value::Ref(Some(outer))] = &function.invoke(vec![Value::Ref(Some(inner.clone()))]).unwrap()[..] else {
            panic!("no list")
        };
        drop((function, context));
        let outer = tiree_vm::refs::downcast::<VmList>(&Some(outer.clone())).unwrap();
        let second = tiree_vm::refs::downcast::<VmList>(&outer.get_ref(0, false).unwrap()).unwrap();
        let third = tiree_vm::refs::downcast::<VmList>(&second.get_ref(1, false).unwrap()).unwrap();
        assert_eq!(third.get_i32(0).unwrap(), 7);
        drop((outer, second, third, inner));
        // The end of any context looks again.
        drop(self::context());
    });
    assert_eq!(left, 0);
}

fn a_long_lived_context_does_not_grow() {
    let context = context();
    let function = context.function("m", "itself").unwrap();
    let before = counting::alive();
    for _ in 0..50_000 {
        function.invoke(Vec::new()).unwrap();
    }
    assert!(counting::alive() - before < 10_000, "{}", counting::alive() - before);
}

/// Lists that nobody can reach any more do not use up the memory of a context.
fn a_memory_limit_holds_for_what_is_in_use() {
    let options = ContextOptions { memory: Some(64 << 10), ..ContextOptions::default() };
    let context = Context::with_options([AnyModule::from(module())], &options).unwrap();
    let function = context.function("m", "itself").unwrap();
    for _ in 0..5_000 {
        function.invoke(Vec::new()).unwrap();
    }
}
