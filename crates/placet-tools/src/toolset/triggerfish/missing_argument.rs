//! The error for a missing argument, in the wording of the original.

use serde_json::Value;

/// Reports the first of these arguments that is missing; an argument that ends in `!` must not be empty.
pub(super) fn missing(input: &Value, tool: &str, arguments: &[&str]) -> Option<String> {
    let wrong = |argument: &&str| {
        let name = argument.trim_end_matches('!');
        let given = input.get(name).and_then(Value::as_str);
        given.is_none_or(|text| name != *argument && text.is_empty())
    };
    let argument = arguments.iter().copied().find(wrong)?;
    let (article, name) = match argument.strip_suffix('!') {
        Some(name) => ("a non-empty", name),
        None => ("a", argument),
    };
    Some(format!("Error: {tool} requires {article} '{name}' argument (string)."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_argument_that_is_missing_is_named_as_the_original_names_it() {
        let words = |input: Value| missing(&input, "edit_file", &["old_text!"]).unwrap();
        let wanted = "Error: edit_file requires a non-empty 'old_text' argument (string).";
        assert_eq!(words(json!({"old_text": ""})), wanted);
        assert_eq!(words(json!({"old_text": 3})), wanted);
        assert_eq!(
            missing(&json!({}), "read_file", &["path"]).unwrap(),
            "Error: read_file requires a 'path' argument (string)."
        );
    }
}
