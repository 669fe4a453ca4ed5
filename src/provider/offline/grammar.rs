//! The table of what the offline provider understands: the pattern, an example, what the example calls, and how. From
//! it come the parser, the `help` text, the documentation and a test, so they cannot disagree.

use super::pattern::{self, Taken};
use super::segment::Word;
use crate::conversation::CallInput;
use serde_json::{Map, Value, json};

/// One kind of request.
#[derive(Clone, Copy)]
pub struct GrammarRow {
    /// `replace OLD with NEW in FILE [everywhere]`: capitals are yours, brackets may be left out.
    pub pattern: &'static str,
    pub example: &'static str,
    /// The calls that the example makes, each as `tool {arguments}`.
    pub calls: &'static [&'static str],
    build: Build,
}

#[derive(Clone, Copy)]
enum Build {
    Calls(fn(&Taken) -> Vec<Planned>),
    /// Needs the conversation so far.
    SaveThat,
    Help,
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) tool: String,
    pub(super) input: CallInput,
}

/// What one request asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    Calls(Vec<Planned>),
    SaveThat(String),
    Help,
}

/// The whole table. The first row that fits a request is the one that counts.
pub fn grammar() -> &'static [GrammarRow] {
    &ROWS
}

/// What the words ask for; `None` where no row fits.
pub(super) fn wish(words: &[Word<'_>]) -> Option<Wish> {
    ROWS.iter().find_map(|row| {
        let taken = pattern::hold(row.pattern, words)?;
        Some(match row.build {
            Build::Calls(build) => Wish::Calls(build(&taken)),
            Build::SaveThat => Wish::SaveThat(taken.one("NAME").to_string()),
            Build::Help => Wish::Help,
        })
    })
}

/// The patterns that begin with the same verb as `words`.
pub(super) fn near(words: &[Word<'_>]) -> Vec<&'static str> {
    let verb = words.first().map(|w| w.text.as_str()).unwrap_or_default();
    ROWS.iter().map(|row| row.pattern).filter(|p| pattern::verb(p).eq_ignore_ascii_case(verb)).collect()
}

/// Arguments from pairs; what is null was not said and is left out.
fn call<const N: usize>(tool: &str, arguments: [(&str, Value); N]) -> Planned {
    let object: Map<String, Value> =
        arguments.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.to_string(), v)).collect();
    Planned { tool: tool.to_string(), input: CallInput::Object(Value::Object(object)) }
}

/// The argument that the capital `name` took.
fn taken(t: &Taken, name: &str) -> Value {
    if t.has(name) { json!(t.one(name)) } else { Value::Null }
}

fn number(t: &Taken, name: &str) -> Value {
    if t.has(name) { json!(t.number(name)) } else { Value::Null }
}

/// `true` where the word was said.
fn flag(t: &Taken, word: &str) -> Value {
    if t.said(word) { json!(true) } else { Value::Null }
}

fn each(t: &Taken, name: &str, make: impl Fn(&str) -> Planned) -> Vec<Planned> {
    t.all(name).iter().map(|item| make(item)).collect()
}

fn read_all(t: &Taken) -> Vec<Planned> {
    each(t, "FILES", |file| call("read_file", [("path", json!(file)), ("scratchpad", taken(t, "NAME"))]))
}

/// A place to search is a directory or file, or a glob where it looks like one.
fn search(t: &Taken, more: [(&str, Value); 2]) -> Vec<Planned> {
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

fn edit(t: &Taken, text: (&str, Value)) -> Vec<Planned> {
    let [old, path] = [("old_string", taken(t, "OLD")), ("path", taken(t, "FILE"))];
    let [all, force] = [("replace_all", flag(t, "everywhere")), ("force", flag(t, "anyway"))];
    vec![call("edit_file", [path, old, text, all, force])]
}

fn write(t: &Taken, mode: &str) -> Vec<Planned> {
    let [path, content] = [("path", taken(t, "FILE")), ("content", taken(t, "TEXT"))];
    vec![call("write_file", [path, content, ("mode", json!(mode)), ("force", flag(t, "anyway"))])]
}

fn run(t: &Taken, more: (&str, Value)) -> Vec<Planned> {
    vec![call("run_command", [("command", taken(t, "COMMAND")), more])]
}

fn pad<const N: usize>(action: &str, more: [(&str, Value); N]) -> Vec<Planned> {
    let mut planned = call("scratchpad", [("action", json!(action))]);
    if let CallInput::Object(Value::Object(object)) = &mut planned.input {
        object.extend(more.into_iter().map(|(k, v)| (k.to_string(), v)));
    }
    vec![planned]
}

const ROWS: [GrammarRow; 36] = [
    GrammarRow { pattern: "help", example: "help", calls: &[], build: Build::Help },
    GrammarRow {
        pattern: "show scratchpad NAME",
        example: "show scratchpad notes",
        calls: &[r#"scratchpad {"action":"read","name":"notes"}"#],
        build: Build::Calls(|t| pad("read", [("name", taken(t, "NAME"))])),
    },
    GrammarRow {
        pattern: "show lines FROM to TO of FILE",
        example: "show lines 10 to 20 of src/main.rs",
        calls: &[r#"read_file {"path":"src/main.rs","offset":9,"limit":11}"#],
        build: Build::Calls(|t| {
            let from = t.number("FROM").max(1);
            let limit = (t.number("TO") + 1).saturating_sub(from).max(1);
            vec![call(
                "read_file",
                [("path", taken(t, "FILE")), ("offset", json!(from - 1)), ("limit", json!(limit))],
            )]
        }),
    },
    GrammarRow {
        pattern: "show lines matching PATTERN in FILE",
        example: "show lines matching \"pub fn\" in src/lib.rs",
        calls: &[r#"read_file {"path":"src/lib.rs","pattern":"pub fn"}"#],
        build: Build::Calls(|t| {
            vec![call("read_file", [("path", taken(t, "FILE")), ("pattern", taken(t, "PATTERN"))])]
        }),
    },
    GrammarRow {
        pattern: "show FILES [into scratchpad NAME]",
        example: "show src/main.rs and \"my notes.txt\"",
        calls: &[r#"read_file {"path":"src/main.rs"}"#, r#"read_file {"path":"my notes.txt"}"#],
        build: Build::Calls(read_all),
    },
    GrammarRow {
        pattern: "look at FILES",
        example: "look at picture.tiff",
        calls: &[r#"read_file {"path":"picture.tiff"}"#],
        build: Build::Calls(read_all),
    },
    GrammarRow {
        pattern: "list scratchpads",
        example: "list scratchpads",
        calls: &[r#"scratchpad {"action":"list"}"#],
        build: Build::Calls(|_| pad("list", [])),
    },
    GrammarRow {
        pattern: "list all [in DIR] [to depth COUNT]",
        example: "list all in src",
        calls: &[r#"list_directory {"path":"src","hidden":true}"#],
        build: Build::Calls(|t| {
            let [path, depth] = [("path", taken(t, "DIR")), ("depth", number(t, "COUNT"))];
            vec![call("list_directory", [path, depth, ("hidden", json!(true))])]
        }),
    },
    GrammarRow {
        pattern: "list [DIR] [to depth COUNT] [into scratchpad NAME]",
        example: "list src to depth 2",
        calls: &[r#"list_directory {"path":"src","depth":2}"#],
        build: Build::Calls(|t| {
            let [path, depth] = [("path", taken(t, "DIR")), ("depth", number(t, "COUNT"))];
            vec![call("list_directory", [path, depth, ("scratchpad", taken(t, "NAME"))])]
        }),
    },
    GrammarRow {
        pattern: "find GLOB [in DIR] [into scratchpad NAME]",
        example: "find *.rs in src",
        calls: &[r#"find_files {"pattern":"*.rs","path":"src"}"#],
        build: Build::Calls(|t| {
            let [pattern, path] = [("pattern", taken(t, "GLOB")), ("path", taken(t, "DIR"))];
            vec![call("find_files", [pattern, path, ("scratchpad", taken(t, "NAME"))])]
        }),
    },
    GrammarRow {
        pattern: "search text PATTERN [in PLACE] [into scratchpad NAME]",
        example: "search text \"a.b(\" in src",
        calls: &[r#"search_contents {"pattern":"a.b(","path":"src","literal":true}"#],
        build: Build::Calls(|t| search(t, [("literal", json!(true)), ("context", Value::Null)])),
    },
    GrammarRow {
        pattern: "search PATTERN [in PLACE] [with COUNT lines around] [into scratchpad NAME]",
        example: "search TODO in *.rs with 2 lines around",
        calls: &[r#"search_contents {"pattern":"TODO","glob":"*.rs","context":2}"#],
        build: Build::Calls(|t| search(t, [("context", number(t, "COUNT")), ("literal", Value::Null)])),
    },
    GrammarRow {
        pattern: "which files contain PATTERN [in PLACE]",
        example: "which files contain TODO in src",
        calls: &[r#"search_contents {"pattern":"TODO","path":"src","files_only":true}"#],
        build: Build::Calls(|t| search(t, [("files_only", json!(true)), ("context", Value::Null)])),
    },
    GrammarRow {
        pattern: "replace OLD with NEW in scratchpad NAME",
        example: "replace \"one\" with \"two\" in scratchpad notes",
        calls: &[r#"scratchpad {"action":"edit","name":"notes","old_string":"one","new_string":"two"}"#],
        build: Build::Calls(|t| {
            let [old, new] = [("old_string", taken(t, "OLD")), ("new_string", taken(t, "NEW"))];
            pad("edit", [("name", taken(t, "NAME")), old, new])
        }),
    },
    GrammarRow {
        pattern: "replace OLD with NEW in FILE [everywhere] [anyway]",
        example: "replace \"a\" with \"b\" in src/main.rs everywhere",
        calls: &[r#"edit_file {"path":"src/main.rs","old_string":"a","new_string":"b","replace_all":true}"#],
        build: Build::Calls(|t| edit(t, ("new_string", taken(t, "NEW")))),
    },
    GrammarRow {
        pattern: "insert TEXT before OLD in FILE [anyway]",
        example: "insert \"// first\\n\" before \"fn main\" in src/main.rs",
        calls: &[r#"edit_file {"path":"src/main.rs","old_string":"fn main","insert_before":"// first\n"}"#],
        build: Build::Calls(|t| edit(t, ("insert_before", taken(t, "TEXT")))),
    },
    GrammarRow {
        pattern: "insert TEXT after OLD in FILE [anyway]",
        example: "insert \"\\nmod b;\" after \"mod a;\" in src/lib.rs",
        calls: &[r#"edit_file {"path":"src/lib.rs","old_string":"mod a;","insert_after":"\nmod b;"}"#],
        build: Build::Calls(|t| edit(t, ("insert_after", taken(t, "TEXT")))),
    },
    GrammarRow {
        pattern: "append TEXT to scratchpad NAME",
        example: "append \"more\\n\" to scratchpad notes",
        calls: &[r#"scratchpad {"action":"append","name":"notes","content":"more\n"}"#],
        build: Build::Calls(|t| pad("append", [("name", taken(t, "NAME")), ("content", taken(t, "TEXT"))])),
    },
    GrammarRow {
        pattern: "append TEXT to FILE [anyway]",
        example: "append \"one more line\\n\" to notes.txt",
        calls: &[r#"write_file {"path":"notes.txt","content":"one more line\n","mode":"append"}"#],
        build: Build::Calls(|t| write(t, "append")),
    },
    GrammarRow {
        pattern: "create FILE with TEXT",
        example: "create notes.txt with \"first\\n\"",
        calls: &[r#"write_file {"path":"notes.txt","content":"first\n","mode":"create"}"#],
        build: Build::Calls(|t| write(t, "create")),
    },
    GrammarRow {
        pattern: "overwrite FILE with TEXT [anyway]",
        example: "overwrite notes.txt with \"anew\\n\"",
        calls: &[r#"write_file {"path":"notes.txt","content":"anew\n","mode":"overwrite"}"#],
        build: Build::Calls(|t| write(t, "overwrite")),
    },
    GrammarRow {
        pattern: "write TEXT to scratchpad NAME",
        example: "write \"a thought\" to scratchpad notes",
        calls: &[r#"scratchpad {"action":"write","name":"notes","content":"a thought"}"#],
        build: Build::Calls(|t| pad("write", [("name", taken(t, "NAME")), ("content", taken(t, "TEXT"))])),
    },
    GrammarRow {
        pattern: "run in DIR: COMMAND",
        example: "run in src: ls -l",
        calls: &[r#"run_command {"command":"ls -l","cwd":"src"}"#],
        build: Build::Calls(|t| run(t, ("cwd", taken(t, "DIR")))),
    },
    GrammarRow {
        pattern: "run within COUNT seconds: COMMAND",
        example: "run within 2 seconds: sleep 10",
        calls: &[r#"run_command {"command":"sleep 10","timeout_ms":2000}"#],
        build: Build::Calls(|t| run(t, ("timeout_ms", json!(t.number("COUNT").saturating_mul(1000))))),
    },
    GrammarRow {
        pattern: "run with scratchpad NAME: COMMAND",
        example: "run with scratchpad notes: wc -l",
        calls: &[r#"run_command {"command":"wc -l","stdin_scratchpad":"notes"}"#],
        build: Build::Calls(|t| run(t, ("stdin_scratchpad", taken(t, "NAME")))),
    },
    GrammarRow {
        pattern: "run into scratchpad NAME: COMMAND",
        example: "run into scratchpad log: cargo build",
        calls: &[r#"run_command {"command":"cargo build","scratchpad":"log"}"#],
        build: Build::Calls(|t| run(t, ("scratchpad", taken(t, "NAME")))),
    },
    GrammarRow {
        pattern: "run COMMAND",
        example: "run cargo --version",
        calls: &[r#"run_command {"command":"cargo --version"}"#],
        build: Build::Calls(|t| run(t, ("cwd", Value::Null))),
    },
    GrammarRow {
        pattern: "save that as NAME",
        example: "save that as notes",
        calls: &[r#"scratchpad {"action":"write","name":"notes","content":"what was said or found last"}"#],
        build: Build::SaveThat,
    },
    GrammarRow {
        pattern: "save scratchpad NAME to FILE",
        example: "save scratchpad notes to notes.txt",
        calls: &[r#"scratchpad {"action":"save","name":"notes","path":"notes.txt"}"#],
        build: Build::Calls(|t| pad("save", [("name", taken(t, "NAME")), ("path", taken(t, "FILE"))])),
    },
    GrammarRow {
        pattern: "load FILE as NAME",
        example: "load notes.txt as notes",
        calls: &[r#"scratchpad {"action":"load","name":"notes","path":"notes.txt"}"#],
        build: Build::Calls(|t| pad("load", [("name", taken(t, "NAME")), ("path", taken(t, "FILE"))])),
    },
    GrammarRow {
        pattern: "rename scratchpad NAME to NEW",
        example: "rename scratchpad notes to ideas",
        calls: &[r#"scratchpad {"action":"rename","name":"notes","to":"ideas"}"#],
        build: Build::Calls(|t| pad("rename", [("name", taken(t, "NAME")), ("to", taken(t, "NEW"))])),
    },
    GrammarRow {
        pattern: "merge scratchpads NAMES into NEW",
        example: "merge scratchpads notes, log and ideas into all",
        calls: &[r#"scratchpad {"action":"merge","from":["notes","log","ideas"],"name":"all"}"#],
        build: Build::Calls(|t| pad("merge", [("from", json!(t.all("NAMES"))), ("name", taken(t, "NEW"))])),
    },
    GrammarRow {
        pattern: "delete scratchpads NAMES",
        example: "delete scratchpads log and ideas",
        calls: &[
            r#"scratchpad {"action":"delete","name":"log"}"#,
            r#"scratchpad {"action":"delete","name":"ideas"}"#,
        ],
        build: Build::Calls(|t| {
            t.all("NAMES").iter().flat_map(|name| pad("delete", [("name", json!(name))])).collect()
        }),
    },
    GrammarRow {
        pattern: "delete scratchpad NAME",
        example: "delete scratchpad notes",
        calls: &[r#"scratchpad {"action":"delete","name":"notes"}"#],
        build: Build::Calls(|t| pad("delete", [("name", taken(t, "NAME"))])),
    },
    GrammarRow {
        pattern: "call TOOL ARGUMENTS",
        example: r#"call read_file {"path":"a.txt","limit":5}"#,
        calls: &[r#"read_file {"path":"a.txt","limit":5}"#],
        build: Build::Calls(|t| {
            vec![Planned { tool: t.one("TOOL").to_string(), input: CallInput::parse(t.one("ARGUMENTS")) }]
        }),
    },
    GrammarRow {
        pattern: "call TOOL",
        example: "call list_directory",
        calls: &["list_directory {}"],
        build: Build::Calls(|t| vec![call(t.one("TOOL"), [])]),
    },
];
