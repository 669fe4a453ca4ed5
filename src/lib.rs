//! placet: an interactive agent shell in which every change waits for your assent.
//!
//! The map, from the ground up. A module uses strictly lower floors and never a neighbour on its own floor;
//! `tests/architecture.rs` holds the code to that.
//!
//! | floor | modules |
//! |---|---|
//! | 8 command line | [`cli`] |
//! | 7 composition | [`app`] |
//! | 6 shell | [`repl`] |
//! | 5 front ends | [`ui`], [`serve`] |
//! | 4 agent | [`agent`] |
//! | 3 tools | [`tools`] |
//! | 2 resources | [`provider`], [`workspace`], [`session`], [`sandbox`], [`media`], [`storage`], [`audit`], [`hooks`], [`metrics`] |
//! | 1 rules and plumbing | [`permission`], [`config`], [`process`], [`http`] |
//! | 0 basic types | [`conversation`], [`text`], [`private`] |

pub mod agent;
pub mod app;
pub mod audit;
pub mod cli;
pub mod config;
pub mod conversation;
pub mod hooks;
pub mod http;
pub mod media;
pub mod metrics;
pub mod permission;
pub mod private;
pub mod process;
pub mod provider;
pub mod repl;
pub mod sandbox;
pub mod serve;
pub mod session;
pub mod storage;
pub mod text;
pub mod tools;
pub mod ui;
pub mod workspace;
