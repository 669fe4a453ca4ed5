//! `placet mcp login` and `placet mcp logout`: the login at a server over HTTP, in the person's browser.

use super::server_name::known;
use crate::app::App;
use crate::cli::command_line::options::Options;
use crate::cli::report::{self, CliError, print, warn};
use crate::cli::startup::start;
use crate::mcp::{
    HttpAccess, HttpServer, LoginError, LoginOptions, PendingLogin, ServerKind, login_hint, login_request,
    login_summary, logout_line,
};
use crate::session::Scratchpads;
use crate::text::visible;
use crate::ui::browser;
use std::io::{BufRead, Read};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The longest address that may be pasted, in bytes.
const LONGEST_LINE: u64 = 16 << 10;

pub(in crate::cli) fn log_in(
    name: &str,
    (wanted, opens_browser): (LoginOptions, bool),
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let (server, access) = server(&app, name)?;
    let HttpAccess { pages, logins, .. } = access;
    let failed = |error: LoginError| {
        let hint = login_hint(&error, name);
        let failure = CliError::new(format!("cannot log in to `{name}`: {error}"));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    };
    let done = start::runtime()?.block_on(async {
        let pending = PendingLogin::begin((name, &server), (logins, pages), &wanted).await.map_err(failed)?;
        show(name, &server, &pending)?;
        let address = pending.page().to_string();
        let has_opened = opens_browser && tokio::task::block_in_place(|| browser::open(&address));
        if !has_opened {
            warn("open that page in a browser");
            warn(&format!(
                "if the browser runs on another machine, paste the address at which it ends ({}?...)",
                pending.return_address()
            ));
        }
        pending.finish(&mut typed_lines()).await.map_err(failed)
    })?;
    print(&format!("{}\n", login_summary(name, &done))).map(|()| report::DONE)
}

/// Names who asks for the login, so that a look-alike can be noticed, and the page.
fn show(name: &str, server: &HttpServer, pending: &PendingLogin) -> Result<(), CliError> {
    login_request(name, server, pending).iter().for_each(|line| warn(line));
    print(&format!("{}\n", visible::line(pending.page().as_str())))
}

/// Lines of standard input. The thread that reads them ends with the process.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    let reading = move || {
        let mut line = String::new();
        let read = std::io::BufReader::new(std::io::stdin().take(LONGEST_LINE)).read_line(&mut line);
        if read.is_ok_and(|count| count > 0) {
            drop(sender.blocking_send(line));
        }
    };
    // Without the thread nothing can be pasted, and the browser still answers.
    drop(std::thread::Builder::new().name("pasted address".into()).spawn(reading));
    lines
}

pub(in crate::cli) fn log_out(name: &str, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let (server, access) = server(&app, name)?;
    let place = (&access.logins, access.pages);
    let ended = start::runtime()?.block_on(crate::mcp::log_out(place, (name, &server.login_address())));
    let had_login =
        ended.map_err(|error| CliError::new(format!("cannot remove the login at `{name}`: {error}")))?;
    print(&format!("{}\n", logout_line(name, had_login))).map(|()| report::DONE)
}

/// The server, which must be one over HTTP, and the way to it.
fn server(app: &App, name: &str) -> Result<(HttpServer, HttpAccess), CliError> {
    known(app, name)?;
    let found = app.servers().definitions().find(|definition| definition.name == name);
    let Some(ServerKind::Http(server)) = found.map(|definition| definition.kind.clone()) else {
        let message = format!("the server `{name}` is a program: only servers with a `url` have a login");
        return Err(CliError::usage(message));
    };
    // The pool of a conversation has the proxies and certificates of the settings.
    let env = app.env(Arc::new(Scratchpads::in_memory()), &app.fresh_view());
    Ok((server, env.servers.access()))
}
