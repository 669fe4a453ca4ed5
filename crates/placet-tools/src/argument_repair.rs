//! Arguments that fit no parameter as they are, and mean exactly one thing: small models write `"2"` and `2.0` for 2,
//! `"true"` for true, and parameters that no tool has.
//!
//! Every change is a value, and the model reads what was changed. A string is never changed, and a name that resembles a
//! parameter is not ignored: it may be a misspelt one.

use super::argument_size::beginning;
use placet_text::conversation::{CallInput, json_repair};
use placet_text::text::nearest;
use serde_json::{Map, Value};
use std::fmt;

/// What was changed in the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ArgumentRepair {
    Converted {
        name: String,
        from: Value,
        to: Value,
    },
    Ignored {
        name: String,
    },
    /// The text was not valid JSON.
    Json,
}

impl fmt::Display for ArgumentRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentRepair::Converted { name, from, to } => write!(f, "`{name}` {from} was taken as {to}"),
            ArgumentRepair::Ignored { name } => write!(f, "there is no parameter `{name}`: it was ignored"),
            ArgumentRepair::Json => f.write_str("the arguments were not valid JSON and were corrected"),
        }
    }
}

/// All of them in a line for the model.
pub(super) fn line(repairs: &[ArgumentRepair]) -> String {
    repairs.iter().map(ArgumentRepair::to_string).collect::<Vec<_>>().join("; ")
}

/// The arguments in the only way in which they fit `schema`, and what was changed. `None` if nothing had to be.
pub(super) fn repaired(input: &CallInput, schema: &Value) -> Option<(Value, Vec<ArgumentRepair>)> {
    let mut repairs = Vec::new();
    let mut value = match input {
        CallInput::Object(value) => value.clone(),
        CallInput::Malformed { is_cut: true, .. } => return None,
        CallInput::Malformed { raw, .. } => {
            repairs.push(ArgumentRepair::Json);
            json_repair::repaired_object(raw)?
        }
    };
    if let Value::Object(fields) = &mut value {
        ignore_unknown(fields, schema, &mut repairs);
        convert_fields(fields, schema, &mut repairs);
    }
    (!repairs.is_empty()).then_some((value, repairs))
}

/// Only of the call itself: in a list of operations an unknown field may be what matters.
fn ignore_unknown(fields: &mut Map<String, Value>, schema: &Value, repairs: &mut Vec<ArgumentRepair>) {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
    fields.retain(|name, _| {
        let is_meant = known.contains_key(name) || nearest(name, known.keys().map(String::as_str)).is_some();
        // The note repeats the name: nobody would read a long one.
        let is_meant = is_meant || beginning(name).len() < name.len();
        if !is_meant {
            repairs.push(ArgumentRepair::Ignored { name: name.clone() });
        }
        is_meant
    });
}

fn convert_fields(fields: &mut Map<String, Value>, schema: &Value, repairs: &mut Vec<ArgumentRepair>) {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, value) in fields {
        let Some(schema) = known.get(name) else { continue };
        if let Some(to) = converted(value, schema) {
            let from = std::mem::replace(value, to.clone());
            repairs.push(ArgumentRepair::Converted { name: name.clone(), from, to });
        }
        let items = schema.get("items").filter(|items| items.get("properties").is_some());
        if let (Some(items), Value::Array(list)) = (items, value) {
            for item in list.iter_mut().filter_map(Value::as_object_mut) {
                convert_fields(item, items, repairs);
            }
        }
    }
}

/// The only value of the type of `schema` that `value` can mean, if it is not of that type.
fn converted(value: &Value, schema: &Value) -> Option<Value> {
    match (schema.get("type")?.as_str()?, value) {
        ("integer", Value::String(text)) => whole(text.trim()).map(Value::from),
        // Beyond 2^53 two whole numbers have one form as a float.
        ("integer", Value::Number(number)) if number.is_f64() => {
            let float = number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0)?;
            Some(Value::from(float as i64))
        }
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        (kind @ ("array" | "object"), Value::String(text)) => {
            let value: Value = serde_json::from_str(text).ok()?;
            (if kind == "array" { value.is_array() } else { value.is_object() }).then_some(value)
        }
        _ => None,
    }
}

