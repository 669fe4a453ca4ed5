//! Why something of another program's settings is not imported.

use crate::mcp::DefinitionError;
use crate::permission::RuleError;
use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum SkipReason {
    #[error("placet has no setting for it")]
    NoSetting,
    #[error("placet has no such tool")]
    NoTool,
    #[error("placet has no such event")]
    NoEvent,
    #[error("a hook of placet is a command; this is a `{0}`")]
    HookKind(String),
    #[error("a hook of placet has no `{0}`, and without it the hook would run for more calls")]
    HookLimit(&'static str),
    #[error("it runs in the background; placet waits for each hook")]
    HookBackground,
    #[error("its programs read other JSON than the hooks of placet; see the guide: hooks")]
    HookFormat,
    #[error("hooks are switched off there")]
    HooksOff,
    #[error("its matcher is not a regular expression: {0}")]
    Matcher(String),
    #[error("in the workspace placet reads without a question")]
    ReadsFreely,
    #[error("in the workspace the mode decides whether a change waits for your approval")]
    ModeDecidesEdits,
    #[error("placet asks about it only where a rule says so")]
    NotAsked,
    #[error("the mode decides about calls that no rule names")]
    ModeDecides,
    #[error(
        "it denies everything except other rules, and in placet a rule that denies is stronger than all others"
    )]
    DeniesTheRest,
    #[error("it has a secret, and placet copies no secrets")]
    Secret,
    #[error("argument {0} looks like a secret, and placet copies no secrets; use a variable: ${{NAME}}")]
    SecretArgument(usize),
    #[error("its address contains a secret, and placet copies no secrets; use a variable: ${{NAME}}")]
    SecretAddress,
    #[error("its address does not begin with http:// or https://, or is not valid")]
    NoAddress,
    #[error("it has a control character")]
    ControlCharacter,
    #[error("`{0}` is already set in your settings")]
    AlreadySet(String),
    #[error("the settings have a server of this name already")]
    ServerExists,
    #[error("there is a file of this name already")]
    FileExists,
    #[error("{0}")]
    Server(#[from] DefinitionError),
    #[error("it has neither a command nor an address")]
    NoCommand,
    #[error("{0}")]
    Rule(#[from] RuleError),
    #[error("it is not `tool` or `tool(pattern)`")]
    RuleShape,
    #[error("placet has no rule for a part of its calls")]
    NoRule,
    #[error("it is a regular expression over JSON, for which placet has no rule")]
    ArgumentsPattern,
    #[error("a rule of placet has no `{0}`, and without it the rule would be about more calls")]
    RuleLimit(&'static str),
    #[error(
        "no setting starts placet in unrestricted mode by import; write `mode = \"unrestricted\"` yourself"
    )]
    Unrestricted,
    #[error("`{0}` is an alias; choose a model with `placet setup`")]
    ModelAlias(String),
    #[error("a project does not decide which provider gets your messages and your key")]
    ProjectProvider,
    #[error("a project does not decide that a question is left out")]
    ProjectTrust,
    #[error("placet reads this file itself, after your trust")]
    ReadAlready,
    #[error("a variable of placet's own environment reaches commands and servers; set it in your shell")]
    Variable,
    #[error("a command gets hosts by name: see the guide, network of commands")]
    Network,
    #[error("give it on the command line: `placet --add-dir DIR`")]
    AddDir,
    #[error("placet asks you about trust itself")]
    Trust,
    #[error("servers of placet start in the working directory")]
    ServerDirectory,
    #[error("placet has no list of a server's permitted tools; deny the others with rules `mcp({0}.TOOL)`")]
    ServerTools(String),
    #[error("placet does not know the provider `{0}`")]
    Provider(String),
    #[error("files of placet's commands have letters, digits, `-` and `_` in their names")]
    CommandName,
    #[error("it has no text")]
    NoText,
    #[error("it is a link; a project's links are not followed")]
    Link,
    #[error("it has the wrong type")]
    Type,
    #[error("there are more than {0} of them")]
    TooMany(usize),
    #[error("{0}")]
    Unreadable(String),
}

impl SkipReason {
    /// Why a rule that allows a tool of placet is not needed.
    pub(super) fn not_needed(tool: &str) -> SkipReason {
        match tool {
            "read" | "find_files" | "search_contents" | "list_directory" => SkipReason::ReadsFreely,
            "write" => SkipReason::ModeDecidesEdits,
            _ => SkipReason::NotAsked,
        }
    }
}
