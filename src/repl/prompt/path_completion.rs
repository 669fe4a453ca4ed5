//! Paths for `@` completion: fuzzy, by the ignore rules, bounded in time.

use ignore::WalkBuilder;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A list older than this is made again.
const FRESH: Duration = Duration::from_secs(3);
/// No key waits longer than this for the list.
const MOST_TIME: Duration = Duration::from_millis(250);
const MOST_FILES: usize = 200_000;

pub(super) struct PathCompletions {
    root: PathBuf,
    list: Mutex<Option<(Instant, Vec<String>)>>,
}

impl PathCompletions {
    pub(super) fn new(root: &Path) -> PathCompletions {
        PathCompletions { root: root.into(), list: Mutex::new(None) }
    }

    /// The best `most` paths for `typed`, best first; a path that is typed out is found even if it is ignored.
    pub(super) fn matching(&self, typed: &str, most: usize) -> Vec<String> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = list.as_ref().is_none_or(|(at, _)| at.elapsed() > FRESH);
        if stale {
            *list = Some((Instant::now(), self.walk()));
        }
        let paths = list.as_ref().map_or(&[][..], |(_, paths)| paths.as_slice());
        let mut found = rank(paths, typed, most);
        for path in self.typed_out(typed) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }

    fn walk(&self) -> Vec<String> {
        let started = Instant::now();
        let mut out = Vec::new();
        // `require_git(false)`: a `.gitignore` counts outside of a repository, too.
        for entry in WalkBuilder::new(&self.root).require_git(false).build() {
            if out.len() >= MOST_FILES || started.elapsed() > MOST_TIME {
                break;
            }
            let Ok(entry) = entry else { continue };
            let Ok(relative) = entry.path().strip_prefix(&self.root) else { continue };
            // A name that is no text cannot be typed.
            let Some(text) = relative.to_str().filter(|t| !t.is_empty() && !t.contains(char::is_control))
            else {
                continue;
            };
            let slash = if entry.file_type().is_some_and(|t| t.is_dir()) { "/" } else { "" };
            out.push(format!("{text}{slash}"));
        }
        out.sort();
        out
    }

    /// Entries of the typed directory whose names begin as typed, ignored ones included.
    pub(super) fn typed_out(&self, typed: &str) -> Vec<String> {
        let (dir, start) = typed.rsplit_once('/').map_or(("", typed), |(d, s)| (d, s));
        let base = self.root.join(dir);
        let Ok(entries) = std::fs::read_dir(&base) else { return Vec::new() };
        let mut out: Vec<String> = entries
            .flatten()
            .take(2000)
            .filter_map(|e| {
                let name = e.file_name().into_string().ok()?;
                let slash = if e.path().is_dir() { "/" } else { "" };
                let full =
                    if dir.is_empty() { format!("{name}{slash}") } else { format!("{dir}/{name}{slash}") };
                (!start.is_empty() && name.starts_with(start)).then_some(full)
            })
            .collect();
        out.sort();
        out
    }
}

fn rank(paths: &[String], typed: &str, most: usize) -> Vec<String> {
    if typed.is_empty() {
        return paths
            .iter()
            .filter(|p| p.matches('/').count() <= usize::from(p.ends_with('/')))
            .take(most)
            .cloned()
            .collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, &String)> = paths
        .iter()
        .filter_map(|p| pattern.score(Utf32Str::new(p, &mut buffer), &mut matcher).map(|score| (score, p)))
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(b.1)));
    scored.into_iter().take(most).map(|(_, p)| p.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_their_letters_and_ignored_ones_by_typing_them_out() {
        let dir = tempfile::TempDir::new().unwrap();
        for path in ["src/main.rs", "src/text/width.rs", "target/debug/out.txt", "README.md"] {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), "").unwrap();
        }
        std::fs::write(dir.path().join(".gitignore"), "target/\n").unwrap();
        let files = PathCompletions::new(dir.path());
        assert_eq!(files.matching("wid", 5).first().map(String::as_str), Some("src/text/width.rs"));
        assert_eq!(files.matching("main", 5), ["src/main.rs"]);
        assert_eq!(files.matching("", 9), ["README.md", "src/"]);
        assert!(files.matching("out", 5).is_empty());
        assert_eq!(files.matching("target/debug/o", 5), ["target/debug/out.txt"]);
    }
}
