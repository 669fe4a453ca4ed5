//! Files that a program runs or obeys by itself: a write to such a file is equivalent to running it.
//!
//! The list is data: `tables/runs_later.toml` names the files, the program and the reason, and persons can add
//! patterns. Everything that asks, marks or refuses because of a path uses this module, so that all user interfaces
//! agree. Only names are checked here; the workspace examines what a change does to a file.

mod beginning;
mod case_fold;
mod class;
mod path_patterns;
mod program_dirs;
mod table;

pub use beginning::LeadingPath;
use case_fold::folded;
pub(super) use case_fold::folded_name;
pub use class::{PathClass, Runner};
pub use path_patterns::PathPatternError;
pub use program_dirs::ProgramDirs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use table::ProtectedTable;

/// The table with the person's additions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProtectedPaths(Arc<ProtectedLists>);

#[derive(Debug)]
struct ProtectedLists {
    own: Option<ProtectedTable>,
    /// Of the program whose changes are looked at.
    program: Option<ProtectedTable>,
    programs: ProgramDirs,
}

static BUILT_IN: LazyLock<ProtectedTable> =
    LazyLock::new(|| ProtectedTable::built_in(include_str!("../tables/runs_later.toml")));

impl Default for ProtectedPaths {
    fn default() -> ProtectedPaths {
        ProtectedPaths(Arc::new(ProtectedLists {
            own: None,
            program: None,
            programs: ProgramDirs::default(),
        }))
    }
}

impl ProtectedPaths {
    /// The table with a person's own patterns, written as in the table: `deploy/*.sh`, `ops/`.
    pub fn with(own: &[String], programs: ProgramDirs) -> Result<ProtectedPaths, PathPatternError> {
        let own = if own.is_empty() { None } else { Some(ProtectedTable::of_person(own)?) };
        Ok(ProtectedPaths(Arc::new(ProtectedLists { own, program: None, programs })))
    }

    /// The same with files that a program of the person's own reads or runs when it starts.
    pub fn with_program(
        own: &[String],
        programs: ProgramDirs,
        (program, paths): (&str, &[String]),
    ) -> Result<ProtectedPaths, PathPatternError> {
        let own = if own.is_empty() { None } else { Some(ProtectedTable::of_person(own)?) };
        let program = Some(ProtectedTable::of_program(program, paths)?);
        Ok(ProtectedPaths(Arc::new(ProtectedLists { own, program, programs })))
    }

    /// The class of a path relative to its root. The path counts as a file, a link or a removed file: a directory by
    /// itself runs nothing.
    pub fn class_of(&self, relative: &Path) -> PathClass {
        let path = folded(relative);
        let own = self.0.own.as_ref().map(|own| own.class_of(&path));
        match own {
            Some(class @ PathClass::RunsLater(_)) => class,
            _ => match BUILT_IN.class_of(&path) {
                class @ PathClass::RunsLater(_) => class,
                class => self.0.program.as_ref().map_or(class, |program| program.class_of(&path)),
            },
        }
    }

    /// The class of an absolute path by what variables of the person's shell name: the directory of settings, and files that
    /// programs run when they start.
    pub fn class_by_variables(&self, path: &Path) -> PathClass {
        if let Some(runner) = self.0.programs.starts(path) {
            return PathClass::RunsLater(runner);
        }
        self.0.programs.below_config(path).map_or(PathClass::Ordinary, |path| self.class_of(&path))
    }

    /// Who runs an executable at this absolute path, because it is in a directory of `PATH`.
    pub fn on_path(&self, path: &Path) -> Option<Runner> {
        self.0.programs.runs(path)
    }

    /// True where a link at this absolute path decides which programs the shell runs: the path is a directory of `PATH`, or
    /// is above one.
    pub fn is_way_to_programs(&self, path: &Path) -> bool {
        self.0.programs.leads(path)
    }

    /// The folded first components of patterns with several components: a link with such a name leads to protected
    /// files.
    pub fn leads(&self, name: &std::ffi::OsStr) -> bool {
        let name = folded(Path::new(name));
        BUILT_IN.leads(&name) || self.0.own.as_ref().is_some_and(|own| own.leads(&name))
    }

    /// What a link at this path, relative to its root, would be the beginning of. A hidden beginning comes first.
    pub fn beginning_at(&self, relative: &Path) -> Option<LeadingPath> {
        let path = folded(relative);
        let tables = [self.0.own.as_ref(), Some(&*BUILT_IN), self.0.program.as_ref()];
        let mut found = tables.into_iter().flatten().filter_map(|table| table.beginning_at(&path));
        let first = found.next()?;
        if first.is_hidden { Some(first) } else { Some(found.find(|other| other.is_hidden).unwrap_or(first)) }
    }
}

/// True for a path, relative to its root, that some program runs or obeys by itself, by the built-in table.
pub fn is_protected(relative: &Path) -> bool {
    ProtectedPaths::default().class_of(relative).asks()
}

pub(super) fn read_built_in() {
    LazyLock::force(&BUILT_IN);
}

/// The built-in table as Markdown, for the guide: one row for each program.
pub fn protected_paths_table() -> String {
    BUILT_IN.as_markdown()
}

#[cfg(test)]
#[path = "protected_tests.rs"]
mod tests;
