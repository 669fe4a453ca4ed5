//! Several rounds on one file: reject, comment, apply, undo and redo, with nobody else at work. The bytes of the file are
//! compared after each step.

use crate::support::pty::{Pty, shell};
use crate::support::require::require;

fn text() -> String {
    (1..=40).map(|n| format!("row {n} end\n")).collect()
}

fn edit(row: usize, to: &str) -> String {
    format!("replace \"row {row} end\" with \"{to}\" in a.txt")
}

/// A turn with these requests, and the review of its changes. Hunks are accepted and rejected in their order.
fn round(pty: &mut Pty, requests: &[String], decisions: &str, comment: Option<&str>) {
    pty.line(&requests.join(" and then "));
    pty.until("the question", |s| s.contains("apply?") && s.contains("Review"));
    pty.answer("r");
    pty.until("the review", |s| s.contains(&format!("0/{} hunks", decisions.len())));
    assert_blames_nobody(pty);
    for (n, key) in decisions.chars().enumerate() {
        pty.answer(&key.to_string());
        pty.until("the decision", |s| s.contains(&format!("{}/{} hunks", n + 1, decisions.len())));
    }
    if let Some(comment) = comment {
        pty.send(&format!("c{comment}\r"));
        pty.until("the comment", |s| s.contains(&format!("» {comment}")));
    }
    pty.by_hand("\r");
    pty.until("the summary", |s| s.contains("[Apply]") || s.contains("[Discard]"));
    pty.answer("a");
    pty.until("the end", |s| s.contains("rejected; ") && s.trim_end().ends_with("[a] >"));
}

fn assert_blames_nobody(pty: &Pty) {
    let screen = pty.screen();
    assert!(!screen.contains("others changed") && !screen.contains("changed since"), "{screen}");
}

/// The edit after a rejection was said to follow a change by "others", and a rejection that came back after an undo was
/// about lines that the file had no more: nobody but the person had touched it.
#[test]
fn rounds_of_rejections_and_comments_blame_nobody_else() {
    let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
    round(&mut pty, &["show a.txt".into(), edit(5, "five"), edit(30, "thirty")], "ar", Some("why not 31"));
    let first = text().replace("row 5 end", "five");
    assert_eq!(pty.read("a.txt"), first);
    round(&mut pty, &[edit(12, "twelve"), edit(30, "dreissig")], "ar", Some("nor this"));
    let second = first.replace("row 12 end", "twelve");
    assert_eq!(pty.read("a.txt"), second);
    round(&mut pty, &[edit(30, "trente"), edit(38, "huit")], "ra", None);
    let third = second.replace("row 38 end", "huit");
    assert_eq!(pty.read("a.txt"), third);
    assert!(!pty.transcript().contains("others changed"), "{}", pty.transcript());
    pty.line("/export talk.md");
    pty.until("the export", |s| s.contains("wrote ") && pty.exists("talk.md"));
    let talk = pty.read("talk.md");
    assert!(!talk.contains("others changed"), "{talk}");
    assert!(talk.contains("the person or another program changed the file since you read it"), "{talk}");
}

#[test]
fn a_rejection_that_was_taken_back_is_not_reported() {
    for (decided, is_reported) in [("/undo", false), ("/status", true)] {
        let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
        round(&mut pty, &["show a.txt".into(), edit(30, "thirty")], "r", None);
        pty.line(decided);
        pty.until("its answer", |s| s.contains("pending again") || s.contains("session"));
        if !is_reported {
            pty.line("/apply .");
            pty.until("the end", |s| s.contains("applied changes to 1 file"));
            assert_eq!(pty.read("a.txt"), text().replace("row 30 end", "thirty"));
        }
        pty.line("list .");
        pty.until("the list", |s| s.contains("list_directory"));
        pty.line("/export talk.md");
        pty.until("the export", |s| s.contains("wrote ") && pty.exists("talk.md"));
        assert_eq!(pty.read("talk.md").contains("Rejected parts are not in the files"), is_reported);
    }
}

