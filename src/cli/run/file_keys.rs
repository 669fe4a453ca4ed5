//! The values of settings files by key.

use crate::conversation::json_names;
use crate::text::regular_file;
use serde_json::{Map, Value};
use std::path::Path;

/// The largest file whose keys are compared.
pub(super) const MOST: u64 = 64 << 20;

/// True where one of the keys differs in the new bytes of the file `home`, and where they cannot be compared.
pub(super) fn is_key_changed(keys: &[Vec<&str>], new: &[u8], home: &Path) -> bool {
    let Some(new) = Some(new).filter(|new| new.len() as u64 <= MOST).and_then(|new| parse(new, home)) else {
        return true;
    };
    let old = read(home, home).unwrap_or(Value::Null);
    keys.iter().any(|names| values_at(&new, names) != values_at(&old, names))
}

/// The settings in a file; `name` says in which form. Nothing where they cannot be read.
pub(super) fn read(file: &Path, name: &Path) -> Option<Value> {
    parse(&regular_file::read(file, MOST).ok()?, name)
}

fn parse(bytes: &[u8], name: &Path) -> Option<Value> {
    match name.extension()?.to_str()? {
        // Of two values with one name, another program may take the other one.
        "json" if json_names::twice(bytes).is_none() => serde_json::from_slice(bytes).ok(),
        "toml" => toml::from_str(std::str::from_utf8(bytes).ok()?).ok(),
        _ => None,
    }
}

/// The values at a chain of keys in which `*` is any key, with the keys that lead to each. Empty ones do not count.
fn values_at<'a>(value: &'a Value, names: &[&str]) -> Vec<(String, &'a Value)> {
    let Some((name, rest)) = names.split_first() else {
        let is_empty = match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        return if is_empty { Vec::new() } else { vec![(String::new(), value)] };
    };
    let fields = match value {
        Value::Object(fields) => fields,
        // Wherever in a list.
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let found = items.flat_map(|(at, item)| {
                let values = values_at(item, names).into_iter();
                values.map(move |(below, value)| (format!("{at}\u{0}{below}"), value))
            });
            return found.collect();
        }
        _ => return Vec::new(),
    };
    let fields = fields.iter().filter(|(key, _)| *name == "*" || is_same_key(key, name));
    fields
        .flat_map(|(key, value)| {
            values_at(value, rest)
                .into_iter()
                .map(move |(below, value)| (format!("{key}\u{0}{below}"), value))
        })
        .collect()
}

/// True where a program may take one key for the other: some, such as those written in Go, ignore case in JSON.
fn is_same_key(key: &str, name: &str) -> bool {
    let folded = |text: &str| {
        text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>()
    };
    key == name || folded(key) == folded(name)
}

/// Removes what is at a chain of keys, and what is empty without it.
pub(super) fn remove_at(value: &mut Value, names: &[&str]) {
    let (Some((name, rest)), Value::Object(fields)) = (names.split_first(), value) else { return };
    fields.retain(|key, value| {
        if *name != "*" && key != name {
            return true;
        }
        if rest.is_empty() {
            return false;
        }
        remove_at(value, rest);
        !value.as_object().is_some_and(Map::is_empty)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_compared_wherever_they_are_and_empty_ones_do_not_count() {
        let old = json!({"mcpServers": {}, "projects": {"/a": {"history": [1]}}});
        let same =
            json!({"projects": {"/a": {"history": [1, 2], "mcpServers": {}}, "/b": {"mcpServers": []}}});
        let other = json!({"projects": {"/b": {"mcpServers": {"x": {"command": "sh"}}}}});
        let names = ["projects", "*", "mcpServers"];
        assert_eq!(values_at(&old, &names), values_at(&same, &names));
        assert_ne!(values_at(&old, &names), values_at(&other, &names));
        assert_eq!(values_at(&old, &["mcpServers"]), Vec::new());
        let listed = json!([{"mcpServers": ["x"]}, {"servers": [{"command": "sh"}]}]);
        assert_eq!(values_at(&listed, &["mcpServers"]).len(), 1);
        assert_eq!(values_at(&listed, &["servers", "*"]).len(), 1);
    }

    #[test]
    fn what_another_program_may_read_otherwise_counts_as_changed() {
        let home = Path::new("/nowhere/login.json");
        let changed = |new: &str| is_key_changed(&[vec!["servers"]], new.as_bytes(), home);
        assert!(!changed(r#"{"token": "1", "more": [1, -2, 0.5, null, true, {}]}"#));
        for new in [
            r#"{"servers": {"x": 1}}"#,
            r#"{"Servers": {"x": 1}}"#,
            "{\"\u{17f}erver\u{17f}\": {\"x\": 1}}",
            r#"{"servers": {"x": 1}, "token": "1", "servers": {}}"#,
            r#"{"token": {"a": 1, "a": 1}}"#,
            "{",
            "",
            "\u{feff}{}",
        ] {
            assert!(changed(new), "{new:?}");
        }
    }

    #[test]
    fn what_is_left_without_harmless_keys_decides() {
        let mut value = json!({"env": {"A": "1"}, "tui": {"x": {"y": 1}, "z": 2}, "hooks": {}});
        remove_at(&mut value, &["env", "A"]);
        remove_at(&mut value, &["tui", "*", "y"]);
        assert_eq!(value, json!({"tui": {"z": 2}, "hooks": {}}));
        remove_at(&mut value, &["hooks", "PostToolUse"]);
        assert_eq!(value, json!({"tui": {"z": 2}}), "what is empty runs nothing");
    }
}
