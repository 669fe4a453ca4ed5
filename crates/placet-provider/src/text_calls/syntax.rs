//! Reads one call in one of the forms of the table. Strict: what does not follow the form is not a call.

use super::cursor::{Cursor, WrittenArguments, WrittenCall};
use super::format::{CallSyntax, FORMATS, TextCallFormat, frames};
use super::{block, python};
use placet_text::conversation::{CallInput, json_names, json_repair};
use serde_json::{Map, Value};

/// The names that models give to the name of a tool, and to its arguments.
pub(super) const NAME_KEYS: [&str; 4] = ["name", "tool_name", "tool", "function"];
pub(super) const ARGUMENT_KEYS: [&str; 5] = ["arguments", "parameters", "args", "input", "tool_input"];
/// What may be in the object as well.
const OTHER_KEYS: [&str; 3] = ["id", "type", "tool_call_id"];

/// The calls at the beginning of `text`, and the text behind them, which is empty if only what surrounds calls is left.
pub(super) fn calls(text: &str) -> (Vec<WrittenCall>, &str) {
    let mut all = Vec::new();
    let mut cursor = Cursor { rest: text };
    let mut behind = text;
    loop {
        cursor.blank();
        if let Some(more) = one(&mut cursor) {
            all.extend(more);
            behind = cursor.rest;
        } else if !frames().any(|frame| cursor.take(frame)) && (all.is_empty() || !cursor.take(";")) {
            return (all, if cursor.rest.is_empty() { "" } else { behind });
        }
    }
}

fn one(cursor: &mut Cursor<'_>) -> Option<Vec<WrittenCall>> {
    let rows = FORMATS.iter().flat_map(|row| row.open.iter().map(move |open| (row, *open)));
    for (row, open) in rows {
        let Some(rest) = cursor.rest.strip_prefix(open) else { continue };
        let mut inner = Cursor { rest };
        if let Some(calls) = row.syntax.read(&mut inner, open).or_else(|| repaired(row, &mut inner)) {
            inner.blank();
            row.close.iter().find(|close| inner.take(close));
            *cursor = inner;
            return Some(calls);
        }
    }
    None
}

/// A call between markers whose JSON is not valid, where it can have been meant in one way only.
fn repaired(row: &TextCallFormat, cursor: &mut Cursor<'_>) -> Option<Vec<WrittenCall>> {
    if !matches!(row.syntax, CallSyntax::Json) {
        return None;
    }
    let end = row.close.iter().filter_map(|close| cursor.rest.find(close)).min();
    let (body, rest) = cursor.rest.split_at(end.unwrap_or(cursor.rest.len()));
    let calls = written(&json_repair::repaired_object(body.trim())?)?;
    cursor.rest = rest;
    Some(calls)
}

impl CallSyntax {
    /// Behind `open`.
    fn read(&self, cursor: &mut Cursor<'_>, open: &str) -> Option<Vec<WrittenCall>> {
        cursor.blank();
        match self {
            CallSyntax::Json => {
                let fenced = cursor.open_fence();
                let calls = json_calls(cursor)?;
                fenced.then(|| cursor.close_fence());
                Some(calls)
            }
            CallSyntax::NameThenJson { before, between } => {
                before.iter().find(|before| cursor.take(before));
                let name = cursor.name()?;
                for (from, to) in *between {
                    cursor.blank();
                    cursor.skip(from, to);
                }
                cursor.blank();
                let fenced = cursor.open_fence();
                let raw = cursor.json()?;
                fenced.then(|| cursor.close_fence());
                Some(vec![WrittenCall { name, arguments: WrittenArguments::Given(CallInput::parse(raw)) }])
            }
            CallSyntax::Parameters { name_end, key, value, key_quote } => {
                let name = cursor.name()?;
                if !cursor.take(name_end) {
                    return None;
                }
                let mut words = Vec::new();
                cursor.blank();
                while cursor.take(key.0) {
                    words.push(parameter(cursor, *key, *value, key_quote)?);
                    cursor.blank();
                }
                // Without any parameter a bare word would be a call.
                let is_sure = !words.is_empty() || !name_end.is_empty() && !cursor.rest.starts_with('{');
                is_sure.then(|| vec![WrittenCall { name, arguments: WrittenArguments::Words(words) }])
            }
            CallSyntax::Block => block::read(cursor, open),
            CallSyntax::Python => {
                let (calls, rest) = python::calls(cursor.rest)?;
                cursor.rest = rest;
                Some(calls)
            }
        }
    }
}

