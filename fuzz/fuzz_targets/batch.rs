//! Batches, run: those of typestack and our own. Nothing outside the workspace changes, and a batch of ours that
//! fails has changed nothing at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::conversation::CallOutcome;
use placet_fuzz::Bench;
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let bench = Bench::new();
    let of = |tool: &str| {
        let known = |r: &placet::tools::ToolRegistry| r.names().iter().any(|n| n == tool);
        bench.registries.iter().position(known).unwrap()
    };
    let before = bench.tree();
    match &value {
        Value::Array(list) if list.first().is_some_and(|o| o.get("sMode").is_some()) => {
            bench.call(of("agent_prompt"), "agent_prompt", json!({ "aOperations": value }));
        }
        Value::Array(_) => {
            let done = bench.call(of("operations"), "operations", json!({ "operations": value }));
            if done.is_none_or(|output| output.outcome != CallOutcome::Done) {
                assert!(bench.tree() == before, "a batch that failed left something behind");
            }
        }
        _ => drop(bench.call(of("agent_prompt"), "agent_prompt", value)),
    }
    bench.assert_outside_unchanged();
});
