//! The workspace: the directories in which the agent may work, and what the agent has seen of them.
//!
//! Every file that a tool opens is opened here. A path is resolved once, including links. From then on placet opens
//! exactly that chain of directories and follows no link: placet touches what was approved, even when another process
//! replaces a directory by a link in the meantime.

mod apply;
mod changes;
mod error;
mod files;
mod hash;
mod hidden_paths;
mod hidden_pattern;
mod history;
mod hold_point;
mod mask_index;
mod repository;
mod view;

use hidden_pattern::HiddenPattern;

pub use hash::Hash;

pub use apply::{ApplyError, ApplyPhase, ApplyProgress, RecoveryReport, recover};
pub use changes::batch::FileRewrite;
pub use changes::change_count::{ChangeCount, line_words, repositories_of};
pub use changes::change_set::{ChangeKind, ChangeSet, FileChange};
pub use changes::classify::{
    ChangeApproval, ChangeClass, ChangeClasses, LargeLoss, PermittedChanges, TreeGroup, WaitingRepository,
};
pub use changes::listing::{ListedChange, care_first, care_first_order, leave_out_waiting, removed_words};
pub use changes::patch_export::{PathPatch, patch, shown_patch, shown_patches, without_repositories};
pub use changes::renames::RenamedFiles;
pub use changes::rewrite_action::RewriteAction;
pub use error::{SpecialFile, WorkspaceError};
pub use files::content::file_window::{FileWindow, WINDOW_CHUNK};
pub use files::content::known_lines::{KnownLines, LineEdit, SeenLines, SeenWindow, StaleRead};
pub use files::content::ledger::{LedgerSnapshot, ReadLedger, ReadStatus};
pub use files::content::line_index::LineIndex;
pub use files::content::lines_by_turn::LinesByTurn;
pub use files::content::replacement::{Replacement, SpliceResult, without_overlaps};
pub use files::content::text_file::{EditError, TextFile};
pub use files::home::database_files::DATABASE_FILES;
pub use files::home::database_record::{RestoredDatabase, restore_databases};
pub use files::home::home_copy::AcceptBytes;
pub use files::home::keep_error::KeepError;
pub use files::home::kept_database::{DatabaseFile, database_of, is_database, keep_database};
pub use files::home::kept_file::{KeptFileStamp, keep_file};
pub use files::home::kept_path::{KeptPath, is_home_match, is_home_pattern, is_in_home_cache};
pub use files::metadata::path_state::{FileAttrs, PathState};
pub use files::metadata::shared_state::SharedState;
pub use files::opening::open::{OpenConsent, OpenedFile};
pub use files::opening::resolve::ResolvedPath;
pub use files::walking::relative_path::RelativePath;
pub use files::walking::walk::{
    DirWalk, SkippedEntries, WalkBudget, WalkDirectory, WalkEntry, WalkEntryKind, WalkFilter, WalkTimeout,
};
pub use files::writing::atomic_write::{ExpectedContent, WriteBytes, WriteOutcome};
pub use history::blame::{BlameLine, FileBlame, LineAttribution, LineStatus};
pub use history::damage::{DamageKind, DamagedPart, DamagedRecord, REPAIR_HINT};
pub use history::file_rename::FileRename;
pub use history::journal::{
    AppliedChange, Journal, JournalEntry, PassedCheck, PruneLimits, PruneReport, PruneRoots, TransactionKind,
    TransactionLabel, journals_in, prune,
};
pub use history::log_marks::LogMarks;
pub use history::objects::ObjectStore;
pub use history::origin::{ApprovedBy, ChangeOrigin, OriginGuard, OriginMark, OriginStep, WriteContext};
pub use history::program_run::ProgramRun;
pub use history::repair::{RepairOutcome, RepairReport, repair};
pub use hold_point::hold_point;
pub use repository::{
    CommitPatch, GitEvent, GitEventKind, HeadPosition, RepositoryChange, RepositoryChangeKind,
    RepositoryEvents, RepositoryFact, RepositoryRow, RepositorySet, TreeChanges, WorktreeFate, head_of,
};
pub use view::remove_dir_all as remove_tree;
pub use view::{
    ApplyOutcome, ChangeDecision, ChangeSelection, CheckView, CheckViewError, CommandEffects, CommandView,
    CommandsHeld, DecisionReport, DirectoryIdentity, DiscardBackup, DiscardRecord, DiscardedChanges,
    EffectCounts, FoundConflicts, LayerKind, LeftPending, LossLimit, MovedCause, MovedChanges, NEXT_LINES,
    OutdatedChanges, OverlayMount, PendingReason, ResolvedPart, RestoreError, RunningChanges, RunningCounts,
    RunningFileError, RunningLayer, RunningRepository, RunningSummary, SAME_LINES, SelectedPart,
    ShownChanges, StoredRoot, TakeError, TakenOverChanges, UndoPlan, View, ViewDifference, ViewPaths,
    WRITTEN_IN_PLACE, WaitingPath, WorkspaceSnapshot, contents_needed, discard_damage_at_start,
    is_relocated_in_part, keeps_pending, pending_damage, pending_damage_at_start, relocate, repository_of,
    roots_of, running_patch, stored_roots, views_in, wait_for_removals, wait_for_removals_within,
};
pub use view::{GitNotConfined, GitRunnerStart};

