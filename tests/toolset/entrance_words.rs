//! The same failing call has the same words over every entrance: in this process through the registry, over
//! `placet mcp serve`, in `placet -p` as the model reads them, and for files of a mount.

use super::tool_set_errors::{calls, ground, sets};
use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::mcp_client::McpClient;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::some_of;
use crate::support::tool_bench::Bench;
use placet::conversation::CallOutcome;
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::Value;
use std::path::Path;

/// Calls in one answer of the scripted model.
const AT_ONCE: usize = 25;

type Call = (String, Value);

fn bench(dialect: ToolSet, settings: &ToolSetSettings) -> Bench {
    let bench = Bench::new().speaking(dialect, settings);
    ground(&bench);
    bench
}

/// Calls that fail, whatever was called before them, with their words.
fn failing(dialect: ToolSet, settings: &ToolSetSettings) -> Vec<(Call, String)> {
    let tools = bench(dialect, settings).registry.specs_for_programs();
    let all = |spec: &placet::conversation::ToolSpec| -> Vec<Call> {
        calls(&spec.schema).into_iter().map(|input| (spec.name.clone(), input)).collect()
    };
    let mut all: Vec<Call> = tools.iter().flat_map(all).filter(|(_, input)| input.is_object()).collect();
    // A call that succeeds changes what the next one finds.
    loop {
        let bench = bench(dialect, settings);
        let results: Vec<_> = all.iter().map(|(tool, input)| bench.call(tool, input.clone())).collect();
        let failed = |n: usize| results[n].0.outcome == CallOutcome::Failed;
        if (0..all.len()).all(failed) {
            let words = results.iter().map(|result| plain(&result.body(), &bench.root));
            return all.into_iter().zip(words.collect::<Vec<_>>()).collect();
        }
        let kept = all.into_iter().enumerate().filter(|(n, _)| failed(*n)).map(|(_, call)| call);
        all = kept.collect();
    }
}

/// Without what differs from run to run: directories, and the number of the process behind `/proc/self`.
fn plain(text: &str, root: &Path) -> String {
    let beside = root.parent().unwrap();
    let text = text.replace(root.to_str().unwrap(), "WORKSPACE").replace(beside.to_str().unwrap(), "BESIDE");
    let own = text.split("/proc/").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    let text = own.collect::<Vec<_>>().join("/proc/");
    // The directory of triggerfish's `exec` tools is one of the session.
    let mut parts = text.split("BESIDE/");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let below = part.split_once("/exec").filter(|(dir, _)| dir.contains("scratch") && !dir.contains('`'));
        text.push_str(&below.map_or_else(|| format!("BESIDE/{part}"), |(_, rest)| format!("EXEC{rest}")));
    }
    text
}

fn options(dialect: ToolSet, settings: &ToolSetSettings) -> Vec<String> {
    let version = if settings.deepagents == DeepagentsVersion::V07 { "0.7" } else { "0.4" };
    let usual = ["--dialect", dialect.name(), "--mode", "unrestricted", "--deny", "read(hidden*)"];
    let mut options: Vec<String> = usual.map(String::from).into();
    // Calls that fail alike end a turn otherwise.
    options.extend(["--set", "max_repeats=0"].map(String::from));
    if dialect == ToolSet::Deepagents {
        let set = [
            format!("dialects.deepagents.virtual_paths={}", settings.virtual_paths),
            format!("dialects.deepagents.overwrite={}", settings.overwrite),
            format!("dialects.deepagents.version={version}"),
        ];
        options.extend(set.into_iter().flat_map(|set| ["--set".to_string(), set]));
    }
    options
}

/// A place with the files of [`ground`], under the names that a [`Bench`] has.
fn place() -> Place {
    let place = Place::new();
    let bench = Bench::new();
    ground(&bench);
    let mut copy = std::process::Command::new("cp");
    copy.arg("-a").arg(format!("{}/.", bench.root.display())).arg(&place.tree);
    assert!(copy.status().unwrap().success());
    std::fs::write(place.beside("secret.txt"), "secret\n").unwrap();
    let _ = std::fs::remove_file(place.tree.join("out"));
    std::os::unix::fs::symlink(place.beside("secret.txt"), place.tree.join("out")).unwrap();
    place
}

