//! A review of what the person changed meanwhile: by lines, by sides, and what is left of each.

use super::review::{ask_mode, decide_by, leave_pending, reviewing};
use crate::support::pty::{Pty, joined};
use crate::support::require::require;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A turn changed lines 5 and 25, the person changed line 5 and line 12 since, and the review is open.
fn in_conflict() -> (Pty, String) {
    let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode().size(100, 40).file("a.txt", &text).open();
    let mut pty = reviewing(pty, "sed -i -e s/^line.5$/five/ -e s/^line.25$/twenty-five/ a.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    let mine = text.replace("line 5\n", "mine\n").replace("line 12\n", "twelve of mine\n");
    std::fs::write(pty.tree.path().join("a.txt"), &mine).unwrap();
    // Story: the copy of the agent had the mode of before, and a private file became readable for all.
    std::fs::set_permissions(pty.tree.path().join("a.txt"), Permissions::from_mode(0o600)).unwrap();
    // Story: the summary said "is applied", and then nothing was.
    pty.line("/apply");
    pty.until("the question without a key that could apply nothing", |s| {
        s.contains("apply?") && s.contains("Review") && !s.contains("Apply")
    });
    pty.answer("k");
    pty.until("it is kept", |s| !s.contains("Keep pending") && s.trim_end().ends_with("±1 >"));
    pty.line("/apply a.txt");
    pty.until("it cannot land", |s| s.contains("nothing was applied: files changed in the meantime"));
    pty.until("the way", |s| joined(s).contains("review it to choose between your lines and the agent's"));
    assert_eq!(pty.read("a.txt"), mine);
    pty.line("/review");
    // Story: the person's own line was nowhere on the screen, only the line from which the agent had started.
    pty.until("both changes", |s| {
        s.contains("in the same lines: each conflict below")
            && s.contains("conflict: - is yours, + is the agent")
            && s.contains("before both changes, line 5:")
            && s.contains("│ line 5")
            && s.contains("mine")
            && s.contains("five")
    });
    assert_eq!(pty.screen().matches("before both changes").count(), 1, "{}", pty.screen());
    (pty, mine)
}

#[test]
fn in_a_conflict_accept_takes_the_agents_lines_and_undo_brings_back_the_persons() {
    let (mut pty, mine) = in_conflict();
    // The other hunk is decided, the conflict is not: nothing can be applied yet.
    pty.send("G[");
    decide_by(&mut pty, "a", "1/2 hunks");
    // A key right behind one that decides takes the decision back.
    pty.send("\r");
    pty.until("what is missing", |s| s.contains("the conflict in a.txt, line 5, is not decided"));
    pty.answer("a");
    pty.until("still the summary", |s| s.matches("is not decided").count() == 2);
    assert_eq!(pty.read("a.txt"), mine);
    pty.send("\x1b");
    pty.until("the review", |s| !s.contains("is not decided"));
    decide_by(&mut pty, "Y", "2/2 hunks");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("accepted   2 hunks")
            && s.contains("conflict   a.txt: 1 hunk of the agent replaces lines that you changed")
    });
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    let both = mine.replace("mine\n", "five\n").replace("twelve of five", "twelve of mine");
    assert_eq!(pty.read("a.txt"), both.replace("line 25\n", "twenty-five\n"));
    let mode = || std::fs::metadata(pty.tree.path().join("a.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), mine);
}

#[test]
fn in_a_conflict_reject_keeps_the_persons_lines_and_the_others_are_applied() {
    let (mut pty, mine) = in_conflict();
    decide_by(&mut pty, "Y", "2/2 hunks");
    pty.send("g]");
    decide_by(&mut pty, "r", "✗1");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("rejected   1 hunk") && s.contains("conflict   a.txt: your lines stay in 1 hunk")
    });
    // Somebody changes the file once more: what was shown is not what would be replaced.
    let later = mine.replace("line 30\n", "thirty\n");
    std::fs::write(pty.tree.path().join("a.txt"), &later).unwrap();
    pty.answer("a");
    pty.until("refused", |s| joined(s).contains("`a.txt` changed again in the workspace since it was shown"));
    assert_eq!(pty.read("a.txt"), later);
    pty.line("/review");
    // The hunks are the same, so the decisions are.
    pty.until("again", |s| s.contains("before both changes, line 5:") && s.contains("✓1 ✗1"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("conflict   a.txt: your lines stay in 1 hunk"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), later.replace("line 25\n", "twenty-five\n"));
    // Story: after two undos the rejected lines were an ordinary difference, and one more apply replaced the person's.
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), later);
    pty.line("/undo");
    pty.until("what was rejected is back", |s| s.contains("pending again"));
    pty.line("/apply .");
    pty.until("still a conflict", |s| {
        s.matches("nothing was applied: files changed in the meantime").count() == 2
    });
    assert_eq!(pty.read("a.txt"), later);
}

