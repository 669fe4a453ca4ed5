//! `placet provider`: who may answer, with which key, and whether it really does. Nothing is asked of a server unless
//! the command says so.

mod edit;
mod list;
mod test_calls;

use super::args::{Options, ProviderCommand};
use super::report::CliError;
use super::start;
use crate::app::App;
use crate::app::configured_provider::ConfiguredProvider;

pub(super) fn run(command: ProviderCommand, options: &Options) -> Result<u8, CliError> {
    match command {
        ProviderCommand::List { discover, json } => {
            let look =
                if discover { list::ServerDiscovery::AtThisMachine } else { list::ServerDiscovery::Nowhere };
            list::run(look, ProviderOutputFormat::of(json), options)
        }
        ProviderCommand::Add { name, preset, key_env, default } => {
            let new = edit::NewProvider { name, preset, key_env, answers: default };
            edit::add(&new, options)
        }
        ProviderCommand::Remove { name } => edit::remove(&name, options),
        ProviderCommand::Test { name, json } => {
            test_calls::test(name.as_deref(), ProviderOutputFormat::of(json), options)
        }
        ProviderCommand::Models { name, json } => {
            list::models(name.as_deref(), ProviderOutputFormat::of(json), options)
        }
    }
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProviderOutputFormat {
    Table,
    Json,
}

impl ProviderOutputFormat {
    fn of(json: bool) -> ProviderOutputFormat {
        if json { ProviderOutputFormat::Json } else { ProviderOutputFormat::Table }
    }
}

/// The provider that was named, or the one that answers.
fn named(app: &App, name: Option<&str>) -> Result<ConfiguredProvider, CliError> {
    let chosen = name.map(String::from).or_else(|| app.chosen()).filter(|name| name != "offline");
    let chosen = chosen.ok_or_else(|| {
        CliError::usage("no provider is configured")
            .hint("name a provider; `placet provider list` lists them")
    })?;
    Ok(app.server(&chosen)?)
}

fn load(options: &Options) -> Result<App, CliError> {
    start::app(options)
}
