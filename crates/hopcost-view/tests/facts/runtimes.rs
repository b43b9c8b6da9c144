//! Runtimes of made-up workers: one that says much, one that says the least, one
//! that is absent.

use hopcost_model::describe::RuntimeFacts;

const PYTHON: &str = r#"{"protocol":3,"runtime":"python","version":"0.1.0",
 "libraries":{"python":"3.11.7","websockets":"15.0"},"remarks":["the GIL is on"],
 "mechanisms":[
  {"name":"pipe","family":"pipe","about":"os.read and os.write on two pipes",
   "workloads":["roundtrip"],"boundaries":["process","thread"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"descriptors","peers":"any",
   "parameters":[{"name":"capacity","values":["default","1MiB"],"default":"default"}],
   "crosses":"the message's bytes","copies":"the kernel, twice a message",
   "wakes":"the kernel wakes the reader from within write(2)",
   "between_stamps":"write, sleep in read, the same on the other side",
   "limits":"1 byte to 64 KiB","sources":["pipe(7)","https://docs.python.org/3/library/os.html"],
   "system_calls":{"min":4,"max":4}},
  {"name":"simple-queue","about":"queue.SimpleQueue, one per direction","workloads":["roundtrip"],
   "boundaries":["thread"],"waits":["block"],"payload":{"min":1,"max":65536,"default":64}},
  {"name":"pipe-asyncio","about":"asyncio streams on two pipes","workloads":["roundtrip"],
   "boundaries":["process"],"waits":["block"],"payload":{"min":1,"max":65536,"default":64},
   "link":"descriptors","carrier":"pipe","peers":"any","system_calls":{"min":4,"max":9.5},
   "unavailable":"the | library\u001b[31m is not installed"}]}"#;

const CPP: &str = r#"{"protocol":3,"runtime":"cpp","version":"0.1.0",
 "libraries":{"boost":"1.74.0","cpp":"GCC 12.2.0"},
 "mechanisms":[{"name":"mutex","about":"std::mutex, lock and unlock","workloads":["call"]}]}"#;

pub fn all() -> Vec<RuntimeFacts> {
    let here = |text: &str| {
        let described: hopcost_model::describe::Description = serde_json::from_str(text).unwrap();
        let runtime = described.runtime.parse().unwrap();
        RuntimeFacts { runtime, start_ns: None, state: Ok(described) }
    };
    let why = "not built; it needs Go 1.23 or later (Debian: golang-go); to install it: \
               scripts/setup workers go";
    let runtime = "go".parse().unwrap();
    let go = RuntimeFacts { runtime, start_ns: None, state: Err(why.to_owned()) };
    vec![here(PYTHON), here(CPP), go]
}
