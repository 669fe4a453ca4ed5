//! How long the arguments of a call may be. Only contents of files have a reason to be long: a name, a path, a pattern or a
//! command of megabytes is refused before any of it is copied, shown or searched.

use super::ToolError;
use serde_json::{Map, Value};

/// The longest text of an argument that is no content, in bytes, and the longest name of an argument.
const LONGEST_ARGUMENT: usize = 1 << 20;

/// How much of a name is repeated in an error, in bytes.
const REPEATED: usize = 100;

/// The keyword of JSON Schema by which a parameter says that it takes the content of a file, a part of one, or the place
/// of one where such a part goes: it may be of any length, and so may all that is in it. Models do not get the keyword.
pub(crate) const CONTENT: &str = "contentMediaType";

/// Refuses arguments that are too long for the schema of their tool. Copies nothing of them.
pub(crate) fn check(arguments: &Map<String, Value>, schema: &Value) -> Result<(), ToolError> {
    match too_long_field(arguments, Some(schema)) {
        None => Ok(()),
        Some((name, bytes)) => Err(ToolError::hint(
            format!("`{}` has {bytes} bytes; an argument may have {LONGEST_ARGUMENT}", beginning(name)),
            "only contents of files may be longer",
        )),
    }
}

/// The name and the length of the first field that is too long.
fn too_long_field<'v>(fields: &'v Map<String, Value>, schema: Option<&Value>) -> Option<(&'v str, usize)> {
    let known = schema.and_then(|schema| schema.get("properties"));
    fields.iter().find_map(|(name, value)| match name.len() {
        0..=LONGEST_ARGUMENT => too_long(value, name, known.and_then(|known| known.get(name))),
        bytes => Some((name.as_str(), bytes)),
    })
}

fn too_long<'v>(value: &'v Value, name: &'v str, schema: Option<&Value>) -> Option<(&'v str, usize)> {
    let is_list = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "array");
    let takes = |schema: &Value| value.is_string() || value.is_array() && is_list(schema);
    if schema.is_some_and(|schema| schema.get(CONTENT).is_some() && takes(schema)) {
        return None;
    }
    match value {
        Value::String(text) => (text.len() > LONGEST_ARGUMENT).then_some((name, text.len())),
        Value::Array(items) => {
            let each = schema.and_then(|schema| schema.get("items"));
            items.iter().find_map(|item| too_long(item, name, each))
        }
        Value::Object(fields) => too_long_field(fields, schema),
        _ => None,
    }
}

/// The beginning of a name that may be of any length.
pub(crate) fn beginning(name: &str) -> &str {
    name.get(..name.floor_char_boundary(REPEATED)).unwrap_or_default()
}
