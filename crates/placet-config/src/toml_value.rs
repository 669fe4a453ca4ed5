//! TOML values in error messages.

use toml_edit::Item;

/// A value for a person: the value itself if it is short and plain, otherwise its type.
pub(super) fn found(item: &Item) -> String {
    item.as_value().map_or_else(|| format!("a {}", item.type_name()), found_value)
}

pub(super) fn found_value(value: &toml_edit::Value) -> String {
    /// Longer text is cut: the message is about the setting.
    const LONGEST: usize = 60;
    match value {
        toml_edit::Value::String(text) => {
            let short: String = text.value().chars().take(LONGEST).collect();
            let more = if short.len() < text.value().len() { "..." } else { "" };
            format!("\"{}{more}\"", placet_text::text::visible::line(&short))
        }
        toml_edit::Value::Array(_) => "an array".into(),
        toml_edit::Value::InlineTable(_) => "a table".into(),
        plain => plain.to_string().trim().into(),
    }
}
