//! Instructions, skills and commands that people bring: what the model is sent, what a person sees, and what needs trust.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::settled;
use crate::support::pty::{Start, shell};
use crate::support::talk::{Talk, Wire, turn};
use crate::support::wait;
use placet::agent::{TurnEnding, TurnEvent};
use placet::guidance::{Guidance, GuidancePlaces};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill(description: &str, body: &str) -> String {
    format!("---\ndescription: {description}\n---\n{body}\n")
}

/// A conversation whose person has the files of `home`.
fn talk_with(home: &Path) -> Talk {
    let mut talk = Talk::native(Wire::OpenAi);
    let places = GuidancePlaces {
        cwd: talk.root.clone(),
        home: Some(home.join("user")),
        config: home.join("config"),
        trust: home.join("trust.json"),
    };
    talk.guidance = Arc::new(Guidance::new(places, Box::new(|_| true)));
    talk
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_of_a_deeper_directory_come_with_the_first_result_from_there() {
    let home = TempDir::new().unwrap();
    let talk = talk_with(home.path());
    write(&talk.root, "AGENTS.md", "rules of the root, and @more.md");
    write(&talk.root, "more.md", "imported rules");
    write(&talk.root, "sub/deep/AGENTS.md", "rules of deep");
    write(&talk.root, "sub/CLAUDE.md", "rules of sub");
    write(&talk.root, "sub/deep/a.txt", "text");
    write(home.path(), "config/AGENTS.md", "my own rules");
    let read = r#"{"path":"sub/deep/a.txt"}"#;
    for (call, said) in [("c1", "one"), ("c2", "two")] {
        talk.server.push(talk.wire.reply(&[Say::Call(call, "read_file", read)]));
        talk.server.push(talk.wire.reply(&[Say::Text(said)]));
    }
    let mut agent = talk.begin();
    let mut notices = Vec::new();
    for text in ["first", "second"] {
        let hear = |event, _: &_| {
            if let TurnEvent::Notice(line) = event {
                notices.push(line);
            }
        };
        assert_eq!(turn(&mut agent, text, hear).await, TurnEnding::Done);
    }
    let requests = talk.sent();
    let first = Value::Array(requests[0].clone()).to_string();
    let order = ["my own rules", "rules of the root", "imported rules"].map(|text| first.find(text).unwrap());
    assert!(order.is_sorted() && !first.contains("rules of sub"), "{first}");
    let last = Value::Array(requests.last().unwrap().clone()).to_string();
    for text in ["rules of sub", "rules of deep", "my own rules"] {
        assert_eq!(last.matches(text).count(), 1, "{text}: {last}");
    }
    let result = requests[1].last().unwrap().to_string();
    assert!(
        result.contains("[placet: instructions for files in") && result.contains("rules of deep"),
        "{result}"
    );
    assert!(notices.iter().any(|line| line.ends_with("sub/deep/AGENTS.md")), "{notices:?}");
    // What is in use, by its name.
    let shares = agent.context_usage().shares;
    let files = shares.iter().filter(|share| share.is_file && share.tokens > 0);
    let names: Vec<&str> = files.map(|share| share.name.rsplit("/w").next().unwrap()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    talk.is_lawful();
}

/// The beginning of each request is the whole request before it: a cache of the provider stays valid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_prefix_of_twenty_requests_is_the_same_while_skills_come_and_go() {
    let home = TempDir::new().unwrap();
    let talk = talk_with(home.path());
    let mut agent = talk.begin();
    for n in 0..20 {
        let dir = format!("user/.agents/skills/skill-{}", n / 2);
        match n % 3 {
            2 => fs::remove_dir_all(home.path().join(&dir)).unwrap_or_default(),
            _ => write(home.path(), &format!("{dir}/SKILL.md"), &skill("does it", "body")),
        }
        talk.server.push(talk.wire.reply(&[Say::Text("yes")]));
        assert_eq!(turn(&mut agent, &format!("question {n}"), |_, _| {}).await, TurnEnding::Done);
    }
    let bodies: Vec<Value> = talk.server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 20);
    assert!(bodies[0].to_string().contains("- skill-0: does it"), "{}", bodies[0]);
    for pair in bodies.windows(2) {
        assert_eq!(pair[0]["tools"], pair[1]["tools"]);
        let (before, after) =
            (pair[0]["messages"].as_array().unwrap(), pair[1]["messages"].as_array().unwrap());
        assert_eq!(before[..], after[..before.len()]);
    }
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_reads_a_skill_and_its_files_and_no_others() {
    let home = TempDir::new().unwrap();
    let talk = talk_with(home.path());
    write(home.path(), "user/.agents/skills/pdf/SKILL.md", &skill("Reads PDF", "Do it with care."));
    write(home.path(), "user/.agents/skills/pdf/more.md", "further text\u{1b}]0;x\u{7}\u{202e}");
    write(&talk.root, ".claude/skills/theirs/SKILL.md", &skill("Not trusted", "Obey."));
    for (n, input) in [
        json!({"name": "pdf"}),
        json!({"name": "pdf", "file": "more.md"}),
        json!({"name": "pdf", "file": "../../../../etc/passwd"}),
        json!({"name": "theirs"}),
        json!({"name": "pfd"}),
    ]
    .into_iter()
    .enumerate()
    {
        talk.server.push(talk.wire.reply(&[Say::Call(&format!("c{n}"), "skill", &input.to_string())]));
    }
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
    let requests = talk.sent();
    let last = requests.last().unwrap();
    let list = last.iter().find(|message| message["role"] == "user").unwrap().to_string();
    assert!(list.contains("- pdf: Reads PDF") && !list.contains("theirs"), "{list}");
    let results: Vec<String> =
        last.iter().filter(|m| m["role"] == "tool").map(|m| m["content"].to_string()).collect();
    for (result, text) in results.iter().zip([
        "Do it with care.\\n\\nfiles of this skill:\\nmore.md",
        "further text␛]0;x␇<U+202E>",
        "is not inside of the skill's directory",
        "the person does not trust the skill `theirs`",
        "unknown skill `pfd`; did you mean `pdf`?",
    ]) {
        assert!(result.contains(text), "{text}: {result}");
    }
    talk.is_lawful();
}

fn with_home(start: Start, files: &[(&str, &str)]) -> Start {
    let (home, tree) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    files.iter().for_each(|(file, text)| write(home.path(), file, text));
    fs::create_dir(tree.path().join(".git")).unwrap();
    let dir = tree.path().to_path_buf();
    start.at(home, tree, &dir)
}

fn model(server: &MockServer) -> Start {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()]
        .iter()
        .fold(shell().size(100, 40), |start, arg| start.arg(arg))
}

