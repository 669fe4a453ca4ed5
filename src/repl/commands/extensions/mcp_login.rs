//! `/mcp login NAME` and `/mcp logout NAME`: the login at a server over HTTP, in the person's browser. A turn that waits
//! for it needs no restart: the next call uses the login.

use crate::mcp::{
    HttpServer, LoginError, LoginOptions, PendingLogin, ServerKind, log_out, login_hint, login_request,
    login_summary, logout_line,
};
use crate::repl::context::{CommandContext, CommandStop};
use crate::text::visible;
use crate::tools::ServerPool;
use crate::ui::browser;
use tokio::sync::mpsc;

fn http_server<'p>(servers: &'p ServerPool, name: &str) -> Result<&'p HttpServer, CommandStop> {
    let found = servers.definitions().find(|definition| definition.name == name);
    match found.map(|definition| &definition.kind) {
        Some(ServerKind::Http(server)) => Ok(server),
        _ => {
            let message = format!("the server `{name}` is a program: only servers with a `url` have a login");
            Err(CommandStop::error(message))
        }
    }
}

pub(in crate::repl::commands) fn log_in(
    context: &CommandContext<'_>,
    servers: &ServerPool,
    name: &str,
) -> Result<(), CommandStop> {
    let server = http_server(servers, name)?;
    let access = servers.access();
    let failed = |error: LoginError| {
        let hint = login_hint(&error, name);
        let message = format!("cannot log in to `{name}`: {error}");
        match hint {
            Some(hint) => CommandStop::with_hint(message, hint),
            None => CommandStop::error(message),
        }
    };
    let stopped = || CommandStop::note(format!("stopped: no login at {name}"));
    let options = LoginOptions { can_keep: true, ..LoginOptions::default() };
    let begin = PendingLogin::begin((name, server), (access.logins, access.pages), &options);
    let pending = context.until_stopped(begin).ok_or_else(stopped)?.map_err(failed)?;
    for line in login_request(name, server, &pending) {
        context.output.note(&line);
    }
    let page = pending.page().to_string();
    context.output.note(&visible::line(&page));
    if !browser::open(&page) {
        context.output.hint("open that page in a browser on this machine");
    }
    context.output.hint(&format!(
        "waiting for the browser; Ctrl-C stops. On another machine, use `placet mcp login {name}` in a terminal"
    ));
    // Nothing is pasted here: keys that are typed meanwhile belong to the next line.
    let (_open, mut pasted) = mpsc::channel(1);
    let done = context.until_stopped(pending.finish(&mut pasted)).ok_or_else(stopped)?.map_err(failed)?;
    context.output.note(&login_summary(name, &done));
    Ok(())
}

pub(in crate::repl::commands) fn log_out_of(
    context: &CommandContext<'_>,
    servers: &ServerPool,
    name: &str,
) -> Result<(), CommandStop> {
    let server = http_server(servers, name)?;
    let (access, address) = (servers.access(), server.login_address());
    let ending = log_out((&access.logins, access.pages), (name, &address));
    let had_login = context.until_stopped(ending).ok_or_else(|| CommandStop::note("stopped"))?;
    let had_login = had_login
        .map_err(|error| CommandStop::error(format!("cannot remove the login at `{name}`: {error}")))?;
    context.output.note(&logout_line(name, had_login));
    Ok(())
}
