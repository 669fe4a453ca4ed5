//! The first minute of a new user: the card, the mode, and what is no message.

use crate::support::binary::Place;
use crate::support::pty::shell;

#[test]
fn the_first_start_in_a_directory_shows_the_card_and_later_ones_a_line() {
    let pty = shell().size(90, 24).file(".git/HEAD", "ref: refs/heads/feature\n").open();
    let screen = pty.screen();
    for words in
        [" on feature\n", "model  none yet: /setup adds a model", "mode   ask: ", "keys   / commands"]
    {
        assert!(screen.contains(words), "{words:?}: {screen}");
    }
    let again = shell().size(90, 24).after(pty).open();
    assert!(again.screen().contains("on feature · no model · ask mode · ? keys"), "{}", again.screen());
    assert!(!again.screen().contains("model  none"), "{}", again.screen());
}

#[test]
fn only_the_shell_starts_in_ask_mode_and_every_setting_wins() {
    let opened = |variables: &[(&str, &str)], args: &[&str]| {
        let start = variables.iter().fold(shell(), |start, (name, value)| start.variable(name, value));
        args.iter().fold(start, |start, arg| start.arg(arg)).open().screen()
    };
    assert!(opened(&[], &[]).contains("placet [a] >"));
    assert!(opened(&[("PLACET_MODE", "read")], &[]).contains("placet [r] >"));
    assert!(opened(&[], &["--mode", "write"]).contains("placet [w] >"));
    assert!(opened(&[], &["--dialect", "agsh"]).contains("placet [r] >"));
    assert!(opened(&[], &["--dialect", "agsh", "--mode", "ask"]).contains("placet [a] >"));
    assert!(opened(&[], &["--set", "permission.modes=[\"none\",\"read\"]"]).contains("placet [r] >"));
    let place = Place::new();
    place.run(["-p", "create a.txt with \"x\""]).code(3).warns("read mode");
}

#[test]
fn a_refusal_by_read_mode_names_the_key_once_and_at_the_end() {
    for linear in [false, true] {
        let start = shell().size(100, 30).arg("--mode").arg("read");
        let mut pty = if linear { start.arg("--linear") } else { start }.open();
        pty.line("create a.txt with \"x\"; create b.txt with \"x\"");
        pty.until("the end", |s| s.contains("read mode changed no files. Shift+Tab: ask mode"));
        pty.until_prompt("");
        let keys = pty.transcript().matches("Shift+Tab: ask mode").count();
        assert_eq!(keys, if linear { 1 } else { 2 }, "{}", pty.transcript());
        pty.line("run echo x > c.txt");
        pty.until("the end of the second turn", |s| s.matches("read mode changed no files").count() == 2);
    }
}

#[test]
fn a_mode_that_cannot_be_left_names_no_key() {
    let mut pty = shell().arg("--set").arg("permission.modes=[\"read\"]").open();
    pty.line("create a.txt with \"x\"");
    pty.until("the refusal", |s| s.contains("read mode does not allow writing"));
    pty.until_prompt("");
    assert!(!pty.transcript().contains("ask mode"), "{}", pty.transcript());
}

#[test]
fn a_mistyped_subcommand_is_an_error_and_a_message_is_sent() {
    let place = Place::new();
    place.run(["revew"]).code(2).warns("there is no command `revew`").warns("did you mean `placet review`?");
    place.run(["login"]).code(2).warns("`placet setup`");
    place.run(["hello"]).code(2).warns("to send it as a message: `placet -- hello`");
    place.run(["revew", "a.rs"]).code(2).warns("did you mean `placet review`?");
    place.run(["fix", "the", "bug"]).code(2).warns("put it in quotes");
    for message in [&["--", "hello"][..], &["fix the bug"], &["-p", "hello"]] {
        let out =
            place.run(message.iter().copied()).code(4).warns("no model is configured, so nothing was sent");
        assert_eq!(out.stdout, "");
    }
    let near = place.run(["-p", "replace \"a\" by \"b\" in f"]).code(4);
    near.warns("without a model, placet understands `replace OLD with NEW in FILE [everywhere] [anyway]`");
    assert_eq!(
        place.run(["session", "list"]).stdout.lines().filter(|line| line.contains("revew")).count(),
        0
    );
}

