//! AGENTS.md: instructions of projects for agents. The files are searched from the root of the workspace down to the
//! working directory, read again when they change, and shown with their source.

use super::conversation::notes::instructions_in;
use crate::conversation::{InstructionsVersion, Note};
use crate::text::regular_file;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// The size of all files together. Text beyond it is cut, and the cut is reported.
pub const MAX_BYTES: usize = 32 * 1024;
/// The largest file that is read in order to cut it, in bytes.
const LARGEST: u64 = 8 << 20;
const NAME: &str = "AGENTS.md";

/// A change of the instructions.
#[derive(Debug)]
pub(super) struct InstructionsNews {
    pub(super) note: Note,
    /// The files that were read.
    pub(super) sources: Vec<PathBuf>,
    /// The files that were not read and why, for the person.
    pub(super) left_out: Vec<String>,
}

/// The present instructions, and what the model was last sent.
#[derive(Debug, Default)]
pub(super) struct ProjectInstructions {
    reported: Option<String>,
}

impl ProjectInstructions {
    /// The note for the model if the instructions differ from what it was sent. Files that `may_read` refuses are
    /// omitted.
    pub(super) fn news(&mut self, cwd: &Path, may_read: &MayRead<'_>) -> Option<InstructionsNews> {
        let (text, sources, left_out) = read(cwd, may_read);
        let known = self.reported.as_deref().unwrap_or("");
        if known == text {
            return None;
        }
        let edition =
            if self.reported.is_some() { InstructionsVersion::Changed } else { InstructionsVersion::First };
        self.reported = Some(text.clone());
        let note =
            if text.is_empty() { Note::InstructionsGone } else { Note::Instructions { text, edition } };
        Some(InstructionsNews { note, sources, left_out })
    }

    /// After a resume the transcript contains what the model knows: `notes` are its notes, the newest first.
    pub(super) fn recall<'t>(&mut self, mut notes: impl Iterator<Item = &'t Note>) {
        self.reported = notes.find_map(instructions_in).map(String::from);
    }
}

