//! The table: patterns of paths, each with the program that runs the file.

use super::beginning::{LeadingPath, PatternBeginnings};
use super::case_fold::folded_name;
use super::class::{PathClass, Runner};
use super::path_patterns::{PathPatternError, PathPatterns, fault, glob};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProtectedClass {
    #[default]
    Later,
    Repository,
    Build,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProtectedScope {
    #[default]
    Anywhere,
    Project,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtectedProgram {
    group: String,
    by: String,
    why: String,
    paths: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    class: ProtectedClass,
    #[serde(default, rename = "where")]
    place: ProtectedScope,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtectedTableFile {
    filled: Vec<String>,
    program: Vec<ProtectedProgram>,
}

/// Patterns, compiled; `owners` says to which program each belongs.
#[derive(Debug, Default)]
pub(super) struct ProtectedTable {
    programs: Vec<ProtectedProgram>,
    patterns: PathPatterns,
    owners: Vec<usize>,
    filled: PathPatterns,
    leading: BTreeSet<String>,
    beginnings: PatternBeginnings,
}

impl ProtectedTable {
    /// The built-in table. A test parses it, and so a mistake in it is not released. If there is one nevertheless,
    /// everything is protected.
    pub(super) fn built_in(text: &str) -> ProtectedTable {
        let read = || -> Result<ProtectedTable, PathPatternError> {
            let file: ProtectedTableFile =
                toml::from_str(text).map_err(|e| fault("runs_later.toml", &e.to_string()))?;
            ProtectedTable::new(file)
        };
        read().unwrap_or_else(|e| {
            let broken = format!("cannot read the list of protected paths: {e}");
            let all = ProtectedProgram {
                group: "unknown".into(),
                by: "any program".into(),
                why: broken,
                paths: vec!["*".into()],
                except: Vec::new(),
                class: ProtectedClass::Later,
                place: ProtectedScope::Anywhere,
            };
            ProtectedTable::new(ProtectedTableFile { filled: Vec::new(), program: vec![all] })
                .unwrap_or_default()
        })
    }

    pub(super) fn of_person(paths: &[String]) -> Result<ProtectedTable, PathPatternError> {
        let own = ProtectedProgram {
            group: "your settings".into(),
            by: "your settings".into(),
            why: "your settings list it as protected".into(),
            paths: paths.to_vec(),
            except: Vec::new(),
            class: ProtectedClass::Later,
            place: ProtectedScope::Anywhere,
        };
        ProtectedTable::new(ProtectedTableFile { filled: Vec::new(), program: vec![own] })
    }

    /// Files of the home directory that a program of the person's own reads or runs when it starts.
    pub(super) fn of_program(program: &str, paths: &[String]) -> Result<ProtectedTable, PathPatternError> {
        let own = ProtectedProgram {
            group: "presets of placet run".into(),
            by: program.into(),
            why: format!("{program} reads it when it starts, and it can make {program} run a program"),
            paths: paths.to_vec(),
            except: Vec::new(),
            class: ProtectedClass::Later,
            place: ProtectedScope::Anywhere,
        };
        ProtectedTable::new(ProtectedTableFile { filled: Vec::new(), program: vec![own] })
    }

    fn new(file: ProtectedTableFile) -> Result<ProtectedTable, PathPatternError> {
        let patterns = PathPatterns::new(file.program.iter().flat_map(|program| &program.paths))?;
        let filled = PathPatterns::new(file.filled.iter())?;
        let mut table = ProtectedTable { patterns, filled, ..ProtectedTable::default() };
        for (at, program) in file.program.iter().enumerate() {
            for pattern in &program.paths {
                table.owners.push(at);
                if let Some((first, _)) = pattern.split_once('/') {
                    table.leading.insert(folded_name(first));
                }
                table.leading.insert(folded_name(pattern.trim_end_matches('/')));
                if program.class == ProtectedClass::Later {
                    let is_anywhere = program.place == ProtectedScope::Anywhere;
                    let compiled = |beginning: &str| Some(glob(beginning).ok()?.compile_matcher());
                    table.beginnings.add(pattern, (&program.by, is_anywhere), &compiled);
                }
            }
        }
        table.programs = file.program;
        Ok(table)
    }

    /// The class of a folded path: the strictest first, then the order of the table.
    pub(super) fn class_of(&self, path: &str) -> PathClass {
        let matches = self.patterns.matches(path);
        // Nearly all paths match nothing.
        if matches.is_empty() {
            return PathClass::Ordinary;
        }
        let filled = !self.filled.matches(path).is_empty();
        let name = path.rsplit('/').next().unwrap_or(path);
        let owners = matches.into_iter().filter_map(|at| self.owners.get(at).copied());
        let programs = owners.filter_map(|at| Some((at, self.programs.get(at)?)));
        let counts = |program: &ProtectedProgram| {
            let of_a_package = filled && program.place == ProtectedScope::Project;
            let excepted = program.except.iter().any(|end| name.ends_with(end.trim_start_matches('*')));
            !of_a_package && !excepted
        };
        let best = programs.filter(|(_, p)| counts(p)).min_by_key(|(at, p)| (p.class, *at));
        let Some((_, program)) = best else { return PathClass::Ordinary };
        let runner = Runner { by: program.by.clone(), why: program.why.clone() };
        match program.class {
            ProtectedClass::Later => PathClass::RunsLater(runner),
            ProtectedClass::Repository => PathClass::Repository(runner),
            ProtectedClass::Build => PathClass::RunsWithBuild(runner),
        }
    }

    pub(super) fn leads(&self, name: &str) -> bool {
        self.leading.contains(name)
    }

    /// The beginning of protected paths with which a folded path ends.
    pub(super) fn beginning_at(&self, path: &str) -> Option<LeadingPath> {
        self.beginnings.of(path, !self.filled.matches(path).is_empty())
    }

    pub(super) fn as_markdown(&self) -> String {
        let mut text = String::new();
        for (class, title) in [
            (ProtectedClass::Later, "Runs later: marked `!`, needs its own approval"),
            (ProtectedClass::Repository, "Repositories: applied as a whole"),
            (ProtectedClass::Build, "Runs with the next build: marked, applied like any source file"),
        ] {
            text.push_str(&format!("\n## {title}\n\n| what | program | why | paths |\n|---|---|---|---|\n"));
            for program in self.programs.iter().filter(|p| p.class == class) {
                let paths: Vec<String> = program.paths.iter().map(|path| format!("`{path}`")).collect();
                let mut paths = paths.join(", ");
                if !program.except.is_empty() {
                    let names: Vec<String> = program.except.iter().map(|name| format!("`{name}`")).collect();
                    paths.push_str(&format!("; not {}", names.join(", ")));
                }
                let star = if program.place == ProtectedScope::Project { " \\*" } else { "" };
                text.push_str(&format!(
                    "| {} | {}{star} | {} | {paths} |\n",
                    program.group, program.by, program.why
                ));
            }
        }
        text
    }

    /// Every pattern with its program and its class, for the tests.
    #[cfg(test)]
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.programs.iter().flat_map(|p| {
            p.paths.iter().map(move |path| (path.as_str(), p.by.as_str(), p.class == ProtectedClass::Later))
        })
    }
}
