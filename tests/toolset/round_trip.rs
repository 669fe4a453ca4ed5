//! What a tool set shows of a file as text, written back as it was shown, leaves the file as it was: every pair of tools
//! that reads and writes whole contents, and every kind of text.

use crate::support::tool_bench::Bench;
use placet::tools::ToolSet;
use serde_json::{Value, json};

/// What a reading tool answers, as the arguments of the writing tool.
type WriteBack = fn(&str) -> Value;

/// A tool set, its call that reads `f`, its tool that writes, and how the answer of the first is given to the second.
type Pair = (ToolSet, (&'static str, Value), (&'static str, WriteBack));

fn pairs() -> Vec<Pair> {
    let operation =
        |mode: &str| json!({"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": "f", "sMode": mode}]});
    vec![
        (
            ToolSet::Agentos,
            ("file_read", json!({"path": "f"})),
            ("file_write", |answer| json!({"path": "f", "content": parsed(answer)["content"]})),
        ),
        (
            ToolSet::Triggerfish,
            ("read_file", json!({"path": "f"})),
            ("write_file", |answer| json!({"path": "f", "content": answer})),
        ),
        (
            ToolSet::Deepagents,
            ("download_files", json!({"paths": ["/f"]})),
            (
                "upload_files",
                |answer| json!({"files": [{"path": "/f", "content": parsed(answer)[0]["content"]}]}),
            ),
        ),
        (
            ToolSet::Typestack,
            ("agent_prompt", operation("read")),
            ("agent_prompt", |answer| {
                json!({"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": "f", "sMode": "overwrite",
                    "sContent": parsed(answer)["aOpResults"][0]["sContent"]}]})
            }),
        ),
    ]
}

fn parsed(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap()
}

#[test]
fn what_was_read_whole_is_written_back_to_the_byte() {
    const MARK: &str = "\u{FEFF}";
    let bodies = [
        "",
        "a",
        "a\n",
        "a\r\nb\r\n",
        "a\r\nb\n",
        "a\nb\r\nc",
        "a\rb\r",
        "\n\n",
        "\r\n",
        "caf\u{e9}\n",
        "\t \n",
        "a\u{2028}b\n",
        "\u{FEFF}\n",
    ];
    for (set, (reads, call), (writes, back)) in pairs() {
        for body in bodies {
            for before in [body.to_string(), format!("{MARK}{body}")] {
                let bench = Bench::of(set);
                bench.write("f", before.as_str());
                let shown = bench.call(reads, call.clone()).done();
                bench.call(writes, back(&shown)).done();
                assert_eq!(bench.text("f"), before, "{set} {shown}");
            }
        }
    }
}

/// Where the bytes cannot come back, the answer says so before anything is written.
#[test]
fn agentos_tells_which_encoding_would_become_utf_8() {
    let bench = Bench::of(ToolSet::Agentos);
    for (bytes, encoding) in [
        (&b"\xff\xfea\0\n\0"[..], "UTF-16LE"),
        (b"\xfe\xff\0a\0\n", "UTF-16BE"),
        (b"caf\xe9\n", "windows-1252"),
    ] {
        bench.write("f", bytes);
        let read = parsed(&bench.call("file_read", json!({"path": "f"})).done());
        assert_eq!(read["note"], format!("the file is {encoding}; file_write would make it UTF-8"));
    }
}

/// A part of a long line says that it is one, with the same words in every tool set that searches contents.
#[test]
fn a_line_that_was_cut_says_so_in_every_search() {
    let line = format!("{}needle{}\n", "a".repeat(1000), "b".repeat(1000));
    let content = |mode: &str| json!({"pattern": "needle", "output_mode": mode});
    for (set, tool, call) in [
        (ToolSet::Native, "search_contents", json!({"pattern": "needle"})),
        (ToolSet::Agsh, "search_contents", json!({"pattern": "needle"})),
        (ToolSet::Agentos, "file_search", json!({"pattern": "needle"})),
        (ToolSet::Deepagents, "grep", content("content")),
        (ToolSet::Deepagents, "grep", content("entries")),
    ] {
        let bench = Bench::of(set);
        bench.write("long", line.as_str());
        bench.write("short", "needle\n");
        let found = bench.call(tool, call).done();
        let (before, after) = ("[... 900 bytes] a", "b [756 bytes ...]");
        assert!(found.contains(before) && found.contains(after), "{set}: {found}");
        assert_eq!(found.matches(" bytes").count(), 2, "{set}: {found}");
    }
}

/// With virtual paths a name that begins with `~` is a name, wherever it is written.
#[test]
fn deepagents_takes_a_name_with_a_tilde() {
    let bench = Bench::of(ToolSet::Deepagents);
    for path in ["/~x", "/d/~x", "/~/y"] {
        bench.call("write_file", json!({"file_path": path, "content": "old\n"})).done();
        let edit = json!({"file_path": path, "old_string": "old", "new_string": "new"});
        bench.call("read_file", json!({"file_path": path})).done();
        bench.call("edit_file", edit).done();
        assert_eq!(bench.text(path.trim_start_matches('/')), "new\n");
        assert!(bench.call("grep", json!({"pattern": "new", "path": path})).done().contains(path));
    }
}