/// Why a file of instructions is omitted.
#[derive(Debug, Error)]
enum InstructionsError {
    #[error("it is a link out of the workspace: not read")]
    LinkOut,
    #[error("a rule denies reading it")]
    Denied,
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// Whether the rules allow a file to be read.
pub(super) type MayRead<'a> = dyn Fn(&Path) -> bool + 'a;

/// Reads one file. The author of the repository may have made it a link to a file of the person, and so a link counts
/// only within the repository.
fn text_of(path: &Path, root: &Path, may_read: &MayRead<'_>) -> Result<String, InstructionsError> {
    let real = fs::canonicalize(path)?;
    // `is_file`, because a device or a pipe has an error of its own.
    let inside = real.starts_with(fs::canonicalize(root)?);
    if !inside && real.is_file() {
        return Err(InstructionsError::LinkOut);
    }
    if !may_read(path) || !may_read(&real) {
        return Err(InstructionsError::Denied);
    }
    Ok(regular_file::read_to_string(&real, LARGEST)?)
}

fn read(cwd: &Path, may_read: &MayRead<'_>) -> (String, Vec<PathBuf>, Vec<String>) {
    let mut out = String::new();
    let mut left_out = Vec::new();
    let mut sources = Vec::new();
    let root = root_of(cwd);
    for path in files(cwd, root) {
        let text = match text_of(&path, root, may_read) {
            Ok(text) => text,
            Err(why) => {
                out.push_str(&format!("--- {}\n[left out: {why}]\n", path.display()));
                left_out.push(format!("{} is left out: {why}", path.display()));
                continue;
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        out.push_str(&format!("--- {}\n", path.display()));
        let room = MAX_BYTES.saturating_sub(out.len());
        match text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last() {
            Some(end) if end < text.len() => {
                out.push_str(text.get(..end).unwrap_or(""));
                out.push_str(&format!(
                    "\n[cut here: {} more bytes in {}]\n",
                    text.len() - end,
                    path.display()
                ));
            }
            None => out.push_str(&format!("[left out: {} bytes in {}]\n", text.len(), path.display())),
            Some(_) => {
                out.push_str(&text);
                if !text.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        sources.push(path);
    }
    (out, sources, left_out)
}

/// The repository that contains `cwd`, or `cwd` itself without a repository.
fn root_of(cwd: &Path) -> &Path {
    // In a worktree and in a submodule `.git` is a file, so its kind is not checked.
    cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd)
}

/// Root first: from `root` down to `cwd`.
fn files(cwd: &Path, root: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<&Path> = cwd.ancestors().take_while(|dir| dir.starts_with(root)).collect();
    dirs.reverse();
    dirs.into_iter().map(|dir| dir.join(NAME)).filter(|path| path.exists() && !path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_root_first_and_told_again_only_when_they_change() {
        let dir = tempfile::TempDir::new().unwrap();
        let leaf = dir.path().join("a/b");
        fs::create_dir_all(&leaf).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(NAME), "root rules").unwrap();
        fs::write(leaf.join(NAME), "leaf rules\n").unwrap();
        let mut instructions = ProjectInstructions::default();
        let InstructionsNews { note, sources, .. } = instructions.news(&leaf, &|_| true).unwrap();
        let text = note.words();
        assert!(text.find("root rules") < text.find("leaf rules"), "{text}");
        assert_eq!(sources.len(), 2);
        assert!(instructions.news(&leaf, &|_| true).is_none());
        fs::write(leaf.join(NAME), "other rules\n").unwrap();
        assert!(
            instructions.news(&leaf, &|_| true).unwrap().note.words().contains("replaces the earlier text")
        );
        fs::write(leaf.join(NAME), "x".repeat(MAX_BYTES)).unwrap();
        assert!(instructions.news(&leaf, &|_| true).unwrap().note.words().contains("[cut here: "));
        // A pipe would be read for ever, and a link to /dev/zero without end.
        fs::remove_file(leaf.join(NAME)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", leaf.join(NAME)).unwrap();
        assert!(
            instructions
                .news(&leaf, &|_| true)
                .unwrap()
                .note
                .words()
                .contains("[left out: not a regular file]")
        );
    }

    #[test]
    fn a_link_out_of_the_workspace_and_a_denied_file_are_not_read() {
        let home = tempfile::TempDir::new().unwrap();
        let repository = home.path().join("w");
        fs::create_dir_all(repository.join(".git")).unwrap();
        fs::write(home.path().join("key"), "private key").unwrap();
        fs::write(repository.join("agents.txt"), "rules of the project").unwrap();
        let at = repository.join(NAME);
        for target in ["../key", "agents.txt"] {
            let _ = fs::remove_file(&at);
            std::os::unix::fs::symlink(target, &at).unwrap();
            let InstructionsNews { note, sources, .. } =
                ProjectInstructions::default().news(&repository, &|_| true).unwrap();
            let (text, inside) = (note.words().into_owned(), target == "agents.txt");
            assert!(!text.contains("private key"), "{text}");
            assert_eq!(text.contains("is a link out of the workspace: not read"), !inside, "{text}");
            assert_eq!((text.contains("rules of the project"), sources.len()), (inside, usize::from(inside)));
        }
        // A rule against the name, and one against the file that it leads to.
        for denied in [NAME, "agents.txt"] {
            let may_read = |path: &Path| !path.ends_with(denied);
            let InstructionsNews { note, sources, .. } =
                ProjectInstructions::default().news(&repository, &may_read).unwrap();
            assert!(!note.words().contains("rules of the project") && sources.is_empty(), "{denied}");
        }
    }

    #[test]
    fn a_project_without_instructions_says_nothing() {
        let dir = tempfile::TempDir::new().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(ProjectInstructions::default().news(dir.path(), &|_| true).is_none());
    }
}
