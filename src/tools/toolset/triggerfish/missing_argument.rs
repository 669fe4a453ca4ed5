//! An argument that is missing, in the words of the original.

/// Says what is wrong with an argument in the words of the original: `name` is the tool.
pub(super) fn missing(
    input: &serde_json::Value,
    tool: &str,
    argument: &str,
    adjective: &str,
) -> Option<String> {
    let given = input.get(argument).and_then(serde_json::Value::as_str);
    let wrong = given.is_none_or(|text| !adjective.is_empty() && text.is_empty());
    let article = if adjective.is_empty() { "a" } else { "a non-empty" };
    wrong.then(|| format!("Error: {tool} requires {article} '{argument}' argument (string)."))
}