/// Story: of a file that the agent deleted and the person changed, the apply said to choose in the review, and the review had
/// no choice, called the text "not text", and said that it would apply.
#[test]
fn a_conflict_without_lines_is_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\ntwo\n").file("b.bin", "a\0b").open();
    let mut pty = reviewing(pty, "rm a.txt; printf 'x\\0y' > b.bin");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    let write = |name: &str, text: &str| std::fs::write(pty.tree.path().join(name), text).unwrap();
    write("a.txt", "one\ntwo\nmine\n");
    write("b.bin", "a\0mine");
    pty.line("/apply");
    pty.until("the question names the conflicts", |s| {
        assert!(!s.contains("too large") && !s.contains("!less"), "{s}");
        s.contains("2 files are in conflict with the workspace")
            && s.contains("Review")
            && !s.contains("Apply")
            && joined(s)
                .matches("(conflict: this is the agent's change, yours is different: the review decides)")
                .count()
                == 2
    });
    pty.answer("r");
    pty.until("both sides", |s| {
        s.matches("conflict: the file changed in the workspace since").count() == 2
            && s.contains("yours: 13 bytes, mode 644")
            && s.contains("the agent's: no file")
            && s.contains("before both changes: 8 bytes, mode 644")
            && s.contains("yours: 6 bytes (")
            && s.contains("- is yours, + is the agent's")
            && s.contains("-mine")
    });
    decide_by(&mut pty, "a", "1/2 hunks");
    // The next file is under the cursor by itself.
    decide_by(&mut pty, "r", "2/2 hunks");
    pty.send("\r");
    pty.until("the summary", |s| {
        s.contains("a.txt: the agent's change replaces what you changed")
            && s.contains("b.bin: your version stays")
    });
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert!(!pty.tree.path().join("a.txt").exists());
    assert_eq!(pty.read("b.bin"), "a\0mine");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "one\ntwo\nmine\n");
}

