//! Edits a TOML file that a person wrote: the set keys change, and every other byte remains: comments, blank lines,
//! order, line ends and the byte order mark.

use similar::DiffTag;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, TomlError, Value};

pub struct TomlText {
    before: String,
    document: DocumentMut,
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';

impl TomlText {
    pub fn parse(text: &str) -> Result<TomlText, TomlError> {
        let document = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).parse()?;
        Ok(TomlText { before: text.into(), document })
    }

    /// The text at a path of keys.
    pub fn get(&self, path: &[&str]) -> Option<&str> {
        path.iter().try_fold(self.document.as_item(), |item, key| item.get(key))?.as_str()
    }

    /// Sets a key below the tables that lead to it. `comment` is written above a new key. False if a parent of the key
    /// is not a table.
    pub fn set(&mut self, path: &[&str], text: &str, comment: &str) -> bool {
        let Some((key, tables)) = path.split_last() else { return false };
        // In a file with only comments, the writer puts the root before them: the comments get a blank line above.
        let is_bare = self.document.as_table().is_empty();
        let trailing = self.document.trailing().as_str().unwrap_or("").to_string();
        let Some(table) = self.table_at(tables) else { return false };
        match table.get_mut(key) {
            Some(Item::Value(old)) => {
                let mut new = Value::from(text);
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            Some(_) => return false,
            None => {
                table.insert(key, toml_edit::value(text));
                if let Some(mut new) = table.key_mut(key).filter(|_| !comment.is_empty()) {
                    new.leaf_decor_mut().set_prefix(format!("# {comment}\n"));
                }
            }
        }
        if is_bare && !trailing.trim().is_empty() && !trailing.starts_with('\n') {
            self.document.set_trailing(format!("\n{trailing}"));
        }
        true
    }

    /// The table at a path; tables that are missing are added. `None` if something else is in the way.
    fn table_at(&mut self, tables: &[&str]) -> Option<&mut dyn TableLike> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for (depth, name) in tables.iter().enumerate() {
            let is_last = depth + 1 == tables.len();
            let entry = table.entry(name).or_insert_with(|| {
                let mut new = Table::new();
                // Only the table that contains values has a header of its own.
                new.set_implicit(!is_last);
                new.decor_mut().set_prefix("\n");
                Item::Table(new)
            });
            table = entry.as_table_like_mut()?;
        }
        Some(table)
    }

    fn item(&self, path: &[&str]) -> Option<&Item> {
        path.iter().try_fold(self.document.as_item(), |item, key| item.get(key))
    }

    /// True if there is anything at a path of keys.
    pub fn contains(&self, path: &[&str]) -> bool {
        self.item(path).is_some_and(|item| !item.is_none())
    }

    /// The texts of a list, whose entries may be tables with the text under `key`.
    pub fn texts(&self, path: &[&str], key: &str) -> Vec<String> {
        let of_table = |table: &dyn TableLike| table.get(key).and_then(Item::as_str).map(String::from);
        match self.item(path) {
            Some(Item::ArrayOfTables(tables)) => tables.iter().filter_map(|table| of_table(table)).collect(),
            Some(item) => {
                let text = |value: &Value| match value.as_inline_table() {
                    Some(table) => of_table(table),
                    None => value.as_str().map(String::from),
                };
                item.as_array().into_iter().flatten().filter_map(text).collect()
            }
            None => Vec::new(),
        }
    }

    /// Adds a text to a list of texts: to a list of tables as a table with the text under the key. False if something
    /// else is in the way.
    pub fn push(&mut self, path: &[&str], (text_key, text): (&str, &str)) -> bool {
        let Some((key, tables)) = path.split_last() else { return false };
        let Some(table) = self.table_at(tables) else { return false };
        match table.entry(key).or_insert_with(|| toml_edit::value(Array::new())) {
            Item::ArrayOfTables(list) => {
                let mut entry = Table::new();
                entry.insert(text_key, toml_edit::value(text));
                list.push(entry);
                true
            }
            Item::Value(Value::Array(list)) => {
                push_value(list, Value::from(text));
                true
            }
            _ => false,
        }
    }

    /// Adds a table at a path where nothing is.
    pub fn insert_table(&mut self, path: &[&str], mut new: Table) -> bool {
        let Some((key, tables)) = path.split_last() else { return false };
        // The tables above it have no values and so no headers.
        for depth in 1..=tables.len() {
            let Some((name, above)) = tables.get(..depth).and_then(<[&str]>::split_last) else {
                return false;
            };
            let Some(table) = self.table_at(above) else { return false };
            if table.get(name).is_none() {
                let mut implicit = Table::new();
                implicit.set_implicit(true);
                table.insert(name, Item::Table(implicit));
            }
        }
        let Some(table) = self.table_at(tables) else { return false };
        if table.get(key).is_some() {
            return false;
        }
        new.decor_mut().set_prefix("\n");
        table.insert(key, Item::Table(new));
        true
    }

