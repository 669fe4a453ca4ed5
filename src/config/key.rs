//! Every key there is: one table that checks files, feeds `config show` and makes the reference page.

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    Number,
    Flag,
    /// A list of texts; lists of several layers are joined.
    Texts,
    /// A list of rules, each a text or a table; lists of several layers are joined.
    Rules,
    /// A list of tables, each a hook; lists of several layers are joined.
    Hooks,
}

/// What a project's file may say before the person trusts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Looks only: always taken.
    Harmless,
    /// Taken only where it makes things stricter.
    Tightens,
    /// Not taken.
    Needed,
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// As it would stand in a file; empty where there is none.
    pub default: &'static str,
    pub trust: Trust,
    pub help: &'static str,
}

const MODES: &[&str] = &["none", "read", "ask", "write", "unrestricted"];
const TOOL_DIALECTS: &[&str] =
    &["native", "agsh", "triggerfish", "deepagents", "agentos", "typestack", "text-editor", "codex"];
/// The strictest first, for what is classified; and for how much may go somewhere.
const LEVELS: &[&str] = &["RESTRICTED", "CONFIDENTIAL", "INTERNAL", "PUBLIC"];
const CEILINGS: &[&str] = &["PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"];
const DIALECTS: &[&str] = &["anthropic", "openai-chat", "openai-responses", "gemini"];
const OUTPUT_LIMITS: &[&str] = &["max_completion_tokens", "max_tokens", "unsaid"];

