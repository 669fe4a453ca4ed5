//! What placet's own tools are called in the surface in use, for the texts that name one.
//!
//! Errors teach by naming the next call. Under another system's names that tool is called otherwise, or is not there at
//! all; then the hint is left out, for it would lead nowhere.

use super::{Facts, Output, Tool, ToolError};
use crate::conversation::Part;
use serde_json::Value;
use std::sync::Arc;

/// The tools that hints name. `operations` and `scratchpad` are ordinary words too and are not looked for.
const NAMED: [&str; 8] = [
    "read_file",
    "edit_file",
    "write_file",
    "apply_patch",
    "list_directory",
    "find_files",
    "search_contents",
    "run_command",
];

/// See the module.
#[derive(Clone)]
pub(super) struct Names {
    /// Native names and what they are here, where that is another name or none.
    other: Arc<[(&'static str, Option<String>)]>,
    /// How the text of a scratchpad is asked for, up to the name.
    page: Option<&'static str>,
}

impl Names {
    /// `called` are the names of `tools`: to ask a tool for its name makes all that a model is told of it.
    pub(super) fn of(tools: &[Arc<dyn Tool>], called: &[String]) -> Names {
        let has = |name: &str| called.iter().any(|called| called == name);
        let like = |native: &str| {
            let mut all = tools.iter().zip(called);
            all.find(|(tool, _)| tool.judged_as(&Value::Null) == native).map(|(_, called)| called.clone())
        };
        let other = NAMED.into_iter().filter(|name| !has(name)).map(|name| (name, like(name))).collect();
        let page = match (has("scratchpad"), has("scratchpad_read")) {
            (true, _) => Some("scratchpad(action: \"read\", name: "),
            (false, true) => Some("scratchpad_read(name: "),
            (false, false) => None,
        };
        Names { other, page }
    }

    /// ` Page with scratchpad(...)`, where scratchpads can be read.
    pub(super) fn page(&self, pad: &str) -> String {
        self.page.map(|call| format!(" Page with {call}\"{pad}\", offset, limit)")).unwrap_or_default()
    }

    pub(super) fn error(&self, error: ToolError) -> ToolError {
        let hint = error.hint.and_then(|hint| self.hint(hint));
        ToolError { hint, ..error }
    }

    /// The same for a call that failed when it ran.
    pub(super) fn output(&self, output: Output) -> Output {
        let Facts::Failed(error) = &output.facts else { return output };
        let (before, error) = (error.for_model(), self.error(error.clone()));
        match output.for_model.as_slice() {
            [Part::Text { text }] if *text == before => Output {
                for_model: vec![Part::text(error.for_model())],
                facts: Facts::Failed(error),
                ..output
            },
            _ => output,
        }
    }

    fn hint(&self, mut hint: String) -> Option<String> {
        for (native, here) in self.other.iter() {
            while let Some(at) = word(&hint, native) {
                hint.replace_range(at..at + native.len(), here.as_deref()?);
            }
        }
        Some(hint)
    }
}

/// Where `name` stands as a word of its own, and not as part of a longer name or of a path.
fn word(text: &str, name: &str) -> Option<usize> {
    let joins = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    let alone = |at: usize| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(joins) && !after.is_some_and(joins)
    };
    text.match_indices(name).map(|(at, _)| at).find(|at| alone(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let other = [("read_file", Some("file_read".to_string())), ("edit_file", None)];
        Names { other: other.into(), page: None }
    }

    #[test]
    fn a_hint_names_the_tool_as_it_is_called_here_or_is_left_out() {
        let hint = |text: &str| names().hint(text.into());
        assert_eq!(
            hint("read_file(path: \"a\"), then go on").as_deref(),
            Some("file_read(path: \"a\"), then go on")
        );
        assert_eq!(hint("`.` has `read_file.rs`").as_deref(), Some("`.` has `read_file.rs`"));
        assert_eq!(hint("look again").as_deref(), Some("look again"));
        assert_eq!(hint("read it, then use edit_file"), None);
    }
}
