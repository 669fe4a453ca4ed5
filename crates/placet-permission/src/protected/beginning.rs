//! The beginnings of patterns with several parts: `.cargo` of `.cargo/config.toml`.
//!
//! A link with such a path gives protected names to files that have plain names: after `.cargo -> real`, Cargo obeys
//! `real/config.toml`. Files in `.git` are not meant: what a change does to a repository is examined elsewhere.

use super::case_fold::folded_name;
use globset::GlobMatcher;
use std::collections::{BTreeMap, BTreeSet};

/// The longest beginning that is looked for, in parts.
const LONGEST: usize = 4;

/// The path of a link is the beginning of protected paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadingPath {
    /// The program, if all files below are of one program.
    pub by: Option<String>,
    /// The beginning, folded.
    pub beginning: String,
    /// It begins with a dot: few links have such a name, and links named `lib` or `etc` are everywhere.
    pub is_hidden: bool,
}

#[derive(Clone, Debug, Default)]
struct Beginning {
    programs: BTreeSet<String>,
    /// Protected also in directories that package managers fill.
    is_anywhere: bool,
}

#[derive(Debug, Default)]
pub(super) struct PatternBeginnings {
    plain: BTreeMap<String, Beginning>,
    /// Those with a `*`, which only persons add.
    globs: Vec<(GlobMatcher, String, Beginning)>,
}

impl PatternBeginnings {
    /// `glob` compiles a beginning with a `*` in it; the whole pattern was compiled already.
    pub(super) fn add(
        &mut self,
        pattern: &str,
        (program, is_anywhere): (&str, bool),
        glob: &dyn Fn(&str) -> Option<GlobMatcher>,
    ) {
        let parts: Vec<String> = pattern.trim_matches('/').split('/').map(folded_name).collect();
        if parts.first().is_some_and(|first| first == ".git") {
            return;
        }
        for count in 1..parts.len() {
            let Some(beginning) = parts.get(..count).map(|parts| parts.join("/")) else { continue };
            let found = if beginning.contains(['*', '?', '[', '{', '\\']) {
                let Some(matcher) = glob(&beginning) else { continue };
                self.globs.push((matcher, beginning, Beginning::default()));
                self.globs.last_mut().map(|(_, _, found)| found)
            } else {
                Some(self.plain.entry(beginning).or_default())
            };
            if let Some(found) = found {
                found.programs.insert(program.to_string());
                found.is_anywhere |= is_anywhere;
            }
        }
    }

    /// The beginning with which a folded path ends, if there is one; a hidden one first. `is_filled` is true in a
    /// directory that a package manager fills.
    pub(super) fn of(&self, path: &str, is_filled: bool) -> Option<LeadingPath> {
        let ends = path.rmatch_indices('/').map(|(at, _)| path.get(at + 1..).unwrap_or_default());
        let ends = ends.chain([path]).take(LONGEST);
        let plain = ends.filter_map(|end| Some((end, self.plain.get(end)?)));
        let globs = self.globs.iter().filter(|(glob, ..)| glob.is_match(path));
        let globs = globs.map(|(_, beginning, found)| (beginning.as_str(), found));
        let mut found: Vec<LeadingPath> = plain
            .chain(globs)
            .filter(|(_, found)| found.is_anywhere || !is_filled)
            .map(|(beginning, found)| LeadingPath {
                by: found.programs.first().filter(|_| found.programs.len() == 1).cloned(),
                beginning: beginning.to_string(),
                is_hidden: beginning.starts_with('.'),
            })
            .collect();
        found.sort_by_key(|leading| !leading.is_hidden);
        found.into_iter().next()
    }
}
