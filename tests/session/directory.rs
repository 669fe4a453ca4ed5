//! `/cd`: the conversation continues in another directory, and what belongs to the old one stays there.

use crate::support::den::sandbox_or_skip;
use crate::support::pty::shell;

#[test]
fn the_conversation_continues_in_another_directory_and_pending_changes_stay_in_the_old_one() {
    let mut pty = shell().size(120, 40).file("a.txt", "alpha\n").file("sub/b.txt", "beta\n").open();
    pty.line("replace alpha with gamma in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    pty.line("/cd sub");
    pty.until("what stays", |s| {
        s.contains("changes to 1 file stay pending in") && s.contains("`/cd -` returns there")
    });
    pty.until("the new directory", |s| s.contains("/sub") && s.contains("changed from"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "alpha\n");
    pty.line("show b.txt");
    pty.until("a file there", |s| s.contains("│beta"));
    pty.until_prompt("");
    pty.line("/transcript");
    pty.until("the conversation before", |s| s.contains("replace alpha with gamma"));
    pty.until("what the agent was told", |s| s.contains("the working directory is"));
    pty.send("q");
    pty.until_prompt("");
    pty.line("/cd -");
    pty.until("the pending change", |s| {
        s.contains("changes to 1 file are pending from session \"replace alpha")
    });
    pty.until("the way back", |s| s.contains("placet [a] ±1 >"));
    pty.line("/apply");
    pty.until("the question", |s| s.contains("Keep pending"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "gamma\n");
    pty.line("/undo");
    pty.until("it is undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "alpha\n");
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    assert!(pty.is_cooked());
}

#[test]
fn a_directory_is_named_as_in_a_shell_and_a_wrong_one_is_an_error() {
    let mut pty = shell().size(120, 40).file("two words/x/a.txt", "x").file("file", "x").open();
    for (line, error) in [
        ("/cd nowhere", "nowhere` does not exist"),
        ("/cd file", "file` is a file, not a directory"),
        ("/cd -", "there is no previous directory"),
        ("/cd .", "already"),
    ] {
        pty.line(line);
        pty.until(line, |s| s.contains(error));
        pty.until_prompt("");
    }
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        let closed = pty.tree.path().join("closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        pty.line("/cd closed");
        pty.until("the refusal", |s| s.contains("permission denied"));
        pty.until_prompt("");
    }
    pty.send("/cd two\t");
    pty.until("the completion", |s| s.contains("/cd two words/"));
    pty.send("x\t");
    pty.until("the next one", |s| s.contains("/cd two words/x/"));
    pty.send("\r");
    pty.until("the directory", |s| s.contains("two words/x"));
    pty.until_prompt("");
    pty.line("/cd");
    pty.until("the home directory", |s| s.contains("◆ ~\n"));
    pty.until_prompt("");
    pty.line("/cd -");
    pty.until("back", |s| s.matches("two words/x").count() > 2);
}

#[test]
fn the_mode_becomes_no_wider_and_the_new_project_asks_for_trust() {
    let mut pty = shell()
        .size(120, 40)
        .arg("--mode")
        .arg("read")
        .file("sub/.placet/config.toml", "mode = \"write\"\n")
        .open();
    pty.line("/cd sub");
    pty.until("the question of trust", |s| s.contains("config.toml would set"));
    let is_prompt = |s: &str| s.trim_end().lines().last().is_some_and(|row| row.ends_with("placet [r] >"));
    pty.answer_line("trust", "the prompt", is_prompt);
    pty.line("/mode");
    pty.until("the mode", |s| s.contains("read"));
    assert!(!pty.screen().contains("placet [w]"));
}

#[test]
fn while_a_command_runs_in_the_background_the_directory_stays() {
    if !sandbox_or_skip(placet::sandbox::SandboxBackend::Overlay) {
        return;
    }
    let mut pty = shell().size(120, 40).file("sub/a.txt", "x").open();
    pty.line("call run_command {\"command\":\"sleep 30\",\"background\":true}");
    pty.until("the job", |s| s.contains("job 1") || s.contains("background"));
    pty.until("the question or the prompt", |s| s.trim_end().ends_with('>') || s.contains("y "));
    if !pty.screen().trim_end().ends_with('>') {
        pty.answer("y");
        pty.until_prompt("");
    }
    pty.line("/cd sub");
    pty.until("the reason", |s| s.contains("1 background command runs in") && s.contains("/jobs kill N"));
}
