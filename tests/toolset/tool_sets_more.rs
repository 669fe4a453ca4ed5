//! Smaller points of the tool sets, each by its public surface.

use crate::support::binary::Place;
use crate::support::tool_bench::Bench;
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::json;

fn deepagents(version: DeepagentsVersion) -> Bench {
    let settings = ToolSetSettings { deepagents: version, overwrite: true, ..ToolSetSettings::default() };
    Bench::new().speaking(ToolSet::Deepagents, &settings)
}

#[test]
fn deepagents_0_7_says_that_the_file_does_not_end_with_a_newline() {
    let edit = |file: &str, old: &str, version| {
        let bench = deepagents(version);
        bench.write("a.txt", file);
        bench
            .call("edit_file", json!({"file_path": "/a.txt", "old_string": old, "new_string": "x\n"}))
            .failed()
    };
    let newer = |file, old| edit(file, old, DeepagentsVersion::V07);
    assert_eq!(
        newer("one\ntwo", "two\n"),
        "Error: old_string ends with a newline, but the file does not. Remove the newline at the end of old_string, \
         and of new_string if it has one there too."
    );
    assert_eq!(
        newer("two\ntwo", "two\n\n").lines().next().unwrap(),
        "Error: String not found in file: 'two",
        "only one newline is too many"
    );
    let several = newer("a two\nb two", " two\n\n");
    assert!(several.starts_with("Error: String not found"), "{several}");
    let several = newer("two, two", "two\n");
    assert!(several.contains("Without it, old_string appears 2 times in the file."), "{several}");
    // Where only the text is missing, and in 0.4, the words are the usual ones.
    assert!(newer("one\ntwo", "three\n").starts_with("Error: String not found"));
    assert!(newer("one\ntwo", "\n\n").starts_with("Error: String not found"));
    let older = edit("one\ntwo", "two\n", DeepagentsVersion::V04);
    assert_eq!(older, "Error: String not found in file: 'two\n'");
}

