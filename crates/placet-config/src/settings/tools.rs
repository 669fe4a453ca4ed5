//! The tools: the tool set, the time limits, and the settings of each tool set.
//!
//! A tool set's own keys are next to the key that selects it. The places of files are set under `storage`.

use super::field::SettingTexts;
use super::table::settings_table;

const TOOL_DIALECTS: [&str; 8] =
    ["native", "agsh", "triggerfish", "deepagents", "agentos", "typestack", "text-editor", "codex"];

settings_table! {
    /// The tools, and what a tool set of another system has for settings.
    pub struct ToolsSettings {
        /// Default timeout of a command.
        "tools.command_timeout_ms" => command_timeout_ms: u64 = 120000;

        /// The tool set of the model: placet's own, or that of another system.
        "tools.dialect" => dialect: String in TOOL_DIALECTS = "native";

        /// False: a request only names the tools that are seldom used, and the model reads the description of one before
        /// it calls it. Each request is 2 kB shorter, and the first use of such a tool takes one request more.
        "tools.rare_in_full" => rare_in_full: bool = true;

        /// Maximum time for one search. The result lists what was not searched.
        "tools.search_seconds" => search_seconds: u64 = 60;

        /// Results longer than this are stored in a scratchpad, and the model gets a preview.
        "tools.inline_bytes" => inline_bytes: usize = 30000;

        /// deepagents: `/x` means `x` below the working directory, and paths outside of it cannot be used.
        "dialects.deepagents.virtual_paths" => deepagents_virtual_paths: bool = true;

        /// deepagents: whether write_file replaces an existing file. Default: false for version 0.4, true for 0.7.
        "dialects.deepagents.overwrite" => deepagents_overwrite: Option<bool>;

        /// deepagents: the version whose tools, parameters and results are used.
        "dialects.deepagents.version" => deepagents_version: String in ["0.4", "0.7"] = "0.4";

        /// typestack: the directory of the base `app`, below the working directory.
        "dialects.typestack.app" => typestack_app: String = ".";

        /// typestack: the directory of the base `web`. Default: `DOCUMENT_ROOT`, or `public_html` or `private_html`
        /// below `app`.
        "dialects.typestack.web" => typestack_web: Option<String>;

        /// typestack: the directory of the base `core`, which is read-only.
        "dialects.typestack.core" => typestack_core: Option<String>;

        /// triggerfish: more texts that no command may contain, in addition to the built-in texts.
        "dialects.triggerfish.denied" => triggerfish_denied: SettingTexts = [];
    }
}
