//! Why the parts could not be put together.

use crate::hooks::HookError;
use crate::permission::Mode;
use crate::permission::RuleError;
use crate::process::ResourceError;
use crate::provider::ProviderPreset;
use crate::repl::UserError;
use crate::session::SessionError;
use crate::storage::StoreError;
use crate::text::count;
use crate::workspace::WorkspaceError;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum AppError {
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("mount `{name}`: {error}")]
    Mount { name: String, error: StoreError },
    #[error("the settings do not allow the mode `{mode}`: `permission.modes` is {}", names(.permitted))]
    Mode { mode: Mode, permitted: Vec<Mode> },
    #[error("unknown provider `{name}`")]
    Provider { name: String, near: Option<String> },
    #[error("the built-in provider `offline` has no server: it answers only where it is chosen itself")]
    Offline,
    #[error("the provider `{0}` has no default model")]
    Model(String),
    #[error("invalid base URL `{url}`: {why}")]
    BaseUrl { url: String, why: &'static str },
    #[error("the provider `{0}` has no default base URL")]
    Address(String),
    #[error("the key file `{path}` can be read by others (mode {mode:o})")]
    KeyFile { path: PathBuf, mode: u32 },
    #[error("the key file `{0}` is a symbolic link")]
    KeyFileLink(PathBuf),
    #[error("`{key}`: invalid amount `{value}`: expected dollars, such as 5.00")]
    Dollars { key: &'static str, value: String },
    #[error("`{path}`: {reason}")]
    File { path: PathBuf, reason: String },
    #[error(transparent)]
    Resources(#[from] ResourceError),
    #[error("the session {id} belongs to the directory `{dir}`")]
    OtherDirectory { id: String, dir: PathBuf },
    #[error("the directory of the session {id} does not exist: `{dir}`")]
    NoDirectory { id: String, dir: PathBuf, pending: usize },
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
}

pub(super) fn names(modes: &[Mode]) -> String {
    modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ")
}

impl AppError {
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            AppError::Rule(_)
                | AppError::Mode { .. }
                | AppError::Hook(_)
                | AppError::Dollars { .. }
                | AppError::Provider { .. }
                | AppError::Offline
                | AppError::Model(_)
                | AppError::Address(_)
                | AppError::BaseUrl { .. }
        )
    }

    pub fn hint(&self) -> Option<String> {
        Some(match self {
            AppError::Provider { near: Some(near), .. } => format!("did you mean `{near}`?"),
            AppError::Provider { .. } => {
                let names: Vec<&str> = ProviderPreset::all().iter().map(|p| p.name.as_str()).collect();
                format!(
                    "the providers are offline, {}, and those under [providers] in the configuration",
                    names.join(", ")
                )
            }
            AppError::Model(_) => "choose one with `placet setup`, or pass --model".into(),
            AppError::Address(name) => {
                format!("pass --base-url, or set `base_url` of [providers.{name}] in the configuration")
            }
            AppError::KeyFile { path, .. } => format!("chmod 600 {}", path.display()),
            AppError::KeyFileLink(_) => {
                "put the key into the file that it leads to, or remove the link".into()
            }
            AppError::OtherDirectory { .. } => "resume the session in that directory".into(),
            AppError::NoDirectory { id, pending: 0, .. } => format!(
                "`placet session export {id} --format json | placet session import -` copies the conversation to this \
                 directory"
            ),
            AppError::NoDirectory { id, pending, .. } => format!(
                "changes to {} are pending: `placet changes --session {id}` lists them, with `--patch` it exports \
                 them, and `placet discard --session {id}` discards them",
                count::of(*pending, "file")
            ),
            AppError::Resources(e) => e.hint().into(),
            _ => return None,
        })
    }
}

impl From<AppError> for UserError {
    fn from(error: AppError) -> UserError {
        UserError { message: error.to_string(), hint: error.hint(), usage: error.is_usage() }
    }
}
