//! `placet provider`: who may answer, with which key, and whether it really does. Nothing is asked of a server unless
//! the command says so.

mod edit;
mod list;
mod trial;

use super::args::{Options, ProviderCommand};
use super::report::Failure;
use super::start;
use crate::app::App;
use crate::app::server::ConfiguredProvider;

pub(super) fn run(command: ProviderCommand, options: &Options) -> Result<u8, Failure> {
    match command {
        ProviderCommand::List { discover, json } => {
            let look = if discover { list::Look::AtThisMachine } else { list::Look::Nowhere };
            list::run(look, Form::of(json), options)
        }
        ProviderCommand::Add { name, preset, key_env, default } => {
            let new = edit::New { name, preset, key_env, answers: default };
            edit::add(&new, options)
        }
        ProviderCommand::Remove { name } => edit::remove(&name, options),
        ProviderCommand::Test { name, json } => trial::test(name.as_deref(), Form::of(json), options),
        ProviderCommand::Models { name, json } => list::models(name.as_deref(), Form::of(json), options),
    }
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    Json,
}

impl Form {
    fn of(json: bool) -> Form {
        if json { Form::Json } else { Form::Table }
    }
}

/// The provider that was named, or the one that answers.
fn named(app: &App, name: Option<&str>) -> Result<ConfiguredProvider, Failure> {
    let chosen = name.map(String::from).or_else(|| app.chosen()).filter(|name| name != "offline");
    let chosen = chosen.ok_or_else(|| {
        Failure::usage("no provider is configured").hint("name one; `placet provider list` shows them")
    })?;
    Ok(app.server(&chosen)?)
}

fn load(options: &Options) -> Result<App, Failure> {
    start::app(options)
}
