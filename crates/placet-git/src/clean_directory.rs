//! A clean git directory: copies of what git reads to know a state, with a configuration of placet's.
//!
//! Nothing in it was written by the author of the repository but data: no hook, no setting, no attribute and no
//! alternate of theirs has an effect, except that objects are read from their store and its alternates.

use crate::config_keys::{ConfigSetting, config_settings};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::{ObjectFormat, ObjectId};
use crate::runner::GitRunner;
use crate::source::{RepositorySource, SourceFile, SourceIdentity, SourceKind};
use crate::state::{
    CheckoutName, RefStorage, RefTarget, RepositoryFormat, STASH, is_blank, is_valid_ref, symbolic,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A clean git directory, which the caller removes with the scratch directory that it is in.
#[derive(Debug)]
pub(crate) struct CleanDirectory {
    pub(crate) path: PathBuf,
    pub(crate) format: RepositoryFormat,
    pub(crate) checkouts: Vec<CheckoutName>,
    pub(crate) shallow: Option<GitName>,
    /// What the files were when they were copied.
    pub(crate) identities: Vec<(GitName, SourceIdentity)>,
    /// Loose refs that are symbolic.
    pub(crate) symbolic: Vec<(GitName, RefTarget)>,
    /// The other loose refs, in the form of packed ones: thousands of files would be made only to be listed.
    pub(crate) loose: Option<PathBuf>,
    /// Loose refs that git does not accept, and links, FIFOs and devices among the refs.
    pub(crate) unreadable: Vec<GitName>,
    since: SystemTime,
}

enum CopiedKind {
    LooseRef,
    Head,
    Table,
    Shallow,
}

/// The files that a state is read from, in the order in which they are read: loose refs before packed ones, as git does, so
/// that a ref that is packed meanwhile is in one of them.
struct StateNames {
    files: Vec<(PathBuf, CopiedKind)>,
    checkouts: Vec<CheckoutName>,
    /// Links, FIFOs and devices among the refs.
    unreadable: Vec<GitName>,
}

impl StateNames {
    fn list(source: &dyn RepositorySource) -> Result<StateNames> {
        let checkouts = vec![CheckoutName::Main];
        let mut names = StateNames { files: Vec::new(), checkouts, unreadable: Vec::new() };
        names.refs(source, Path::new("refs"), 0)?;
        names.files.push(("packed-refs".into(), CopiedKind::Table));
        names.reftables(source, Path::new("reftable"))?;
        names.files.push(("shallow".into(), CopiedKind::Shallow));
        names.files.push(("logs/refs/stash".into(), CopiedKind::Table));
        names.checkout(source, Path::new(""))?;
        for entry in source.entries(Path::new("worktrees"))? {
            if entry.kind == SourceKind::Directory {
                names.linked(source, CheckoutName::Linked(entry.name))?;
            }
        }
        Ok(names)
    }

    fn linked(&mut self, source: &dyn RepositorySource, name: CheckoutName) -> Result<()> {
        let directory = name.directory();
        if source.identity(&directory.join("HEAD"))?.is_none() {
            return Ok(());
        }
        if self.checkouts.len() > limit::CHECKOUTS {
            return Err(GitError::TooMany("linked worktrees", limit::CHECKOUTS));
        }
        self.checkout(source, &directory)?;
        self.refs(source, &directory.join("refs"), 0)?;
        self.reftables(source, &directory.join("reftable"))?;
        self.checkouts.push(name);
        Ok(())
    }

    /// `HEAD`, and the index with the file that a split index shares.
    fn checkout(&mut self, source: &dyn RepositorySource, directory: &Path) -> Result<()> {
        self.files.push((directory.join("HEAD"), CopiedKind::Head));
        self.files.push((directory.join("index"), CopiedKind::Table));
        let names = source.entries(directory)?.into_iter().map(|entry| entry.name);
        let shared = names.filter(|name| name.starts_with("sharedindex."));
        self.files.extend(shared.map(|name| (directory.join(name.as_path()), CopiedKind::Table)));
        Ok(())
    }

    fn refs(&mut self, source: &dyn RepositorySource, directory: &Path, depth: usize) -> Result<()> {
        if depth > limit::DEPTH {
            return Err(GitError::TooMany("nested directories of refs", limit::DEPTH));
        }
        for entry in source.entries(directory)? {
            let path = directory.join(entry.name.as_path());
            match entry.kind {
                SourceKind::Directory => self.refs(source, &path, depth + 1)?,
                // git ignores locks, too.
                SourceKind::File if entry.name.as_bytes().ends_with(b".lock") => {}
                SourceKind::File => self.files.push((path, CopiedKind::LooseRef)),
                SourceKind::Link | SourceKind::Other => self.unreadable.push(GitName::from(path.as_path())),
            }
            if self.files.len() > limit::LOOSE_REFS {
                return Err(GitError::TooMany("loose refs", limit::LOOSE_REFS));
            }
        }
        Ok(())
    }

    fn reftables(&mut self, source: &dyn RepositorySource, directory: &Path) -> Result<()> {
        let names = source.entries(directory)?.into_iter().map(|entry| entry.name);
        let tables = names.filter(|name| !name.as_bytes().ends_with(b".lock"));
        self.files.extend(tables.map(|name| (directory.join(name.as_path()), CopiedKind::Table)));
        Ok(())
    }
}

impl CleanDirectory {
    /// Whether a state was read from these files, and they are still the same.
    pub(crate) fn is_unchanged(
        source: &dyn RepositorySource,
        identities: &[(GitName, SourceIdentity)],
    ) -> Result<bool> {
        let mut there = Vec::with_capacity(identities.len());
        for (path, _) in StateNames::list(source)?.files {
            there.extend(source.identity(&path)?.map(|identity| (GitName::from(path.as_path()), identity)));
        }
        Ok(there == identities)
    }

    /// Copies a repository's state into a directory that does not exist yet.
    pub(crate) fn copy(
        source: &dyn RepositorySource,
        path: &Path,
        runner: &dyn GitRunner,
    ) -> Result<CleanDirectory> {
        if source.identity(Path::new("HEAD"))?.is_none() || source.identity(Path::new("objects"))?.is_none() {
            return Err(GitError::NoRepository);
        }
        // git opens each pack when it looks for any object.
        refuse_special(source, Path::new("objects/pack"))?;
        fs::create_dir_all(path).map_err(GitError::io("create", path))?;
        let format = format_of(source, path, runner)?;
        make(path, &format, &source.stores())?;
        let mut clean = CleanDirectory {
            path: path.to_path_buf(),
            format,
            checkouts: vec![CheckoutName::Main],
            shallow: None,
            identities: Vec::new(),
            symbolic: Vec::new(),
            loose: None,
            unreadable: Vec::new(),
            since: SystemTime::now(),
        };
        let names = StateNames::list(source)?;
        clean.checkouts = names.checkouts;
        clean.unreadable = names.unreadable;
        let mut loose = Vec::new();
        for (path, kind) in names.files {
            match kind {
                CopiedKind::LooseRef => clean.loose_ref(source, &path, &mut loose)?,
                CopiedKind::Head => drop(clean.file(source, &path, limit::REF)?),
                CopiedKind::Table => drop(clean.file(source, &path, limit::TABLE)?),
                CopiedKind::Shallow => {
                    clean.shallow = clean.file(source, &path, limit::TABLE)?.map(|f| GitName::new(&f.bytes));
                }
            }
        }
        if !loose.is_empty() {
            let place = path.join("loose");
            make(&place, &clean.format, &source.stores())?;
            let file = place.join("packed-refs");
            fs::write(&file, loose).map_err(GitError::io("write", &file))?;
            clean.loose = Some(place);
        }
        let linked: Vec<PathBuf> = clean.checkouts.iter().skip(1).map(CheckoutName::directory).collect();
        for directory in linked {
            clean.write(&directory.join("commondir"), b"../..\n")?;
            clean.write(&directory.join("gitdir"), b"/nonexistent/.git\n")?;
        }
        Ok(clean)
    }

    fn loose_ref(&mut self, source: &dyn RepositorySource, path: &Path, loose: &mut Vec<u8>) -> Result<()> {
        // git lists the entries of the stash by its ref, and refs of a linked worktree in its directory.
        let is_copied = path == Path::new(STASH) || !path.starts_with("refs");
        let file = match if is_copied {
            self.file(source, path, limit::REF)
        } else {
            self.seen(source, path, limit::REF)
        } {
            Err(GitError::NotRegular(_) | GitError::TooLarge(..)) => {
                self.unreadable.push(GitName::from(path));
                return Ok(());
            }
            other => other?,
        };
        // One that went meanwhile was packed or deleted: packed refs are read afterwards. With reftables, files there are no refs.
        let Some(file) = file.filter(|_| self.format.refs == RefStorage::Files) else { return Ok(()) };
        let name = GitName::from(path);
        match symbolic(&file.bytes) {
            _ if path.starts_with("refs") && !is_valid_ref(&name) => self.unreadable.push(name),
            Some(target) if is_valid_ref(&target) => {
                self.symbolic.push((name, RefTarget::Symbolic(target)));
            }
            // A name outside of `refs` is a file that is not applied.
            Some(_) => self.unreadable.push(name),
            None if is_copied => {}
            None => {
                let id = file.bytes.split(|byte| is_blank(*byte)).next().unwrap_or_default();
                match ObjectId::from_hex(id).filter(|id| !id.is_zero() && id.is_of(self.format.objects)) {
                    Some(id) => {
                        loose.extend([id.to_string().as_bytes(), b" ", name.as_bytes(), b"\n"].concat());
                    }
                    None => self.unreadable.push(name),
                }
            }
        }
        Ok(())
    }

    /// What is read and not copied counts for the state, too.
    fn seen(&mut self, source: &dyn RepositorySource, path: &Path, most: u64) -> Result<Option<SourceFile>> {
        let Some(file) = source.read(path, most)? else { return Ok(None) };
        self.identities.push((GitName::from(path), file.identity.unless_recent(self.since)));
        Ok(Some(file))
    }

    fn file(&mut self, source: &dyn RepositorySource, path: &Path, most: u64) -> Result<Option<SourceFile>> {
        let Some(file) = self.seen(source, path, most)? else { return Ok(None) };
        self.write(path, &file.bytes)?;
        Ok(Some(file))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let whole = self.path.join(path);
        if let Some(parent) = whole.parent() {
            fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
        }
        fs::write(&whole, bytes).map_err(GitError::io("write", &whole))
    }

    pub(crate) fn git_dir(&self, checkout: &CheckoutName) -> PathBuf {
        self.path.join(checkout.directory())
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.identities.iter().any(|(copied, _)| copied.as_path() == path)
    }
}

/// Writes the configuration of a clean git directory, and `alternates` to the stores of objects.
pub(crate) fn make(path: &Path, format: &RepositoryFormat, stores: &[PathBuf]) -> Result<()> {
    for directory in ["objects/info", "objects/pack", "refs"] {
        let directory = path.join(directory);
        fs::create_dir_all(&directory).map_err(GitError::io("create", &directory))?;
    }
    let is_new =
        format.objects != ObjectFormat::Sha1 || format.refs != RefStorage::Files || format.promisor.is_some();
    let mut config = format!("[core]\n\trepositoryformatversion = {}\n\tbare = true\n", u8::from(is_new));
    if is_new {
        config.push_str("[extensions]\n");
    }
    if format.objects == ObjectFormat::Sha256 {
        config.push_str("\tobjectformat = sha256\n");
    }
    if format.refs == RefStorage::Reftable {
        config.push_str("\trefstorage = reftable\n");
    }
    if format.promisor.is_some() {
        config.push_str("\tpartialclone = placet\n[remote \"placet\"]\n\tpromisor = true\n");
    }
    let alternates = stores.iter().flat_map(|store| alternate_line(store)).collect();
    let head: &[u8] = if format.refs == RefStorage::Files {
        b"ref: refs/heads/main\n"
    } else {
        b"ref: refs/heads/.invalid\n"
    };
    let files =
        [("config", config.into_bytes()), ("objects/info/alternates", alternates), ("HEAD", head.to_vec())];
    for (name, bytes) in files {
        let file = path.join(name);
        fs::write(&file, bytes).map_err(GitError::io("write", &file))?;
    }
    Ok(())
}

/// Of a repository's settings only its format counts, and only where it is not the oldest one.
pub(crate) fn format_of(
    source: &dyn RepositorySource,
    scratch: &Path,
    runner: &dyn GitRunner,
) -> Result<RepositoryFormat> {
    let mut format =
        RepositoryFormat { objects: ObjectFormat::Sha1, refs: RefStorage::Files, promisor: None };
    let Some(config) = source.read(Path::new("config"), limit::GIT_FILE)? else { return Ok(format) };
    let lower = config.bytes.to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    if !has(b"extensions") && !has(b"promisor") {
        return Ok(format);
    }
    for ConfigSetting { key, value } in config_settings(&config.bytes, &scratch.join("format"), runner)? {
        let value = value.as_bytes();
        match key.as_bytes() {
            b"extensions.objectformat" if value.eq_ignore_ascii_case(b"sha256") => {
                format.objects = ObjectFormat::Sha256
            }
            b"extensions.refstorage" if value.starts_with(b"reftable") => format.refs = RefStorage::Reftable,
            b"extensions.partialclone" => format.promisor = Some(GitName::new(value)),
            // As newer versions of git say it.
            key if key.starts_with(b"remote.") && value.eq_ignore_ascii_case(b"true") => {
                if let Some(remote) =
                    key.strip_prefix(b"remote.").and_then(|key| key.strip_suffix(b".promisor"))
                {
                    format.promisor = Some(GitName::new(remote));
                }
            }
            _ => {}
        }
    }
    Ok(format)
}

/// A FIFO among the agent's objects would block git, and a device would feed it without an end.
pub(crate) fn refuse_special_objects(source: &dyn RepositorySource) -> Result<()> {
    let mut number = 0;
    for directory in source.entries(Path::new("objects"))? {
        let path = Path::new("objects").join(directory.name.as_path());
        match directory.kind {
            SourceKind::Directory => {}
            SourceKind::File => continue,
            SourceKind::Link | SourceKind::Other => {
                return Err(GitError::NotRegular(GitName::from(path.as_path()).escaped()));
            }
        }
        number += refuse_special(source, &path)?;
        if number > limit::OBJECT_FILES {
            return Err(GitError::TooMany("files of objects", limit::OBJECT_FILES));
        }
    }
    Ok(())
}

/// The number of files.
fn refuse_special(source: &dyn RepositorySource, directory: &Path) -> Result<usize> {
    let files = source.entries(directory)?;
    match files.iter().find(|file| matches!(file.kind, SourceKind::Link | SourceKind::Other)) {
        Some(file) => {
            let path = directory.join(file.name.as_path());
            Err(GitError::NotRegular(GitName::from(path.as_path()).escaped()))
        }
        None => Ok(files.len()),
    }
}

/// A path that begins with a quote would be read as a quoted one, and one with a line end as two.
fn alternate_line(store: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in store.as_os_str().as_encoded_bytes() {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(b"\\n"),
            _ => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}
