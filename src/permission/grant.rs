//! A grant: an "always" the person gave, for this session.

use super::Reach;
use std::path::PathBuf;

/// Each grant is shown in full before it is given, so the words and the match are one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Exactly this command line, in this directory.
    Command { command: String, cwd: PathBuf },
    /// Writing inside the workspace, protected files left out: what write mode allows.
    WriteInside,
    /// Reading one file outside the workspace, or one directory and what is below it.
    ReadBelow(PathBuf),
}

impl Grant {
    pub fn covers(&self, reach: &Reach) -> bool {
        use super::Place;
        match (self, reach) {
            (Grant::Command { command, cwd }, Reach::Run { command: wanted, cwd: place, .. }) => {
                command == wanted && cwd == place
            }
            (Grant::WriteInside, Reach::Write { place: Place::Inside, .. }) => true,
            (Grant::ReadBelow(dir), Reach::Read { path, .. }) => path.starts_with(dir),
            _ => false,
        }
    }

    /// The words shown beside "always".
    pub fn describe(&self) -> String {
        match self {
            Grant::Command { command, cwd } => format!("`{command}` in {}", cwd.display()),
            Grant::WriteInside => "changing files in the workspace".into(),
            Grant::ReadBelow(dir) => format!("reading {}", dir.display()),
        }
    }
}
