//! Objects of the agent travel through a quarantine, as `git receive-pack` does it: packed by git from the agent's store,
//! named by git from their contents, checked, and connected to what the person's store has.

use crate::clean_directory::{self, CleanDirectory};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::object_id::ObjectId;
use crate::runner::{GitCall, GitRunner, run_all, run_one};
use crate::source::RepositorySource;
use crate::state::RepositoryFormat;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A git directory with the new objects, whose alternate is the person's store. Everything is read from it by hash.
#[derive(Debug)]
pub(crate) struct Quarantine {
    pub(crate) path: PathBuf,
}

/// What is asked of the agent's store.
pub(crate) struct WantedObjects {
    /// Must be there.
    pub(crate) tips: BTreeSet<ObjectId>,
    /// Stand in state files of an operation; what is missing is left out.
    pub(crate) mentioned: BTreeSet<ObjectId>,
    /// What the person has.
    pub(crate) known: Vec<ObjectId>,
}

impl Quarantine {
    pub(crate) fn fill(
        agent: &CleanDirectory,
        person: &dyn RepositorySource,
        shallow: Option<&GitName>,
        wanted: &WantedObjects,
        path: &Path,
        runner: &dyn GitRunner,
    ) -> Result<Quarantine> {
        clean_directory::make(path, &agent.format.with_files(), &person.stores())?;
        if let Some(shallow) = shallow {
            let file = path.join("shallow");
            fs::write(&file, shallow.as_bytes()).map_err(GitError::io("write", &file))?;
        }
        let quarantine = Quarantine { path: path.to_path_buf() };
        if wanted.tips.is_empty() && wanted.mentioned.is_empty() {
            return Ok(quarantine);
        }
        let known: Vec<ObjectId> = wanted.known.iter().take(limit::EXCLUDED_TIPS).copied().collect();
        let asked: Vec<ObjectId> =
            wanted.tips.iter().chain(&wanted.mentioned).chain(&known).copied().collect();
        let there = stored(&agent.path, &asked, runner)?;
        if let Some(missing) = wanted.tips.iter().find(|id| !there.contains_key(id)) {
            return Err(GitError::Missing(missing.to_string()));
        }
        let new = wanted.tips.iter().chain(wanted.mentioned.iter().filter(|id| there.contains_key(id)));
        let new: Vec<ObjectId> = new.copied().collect();
        if new.is_empty() {
            return Ok(quarantine);
        }
        let pack = path.join("transfer.pack");
        let mut input = lines(&new, "");
        input.extend(lines(
            &known.iter().filter(|id| there.contains_key(id)).copied().collect::<Vec<_>>(),
            "^",
        ));
        let mut args =
            vec!["pack-objects", "--revs", "--stdout", "--thin", "-q", "--delta-base-offset", "--window=0"];
        if agent.format.promisor.is_some() {
            args.push("--exclude-promisor-objects");
        }
        run_one(runner, GitCall::new(&agent.path, args).transfer().input(input).output_file(&pack))?;
        if object_count(&pack)? > 0 {
            // What is applied is synced then.
            let unsynced = [("COUNT", "1"), ("KEY_0", "core.fsync"), ("VALUE_0", "none")];
            let call = store(path, &pack)?;
            let call = unsynced
                .iter()
                .fold(call, |call, (name, value)| call.env(&format!("GIT_CONFIG_{name}"), value));
            run_one(runner, call)?;
        }
        connected(path, &new, &wanted.known, agent.format.promisor.is_some(), runner)?;
        fs::remove_file(&pack).map_err(GitError::io("remove", &pack))?;
        Ok(quarantine)
    }
}

impl RepositoryFormat {
    /// The quarantine has no refs, so that a store of refs would only be made for nothing.
    fn with_files(&self) -> RepositoryFormat {
        RepositoryFormat { refs: crate::state::RefStorage::Files, ..self.clone() }
    }
}

/// Stores a pack's objects under the names that their contents have.
pub(crate) fn store(git_dir: &Path, pack: &Path) -> Result<GitCall> {
    let size = fs::metadata(pack).map_err(GitError::io("read", pack))?.len();
    let is_small = object_count(pack)? < limit::UNPACKED_OBJECTS && size < limit::UNPACKED_BYTES;
    let args: &[&str] = if is_small {
        &["unpack-objects", "-q", "--strict"]
    } else {
        &["index-pack", "--stdin", "--fix-thin", "--strict"]
    };
    Ok(GitCall::new(git_dir, args).transfer().input_file(pack))
}

/// The number of objects in the header of a pack.
pub(crate) fn object_count(pack: &Path) -> Result<u32> {
    let mut header = [0; 12];
    let mut file = File::open(pack).map_err(GitError::io("open", pack))?;
    file.read_exact(&mut header).map_err(GitError::io("read", pack))?;
    let [.., a, b, c, d] = header;
    Ok(u32::from_be_bytes([a, b, c, d]))
}

pub(crate) fn lines(ids: &[ObjectId], prefix: &str) -> Vec<u8> {
    ids.iter().flat_map(|id| format!("{prefix}{id}\n").into_bytes()).collect()
}

/// Those of these objects that a store has, with their kinds (`commit`, `tag`, `tree`, `blob`) and sizes in bytes.
pub(crate) type StoredObjects = BTreeMap<ObjectId, (GitName, u64)>;

pub(crate) fn stored(git_dir: &Path, ids: &[ObjectId], runner: &dyn GitRunner) -> Result<StoredObjects> {
    Ok(parse_stored(&run_one(runner, batch_check(git_dir, ids))?.stdout))
}

fn batch_check(git_dir: &Path, ids: &[ObjectId]) -> GitCall {
    let args = ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "--buffer"];
    GitCall::new(git_dir, args).input(lines(ids, ""))
}

/// Of an object that is missing, there is no size.
fn parse_stored(output: &[u8]) -> StoredObjects {
    let object = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let (id, kind, size) = (words.next()?, words.next()?, words.next()?);
        Some((ObjectId::from_hex(id)?, (GitName::new(kind), std::str::from_utf8(size).ok()?.parse().ok()?)))
    };
    output.split(|byte| *byte == b'\n').filter_map(object).collect()
}

/// Everything that is reachable is there, as `receive-pack` checks it.
fn connected(
    git_dir: &Path,
    new: &[ObjectId],
    known: &[ObjectId],
    is_partial: bool,
    runner: &dyn GitRunner,
) -> Result<()> {
    let mut args = vec!["rev-list", "--objects", "--quiet", "--stdin", "--ignore-missing"];
    if is_partial {
        args.push("--exclude-promisor-objects");
    }
    // `--ignore-missing` is for what the person's refs name; the new objects are asked for by name.
    let walk = GitCall::new(git_dir, args).transfer().input([lines(new, ""), lines(known, "^")].concat());
    let calls = [batch_check(git_dir, new), walk];
    let there =
        run_all(runner, &calls)?.first().map(|output| parse_stored(&output.stdout)).unwrap_or_default();
    match new.iter().find(|id| !there.contains_key(id)) {
        Some(missing) => Err(GitError::Missing(missing.to_string())),
        None => Ok(()),
    }
}
