//! The public scenarios of codex and of the text editor tool, as cases of our own. The guide has those that differ.

use crate::support::guide_page::{page, table};
use crate::support::tool_bench::Bench;
use placet::tools::ToolSet;
use serde_json::json;

/// The guide lists the scenarios that do not come out as in the system itself, by their names here.
pub(super) fn assert_scenarios(file: &str, names: &[&str]) {
    let rows = table(&page(file), "| scenario | here |");
    let unknown: Vec<_> =
        rows.iter().map(|row| &row[0]).filter(|name| !names.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "{file} has scenarios that no test runs: {unknown:?}");
}

/// What must come of a patch: the files that it leaves, or a part of the refusal, after which nothing is changed.
enum Comes {
    Files(&'static [(&'static str, &'static str)]),
    Refused(&'static str),
}

use Comes::{Files, Refused};

struct Scenario {
    /// As the guide names it.
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// What `cat` shows first.
    shown: &'static [&'static str],
    /// What is between the first and the last line of the envelope.
    patch: &'static str,
    comes: Comes,
}

const fn scenario(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    patch: &'static str,
    comes: Comes,
) -> Scenario {
    Scenario { name, files, shown: &[], patch, comes }
}

const fn shown(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    shown: &'static [&'static str],
    patch: &'static str,
    comes: Comes,
) -> Scenario {
    Scenario { name, files, shown, patch, comes }
}

