//! Files that git's settings name: hooks in the directory of `core.hooksPath`, programs such as that of `core.fsmonitor`, and
//! settings that others include. git runs or obeys them, whatever they are called.
//!
//! A setting may be in the repository's own file, in the file of a worktree, in the person's files, and in any file that these
//! include. All values count, also values that git would override and values behind a condition: an unnecessary question
//! costs less than a missed hook.

use super::command_words::named_paths;
use super::config::{GitConfigError, GitSettings, LARGEST, settings};
use super::config_keys::command_form;
use super::content_readers::{ContentReadError, ReadContent};
use super::facts::flat;
use super::git_dirs::GitDirs;
use crate::files::opening::resolve::without_links;
use crate::files::walking::dirs_above::DirsAbove;
use placet_text::text::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Bound::{Excluded, Unbounded};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most files that are read for one repository. Each is read once.
const MOST_FILES: usize = 256;
/// The most paths that its commands may name. The settings of a person have some dozens.
const MOST_PATHS: usize = 20_000;

/// The names of git's hooks: see githooks(5).
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileForm {
    File,
    Link,
}

/// Why git runs or obeys a file that its settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfiguredUse {
    Hook,
    /// git flow does.
    FlowHook,
    /// A part of every repository that git makes from now on.
    Template,
    Settings,
    /// The command of this setting names it.
    Program(String),
    /// A link on the way to a file that settings name.
    OnTheWay,
    /// Not all settings of its repository were read.
    NotRead(SettingsNotRead),
}

/// Why the settings of a repository were not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingsNotRead {
    Files,
    Paths,
    File(PathBuf, String),
}

impl ConfiguredUse {
    /// For a person.
    pub(crate) fn words(&self) -> String {
        match self {
            ConfiguredUse::Hook => "git runs it: `core.hooksPath` names its directory".into(),
            ConfiguredUse::FlowHook => "git flow runs it: `gitflow.path.hooks` names its directory".into(),
            ConfiguredUse::Template => {
                "git copies it into new repositories: `init.templateDir` names its directory".into()
            }
            ConfiguredUse::Settings => {
                "git reads it: your settings or those of a repository include it".into()
            }
            ConfiguredUse::Program(key) => format!("git runs it: `{key}` names it"),
            ConfiguredUse::OnTheWay => "git follows this link to a file that its settings name".into(),
            ConfiguredUse::NotRead(why) => {
                let why = match why {
                    SettingsNotRead::Files => format!("they are in more than {MOST_FILES} files"),
                    SettingsNotRead::Paths => format!("their commands have more than {MOST_PATHS} words"),
                    SettingsNotRead::File(file, why) => format!("{}: {why}", visible::path(file)),
                };
                format!("git may run it: not all settings of its repository were read: {why}")
            }
        }
    }
}

/// The files outside of repositories that git's settings name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfiguredFiles {
    /// Directories of hooks, each with true where only files with the name of a hook count: it holds the work tree itself.
    hook_dirs: BTreeMap<PathBuf, bool>,
    /// Other directories of which every file counts.
    whole_dirs: BTreeMap<PathBuf, ConfiguredUse>,
    /// Settings that git reads besides those of the repository itself, whatever the files are called.
    included: BTreeSet<PathBuf>,
    /// What the commands of settings name, each with the setting.
    programs: BTreeMap<PathBuf, String>,
    /// Work trees whose settings were not read.
    unread: BTreeMap<PathBuf, SettingsNotRead>,
}

impl ConfiguredFiles {
    /// Those of every work tree and repository that one of `paths` lies in. `is_repository` answers for a directory,
    /// and each of `states` is looked at: before a change, and after it.
    pub(crate) fn find<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        is_repository: &dyn Fn(&Path) -> bool,
        states: &[&ReadContent<'_>],
    ) -> ConfiguredFiles {
        let mut dirs = DirsAbove::default();
        let above: BTreeSet<&Path> = paths.into_iter().flat_map(|path| dirs.new_above(path)).collect();
        let mut found = ConfiguredFiles::default();
        // The person's own settings hold in every repository, wherever it is.
        if !above.is_empty() {
            for read in states {
                let mut reader = GitSettingsReader::new(*read, Path::new("/"));
                reader.read_person();
                reader.unread = None;
                found.take(Path::new("/"), reader);
            }
        }
        for dir in above {
            let git = dir.join(".git");
            let bare = !dir.ends_with(".git") && is_repository(dir);
            if !bare && !is_repository(&git) {
                continue;
            }
            for read in states {
                let start = if bare { dir } else { git.as_path() };
                let mut reader = GitSettingsReader::new(*read, dir);
                reader.read_all(start);
                found.take(dir, reader);
            }
        }
        found
    }