#[test]
fn without_a_model_a_message_gets_one_line_and_makes_no_session() {
    let mut pty = shell().size(140, 24).open();
    pty.line("what does this project do?");
    pty.until("the line", |s| s.contains("no model yet, so nothing was sent: /setup adds a model"));
    pty.until_prompt("");
    assert!(!pty.transcript().contains("not a model"), "{}", pty.transcript());
    pty.line("/status");
    pty.until("no session", |s| s.contains("starts with the first message"));
    pty.until_prompt("");
    pty.line("list");
    pty.until("an offline request", |s| s.contains("list ."));
}

/// Story: without a key the first message was answered by an error, and the text was gone.
#[test]
fn without_a_key_a_message_gets_one_line_and_comes_back_when_another_provider_answers() {
    let mut pty = shell().size(140, 24).arg("--provider").arg("openai").arg("--model").arg("gpt-5").open();
    pty.line("what does this project do?");
    let line = "no key for `openai`, so nothing was sent: set OPENAI_API_KEY, or /setup adds a key and brings your text back";
    pty.until("the line", |s| s.contains(line));
    pty.until_prompt("");
    pty.line("/status");
    pty.until("no session", |s| s.contains("starts with the first message"));
    pty.until_prompt("");
    pty.line("/provider offline");
    pty.until_prompt("what does this project do?");
}

/// Story: a server of this machine that speaks the protocol of a vendor was asked for the vendor's key.
#[test]
fn a_server_of_this_machine_needs_no_key_of_a_vendor() {
    let place = Place::new();
    let run =
        |url: &str| place.run(["--provider", "openai-chat", "--model", "x", "--base-url", url, "-p", "hi"]);
    for url in ["http://127.0.0.1:9/v1", "http://localhost:9/v1", "http://[::1]:9/v1"] {
        let out = run(url);
        assert!(!out.stderr.contains("no key"), "{url}: {}", out.stderr);
        assert!(out.stderr.contains("no connection to"), "{url}: {}", out.stderr);
    }
    run("https://gateway.example/v1").warns("no key for `openai-chat`: set OPENAI_API_KEY");
}

