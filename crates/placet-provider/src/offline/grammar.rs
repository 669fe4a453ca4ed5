//! The table of what the offline provider understands: the pattern, an example, what the example calls, and how. The
//! parser, the `help` text, the documentation and a test are made from it and cannot disagree.

use super::pattern::{self, PatternCaptures};
use super::segment::RequestWord;
use placet_text::conversation::CallInput;
use serde_json::{Map, Value, json};

/// One kind of request.
#[derive(Clone, Copy)]
pub struct OfflineGrammarRow {
    /// `replace OLD with NEW in FILE [everywhere]`: capitals are values, brackets may be left out.
    pub pattern: &'static str,
    pub example: &'static str,
    /// The calls that the example makes, each as `tool {arguments}`.
    pub calls: &'static [&'static str],
    build: GrammarAction,
}

#[derive(Clone, Copy)]
enum GrammarAction {
    Calls(fn(&PatternCaptures) -> Vec<OfflineCall>),
    /// Needs the conversation so far.
    SaveThat,
    Help,
}

/// What `help` lists: all of it would be longer than a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelpTopic {
    Requests,
    Scratchpads,
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OfflineCall {
    pub(super) tool: String,
    pub(super) input: CallInput,
}

/// What one request asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OfflineRequest {
    Calls(Vec<OfflineCall>),
    SaveThat(String),
    Help(HelpTopic),
}

/// The whole table. The first row that fits a request counts.
pub fn grammar() -> &'static [OfflineGrammarRow] {
    &ROWS
}

/// The calls that the words ask for; `None` where no row fits.
pub(super) fn wish(words: &[RequestWord<'_>]) -> Option<OfflineRequest> {
    ROWS.iter().find_map(|row| {
        let taken = pattern::hold(row.pattern, words)?;
        Some(match row.build {
            GrammarAction::Calls(build) => OfflineRequest::Calls(build(&taken)),
            GrammarAction::SaveThat => OfflineRequest::SaveThat(taken.one("NAME").to_string()),
            GrammarAction::Help if taken.said("scratchpads") => OfflineRequest::Help(HelpTopic::Scratchpads),
            GrammarAction::Help => OfflineRequest::Help(HelpTopic::Requests),
        })
    })
}

impl OfflineGrammarRow {
    /// What the row is about: the tool that its example calls, or `call` for the row that names any tool.
    pub(super) fn subject(&self) -> &'static str {
        let tool = self.calls.first().and_then(|call| call.split(' ').next()).unwrap_or_default();
        if pattern::verb(self.pattern) == "call" { "call" } else { tool }
    }

    /// The pattern without the part that stores the result in a scratchpad, which many requests take.
    pub(super) fn short_pattern(&self) -> String {
        self.pattern.replace(INTO, "")
    }

    /// The request is about scratchpads.
    pub(super) fn topic(&self) -> HelpTopic {
        match self.short_pattern().contains("scratchpad") || self.subject() == "scratchpad" {
            true => HelpTopic::Scratchpads,
            false => HelpTopic::Requests,
        }
    }
}

/// Stores the result of a request.
const INTO: &str = " [into scratchpad NAME]";

/// The patterns that begin with the same verb as `words`.
pub(super) fn near(words: &[RequestWord<'_>]) -> Vec<String> {
    let verb = words.first().map(|w| w.text.as_str()).unwrap_or_default();
    let names = |what: &str| words.iter().any(|word| word.text.to_ascii_lowercase().starts_with(what));
    // Somebody who writes `rename the function` does not mean a scratchpad.
    let of_topic = |row: &&OfflineGrammarRow| row.topic() == HelpTopic::Requests || names("scratchpad");
    let has_verb = |row: &&OfflineGrammarRow| pattern::verb(row.pattern).eq_ignore_ascii_case(verb);
    ROWS.iter().filter(of_topic).filter(has_verb).map(OfflineGrammarRow::short_pattern).collect()
}

/// Arguments from pairs; a null value means that the argument was not given, and is left out.
fn call<const N: usize>(tool: &str, arguments: [(&str, Value); N]) -> OfflineCall {
    let object: Map<String, Value> =
        arguments.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.to_string(), v)).collect();
    OfflineCall { tool: tool.to_string(), input: CallInput::Object(Value::Object(object)) }
}