fn parameter(
    cursor: &mut Cursor<'_>,
    key: (&str, &str),
    value: (&str, &str),
    quote: &str,
) -> Option<(String, String)> {
    let name = cursor.until(key.1)?;
    // Attributes such as `string="true"` may follow a name in quotes.
    let name =
        if quote.is_empty() { name.trim() } else { name.split(quote).next().unwrap_or_default().trim() };
    if !value.0.is_empty() {
        cursor.blank();
        if !cursor.take(value.0) {
            return None;
        }
    }
    // The value may contain the text that ends a value: it ends where a parameter or the end of the call follows.
    let whole = cursor.rest;
    let mut from = 0;
    loop {
        let end = from + whole.get(from..)?.find(value.1)?;
        let rest = whole.get(end + value.1.len()..)?;
        let next = rest.trim_start();
        if next.starts_with(key.0) || next.is_empty() || frames().any(|frame| next.starts_with(frame)) {
            cursor.rest = rest;
            let text = whole.get(..end)?;
            let text = text.strip_prefix('\n').unwrap_or(text);
            return Some((name.into(), text.strip_suffix('\n').unwrap_or(text).into()));
        }
        from = end + value.1.len();
    }
}

/// One call as JSON, several of them behind each other, or a list.
pub(super) fn json_calls(cursor: &mut Cursor<'_>) -> Option<Vec<WrittenCall>> {
    let mut all = Vec::new();
    loop {
        let at = cursor.rest;
        let Some(raw) = cursor.json() else { break };
        // Nobody can know which of two equal names was meant.
        let value = serde_json::from_str(raw).ok().filter(|_| json_names::twice(raw.as_bytes()).is_none());
        match value.and_then(|value| written(&value)) {
            Some(calls) => all.extend(calls),
            None => {
                cursor.rest = at;
                break;
            }
        }
        cursor.blank();
        let after = cursor.rest;
        if !(cursor.take(";") || cursor.take(",") || cursor.rest.starts_with('{')) {
            cursor.rest = after;
            break;
        }
        cursor.blank();
    }
    (!all.is_empty()).then_some(all)
}

/// The calls that a JSON value is: only of calls, and with nothing else in it.
pub(super) fn written(value: &Value) -> Option<Vec<WrittenCall>> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let all: Option<Vec<_>> = items.iter().map(written).collect();
            Some(all?.into_iter().flatten().collect())
        }
        Value::Object(fields) => {
            if let (Some(list), true) = (fields.get("tool_calls"), fields.len() == 1) {
                return written(list);
            }
            if let Some(Value::Object(inner)) = fields.get("function") {
                let known = |name: &String| name == "function" || OTHER_KEYS.contains(&name.as_str());
                return fields.keys().all(known).then(|| of_object(inner))?.map(|call| vec![call]);
            }
            of_object(fields).map(|call| vec![call])
        }
        _ => None,
    }
}

fn of_object(fields: &Map<String, Value>) -> Option<WrittenCall> {
    let first = |keys: &'static [&'static str]| keys.iter().find(|key| fields.contains_key(**key));
    let (name, arguments) = (first(&NAME_KEYS)?, first(&ARGUMENT_KEYS));
    let known =
        |key: &String| key == name || Some(&key.as_str()) == arguments || OTHER_KEYS.contains(&key.as_str());
    if !fields.keys().all(known) {
        return None;
    }
    let input = match arguments.and_then(|key| fields.get(*key)) {
        None | Some(Value::Null) => CallInput::parse(""),
        Some(Value::String(text)) => CallInput::parse(text),
        Some(value) => CallInput::parse(&value.to_string()),
    };
    let name = fields.get(*name)?.as_str()?.trim_start_matches("functions.").to_string();
    Some(WrittenCall { name, arguments: WrittenArguments::Given(input) })
}
