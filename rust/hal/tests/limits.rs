//! Hostile modules on every device: the limits of the context end their initializers and functions with an error that
//! says which limit, nothing stays alive, and the context goes on.

use std::sync::Arc;
use std::time::Duration;
use tiree_hal::device::Device;
use tiree_hal::drivers::{create_device, names};
use tiree_hal::module::HalModule;
use tiree_task::TopologyOptions;
use tiree_vm::asm::assemble;
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, ContextOptions, Limit, Limits, Status, TypeRegistry};

const HEAD: &str = r#"
vm.module @m version 0
vm.type i32
vm.type i64
vm.type !vm.opaque
vm.type !vm.buffer
vm.type !vm.list<!vm.opaque>
vm.import @hal.allocator.allocate cconv "0rIiiI_r"
vm.import @hal.buffer.subspan cconv "0rII_r"
vm.import @hal.buffer_view.create cconv "0rIIiiCID_r"
vm.import @hal.command_buffer.create cconv "0riiIi_r"
vm.import @hal.command_buffer.dispatch cconv "0rrIiiiICiDCiirIID_v"
vm.import @hal.command_buffer.fill_buffer cconv "0rrIIiIiI_v"
vm.import @hal.command_buffer.finalize cconv "0r_v"
vm.import @hal.command_buffer.update_buffer cconv "0rrIrIIiI_v"
vm.import @hal.device.allocator cconv "0r_r"
vm.import @hal.device.queue.alloca cconv "0rIrrIiiII_r"
vm.import @hal.device.queue.barrier cconv "0rIrrI_v"
vm.import @hal.device.queue.execute cconv "0rIrrrI_v"
vm.import @hal.device.queue.fill cconv "0rIrrrIIIiI_v"
vm.import @hal.devices.get cconv "0i_r"
vm.import @hal.executable.create cconv "0rIrrr_r"
vm.import @hal.fence.await cconv "0iICrD_i"
vm.import @hal.fence.create cconv "0rI_r"
vm.import @hal.fence.join cconv "0ICrD_r"
vm.export @nothing
vm.func @nothing() -> () {
^bb0:
  vm.return
}
"#;

/// What a loop finds: a device, its allocator, a list, a buffer, two fences that nobody signals, a command buffer.
const SETUP: &str = r#"
^bb0:
  %i1 = vm.const.i32 1
  %i4:5 = vm.const.i64 -1
  %i6:7 = vm.const.i64 65536
  %i8 = vm.const.i32 48
  %i9 = vm.const.i32 3075
  %i14 = vm.const.i32 3
  %r0 = vm.call @hal.devices.get(%i0)
  %r1 = vm.call @hal.device.allocator(%r0)
  %r2 = vm.list.alloc %i1 : !vm.list<!vm.opaque>
  %r4 = vm.call @hal.allocator.allocate(%r1, %i4:5, %i8, %i9, %i6:7)
  %r5 = vm.call @hal.fence.create(%r0, %i2:3)
  %r6 = vm.call @hal.fence.create(%r0, %i2:3)
  %r7 = vm.call @hal.command_buffer.create(%r0, %i0, %i14, %i4:5, %i0)
  vm.br ^bb1()
^bb1:
"#;

/// Keeps `%r3` and goes round.
const AGAIN: &str = r#"
  %i12 = vm.list.size %r2
  %i13 = vm.add.i32 %i12, %i1
  vm.list.resize %r2, %i13
  vm.list.set.ref %r2, %i12, %r3
  vm.br ^bb1()
^bb2:
  vm.return
}
"#;

/// What is done for ever, and the limit that it reaches.
const ATTACKS: [(&str, &str, Limit); 16] = [
    ("loop", "vm.br ^bb1()\n^bb3:", Limit::Fuel),
    ("allocate", "%r3 = vm.call @hal.allocator.allocate(%r1, %i4:5, %i8, %i9, %i6:7)", Limit::Memory),
    ("at once", "%r3 = vm.call @hal.allocator.allocate(%r1, %i4:5, %i8, %i9, %i16:17)", Limit::Memory),
    (
        "on the queue",
        "%r3 = vm.call @hal.device.queue.alloca(%r0, %i4:5, %r9, %r9, %i2:3, %i8, %i9, %i6:7, %i2:3)",
        Limit::Memory,
    ),
    (
        "later",
        "%r3 = vm.call @hal.device.queue.alloca(%r0, %i4:5, %r5, %r9, %i2:3, %i8, %i9, %i6:7, %i2:3)",
        Limit::Memory,
    ),
    ("bytes", "%r3 = vm.buffer.alloc %i16:17, %i1", Limit::Memory),
    ("fences", "%r3 = vm.call @hal.fence.create(%r0, %i2:3)", Limit::Memory),
    ("joined fences", "%r3 = vm.call.variadic @hal.fence.join segments[65535, 2](%i2:3, %r5, %r6)", Limit::Memory),
    ("parts", "%r3 = vm.call @hal.buffer.subspan(%r4, %i2:3, %i6:7)", Limit::Memory),
    (
        "views",
        "%r3 = vm.call.variadic @hal.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1]\
         (%r4, %i2:3, %i4:5, %i8, %i0, %i2:3)",
        Limit::Memory,
    ),
    ("command buffers", "%r3 = vm.call @hal.command_buffer.create(%r0, %i0, %i14, %i4:5, %i0)", Limit::Memory),
    (
        "commands",
        "vm.call @hal.command_buffer.fill_buffer(%r7, %r4, %i2:3, %i6:7, %i0, %i2:3, %i1, %i2:3)",
        Limit::Memory,
    ),
    (
        "captured bytes",
        "%r3 = vm.buffer.alloc %i6:7, %i1\n  \
         vm.call @hal.command_buffer.update_buffer(%r7, %r3, %i2:3, %r4, %i2:3, %i6:7, %i0, %i2:3)",
        Limit::Memory,
    ),
    (
        "operations that wait",
        "vm.call @hal.device.queue.fill(%r0, %i4:5, %r5, %r9, %r4, %i2:3, %i6:7, %i2:3, %i1, %i2:3)",
        Limit::Memory,
    ),
    ("barriers that wait", "vm.call @hal.device.queue.barrier(%r0, %i4:5, %r5, %r6, %i2:3)", Limit::Memory),
    ("waiting", "%i10 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i14, %i2:3, %r5)", Limit::Time),
];