/// Story: the choice of the agent's content could never be applied where the person had changed the mode: "cannot set the mode
/// or owner".
#[test]
fn a_conflict_by_side_takes_the_agents_content_and_leaves_the_mode_of_the_person() {
    for (agent, mode, shown, wanted) in [
        ("printf 'x\\0y' > b.bin", 0o600, "), mode 600", 0o600),
        (
            "printf 'x\\0y' > b.bin; chmod 755 b.bin",
            0o644,
            "mode 644 to 755, with the agent's content",
            0o755,
        ),
        (
            "printf 'x\\0y' > b.bin; chmod 755 b.bin",
            0o640,
            "mode 640 to 755, with the agent's content",
            0o755,
        ),
    ] {
        let pty = ask_mode().size(100, 30).file("b.bin", "a\0b").open();
        let file = pty.tree.path().join("b.bin");
        let set_mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        set_mode(0o644);
        let mut pty = reviewing(pty, agent);
        leave_pending(&mut pty);
        pty.until("the prompt", |s| s.contains("±1 >"));
        std::fs::write(&file, "a\0mine").unwrap();
        set_mode(mode);
        let attribute = || rustix::fs::getxattr(&file, "user.mine", &mut [0_u8; 8]).ok();
        let _ = rustix::fs::setxattr(&file, "user.mine", b"1", rustix::fs::XattrFlags::empty());
        let had = attribute();
        pty.line("/review");
        pty.until("both sides", |s| s.contains(shown) && s.contains("conflict: the file changed"));
        decide_by(&mut pty, "a", "1/1 hunks");
        pty.send("\r");
        pty.until("the summary", |s| s.contains("b.bin: the agent's change replaces what you changed"));
        pty.answer("a");
        pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
        let mode_now = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
        assert_eq!((pty.read("b.bin").as_str(), mode_now(), attribute()), ("x\0y", wanted, had));
        pty.line("/undo");
        pty.until("undone", |s| s.contains("undid changes to 1 file"));
        assert_eq!((pty.read("b.bin").as_str(), mode_now(), attribute()), ("a\0mine", mode, had));
    }
}

/// Story: the person had only changed the mode: no mark, and each `a` was refused.
#[test]
fn a_directory_in_place_of_a_file_with_another_mode_is_marked_as_a_conflict() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\n").open();
    let mut pty = reviewing(pty, "rm a.txt; mkdir a.txt; echo x > a.txt/x");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    std::fs::set_permissions(pty.tree.path().join("a.txt"), Permissions::from_mode(0o600)).unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| s.contains("yours: 4 bytes, mode 600"));
}