#[test]
fn the_first_undo_reverts_what_was_applied_and_the_second_restores_the_rejection() {
    let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
    round(&mut pty, &["show a.txt".into(), edit(5, "five"), edit(30, "thirty")], "ar", None);
    let applied = text().replace("row 5 end", "five");
    assert_eq!(pty.read("a.txt"), applied);
    pty.line("/undo");
    pty.until("the first undo", |s| s.contains("undid changes to 1 file"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), text());
    pty.line("/undo");
    pty.until("the second undo", |s| s.contains("restored the discarded changes to 1 file; pending again"));
    pty.until("the count", |s| s.trim_end().ends_with("±1 >"));
    assert_eq!(pty.read("a.txt"), text());
    // Only the rejected hunk is pending, as a change of the file as it is now.
    pty.line("/review");
    pty.until("the review", |s| s.contains("0/1 hunks") && s.contains("+ thirty"));
    assert_blames_nobody(&pty);
    assert!(!pty.screen().contains("five"), "{}", pty.screen());
    pty.send("q");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/redo");
    pty.until("the redo", |s| s.contains("redid changes to 1 file"));
    pty.until("the prompt after it", |s| s.trim_end().ends_with("±1 >"));
    assert_eq!(pty.read("a.txt"), applied);
    // What was restored is pending still, and is applied on top of what was put back.
    pty.line("/apply .");
    pty.until("the merge", |s| s.contains("nothing was applied: files changed in the meantime"));
    pty.until("its prompt", |s| s.trim_end().ends_with("±1 >"));
    assert_eq!(pty.read("a.txt"), applied);
    pty.line("/apply .");
    pty.until("the end", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
    let both = applied.replace("row 30 end", "thirty");
    assert_eq!(pty.read("a.txt"), both);
    pty.line("/undo");
    pty.until("an undo of that", |s| s.matches("undid changes to 1 file").count() == 2);
    pty.until_prompt("");
    // Both applies are of one turn, and an undo is of a turn.
    assert_eq!(pty.read("a.txt"), text());
}

/// Rejects the first of two hunks with a comment, and goes back to the question.
fn rejecting_one(pty: &mut Pty) {
    pty.line(&["show a.txt".to_string(), edit(5, "five"), edit(30, "thirty")].join(" and then "));
    pty.until("the question", |s| s.contains("apply?") && s.contains("Review"));
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks"));
    pty.answer("r");
    pty.until("the decision", |s| s.contains("1/2 hunks"));
    pty.send("cwhy this\r");
    pty.until("the comment", |s| s.contains("why this"));
    pty.by_hand("q");
    pty.until("the decisions at the question", |s| {
        s.contains("\u{2717} 1 of 2 hunks rejected, 1 comment") && s.contains("Apply as reviewed")
    });
    let of_file = pty.screen().lines().any(|row| {
        row.contains("M a.txt  +2 -2") && row.trim_end().ends_with("\u{2717} 1 of 2 hunks rejected")
    });
    assert!(of_file, "{}", pty.screen());
}

/// Story: the yes at the question applied a hunk that was rejected in the review a moment before, and the rejection and its
/// comment reached nobody.
#[test]
fn the_yes_at_the_question_does_what_the_review_decided() {
    let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
    rejecting_one(&mut pty);
    pty.answer("a");
    pty.until("the end", |s| s.contains("1 hunk rejected; a second /undo restores it"));
    pty.until("what the agent learns", |s| s.contains("will be sent with your next message"));
    assert_eq!(pty.read("a.txt"), text().replace("row 30 end", "thirty"));
    pty.line("list .");
    pty.until("the list", |s| s.contains("list_directory"));
    pty.line("/export talk.md");
    pty.until("the export", |s| s.contains("wrote ") && pty.exists("talk.md"));
    let talk = pty.read("talk.md");
    assert!(talk.contains("why this") && talk.contains("Rejected parts are not in the files"), "{talk}");
}

#[test]
fn an_apply_after_the_question_does_what_the_review_decided() {
    let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
    rejecting_one(&mut pty);
    pty.answer("k");
    pty.until("the end", |s| s.contains("changes to 1 file are pending"));
    pty.line("/apply .");
    pty.until("the apply", |s| {
        s.contains("as reviewed: \u{2717} 1 of 2 hunks rejected, 1 comment")
            && s.contains("your next message")
    });
    assert_eq!(pty.read("a.txt"), text().replace("row 30 end", "thirty"));
}

/// Story: a rejection of an earlier turn was there, already decided, in the review of a later one.
#[test]
fn decisions_end_with_their_question_and_their_comments_go_with_the_next_message() {
    let mut pty = shell().arg("--provider").arg("offline").size(110, 40).file("a.txt", text()).open();
    rejecting_one(&mut pty);
    pty.answer("k");
    pty.until("the end", |s| s.contains("changes to 1 file are pending"));
    pty.line(&edit(12, "twelve"));
    pty.until("the next question", |s| s.contains("+3 -3 lines: apply?") && s.contains("Review"));
    assert!(!pty.screen().contains('\u{2717}'), "{}", pty.screen());
    pty.answer("r");
    pty.until("its review", |s| s.contains("0/3 hunks"));
    pty.answer("q");
    pty.until("the question again", |s| s.contains("apply?") && s.contains("Keep pending"));
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/export talk.md");
    pty.until("the export", |s| s.contains("wrote ") && pty.exists("talk.md"));
    let talk = pty.read("talk.md");
    assert!(talk.contains("why this") && talk.contains("all of them are still pending"), "{talk}");
}

/// README.md is read here, so that its first example cannot become stale.
#[test]
fn the_first_example_of_the_readme_works_typed_literally() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let block = readme
        .split("```sh\n")
        .find(|rest| rest.starts_with("placet tour"))
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let commands: Vec<&str> = block.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
    assert_eq!(commands.len(), 3, "{block}");
    for command in commands {
        // What cargo builds is what these tests start.
        let words = ["cargo run --release", "placet"]
            .iter()
            .find_map(|start| command.strip_prefix(start))
            .expect("placet");
        let args: Vec<&str> = words.split_whitespace().filter(|word| *word != "--").collect();
        let mut pty = args.iter().fold(shell().size(100, 40), |start, arg| start.arg(arg)).open();
        match args.as_slice() {
            ["tour"] => pty.until("the tour", |s| s.contains("Tour, 1 of 4")),
            [] => pty.until("the card", |s| s.contains("placet [a] >") && s.contains("/tour")),
            _ => panic!("a new command in the first example: {command}"),
        }
        pty.send("\x03");
        pty.until_prompt("");
    }
    // The requests of the paragraph below, in an empty home and in the files that they name.
    let start = readme.find("plain requests such as").unwrap();
    let sentence = readme.get(start..).and_then(|rest| rest.split(';').next()).unwrap();
    let requests: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    assert_eq!(requests.len(), 2, "{sentence}");
    let files = [("README.md", readme.as_str()), ("notes.txt", "one\n")];
    let opened = files.iter().fold(shell().size(120, 60), |start, (path, text)| start.file(path, text));
    let mut pty = opened.open();
    for request in requests {
        pty.line(request);
        match request.split(' ').next().unwrap() {
            "show" => pty.until("the file", |s| s.contains("60│") && s.contains("not shown here")),
            "replace" => pty.until("the question", |s| s.contains("1 file, +1 -1 lines: apply?")),
            _ => panic!("a new request in the README: {request}"),
        }
        if request.starts_with("replace") {
            pty.answer("a");
            pty.until("the change", |s| s.contains("applied changes to 1 file"));
        }
        pty.until_prompt("");
    }
    assert_eq!(pty.read("notes.txt"), "two\n");
    pty.line("help");
    pty.until("the list", |s| s.contains("replace OLD with NEW in FILE"));
}