    /// Why git runs or obeys the file at `path`.
    pub(crate) fn use_of(&self, path: &Path, form: FileForm) -> Option<ConfiguredUse> {
        if self.holds(path) {
            return Some(ConfiguredUse::Hook);
        }
        if !self.whole_dirs.is_empty()
            && let Some(named) = path.ancestors().find_map(|at| self.whole_dirs.get(at))
        {
            return Some(named.clone());
        }
        if self.included.contains(path) {
            return Some(ConfiguredUse::Settings);
        }
        if let Some(key) = self.programs.get(path) {
            return Some(ConfiguredUse::Program(key.clone()));
        }
        if form == FileForm::Link && self.names_below(path) {
            return Some(ConfiguredUse::OnTheWay);
        }
        let unread = || path.ancestors().find_map(|dir| self.unread.get(dir));
        (!self.unread.is_empty()).then(unread).flatten().cloned().map(ConfiguredUse::NotRead)
    }

    /// True where a named path leads through `path`.
    fn names_below(&self, path: &Path) -> bool {
        let after = (Excluded(path), Unbounded);
        let next = [
            self.hook_dirs.range::<Path, _>(after).next().map(|(named, _)| named),
            self.whole_dirs.range::<Path, _>(after).next().map(|(named, _)| named),
            self.included.range::<Path, _>(after).next(),
            self.programs.range::<Path, _>(after).next().map(|(named, _)| named),
        ];
        next.into_iter().flatten().any(|named| named.starts_with(path))
    }

    fn take(&mut self, work_tree: &Path, reader: GitSettingsReader<'_>) {
        reader.hook_dirs.iter().for_each(|value| self.add_hooks(work_tree, value));
        for (value, named) in &reader.whole_dirs {
            for dir in ways(&flat(&work_tree.join(expanded(value)))) {
                self.whole_dirs.insert(dir, named.clone());
            }
        }
        self.included.extend(reader.included);
        for (path, key) in reader.programs {
            for path in ways(&path) {
                self.programs.entry(path).or_insert_with(|| key.clone());
            }
        }
        if let Some(why) = reader.unread {
            self.unread.entry(work_tree.to_path_buf()).or_insert(why);
        }
    }

    fn add_hooks(&mut self, work_tree: &Path, value: &OsStr) {
        let dir = flat(&work_tree.join(expanded(value)));
        let ways = ways(&dir);
        let only_hooks = ways.iter().any(|dir| work_tree.starts_with(dir));
        for dir in ways {
            self.hook_dirs.insert(dir, only_hooks);
        }
    }

    /// True for a file that git runs as a hook, or that lies next to those that it runs.
    fn holds(&self, path: &Path) -> bool {
        if self.hook_dirs.is_empty() {
            return false;
        }
        let name = path.file_name().unwrap_or_default();
        path.ancestors().any(|at| match self.hook_dirs.get(at) {
            Some(true) => path.parent() == Some(at) && HOOKS.iter().any(|hook| name == *hook),
            // `git init` makes samples, which git does not run, and elsewhere a hook may read such a file.
            Some(false) => !name.as_bytes().ends_with(b".sample") || !path.iter().any(|name| name == ".git"),
            None => false,
        })
    }
}

/// A path, and the file that a link with this name leads to, or a link on its way. The file may come later.
fn ways(path: &Path) -> [PathBuf; 2] {
    [path.to_path_buf(), without_links(path)]
}

/// `~/` is the home directory.
fn expanded(value: &OsStr) -> PathBuf {
    match (value.as_bytes().strip_prefix(b"~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(OsStr::from_bytes(rest)),
        _ => PathBuf::from(value),
    }
}

/// Reads the settings of one repository in one state.
struct GitSettingsReader<'a> {
    read: &'a ReadContent<'a>,
    work_tree: &'a Path,
    seen: BTreeSet<PathBuf>,
    hook_dirs: Vec<OsString>,
    whole_dirs: Vec<(OsString, ConfiguredUse)>,
    included: BTreeSet<PathBuf>,
    programs: BTreeMap<PathBuf, String>,
    unread: Option<SettingsNotRead>,
}