/// Attacks that wait on devices that wait on the calling thread.
const WAITING: [&str; 3] = ["later", "operations that wait", "barriers that wait"];

fn assembled(text: &str) -> Arc<BytecodeModule> {
    let module = assemble(text, "m.vmasm").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    BytecodeModule::load(Archive::copy(&module.bytes, "m").unwrap(), &TypeRegistry::default()).unwrap()
}

fn attack(name: &str, body: &str) -> Arc<BytecodeModule> {
    let setup = SETUP.replace("^bb1:\n", &format!("^bb1:\n  %i16:17 = vm.const.i64 1099511627776\n  {body}"));
    assembled(&format!("{HEAD}vm.export @{name}\nvm.func @{name}() -> () {{{setup}{AGAIN}"))
}

/// No time unless waiting is the attack, so that a slow machine changes nothing.
fn options(limit: Limit) -> ContextOptions {
    let timeout = (limit == Limit::Time).then_some(Duration::from_millis(100));
    let limits = Limits { fuel: Some(500_000), timeout, max_stack_depth: Some(100), ..Limits::default() };
    ContextOptions { memory: Some(1 << 20), limits }
}

fn context(device: &Arc<Device>, module: Arc<BytecodeModule>, limit: Limit) -> Result<Context, Status> {
    let hal: Arc<HalModule> = Arc::new(HalModule::new(vec![device.clone()], false));
    Context::with_options([AnyModule::from(hal), module.into()], &options(limit))
}

/// The limit that an attack reaches on `device`.
fn expected(device: &Device, name: &str, limit: Limit) -> Limit {
    if device.id() != "local-task" && WAITING.contains(&name) { Limit::Time } else { limit }
}

fn live(device: &Device) -> u64 {
    let statistics = device.allocator().statistics();
    statistics.host.allocated - statistics.host.freed + statistics.device.allocated - statistics.device.freed
}

fn devices() -> impl Iterator<Item = Arc<Device>> {
    let options = TopologyOptions { group_count: 1, ..Default::default() };
    names().into_iter().map(move |driver| create_device(driver, &options).unwrap())
}

#[test]
fn initializers_reach_their_limits() {
    for device in devices() {
        for (name, body, limit) in ATTACKS {
            let limit = expected(&device, name, limit);
            let status = context(&device, attack("__init", body), limit).unwrap_err();
            assert_eq!(status.limit(), Some(limit), "{} on {}: {status}", name, device.id());
            assert!(status.to_string().contains("initializing module 'm'"), "{status}");
            assert_eq!(live(&device), 0, "{} on {}: {status}", name, device.id());
        }
    }
}

#[test]
fn functions_reach_their_limits_and_the_context_goes_on() {
    for device in devices() {
        for (name, body, limit) in ATTACKS {
            let limit = expected(&device, name, limit);
            let context = context(&device, attack("attack", body), limit).unwrap();
            let idle = context.quota().unwrap().used();
            for _ in 0..2 {
                let status = context.function("m", "attack").unwrap().invoke(Vec::new()).unwrap_err();
                assert_eq!(status.limit(), Some(limit), "{} on {}: {status}", name, device.id());
                context.function("m", "nothing").unwrap().invoke(Vec::new()).unwrap();
                assert_eq!(context.quota().unwrap().used(), idle, "{} on {}: {status}", name, device.id());
            }
            assert_eq!(live(&device), 0, "{} on {}", name, device.id());
        }
    }
}

