//! Servers of tools, and placet as one.

mod hostile_mcp;
mod hostile_servers;
mod mcp;
mod mcp_client;
mod mcp_http;
mod mcp_login;
mod mcp_requests;
mod mcp_start;
