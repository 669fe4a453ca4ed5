//! What is lost on a large scale, and the words for it.

use placet_text::text::count;
use placet_text::text::visible;
use std::path::{Path, PathBuf};

/// A loss in a change set that needs the person's approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LargeLoss {
    /// The repository at this path is removed: its history, with all that is only there.
    Repository { path: PathBuf, files: usize },
    /// Every file that was in this root is removed, and what came instead is less.
    Root { path: PathBuf, files: usize },
    /// More files or bytes are deleted or overwritten than the loss limit allows.
    Files { files: usize, bytes: u64 },
}

impl LargeLoss {
    /// For a person: `removes the repository `.git` (46 files)`. `name` shows a path of the workspace.
    pub fn words(&self, name: &dyn Fn(&Path) -> PathBuf) -> String {
        let counted = |files: usize| count::of(files, "file");
        match self {
            LargeLoss::Repository { path, files } => {
                format!("removes the repository `{}` ({})", visible::path_name(&name(path)), counted(*files))
            }
            LargeLoss::Root { path, files } => {
                format!("removes everything in `{}` ({})", visible::path_name(path), counted(*files))
            }
            LargeLoss::Files { files, bytes } => {
                format!("removes {} ({})", counted(*files), count::of(*bytes, "byte"))
            }
        }
    }

    /// The word that a person types to confirm: the name of the removed thing, where the name can be typed.
    pub fn word(&self, name: &dyn Fn(&Path) -> PathBuf) -> String {
        let word = match self {
            LargeLoss::Repository { path, .. } | LargeLoss::Root { path, .. } => {
                name(path).to_str().unwrap_or_default().to_string()
            }
            LargeLoss::Files { .. } => String::new(),
        };
        let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic());
        if plain && word != "." { word } else { "remove".into() }
    }

    /// The flag that approves it where no question is possible.
    pub fn flag(&self) -> String {
        match self {
            LargeLoss::Repository { path, .. } | LargeLoss::Root { path, .. } => {
                format!("--apply-protected {}", visible::path(path))
            }
            LargeLoss::Files { files, .. } => format!("--apply-loss {files}"),
        }
    }
}
