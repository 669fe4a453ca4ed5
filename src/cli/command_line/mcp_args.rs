//! The words of `placet mcp`.

use super::option_number::number;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the servers whose tools placet uses
    List,
    /// Start a server, and show its tools or why it fails
    Test {
        /// Name of the server
        name: String,
    },
    /// Add a server to your settings
    Add {
        /// Name of the server: a part of the names of its tools
        name: String,
        /// A host that it may connect to; can be given several times
        #[arg(long = "host", value_name = "HOST")]
        hosts: Vec<String>,
        /// An environment variable, NAME=VALUE, or NAME for a variable that you have; can be given several times
        #[arg(long = "env", value_name = "NAME[=VALUE]")]
        env: Vec<String>,
        /// Run it without the view, with all your rights
        #[arg(long)]
        outside: bool,
        /// The address of a server over HTTP, instead of a program
        #[arg(long, value_name = "URL", conflicts_with_all = ["hosts", "env", "outside", "command"])]
        url: Option<String>,
        /// A header of each request to it, such as 'Authorization: Bearer ${TOKEN}'; can be given several times
        #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
        headers: Vec<String>,
        /// The program and its arguments
        #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Remove a server from your settings
    Remove {
        /// Name of the server
        name: String,
    },
    /// Log in to a server over HTTP, in a browser
    Login {
        /// Name of the server
        name: String,
        /// A right to ask for, in addition to those that the server names; can be given several times
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// The port of 127.0.0.1 to which the browser returns [default: any]
        #[arg(long, value_parser = number::<u16>)]
        port: Option<u16>,
        /// Print the address of the page, and open no browser
        #[arg(long)]
        no_browser: bool,
    },
    /// Forget the login at a server
    Logout {
        /// Name of the server
        name: String,
    },
    /// Serve the tools over standard input and output
    Serve {
        /// The workspace [default: the current directory]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Offer a tool that applies pending changes; protected files and large losses wait for you
        #[arg(long)]
        allow_apply: bool,
    },
}
