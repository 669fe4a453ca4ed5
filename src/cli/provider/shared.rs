//! What the subcommands share: the form of the output, and the settings that are listed.

use super::super::command_line::options::Options;
use super::super::report::CliError;
use super::super::startup::start;
use crate::app::App;
use crate::app::configured_provider::ConfiguredProvider;

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProviderOutputFormat {
    Table,
    Json,
}

impl ProviderOutputFormat {
    pub(super) fn of(json: bool) -> ProviderOutputFormat {
        if json { ProviderOutputFormat::Json } else { ProviderOutputFormat::Table }
    }
}

/// The provider that was named, or the one that answers.
pub(super) fn named(app: &App, name: Option<&str>) -> Result<ConfiguredProvider, CliError> {
    let chosen = name.map(String::from).or_else(|| app.chosen().filter(|name| name != "offline"));
    let chosen = chosen.ok_or_else(|| {
        CliError::usage("no provider is configured")
            .hint("`placet setup` chooses one, or name a provider; `placet provider list` lists them")
    })?;
    Ok(app.server_of_command(&chosen)?)
}

pub(super) fn load(options: &Options) -> Result<App, CliError> {
    start::app(options)
}