    /// Adds a table to a list of tables. False if something else is in the way.
    pub fn push_table(&mut self, path: &[&str], mut new: Table) -> bool {
        let Some((key, tables)) = path.split_last() else { return false };
        let Some(table) = self.table_at(tables) else { return false };
        match table.entry(key).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new())) {
            Item::ArrayOfTables(list) => {
                new.decor_mut().set_prefix("\n");
                list.push(new);
                true
            }
            Item::Value(Value::Array(list)) => {
                push_value(list, Value::InlineTable(new.into_inline_table()));
                true
            }
            _ => false,
        }
    }

    /// True if a list of tables contains one with exactly these values.
    pub fn has_table(&self, path: &[&str], wanted: &Table) -> bool {
        let text = |item: &Item| item.as_value().map(|value| value.clone().decorated("", "").to_string());
        let is_same = |table: &dyn TableLike| {
            table.len() == wanted.len()
                && wanted.iter().all(|(key, item)| table.get(key).and_then(&text) == text(item))
        };
        match self.item(path) {
            Some(Item::ArrayOfTables(tables)) => tables.iter().any(|table| is_same(table)),
            Some(item) => {
                let tables = item.as_array().into_iter().flatten().filter_map(Value::as_inline_table);
                tables.into_iter().any(|table| is_same(table))
            }
            None => false,
        }
    }

    pub fn remove(&mut self, path: &[&str]) {
        let Some((key, tables)) = path.split_last() else { return };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in tables {
            match table.get_mut(name).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return,
            }
        }
        table.remove(key);
    }

    /// The new text of the file.
    pub fn text(&self) -> String {
        let (mark, before) = match self.before.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK.to_string(), rest),
            None => (String::new(), self.before.as_str()),
        };
        format!("{mark}{}", with_old_lines(before, &self.document.to_string()))
    }
}

/// Adds a value on a line of its own, unless the list is on one line and has values.
fn push_value(list: &mut Array, mut value: Value) {
    let on_one_line = !list.is_empty() && !list.to_string().contains('\n');
    if on_one_line {
        list.push(value);
        return;
    }
    let indent = list.iter().last().and_then(|last| last.decor().prefix()?.as_str().map(String::from));
    let indent = indent.filter(|indent| indent.starts_with('\n') && indent.trim().is_empty());
    // A comment after the last value belongs to that value: it stays before the new one.
    let trailing = list.trailing().as_str().unwrap_or("").to_string();
    let comment = if trailing.contains('#') { trailing.trim_end() } else { "" };
    let indent = indent.unwrap_or_else(|| "\n  ".into());
    value.decor_mut().set_prefix(format!("{comment}{indent}"));
    list.push_formatted(value);
    list.set_trailing_comma(true);
    if !comment.is_empty() || !trailing.contains('\n') {
        list.set_trailing("\n");
    }
}

