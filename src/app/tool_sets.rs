//! The settings of other systems' tool sets.

use crate::config::Config;
use crate::tools::{DeepagentsVersion, ToolSetSettings, TypestackBases};
use std::path::PathBuf;

pub(super) fn settings(config: &Config) -> ToolSetSettings {
    let settings = &config.settings().tools;
    let bases = TypestackBases {
        app: PathBuf::from(&settings.typestack_app),
        web: settings.typestack_web.as_ref().map(PathBuf::from),
        core: settings.typestack_core.as_ref().map(PathBuf::from),
    };
    let deepagents = DeepagentsVersion::parse(&settings.deepagents_version).unwrap_or_default();
    ToolSetSettings {
        virtual_paths: settings.deepagents_virtual_paths,
        overwrite: settings.deepagents_overwrite.unwrap_or(deepagents == DeepagentsVersion::V07),
        deepagents,
        bases,
        denied: settings.triggerfish_denied.to_vec(),
    }
}
