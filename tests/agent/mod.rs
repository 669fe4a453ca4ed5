//! A turn: requests, calls, hooks, instructions, sub-agents, costs.

mod agent;
mod agent_arguments;
mod agent_context;
mod agent_kill;
mod agent_loop;
mod agent_stop;
mod asking;
mod children;
mod cost;
mod guidance;
mod hooks;
mod hooks_claude;
mod hostile_notes;
mod instructions_shell;
mod summing_up;