#[test]
fn deep_recursion_of_an_initializer() {
    let body = "vm.export @__init\nvm.func @__init() -> () {\n^bb0:\n  vm.call @m:1()\n  vm.return\n}\n";
    for device in devices() {
        let status = context(&device, assembled(&format!("{HEAD}{body}")), Limit::Stack).unwrap_err();
        assert_eq!(status.limit(), Some(Limit::Stack), "{status}");
    }
}

/// Memory counts as long as the buffer has it, whoever keeps the buffer.
#[test]
fn memory_is_given_back() {
    let body = r#"
  %r3 = vm.call @hal.device.queue.alloca(%r0, %i4:5, %r9, %r9, %i2:3, %i8, %i9, %i6:7, %i2:3)
  vm.return %r3
^bb2:
  vm.return %r3
}
"#;
    for device in devices() {
        let text = format!("{HEAD}vm.export @make\nvm.func @make() -> (!hal.buffer) {{{SETUP}{body}");
        let context = context(&device, assembled(&text), Limit::Memory).unwrap();
        let used = || context.quota().unwrap().used();
        let idle = used();
        let made: Vec<_> = (0..3).map(|_| context.function("m", "make").unwrap().invoke(Vec::new()).unwrap()).collect();
        assert!((3 << 16..(3 << 16) + 3000).contains(&(used() - idle)), "{}", used() - idle);
        drop(made);
        assert_eq!((used(), live(&device)), (idle, 0));
    }
}

/// A bytecode executable has the limits of those who load and dispatch it, on whatever thread it runs.
#[test]
fn bytecode_kernels_reach_the_limits_of_their_callers() {
    const KERNEL: &str = "vm.module @k version 0\nvm.type i32\nvm.type !vm.buffer\nvm.type !vm.list<!vm.opaque>\n";
    let entry = |name: &str, body: &str| {
        let arguments = "%r0: !vm.buffer, %r1: !vm.buffer, %r2: !vm.list<!vm.opaque>, %i0: i32, %i1: i32, %i2: i32, \
                         %i3: i32, %i4: i32, %i5: i32, %i6: i32, %i7: i32, %i8: i32";
        let arguments = if name == "__init" { "" } else { arguments };
        let text = format!("{KERNEL}vm.export @{name}\nvm.func @{name}({arguments}) -> () {{\n^bb0:\n{body}\n}}\n");
        let bytes = assemble(&text, "k.vmasm").unwrap().bytes;
        bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()
    };
    let spin = "  vm.br ^bb1()\n^bb1:\n  vm.br ^bb1()\n^bb2:\n  vm.return";
    let hoard = "  %i10:11 = vm.const.i64 1000000\n  %i12 = vm.const.i32 1\n  %r4 = vm.list.alloc %i12 : !vm.list<!vm.opaque>\n  \
                 vm.br ^bb1()\n^bb1:\n  %i13 = vm.list.size %r4\n  %i14 = vm.add.i32 %i13, %i12\n  \
                 vm.list.resize %r4, %i14\n  %r3 = vm.buffer.alloc %i10:11, %i12\n  vm.list.set.ref %r4, %i13, %r3\n  \
                 vm.br ^bb1()\n^bb2:\n  vm.return";
    let run = r#"
  vm.call.variadic @hal.command_buffer.dispatch segments[65535, 65535, 65535, 65535, 65535, 65535, 65535, 0, 0](%r7, %r3, %i2:3, %i1, %i1, %i1, %i2:3)
  vm.call @hal.command_buffer.finalize(%r7)
  vm.call @hal.device.queue.execute(%r0, %i4:5, %r9, %r6, %r7, %i2:3)
  %i14 = vm.const.i32 -1
  %i10 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i14, %i2:3, %r6)
"#;
    for (name, body, limit) in [
        ("__init", spin, Limit::Fuel),
        ("__init", hoard, Limit::Memory),
        ("kernel", spin, Limit::Fuel),
        ("kernel", hoard, Limit::Memory),
    ] {
        for device in devices().filter(|device| device.counts().is_none()) {
            let format = "vmvx-bytecode-fb".bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
            let data = format!("vm.rodata[0] = {format}\nvm.rodata[1] = {}\n", entry(name, body));
            let head = HEAD.replace("vm.export @nothing", &format!("{data}vm.export @nothing"));
            let create = "  %r10 = vm.const.ref.rodata 0\n  %r11 = vm.const.ref.rodata 1\n  \
                          %r3 = vm.call @hal.executable.create(%r0, %i4:5, %r10, %r11, %r9)";
            let text = format!("{head}vm.export @f\nvm.func @f() -> () {{{SETUP}{create}{run}{AGAIN}");
            let context = context(&device, assembled(&text), limit).unwrap();
            let idle = context.quota().unwrap().used();
            let status = context.function("m", "f").unwrap().invoke(Vec::new()).unwrap_err();
            assert_eq!(status.limit(), Some(limit), "{name} on {}: {status}", device.id());
            assert_eq!((context.quota().unwrap().used(), live(&device)), (idle, 0), "{name} on {}", device.id());
        }
    }
}
