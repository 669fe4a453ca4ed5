//! Edits a TOML file that a person wrote: what is set changes, and every other byte stays: comments, blank lines, order,
//! line ends, the byte order mark.

use similar::{Algorithm, DiffTag};
use toml_edit::{DocumentMut, Item, Table, TableLike, TomlError, Value};

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

    /// Sets a key below the tables that lead to it. `comment` is written above a key that is new. False where something
    /// on the way is no table.
    pub fn set(&mut self, path: &[&str], text: &str, comment: &str) -> bool {
        let Some((key, tables)) = path.split_last() else { return false };
        // The root is written before its comments where the file has nothing else: they get a blank line above them.
        let is_bare = self.document.as_table().is_empty();
        let trailing = self.document.trailing().as_str().unwrap_or("").to_string();
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for (depth, name) in tables.iter().enumerate() {
            let is_last = depth + 1 == tables.len();
            let entry = table.entry(name).or_insert_with(|| {
                let mut new = Table::new();
                // Only the table that holds values has a header of its own.
                new.set_implicit(!is_last);
                new.decor_mut().set_prefix("\n");
                Item::Table(new)
            });
            match entry.as_table_like_mut() {
                Some(inner) => table = inner,
                None => return false,
            }
        }
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

    /// The file as it is to be written.
    pub fn text(&self) -> String {
        let (mark, before) = match self.before.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK.to_string(), rest),
            None => (String::new(), self.before.as_str()),
        };
        format!("{mark}{}", with_old_lines(before, &self.document.to_string()))
    }
}

/// `new` with the line ends that its lines had in `old`: the parser reads all of them as `\n`.
fn with_old_lines(old: &str, new: &str) -> String {
    if !old.contains('\r') {
        return new.to_string();
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let bare = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim_end_matches(['\r', '\n']).to_string()).collect()
    };
    let returns = old.iter().filter(|line| line.ends_with("\r\n")).count();
    let end = if returns * 2 > old.len() { "\r\n" } else { "\n" };
    let mut out = String::new();
    for op in similar::capture_diff_slices(Algorithm::Myers, &bare(&old), &bare(&new)) {
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