/// The argument for the capital `name`.
fn taken(t: &PatternCaptures, name: &str) -> Value {
    if t.has(name) { json!(t.one(name)) } else { Value::Null }
}

fn number(t: &PatternCaptures, name: &str) -> Value {
    if t.has(name) { json!(t.number(name)) } else { Value::Null }
}

/// `true` where the request has the word.
fn flag(t: &PatternCaptures, word: &str) -> Value {
    if t.said(word) { json!(true) } else { Value::Null }
}

fn each(t: &PatternCaptures, name: &str, make: impl Fn(&str) -> OfflineCall) -> Vec<OfflineCall> {
    t.all(name).iter().map(|item| make(item)).collect()
}

fn read_all(t: &PatternCaptures) -> Vec<OfflineCall> {
    each(t, "FILES", |file| call("read_file", [("path", json!(file)), ("scratchpad", taken(t, "NAME"))]))
}

/// A place to search is a directory or file, or a glob where it looks like one.
fn search(t: &PatternCaptures, more: [(&str, Value); 2]) -> Vec<OfflineCall> {
    let place = t.one("PLACE");
    let is_glob = place.contains(['*', '?', '{']);
    let here = |wanted: bool| if t.has("PLACE") && wanted { json!(place) } else { Value::Null };
    let [first, second] = more;
    let [path, glob] = [("path", here(!is_glob)), ("glob", here(is_glob))];
    vec![call(
        "search_contents",
        [("pattern", taken(t, "PATTERN")), path, glob, first, second, ("scratchpad", taken(t, "NAME"))],
    )]
}

fn edit(t: &PatternCaptures, text: (&str, Value)) -> Vec<OfflineCall> {
    let [old, path] = [("old_string", taken(t, "OLD")), ("path", taken(t, "FILE"))];
    let [all, force] = [("replace_all", flag(t, "everywhere")), ("force", flag(t, "anyway"))];
    vec![call("edit_file", [path, old, text, all, force])]
}

fn write(t: &PatternCaptures, mode: &str) -> Vec<OfflineCall> {
    let [path, content] = [("path", taken(t, "FILE")), ("content", taken(t, "TEXT"))];
    vec![call("write_file", [path, content, ("mode", json!(mode)), ("force", flag(t, "anyway"))])]
}

fn run(t: &PatternCaptures, more: (&str, Value)) -> Vec<OfflineCall> {
    vec![call("run_command", [("command", taken(t, "COMMAND")), more])]
}

fn pad<const N: usize>(action: &str, more: [(&str, Value); N]) -> Vec<OfflineCall> {
    let mut planned = call("scratchpad", [("action", json!(action))]);
    if let CallInput::Object(Value::Object(object)) = &mut planned.input {
        object.extend(more.into_iter().map(|(k, v)| (k.to_string(), v)));
    }
    vec![planned]
}

