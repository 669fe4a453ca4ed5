//! Globs and regular expressions: a glob finds no more than all files, a regular expression no line that is not
//! there, and a literal search finds exactly the files that hold it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::conversation::{CallOutcome, text_of};
use placet_fuzz::{Bench, SECRET};
use serde_json::json;
use std::cell::OnceCell;

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

/// Everything that means something in a regular expression, taken literally. An escaped `<` or `>` is no letter but
/// the edge of a word.
fn escaped(text: &str) -> String {
    let special = |c: char| c.is_ascii_punctuation() && !matches!(c, '<' | '>');
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fuzz_target!(|text: &str| {
    BENCH.with(|bench| {
        let bench = bench.get_or_init(Bench::new);
        let found = |tool: &str, input| {
            let output = bench.call(0, tool, input)?;
            let body = text_of(&output.for_model);
            assert!(!body.contains(SECRET));
            (output.outcome == CallOutcome::Done).then_some(body)
        };
        if let Some(body) = found("find_files", json!({"pattern": text})) {
            let all = found("find_files", json!({"pattern": "**"})).unwrap();
            let strays: Vec<&str> = body
                .lines()
                .filter(|l| l.ends_with(".txt") || l.ends_with(".rs"))
                .filter(|l| !all.contains(l))
                .collect();
            assert_eq!(strays, Vec::<&str>::new(), "{text:?}");
        }
        found("find_files", json!({"pattern": text}));
        found("search_contents", json!({"pattern": text}));
        found("search_contents", json!({"pattern": "one", "glob": text}));
        let plain = !text.is_empty() && text.len() < 50 && !text.chars().any(char::is_control);
        if plain {
            let body = found("search_contents", json!({"pattern": escaped(text), "files_only": true}))
                .unwrap_or_default();
            for (name, content) in placet_fuzz::FILES {
                let holds = content.lines().any(|line| line.contains(text));
                assert_eq!(body.contains(name), holds, "{text:?} in {name}: {body}");
            }
        }
        bench.assert_outside_unchanged();
    });
});