pub use placet_text::text::hunk::{Hunk, hunks, with_hunks};

use placet_permission::{AccessLocation, ProtectedPaths};
use placet_text::text::{NameGlob, visible};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The roots and what is hidden in them. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<WorkspaceInner>, Option<View>);

#[derive(Debug)]
struct WorkspaceInner {
    /// Canonical, in the order given; the first is the working directory.
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// Prefixes of paths that mean a root elsewhere, the longest first: `/memories/`.
    aliases: Vec<(String, PathBuf)>,
    /// Directories outside the roots that have a name of their own, and that name: see [`Workspace::name_directory`].
    named: RwLock<Vec<(String, PathBuf)>>,
    hidden: RwLock<Vec<HiddenPattern>>,
    /// What is hidden for now: see [`Workspace::set_path_filter`].
    veil: std::sync::OnceLock<PathFilter>,
    /// What is protected, if it is more than the built-in list.
    protected: std::sync::OnceLock<ProtectedPaths>,
    index: Mutex<mask_index::MaskIndex>,
}

/// Answers for a path whether it is hidden at this moment.
type PathPredicate = dyn Fn(&Path) -> bool + Send + Sync;

struct PathFilter(Box<PathPredicate>);

impl std::fmt::Debug for PathFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Veil")
    }
}

impl Workspace {
    /// A workspace of `cwd` and `extra`, which must be directories. A root may itself be reached through a link.
    pub fn new(cwd: PathBuf, extra: Vec<PathBuf>) -> Result<Workspace, WorkspaceError> {
        Workspace::with_aliases(cwd, extra, Vec::new())
    }

    /// The same with directories that are named by a prefix: a path `/memories/x` is `x` in its directory, which is a
    /// root like the others. The longest prefix counts.
    pub fn with_aliases(
        cwd: PathBuf,
        extra: Vec<PathBuf>,
        aliases: Vec<(String, PathBuf)>,
    ) -> Result<Workspace, WorkspaceError> {
        let mut roots: Vec<PathBuf> = Vec::new();
        let aliased: Vec<PathBuf> = aliases.iter().map(|(_, dir)| dir.clone()).collect();
        for path in std::iter::once(cwd).chain(extra).chain(aliased) {
            let real = std::fs::canonicalize(&path).map_err(|e| WorkspaceError::from_io(&path, e))?;
            if !real.is_dir() {
                return Err(WorkspaceError::NotDirectory(path));
            }
            if !roots.contains(&real) {
                roots.push(real);
            }
        }
        let real = |(prefix, dir): (String, PathBuf)| {
            let prefix = format!("/{}/", prefix.trim_matches('/'));
            std::fs::canonicalize(&dir)
                .map(|real| (prefix, real))
                .map_err(|e| WorkspaceError::from_io(&dir, e))
        };
        let mut aliases: Vec<(String, PathBuf)> = aliases.into_iter().map(real).collect::<Result<_, _>>()?;
        aliases.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let home = placet_config::home_dir();
        Ok(Workspace(
            Arc::new(WorkspaceInner {
                roots,
                home,
                aliases,
                named: RwLock::default(),
                hidden: RwLock::default(),
                veil: std::sync::OnceLock::new(),
                protected: std::sync::OnceLock::new(),
                index: Mutex::default(),
            }),
            None,
        ))
    }

