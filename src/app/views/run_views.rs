//! Views of `placet run`: their names, and what a program may see in addition to what every command sees.
//!
//! A view has the name of its program and its directory, so that the next run of the program continues with what is
//! pending. While a process uses the view, another run gets a view of its own.

use crate::app::App;
use crate::app::program_access::ProgramAccess;
use crate::app::views::is_locked;
use crate::permission::{PathPatternError, ProtectedPaths};
use crate::session::Scratchpads;
use crate::tools::{CommandSettings, JobRegistry, ToolContext};
use crate::workspace::{ChangeCount, TakenOverChanges, View, ViewPaths, keeps_pending, roots_of, views_in};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How many runs of one program in one directory can have a view at the same time.
const MOST_VIEWS: usize = 100;

/// Whether a run continues with what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunViewChoice {
    Continue,
    Fresh,
}

/// The names in a directory: none where there is no such directory, `None` where it cannot be listed.
fn names_in(dir: &Path) -> Option<HashSet<OsString>> {
    match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.file_name()).ok()).collect(),
        Err(e) => (e.kind() == io::ErrorKind::NotFound).then(HashSet::new),
    }
}

impl App {
    /// The name of the view for a run of `label` in this directory. `None` when too many views are in use.
    pub fn run_view(&self, label: &str, choice: RunViewChoice) -> Option<String> {
        let place = blake3::hash(self.cwd().as_os_str().as_encoded_bytes()).to_hex();
        let place: String = place.chars().take(8).collect();
        let names = (1..=MOST_VIEWS).map(|number| match number {
            1 => format!("run-{label}-{place}"),
            _ => format!("run-{label}-{place}-{number}"),
        });
        let ViewPaths { view: first, .. } = self.places("x");
        let views = first.parent().unwrap_or(&first);
        let known = names_in(views);
        let usable = |name: String| {
            let view = views.join(&name);
            // Most names were never used.
            let is_new = match &known {
                Some(known) => !known.contains(OsStr::new(&name)),
                None => std::fs::symlink_metadata(&view).is_err_and(|e| e.kind() == io::ErrorKind::NotFound),
            };
            let is_free = || !is_locked(&view.join("lock"));
            let is_usable =
                is_new || is_free() && (choice == RunViewChoice::Continue || !keeps_pending(&view));
            is_usable.then_some((name, is_new))
        };
        let mut usable = names.filter_map(usable);
        // The first with something pending, if one of them has: the first may have been applied since.
        match choice {
            RunViewChoice::Fresh => usable.next().map(|(name, _)| name),
            RunViewChoice::Continue => {
                let usable: Vec<(String, bool)> = usable.collect();
                let pending =
                    usable.iter().find(|(name, is_new)| !is_new && keeps_pending(&views.join(name)));
                pending.or(usable.first()).map(|(name, _)| name.clone())
            }
        }
    }

    /// The environment variables with keys of placet's own providers, which no command gets.
    pub fn own_key_variables(&self) -> Vec<String> {
        crate::app::withheld(&self.config)
    }

    /// What a program works with: the view of this name, and the sandbox with what the program may see.
    pub fn program_env(&self, name: &str, access: &ProgramAccess) -> ToolContext {
        let scratchpads = Arc::new(Scratchpads::in_memory());
        let env = self.env_with(JobRegistry::default(), scratchpads, (name, access));
        let ToolContext { commands, .. } = env;
        let is_own = |variable: &String| access.variables.contains(variable);
        let withheld = commands.withheld.iter().filter(|variable| !is_own(variable)).cloned().collect();
        ToolContext { commands: CommandSettings { withheld, ..commands }, ..env }
    }

    /// The view of the changes in the home directory of a run. `later` are patterns of files that `program` reads or runs
    /// when it starts.
    pub fn home_changes(
        &self,
        view: &View,
        home: &Path,
        (program, later): (&str, &[String]),
    ) -> Result<View, PathPatternError> {
        let changes = view.home_changes(home);
        let own: Vec<String> = self.config.settings().guard.permission_protected.to_vec();
        let programs = crate::app::interceptors::program_dirs();
        changes.guard(ProtectedPaths::with_program(&own, programs, (program, later))?, self.brake());
        Ok(changes)
    }

    /// What runs of this directory left whose placet was killed becomes pending: for each of them how many changes there
    /// are, or why they cannot be read. A run whose placet is alive is left alone.
    pub fn take_over_killed_runs(&self) -> Vec<(String, io::Result<ChangeCount>)> {
        let mut found = Vec::new();
        for place in views_in(&self.views_places()).0 {
            let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.starts_with("run-") || is_locked(&place.join("lock")) {
                continue;
            }
            let Ok(roots) = roots_of(&place) else { continue };
            if roots.first().is_none_or(|first| first != self.cwd()) {
                continue;
            }
            let view = self.guarded(View::at(self.places(&name), &roots));
            let home = self.home_changes_of(&name).and_then(|home| home.roots().first().cloned());
            match view.take_over_killed(home.as_deref(), &|path| self.workspace.is_hidden(path)) {
                Ok(count) if count.total() == 0 => {}
                taken => found.push((name, taken)),
            }
        }
        found
    }

    /// The same for the background commands of one conversation that resumes: its first command would remove what they left.
    /// A view that another placet uses is left alone.
    pub fn take_over_jobs_of(&self, session: &str) -> io::Result<TakenOverChanges> {
        let places = self.places(session);
        let Ok(roots) = roots_of(&places.view) else { return Ok(TakenOverChanges::default()) };
        if is_locked(&places.view.join("lock")) {
            return Ok(TakenOverChanges::default());
        }
        let view = self.guarded(View::at(places, &roots));
        view.take_over_killed_jobs(&|path| self.workspace.is_hidden(path))
    }

    /// What background commands of sessions of this directory wrote whose placet was killed becomes pending: for each
    /// session what became of that, or why it cannot be read.
    pub fn take_over_killed_jobs(&self) -> Vec<(String, io::Result<TakenOverChanges>)> {
        let mut found = Vec::new();
        for place in views_in(&self.views_places()).0 {
            let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_here =
                || roots_of(&place).is_ok_and(|roots| roots.first().is_some_and(|r| r == self.cwd()));
            if name.starts_with("run-") || !is_here() || is_locked(&place.join("lock")) {
                continue;
            }
            let Ok(roots) = roots_of(&place) else { continue };
            let view = self.guarded(View::at(self.places(&name), &roots));
            match view.take_over_killed_jobs(&|path| self.workspace.is_hidden(path)) {
                Ok(taken) if taken.is_empty() => {}
                taken => found.push((name, taken)),
            }
        }
        found
    }

    /// The changes in the home directory of the run with this view, where there are any or were, and a person is asked about
    /// them.
    pub(in crate::app) fn home_changes_of(&self, name: &str) -> Option<View> {
        let home = self.workspace.home()?.canonicalize().ok()?;
        let places = self.places(name);
        let mut bases = places.layers.iter().map(|dir| dir.join(name)).filter(|_| name.starts_with("run-"));
        let base = bases.find(|base| base.join("home").is_dir())?;
        if !View::asks_about_home(&places.view) {
            return None;
        }
        let places = ViewPaths { view: base.join("home"), layers: vec![base], ..places };
        Some(self.guarded(View::at(places, &[home])))
    }
}
