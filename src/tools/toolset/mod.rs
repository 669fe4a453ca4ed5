//! The tool surfaces of other systems, over the same operations.
//!
//! A dialect is names, parameters, result shapes and messages. What a surface does to files is done by placet's own
//! plans, through the same gate, view and ledger as native calls; where a system's own behaviour would lose work, the
//! guide's page of that system says what is done instead.

mod agentos;
mod agsh;
mod codex;
mod deepagents;
mod foreign_tool;
mod json_answer;
mod text_editor;
mod tool_set;
mod triggerfish;
mod typestack;

pub use tool_set::{DeepagentsVersion, ToolSet, ToolSetSettings, TypestackBases};
pub use typestack::is_batch;

use super::ToolRegistry;

impl ToolRegistry {
    /// The tools of a surface.
    pub fn of_dialect(dialect: ToolSet, settings: &ToolSetSettings) -> ToolRegistry {
        let unlisted = || typestack::tools(settings);
        let registry = match dialect {
            ToolSet::Native => ToolRegistry::native(),
            ToolSet::Agsh => ToolRegistry::of(agsh::tools()),
            ToolSet::Deepagents => ToolRegistry::of(deepagents::tools(settings)),
            ToolSet::Typestack => ToolRegistry::of(typestack::tools(settings)),
            ToolSet::TextEditor => ToolRegistry::of(text_editor::tools()),
            ToolSet::Codex => ToolRegistry::of(codex::tools()),
            ToolSet::Triggerfish => ToolRegistry::of(triggerfish::tools(settings)),
            ToolSet::Agentos => ToolRegistry::of(agentos::tools()).with_prefix("tool::"),
        };
        // A batch that the person writes out runs whatever the surface is.
        if dialect == ToolSet::Typestack { registry } else { registry.with_unlisted(unlisted()) }
    }
}