#[test]
fn a_mention_of_nothing_is_an_error_and_the_line_stays() {
    let mut pty = shell().size(100, 24).arg("--provider").arg("offline").open();
    pty.line("look at @nope.py please");
    pty.until("the error", |s| s.contains("@nope.py: no such file or directory"));
    pty.until_prompt("look at @nope.py please");
    assert!(pty.screen().contains("nothing was sent; to send it as text, write \\@nope.py"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("look at \\@nope.py please");
    pty.until("an answer", |s| s.contains("I do not understand look at @nope.py please"));
}

#[test]
fn exit_and_quit_leave_and_a_question_mark_shows_the_keys() {
    for word in ["exit", "quit"] {
        let mut pty = shell().open();
        pty.line(word);
        assert_eq!(pty.ended(), 0);
    }
    let mut pty = shell().size(100, 30).open();
    pty.send("?");
    pty.until("the keys", |s| s.contains("Shift+Tab") && s.contains("/help lists the commands"));
    pty.until_prompt("");
    pty.send("why?");
    pty.until_prompt("why?");
}

#[test]
fn the_tour_leads_from_an_edit_to_undo_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let start = shell().size(100, 60).variable("TMPDIR", temporary.path().to_str().unwrap()).arg("tour");
    let mut pty = start.open();
    pty.until("the first step", |s| s.contains("Tour, 1 of 4") && s.contains("] > replace"));
    // Something else leaves the tour where it is, and the line of the step comes back.
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("!true");
    pty.until("the line again", |s| {
        s.matches("] > replace").count() == 1 && s.trim_end().ends_with("price.py")
    });
    pty.send("\r");
    pty.until("the question", |s| s.contains("apply?"));
    pty.answer("r");
    // The review covers the words of the step: what to press is above its keys.
    pty.until("the review", |s| {
        s.contains("0/2 hunks")
            && s.contains("Tour: a accepts the first change; c comments")
            && s.contains("? keys")
    });
    pty.by_hand("a");
    pty.until("one accepted", |s| s.contains("1/2 hunks"));
    pty.by_hand("r");
    pty.until("one rejected", |s| s.contains("2/2 hunks"));
    pty.by_hand("\r");
    pty.until("the summary", |s| s.contains("[Apply]"));
    pty.answer("a");
    pty.until("the second step", |s| {
        s.contains("Tour, 2 of 4") && s.trim_end().ends_with("> run rm -rf tests README.md")
    });
    pty.send("\r");
    pty.until("what was deleted", |s| s.contains("D README.md") && s.contains("apply?"));
    pty.answer("a");
    pty.until("the third step", |s| s.contains("Tour, 3 of 4") && s.trim_end().ends_with("> /undo"));
    pty.send("\r");
    pty.until("the last step", |s| s.contains("Tour, 4 of 4") && s.trim_end().ends_with("> exit"));
    pty.send("\r");
    assert_eq!(pty.ended(), 0);
    assert!(pty.transcript().contains("the project of the tour is removed"));
    assert!(pty.is_cooked());
    let left: Vec<_> =
        std::fs::read_dir(temporary.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!pty.home().join(".local/state/placet/placet.db").exists(), "the tour stores no session");
    // Story: the tour wrote to the anchor of the person's audit log, and `placet audit verify` then found the log changed.
    let guards: Vec<_> = std::fs::read_dir(pty.home().join(".config/placet"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name())
        .filter(|name| name.to_string_lossy().starts_with("audit"))
        .collect();
    assert!(guards.is_empty(), "{guards:?}");
}

/// Story: the first step waited for the person's servers, and a hook of theirs ran in the tour.
#[test]
fn no_server_and_no_hook_of_the_person_runs_in_the_tour() {
    let outside = tempfile::tempdir().unwrap();
    let spied = outside.path().join("spied");
    let touch = format!("touch {}", spied.display());
    let settings = format!(
        "[mcp.servers.spy]\ncommand = \"sh\"\nargs = [\"-c\", \"{touch}\"]\noutside = true\n\
         [[hooks]]\nname = \"spy\"\npoint = \"PRE_TOOL_CALL\"\ncommand = \"{touch}\"\n"
    );
    let mut pty = shell().size(100, 60).config(&settings).arg("tour").open();
    pty.until("the first step", |s| s.contains("Tour, 1 of 4") && s.contains("] > replace"));
    pty.send("\r");
    pty.until("the question", |s| s.contains("apply?"));
    assert!(!spied.exists(), "{}", pty.screen());
}

#[test]
fn the_tour_is_left_at_any_step_and_from_the_shell_it_returns() {
    let mut pty = shell().size(100, 40).arg("tour").open();
    pty.until("the first step", |s| s.contains("Tour, 1 of 4"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x04");
    assert_eq!(pty.ended(), 0);
    let mut pty = shell().size(100, 40).open();
    pty.line("/tour");
    pty.until("the first step", |s| s.contains("Tour, 1 of 4"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("exit");
    pty.until("the end of the tour", |s| s.contains("the project of the tour is removed"));
    pty.until_prompt("");
    pty.line("/status");
    pty.until("the own shell", |s| s.contains("starts with the first message"));
    let place = Place::new();
    place.run(["tour"]).code(2).warns("needs a terminal");
}
