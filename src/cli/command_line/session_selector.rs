//! Which session a subcommand means.

use crate::app::App;
use crate::cli::report::{CliError, warn};
use crate::conversation::SessionId;
use crate::session::{SessionStore, TryName};
use clap::Args as ClapArgs;

/// Whose pending changes.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct SessionSelector {
    /// Only the session with this ID prefix [default: the session that changed something last]
    #[arg(long, value_name = "ID-PREFIX")]
    pub session: Option<String>,
    /// Only the try of this name
    #[arg(long = "try", value_name = "NAME", value_parser = TryName::parse, conflicts_with = "session")]
    pub try_name: Option<TryName>,
}

/// The session of the try `name` of this directory.
pub(in crate::cli) fn session_of(app: &App, name: &TryName) -> Result<SessionId, CliError> {
    let found = opened(app)?.find_try(app.cwd(), name)?;
    let missing = || {
        CliError::new(format!("this directory has no try {name}"))
            .hint(format!("`placet try list` lists them, `placet --try {name}` begins it"))
    };
    Ok(found.ok_or_else(missing)?.id)
}

/// The name of a try now; it was `name` before.
pub(in crate::cli) fn try_name_now(app: &App, id: &SessionId, name: &TryName) -> Result<TryName, CliError> {
    let tries = app.store()?.0.tries(app.cwd())?;
    let now = tries.into_iter().find(|one| one.session.id == *id).map(|one| one.name);
    Ok(now.unwrap_or_else(|| name.clone()))
}

/// The store of sessions.
pub(in crate::cli) fn opened(app: &App) -> Result<SessionStore, CliError> {
    let (store, notes) = app.store()?;
    notes.iter().for_each(|note| warn(&format!("note: {note}")));
    Ok(store)
}