const CODEX: &[Scenario] = &[
    scenario("a file is added", &[], "*** Add File: pear.txt\n+green\n", Files(&[("pear.txt", "green\n")])),
    shown(
        "a file is added, one changed, one deleted",
        &[("plum", "blue\nred\n"), ("old", "gone\n")],
        &["old"],
        "*** Add File: deep/fig\n+ripe\n*** Delete File: old\n*** Update File: plum\n@@\n-red\n+yellow\n",
        Files(&[("deep/fig", "ripe\n"), ("plum", "blue\nyellow\n")]),
    ),
    scenario(
        "two hunks in one file",
        &[("plum", "1\n2\n3\n4\n")],
        "*** Update File: plum\n@@\n-2\n+two\n@@\n-4\n+four\n",
        Files(&[("plum", "1\ntwo\n3\nfour\n")]),
    ),
    scenario(
        "a file moves to a new directory",
        &[("here/plum", "red\n"), ("here/fig", "ripe\n")],
        "*** Update File: here/plum\n*** Move to: there/far/plum\n@@\n-red\n+blue\n",
        Files(&[("here/fig", "ripe\n"), ("there/far/plum", "blue\n")]),
    ),
    scenario("an empty envelope", &[("plum", "red\n")], "", Refused("no patch found: expected")),
    scenario(
        "lines that are not there",
        &[("plum", "red\n")],
        "*** Update File: plum\n@@\n-blue\n+green\n",
        Refused("does not match"),
    ),
    scenario("a missing file is deleted", &[], "*** Delete File: plum\n", Refused("does not exist")),
    scenario(
        "an update without hunks",
        &[("plum", "red\n")],
        "*** Update File: plum\n",
        Refused("has no hunk"),
    ),
    scenario(
        "a missing file is changed",
        &[],
        "*** Update File: plum\n@@\n-red\n+blue\n",
        Refused("does not exist"),
    ),
    scenario(
        "a move onto an existing file",
        &[("plum", "red\n"), ("fig", "ripe\n")],
        "*** Update File: plum\n*** Move to: fig\n@@\n-red\n+blue\n",
        Refused("`fig` already exists"),
    ),
    scenario(
        "an existing file is added",
        &[("plum", "red\n")],
        "*** Add File: plum\n+blue\n",
        Refused("`plum` already exists"),
    ),
    shown(
        "a file that was shown is deleted and added in one patch",
        &[("plum", "red\n")],
        &["plum"],
        "*** Delete File: plum\n*** Add File: plum\n+blue\n",
        Files(&[("plum", "blue\n")]),
    ),
    scenario(
        "a directory is deleted",
        &[("dir/plum", "red\n")],
        "*** Delete File: dir\n",
        Refused("is a directory"),
    ),
    scenario(
        "an unknown section",
        &[("plum", "red\n")],
        "*** Paint File: plum\n",
        Refused("unexpected `*** Paint File: plum`"),
    ),
    scenario(
        "the last line has no line end",
        &[("plum", "red")],
        "*** Update File: plum\n@@\n-red\n+blue\n+green\n",
        Files(&[("plum", "blue\ngreen")]),
    ),
    scenario(
        "a later section fails",
        &[],
        "*** Add File: fig\n+ripe\n*** Update File: plum\n@@\n-red\n+blue\n",
        Refused("does not exist"),
    ),
    shown(
        "lines are added at the end",
        &[("plum", "red\n")],
        &["plum"],
        "*** Update File: plum\n@@\n+blue\n+green\n",
        Files(&[("plum", "red\nblue\ngreen\n")]),
    ),
    scenario(
        "lines are added at the end of a file that was not shown",
        &[("plum", "red\n")],
        "*** Update File: plum\n@@\n+blue\n",
        Refused("hint: read it, then send the patch again: [\"cat\", \"plum\"]"),
    ),
    scenario(
        "blanks in front of a section",
        &[("plum", "red\n")],
        "   *** Update File: plum\n@@\n-red\n+blue\n",
        Files(&[("plum", "blue\n")]),
    ),
    scenario(
        "letters beyond ASCII",
        &[("plum", "été\nnaïf\n")],
        "*** Update File: plum\n@@\n été\n-naïf\n+naïf ☀\n",
        Files(&[("plum", "été\nnaïf ☀\n")]),
    ),
    shown(
        "a file that was shown is deleted",
        &[("plum", "red\n"), ("fig", "ripe\n")],
        &["plum"],
        "*** Delete File: plum\n",
        Files(&[("fig", "ripe\n")]),
    ),
    scenario(
        "a file that was not shown is deleted",
        &[("plum", "red\n")],
        "*** Delete File: plum\n",
        Refused("[\"cat\", \"plum\"]; to remove a file unread: [\"rm\", \"plum\"]"),
    ),
    scenario(
        "lines are only removed",
        &[("plum", "1\n2\n3\n")],
        "*** Update File: plum\n@@\n 1\n-2\n 3\n",
        Files(&[("plum", "1\n3\n")]),
    ),
    scenario(
        "`*** End of File`",
        &[("plum", "red\nblue\nred\nblue\n")],
        "*** Update File: plum\n@@\n red\n-blue\n+green\n*** End of File\n",
        Files(&[("plum", "red\nblue\nred\ngreen\n")]),
    ),
    scenario(
        "a file with CRLF",
        &[("plum", "1\r\n2\r\n3\r\n")],
        "*** Update File: plum\n@@\n-1\n+one\n@@\n 2\n+\n+new\n 3\n",
        Files(&[("plum", "one\r\n2\r\n\r\nnew\r\n3\r\n")]),
    ),
    scenario(
        "a file with both line ends",
        &[("plum", "1\r\n2\n3\r\n4\n")],
        "*** Update File: plum\n@@\n 1\n 2\n-3\n+three\n 4\n",
        Files(&[("plum", "1\r\n2\nthree\r\n4\n")]),
    ),
    scenario(
        "equal lines with different line ends",
        &[("plum", "red\r\nred\n")],
        "*** Update File: plum\n@@\n-red\n red\n",
        Files(&[("plum", "red\n")]),
    ),
    scenario(
        "CRLF, and the last line has no line end",
        &[("plum", "1\r\n2")],
        "*** Update File: plum\n@@\n-1\n+one\n",
        Files(&[("plum", "one\r\n2")]),
    ),
    scenario(
        "lines that repeat change their order",
        &[("plum", "x\ny\n")],
        "*** Update File: plum\n@@\n-x\n-y\n+y\n+y\n+x\n",
        Files(&[("plum", "y\ny\nx\n")]),
    ),
    scenario(
        "three hunks, the last at the end",
        &[("plum", "1\n2\n3\n4\n5\n6\n")],
        "*** Update File: plum\n@@\n 1\n-2\n+two\n@@\n 3\n 4\n-5\n+five\n@@\n 6\n+seven\n*** End of File\n",
        Files(&[("plum", "1\ntwo\n3\n4\nfive\n6\nseven\n")]),
    ),
    shown(
        "lines for the end come before another hunk",
        &[("plum", "1\n2\n3\n")],
        &["plum"],
        "*** Update File: plum\n@@\n+end\n@@\n 1\n-2\n-3\n+two\n",
        Files(&[("plum", "1\ntwo\nend\n")]),
    ),
    scenario(
        "the first hunk has no `@@`",
        &[("plum", "use a\n")],
        "*** Update File: plum\n use a\n+use b\n",
        Files(&[("plum", "use a\nuse b\n")]),
    ),
    scenario(
        "`@@` names the line above",
        &[("plum", "fn a\n  x\nfn b\n  x\n")],
        "*** Update File: plum\n@@ fn b\n-  x\n+  y\n",
        Files(&[("plum", "fn a\n  x\nfn b\n  y\n")]),
    ),
    scenario(
        "several places fit",
        &[("plum", "red\nblue\nred\n")],
        "*** Update File: plum\n@@\n-red\n+green\n",
        Refused("matches at 2 places, lines 1, 3"),
    ),
    scenario(
        "hunks in another order than the file",
        &[("plum", "1\n2\n3\n")],
        "*** Update File: plum\n@@\n-3\n+three\n@@\n-1\n+one\n",
        Refused("matches only at line 1, above the end of hunk 1"),
    ),
    scenario(
        "two hunks insert at the same place",
        &[("plum", "1\n2\n")],
        "*** Update File: plum\n@@\n 1\n+a\n 2\n@@\n 1\n+b\n 2\n",
        Refused("matches only at line 1, above the end of hunk 1"),
    ),
    scenario(
        "lines that differ in blanks",
        &[("plum", "    red\n")],
        "*** Update File: plum\n@@\n-red\n+blue\n",
        Refused("does not match"),
    ),
    scenario(
        "lines that differ in dashes and quotes",
        &[("plum", "red \u{2013} blue\n")],
        "*** Update File: plum\n@@\n-red - blue\n+green\n",
        Refused("does not match"),
    ),
    scenario(
        "a name outside the workspace",
        &[("plum", "red\n")],
        "*** Add File: ../fig\n+ripe\n",
        Refused("which is outside the workspace"),
    ),
];