/// `*` in a name stands for any one segment.
pub const KEYS: &[Key] = &[
    key("mode", Kind::Word(MODES), "\"read\"", Trust::Tightens, "The mode a session starts in."),
    key(
        "modes",
        Kind::Texts,
        "[\"read\", \"ask\", \"write\"]",
        Trust::Needed,
        "The modes Shift+Tab goes through.",
    ),
    key(
        "provider",
        Kind::Text,
        "",
        Trust::Needed,
        "The provider's name: a built-in one or one from `[providers]`. Without it: the first whose key is in the environment, else `offline`.",
    ),
    key("model", Kind::Text, "", Trust::Needed, "The model's name, as the provider calls it."),
    key("base_url", Kind::Text, "", Trust::Needed, "Where the provider is, if not at its usual address."),
    key(
        "api_key_command",
        Kind::Text,
        "",
        Trust::Needed,
        "A command whose first line of output is the key. Run at the first request, at most 10 seconds.",
    ),
    key(
        "max_output_tokens",
        Kind::Number,
        "",
        Trust::Needed,
        "The most tokens of one answer. Without it: what the model is known to allow.",
    ),
    key(
        "context_window",
        Kind::Number,
        "",
        Trust::Needed,
        "The model's window in tokens, where placet does not know it.",
    ),
    key(
        "vision",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the model takes pictures, where placet does not know it.",
    ),
    key(
        "budget.session",
        Kind::Text,
        "",
        Trust::Needed,
        "Dollars one session may cost before you are asked, such as `5.00`.",
    ),
    key("budget.day", Kind::Text, "", Trust::Needed, "The same for all sessions of a day together."),
    key("agents.at_once", Kind::Number, "4", Trust::Needed, "How many sub-agents work at the same time."),
    key(
        "max_turns",
        Kind::Number,
        "200",
        Trust::Tightens,
        "The most requests one turn may make; 0 means no bound.",
    ),
    key(
        "compact_percent",
        Kind::Number,
        "85",
        Trust::Needed,
        "How full the model's window may be before the beginning is summed up; 0 never does.",
    ),
    key("append_system_prompt", Kind::Text, "", Trust::Needed, "Text added to the end of the system prompt."),
    key(
        "editor",
        Kind::Text,
        "",
        Trust::Needed,
        "The editor for Ctrl-X Ctrl-E. Without it: VISUAL, EDITOR, then vi.",
    ),
    key(
        "permission.allow",
        Kind::Rules,
        "[]",
        Trust::Needed,
        "Rules that answer yes where the mode would ask: `run(cargo test *)`.",
    ),
    key("permission.ask", Kind::Rules, "[]", Trust::Harmless, "Rules that always ask."),
    key(
        "permission.deny",
        Kind::Rules,
        "[]",
        Trust::Harmless,
        "Rules that refuse, in every mode: `read(.env)`.",
    ),
    key(
        "hooks",
        Kind::Hooks,
        "[]",
        Trust::Tightens,
        "Hooks, as `[[hooks]]` tables: see the guide. What a project's file says is taken where it only denies or asks, until you trust it.",
    ),
    key(
        "audit.enabled",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether every decision and every call is written to the audit log.",
    ),
    key(
        "classification.paths",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "What is classified, as LEVEL:PATTERN; the first that matches counts: `CONFIDENTIAL:docs/board/**`.",
    ),
    key(
        "classification.default",
        Kind::Word(LEVELS),
        "\"PUBLIC\"",
        Trust::Tightens,
        "The level of everything else in the workspace.",
    ),
    key(
        "classification.hosts",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "The highest level that may go to a host, as LEVEL:HOST: `INTERNAL:*.example.org`.",
    ),
    key(
        "classification.network_ceiling",
        Kind::Word(CEILINGS),
        "\"PUBLIC\"",
        Trust::Tightens,
        "The highest level that may go to any other host.",
    ),
    key(
        "classification.provider_ceiling",
        Kind::Word(CEILINGS),
        "\"CONFIDENTIAL\"",
        Trust::Tightens,
        "The highest level that may go to the provider, or to an MCP client: what is classified higher is not read.",
    ),
    key(
        "metrics.enabled",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether calls are counted and timed, on this machine alone.",
    ),
    key(
        "metrics.otlp_endpoint",
        Kind::Text,
        "",
        Trust::Needed,
        "Where `placet metrics push` sends them, as OTLP over HTTP: `http://localhost:4318`.",
    ),
    key(
        "tools.command_timeout_ms",
        Kind::Number,
        "120000",
        Trust::Needed,
        "How long a command may run where the call does not say.",
    ),
    key(
        "mounts.*.path",
        Kind::Text,
        "",
        Trust::Needed,
        "The prefix under which a store's files are found: `/memories/`.",
    ),
    key(
        "mounts.*.store",
        Kind::Text,
        "",
        Trust::Needed,
        "Where they are: `memory`, `sqlite:NAME`, `dir:PATH`, `scratchpads`, `s3://BUCKET/PREFIX` or `fs:PATH`.",
    ),
    key("mounts.*.endpoint", Kind::Text, "", Trust::Needed, "s3: the server, where it is not Amazon's."),
    key("mounts.*.region", Kind::Text, "\"us-east-1\"", Trust::Needed, "s3: the region."),
    key(
        "mounts.*.access_key_env",
        Kind::Text,
        "\"AWS_ACCESS_KEY_ID\"",
        Trust::Needed,
        "s3: the environment variable that holds the access key.",
    ),
    key(
        "mounts.*.secret_key_env",
        Kind::Text,
        "\"AWS_SECRET_ACCESS_KEY\"",
        Trust::Needed,
        "s3: the environment variable that holds the secret key.",
    ),
    key(
        "secrets.redact",
        Kind::Flag,
        "true",
        Trust::Needed,
        "Whether what looks like a key, a token or a password is kept from the model, the session and the logs.",
    ),
    key(
        "secrets.shown",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Globs of files whose secrets are let out: `.env.test`.",
    ),
    key(
        "tools.dialect",
        Kind::Word(TOOL_DIALECTS),
        "\"native\"",
        Trust::Needed,
        "Whose tools the model gets: placet's own, or those of another system.",
    ),
    key(
        "dialects.deepagents.virtual_paths",
        Kind::Flag,
        "true",
        Trust::Needed,
        "deepagents: `/x` is `x` below the working directory, and nothing else can be named.",
    ),
    key(
        "dialects.deepagents.overwrite",
        Kind::Flag,
        "false",
        Trust::Needed,
        "deepagents: write_file replaces an existing file, as from version 0.7 on.",
    ),
    key(
        "dialects.typestack.app",
        Kind::Text,
        "\".\"",
        Trust::Needed,
        "typestack: the directory of the base `app`, below the working directory.",
    ),
    key(
        "dialects.typestack.web",
        Kind::Text,
        "",
        Trust::Needed,
        "typestack: the directory of the base `web`. Without it: `DOCUMENT_ROOT`, or `public_html` or `private_html` below `app`.",
    ),
    key(
        "dialects.typestack.core",
        Kind::Text,
        "",
        Trust::Needed,
        "typestack: the directory of the base `core`, which is read-only.",
    ),
    key(
        "dialects.triggerfish.denied",
        Kind::Texts,
        "[]",
        Trust::Harmless,
        "triggerfish: more texts that no command may hold, beside the built-in ones.",
    ),
    key(
        "tools.inline_bytes",
        Kind::Number,
        "30000",
        Trust::Needed,
        "Results longer than this go to a scratchpad, with a preview.",
    ),
    key(
        "brake.files",
        Kind::Number,
        "20",
        Trust::Tightens,
        "Write mode: files that one turn may delete or overwrite, beside its own, before it is asked about.",
    ),
    key("brake.bytes", Kind::Number, "1048576", Trust::Tightens, "The same in bytes of those files."),
    key(
        "sandbox.backend",
        Kind::Word(&["auto", "snapshot"]),
        "\"auto\"",
        Trust::Needed,
        "`auto`: the copy-on-write view where the machine has it. `snapshot`: commands change files at once, after asking for each, and what they changed is found by comparing.",
    ),
    key(
        "sandbox.passthrough",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Directories that commands write directly, outside the view and without undo: `target`.",
    ),
    key("sandbox.mask", Kind::Texts, "[]", Trust::Harmless, "More paths that no command sees: `~/.secrets`."),
    key(
        "sandbox.keep_env",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Environment variables commands keep although they look like keys.",
    ),
    key(
        "sandbox.hosts",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Hosts every command may reach: `crates.io`, `*.npmjs.org:443`.",
    ),
    key(
        "sandbox.memory_mb",
        Kind::Number,
        "0",
        Trust::Needed,
        "Memory of each process of a command; 0 is no bound.",
    ),
    key(
        "sandbox.processes",
        Kind::Number,
        "0",
        Trust::Needed,
        "Processes a command may have; 0 is no bound.",
    ),
    key("journal.max_mb", Kind::Number, "2048", Trust::Needed, "Disk that contents kept for undo may take."),
    key(
        "sessions.keep_days",
        Kind::Number,
        "0",
        Trust::Needed,
        "Sessions not used for so many days are removed, once a day; 0 keeps them for ever. Pinned ones and those with pending changes stay.",
    ),
    key(
        "sessions.keep_bytes",
        Kind::Number,
        "0",
        Trust::Needed,
        "The most that all sessions may take together; beyond it the oldest are removed. 0 is no limit.",
    ),
    key("journal.max_days", Kind::Number, "30", Trust::Needed, "How long they are kept."),
    key(
        "network.silence_seconds",
        Kind::Number,
        "180",
        Trust::Needed,
        "A stream that says nothing for this long is given up.",
    ),
    key(
        "network.connect_seconds",
        Kind::Number,
        "15",
        Trust::Needed,
        "A connection that does not come about for this long is given up.",
    ),
    key(
        "network.first_byte_seconds",
        Kind::Number,
        "",
        Trust::Needed,
        "How long a provider may take to begin its answer. Without it: as long as any other silence.",
    ),
    key(
        "network.ca_file",
        Kind::Text,
        "",
        Trust::Needed,
        "A file of certificates (PEM) that are trusted beside those of the system: a company's own.",
    ),
    key(
        "network.warm",
        Kind::Flag,
        "false",
        Trust::Needed,
        "A connection to the provider is opened, and kept open, while you type.",
    ),
    key(
        "network.fallback",
        Kind::Texts,
        "[]",
        Trust::Needed,
        "Who answers when the provider does not, in this order: `gemini/gemini-3.8-flash`.",
    ),
    key(
        "network.attempts",
        Kind::Number,
        "5",
        Trust::Needed,
        "How often a request is tried when the provider is busy or out of reach.",
    ),
    key(
        "ui.theme",
        Kind::Text,
        "\"auto\"",
        Trust::Harmless,
        "`auto`, or the name of a theme: dark, light, high-contrast, mono.",
    ),
    key(
        "ui.color",
        Kind::Word(&["auto", "always", "never"]),
        "\"auto\"",
        Trust::Harmless,
        "Colour: `auto` follows the terminal and NO_COLOR.",
    ),
    key(
        "ui.edit_mode",
        Kind::Word(&["emacs", "vi"]),
        "\"emacs\"",
        Trust::Harmless,
        "The prompt's key bindings.",
    ),
    key(
        "ui.motion",
        Kind::Word(&["normal", "none"]),
        "\"normal\"",
        Trust::Harmless,
        "`none`: nothing on the screen moves without new information.",
    ),
    key(
        "ui.fold_lines",
        Kind::Number,
        "6",
        Trust::Harmless,
        "Lines of a call's output shown before it is folded.",
    ),
    key(
        "ui.expanded",
        Kind::Flag,
        "false",
        Trust::Harmless,
        "Thinking and the output of calls are shown at length; Ctrl-O switches it while a turn runs.",
    ),
    key(
        "ui.notify",
        Kind::Text,
        "\"bell\"",
        Trust::Needed,
        "How you are called when you look elsewhere: off, bell, osc9, osc777, or `command LINE`.",
    ),
    key("ui.title", Kind::Flag, "true", Trust::Harmless, "The window's title names what was said first."),
    key(
        "ui.marks",
        Kind::Flag,
        "true",
        Trust::Harmless,
        "The terminal is told where prompts and answers begin, to jump between them (OSC 133).",
    ),
    key(
        "ui.extended_keys",
        Kind::Flag,
        "true",
        Trust::Harmless,
        "The terminal is asked to tell Shift+Enter from Enter (kitty protocol, modifyOtherKeys).",
    ),
    key(
        "ui.links",
        Kind::Word(&["auto", "never"]),
        "\"auto\"",
        Trust::Harmless,
        "Addresses and files can be clicked: `auto` where the terminal is known to follow links.",
    ),
    key(
        "ui.pictures",
        Kind::Word(&["auto", "kitty", "iterm2", "sixel", "blocks", "off"]),
        "\"auto\"",
        Trust::Harmless,
        "How pictures are shown: in the terminal's own way where it is known to have one, else as half blocks.",
    ),
    key(
        "ui.linear",
        Kind::Flag,
        "false",
        Trust::Harmless,
        "Turns and reviews are told line by line, nothing is repainted: for screen readers.",
    ),
    key(
        "keys.*.*",
        Kind::Text,
        "",
        Trust::Needed,
        "Keys of an action on a screen, with blanks between them: `keys.review.accept = \"a y\"`.",
    ),
    key("ui.history_lines", Kind::Number, "1000", Trust::Harmless, "Lines of input history loaded at start."),
    key(
        "providers.*.dialect",
        Kind::Word(DIALECTS),
        "\"openai-chat\"",
        Trust::Needed,
        "The wire format a provider of your own speaks.",
    ),
    key(
        "providers.*.base_url",
        Kind::Text,
        "",
        Trust::Needed,
        "Its address, up to and including `/v1` where it has one.",
    ),
    key(
        "providers.*.key_env",
        Kind::Text,
        "",
        Trust::Needed,
        "The environment variable that holds its key; none for local servers.",
    ),
    key("providers.*.api_key_command", Kind::Text, "", Trust::Needed, "A command that prints its key."),
    key("providers.*.model", Kind::Text, "", Trust::Needed, "The model used when none is named."),
    key(
        "providers.*.preset",
        Kind::Text,
        "",
        Trust::Needed,
        "The built-in provider it is like: its wire format, headers and quirks hold where nothing else is said.",
    ),
    key(
        "providers.*.path",
        Kind::Text,
        "",
        Trust::Needed,
        "The path below its address, where it is not the wire format's own: `/chat/completions`.",
    ),
    key(
        "providers.*.api_version",
        Kind::Text,
        "",
        Trust::Needed,
        "What every address ends with as `api-version`, for servers that want one.",
    ),
    key(
        "providers.*.auth_header",
        Kind::Text,
        "",
        Trust::Needed,
        "The header that carries the key: `api-key`. Without it: `Authorization: Bearer`, or the preset's.",
    ),
    key(
        "providers.*.quirks.output_limit",
        Kind::Word(OUTPUT_LIMITS),
        "",
        Trust::Needed,
        "How the longest answer is asked for, or `unsaid`.",
    ),
    key(
        "providers.*.quirks.system_role",
        Kind::Word(&["system", "developer"]),
        "",
        Trust::Needed,
        "What the system prompt's message is called.",
    ),
    key(
        "providers.*.quirks.stream_options",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether usage is asked for with `stream_options`.",
    ),
    key(
        "providers.*.quirks.reasoning_fields",
        Kind::Texts,
        "",
        Trust::Needed,
        "Where the model's reasoning is read from, in this order.",
    ),
    key(
        "providers.*.quirks.reasoning_back",
        Kind::Text,
        "",
        Trust::Needed,
        "The field in which reasoning is sent back as words.",
    ),
    key(
        "providers.*.quirks.reasoning_blocks",
        Kind::Text,
        "",
        Trust::Needed,
        "The field with reasoning as blocks, which are sent back unchanged: `reasoning_details`.",
    ),
    key(
        "providers.*.quirks.reasoning_summary",
        Kind::Text,
        "",
        Trust::Needed,
        "openai-responses: how much of its reasoning a model is asked to tell: `auto`.",
    ),
    key(
        "providers.*.quirks.tool_images",
        Kind::Word(&["beside", "inside"]),
        "",
        Trust::Needed,
        "Where the pictures of a result go: into the next message, or into the result itself.",
    ),
    key(
        "providers.*.quirks.parallel_tool_calls",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the model may make several calls at once; said only where it is set.",
    ),
    key(
        "providers.*.quirks.after_results",
        Kind::Word(&["anybody", "assistant"]),
        "",
        Trust::Needed,
        "Who may speak after results: `assistant` puts a word of the model before yours.",
    ),
    key(
        "providers.*.quirks.empty_content",
        Kind::Word(&["null", "empty", "omitted"]),
        "",
        Trust::Needed,
        "What stands for the text of an answer that only makes calls.",
    ),
    key(
        "providers.*.quirks.call_ids",
        Kind::Word(&["any", "nine"]),
        "",
        Trust::Needed,
        "`nine`: the server wants ids of nine letters and digits.",
    ),
    key(
        "providers.*.quirks.cache_key",
        Kind::Flag,
        "",
        Trust::Needed,
        "Whether the server knows `prompt_cache_key`.",
    ),
    key(
        "providers.*.quirks.unsigned_call",
        Kind::Text,
        "",
        Trust::Needed,
        "gemini: what stands for the proof of a call that another model made.",
    ),
];

