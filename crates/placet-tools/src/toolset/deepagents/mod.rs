//! LangChain deepagents: the tools of its 0.4 documentation, or those of 0.7 if the settings ask for them.
//!
//! Three differences are intended: an edit never converts line ends, an empty old string is refused, and no message
//! names the directory behind virtual paths.

mod delete;
mod edit;
mod execute;
mod grep;
mod ls;
mod options;
mod path;
mod read;
mod result_text;
mod transfer;

use super::super::Tool;
use super::ToolSetSettings;
use options::DeepagentsOptions;
use std::sync::Arc;

pub(super) fn tools(settings: &ToolSetSettings) -> Vec<Arc<dyn Tool>> {
    let surface = Arc::new(DeepagentsOptions {
        virtual_paths: settings.virtual_paths,
        overwrite: settings.overwrite,
        version: settings.deepagents,
    });
    let mut tools = vec![
        ls::ls(&surface),
        read::read_file(&surface),
        edit::write_file(&surface),
        edit::edit_file(&surface),
        ls::glob(&surface),
        grep::grep(&surface),
        execute::execute(&surface),
        read::file_data(&surface),
        transfer::upload(&surface),
        transfer::download(&surface),
    ];
    if surface.is_newer() {
        tools.insert(4, delete::delete(&surface));
    }
    tools
}