/// The text of the last message of the person, in the last request.
fn said(server: &MockServer) -> String {
    let body = server.requests().pop().unwrap().body;
    let last = body["messages"].as_array().unwrap().iter().rev().find(|m| m["role"] == "user").unwrap();
    last["content"].to_string()
}

#[test]
fn a_skill_is_chosen_by_its_name_with_a_sign_or_as_a_command() {
    let server = MockServer::start([Reply::openai(&[Say::Text("one")]), Reply::openai(&[Say::Text("two")])]);
    let file = skill("Reads PDF", "Count the pages first.");
    let mut pty = with_home(model(&server), &[(".agents/skills/pdf/SKILL.md", &file)]).open();
    pty.line("use $pdf on a.pdf for $HOME");
    settled(&mut pty, "one");
    let text = said(&server);
    assert!(text.contains("use $pdf on a.pdf for $HOME"), "{text}");
    assert!(text.contains("the person chose the skill pdf") && text.contains("Count the pages first."));
    assert!(text.contains("- pdf: Reads PDF"), "{text}");
    pty.line("/pdf all of them");
    settled(&mut pty, "two");
    let text = said(&server);
    assert!(text.contains("/pdf all of them") && text.contains("Count the pages first."), "{text}");
    assert!(!text.contains("- pdf: Reads PDF"), "the list is sent once: {text}");
}

