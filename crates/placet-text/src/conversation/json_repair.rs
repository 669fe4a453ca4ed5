//! JSON with a mistake that has one correction: a comma or a bracket too much, a line break in a string, a code fence
//! around it, an object that was encoded twice.
//!
//! What is missing is never added, not even a bracket at the end: nobody can know what would have followed.

use super::json_names;
use serde_json::Value;

/// The object that `raw` can only mean. `None` if it is an object already, or could mean something else.
pub fn repaired_object(raw: &str) -> Option<Value> {
    let inner = without_fence(raw.trim());
    let text = match serde_json::from_str::<Value>(inner) {
        Ok(Value::String(encoded)) => encoded,
        Ok(_) if inner.len() == raw.trim().len() => return None,
        Ok(_) => inner.to_string(),
        Err(_) => corrected(inner)?,
    };
    let is_clear = json_names::twice(text.as_bytes()).is_none();
    serde_json::from_str(&text).ok().filter(|value: &Value| value.is_object() && is_clear)
}

fn without_fence(text: &str) -> &str {
    let inner = || text.strip_prefix("```")?.split_once('\n')?.1.trim_end().strip_suffix("```");
    inner().map_or(text, str::trim)
}

/// The text with each mistake corrected that is seen while the brackets are followed.
fn corrected(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut open = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, c) in raw.char_indices() {
        if in_string {
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c => out.push(c),
            }
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.is_empty() => {
                // Brackets behind the end mean nothing; any other text may.
                let rest = raw.get(at..)?;
                return rest.chars().all(|c| matches!(c, '}' | ']') || c.is_whitespace()).then_some(out);
            }
            '}' | ']' => {
                if open.pop() != Some(c) {
                    return None;
                }
                let whole = out.trim_end();
                if let Some(before) =
                    whole.strip_suffix(',').filter(|before| !before.trim_end().ends_with(','))
                {
                    out.truncate(before.len());
                }
            }
            _ => {}
        }
        out.push(c);
    }
    (open.is_empty() && !in_string).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::repaired_object;
    use serde_json::json;

    #[test]
    fn a_mistake_with_one_correction_is_corrected() {
        let call = || Some(json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}));
        for raw in [
            r#"{"path":"a","edits":[{"old":"x","new":"y"}],}"#,
            r#"{"path":"a","edits":[{"old":"x","new":"y",},],}"#,
            r#"{"path":"a","edits":[{"old":"x","new":"y"}]}}"#,
            "{\"path\":\"a\",\"edits\":[{\"old\":\"x\",\"new\":\"y\"}]}\n]}",
            "```json\n{\"path\":\"a\",\"edits\":[{\"old\":\"x\",\"new\":\"y\"}]}\n```",
            r#""{\"path\":\"a\",\"edits\":[{\"old\":\"x\",\"new\":\"y\"}]}""#,
        ] {
            assert_eq!(repaired_object(raw), call(), "{raw}");
        }
        assert_eq!(repaired_object("{\"text\":\"a\nb\t\\n\"}"), Some(json!({"text": "a\nb\t\n"})));
    }

    #[test]
    fn what_may_mean_something_else_is_left() {
        for raw in [
            "",
            "no",
            "3",
            "[1]",
            r#"{"path":"a"}"#,
            r#"{"path":"a","content":"the beg"#,
            r#"{"path":"a","#,
            r#"{"path":"a","limit":1"#,
            r#"{"path":"a""#,
            r#"{"path":"a","edits":[{"old":"x"}]"#,
            r#"{"path":"#,
            r#"{"path""#,
            r#"{"path":"a"} and more"#,
            r#"{"path":"a"}{"path":"b"}"#,
            r#"{"path":"a","path":"b",}"#,
            r#"{"path":"a" "limit":1}"#,
            r#"{"path":a}"#,
            r#"{path:"a"}"#,
            r#"{"path":"C:\new\x"}"#,
            r#"{"a":[1,2}"#,
            r#"{"a":[1,,2]}"#,
            r#"{"a":1,,}"#,
            r#"{"say":"she said "yes" to it"}"#,
        ] {
            assert_eq!(repaired_object(raw), None, "{raw}");
        }
    }
}
