//! What people write for agents: instructions (`AGENTS.md`), skills (`SKILL.md`) and commands (Markdown files).
//!
//! This module finds the files, reads them and says what is wrong with them. It decides nothing about the conversation:
//! `agent` sends the texts to the model, `tools` reads a skill for the model, and `repl` runs a command. Nothing is read
//! before somebody asks: placet starts as fast with hundreds of these files as without them.

mod catalog;
mod command_file;
mod front_matter;
mod instructions;
mod places;
mod project_facts;
mod scan;
mod skill;

pub use catalog::Guidance;
pub use command_file::{CommandCatalog, CommandFile, CommandPiece};
pub use front_matter::{FrontMatter, FrontMatterError, split_front_matter};
pub use instructions::{
    CollectedInstructions, InstructionsRequest, MAX_BYTES, instruction_file_of, of_conversation, of_directory,
};
pub use places::{GuidanceDir, GuidanceOrigin, GuidancePlaces, repository_root};
pub use project_facts::ProjectFacts;
pub use scan::GuidanceProblem;
pub use skill::{SKILL_LIST_BYTES, Skill, SkillCatalog, SkillFileError};

use std::path::Path;

/// Whether the person's rules allow a file to be read.
pub type MayRead<'a> = dyn Fn(&Path) -> bool + 'a;