#[test]
fn a_projects_skill_and_command_are_shown_before_they_are_trusted() {
    let server = MockServer::start([Reply::openai(&[Say::Text("one")]), Reply::openai(&[Say::Text("two")])]);
    let mut pty = with_home(model(&server), &[])
        .file(".claude/skills/ship/SKILL.md", skill("Ships it", "Text of the skill."))
        .file(".claude/commands/fix.md", "Fix the issue $1.")
        .file(".claude/commands/ship.md", "Ship it by hand.")
        .open();
    pty.line("/skills");
    settled(&mut pty, "not trusted");
    let words = "/ship is the command .claude/commands/ship.md; $ship in a message uses the skill";
    assert!(pty.screen().contains(words), "{}", pty.screen());
    pty.line("/fix 12");
    pty.until("the question", |screen| {
        screen.contains("Fix the issue $1.") && screen.contains("Type `trust`")
    });
    pty.answer("no\r");
    settled(&mut pty, "not trusted, so nothing was sent");
    assert!(server.requests().is_empty());
    pty.line("/fix 12");
    pty.until("the question again", |screen| screen.matches("Type `trust`").count() == 2);
    pty.answer("trust\r");
    settled(&mut pty, "one");
    assert!(said(&server).contains("Fix the issue 12."), "{}", said(&server));
    pty.line("/skills trust");
    pty.until("the skill", |screen| {
        screen.contains("Text of the skill.") && screen.trim_end().ends_with("stop:")
    });
    pty.answer("trust\r");
    settled(&mut pty, "offered to the model from the next message on: 1 skill");
    pty.line("/fix 13");
    settled(&mut pty, "two");
    let text = said(&server);
    assert!(text.contains("Fix the issue 13.") && text.contains("- ship: Ships it"), "{text}");
    // One changed byte, and it is asked again.
    fs::write(pty.tree.path().join(".claude/commands/fix.md"), "Fix $1 now.").unwrap();
    // Files are looked at again after some time: until then the line has its old text.
    wait::until("the new text", || {
        pty.line("/fix 14");
        pty.until("an answer or a question", |screen| {
            screen.contains("Fix $1 now.") || screen.trim_end().ends_with("] >")
        });
        pty.screen().contains("Fix $1 now.")
    });
}

#[test]
fn a_command_runs_its_lines_through_the_gate_and_attaches_its_files() {
    let server = MockServer::start([Reply::openai(&[Say::Text("one")])]);
    let text = "---\ndescription: Shows the state\nargument-hint: [name]\nallowed-tools: Bash(git add:*)\n\
                model: unknown-1\n---\nState: !`echo found $1`\nSee @notes.txt and @nothing.txt";
    let mut pty = with_home(model(&server), &[(".config/placet/commands/my/state.md", text)])
        .file("notes.txt", "the notes")
        .open();
    pty.line("/my:state \"a b\"");
    settled(&mut pty, "one");
    let screen = pty.screen();
    for line in [
        "ran echo found 'a b'",
        "attached notes.txt",
        "openai-compatible does not list it; m answers",
        "run(git add *) needs no question in this turn",
    ] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    let text = said(&server);
    assert!(text.contains("State: found a b\\nSee @notes.txt") && text.contains("the notes"), "{text}");
    pty.line("/permission");
    settled(&mut pty, "no grants in this session");
    pty.line("/help my:state");
    settled(&mut pty, "/my:state [name]");
}

#[test]
fn a_denied_line_of_a_command_sends_nothing_and_built_in_commands_stay() {
    let server = MockServer::start([]);
    let mut pty = with_home(
        model(&server),
        &[
            (".config/placet/commands/bad.md", "!`curl example.org`"),
            (".config/placet/commands/help.md", "my own help"),
        ],
    )
    .arg("--deny")
    .arg("run(curl *)")
    .open();
    pty.line("/bad");
    settled(&mut pty, "nothing was sent");
    assert!(server.requests().is_empty());
    pty.line("/help");
    settled(&mut pty, "/help of a file is not offered");
    assert!(pty.transcript().contains("Your own and this project's"));
}

/// While a command waits nobody reads keys: Ctrl-C did nothing until its line had ended.
/// True while a `sleep` of these seconds runs.
fn runs(seconds: &str) -> bool {
    let wanted = [b"sleep\0", seconds.as_bytes(), b"\0"].concat();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|process| fs::read(process.path().join("cmdline")).is_ok_and(|line| line == wanted))
}

#[test]
fn ctrl_c_stops_a_line_of_a_command_and_nothing_is_sent() {
    let server = MockServer::start([]);
    let file = (".config/placet/commands/slow.md", "State: !`echo begun; sleep 300.0417`");
    let mut pty = with_home(model(&server), &[file]).arg("--mode").arg("unrestricted").open();
    for times in 1..=2 {
        pty.line("/slow");
        wait::until("the command", || runs("300.0417"));
        pty.send("\x03");
        let words = "stopped echo begun; sleep 300.0417; nothing was sent";
        pty.until("the end", |screen| screen.matches(words).count() == times);
        wait::until("the end of the command", || !runs("300.0417"));
        pty.until_prompt("");
    }
    assert!(server.requests().is_empty());
}

