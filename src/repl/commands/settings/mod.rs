//! What holds for this shell: settings, modes, models, permissions, themes and keys.

pub(super) mod config;
pub(super) mod keys;
pub(super) mod mode;
pub(super) mod model;
pub(super) mod permission;
pub(super) mod setup;
pub(super) mod status;
pub(super) mod taint;
pub(super) mod theme;
