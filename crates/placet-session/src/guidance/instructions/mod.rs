//! Instructions: `AGENTS.md` of the person, of the repository and of its directories; `CLAUDE.md` and `GEMINI.md` where
//! no `AGENTS.md` is in the same directory; and the files that these import with `@path`.

mod collect;
mod imports;

pub use collect::CollectedInstructions;

use super::MayRead;
use super::places::repository_root;
use collect::InstructionsCollector;
use std::path::{Path, PathBuf};

/// The size of all files together. Text beyond it is cut, and the cut is reported.
pub const MAX_BYTES: usize = 32 * 1024;
const NAME: &str = "AGENTS.md";
/// The names of other programs' files, read where there is no `AGENTS.md`.
const FOREIGN: [&str; 2] = ["CLAUDE.md", "GEMINI.md"];

/// Whose instructions are read, and what may be read.
pub struct InstructionsRequest<'a> {
    pub cwd: &'a Path,
    /// The person's own file; there may be none.
    pub own: Option<&'a Path>,
    pub may_read: &'a MayRead<'a>,
}

/// What a conversation begins with: the person's own file, then the files from the root of the repository down to the
/// working directory.
pub fn of_conversation(request: &InstructionsRequest<'_>) -> CollectedInstructions {
    let root = repository_root(request.cwd);
    let mut collector = InstructionsCollector::new(request.may_read, MAX_BYTES);
    if let Some(own) = request.own.filter(|own| is_there(own)) {
        collector.add_own(own);
    }
    for dir in between(root, request.cwd) {
        files_of(&dir).iter().for_each(|path| collector.add(path, root));
    }
    collector.finish()
}

/// The instructions of one directory, deeper than the working directory. `root` is the root of its repository, and `room`
/// the bytes that may be sent.
pub fn of_directory(dir: &Path, root: &Path, room: usize, may_read: &MayRead<'_>) -> CollectedInstructions {
    let mut collector = InstructionsCollector::new(may_read, room);
    files_of(dir).iter().for_each(|path| collector.add(path, root));
    collector.finish()
}

/// The file in which text for the agent is stored: of the nearest directory between `dir` and `root` that has one, or a
/// new `AGENTS.md` in `root`. A new `AGENTS.md` next to a `CLAUDE.md` would replace it.
pub fn instruction_file_of(dir: &Path, root: &Path) -> PathBuf {
    let dirs = dir.ancestors().take_while(|dir| dir.starts_with(root));
    dirs.flat_map(files_of).next().unwrap_or_else(|| root.join(NAME))
}

/// From `root` down to `dir`.
fn between(root: &Path, dir: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> =
        dir.ancestors().take_while(|dir| dir.starts_with(root)).map(Path::to_path_buf).collect();
    dirs.reverse();
    dirs
}

fn files_of(dir: &Path) -> Vec<PathBuf> {
    let own = dir.join(NAME);
    if is_there(&own) {
        return vec![own];
    }
    FOREIGN.map(|name| dir.join(name)).into_iter().filter(|path| is_there(path)).collect()
}

fn is_there(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
