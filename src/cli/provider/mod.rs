//! `placet provider`: who may answer, with which key, and whether it really does. Nothing is asked of a server unless
//! the command says so.

pub(super) mod discovery;
mod edit;
mod list;
mod shared;
mod test_calls;

use shared::{ProviderOutputFormat, load, named};

use super::command_line::args::ProviderCommand;
use super::command_line::options::Options;
use super::report::CliError;

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
