//! Which session a subcommand means.

use clap::Args as ClapArgs;

/// Whose pending changes.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct SessionSelector {
    /// Only the session with this ID prefix [default: the session that changed something last]
    #[arg(long, value_name = "ID-PREFIX")]
    pub session: Option<String>,
}
