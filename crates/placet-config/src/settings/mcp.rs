//! Servers that speak MCP: `[mcp.servers.NAME]`. Each is a program that somebody else wrote, or an address that gets what
//! a model sends, and so a project's file must be trusted first.

use super::field::SettingTexts;
use super::table::settings_table;

settings_table! {
    /// One `[mcp.servers.NAME]`.
    pub struct McpServerSettings {
        /// The program of the server, which speaks MCP over standard input and output.
        "mcp.servers.*.command" => command: Option<String>;

        /// The address of a server over HTTP, instead of a program.
        "mcp.servers.*.url" => url: Option<String>;

        /// Headers of each request to `url`: `NAME: VALUE`. `${NAME}` is a variable of your environment. No list and no
        /// message shows the values.
        "mcp.servers.*.headers" => headers: SettingTexts = [];

        /// A command that prints more headers, as lines `NAME: VALUE` or as an object of JSON.
        "mcp.servers.*.headers_command" => headers_command: Option<String>;

        /// The id that the authorization server of `url` gave you for placet, if it registers no program by itself.
        "mcp.servers.*.oauth_client_id" => oauth_client_id: Option<String>;

        /// The secret that belongs to `oauth_client_id`: write `${NAME}` for a variable of your environment.
        "mcp.servers.*.oauth_client_secret" => oauth_client_secret: Option<String>;

        /// The arguments of the program.
        "mcp.servers.*.args" => args: SettingTexts = [];

        /// Environment variables of the server: `NAME=VALUE`, or `NAME` for a variable that placet has.
        "mcp.servers.*.env" => env: SettingTexts = [];

        /// Hosts that the server may connect to, such as `api.github.com`. Without a host it has no network.
        "mcp.servers.*.hosts" => hosts: SettingTexts = [];

        /// Run the server without the view, with all your rights: it changes files at once.
        "mcp.servers.*.outside" => outside: bool = false;

        /// Believe the server which of its tools change nothing: these run without a question.
        "mcp.servers.*.trusted" => trusted: bool = false;

        /// Do not start the server again when files have changed: it keeps its memory, and sees older files.
        "mcp.servers.*.keep_running" => keep_running: bool = false;

        /// Files below your home directory that are written there, such as `.notes/` or `.memory.json`. What else the server
        /// writes there lasts for the session.
        "mcp.servers.*.keep" => keep: SettingTexts = [];

        /// Use the server.
        "mcp.servers.*.enabled" => enabled: bool = true;

        /// How long a start or a call may take without a sign of life.
        "mcp.servers.*.timeout_seconds" => timeout_seconds: u64 = 60;
    }
}
