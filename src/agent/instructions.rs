//! AGENTS.md: what projects tell agents. Found from the root of the workspace down to the directory placet works in,
//! read again when it changes, and shown with its source.

use super::conversation::notes::instructions_in;
use crate::conversation::{InstructionsVersion, Note};
use crate::text::regular_file;
use std::path::{Path, PathBuf};

/// All files together; what is beyond is cut, and the cut is said.
pub const MAX_BYTES: usize = 32 * 1024;
/// The largest file that is read to be cut, in bytes.
const LARGEST: u64 = 8 << 20;
const NAME: &str = "AGENTS.md";

/// The instructions in force, and what the model was last sent.
#[derive(Debug, Default)]
pub(super) struct ProjectInstructions {
    reported: Option<String>,
}

impl ProjectInstructions {
    /// The note for the model when they differ from what it was sent, and the files they are from.
    pub(super) fn news(&mut self, cwd: &Path) -> Option<(Note, Vec<PathBuf>)> {
        let (text, sources) = read(cwd);
        let known = self.reported.as_deref().unwrap_or("");
        if known == text {
            return None;
        }
        let edition =
            if self.reported.is_some() { InstructionsVersion::Changed } else { InstructionsVersion::First };
        self.reported = Some(text.clone());
        let note =
            if text.is_empty() { Note::InstructionsGone } else { Note::Instructions { text, edition } };
        Some((note, sources))
    }

    /// After a resume the model has what the transcript holds: `notes` are its notes, the newest first.
    pub(super) fn recall<'t>(&mut self, mut notes: impl Iterator<Item = &'t Note>) {
        self.reported = notes.find_map(instructions_in).map(String::from);
    }
}

fn read(cwd: &Path) -> (String, Vec<PathBuf>) {
    let mut out = String::new();
    let mut sources = Vec::new();
    for path in files(cwd) {
        let text = match regular_file::read_to_string(&path, LARGEST) {
            Ok(text) => text,
            Err(e) => {
                out.push_str(&format!("--- {}\n[left out: {e}]\n", path.display()));
                sources.push(path);
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
    (out, sources)
}

/// Root first: from the repository that holds `cwd` (or `cwd` itself where there is none) down to `cwd`.
fn files(cwd: &Path) -> Vec<PathBuf> {
    // In a worktree and in a submodule `.git` is a file, so its kind is not checked.
    let root = cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd);
    let mut dirs: Vec<&Path> = cwd.ancestors().take_while(|dir| dir.starts_with(root)).collect();
    dirs.reverse();
    dirs.into_iter().map(|dir| dir.join(NAME)).filter(|path| path.exists() && !path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn instructions_are_read_root_first_and_told_again_only_when_they_change() {
        let dir = tempfile::TempDir::new().unwrap();
        let leaf = dir.path().join("a/b");
        fs::create_dir_all(&leaf).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(NAME), "root rules").unwrap();
        fs::write(leaf.join(NAME), "leaf rules\n").unwrap();
        let mut instructions = ProjectInstructions::default();
        let (note, sources) = instructions.news(&leaf).unwrap();
        let text = note.words();
        assert!(text.find("root rules") < text.find("leaf rules"), "{text}");
        assert_eq!(sources.len(), 2);
        assert!(instructions.news(&leaf).is_none());
        fs::write(leaf.join(NAME), "other rules\n").unwrap();
        assert!(instructions.news(&leaf).unwrap().0.words().contains("replaces the earlier text"));
        fs::write(leaf.join(NAME), "x".repeat(MAX_BYTES)).unwrap();
        assert!(instructions.news(&leaf).unwrap().0.words().contains("[cut here: "));
        // A pipe would be read for ever, and a link to /dev/zero without end.
        fs::remove_file(leaf.join(NAME)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", leaf.join(NAME)).unwrap();
        assert!(instructions.news(&leaf).unwrap().0.words().contains("[left out: not a regular file]"));
    }

    #[test]
    fn a_project_without_instructions_says_nothing() {
        let dir = tempfile::TempDir::new().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(ProjectInstructions::default().news(dir.path()).is_none());
    }
}