/// The files of the workspace, with their contents.
fn content(bench: &Bench) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left = vec![bench.root.clone()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => left.push(entry),
                false => {
                    let name = entry.strip_prefix(&bench.root).unwrap().to_str().unwrap().to_string();
                    found.push((name, std::fs::read_to_string(&entry).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut files: Vec<_> = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    files.sort();
    files
}

#[test]
fn the_scenarios_of_codex_come_out_as_the_guide_says() {
    assert_scenarios(
        "guide/dialect-codex.md",
        &CODEX.iter().map(|scenario| scenario.name).collect::<Vec<_>>(),
    );
    for Scenario { name, files, shown, patch, comes } in CODEX {
        let bench = Bench::of(ToolSet::Codex);
        files.iter().for_each(|(name, text)| drop(bench.write(name, text)));
        for name in *shown {
            bench.call("shell", json!({"command": ["cat", name]})).done();
        }
        let got =
            bench.call("apply_patch", json!({"input": format!("*** Begin Patch\n{patch}*** End Patch\n")}));
        match comes {
            Files(after) => {
                let body = got.done();
                assert_eq!(content(&bench), owned(after), "{name}: {body}");
            }
            Refused(why) => {
                let body = got.failed();
                assert!(body.contains(why), "{name}: {body}");
                assert_eq!(content(&bench), owned(files), "{name}");
            }
        }
    }
}

#[test]
fn every_tool_set_refuses_hunks_that_overlap_or_leave_the_end() {
    for (hunks, why) in [
        (
            "@@ -1,2 +1,3 @@\n 1\n+a\n 2\n@@ -1,2 +2,3 @@\n 1\n+b\n 2\n",
            "matches only at line 1, above the end of hunk 1",
        ),
        (
            "@@ -2,2 +2,2 @@\n-2\n+two\n 3\n@@ -1,1 +1,1 @@\n-1\n+one\n",
            "matches only at line 1, above the end of hunk 1",
        ),
        ("@@ -1,2 +1,3 @@\n 1\n 2\n+a\n", "but not at the end of the file, where it belongs"),
    ] {
        let patch = format!("--- a/plum\n+++ b/plum\n{hunks}");
        for (dialect, input) in [
            (ToolSet::Native, json!({ "patch": patch })),
            (ToolSet::Agentos, json!({"path": "plum", "patch": patch})),
            (ToolSet::Codex, json!({ "input": patch })),
        ] {
            let bench = Bench::of(dialect);
            bench.write("plum", "1\n2\n3\n");
            let body = bench.call("apply_patch", input).failed();
            assert!(body.contains(why), "{dialect}: {body}");
            assert_eq!(bench.text("plum"), "1\n2\n3\n", "{dialect}");
        }
    }
}

#[test]
fn padded_marks_of_codex_are_read() {
    for (first, last) in [
        (" *** Begin Patch", "*** End Patch "),
        ("*** Begin Patch ", " *** End Patch"),
        ("*** Begin Patch", "*** End Patch"),
    ] {
        let bench = Bench::of(ToolSet::Codex);
        bench.write("plum", "red\n");
        let patch = format!("{first}\n*** Update File: plum\n@@\n-red\n+blue\n{last}\n");
        bench.call("apply_patch", json!({ "input": patch })).done();
        assert_eq!(bench.text("plum"), "blue\n", "{first} {last}");
    }
}

#[test]
fn codex_finds_a_patch_in_a_command_and_the_directory_that_it_belongs_to() {
    let patch = "*** Begin Patch\n*** Update File: plum\n@@\n-red\n+blue\n*** End Patch";
    let here = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    for (call, changed) in [
        (json!({"command": ["apply_patch", patch]}), "plum"),
        (json!({"command": ["applypatch", patch]}), "plum"),
        // A here-document as one word: a shell would have fed it.
        (json!({"command": ["apply_patch", format!("<<'EOF'\n{patch}\nEOF\n")]}), "plum"),
        (json!({"command": ["bash", "-c", here]}), "plum"),
        (json!({"command": ["/bin/bash", "-lc", here]}), "plum"),
        (json!({"command": ["bash", "-lc", format!("cd sub && {here}")]}), "sub/plum"),
        (json!({"command": ["apply_patch", patch], "workdir": "sub"}), "sub/plum"),
        (
            json!({"command": ["bash", "-lc", format!("cd \"in\" && {here}")], "workdir": "sub"}),
            "sub/in/plum",
        ),
    ] {
        let bench = Bench::of(ToolSet::Codex);
        let all = ["plum", "sub/plum", "sub/in/plum"];
        all.iter().for_each(|name| drop(bench.write(name, "red\n")));
        bench.call("shell", call.clone()).done();
        for name in all {
            assert_eq!(bench.text(name), if name == changed { "blue\n" } else { "red\n" }, "{call}: {name}");
        }
    }
    let bench = Bench::of(ToolSet::Codex);
    bench.write("plum", "red\n");
    for command in [json!([patch]), json!(["bash", "-lc", patch])] {
        let body = bench.call("shell", json!({ "command": command })).failed();
        assert!(body.starts_with("error: the command is a patch, not a program\nhint: "), "{body}");
    }
    // A name of the patch does not lead out of the workspace by way of the directory.
    let body = bench.call("shell", json!({"command": ["apply_patch", patch], "workdir": ".."})).failed();
    assert!(body.contains("which is outside the workspace"), "{body}");
    assert_eq!(bench.text("plum"), "red\n");
}

const LONG: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

#[test]
fn what_a_command_of_codex_showed_counts_as_read() {
    // With `-l`, what the profile of whoever runs the test prints would be part of the output.
    let bash = |line: &str| json!(["bash", "-c", line]);
    // Each shows all of `plum`.
    for command in [
        json!(["cat", "plum"]),
        json!(["sed", "-n", "1,200p", "plum"]),
        bash("cat fig plum"),
        bash("cat fig && echo ---; cat -n plum"),
        bash("cd sub && cat ../plum"),
        bash("nl -ba plum | sed -n '1,99p'"),
        bash("sed -n '1,6p' plum; tail -n +7 plum"),
        bash("head -n 20 plum"),
        bash("head -n 7 plum\ntail -5 plum"),
        bash("grep -n '' plum"),
        bash("cat plum 2>/dev/null"),
        bash("nl -ba plum 2> /dev/null | head -n 20 2>&1"),
        bash("grep -n '' plum 2>/dev/null"),
    ] {
        let bench = Bench::of(ToolSet::Codex);
        [("plum", LONG), ("fig", "ripe\n"), ("sub/x", "x\n")]
            .iter()
            .for_each(|(n, t)| drop(bench.write(n, t)));
        let body = bench.call("shell", json!({ "command": command })).done();
        let delete = "*** Begin Patch\n*** Delete File: plum\n*** End Patch\n";
        let after = bench.call("apply_patch", json!({ "input": delete }));
        assert!(!bench.path("plum").exists(), "{command}: {body}{}", after.body());
    }
}

#[test]
fn what_a_command_of_codex_did_not_show_is_not_read() {
    let bash = |line: &str| json!(["bash", "-c", line]);
    for (command, why) in [
        (json!(["wc", "-l", "plum"]), "has not been read"),
        (json!(["cat", "fig"]), "has not been read"),
        // As long as the file, and not its lines.
        (json!(["seq", "12"]), "has not been read"),
        (bash("cat plum | wc -l"), "has not been read"),
        (bash("cat plum > copy"), "has not been read"),
        (bash("cat plum 2>/dev/null > copy"), "has not been read"),
        (bash("cat plum nowhere 2>/dev/null"), "has not been read"),
        (bash("cat plum | tr 1 2"), "has not been read"),
        (bash("cat plum; date"), "has not been read"),
        (json!(["head", "-n", "5", "plum"]), "lines 6-12 of `plum` were not shown"),
        (json!(["sed", "-n", "1,5p;7,12p", "plum"]), "line 6 of `plum` was not shown"),
        (bash("grep -n '[2-9]' plum"), "lines 1, 10-11 of `plum` were not shown"),
        (json!(["grep", "-c", "", "plum"]), "has not been read"),
    ] {
        let bench = Bench::of(ToolSet::Codex);
        [("plum", LONG), ("fig", "ripe\n")].iter().for_each(|(n, t)| drop(bench.write(n, t)));
        bench.call("shell", json!({ "command": command }));
        let delete = "*** Begin Patch\n*** Delete File: plum\n*** End Patch\n";
        let body = bench.call("apply_patch", json!({ "input": delete })).failed();
        assert!(body.contains(why), "{command}: {body}");
        assert_eq!(bench.text("plum"), LONG);
    }
    // What went to a scratchpad was not shown either.
    let bench = Bench::of(ToolSet::Codex);
    bench.write("plum", "a line of the plum\n".repeat(5000));
    bench.call("shell", json!({"command": ["cat", "plum"]})).done();
    let add = "*** Begin Patch\n*** Update File: plum\n@@\n+end\n*** End Patch\n";
    let body = bench.call("apply_patch", json!({ "input": add })).failed();
    assert!(body.contains("has not been read") && body.contains("[\"cat\", \"plum\"]"), "{body}");
    // The lines that a search printed are those that an addition needs.
    bench.write("plum", LONG);
    bench.call("shell", json!({"command": ["grep", "-rn", "12", "."]})).done();
    bench.call("apply_patch", json!({ "input": add })).done();
    assert_eq!(bench.text("plum"), format!("{LONG}end\n"));
}
