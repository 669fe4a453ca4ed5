//! How a tool describes itself to the model.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `[A-Za-z0-9_-]{1,64}`, which every provider accepts.
    pub name: String,
    pub description: String,
    /// A JSON Schema whose root is an object.
    pub schema: Value,
}

impl ToolSpec {
    /// The first sentence of the description: a full stop ends it where a blank or the end follows, and not in a glob.
    pub fn summary(&self) -> &str {
        let text = self.description.trim();
        let end = text.match_indices('.').map(|(at, _)| at + 1);
        let mut ends = end.filter(|end| {
            text.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n']))
        });
        ends.next().and_then(|end| text.get(..end)).unwrap_or(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: the tool that finds files was described as ``Finds files by a glob: `*.``.
    #[test]
    fn a_summary_ends_after_the_first_sentence() {
        let summary = |text: &str| {
            let spec = ToolSpec { name: "x".into(), description: text.into(), schema: Value::Null };
            spec.summary().to_string()
        };
        assert_eq!(summary("Finds `*.rs` and e.g.x. More.\n"), "Finds `*.rs` and e.g.x.");
        assert_eq!(summary("Reads.\nMore."), "Reads.");
        assert_eq!(summary("No stop"), "No stop");
    }
}