fn over_mcp(place: &Place, dialect: ToolSet, settings: &ToolSetSettings, calls: &[&Call]) -> Vec<String> {
    let options = options(dialect, settings);
    let mut client = McpClient::start(place, &options.iter().map(String::as_str).collect::<Vec<_>>());
    let mut words = Vec::new();
    for (tool, input) in calls {
        let (error, text) = client.call(tool, input.clone());
        let mark = if error { "" } else { "NO ERROR " };
        words.push(format!("{mark}{}", plain(&text, &place.tree)));
    }
    client.close();
    words
}

/// The text of a result as it is in a request of the Messages API.
fn result_text(block: &Value) -> String {
    match &block["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

fn by_model(place: Place, dialect: ToolSet, settings: &ToolSetSettings, calls: &[&Call]) -> Vec<String> {
    let ids: Vec<String> = (0..calls.len()).map(|n| format!("toolu_{n}")).collect();
    let names: Vec<(String, String)> =
        calls.iter().map(|(tool, input)| (tool.replace('.', "_"), input.to_string())).collect();
    let said: Vec<Say> =
        ids.iter().zip(&names).map(|(id, (tool, input))| Say::Call(id, tool, input)).collect();
    let answers = said.chunks(AT_ONCE).map(Reply::anthropic);
    let server = MockServer::start(answers.chain([Reply::anthropic(&[Say::Text("Done.")])]));
    let place = place.answered_by(&server);
    let options = options(dialect, settings);
    let out = place.run(options.iter().map(String::as_str).chain(["-p", "go"]));
    // 3: the rule refused some of the calls.
    assert!(matches!(out.code, 0 | 3), "{out:?}");
    assert_eq!(server.violations(), Vec::<String>::new());
    let requests = server.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let blocks: Vec<&Value> =
        messages.iter().filter_map(|message| message["content"].as_array()).flatten().collect();
    let result = |id: &String| {
        let block =
            blocks.iter().find(|block| block["tool_use_id"] == **id).unwrap_or_else(|| panic!("{id}"));
        let mark = if block["is_error"] == true { "" } else { "NO ERROR " };
        format!("{mark}{}", plain(&result_text(block), &place.tree))
    };
    ids.iter().map(result).collect()
}

#[test]
fn a_failing_call_has_the_same_words_over_mcp_and_for_a_model_as_in_the_registry() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (dialect, settings) in some_of(&sets(), 3) {
        let failing = failing(*dialect, settings);
        let calls: Vec<&Call> = failing.iter().map(|(call, _)| call).collect();
        let mcp = over_mcp(&place(), *dialect, settings, &calls);
        let model = by_model(place(), *dialect, settings, &calls);
        for (((call, words), mcp), model) in failing.iter().zip(mcp).zip(model) {
            count += 1;
            // In the binary a rule hides a file, and the rule speaks first.
            let hidden = call.1.to_string().contains("hidden");
            if mcp != model || !hidden && *words != mcp {
                wrong.push(format!(
                    "{dialect} {} {}:\n  {words}\n  mcp: {mcp}\n  -p: {model}",
                    call.0, call.1
                ));
            }
        }
    }
    assert!(count > if is_full() { 500 } else { 100 }, "{count}");
    let shown: Vec<String> = wrong.iter().take(40).cloned().collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), shown.join("\n"));
}