impl<'a> GitSettingsReader<'a> {
    fn new(read: &'a ReadContent<'a>, work_tree: &'a Path) -> GitSettingsReader<'a> {
        GitSettingsReader {
            read,
            work_tree,
            seen: BTreeSet::new(),
            hook_dirs: Vec::new(),
            whole_dirs: Vec::new(),
            included: BTreeSet::new(),
            programs: BTreeMap::new(),
            unread: None,
        }
    }

    /// Those of the repository at `git`, a directory or a file that names one, and those of the person.
    fn read_all(&mut self, git: &Path) {
        for file in self.own_files(git) {
            self.collect(&file);
        }
        self.read_person();
    }

    fn read_person(&mut self) {
        for file in files_of_person() {
            self.include(&file);
        }
    }

    /// A file that may lie anywhere in the workspace, also where a link leads.
    fn include(&mut self, file: &Path) {
        self.included.extend(ways(file));
        self.collect(file);
    }

    /// The settings of the repository and of its worktrees.
    fn own_files(&self, git: &Path) -> Vec<PathBuf> {
        let read = |file: &Path, most| (self.read)(&flat(file), most).ok().flatten();
        let dirs = GitDirs::of(git, &read).dirs;
        let dirs = dirs.iter().map(|dir| flat(dir));
        dirs.flat_map(|dir| ["config", "config.worktree"].map(|name| dir.join(name))).collect()
    }

    fn collect(&mut self, file: &Path) {
        // A file may include itself.
        if self.seen.contains(file) {
            return;
        }
        if self.seen.len() >= MOST_FILES {
            self.unread = Some(SettingsNotRead::Files);
            return;
        }
        self.seen.insert(file.to_path_buf());
        let Some(text) = self.text(file) else { return };
        let (read, error) = settings(&text);
        // git reads no setting after a line that is not valid, and ends.
        if let Some(error @ GitConfigError::Many) = error {
            self.unread = Some(SettingsNotRead::File(file.to_path_buf(), error.to_string()));
        }
        self.hook_dirs.extend(texts(&read, |key| key == b"core.hookspath"));
        for (key, named) in
            [("init.templatedir", ConfiguredUse::Template), ("gitflow.path.hooks", ConfiguredUse::FlowHook)]
        {
            let values = texts(&read, |found| found == key.as_bytes());
            self.whole_dirs.extend(values.into_iter().map(|value| (value, named.clone())));
        }
        self.collect_programs(&read);
        let is_include =
            |key: &[u8]| key == b"include.path" || key.starts_with(b"includeif.") && key.ends_with(b".path");
        for included in texts(&read, is_include) {
            let at = file.parent().unwrap_or(Path::new("/")).join(expanded(&included));
            self.include(&flat(&at));
        }
    }

    /// The content; `None` where git finds no file to read, either.
    fn text(&mut self, file: &Path) -> Option<Vec<u8>> {
        let read = |file: &Path| (self.read)(file, LARGEST);
        // git follows a link.
        let content = read(file).or_else(|e| match (e, std::fs::canonicalize(file)) {
            (ContentReadError::NotRegular, Ok(real)) if real != file => read(&real),
            (e, _) => Err(e),
        });
        match content {
            Ok(content) => content,
            Err(ContentReadError::NotRegular) => None,
            Err(ContentReadError::Io(e)) if is_closed(&e) => None,
            Err(e) => {
                self.unread = Some(SettingsNotRead::File(file.to_path_buf(), e.to_string()));
                None
            }
        }
    }

    fn collect_programs(&mut self, read: &GitSettings) {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        for (key, values) in read {
            for value in values.iter().flatten() {
                let Some((form, command)) = command_form(key, value) else { continue };
                let name = String::from_utf8_lossy(key).into_owned();
                // git updates a submodule in its own directory, which has its name unless somebody changed that.
                let submodule = name.strip_prefix("submodule.").and_then(|rest| rest.strip_suffix(".update"));
                let others: Vec<PathBuf> =
                    submodule.map(|submodule| self.work_tree.join(submodule)).into_iter().collect();
                for path in named_paths(command, form, self.work_tree, &others, home.as_deref()) {
                    self.programs.entry(path).or_insert_with(|| name.clone());
                }
                if self.programs.len() > MOST_PATHS {
                    self.unread = Some(SettingsNotRead::Paths);
                    return;
                }
            }
        }
    }
}

/// True where git does not read the file, either.
fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidInput
    )
}

fn texts(settings: &GitSettings, wanted: impl Fn(&[u8]) -> bool) -> Vec<OsString> {
    let found = settings.iter().filter(|(key, _)| wanted(key));
    let values = found.flat_map(|(_, values)| values.iter().flatten());
    values.map(|value| OsStr::from_bytes(value).to_os_string()).collect()
}

/// Settings that hold for all repositories.
pub(crate) fn files_of_person() -> Vec<PathBuf> {
    let at = |name: &str, rest: &str| Some(PathBuf::from(std::env::var_os(name)?).join(rest));
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let system = named("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let own =
        [at("XDG_CONFIG_HOME", "git/config"), at("HOME", ".config/git/config"), at("HOME", ".gitconfig")];
    let global =
        named("GIT_CONFIG_GLOBAL").map_or_else(|| own.into_iter().flatten().collect(), |one| vec![one]);
    std::iter::once(system).chain(global).filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
#[path = "configured_files_tests.rs"]
mod tests;
