//! The tool sets that exist, and their settings.

use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    #[default]
    Native,
    Agsh,
    Triggerfish,
    Deepagents,
    Agentos,
    Typestack,
    TextEditor,
    Codex,
}

impl ToolSet {
    pub const ALL: [ToolSet; 8] = [
        ToolSet::Native,
        ToolSet::Agsh,
        ToolSet::Triggerfish,
        ToolSet::Deepagents,
        ToolSet::Agentos,
        ToolSet::Typestack,
        ToolSet::TextEditor,
        ToolSet::Codex,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ToolSet::Native => "native",
            ToolSet::Agsh => "agsh",
            ToolSet::Triggerfish => "triggerfish",
            ToolSet::Deepagents => "deepagents",
            ToolSet::Agentos => "agentos",
            ToolSet::Typestack => "typestack",
            ToolSet::TextEditor => "text-editor",
            ToolSet::Codex => "codex",
        }
    }

    pub fn parse(text: &str) -> Option<ToolSet> {
        ToolSet::ALL.into_iter().find(|d| d.name() == text.trim())
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of the tool sets, from the settings.
#[derive(Clone, Debug)]
pub struct ToolSetSettings {
    /// deepagents: `/x` is `x` below the workspace, and nothing else can be named.
    pub virtual_paths: bool,
    /// deepagents: write_file replaces an existing file, as from version 0.7 on.
    pub overwrite: bool,
    pub deepagents: DeepagentsVersion,
    pub bases: TypestackBases,
    /// triggerfish: commands that contain one of these texts are refused.
    pub denied: Vec<String>,
}

/// Which version the `deepagents` tool set follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeepagentsVersion {
    /// As the documentation of 0.4 describes them.
    #[default]
    V04,
    /// As 0.7 has them: `delete`, `max_count`, other forms of the results.
    V07,
}

impl DeepagentsVersion {
    pub fn parse(text: &str) -> Option<DeepagentsVersion> {
        match text {
            "0.4" => Some(DeepagentsVersion::V04),
            "0.7" => Some(DeepagentsVersion::V07),
            _ => None,
        }
    }
}

/// typestack: the directories to which its bases refer; relative paths are below the workspace.
#[derive(Clone, Debug)]
pub struct TypestackBases {
    pub app: PathBuf,
    /// Without it: `$DOCUMENT_ROOT`, `public_html` or `private_html` below `app`, whichever is there.
    pub web: Option<PathBuf>,
    /// Read-only.
    pub core: Option<PathBuf>,
}

impl Default for ToolSetSettings {
    fn default() -> ToolSetSettings {
        let bases = TypestackBases { app: PathBuf::from("."), web: None, core: None };
        let deepagents = DeepagentsVersion::default();
        ToolSetSettings { virtual_paths: true, overwrite: false, deepagents, bases, denied: Vec::new() }
    }
}
