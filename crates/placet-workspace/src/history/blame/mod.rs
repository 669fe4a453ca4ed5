//! Blame: for each line of a file, the call that wrote it and who approved its apply.
//!
//! The journal has the contents before and after each transaction. Blame replays the file's history from the first
//! transaction on, and each line keeps its origin as long as the line stays. placet does not record origins line by
//! line: such a record would have to be right at every write, and cannot be made for the changes of a command. A line
//! that was moved within a file, or copied from another file, counts as written at its present place.

mod annotate;
mod blame_line;
mod file_history;
mod replay;

use blame_line::MOST;
pub use blame_line::{BlameLine, LineAttribution, LineStatus};

use crate::files::content::text_file::TextFile;
use crate::{LayerKind, View};
use file_history::FileHistory;
use placet_text::text::visible;
use replay::BlameReplay;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file's lines as the view has them, each with its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBlame {
    pub path: PathBuf,
    pub lines: Vec<BlameLine>,
    /// The reasons why the answer is incomplete.
    pub notes: Vec<String>,
}

impl View {
    /// Who wrote each line of the file at a canonical path, as it is in this view.
    pub fn blame(&self, path: &Path) -> io::Result<FileBlame> {
        let bytes = self.text_to_blame(path)?;
        let text = TextFile::new(Arc::clone(&bytes));
        let text = text.map_err(|_| refused(path, "is a binary file"))?;
        let set = if self.is_empty(LayerKind::Pending) {
            Default::default()
        } else {
            self.changes(LayerKind::Pending)?
        };
        let (entries, damage) = (self.journal().entries(), self.journal().damage());
        // What a damaged transaction did is as unknown as what a pruned one did.
        let pruned = self.journal().was_pruned() || !damage.is_empty();
        let past = FileHistory::of(path, &set, &entries);
        let mut notes: Vec<String> = damage.iter().map(ToString::to_string).collect();
        if self.journal().was_pruned() {
            notes.push(match entries.first() {
                Some(first) => {
                    format!(
                        "the journal starts with transaction {}: older transactions were pruned",
                        first.id
                    )
                }
                None => "the journal was pruned".to_string(),
            });
        }
        let (claims, marks) = BlameReplay::new(self.objects(), path, Arc::clone(&bytes), pruned).run(&past);
        let claim = |at: usize| marks.get(at).and_then(|mark| claims.get(*mark)).cloned();
        let unknown = || {
            Arc::new(LineAttribution::nobody(LineStatus::Unknown { why: "it could not be followed".into() }))
        };
        let line = |(at, span): (usize, std::ops::Range<usize>)| BlameLine {
            number: at + 1,
            text: text.line_text(&span).into_owned(),
            claim: claim(at).unwrap_or_else(unknown),
        };
        Ok(FileBlame {
            path: path.to_path_buf(),
            lines: text.lines(0).enumerate().map(line).collect(),
            notes,
        })
    }

    fn text_to_blame(&self, path: &Path) -> io::Result<Arc<Vec<u8>>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("`{}` does not exist", named(path)));
        let real = self.real(path)?.ok_or_else(missing)?;
        let meta = match std::fs::symlink_metadata(&real) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(missing()),
            other => other?,
        };
        if !meta.is_file() {
            return Err(refused(path, "is a directory, not a file"));
        }
        if meta.len() > MOST {
            let words = format!("has {} bytes: blame works for files of at most {MOST}", meta.len());
            return Err(refused(path, &words));
        }
        Ok(Arc::new(placet_text::text::regular_file::read(&real, MOST)?))
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` {why}", named(path)))
}

fn named(path: &Path) -> String {
    visible::path_name(path)
}
