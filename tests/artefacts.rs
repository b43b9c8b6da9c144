//! The release binary as a disassembler sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::support::wait::InTime;
use crate::support::{hopcost_path, measured};

/// The binary under test, which has to be one whose numbers are valid.
fn release() -> &'static Path {
    assert_eq!(measured(), 0, "the binary is not optimised: run cargo test --release");
    hopcost_path()
}

/// The instructions of every monomorphised timed loop in the binary, and the names of its
/// symbols.
struct Disassembly {
    /// Of `workload::call::run`.
    calls: BTreeMap<String, Vec<String>>,
    /// Of the ends of round trips, wake-ups and streams, and what writes a field of these.
    ends: BTreeMap<String, Vec<String>>,
    symbols: BTreeMap<u64, String>,
    /// What the loader puts where: calls of other crates and of the C library go through there.
    relocations: BTreeMap<u64, String>,
}

/// The loops of ends.
const ENDS: [&str; 6] = [
    "roundtrip::caller",
    "roundtrip::callee",
    "wake::sender",
    "wake::receiver",
    "stream::sender",
    "stream::receiver",
];

impl Disassembly {
    fn of(binary: &Path) -> Self {
        let mut this = Self {
            calls: BTreeMap::new(),
            ends: BTreeMap::new(),
            symbols: BTreeMap::new(),
            relocations: BTreeMap::new(),
        };
        for line in objdump(&["--dynamic-reloc"], binary).lines() {
            if let [at, _, value] = line.split_whitespace().collect::<Vec<_>>()[..]
                && let Ok(at) = u64::from_str_radix(at, 16)
            {
                this.relocations.insert(at, value.to_owned());
            }
        }
        let mut current = None;
        assert!(
            !objdump(&["--syms"], binary).contains("no symbols"),
            "the binary is stripped; ./test compiles it with its symbols: \
             --config 'profile.release.package.hopcost.strip=\"none\"'"
        );
        let text = objdump(&["--disassemble", "--demangle", "--no-show-raw-insn"], binary);
        for line in text.lines() {
            if let Some((address, name)) = head(line) {
                this.symbols.insert(address, name.to_owned());
                let of_workload = name.split_once("hopcost_probe::workload::").map(|found| found.1);
                let is = |loops: &[&str]| {
                    of_workload.is_some_and(|name| loops.iter().any(|l| name.starts_with(l)))
                };
                let name = format!("{address:x} {name}");
                current = if is(&["call::run"]) {
                    Some(this.calls.entry(name).or_default())
                } else if is(&ENDS) && !name.contains("closure") || is(&["stream::fill::"]) {
                    Some(this.ends.entry(name).or_default())
                } else {
                    None
                };
            } else if let (Some(body), Some((_, instruction))) =
                (&mut current, line.split_once(":\t"))
            {
                body.push(instruction.to_owned());
            }
        }
        this
    }

    /// How often an instruction of the kind stands in each loop of calls, the loops without left out.
    fn counts(&self, kind: impl Fn(&str) -> bool) -> Vec<usize> {
        let counts = self.calls.values().map(|body| body.iter().filter(|i| kind(i)).count());
        counts.filter(|count| *count > 0).collect()
    }

    /// What these instructions call or leave for, by name, but for what is known at run time only.
    fn called(&self, body: &[String]) -> BTreeSet<&str> {
        let called = body.iter().filter_map(|instruction| {
            let (operation, target) = instruction.split_once(' ')?;
            let target = target.split('#').next_back()?.split_whitespace().next()?;
            let address = u64::from_str_radix(target, 16).ok()?;
            let by_loader = self.relocations.get(&address);
            let by_loader = by_loader.map(|value| value.strip_prefix("*ABS*+0x").ok_or(value));
            match (operation, by_loader) {
                // The address may be loaded before the loop, into a register that the loop calls.
                ("call" | "jmp" | "mov", Some(Err(name))) => Some(name.as_str()),
                ("call" | "jmp", Some(Ok(address))) => {
                    self.symbol(u64::from_str_radix(address, 16).ok()?)
                }
                ("call" | "jmp", None) => self.symbol(address),
                _ => None,
            }
        });
        called.collect()
    }