/// The question took `yes` for every line, also for one that removes the workspace.
#[test]
fn a_line_of_a_command_that_removes_the_workspace_needs_its_path() {
    let server = MockServer::start([]);
    let file = (".config/placet/commands/wipe.md", "State: !`rm -rf $1`");
    let mut pty = with_home(model(&server), &[file])
        .file("notes.txt", "the notes")
        .arg("--mode")
        .arg("unrestricted")
        .open();
    let root = pty.tree.path().to_str().unwrap().to_string();
    pty.line(&format!("/wipe {root}"));
    pty.until("the question", |screen| screen.contains("asks because: `rm -rf"));
    pty.until("the word", |screen| screen.contains(&format!("Type `{root}` to run it")));
    pty.answer("yes\r");
    settled(&mut pty, "nothing was sent");
    assert!(pty.exists("notes.txt") && server.requests().is_empty());
}

/// The question showed the text below the front matter only, and the description went to the model.
#[test]
fn the_question_about_a_skill_shows_its_front_matter_and_its_files() {
    let server = MockServer::start([]);
    let mut pty = with_home(model(&server), &[])
        .file(
            ".claude/skills/ship/SKILL.md",
            "---\nname: ship\ndescription: Obey it\nextra: more\n---\nText.",
        )
        .file(".claude/skills/ship/scripts/run.sh", "echo 1\n")
        .open();
    // A message that was not sent is the draft again.
    for (line, draft) in [("/ship", ""), ("use $ship now", "use $ship now")] {
        pty.line(line);
        pty.until("the question", |screen| screen.trim_end().ends_with("Enter to stop:"));
        let screen = pty.screen();
        let (_, screen) = screen.rsplit_once("the skill ship of this project").unwrap();
        for shown in ["name: ship", "description: Obey it", "extra: more", "Text.", "scripts/run.sh  7 B"] {
            assert!(screen.contains(shown), "{shown}: {screen}");
        }
        pty.answer("no\r");
        pty.until_prompt(draft);
    }
    assert_eq!(pty.transcript().matches("not trusted, so nothing was sent").count(), 2);
    assert!(server.requests().is_empty());
}

#[test]
fn what_is_remembered_is_a_pending_change_of_a_file() {
    let mut pty =
        with_home(shell().size(100, 40), &[]).file("Cargo.toml", "[package]\nname = \"x\"\n").open();
    pty.line("/init");
    pty.until("the draft", |screen| {
        screen.contains("+ - Build: `cargo build`") && screen.contains("Yes, apply this")
    });
    assert!(!pty.exists("AGENTS.md"));
    pty.answer("y");
    settled(&mut pty, "applied changes to 1 file");
    pty.line("/init");
    settled(&mut pty, "has an AGENTS.md already");
    pty.line("/remember always run clippy");
    pty.until("the line", |screen| {
        screen.contains("+ - always run clippy") && screen.contains("Yes, apply this")
    });
    pty.answer("y");
    pty.until("applied twice", |screen| screen.matches("applied changes to 1 file").count() == 2);
    assert!(
        pty.read("AGENTS.md").ends_with("\n## Remembered\n\n- always run clippy\n"),
        "{}",
        pty.read("AGENTS.md")
    );
    pty.until_prompt("");
    pty.line("/remember always run clippy");
    settled(&mut pty, "contains this line already");
    pty.line("/remember --own answer in German");
    pty.until("the question", |screen| screen.contains("answer in German") && screen.contains("Yes"));
    pty.answer("y");
    pty.until("the own file", |_| true);
    let own = pty.home().join(".config/placet/AGENTS.md");
    let found = || fs::read_to_string(&own).unwrap_or_default();
    pty.until("the own rule", |_| found().ends_with("- answer in German\n"));
}

#[test]
fn a_script_of_an_own_skill_runs_in_the_view_and_the_settings_stay_hidden() {
    let files = [
        (".config/placet/skills/count/SKILL.md", "---\ndescription: Counts\n---\nRun count.sh."),
        (".config/placet/skills/count/count.sh", "echo counted by the script"),
        (".config/placet/config.toml", "# the settings of a person\n"),
    ];
    let mut pty = with_home(shell().size(100, 40), &files).open();
    pty.line("run sh ~/.config/placet/skills/count/count.sh");
    settled(&mut pty, "counted by the script");
    pty.line("run cat ~/.config/placet/config.toml; echo over");
    settled(&mut pty, "over");
    assert!(!pty.transcript().contains("the settings of a person"), "{}", pty.transcript());
}
