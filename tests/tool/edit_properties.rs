//! Edits of random files in random encodings: whatever tool makes them, the bytes outside the named span stay.
//!
//! A file is built line by line, each as the bytes it has on the disk. So what must come out is known byte for byte,
//! without any of the code under test.

use crate::support::is_full;
use crate::support::tool_bench::Bench;
use placet::tools::{ToolSet, ToolSetSettings};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Utf8,
    Utf8Marked,
    /// UTF-8 with bytes in it that are none.
    Stray,
    Utf16Le,
    Utf16Be,
    Windows1252,
    Gbk,
}

impl Form {
    fn mark(self) -> &'static [u8] {
        match self {
            Form::Utf8Marked => b"\xEF\xBB\xBF",
            Form::Utf16Le => b"\xFF\xFE",
            Form::Utf16Be => b"\xFE\xFF",
            _ => b"",
        }
    }

    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Form::Utf8 | Form::Utf8Marked | Form::Stray => text.as_bytes().to_vec(),
            Form::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Form::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Form::Windows1252 => encoding_rs::WINDOWS_1252.encode(text).0.into_owned(),
            Form::Gbk => encoding_rs::GBK.encode(text).0.into_owned(),
        }
    }

    fn text(self, bytes: &[u8]) -> String {
        let units = |of: fn([u8; 2]) -> u16| -> Vec<u16> {
            bytes.chunks(2).map(|pair| of([pair[0], pair[1]])).collect()
        };
        match self {
            Form::Utf16Le => String::from_utf16(&units(u16::from_le_bytes)).unwrap(),
            Form::Utf16Be => String::from_utf16(&units(u16::from_be_bytes)).unwrap(),
            _ => String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Words that stand around the ones that are edited.
    fn word(self, choice: usize) -> Vec<u8> {
        let words: [&str; 4] = match self {
            Form::Utf8 | Form::Utf8Marked | Form::Stray => ["caf\u{e9}", "\u{1f642}", "e\u{301}", "a\rb"],
            Form::Utf16Le | Form::Utf16Be => ["\u{a0a}\u{d0a}", "\u{1f642}", "\u{4e2d}", "\u{0d0d}"],
            Form::Windows1252 => ["caf\u{e9}", "na\u{ef}ve", "\u{20ac}", "\u{fc}ber"],
            Form::Gbk => ["\u{6d4b}\u{8bd5}", "\u{6587}\u{4ef6}", "\u{7ed3}\u{675f}", "\u{7684}"],
        };
        match (self, choice % 5) {
            (Form::Stray, 4) => b"\xC3\xFF\xFE".to_vec(),
            (_, choice) => self.bytes(words[choice % 4]),
        }
    }
}

/// A file as its lines, each with the token that is its own and the line end that it has.
#[derive(Clone, Debug)]
struct File {
    form: Form,
    lines: Vec<Vec<u8>>,
}

impl File {
    fn whole(&self) -> Vec<u8> {
        [self.form.mark(), &self.lines.concat()].concat()
    }

    /// Everything before a line.
    fn before(&self, line: usize) -> Vec<u8> {
        [self.form.mark(), &self.lines[..line].concat()].concat()
    }

    fn after(&self, line: usize) -> Vec<u8> {
        self.lines[line + 1..].concat()
    }

    /// A line's bytes around its token.
    fn around(&self, line: usize) -> (Vec<u8>, Vec<u8>) {
        let (bytes, token) = (&self.lines[line], self.form.bytes(&token(line)));
        let at = bytes.windows(token.len()).position(|w| w == token).unwrap();
        (bytes[..at].to_vec(), bytes[at + token.len()..].to_vec())
    }
}

fn token(line: usize) -> String {
    format!("<token-{line}>")
}

fn file() -> impl Strategy<Value = File> {
    let forms = [
        Form::Utf8,
        Form::Utf8Marked,
        Form::Stray,
        Form::Utf16Le,
        Form::Utf16Be,
        Form::Windows1252,
        Form::Gbk,
    ];
    let lines = prop::collection::vec((0usize..5, 0usize..5, any::<bool>()), 1..30);
    let long = prop::collection::vec((0usize..5, 0usize..5, any::<bool>()), 900..1100);
    let lines = prop_oneof![9 => lines, 1 => long];
    (prop::sample::select(forms.to_vec()), lines, 0usize..3, any::<bool>()).prop_map(
        |(form, lines, ends, last)| {
            let count = lines.len();
            let line = |(number, (left, right, crlf)): (usize, (usize, usize, bool))| {
                let end = match (ends, crlf) {
                    _ if number + 1 == count && !last => "",
                    (0, _) | (2, false) => "\n",
                    _ => "\r\n",
                };
                let middle = form.bytes(&format!(" {} ", token(number)));
                [form.word(left), middle, form.word(right), form.bytes(end)].concat()
            };
            File { form, lines: lines.into_iter().enumerate().map(line).collect() }
        },
    )
}

fn written(dialect: ToolSet, file: &File) -> Bench {
    let bench = Bench::new().speaking(dialect, &ToolSetSettings::default());
    bench.write("f", file.whole());
    bench
}

fn cases() -> ProptestConfig {
    let cases = if is_full() { 1_000 } else { 48 };
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

/// A call that replaces one text by another.
fn replacing(dialect: ToolSet, old: &str, new: &str) -> (&'static str, Value) {
    match dialect {
        ToolSet::TextEditor => (
            "str_replace_based_edit_tool",
            json!({"command": "str_replace", "path": "f", "old_str": old, "new_str": new}),
        ),
        ToolSet::Deepagents => {
            ("edit_file", json!({"file_path": "/f", "old_string": old, "new_string": new}))
        }
        _ => ("edit_file", json!({"path": "f", "old_string": old, "new_string": new, "force": true})),
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn an_edit_changes_the_bytes_of_its_span_and_no_other(
        file in file(),
        at in any::<prop::sample::Index>(),
        new in prop::sample::select(vec!["", "x", "longer than the token was", "<", "two\nlines", "\n"]),
    ) {
        let line = at.index(file.lines.len());
        let (left, right) = file.around(line);
        for dialect in [ToolSet::Native, ToolSet::Agsh, ToolSet::TextEditor] {
            let bench = written(dialect, &file);
            let (tool, input) = replacing(dialect, &token(line), new);
            bench.call(tool, input).done();
            let (head, tail) = ([file.before(line), left.clone()].concat(), [right.clone(), file.after(line)].concat());
            let bytes = bench.bytes("f");
            prop_assert!(bytes.starts_with(&head), "{dialect}: the bytes before the span");
            prop_assert!(bytes.ends_with(&tail), "{dialect}: the bytes behind the span");
            let put = file.form.text(&bytes[head.len()..bytes.len() - tail.len()]);
            prop_assert_eq!(put.replace("\r\n", "\n"), new);
        }
    }

    #[test]
    fn an_edit_over_two_lines_takes_the_line_end_between_them_and_no_other(
        file in file().prop_filter("two lines", |f| f.lines.len() > 1),
        at in any::<prop::sample::Index>(),
    ) {
        let line = at.index(file.lines.len() - 1);
        let (left, rest) = file.around(line);
        let (first, right) = file.around(line + 1);
        // The words between the two tokens must be text that can be sent.
        prop_assume!(std::str::from_utf8(&[rest.clone(), first.clone()].concat()).is_ok() || file.form != Form::Stray);
        let decoded = |bytes: &[u8]| match file.form {
            Form::Windows1252 => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
            Form::Gbk => encoding_rs::GBK.decode_without_bom_handling(bytes).0.into_owned(),
            form => form.text(bytes),
        };
        // A short text may be taken for another encoding than it was written in: then its words are others.
        prop_assume!(!matches!(file.form, Form::Windows1252 | Form::Gbk) || file.lines.len() > 8);
        let old = format!("{}{}{}{}", token(line), decoded(&rest), decoded(&first), token(line + 1)).replace("\r\n", "\n");
        let bench = written(ToolSet::Native, &file);
        let got = bench.call("edit_file", json!({"path": "f", "old_string": old, "new_string": "1\n2\n3", "force": true}));
        let (head, tail) = ([file.before(line), left].concat(), [right, file.after(line + 1)].concat());
        let bytes = bench.bytes("f");
        if matches!(file.form, Form::Windows1252 | Form::Gbk) && got.body().contains("not found") {
            prop_assert_eq!(bytes, file.whole());
            return Ok(());
        }
        got.done();
        prop_assert!(bytes.starts_with(&head) && bytes.ends_with(&tail));
        let put = file.form.text(&bytes[head.len()..bytes.len() - tail.len()]);
        prop_assert_eq!(put.replace("\r\n", "\n"), "1\n2\n3");
    }

    #[test]
    fn a_batch_changes_the_spans_of_its_edits_and_appends_and_nothing_else(
        file in file(),
        picks in prop::collection::btree_set(0usize..30, 1..6),
        sentence in prop::sample::select(vec!["appended", "appended\n", "two\nlines\n"]),
    ) {
        let picks: Vec<usize> = picks.into_iter().filter(|line| *line < file.lines.len()).collect();
        let mut steps: Vec<Value> = picks
            .iter()
            .map(|line| json!({"op": "edit", "path": "f", "old_string": token(*line), "new_string": format!("[{line}]")}))
            .collect();
        steps.push(json!({"op": "copy", "path": "f", "to": "copy"}));
        steps.push(json!({"op": "append", "path": "copy", "content": sentence}));
        let bench = written(ToolSet::Native, &file);
        bench.call("operations", json!({"operations": steps, "force": true})).done();
        let mut expected = file.clone();
        for line in &picks {
            let (left, right) = file.around(*line);
            expected.lines[*line] = [left, file.form.bytes(&format!("[{line}]")), right].concat();
        }
        let whole = expected.whole();
        prop_assert_eq!(bench.bytes("f"), whole.clone());
        let copy = bench.bytes("copy");
        prop_assert!(copy.starts_with(&whole), "what was there before the appended text");
        let appended = file.form.text(&copy[whole.len()..]).replace("\r\n", "\n");
        prop_assert_eq!(appended.trim_matches('\n'), sentence.trim_matches('\n'));
    }

    #[test]
    fn an_insertion_moves_what_follows_and_changes_nothing_of_it(
        file in file(),
        at in any::<prop::sample::Index>(),
        text in prop::sample::select(vec!["inserted", "inserted\n", "two\nlines"]),
    ) {
        let after = at.index(file.lines.len() + 1);
        let bench = written(ToolSet::TextEditor, &file);
        let input = json!({"command": "insert", "path": "f", "insert_line": after, "insert_text": text});
        bench.call("str_replace_based_edit_tool", input).done();
        let (head, tail) = (file.before(after), file.lines[after..].concat());
        let bytes = bench.bytes("f");
        prop_assert!(bytes.starts_with(&head) && bytes.ends_with(&tail));
        let put = file.form.text(&bytes[head.len()..bytes.len() - tail.len()]).replace("\r\n", "\n");
        prop_assert_eq!(put.trim_matches('\n'), text.trim_matches('\n'));
        // The lines around it are still lines of their own.
        prop_assert!(tail.is_empty() || put.ends_with('\n'));
        prop_assert!(head.len() == file.form.mark().len() || head.ends_with(&file.form.bytes("\n")) || put.starts_with('\n'));
    }

    #[test]
    fn a_patch_written_with_line_feeds_keeps_every_line_end_of_the_file(
        file in file().prop_filter("no stray bytes", |f| f.form != Form::Stray),
        at in any::<prop::sample::Index>(),
    ) {
        let line = at.index(file.lines.len());
        // Short texts in old encodings may be read as another one, and the patch is UTF-8.
        prop_assume!(!matches!(file.form, Form::Windows1252 | Form::Gbk));
        let text = |line: usize| file.form.text(&file.lines[line]).trim_end_matches(['\r', '\n']).to_string();
        let mut patch = format!("--- a/f\n+++ b/f\n@@ -{} @@\n", line + 1);
        let last = file.lines.len() - 1;
        let ended = file.lines[last].ends_with(&file.form.bytes("\n"));
        let end = |line: usize| if line == last && !ended { "\n\\ No newline at end of file\n" } else { "\n" };
        let changed = text(line).replace(&token(line), "changed");
        patch.push_str(&format!("-{}{}+{changed}{}", text(line), end(line), end(line)));
        if line < last {
            patch.push_str(&format!(" {}{}", text(line + 1), end(line + 1)));
        }
        let bench = written(ToolSet::Native, &file);
        bench.call("apply_patch", json!({ "patch": patch })).done();
        let (left, right) = file.around(line);
        let whole = [file.before(line), left, file.form.bytes("changed"), right, file.after(line)].concat();
        prop_assert_eq!(bench.bytes("f"), whole);
    }
}
