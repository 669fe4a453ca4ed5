//! Settings: layers of values, each of which knows where it came from.
//!
//! Knows nobody: it yields plain values, and `app` maps them to each module's options. A mistake in a file is told
//! with its place and the rest applies, except where permissions are concerned: there every doubt falls to the
//! stricter side.

mod hook_text;
mod key;
mod layer;
mod merge;
mod paths;
mod problem;
mod rule_text;
mod trust;

pub use hook_text::HookText;
pub use key::{Key, Kind, Trust, name_of};
pub use layer::{Layer, Origin, Setting};
pub use merge::{Config, Sources, Standing};
pub use paths::Paths;
pub use problem::Problem;
pub use rule_text::RuleText;
pub use trust::{Project, TrustStore};
