//! An answer that is a JSON object.

use serde_json::Value;

/// The object as text, with those of the further fields that have a value.
pub(super) fn answer<const N: usize>(mut fields: Value, more: [(&str, Option<Value>); N]) -> String {
    if let Value::Object(fields) = &mut fields {
        let present = more.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
        fields.extend(present);
    }
    fields.to_string()
}