    /// The same workspace, seen through `view`: what is pending there is what the tools read and write.
    #[must_use]
    pub fn with_view(&self, view: View) -> Workspace {
        Workspace(Arc::clone(&self.0), Some(view))
    }

    /// The same without pending changes.
    pub fn without_view(&self) -> Workspace {
        Workspace(Arc::clone(&self.0), None)
    }

    pub fn view(&self) -> Option<&View> {
        self.1.as_ref()
    }

    pub fn home(&self) -> Option<&Path> {
        self.0.home.as_deref()
    }

    /// The path on disk of the file at a canonical path, if the view has a file there.
    fn real(&self, path: &Path) -> std::io::Result<Option<PathBuf>> {
        match &self.1 {
            Some(view) => view.real(path),
            None => Ok(Some(path.to_path_buf())),
        }
    }

    /// Names in a directory, as the view has it, without hidden ones: for suggestions, at most about `most`.
    pub fn names_in(&self, dir: &Path, most: usize) -> Vec<String> {
        let dirs = match &self.1 {
            Some(view) => view.dirs(dir).unwrap_or_default(),
            None => vec![dir.to_path_buf()],
        };
        let entries = dirs.iter().flat_map(|real| std::fs::read_dir(real).into_iter().flatten().flatten());
        let names = entries.take(most).map(|e| e.file_name()).filter(|name| {
            let path = dir.join(name);
            !self.is_hidden(&path) && self.real(&path).ok().flatten().is_some()
        });
        let names: std::collections::BTreeSet<String> =
            names.map(|n| n.to_string_lossy().into_owned()).collect();
        names.into_iter().collect()
    }

    /// True for a directory, as the view has it.
    pub fn is_dir(&self, path: &Path) -> bool {
        self.real(path).ok().flatten().is_some_and(|real| real.is_dir())
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.0.roots
    }

    /// The prefixes that mean roots elsewhere, and those roots.
    pub fn aliases(&self) -> &[(String, PathBuf)] {
        &self.0.aliases
    }

    /// Names a directory outside the roots, for messages and titles: a path `x` in it is `NAME:x`. Calls cannot use the
    /// name.
    pub fn name_directory(&self, name: &str, dir: &Path) {
        let mut named = self.0.named.write().unwrap_or_else(PoisonError::into_inner);
        if !named.iter().any(|(_, known)| known == dir) {
            named.push((format!("{name}:"), dir.to_path_buf()));
        }
    }

    /// Shows paths below the home directory as `~/x` in messages and titles.
    pub fn name_home(&self) {
        let Some(home) = self.home().and_then(|home| home.canonicalize().ok()) else { return };
        if !self.roots().iter().any(|root| home.starts_with(root)) {
            self.0.named.write().unwrap_or_else(PoisonError::into_inner).push(("~/".into(), home));
        }
    }

    /// The name of a path in a mount or in a named directory, which is not its path on disk.
    pub fn own_name(&self, path: &Path) -> Option<PathBuf> {
        let of = |names: &[(String, PathBuf)]| {
            names.iter().find_map(|(prefix, dir)| {
                let mut name = OsString::from(prefix);
                name.push(path.strip_prefix(dir).ok()?);
                Some(name.into())
            })
        };
        let is_inside = || self.roots().iter().any(|root| path.starts_with(root));
        of(&self.0.aliases).or_else(|| {
            let named = self.0.named.read().unwrap_or_else(PoisonError::into_inner);
            // The home directory has a name, and a root may be below it.
            if named.is_empty() || is_inside() { None } else { of(&named) }
        })
    }

