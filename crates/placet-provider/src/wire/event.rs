//! The data of one event as JSON, and how its fields are read: the same for every wire format, because every format
//! treats a field that is missing or has another type as empty. Each decoder knows what an event means.

use super::super::ProviderError;
use super::error_body;
use serde_json::Value;

/// The event, or nothing where its data is blank or only says that the stream ends.
pub(super) fn read(data: &str) -> Result<Option<Value>, ProviderError> {
    let data = data.trim();
    if data.is_empty() || data == "[DONE]" {
        return Ok(None);
    }
    serde_json::from_str(data)
        .map(Some)
        .map_err(|e| ProviderError::Protocol(format!("{e} in `{}`", error_body::shortened(data))))
}

/// The error that a server put in the place of an answer.
pub(super) fn refusal(event: &Value) -> Option<ProviderError> {
    event.get("error").filter(|error| !error.is_null()).map(|_| error_body::of_event(event))
}

pub(super) fn part<'v>(value: &'v Value, key: &str) -> &'v Value {
    value.get(key).unwrap_or(&Value::Null)
}

pub(super) fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
