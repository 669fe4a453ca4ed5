//! agent_context
