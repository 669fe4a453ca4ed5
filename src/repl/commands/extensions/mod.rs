//! What people, projects and servers add: commands, skills, tools, prompts, and whether they are trusted.

pub(in crate::repl) mod custom;
pub(super) mod mcp;
pub(super) mod mcp_login;
pub(in crate::repl) mod server_prompts;
pub(super) mod skills;
pub(super) mod tools;
pub(super) mod trust_question;