#[test]
fn deepagents_sorts_what_glob_finds_in_the_workspace_and_in_mounts() {
    let place = Place::new();
    for name in ["zebra.md", "alpha.md", "m/inner.md", "team2.md"] {
        place.write(name, "x\n");
    }
    let mounts = [("memories", ["b.md", "a.md", "sub/c.md"]), ("team", ["z.md", "B.md", "a.md"])];
    let mut args: Vec<String> = ["--dialect", "deepagents"].map(String::from).into();
    for (mount, names) in mounts {
        for name in names {
            let path = place.beside(mount).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x\n").unwrap();
        }
        for set in [
            format!("mounts.{mount}.path=/{mount}/"),
            format!("mounts.{mount}.store=dir:{}", place.beside(mount).display()),
        ] {
            args.extend(["--set".to_string(), set]);
        }
    }
    args.extend(["tool", "call", "glob", r#"{"pattern":"**/*.md"}"#].map(String::from));
    let out = place.run(&args).code(0);
    let names: Vec<&str> = out.stdout.split('\'').skip(1).step_by(2).collect();
    let all = [
        "/alpha.md",
        "/m/inner.md",
        "/memories/a.md",
        "/memories/b.md",
        "/memories/sub/c.md",
        "/team/B.md",
        "/team/a.md",
        "/team/z.md",
        "/team2.md",
        "/zebra.md",
    ];
    assert_eq!(names, all, "{}", out.stdout);
}

#[test]
fn a_session_is_found_by_its_id_in_upper_case() {
    let place = Place::new().file("notes.txt", "one\ntwo\n");
    place.run(["-p", "show notes.txt"]).code(0);
    let listed = place.run(["session", "list", "--all"]).code(0).stdout;
    let is_id = |word: &&str| word.len() == 16 && word.starts_with('0');
    let id = listed.split_whitespace().find(is_id).unwrap_or_else(|| panic!("{listed}")).to_string();
    for upper in
        [id.to_uppercase(), id[..14].to_uppercase(), format!("{}{}", &id[..8], id[8..].to_uppercase())]
    {
        place.run(["session", "show", &upper]).code(0).says("## You").says("2│two");
        place.run(["--resume", &upper, "-p", "show notes.txt"]).code(0).says("2│two");
    }
    let again = place.run(["session", "list", "--all"]).code(0).stdout;
    assert_eq!(again.split_whitespace().filter(is_id).count(), 1, "the same session: {again}");
    place.run(["session", "delete", &id.to_uppercase()]).code(0);
    place.run(["session", "show", &id]).code(1);
}

/// Refusals have the words of the surface: placet's own name the directory that virtual paths hide.
#[test]
fn a_refusal_names_no_real_path_where_paths_are_virtual() {
    let place = Place::new().file(".git/hooks/x.sample", "");
    let hook = "/.git/hooks/pre-commit";
    for version in ["0.4", "0.7"] {
        let version = format!("dialects.deepagents.version={version}");
        for (tool, input, words) in [
            (
                "write_file",
                json!({"file_path": hook, "content": "x"}),
                "denied: Error writing file '/.git/hooks/pre-commit': permission denied",
            ),
            (
                "upload_files",
                json!({"files": [{"path": hook, "content": "eA=="}]}),
                "denied: Error uploading files: permission denied",
            ),
        ] {
            let dialect = ["--dialect", "deepagents", "--mode", "write", "--set", &version];
            let out = place.run([&["tool", "call", tool, &input.to_string()][..], &dialect].concat()).code(3);
            let root = place.tree.to_string_lossy().into_owned();
            assert!(out.stderr.contains(words) && !out.stderr.contains(&root), "{tool}: {}", out.stderr);
        }
    }
}

/// The system prompt and `execute` name the real directory, so a model uses it.
#[test]
fn a_real_path_of_the_workspace_is_understood_where_paths_are_virtual() {
    let bench = Bench::new().speaking(ToolSet::Deepagents, &ToolSetSettings::default());
    bench.write("src/a.txt", "one\n");
    let real = |name: &str| bench.path(name).to_string_lossy().into_owned();
    let body = bench.call("read_file", json!({"file_path": real("src/a.txt")})).done();
    assert!(body.contains("one"), "{body}");
    bench.call("write_file", json!({"file_path": real("out.txt"), "content": "x"})).done();
    assert_eq!(bench.text("out.txt"), "x");
    let listed = bench.call("ls", json!({"path": bench.root})).done();
    assert_eq!(listed, "['/out.txt', '/src/']");
    assert_eq!(bench.call("grep", json!({"pattern": "one", "path": real("src")})).done(), "/src/a.txt");
    let outside = bench.call("read_file", json!({"file_path": "/etc/hostname"})).failed();
    assert!(outside.contains("not found"), "{outside}");
}

#[test]
fn agentos_tools_have_their_names_with_and_without_the_prefix() {
    let bench = Bench::new().speaking(ToolSet::Agentos, &ToolSetSettings::default());
    bench.write("a.txt", "abc");
    let body = bench.call("tool::file_read", json!({"path": "a.txt", "maxBytes": 0})).done();
    assert!(body.contains("\"content\":\"\"") && body.contains("\"size\":3"), "{body}");
    assert!(bench.registry.get("tool::nosuch").is_err());
    let native = placet::tools::ToolRegistry::native();
    assert!(native.get("tool::read_file").is_err());
}

#[test]
fn a_prompt_of_typestack_that_is_broken_json_does_not_go_to_the_model() {
    let place = Place::new();
    let out = place.run(["--dialect", "typestack", "-p", "{bad"]);
    let said = format!("{}{}", out.stdout, out.stderr);
    assert!(said.contains("sQuestion starts with { but is not JSON"), "{said}");
}

/// Story: a count ended at 1,000 and was told as a fact, and overlapping places were counted before they were left out.
#[test]
fn the_number_of_places_is_the_one_that_a_replacement_would_have() {
    let bench = deepagents(DeepagentsVersion::V07);
    for (content, old, times) in [("x a\n".repeat(5000), "a", 5000), ("L".repeat(4999), "LLL", 1666)] {
        bench.write("f", &content);
        let said = bench
            .call("edit_file", json!({"file_path": "/f", "old_string": old, "new_string": "b"}))
            .failed();
        assert!(said.contains(&format!("appears {times} times in file")), "{said}");
    }
}

#[test]
fn deepagents_reads_a_long_line_up_to_the_limit_and_says_so() {
    for version in [DeepagentsVersion::V04, DeepagentsVersion::V07] {
        let bench = deepagents(version);
        bench.write("f", "y".repeat(1_200_000));
        let page = bench.call("read_file", json!({"file_path": "/f"})).done();
        assert!(page.len() < 90_000 && page.contains("[Line 1 was cut:"), "{}", page.len());
    }
}

#[test]
fn deepagents_globs_of_grep_are_those_of_glob_and_ends_of_answers_stay() {
    let bench = deepagents(DeepagentsVersion::V07);
    bench.write("a.txt", "foo  \n");
    bench.write("d/b.txt", "foo\n");
    bench.write("trail ", "foo\n");
    let grep = |glob: &str| bench.call("grep", json!({"pattern": "foo", "glob": glob})).done();
    assert_eq!(grep("/*.txt"), "/a.txt");
    assert_eq!(grep("*.txt"), "/a.txt\n/d/b.txt");
    assert_eq!(grep("trail?"), "/trail ");
    let content =
        bench.call("grep", json!({"pattern": "foo", "path": "/a.txt", "output_mode": "content"})).done();
    assert_eq!(content, "/a.txt:\n  1: foo  ");
    assert_eq!(bench.call("glob", json!({"pattern": "a.txt/**"})).done(), "No files found");
}

/// Fields of JSON are for programs, which use them as names of files.
#[test]
fn answers_in_json_name_files_that_are_there() {
    for (set, tool, field) in
        [(ToolSet::Agentos, "file_write", "path"), (ToolSet::Typestack, "", "sFullPath")]
    {
        for name in ["u\u{308}.txt", "trail ", "tab\there", "nl\nx"] {
            let bench = Bench::of(set);
            let said = match tool {
                "" => {
                    let operation =
                        json!({"sBase": "app", "sPath": name, "sMode": "overwrite", "sContent": "x"});
                    bench.call("agent_prompt", json!({"aOperations": [operation]})).done()
                }
                tool => bench.call(tool, json!({"path": name, "content": "x"})).done(),
            };
            let said: serde_json::Value = serde_json::from_str(&said).unwrap();
            let path = said[field].as_str().or_else(|| said["aOpResults"][0][field].as_str());
            assert!(path.unwrap_or_default().ends_with(name), "{said}");
        }
    }
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("f2", "x\n");
    let patch = "diff --git a/f2 b/f3\nsimilarity index 100%\nrename from f2\nrename to f3\n";
    let said = bench.call("apply_patch", json!({"path": "f2", "patch": patch})).done();
    assert!(said.contains("/f3\""), "{said}");
}