/// `new` with the line ends that its lines had in `old`: the parser reads all of them as `\n`.
fn with_old_lines(old: &str, new: &str) -> String {
    if !old.contains('\r') {
        return new.to_string();
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let bare = |line: &&str| line.trim_end_matches(['\r', '\n']).to_string();
    let (bare_old, bare_new): (Vec<String>, Vec<String>) =
        (old.iter().map(bare).collect(), new.iter().map(bare).collect());
    let returns = old.iter().filter(|line| line.ends_with("\r\n")).count();
    let end = if returns * 2 > old.len() { "\r\n" } else { "\n" };
    let mut out = String::new();
    for op in placet_text::text::sequence_diff::sequence_diff(&bare_old, &bare_new, None) {
        match op.tag() {
            DiffTag::Delete => {}
            DiffTag::Equal => op.old_range().filter_map(|at| old.get(at)).for_each(|line| out.push_str(line)),
            DiffTag::Insert | DiffTag::Replace => {
                for line in op.new_range().filter_map(|at| new.get(at)) {
                    out.push_str(line.trim_end_matches(['\r', '\n']));
                    out.push_str(end);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, changes: &[(&[&str], &str)]) -> String {
        let mut toml = TomlText::parse(text).unwrap();
        for (path, value) in changes {
            assert!(toml.set(path, value, "A comment."), "{path:?}");
        }
        let out = toml.text();
        let again = TomlText::parse(&out).unwrap();
        for (path, value) in changes {
            assert_eq!(again.get(path), Some(*value), "{out}");
        }
        out
    }

    #[test]
    fn lists_and_tables_grow_and_the_rest_stays() {
        let before = "# mine\nmode = \"ask\" # why\n\n[permission]\nallow = [\n    \"run(a *)\", # a\n]\nask = [\"run(b)\"]\n\n[[permission.deny]]\nrule = \"read(x)\"\n\n[ui]\ntheme = \"dark\"\n";
        let mut toml = TomlText::parse(before).unwrap();
        assert_eq!(toml.texts(&["permission", "deny"], "rule"), ["read(x)"]);
        for verdict in ["allow", "ask", "deny"] {
            assert!(toml.push(&["permission", verdict], ("rule", "run(new)")));
        }
        let mut server = Table::new();
        server.insert("command", toml_edit::value("x"));
        assert!(toml.insert_table(&["mcp", "servers", "a"], server.clone()));
        assert!(!toml.insert_table(&["mcp", "servers", "a"], server.clone()));
        assert!(!toml.insert_table(&["mode", "a"], server.clone()));
        assert!(!toml.has_table(&["hooks"], &server) && toml.push_table(&["hooks"], server.clone()));
        assert!(toml.has_table(&["hooks"], &server));
        let text = toml.text();
        let mut rest = text.as_str();
        // A list on one line grows in its line.
        for line in before.lines().filter(|line| !line.starts_with("ask =")) {
            rest = rest.split_once(line).unwrap_or_else(|| panic!("{line} is gone: {text}")).1;
        }
        assert_eq!(toml.texts(&["permission", "allow"], "rule"), ["run(a *)", "run(new)"], "{text}");
        assert!(text.contains("    \"run(a *)\", # a\n    \"run(new)\",\n]\n"), "{text}");
        assert!(text.contains("ask = [\"run(b)\", \"run(new)\"]\n"), "{text}");
        assert!(text.contains("[[permission.deny]]\nrule = \"run(new)\"\n"), "{text}");
        assert!(text.contains("\n[mcp.servers.a]\ncommand = \"x\"\n") && !text.contains("[mcp]"), "{text}");
        assert!(text.contains("\n[[hooks]]\ncommand = \"x\"\n"), "{text}");
        assert_eq!(TomlText::parse(&text).unwrap().text(), text);
        let mut inline = TomlText::parse("hooks = [{ command = \"x\" }]\n").unwrap();
        assert!(inline.has_table(&["hooks"], &server));
        server.insert("point", toml_edit::value("p"));
        assert!(inline.push_table(&["hooks"], server));
        assert_eq!(inline.text(), "hooks = [{ command = \"x\" }, { command = \"x\", point = \"p\" }]\n");
    }

    #[test]
    fn a_file_that_is_not_there_gets_comments() {
        let out = edited("", &[(&["provider"], "a"), (&["providers", "llama.cpp", "model"], "m")]);
        assert_eq!(
            out,
            "# A comment.\nprovider = \"a\"\n\n[providers.\"llama.cpp\"]\n# A comment.\nmodel = \"m\"\n"
        );
    }

    #[test]
    fn what_is_not_set_keeps_every_byte() {
        let text = "# mine\n\nprovider  =  'old' # why\nui.theme = \"dark\"\n\n# servers\n[providers.x]   # x\nmodel=\"1\"\n";
        let out = edited(text, &[(&["provider"], "new"), (&["providers", "x", "model"], "2")]);
        assert_eq!(out, text.replace("'old'", "\"new\"").replace("\"1\"", "\"2\""));
        let out = edited("# all\n#a = 1\n", &[(&["provider"], "p")]);
        assert_eq!(out, "# A comment.\nprovider = \"p\"\n\n# all\n#a = 1\n");
        let out =
            edited("[ui]\ntheme = \"dark\"\n", &[(&["provider"], "p"), (&["providers", "p", "model"], "m")]);
        assert_eq!(
            out,
            "# A comment.\nprovider = \"p\"\n[ui]\ntheme = \"dark\"\n\n[providers.p]\n# A comment.\nmodel = \"m\"\n"
        );
    }

    #[test]
    fn line_ends_and_the_byte_order_mark_stay() {
        let text = "\u{FEFF}# a\r\nprovider = \"x\"\r\n\r\n[ui]\r\ntheme = \"dark\"\r\n";
        let out = edited(text, &[(&["provider"], "y"), (&["providers", "y", "model"], "m")]);
        assert_eq!(
            out,
            "\u{FEFF}# a\r\nprovider = \"y\"\r\n\r\n[ui]\r\ntheme = \"dark\"\r\n\r\n[providers.y]\r\n# A comment.\r\nmodel = \"m\"\r\n"
        );
    }

    #[test]
    fn inline_and_dotted_tables_are_edited_where_they_are() {
        for text in [
            "providers = { x = { model = \"1\" } }\n",
            "providers.x.model = \"1\"\n",
            "[providers]\nx.model = \"1\"\n",
            "[providers]\nx = { model = \"1\" }\n",
        ] {
            let out =
                edited(text, &[(&["providers", "x", "model"], "2"), (&["providers", "x", "key_env"], "K")]);
            assert!(out.starts_with(text.split('=').next().unwrap()), "{out}");
        }
        let mut toml = TomlText::parse("providers = 3\n").unwrap();
        assert!(!toml.set(&["providers", "x", "model"], "m", ""));
        let mut toml = TomlText::parse("[providers.x]\nkeyring = \"k\" # old\nmodel = \"m\"\n").unwrap();
        toml.remove(&["providers", "x", "keyring"]);
        toml.remove(&["providers", "y", "z"]);
        assert_eq!(toml.text(), "[providers.x]\nmodel = \"m\"\n");
    }
}
