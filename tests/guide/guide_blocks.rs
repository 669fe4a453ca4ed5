//! Every console block of these pages is what the program prints. [`crate::support::guide_run`] says how a page is run.

use crate::support::guide_run::{GuideRun, docs};
use crate::support::require::has_view;
use crate::support::require::require;
use std::path::Path;

fn check(page: &str) {
    if !(has_view() && require("git") && require("python3")) {
        return;
    }
    let text = std::fs::read_to_string(docs().join("guide").join(page)).unwrap();
    let (blocks, failures) = GuideRun::new().page(&text);
    assert!(failures.is_empty(), "docs/guide/{page}, {blocks} blocks:\n{failures}");
}

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $name() {
                check($page);
            }
        )*
    };
}

pages! {
    the_blocks_of_install_are_what_is_printed: "install.md",
    the_blocks_of_the_tour_are_what_is_printed: "tour.md",
    the_blocks_of_the_first_conversation_are_what_is_printed: "first-conversation.md",
    the_blocks_of_the_first_review_are_what_is_printed: "first-review.md",
    the_blocks_of_review_are_what_is_printed: "review.md",
    the_blocks_of_tries_are_what_is_printed: "tries.md",
    the_blocks_of_undo_are_what_is_printed: "undo.md",
    the_blocks_of_sessions_are_what_is_printed: "sessions.md",
    the_blocks_of_headless_are_what_is_printed: "headless.md",
    the_blocks_of_transactions_are_what_is_printed: "transactions.md",
    the_blocks_of_modes_are_what_is_printed: "modes.md",
    the_blocks_of_run_are_what_is_printed: "run.md",
    the_blocks_of_instructions_are_what_is_printed: "instructions.md",
    the_blocks_of_skills_are_what_is_printed: "skills.md",
    the_blocks_of_own_commands_are_what_is_printed: "own-commands.md",
    the_blocks_of_servers_are_what_is_printed: "mcp-servers.md",
    the_blocks_of_checks_are_what_is_printed: "checks.md",
    the_blocks_of_run_presets_are_what_is_printed: "run-presets.md",
}

/// A block with commands that nothing runs goes stale without a word.
#[test]
fn every_page_with_blocks_to_run_is_in_the_list() {
    let dir = docs().join("guide");
    let has_blocks = |path: &Path| {
        std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("<!-- run")))
    };
    let pages = std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    let found: Vec<String> = pages
        .filter(|path| has_blocks(path))
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| !PAGES.contains(&name.as_str()))
        .collect();
    assert!(found.is_empty() && PAGES.len() > 10, "{found:?}");
}
