//! The settings with which a conversation starts: its mode, its provider, its budget.
//!
//! These keys are at the top of a file, outside every table, or in a table too small for a file of its own. A person's
//! own providers are configured under `providers`.

use super::field::SettingTexts;
use super::table::settings_table;

const MODES: [&str; 5] = ["none", "read", "ask", "write", "unrestricted"];

settings_table! {
    /// What a conversation starts with.
    pub struct ConversationSettings {
        /// The mode a session starts in. Without this setting, the shell at a terminal starts in `ask`; with
        /// `--dialect agsh`, it starts in `read`.
        "mode" => mode: String in MODES = "read";

        /// The modes Shift+Tab goes through.
        "modes" => modes: SettingTexts = ["read", "ask", "write"];

        /// The provider: a built-in one or one from `[providers]`. Default: the first provider whose key is in the
        /// environment, else `offline`.
        "provider" => provider: Option<String>;

        /// Whether answers are streamed. `false` is for servers and proxies that cannot stream.
        "stream" => stream: Option<bool> = true;

        /// The model, by the provider's name for it.
        "model" => model: Option<String>;

        /// Base URL of the provider, if not the default.
        "base_url" => base_url: Option<String>;

        /// A command whose first line of output is the key. placet runs it at the first request, for at most 10
        /// seconds.
        "api_key_command" => api_key_command: Option<String>;

        /// Maximum number of tokens in one answer. Default: the known limit of the model. placet never asks for more than
        /// a quarter of the context window.
        "max_output_tokens" => max_output_tokens: Option<u64>;

        /// The model's context window in tokens, if placet does not know it.
        "context_window" => context_window: Option<u64>;

        /// Whether the model accepts pictures, if placet does not know it.
        "vision" => vision: Option<bool>;

        /// Whether the model accepts PDF, if placet does not know it.
        "pdf" => pdf: Option<bool>;

        /// Dollars that one session may cost before placet asks you, such as `5.00`.
        "budget.session" => budget_session: Option<String>;

        /// The same for all sessions of a day together.
        "budget.day" => budget_day: Option<String>;

        /// How many sub-agents work at the same time.
        "agents.at_once" => agents_at_once: usize = 4;

        /// Maximum number of requests in one turn; 0 means no limit.
        "max_turns" => max_turns: u32 = 200;

        /// How often the same call with the same result, or the same text in an answer, may repeat in one turn before
        /// placet asks you; the model is warned at half of it. Calls that differ and fail in the same way may do so
        /// twice as often, at most 20 times. 0 never asks.
        "max_repeats" => max_repeats: u32 = 5;

        /// How full, in percent, the model's window may be before placet summarizes the beginning of the
        /// conversation; 0 turns this off.
        "compact_percent" => compact_percent: u64 = 85;

        /// Text added to the end of the system prompt.
        "append_system_prompt" => append_system_prompt: Option<String>;

        /// The editor for Ctrl-X Ctrl-E. Default: VISUAL, EDITOR, then vi.
        "editor" => editor: Option<String>;
    }
}