    /// Where relative paths begin and commands run.
    pub fn cwd(&self) -> &Path {
        self.0.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Hides what matches any of `globs` from every tool, replacing what was hidden before: opening it fails,
    /// walks leave it out and count it. A pattern without a slash names files and directories at any depth.
    pub fn set_hidden(&self, globs: &[String]) -> Result<(), WorkspaceError> {
        let mut hidden = Vec::new();
        for raw in globs {
            let plain = raw.strip_suffix("/**").unwrap_or(raw);
            // A name beyond ASCII has several forms, which a glob compares.
            let is_plain = plain.is_ascii() && !plain.contains(['*', '?', '[', ']', '{', '}', '\\']);
            if plain.starts_with('/') && is_plain {
                hidden.push(HiddenPattern::Below(PathBuf::from(plain)));
                continue;
            }
            let glob = NameGlob::of_path(raw)
                .map_err(|e| WorkspaceError::Glob { glob: raw.clone(), reason: e.kind().to_string() })?;
            hidden.push(HiddenPattern::Glob { glob: Box::new(glob), anywhere: !raw.contains('/') });
        }
        *self.0.hidden.write().unwrap_or_else(PoisonError::into_inner) = hidden;
        self.0.index.lock().unwrap_or_else(PoisonError::into_inner).forget();
        Ok(())
    }

    /// True when a hidden pattern matches this canonical path or a directory above it.
    pub fn is_hidden(&self, path: &Path) -> bool {
        let hidden = self.0.hidden.read().unwrap_or_else(PoisonError::into_inner);
        !hidden.is_empty() && hidden.iter().any(|h| self.matches_hidden(h, path)) || self.is_filtered(path)
    }

    /// Hides more paths, those for which `hides` is true: files with a higher classification than the session's. Once
    /// only.
    pub fn set_path_filter(&self, hides: Box<PathPredicate>) {
        // The first one stays.
        let _ = self.0.veil.set(PathFilter(hides));
    }

    fn is_filtered(&self, path: &Path) -> bool {
        self.0.veil.get().is_some_and(|veil| (veil.0)(path))
    }

    fn matches_hidden(&self, hidden: &HiddenPattern, path: &Path) -> bool {
        let (glob, anywhere) = match hidden {
            HiddenPattern::Below(dir) => {
                let (path, dir) = (path.as_os_str().as_encoded_bytes(), dir.as_os_str().as_encoded_bytes());
                return path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
            }
            HiddenPattern::Glob { glob, anywhere } => (glob, *anywhere),
        };
        let below_root = |at: &Path| {
            let relatives = self.0.roots.iter().filter_map(|root| at.strip_prefix(root).ok());
            relatives.into_iter().any(|r| {
                !r.as_os_str().is_empty()
                    && (glob.matches_any_form(r)
                        || anywhere && r.file_name().is_some_and(|n| glob.matches_any_form(Path::new(n))))
            })
        };
        path.ancestors().any(|at| glob.matches_any_form(at) || below_root(at))
    }

    /// Protects more than the built-in list. Once only.
    pub fn protect(&self, protected: ProtectedPaths) {
        // The first one stays.
        drop(self.0.protected.set(protected));
    }

    pub fn protected(&self) -> ProtectedPaths {
        self.0.protected.get().cloned().unwrap_or_default()
    }

    /// True when a program runs or obeys the file at `path` by another name.
    fn is_reached(&self, path: &Path) -> bool {
        changes::classify::is_reached(path, &self.0.roots, &self.protected())
    }

    /// The location of a canonical path, by its names.
    pub fn place_of(&self, path: &Path) -> AccessLocation {
        let protected = self.protected();
        let inside = || self.0.roots.iter().filter_map(|root| Some((root, path.strip_prefix(root).ok()?)));
        match inside().next() {
            None if self.1.as_ref().is_some_and(|view| view.is_scratch(path)) => AccessLocation::Inside,
            None => AccessLocation::Outside,
            Some(_)
                if inside()
                    .any(|(root, rel)| changes::classify::class_below(&protected, root, rel).asks())
                    || self.in_repository(path) =>
            {
                AccessLocation::Protected
            }
            Some(_) => AccessLocation::Inside,
        }
    }

    /// True for git's own files, whatever the directory of the repository is called.
    fn in_repository(&self, path: &Path) -> bool {
        self.1.as_ref().is_some_and(|view| view.in_repository(path))
    }

    /// The path as the screen and the model name it: relative to the working directory if it is below it. Two different
    /// paths have different names, also where they are not UTF-8.
    pub fn shown(&self, path: &Path) -> String {
        let short = self.shortened(path);
        match short.to_str() {
            Some(text) => text.into(),
            None => visible::path_name(&short),
        }
    }

    /// The same path in its bytes, for a surface that renders it itself.
    pub fn shortened(&self, path: &Path) -> PathBuf {
        if let Some(name) = self.own_name(path) {
            return name;
        }
        match path.strip_prefix(self.cwd()) {
            Ok(relative) if relative.as_os_str().is_empty() => ".".into(),
            Ok(relative) => relative.into(),
            Err(_) => path.into(),
        }
    }
}
