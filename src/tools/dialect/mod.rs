//! The tool surfaces of other systems, over the same operations.
//!
//! A dialect is names, parameters, result shapes and messages. What a surface does to files is done by placet's own
//! plans, through the same gate, view and ledger as native calls; where a system's own behaviour would lose work, the
//! guide's page of that system says what is done instead.

mod agentos;
mod agsh;
mod codex;
mod deepagents;
mod foreign;
mod text_editor;
mod triggerfish;
mod typestack;

pub use typestack::is_batch;

use super::Registry;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
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

impl Dialect {
    pub const ALL: [Dialect; 8] = [
        Dialect::Native,
        Dialect::Agsh,
        Dialect::Triggerfish,
        Dialect::Deepagents,
        Dialect::Agentos,
        Dialect::Typestack,
        Dialect::TextEditor,
        Dialect::Codex,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Dialect::Native => "native",
            Dialect::Agsh => "agsh",
            Dialect::Triggerfish => "triggerfish",
            Dialect::Deepagents => "deepagents",
            Dialect::Agentos => "agentos",
            Dialect::Typestack => "typestack",
            Dialect::TextEditor => "text-editor",
            Dialect::Codex => "codex",
        }
    }

    pub fn parse(text: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|d| d.name() == text.trim())
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the surfaces can be told, from the settings.
#[derive(Clone, Debug)]
pub struct DialectSettings {
    /// deepagents: `/x` is `x` below the workspace, and nothing else can be named.
    pub virtual_paths: bool,
    /// deepagents: write_file replaces an existing file, as from version 0.7 on.
    pub overwrite: bool,
    pub deepagents: DeepagentsVersion,
    pub bases: Bases,
    /// triggerfish: commands that hold one of these are refused.
    pub denied: Vec<String>,
}

/// Whose tools the `deepagents` tool set has.
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

/// typestack: the directories its bases stand for; relative ones are below the workspace.
#[derive(Clone, Debug)]
pub struct Bases {
    pub app: PathBuf,
    /// Without it: `$DOCUMENT_ROOT`, `public_html` or `private_html` below `app`, whichever is there.
    pub web: Option<PathBuf>,
    /// Read-only.
    pub core: Option<PathBuf>,
}

impl Default for DialectSettings {
    fn default() -> DialectSettings {
        let bases = Bases { app: PathBuf::from("."), web: None, core: None };
        let deepagents = DeepagentsVersion::default();
        DialectSettings { virtual_paths: true, overwrite: false, deepagents, bases, denied: Vec::new() }
    }
}

impl Registry {
    /// The tools of a surface.
    pub fn of_dialect(dialect: Dialect, settings: &DialectSettings) -> Registry {
        let unlisted = || typestack::tools(settings);
        let registry = match dialect {
            Dialect::Native => Registry::native(),
            Dialect::Agsh => Registry::of(agsh::tools()),
            Dialect::Deepagents => Registry::of(deepagents::tools(settings)),
            Dialect::Typestack => Registry::of(typestack::tools(settings)),
            Dialect::TextEditor => Registry::of(text_editor::tools()),
            Dialect::Codex => Registry::of(codex::tools()),
            Dialect::Triggerfish => Registry::of(triggerfish::tools(settings)),
            Dialect::Agentos => Registry::of(agentos::tools()),
        };
        // A batch that the person writes out runs whatever the surface is.
        if dialect == Dialect::Typestack { registry } else { registry.with_unlisted(unlisted()) }
    }
}
