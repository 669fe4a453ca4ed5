//! agent_kill
