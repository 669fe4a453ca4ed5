//! The name of an MCP server on the command line: a name that no settings have is an error with the names that they have.

use crate::app::App;
use crate::cli::report::CliError;

pub(in crate::cli) fn known(app: &App, name: &str) -> Result<(), CliError> {
    let servers = app.servers();
    if servers.definitions().any(|definition| definition.name == name) {
        return Ok(());
    }
    if app.config.has_untrusted_server(name) {
        let why = format!("the server `{name}` is in a file of this project that is not trusted");
        return Err(CliError::new(why).hint("`placet config trust` shows the file and asks"));
    }
    let names: Vec<&str> = servers.definitions().map(|definition| definition.name.as_str()).collect();
    let hint = match names.is_empty() {
        true => "`placet mcp add NAME -- COMMAND` adds one".into(),
        false => format!("the servers are {}", names.join(", ")),
    };
    Err(CliError::new(format!("no server `{name}`")).hint(&hint))
}
