//! JUnit's XML, as far as its test cases go. A reader of tags and attributes is enough for that: entities that a document
//! defines itself are never expanded.

use super::findings::CheckFindings;
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use std::path::Path;

/// A tag with its attributes, up to the `>`.
struct XmlTag<'a> {
    name: &'a str,
    attributes: &'a str,
    /// `<name/>`
    is_closed: bool,
}

impl XmlTag<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, next) = after.get(1..)?.split_once(quote)?;
            if key.trim() == name {
                return Some(decoded(value));
            }
            rest = next;
        }
    }
}

/// The tags of a document in their order. Comments and CDATA sections are skipped.
fn tags(text: &str) -> impl Iterator<Item = XmlTag<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find('<')?;
            rest = rest.get(at + 1..)?;
            let skipped = [("!--", "-->"), ("![CDATA[", "]]>")];
            if let Some((_, end)) = skipped.iter().find(|(start, _)| rest.starts_with(start)) {
                rest = rest.split_once(end).map_or("", |(_, after)| after);
                continue;
            }
            let end = end_of_tag(rest)?;
            let (inner, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            let is_closed = inner.ends_with('/');
            let inner = inner.trim_end_matches('/');
            let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
            return Some(XmlTag { name, attributes, is_closed });
        }
    })
}

/// Where the `>` is that ends the tag: not one in a value.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

fn decoded(value: &str) -> String {
    if !value.contains('&') {
        return value.into();
    }
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let Some((name, next)) = after.split_once(';').filter(|(name, _)| name.len() <= 10) else {
            out.push('&');
            rest = after;
            continue;
        };
        let of_code = |code: &str| match code.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
            None => code.parse().ok().and_then(char::from_u32),
        };
        match name {
            "lt" => out.push('<'),
            "gt" => out.push('>'),
            "amp" => out.push('&'),
            "quot" => out.push('"'),
            "apos" => out.push('\''),
            name => match name.strip_prefix('#').and_then(of_code) {
                Some(character) => out.push(character),
                None => out.push_str(&format!("&{name};")),
            },
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

pub(super) fn junit(text: &str, dir: &Path, found: &mut CheckFindings) {
    let mut case: Option<JunitCase> = None;
    for tag in tags(text) {
        match tag.name {
            "testcase" => {
                let case_here = JunitCase::of(&tag);
                match tag.is_closed {
                    true => found.count_tests(1, 0),
                    false => case = Some(case_here),
                }
            }
            "failure" | "error" => {
                let Some(case) = case.as_mut() else { continue };
                if !case.has_failed {
                    let why = tag.attribute("message").unwrap_or_default();
                    found.add(case.failure(&why, dir), None);
                }
                case.has_failed = true;
            }
            "skipped" => {
                if let Some(case) = case.as_mut() {
                    case.is_skipped = true;
                }
            }
            "/testcase" => match case.take() {
                Some(JunitCase { has_failed: true, .. }) => found.count_tests(0, 1),
                Some(JunitCase { is_skipped: false, .. }) => found.count_tests(1, 0),
                _ => {}
            },
            _ => {}
        }
    }
}

struct JunitCase {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    has_failed: bool,
    is_skipped: bool,
}

impl JunitCase {
    fn of(tag: &XmlTag<'_>) -> JunitCase {
        let name = tag.attribute("name").unwrap_or_default();
        let class = tag.attribute("classname").filter(|class| !class.is_empty());
        JunitCase {
            name: class.map_or_else(|| name.clone(), |class| format!("{class}.{name}")),
            file: tag.attribute("file"),
            line: tag.attribute("line").and_then(|line| line.parse().ok()),
            has_failed: false,
            is_skipped: false,
        }
    }

    fn failure(&self, why: &str, dir: &Path) -> Diagnostic {
        let message = match why.is_empty() {
            true => format!("{} failed", self.name),
            false => format!("{}: {why}", self.name),
        };
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, &message);
        match &self.file {
            Some(file) => diagnostic.at(file, self.line, None, dir),
            None => diagnostic,
        }
    }
}
