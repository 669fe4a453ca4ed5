//! The tool sets of other systems, over the same operations.
//!
//! A tool set consists of names, parameters, result formats and messages. placet's own plans change the files, through
//! the same permission check, view and ledger as native calls. Where a system's own behaviour would lose work, the
//! guide's page of that system says what placet does instead.

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

use super::remember::{CommandWriteTool, RememberTool};
use super::{Tool, ToolRegistry};
use std::sync::Arc;

impl ToolRegistry {
    /// The tools of a tool set.
    pub fn of_dialect(dialect: ToolSet, settings: &ToolSetSettings) -> ToolRegistry {
        // Tools of the person's own commands, whatever the model's tools are.
        let of_person = || -> Vec<Arc<dyn Tool>> {
            let init: Arc<dyn Tool> = Arc::new(CommandWriteTool::of_init());
            let checks: Arc<dyn Tool> = Arc::new(CommandWriteTool::of_checks());
            let remember: Arc<dyn Tool> = Arc::new(RememberTool::default());
            if dialect == ToolSet::Native { vec![init, checks] } else { vec![init, checks, remember] }
        };
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
        // A batch that the person types runs in every tool set.
        let batch = if dialect == ToolSet::Typestack { Vec::new() } else { typestack::tools(settings) };
        registry.with_unlisted(batch.into_iter().chain(of_person()).collect())
    }
}
