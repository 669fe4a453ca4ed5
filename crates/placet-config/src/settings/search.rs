//! The search engine of `search_web`. A query says what a person works on, and so a project's file must be trusted first.

use super::table::settings_table;

const ENGINES: [&str; 7] = ["searxng", "brave", "tavily", "exa", "anthropic", "openai", "gemini"];

settings_table! {
    /// Who gets the queries of `search_web`. Without an engine the model has no such tool.
    pub struct SearchSettings {
        /// The search engine of `search_web`. Without it the model has no such tool.
        "search.engine" => engine: Option<String> in ENGINES;

        /// The address of the engine: needed for `searxng`, such as `https://search.example.org`.
        "search.url" => url: Option<String>;

        /// The model that searches, for the engines `anthropic`, `openai` and `gemini`.
        "search.model" => model: Option<String>;

        /// The environment variable with its key. Default: the engine's usual name, such as `BRAVE_API_KEY`.
        "search.key_env" => key_env: Option<String>;

        /// A command whose first line of output is the key.
        "search.key_command" => key_command: Option<String>;

        /// How many results a search returns, 20 at most.
        "search.results" => results: usize = 8;
    }
}