const ROWS: [OfflineGrammarRow; 36] = [
    OfflineGrammarRow {
        pattern: "help [scratchpads]",
        example: "help",
        calls: &[],
        build: GrammarAction::Help,
    },
    OfflineGrammarRow {
        pattern: "show scratchpad NAME",
        example: "show scratchpad notes",
        calls: &[r#"scratchpad {"action":"read","name":"notes"}"#],
        build: GrammarAction::Calls(|t| pad("read", [("name", taken(t, "NAME"))])),
    },
    OfflineGrammarRow {
        pattern: "show lines FROM to TO of FILE",
        example: "show lines 10 to 20 of src/main.rs",
        calls: &[r#"read_file {"path":"src/main.rs","offset":9,"limit":11}"#],
        build: GrammarAction::Calls(|t| {
            let from = t.number("FROM").max(1);
            let limit = (t.number("TO") + 1).saturating_sub(from).max(1);
            vec![call(
                "read_file",
                [("path", taken(t, "FILE")), ("offset", json!(from - 1)), ("limit", json!(limit))],
            )]
        }),
    },
    OfflineGrammarRow {
        pattern: "show lines matching PATTERN in FILE",
        example: "show lines matching \"pub fn\" in src/lib.rs",
        calls: &[r#"read_file {"path":"src/lib.rs","pattern":"pub fn"}"#],
        build: GrammarAction::Calls(|t| {
            vec![call("read_file", [("path", taken(t, "FILE")), ("pattern", taken(t, "PATTERN"))])]
        }),
    },
    OfflineGrammarRow {
        pattern: "show FILES [into scratchpad NAME]",
        example: "show src/main.rs and \"my notes.txt\"",
        calls: &[r#"read_file {"path":"src/main.rs"}"#, r#"read_file {"path":"my notes.txt"}"#],
        build: GrammarAction::Calls(read_all),
    },
    OfflineGrammarRow {
        pattern: "look at FILES",
        example: "look at picture.tiff",
        calls: &[r#"read_file {"path":"picture.tiff"}"#],
        build: GrammarAction::Calls(read_all),
    },
    OfflineGrammarRow {
        pattern: "list scratchpads",
        example: "list scratchpads",
        calls: &[r#"scratchpad {"action":"list"}"#],
        build: GrammarAction::Calls(|_| pad("list", [])),
    },
    OfflineGrammarRow {
        pattern: "list all [in DIR] [to depth COUNT]",
        example: "list all in src",
        calls: &[r#"list_directory {"path":"src","hidden":true}"#],
        build: GrammarAction::Calls(|t| {
            let [path, depth] = [("path", taken(t, "DIR")), ("depth", number(t, "COUNT"))];
            vec![call("list_directory", [path, depth, ("hidden", json!(true))])]
        }),
    },
    OfflineGrammarRow {
        pattern: "list [DIR] [to depth COUNT] [into scratchpad NAME]",
        example: "list src to depth 2",
        calls: &[r#"list_directory {"path":"src","depth":2}"#],
        build: GrammarAction::Calls(|t| {
            let [path, depth] = [("path", taken(t, "DIR")), ("depth", number(t, "COUNT"))];
            vec![call("list_directory", [path, depth, ("scratchpad", taken(t, "NAME"))])]
        }),
    },
    OfflineGrammarRow {
        pattern: "find GLOB [in DIR] [into scratchpad NAME]",
        example: "find *.rs in src",
        calls: &[r#"find_files {"pattern":"*.rs","path":"src"}"#],
        build: GrammarAction::Calls(|t| {
            let [pattern, path] = [("pattern", taken(t, "GLOB")), ("path", taken(t, "DIR"))];
            vec![call("find_files", [pattern, path, ("scratchpad", taken(t, "NAME"))])]
        }),
    },
    OfflineGrammarRow {
        pattern: "search text PATTERN [in PLACE] [into scratchpad NAME]",
        example: "search text \"a.b(\" in src",
        calls: &[r#"search_contents {"pattern":"a.b(","path":"src","literal":true}"#],
        build: GrammarAction::Calls(|t| search(t, [("literal", json!(true)), ("context", Value::Null)])),
    },
    OfflineGrammarRow {
        pattern: "search PATTERN [in PLACE] [with COUNT lines around] [into scratchpad NAME]",
        example: "search TODO in *.rs with 2 lines around",
        calls: &[r#"search_contents {"pattern":"TODO","glob":"*.rs","context":2}"#],
        build: GrammarAction::Calls(|t| {
            search(t, [("context", number(t, "COUNT")), ("literal", Value::Null)])
        }),
    },
    OfflineGrammarRow {
        pattern: "which files contain PATTERN [in PLACE]",
        example: "which files contain TODO in src",
        calls: &[r#"search_contents {"pattern":"TODO","path":"src","files_only":true}"#],
        build: GrammarAction::Calls(|t| search(t, [("files_only", json!(true)), ("context", Value::Null)])),
    },
    OfflineGrammarRow {
        pattern: "replace OLD with NEW in scratchpad NAME",
        example: "replace \"one\" with \"two\" in scratchpad notes",
        calls: &[r#"scratchpad {"action":"edit","name":"notes","old_string":"one","new_string":"two"}"#],
        build: GrammarAction::Calls(|t| {
            let [old, new] = [("old_string", taken(t, "OLD")), ("new_string", taken(t, "NEW"))];
            pad("edit", [("name", taken(t, "NAME")), old, new])
        }),
    },
    OfflineGrammarRow {
        pattern: "replace OLD with NEW in FILE [everywhere] [anyway]",
        example: "replace \"a\" with \"b\" in src/main.rs everywhere",
        calls: &[r#"edit_file {"path":"src/main.rs","old_string":"a","new_string":"b","replace_all":true}"#],
        build: GrammarAction::Calls(|t| edit(t, ("new_string", taken(t, "NEW")))),
    },
    OfflineGrammarRow {
        pattern: "insert TEXT before OLD in FILE [anyway]",
        example: "insert \"// first\\n\" before \"fn main\" in src/main.rs",
        calls: &[r#"edit_file {"path":"src/main.rs","old_string":"fn main","insert_before":"// first\n"}"#],
        build: GrammarAction::Calls(|t| edit(t, ("insert_before", taken(t, "TEXT")))),
    },
    OfflineGrammarRow {
        pattern: "insert TEXT after OLD in FILE [anyway]",
        example: "insert \"\\nmod b;\" after \"mod a;\" in src/lib.rs",
        calls: &[r#"edit_file {"path":"src/lib.rs","old_string":"mod a;","insert_after":"\nmod b;"}"#],
        build: GrammarAction::Calls(|t| edit(t, ("insert_after", taken(t, "TEXT")))),
    },
    OfflineGrammarRow {
        pattern: "append TEXT to scratchpad NAME",
        example: "append \"more\\n\" to scratchpad notes",
        calls: &[r#"scratchpad {"action":"append","name":"notes","content":"more\n"}"#],
        build: GrammarAction::Calls(|t| {
            pad("append", [("name", taken(t, "NAME")), ("content", taken(t, "TEXT"))])
        }),
    },
    OfflineGrammarRow {
        pattern: "append TEXT to FILE [anyway]",
        example: "append \"one more line\\n\" to notes.txt",
        calls: &[r#"write_file {"path":"notes.txt","content":"one more line\n","mode":"append"}"#],
        build: GrammarAction::Calls(|t| write(t, "append")),
    },
    OfflineGrammarRow {
        pattern: "create FILE with TEXT",
        example: "create notes.txt with \"first\\n\"",
        calls: &[r#"write_file {"path":"notes.txt","content":"first\n","mode":"create"}"#],
        build: GrammarAction::Calls(|t| write(t, "create")),
    },
    OfflineGrammarRow {
        pattern: "overwrite FILE with TEXT [anyway]",
        example: "overwrite notes.txt with \"anew\\n\"",
        calls: &[r#"write_file {"path":"notes.txt","content":"anew\n","mode":"overwrite"}"#],
        build: GrammarAction::Calls(|t| write(t, "overwrite")),
    },
    OfflineGrammarRow {
        pattern: "write TEXT to scratchpad NAME",
        example: "write \"a thought\" to scratchpad notes",
        calls: &[r#"scratchpad {"action":"write","name":"notes","content":"a thought"}"#],
        build: GrammarAction::Calls(|t| {
            pad("write", [("name", taken(t, "NAME")), ("content", taken(t, "TEXT"))])
        }),
    },
    OfflineGrammarRow {
        pattern: "run in DIR: COMMAND",
        example: "run in src: ls -l",
        calls: &[r#"run_command {"command":"ls -l","cwd":"src"}"#],
        build: GrammarAction::Calls(|t| run(t, ("cwd", taken(t, "DIR")))),
    },
    OfflineGrammarRow {
        pattern: "run within COUNT seconds: COMMAND",
        example: "run within 2 seconds: sleep 10",
        calls: &[r#"run_command {"command":"sleep 10","timeout_ms":2000}"#],
        build: GrammarAction::Calls(|t| {
            run(t, ("timeout_ms", json!(t.number("COUNT").saturating_mul(1000))))
        }),
    },
    OfflineGrammarRow {
        pattern: "run with scratchpad NAME: COMMAND",
        example: "run with scratchpad notes: wc -l",
        calls: &[r#"run_command {"command":"wc -l","stdin_scratchpad":"notes"}"#],
        build: GrammarAction::Calls(|t| run(t, ("stdin_scratchpad", taken(t, "NAME")))),
    },
    OfflineGrammarRow {
        pattern: "run into scratchpad NAME: COMMAND",
        example: "run into scratchpad log: cargo build",
        calls: &[r#"run_command {"command":"cargo build","scratchpad":"log"}"#],
        build: GrammarAction::Calls(|t| run(t, ("scratchpad", taken(t, "NAME")))),
    },
    OfflineGrammarRow {
        pattern: "run COMMAND",
        example: "run cargo --version",
        calls: &[r#"run_command {"command":"cargo --version"}"#],
        build: GrammarAction::Calls(|t| run(t, ("cwd", Value::Null))),
    },
    OfflineGrammarRow {
        pattern: "save that as NAME",
        example: "save that as notes",
        calls: &[r#"scratchpad {"action":"write","name":"notes","content":"what was said or found last"}"#],
        build: GrammarAction::SaveThat,
    },
    OfflineGrammarRow {
        pattern: "save scratchpad NAME to FILE",
        example: "save scratchpad notes to notes.txt",
        calls: &[r#"scratchpad {"action":"save","name":"notes","path":"notes.txt"}"#],
        build: GrammarAction::Calls(|t| {
            pad("save", [("name", taken(t, "NAME")), ("path", taken(t, "FILE"))])
        }),
    },
    OfflineGrammarRow {
        pattern: "load FILE as NAME",
        example: "load notes.txt as notes",
        calls: &[r#"scratchpad {"action":"load","name":"notes","path":"notes.txt"}"#],
        build: GrammarAction::Calls(|t| {
            pad("load", [("name", taken(t, "NAME")), ("path", taken(t, "FILE"))])
        }),
    },
    OfflineGrammarRow {
        pattern: "rename scratchpad NAME to NEW",
        example: "rename scratchpad notes to ideas",
        calls: &[r#"scratchpad {"action":"rename","name":"notes","to":"ideas"}"#],
        build: GrammarAction::Calls(|t| pad("rename", [("name", taken(t, "NAME")), ("to", taken(t, "NEW"))])),
    },
    OfflineGrammarRow {
        pattern: "merge scratchpads NAMES into NEW",
        example: "merge scratchpads notes, log and ideas into all",
        calls: &[r#"scratchpad {"action":"merge","from":["notes","log","ideas"],"name":"all"}"#],
        build: GrammarAction::Calls(|t| {
            pad("merge", [("from", json!(t.all("NAMES"))), ("name", taken(t, "NEW"))])
        }),
    },
    OfflineGrammarRow {
        pattern: "delete scratchpads NAMES",
        example: "delete scratchpads log and ideas",
        calls: &[
            r#"scratchpad {"action":"delete","name":"log"}"#,
            r#"scratchpad {"action":"delete","name":"ideas"}"#,
        ],
        build: GrammarAction::Calls(|t| {
            t.all("NAMES").iter().flat_map(|name| pad("delete", [("name", json!(name))])).collect()
        }),
    },
    OfflineGrammarRow {
        pattern: "delete scratchpad NAME",
        example: "delete scratchpad notes",
        calls: &[r#"scratchpad {"action":"delete","name":"notes"}"#],
        build: GrammarAction::Calls(|t| pad("delete", [("name", taken(t, "NAME"))])),
    },
    OfflineGrammarRow {
        pattern: "call TOOL ARGUMENTS",
        example: r#"call read_file {"path":"a.txt","limit":5}"#,
        calls: &[r#"read_file {"path":"a.txt","limit":5}"#],
        build: GrammarAction::Calls(|t| {
            vec![OfflineCall { tool: t.one("TOOL").to_string(), input: CallInput::parse(t.one("ARGUMENTS")) }]
        }),
    },
    OfflineGrammarRow {
        pattern: "call TOOL",
        example: "call list_directory",
        calls: &["list_directory {}"],
        build: GrammarAction::Calls(|t| vec![call(t.one("TOOL"), [])]),
    },
];
