//! JSON documents: those of ESLint and Ruff, and SARIF. Other text may surround the document.

use super::findings::CheckFindings;
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use serde_json::Value;
use std::path::Path;

/// The first JSON value of the output that begins with `open` at the start of a line.
fn document(text: &str, open: char) -> Option<Value> {
    let starts = text.match_indices(open).map(|(at, _)| at);
    let at_line = |at: &usize| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n'));
    // A few tries: each of them may read the whole rest.
    let mut candidates = starts.filter(at_line).take(20);
    candidates.find_map(|at| {
        let rest = text.get(at..)?;
        serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()
    })
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn figure(value: &Value, key: &str) -> Option<u32> {
    value.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// `no-unused-vars: 'x' is never used`
fn with_rule(rule: &str, message: &str) -> String {
    if rule.is_empty() { message.into() } else { format!("{rule}: {message}") }
}

pub(super) fn eslint(text: &str, dir: &Path, found: &mut CheckFindings) {
    let Some(files) = document(text, '[') else { return };
    for file in items(Some(&files)) {
        for message in items(file.get("messages")) {
            let level = match message.get("severity").and_then(Value::as_u64) {
                Some(1) => DiagnosticLevel::Warning,
                _ => DiagnosticLevel::Error,
            };
            let said = with_rule(text_of(message, "ruleId"), text_of(message, "message"));
            let (line, column) = (figure(message, "line"), figure(message, "column"));
            found.add(Diagnostic::new(level, &said).at(text_of(file, "filePath"), line, column, dir), None);
        }
    }
}

pub(super) fn ruff(text: &str, dir: &Path, found: &mut CheckFindings) {
    let Some(list) = document(text, '[') else { return };
    for item in items(Some(&list)) {
        let said = with_rule(text_of(item, "code"), text_of(item, "message"));
        let place = item.get("location").unwrap_or(&Value::Null);
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, &said);
        let (line, column) = (figure(place, "row"), figure(place, "column"));
        found.add(diagnostic.at(text_of(item, "filename"), line, column, dir), None);
    }
}

pub(super) fn sarif(text: &str, dir: &Path, found: &mut CheckFindings) {
    let Some(log) = document(text, '{') else { return };
    for result in items(log.get("runs")).flat_map(|run| items(run.get("results"))) {
        let level = match text_of(result, "level") {
            // The default of the standard.
            "" => DiagnosticLevel::Warning,
            word => DiagnosticLevel::of_word(word),
        };
        let message = result.get("message").map_or("", |message| text_of(message, "text"));
        let diagnostic = Diagnostic::new(level, &with_rule(text_of(result, "ruleId"), message));
        let place = items(result.get("locations")).next().and_then(|l| l.get("physicalLocation"));
        let place = place.unwrap_or(&Value::Null);
        let file = place.get("artifactLocation").map_or("", |file| text_of(file, "uri"));
        let region = place.get("region").unwrap_or(&Value::Null);
        let (line, column) = (figure(region, "startLine"), figure(region, "startColumn"));
        found.add(diagnostic.at(&path_of_uri(file), line, column, dir), None);
    }
}

/// `file:///w/a%20b.c` is `/w/a b.c`; a relative reference is a path already.
fn path_of_uri(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
