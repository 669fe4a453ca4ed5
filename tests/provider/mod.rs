//! Wire formats, servers and their faults.

mod hostile_provider;
mod provider_command;
mod provider_conformance;
mod provider_decode;
mod provider_encode;
mod provider_faults;
mod provider_gateway;
mod provider_key;
mod provider_live;
mod provider_network;
mod provider_offline;
mod provider_quirks;
mod provider_replay;
mod provider_server;
mod provider_text_calls;
mod provider_wires;
mod small_windows;
