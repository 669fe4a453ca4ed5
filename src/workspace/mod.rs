//! The workspace: the directories the agent may work in, and what it has seen of them. To be built.

#[derive(Debug, Default)]
pub struct Ledger;
#[derive(Debug)]
pub struct Workspace;
