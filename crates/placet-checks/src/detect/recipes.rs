//! Proposals from the recipes of make and just: those whose names say that they check.

use super::proposal::{ProjectFiles, ProposedCheck};

const NAMES: [&str; 5] = ["check", "lint", "typecheck", "test", "tests"];

pub(super) fn makefile(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    let found = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find_map(|name| files.read(name).map(|text| (name, text)));
    found.map_or(Vec::new(), |(name, text)| recipes(&text, "make", name))
}

pub(super) fn justfile(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    let found = ["justfile", "Justfile", ".justfile"]
        .into_iter()
        .find_map(|name| files.read(name).map(|text| (name, text)));
    found.map_or(Vec::new(), |(name, text)| recipes(&text, "just", name))
}

/// Lines such as `test: build` or `test *args:`. A recipe of just with an argument that has no default cannot run alone.
fn recipes(text: &str, program: &str, from: &str) -> Vec<ProposedCheck> {
    let heads = text.lines().filter(|line| !line.starts_with([' ', '\t', '#'])).filter_map(|line| {
        let (head, rest) = line.split_once(':')?;
        // `name := value` and `name ::= value` are assignments.
        if rest.starts_with(['=', ':']) {
            return None;
        }
        let mut words = head.trim_start_matches('@').split_whitespace();
        let name = words.next()?;
        let can_run = words.all(|word| program == "make" || word.contains('=') || word.starts_with('*'));
        can_run.then_some(name)
    });
    let heads: Vec<&str> = heads.collect();
    let found = NAMES.iter().filter(|name| heads.contains(name));
    found
        .map(|name| {
            ProposedCheck::new(&format!("{program}-{name}"), &format!("{program} {name}"), "text", from)
        })
        .collect()
}