/// `2` and `2.0`, and not `2.5`, `1e3`, `0x2` or `02`.
fn whole(text: &str) -> Option<i64> {
    let (digits, zeros) = text.split_once('.').unwrap_or((text, "0"));
    let number: i64 = digits.parse().ok()?;
    let is_plain = number.to_string() == digits && !zeros.is_empty() && zeros.bytes().all(|b| b == b'0');
    is_plain.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        let edit =
            json!({"type": "object", "properties": {"old": {"type": "string"}, "all": {"type": "boolean"}}});
        json!({"type": "object", "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "force": {"type": "boolean"},
            "hosts": {"type": "array", "items": {"type": "string"}},
            "edits": {"type": "array", "items": edit},
        }, "required": ["path"]})
    }

    fn read(given: Value) -> Option<(Value, String)> {
        repaired(&CallInput::Object(given), &schema()).map(|(value, repairs)| (value, line(&repairs)))
    }

    #[test]
    fn a_value_with_one_meaning_is_taken_and_said() {
        let limit = |value: Value| json!({"path": "a", "limit": value});
        for two in [json!("2"), json!("2.0"), json!(" 2 "), json!(2.0)] {
            let said = format!("`limit` {two} was taken as 2");
            assert_eq!(read(limit(two)), Some((limit(json!(2)), said)));
        }
        for (text, value) in [("true", true), ("False", false)] {
            let found = read(json!({"path": "a", "force": text}));
            assert_eq!(found.map(|(found, _)| found), Some(json!({"path": "a", "force": value})));
        }
        let listed = read(json!({"path": "a", "hosts": "[\"x\"]"}));
        assert_eq!(listed.map(|(found, _)| found), Some(json!({"path": "a", "hosts": ["x"]})));
        let edits = read(json!({"path": "a", "edits": "[{\"old\": \"x\", \"all\": \"true\"}]"}));
        assert_eq!(
            edits.map(|(found, _)| found),
            Some(json!({"path": "a", "edits": [{"old": "x", "all": true}]}))
        );
    }

    #[test]
    fn what_fits_or_has_no_single_meaning_is_left() {
        for given in [
            json!({"path": "a", "limit": 2, "force": true, "hosts": ["x"]}),
            json!({"path": "2", "limit": null}),
            json!({"path": 2}),
            json!({"path": "a", "limit": "2.5"}),
            json!({"path": "a", "limit": 2.5}),
            json!({"path": "a", "limit": 1e300}),
            json!({"path": "a", "limit": "1e3"}),
            json!({"path": "a", "limit": "02"}),
            json!({"path": "a", "limit": "two"}),
            json!({"path": "a", "limit": ""}),
            json!({"path": "a", "limit": [2]}),
            json!({"path": "a", "force": "yes"}),
            json!({"path": "a", "force": 1}),
            json!({"path": "a", "hosts": "x"}),
            json!({"path": "a", "hosts": "{}"}),
            json!({"path": "a", "Limit": 2}),
            json!({"path": "a", "limits": 2}),
        ] {
            assert_eq!(read(given.clone()), None, "{given}");
        }
    }

    #[test]
    fn a_parameter_that_no_tool_has_is_ignored_and_said() {
        let found = read(json!({"path": "a", "explanation": "why", "limit": "3"}));
        let said = "there is no parameter `explanation`: it was ignored; `limit` \"3\" was taken as 3";
        assert_eq!(found, Some((json!({"path": "a", "limit": 3}), said.into())));
    }

    #[test]
    fn a_cut_call_is_never_repaired() {
        let raw = r#"{"path":"a","limit":2,}"#;
        assert_eq!(repaired(&CallInput::parse_cut(raw, 5), &schema()), None);
        let raw = r#"{"path":"a","force":"true",}"#;
        let (value, repairs) = repaired(&CallInput::parse(raw), &schema()).unwrap();
        assert_eq!((value, repairs.len()), (json!({"path": "a", "force": true}), 2));
    }
}
