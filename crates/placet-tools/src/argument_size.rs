//! How long the arguments of a call may be. Only contents of files have a reason to be long: a name, a path, a pattern or a
//! command of megabytes is refused before any of it is copied, shown or searched.

use super::ToolError;
use serde_json::Value;

/// The longest text of an argument that is no content, in bytes, and the longest name of an argument.
pub(crate) const LONGEST_ARGUMENT: usize = 1 << 20;

/// How much of a name is repeated in an error, in bytes.
const REPEATED: usize = 100;

/// The arguments that contain what is written to a file, or the place in a file where it is written, whatever tool and
/// whatever list they are in.
const CONTENTS: &[&str] = &[
    "content",
    "data",
    "file_text",
    "input",
    "insert_after",
    "insert_before",
    "insert_text",
    "new_str",
    "new_string",
    "new_text",
    "old_str",
    "old_string",
    "old_text",
    "patch",
    "sContent",
    "sReplace",
    "sSearch",
];

/// Refuses arguments that are too long. Copies nothing of them.
pub(crate) fn check(arguments: &Value) -> Result<(), ToolError> {
    match too_long(arguments, "") {
        None => Ok(()),
        Some((name, bytes)) => Err(ToolError::hint(
            format!("`{}` has {bytes} bytes; an argument may have {LONGEST_ARGUMENT}", beginning(name)),
            "only contents of files may be longer",
        )),
    }
}

/// The name and the length of the first argument that is too long.
fn too_long<'v>(value: &'v Value, name: &'v str) -> Option<(&'v str, usize)> {
    match value {
        Value::String(text) => {
            (text.len() > LONGEST_ARGUMENT && !CONTENTS.contains(&name)).then_some((name, text.len()))
        }
        Value::Array(items) => items.iter().find_map(|item| too_long(item, name)),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match name.len() {
            0..=LONGEST_ARGUMENT => too_long(value, name),
            bytes => Some((name, bytes)),
        }),
        _ => None,
    }
}

/// The beginning of a name that may be of any length.
pub(crate) fn beginning(name: &str) -> &str {
    name.get(..name.floor_char_boundary(REPEATED)).unwrap_or_default()
}