    fn symbol(&self, address: u64) -> Option<&str> {
        self.symbols.get(&address).map(String::as_str)
    }
}

fn objdump(arguments: &[&str], binary: &Path) -> String {
    let output = Command::new("objdump").args(arguments).arg(binary).finish();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `0000000000453320 <name>:`
fn head(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

/// The operations of a loop's body are unrolled this often.
const UNROLLED: usize = hopcost_probe::workload::call::UNROLLED as usize;

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "knows the instructions of x86-64 only")]
fn the_loops_hold_the_instructions_that_the_rows_claim() {
    let code = Disassembly::of(release());
    assert!(code.calls.len() >= 8, "the loops are not in the binary: {:?}", code.calls.keys());

    let called = code.symbols.values().any(|name| name == "hopcost_called");
    assert!(called, "`call` has nothing to call");
    let direct = code.counts(|i| i.starts_with("call ") && i.ends_with("<hopcost_called>"));
    assert_eq!(direct, [UNROLLED], "`call`: direct calls, in one loop");

    let indirect = code.counts(|i| i.starts_with("call ") && i.contains('*'));
    assert!(indirect.contains(&UNROLLED), "`call-indirect`: indirect calls: {indirect:?}");

    let locked = code.counts(|i| i.starts_with("lock xadd "));
    assert_eq!(locked, [UNROLLED], "`atomic-rmw`: lock xadd, in one loop");

    let counted = |kind: fn(&str) -> bool| {
        let in_one = |body: &Vec<String>| body.iter().filter(|i| kind(i)).count() >= UNROLLED;
        code.calls.values().filter(|body| in_one(body)).count()
    };
    // `null` and `call-inline` call nothing; `call-inline` adds.
    let silent = code.calls.values().filter(|body| !body.iter().any(|i| i.starts_with("call ")));
    assert!(silent.count() >= 3, "call-inline, atomic-rmw and the empty loop call nothing");
    assert!(counted(|i| i.starts_with("inc ") || i.starts_with("add ")) >= 1, "no additions");
    the_loops_of_ends_neither_panic_nor_allocate(&code);
}

/// Where a loop calls one of these, a library owns the messages and may allocate and check what it
/// likes; the engines are for tests.
const NOT_OURS: [&str; 4] =
    ["crossbeam_channel::", "std::sync::mpmc::", "tungstenite::", "::engines::"];

/// A branch that checks bounds leads to a panic, so that there is none where no panic is called.
/// Errors are made out of line.
fn the_loops_of_ends_neither_panic_nor_allocate(code: &Disassembly) {
    let forbidden = |name: &&&str| {
        let place = name.trim_start_matches("__rustc::");
        // Where a destructor of an unwinding loop panics.
        !place.ends_with("::panic_in_cleanup")
            && [
                "core::panicking::",
                "core::slice::",
                "core::option::",
                "core::result::",
                "alloc::",
                "__rust_alloc",
                "__rust_realloc",
                "malloc",
                "calloc",
                "realloc",
            ]
            .iter()
            .any(|prefix| place.starts_with(prefix))
    };
    let (mut found, mut kernel) = (Vec::new(), BTreeSet::new());
    for (name, body) in &code.ends {
        let called = code.called(body);
        kernel.extend(called.iter().filter_map(|name| name.split_once("@GLIBC").map(|s| s.0)));
        if !called.iter().any(|name| NOT_OURS.iter().any(|library| name.contains(library))) {
            let which = called.iter().filter(forbidden).collect::<Vec<_>>();
            if !which.is_empty() {
                found.push(format!("{name} calls {which:?}, and {called:?}"));
            }
        }
    }
    // What is to be found otherwise is seen: the calls of each transport.
    for name in [
        "read",
        "write",
        "recv",
        "send",
        "mq_receive",
        "msgrcv",
        "sem_wait",
        "syscall",
        "sendfile",
        "process_vm_readv",
    ] {
        assert!(kernel.contains(name), "no loop calls {name}, only {kernel:?}");
    }
    assert_eq!(found, [""; 0], "of {} loops of ends", code.ends.len());
}