/// Story: one branch was rejected, the row of the whole repository said that it was, and the other branch was applied.
#[test]
fn a_rejected_branch_is_named_in_the_row_of_its_repository() {
    if !require("git") {
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    let git = "git init -q . && git -c user.name=A -c user.email=a@x commit -q --allow-empty -m First";
    let made = std::process::Command::new("sh").args(["-c", git]).current_dir(tree.path()).status().unwrap();
    assert!(made.success());
    let offline = ["--provider", "offline"].map(String::from);
    let start = offline.iter().fold(shell().after_in(tree), |start, argument| start.arg(argument));
    let mut pty = start.size(110, 40).open();
    pty.line("run \"git branch f1 && git branch f2\"");
    pty.until("the question", |s| s.contains("branch f2 created") && s.contains("Review"));
    pty.answer("r");
    pty.until("the review", |s| s.contains("refs/heads/f1"));
    pty.until("the keys", |s| s.contains(" accept  "));
    pty.send("}");
    pty.until("the branch", |s| s.lines().any(|row| row.starts_with('\u{258c}') && row.contains("A f1 ")));
    pty.answer("r");
    pty.until("the decision", |s| s.contains("\u{2717}1"));
    pty.by_hand("q");
    let row = |s: &str| {
        s.lines().any(|row| row.contains("M .git") && row.trim_end().ends_with("\u{2717} f1 rejected"))
    };
    pty.until("the row", |s| s.contains("Apply as reviewed") && row(s));
    pty.answer("a");
    pty.until("the end", |s| s.contains("applied changes to 1 repository"));
    let heads = pty.tree.path().join(".git/refs/heads");
    assert!(heads.join("f2").exists() && !heads.join("f1").exists());
}
