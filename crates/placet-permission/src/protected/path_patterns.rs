//! Patterns of paths, in the form that is quickest to make and to compare.
//!
//! Nearly all of the built-in patterns are plain paths or names with one `*`. To compile a regular expression for each of
//! a thousand takes longer than the shortest commands, and every process that decides about a path needs them.

use super::case_fold::folded_name;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::HashMap;
use thiserror::Error;

/// A pattern that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid path pattern `{pattern}`: {reason}")]
pub struct PathPatternError {
    pub pattern: String,
    pub reason: String,
}

/// Patterns of paths at any depth. A pattern of a directory also matches everything below it.
#[derive(Debug, Default)]
pub(super) struct PathPatterns {
    /// Without a special character: whole paths, each with the numbers of its patterns.
    plain: HashMap<String, Vec<usize>>,
    /// The most parts of a path in `plain`.
    longest: usize,
    /// One name with one `*`: what is before it and after it.
    names: Vec<(String, String, usize)>,
    /// All others, and the number of each.
    globs: GlobSet,
    glob_numbers: Vec<usize>,
    /// For each pattern.
    is_directory: Vec<bool>,
}

impl PathPatterns {
    pub(super) fn new<'p>(
        patterns: impl Iterator<Item = &'p String>,
    ) -> Result<PathPatterns, PathPatternError> {
        let mut found = PathPatterns::default();
        let mut globs = GlobSetBuilder::new();
        for (number, pattern) in patterns.enumerate() {
            found.is_directory.push(pattern.ends_with('/'));
            let path = folded_pattern(pattern)?;
            if !path.contains(SPECIAL) {
                found.longest = found.longest.max(path.split('/').count());
                found.plain.entry(path).or_default().push(number);
                continue;
            }
            match path.split_once('*') {
                Some((before, after))
                    if !before.contains(BEYOND_A_NAME) && !after.contains(BEYOND_A_NAME) =>
                {
                    found.names.push((before.into(), after.into(), number));
                }
                _ => {
                    globs.add(glob(pattern)?);
                    found.glob_numbers.push(number);
                }
            }
        }
        found.globs = globs.build().map_err(|e| fault("", &e.to_string()))?;
        Ok(found)
    }

    /// The numbers of the patterns that match a folded path, perhaps more than once.
    pub(super) fn matches(&self, path: &str) -> Vec<usize> {
        let mut found = Vec::new();
        self.add_matches(path, |_| true, &mut found);
        for above in path.match_indices('/').filter_map(|(end, _)| path.get(..end)) {
            self.add_matches(above, |number| self.is_directory.get(number) == Some(&true), &mut found);
        }
        found
    }

    fn add_matches(&self, path: &str, counts: impl Fn(usize) -> bool, found: &mut Vec<usize>) {
        let ends = path.rmatch_indices('/').filter_map(|(at, _)| path.get(at + 1..)).take(self.longest);
        for numbers in ends.chain([path]).filter_map(|end| self.plain.get(end)) {
            found.extend(numbers.iter().copied().filter(|number| counts(*number)));
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_named =
            |before: &str, after: &str| name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after));
        let named = self.names.iter().filter(|(before, after, _)| is_named(before, after));
        found.extend(named.map(|(.., number)| *number).filter(|number| counts(*number)));
        let globs = self.globs.matches(path).into_iter().filter_map(|at| self.glob_numbers.get(at).copied());
        found.extend(globs.filter(|number| counts(*number)));
    }
}

/// What means something other than itself in a pattern.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
/// What a pattern of one name with one `*` has not got besides it.
const BEYOND_A_NAME: [char; 8] = ['/', '*', '?', '[', ']', '{', '}', '\\'];

/// The parts of a pattern, folded and joined.
fn folded_pattern(pattern: &str) -> Result<String, PathPatternError> {
    let folded: Vec<String> = pattern.trim_matches('/').split('/').map(folded_name).collect();
    if folded.iter().any(|part| matches!(part.as_str(), "" | "." | "..")) {
        return Err(fault(pattern, "it has an empty part, `.` or `..`"));
    }
    Ok(folded.join("/"))
}

pub(super) fn fault(pattern: &str, reason: &str) -> PathPatternError {
    PathPatternError { pattern: pattern.into(), reason: reason.into() }
}

/// `a/b` at any depth.
pub(super) fn glob(pattern: &str) -> Result<globset::Glob, PathPatternError> {
    let text = format!("**/{}", folded_pattern(pattern)?);
    let built = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
    built.map_err(|e| fault(pattern, &e.kind().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_globs_do_and_those_of_directories_with_all_below_them() {
        let text = include_str!("../tables/runs_later.toml");
        let file: toml::Table = toml::from_str(text).unwrap();
        let paths = file["program"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|program| program["paths"].as_array().unwrap());
        let mut patterns: Vec<String> = paths.map(|path| path.as_str().unwrap().to_owned()).collect();
        // What only persons write.
        patterns.extend(
            ["a?c", "*", "[ab]*/", "x{1,2}/y", "a**b", "*x*", "a\\*b", "d*/e", "**/z/", "]"]
                .map(String::from),
        );
        let ours = PathPatterns::new(patterns.iter()).unwrap();
        let mut builder = GlobSetBuilder::new();
        let mut owners = Vec::new();
        for (at, pattern) in patterns.iter().enumerate() {
            let plain = glob(pattern).unwrap();
            let below = format!("{}/**", plain.glob());
            builder.add(plain);
            owners.push(at);
            if pattern.ends_with('/') {
                builder.add(GlobBuilder::new(&below).literal_separator(true).build().unwrap());
                owners.push(at);
            }
        }
        let whole = builder.build().unwrap();
        for pattern in &patterns {
            let name = pattern.trim_end_matches('/').replace('*', "x").to_lowercase();
            for path in [
                "N",
                "a/N",
                "N/b",
                "a/b/N/c/d",
                "aN",
                "Nb",
                "a/Nb/c",
                "aN/b",
                "N/N",
                "x/N/",
                "/N",
                "N/N/N/N/N/N",
            ] {
                let path = path.replace('N', &name);
                let sorted = |mut found: Vec<usize>| {
                    found.sort_unstable();
                    found.dedup();
                    found
                };
                let theirs = whole.matches(&path).into_iter().map(|at| owners[at]).collect();
                assert_eq!(sorted(ours.matches(&path)), sorted(theirs), "{path}");
            }
        }
    }
}