const fn key(name: &'static str, kind: Kind, default: &'static str, trust: Trust, help: &'static str) -> Key {
    Key { name, kind, default, trust, help }
}

impl Key {
    /// The key that `name` is an instance of: `providers.mine.model` is one of `providers.*.model`.
    pub fn find(name: &str) -> Option<&'static Key> {
        // Nearly all names are those of the table: the others are taken apart.
        let whole = KEYS.iter().find(|key| key.name == name && !name.contains('*'));
        whole.or_else(|| Key::find_below(name))
    }

    pub(super) fn find_below(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| {
            let (mut pattern, mut segments) = (key.name.split('.'), name.split('.'));
            loop {
                match (pattern.next(), segments.next()) {
                    (None, None) => return true,
                    (Some("*"), Some(segment)) if !segment.is_empty() => {}
                    (Some(p), Some(s)) if p == s => {}
                    _ => return false,
                }
            }
        })
    }

    /// True when `prefix` is a table that holds keys.
    pub(super) fn is_table(prefix: &str) -> bool {
        let depth = prefix.split('.').count();
        KEYS.iter().any(|key| {
            let names: Vec<&str> = key.name.split('.').collect();
            let heads = names.iter().take(depth).zip(prefix.split('.')).all(|(k, p)| *k == p || *k == "*");
            names.len() > depth && heads
        })
    }
}

impl Kind {
    /// What was wanted, as words for an error.
    pub fn describe(self) -> String {
        match self {
            Kind::Text => "a string".into(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Number => "a whole number, 0 or more".into(),
            Kind::Flag => "true or false".into(),
            Kind::Texts => "a list of strings".into(),
            Kind::Rules => "a list of rules".into(),
            Kind::Hooks => "a list of hooks".into(),
        }
    }
}
