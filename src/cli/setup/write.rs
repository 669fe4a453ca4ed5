//! Writing what was answered: the key first, then the settings, each in one step. Where the second fails the first is
//! taken back, so that nothing is left half done.

use super::key_tool::KeyToolError;
use super::plan::{KeyChoice, KeyPlace, SettingsPlan, SetupAnswers};
use crate::app::{AppError, keys};
use crate::cli::report::CliError;
use crate::cli::settings_file;
use crate::private;
use crate::text::regular_file;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum SetupWriteError {
    #[error("{0}")]
    Key(#[from] AppError),
    #[error("{0}")]
    Tool(#[from] KeyToolError),
    #[error("{0}")]
    Settings(String),
    #[error("`{}` was changed in the meantime; nothing was written", .0.display())]
    Changed(PathBuf),
}

impl From<CliError> for SetupWriteError {
    fn from(error: CliError) -> SetupWriteError {
        SetupWriteError::Settings(error.message)
    }
}

/// Where the two files are.
#[derive(Clone, Debug)]
pub(super) struct SetupFiles {
    pub(super) settings: PathBuf,
    pub(super) keys: PathBuf,
}

pub(super) async fn write(
    answers: SetupAnswers,
    plan: SettingsPlan,
    files: SetupFiles,
) -> Result<(), SetupWriteError> {
    if settings_file::read(&files.settings)? != plan.before {
        return Err(SetupWriteError::Changed(files.settings));
    }
    let mut earlier = None;
    if let KeyChoice::Typed(key) = &answers.key {
        match answers.place {
            KeyPlace::File => {
                earlier = Some(regular_file::read(&files.keys, regular_file::SETTINGS).ok());
                keys::store(&files.keys, &answers.provider, key)?;
            }
            KeyPlace::Tool(tool) => tool.store(&answers.provider, key).await?,
        }
    }
    if plan.is_empty() {
        return Ok(());
    }
    let written = settings_file::replace(&files.settings, &plan.after);
    if let (Err(_), Some(earlier)) = (&written, earlier) {
        restore(&files.keys, earlier);
    }
    Ok(written?)
}

/// The key file as it was.
fn restore(path: &Path, earlier: Option<Vec<u8>>) {
    let restored = match earlier {
        Some(bytes) => private::write(path, &bytes),
        None => std::fs::remove_file(path),
    };
    if let Err(e) = restored {
        tracing::warn!("`{}` was not restored: {e}", path.display());
    }
}