/// Tools of each tool set that take a path, with the parameter, and the rest of the call.
const ON_FILES: &[(ToolSet, &str, &str, &str)] = &[
    (ToolSet::Native, "read_file", "path", "{}"),
    (ToolSet::Native, "read_file", "path", r#"{"offset":1000000}"#),
    (ToolSet::Native, "edit_file", "path", r#"{"old_string":"nope","new_string":"x"}"#),
    (ToolSet::Native, "edit_file", "path", r#"{"old_string":"two","new_string":"x"}"#),
    (ToolSet::Native, "write_file", "path", r#"{"content":"x"}"#),
    (ToolSet::Native, "list_directory", "path", "{}"),
    (ToolSet::Native, "find_files", "path", r#"{"pattern":"*"}"#),
    (ToolSet::Agsh, "read_file", "path", "{}"),
    (ToolSet::Agsh, "edit_file", "path", r#"{"old_string":"nope","new_string":"x"}"#),
    (ToolSet::Agentos, "file_read", "path", "{}"),
    (ToolSet::Agentos, "file_list", "path", "{}"),
    (ToolSet::Agentos, "file_write", "path", r#"{"content":"x"}"#),
    (ToolSet::Triggerfish, "read_file", "path", "{}"),
    (ToolSet::Triggerfish, "list_directory", "path", "{}"),
    (ToolSet::Triggerfish, "write_file", "path", r#"{"content":"x"}"#),
    (ToolSet::Triggerfish, "edit_file", "path", r#"{"old_text":"nope","new_text":"x"}"#),
    (ToolSet::Deepagents, "read_file", "file_path", "{}"),
    (ToolSet::Deepagents, "edit_file", "file_path", r#"{"old_string":"nope","new_string":"x"}"#),
    (ToolSet::Deepagents, "write_file", "file_path", r#"{"content":"x"}"#),
    (ToolSet::TextEditor, "str_replace_based_edit_tool", "path", r#"{"command":"view"}"#),
    (
        ToolSet::TextEditor,
        "str_replace_based_edit_tool",
        "path",
        r#"{"command":"str_replace","old_str":"nope","new_str":"x"}"#,
    ),
    (
        ToolSet::TextEditor,
        "str_replace_based_edit_tool",
        "path",
        r#"{"command":"insert","insert_line":99,"new_str":"x"}"#,
    ),
];

/// Without the times of files.
fn untimed(text: &str) -> String {
    let mut parts = text.split("\"modified\":\"");
    let first = parts.next().unwrap_or_default().to_string();
    let rest = parts.filter_map(|part| part.split_once('"')).map(|(_, rest)| rest);
    rest.fold(first, |text, rest| text + rest)
}

#[test]
fn a_call_has_the_same_words_for_a_file_of_a_mount_as_for_one_of_the_workspace() {
    let place = place();
    let team = place.beside("team");
    let beside = team.parent().unwrap();
    for (name, content) in
        [("a.txt", "one\ntwo\ntwo\n".as_bytes()), ("dir/b.txt", b"b\n"), ("data", b"\0\x01\x02\xff")]
    {
        let path = team.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let big = "big.png";
    std::fs::copy(place.tree.join(big), team.join(big)).unwrap();
    std::fs::copy(place.tree.join("utf32"), team.join("utf32")).unwrap();
    let store = format!("mounts.team.store=dir:{}", team.display());
    let paths = ["a.txt", "nowhere", "no/such/dir/x.txt", "dir", "a.txt/below", "data", big, "utf32"];
    let (mut wrong, mut count) = (Vec::new(), 0);
    for dialect in ToolSet::ALL {
        let mut args = options(dialect, &ToolSetSettings::default());
        args.extend(["--set", "mounts.team.path=/team/", "--set", &store].map(String::from));
        let mut client = McpClient::start(&place, &args.iter().map(String::as_str).collect::<Vec<_>>());
        for (_, tool, parameter, rest) in ON_FILES.iter().filter(|(of, ..)| *of == dialect) {
            for path in paths {
                let mut words = |path: &str| {
                    let mut input: Value = serde_json::from_str(rest).unwrap();
                    input[*parameter] = path.into();
                    client.call(tool, input)
                };
                // deepagents names files from `/` on; the others name this one by its path in the workspace.
                let here = if dialect == ToolSet::Deepagents { format!("/{path}") } else { path.to_string() };
                let (here, there) = (words(&here), words(&format!("/team/{path}")));
                count += 1;
                let elsewhere = there.1.replace(place.tree.to_str().unwrap(), "");
                if elsewhere.contains(beside.to_str().unwrap()) {
                    wrong.push(format!("{dialect} {tool} {rest} {path} has a real path: {}", there.1));
                }
                // The same files at another place: names lose the place.
                let root = if dialect == ToolSet::Deepagents { "/" } else { "" };
                let same = |text: &str| {
                    let text = text.replace("`/team/` with", "`.` with").replace("/team/", root);
                    untimed(&text.replace(&format!("{}/", place.tree.display()), root))
                };
                let (here, there) = ((here.0, same(&here.1)), (there.0, same(&there.1)));
                if here != there {
                    wrong.push(format!("{dialect} {tool} {rest} {path}:\n  {here:?}\n  {there:?}"));
                }
            }
        }
        client.close();
    }
    assert!(count > 60, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