/// Story: the question came again and again without a mark, and the person could neither apply nor choose.
#[test]
fn a_mode_that_both_changed_is_marked_as_a_conflict_and_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("b.txt", "one\n").open();
    let file = pty.tree.path().join("b.txt");
    let mode_now = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let mut pty = reviewing(pty, "chmod 755 b.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| s.contains("yours: 4 bytes, mode 600") && s.contains("mode 600 to 755"));
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("b.txt: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(mode_now(), 0o755);
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(mode_now(), 0o600);
}

/// Story: where the agent changed the mode and the person the access list, the choice of the agent could not be applied: the
/// mode of a file with a list is a part of the list.
#[test]
fn a_conflict_by_side_has_the_agents_mode_and_the_persons_access_list() {
    if !require("setfacl") || !require("getfacl") {
        return;
    }
    let pty = ask_mode().size(100, 30).file("b.bin", "a\0b").open();
    let file = pty.tree.path().join("b.bin");
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let list = || {
        let out = Command::new("getfacl").args(["-cpn"]).arg(&file).output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().replace('\n', ",")
    };
    let mut pty = reviewing(pty, "printf 'x\\0y' > b.bin; chmod 755 b.bin");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(&file, "a\0mine").unwrap();
    let set = Command::new("setfacl").args(["-m", "u:1234:r"]).arg(&file).status().unwrap();
    if !set.success() {
        eprintln!("skipped: no access lists here");
        return;
    }
    let before = list();
    pty.line("/review");
    pty.until("both sides", |s| s.contains("conflict: the file changed"));
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("b.bin: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("b.bin"), "x\0y");
    assert_eq!(list(), "user::rwx,user:1234:r--,group::r--,mask::r-x,other::r-x");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!((pty.read("b.bin").as_str(), list()), ("a\0mine", before));
}

/// Story: the review called the file too large, and the apply said to choose in the review.
#[test]
fn a_file_that_the_agent_made_a_directory_is_decided_by_side() {
    let pty = ask_mode().size(100, 30).file("a.txt", "one\n").open();
    let mut pty = reviewing(pty, "rm a.txt; mkdir a.txt; echo x > a.txt/x");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±2 >"));
    std::fs::write(pty.tree.path().join("a.txt"), "one\nmine\n").unwrap();
    pty.line("/apply");
    pty.until("the conflict", |s| s.contains("in conflict with the workspace") && s.contains("Review"));
    pty.answer("r");
    pty.until("both sides", |s| {
        s.contains("yours: 9 bytes") && s.contains("the agent's: a directory") && s.contains("-mine")
    });
    pty.answer("Y");
    pty.until("all accepted", |s| s.contains("2/2 hunks"));
    pty.send("\r");
    pty.until("the summary", |s| s.contains("the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes"));
    assert_eq!(pty.read("a.txt/x"), "x\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes"));
    assert_eq!(pty.read("a.txt"), "one\nmine\n");
}

/// Story: of a file that the agent renamed, "yours: 28 bytes" stood below the new name, and the person's line nowhere.
#[test]
fn a_conflict_of_a_renamed_file_names_it_and_shows_the_lines_that_would_go() {
    let pty = ask_mode().size(100, 30).file("ren.txt", "one\ntwo\nthree\n").open();
    let mut pty = reviewing(pty, "mv ren.txt renamed.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("ren.txt"), "one\ntwo\nthree\nmine\n").unwrap();
    pty.line("/review");
    pty.until("both sides", |s| {
        s.contains("yours, ren.txt: 19 bytes")
            && s.contains("the agent's, ren.txt: no file; it is renamed.txt")
            && s.contains("+ is the agent's, renamed.txt")
            && s.contains("-mine")
            && !s.contains("-three")
    });
}

/// Story: the person's file was nowhere in the review, and its entry was a new file, because the content before the rename
/// could not be read any more.
#[test]
fn a_conflict_of_a_file_that_was_renamed_and_changed_is_one_decision_about_both_names() {
    let pty = ask_mode().size(100, 30).file("ren.txt", "one\ntwo\nthree\nfour\n").open();
    let mut pty = reviewing(pty, "mv ren.txt renamed.txt; echo five >> renamed.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("ren.txt"), "one\ntwo\nthree\nfour\nmine\n").unwrap();
    pty.line("/apply");
    pty.until("the question", |s| s.contains("1 file is in conflict with the workspace"));
    pty.answer("r");
    pty.until("both sides", |s| {
        s.contains("R renamed.txt")
            && s.contains("renamed from ren.txt, and changed")
            && s.contains("conflict: the file changed in the workspace since")
            && s.contains("yours, ren.txt: 24 bytes")
            && s.contains("the agent's, ren.txt: no file; it is renamed.txt")
            && s.contains("-mine")
            && s.contains("+five")
            && s.contains("0/1 hunks")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("renamed.txt: the agent's change replaces what you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert!(!pty.tree.path().join("ren.txt").exists());
    assert_eq!(pty.read("renamed.txt"), "one\ntwo\nthree\nfour\nfive\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("ren.txt"), "one\ntwo\nthree\nfour\nmine\n");
    assert!(!pty.tree.path().join("renamed.txt").exists());
}

#[test]
fn a_file_that_the_person_created_too_is_a_conflict_of_both_texts() {
    let pty = ask_mode().size(100, 30).open();
    let mut pty = reviewing(pty, "echo theirs > new.txt");
    leave_pending(&mut pty);
    pty.until("the prompt", |s| s.contains("±1 >"));
    std::fs::write(pty.tree.path().join("new.txt"), "mine\n").unwrap();
    pty.line("/review");
    pty.until("both texts", |s| {
        s.contains("conflict: - is yours") && s.contains("- mine") && s.contains("+ theirs")
    });
    decide_by(&mut pty, "a", "1/1 hunks");
    pty.send("\r");
    pty.until("the summary", |s| s.contains("replaces lines that you changed"));
    pty.answer("a");
    pty.until("it is applied", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("new.txt"), "theirs\n");
    pty.line("/undo");
    pty.until("undone", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("new.txt"), "mine\n");
}
