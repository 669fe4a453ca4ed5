//! Arguments of every tool of every surface: whatever they are, planning and preparing end with a plan or a teaching
//! error, and touch nothing.
//!
//! The first byte chooses the tool.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::conversation::CallInput;
use placet::tools::ReadScope;
use placet_fuzz::{Bench, arguments};
use std::cell::OnceCell;

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    BENCH.with(|bench| {
        let bench = bench.get_or_init(Bench::new);
        let (dialect, spec) = &bench.tools[usize::from(choice) % bench.tools.len()];
        let before = bench.tree();
        let input = CallInput::Object(arguments(spec, rest));
        let registry = &bench.registries[*dialect];
        registry.touches(&spec.name, &input);
        match registry.plan(&spec.name, &input, &bench.env) {
            Ok(mut plan) => {
                assert!(!plan.title().is_empty());
                let reach = plan.reach();
                if let Err(error) = plan.prepare(&bench.env, ReadScope::InsideOnly) {
                    assert!(!error.for_model().trim().is_empty());
                    assert!(!error.for_model().contains(placet_fuzz::SECRET));
                }
                assert_eq!(plan.reach(), reach, "what is reached is fixed from the beginning");
            }
            Err(error) => assert!(!error.for_model().trim().is_empty()),
        }
        assert!(bench.tree() == before, "planning changed the workspace");
        bench.assert_outside_unchanged();
    });
});
