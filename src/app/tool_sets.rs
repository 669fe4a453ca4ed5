//! The settings of other systems' tool sets.

use crate::config::Config;
use crate::tools::{DeepagentsVersion, ToolSetSettings, TypestackBases};
use std::path::PathBuf;

pub(super) fn settings(config: &Config) -> ToolSetSettings {
    let path = |key: &str| config.text(key).map(PathBuf::from);
    let bases = TypestackBases {
        app: path("dialects.typestack.app").unwrap_or_else(|| PathBuf::from(".")),
        web: path("dialects.typestack.web"),
        core: path("dialects.typestack.core"),
    };
    let version = config.text("dialects.deepagents.version").and_then(DeepagentsVersion::parse);
    let deepagents = version.unwrap_or_default();
    let overwrite = config.flag("dialects.deepagents.overwrite");
    ToolSetSettings {
        virtual_paths: config.flag("dialects.deepagents.virtual_paths").unwrap_or(true),
        overwrite: overwrite.unwrap_or(deepagents == DeepagentsVersion::V07),
        deepagents,
        bases,
        denied: config.list("dialects.triggerfish.denied").iter().map(|(text, _)| text.clone()).collect(),
    }
}
