use super::*;
use placet_text::text::patch::unified;
use placet_tools::{ChangeOverview, FileDiff, LeftOut};
use placet_workspace::{CommitPatch, ListedChange};

/// A file that changes from `before` to `after`, as the `row`th row.
pub(super) fn change(name: &str, row: usize, before: &str, after: &str) -> (ListedChange, FileDiff) {
    let mut patch = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n").into_bytes();
    unified(before.as_bytes(), after.as_bytes(), &mut patch);
    let count = |sign: u8| patch.split(|b| *b == b'\n').filter(|l| l.first() == Some(&sign)).count() - 1;
    let listed = ListedChange {
        text: format!("M {name}"),
        lines: Some((count(b'+'), count(b'-'))),
        is_edit: !before.is_empty() && !after.is_empty(),
        ..ListedChange::default()
    };
    (listed, FileDiff { name: name.into(), row, patch, ..FileDiff::default() })
}

pub(super) fn detail(changes: Vec<(ListedChange, FileDiff)>) -> DisplayDetail {
    let (list, files) = changes.into_iter().unzip();
    DisplayDetail::Changes(Box::new(ChangeOverview { list, files }))
}

pub(super) fn lines(count: usize) -> String {
    (0..count).map(|n| format!("line {n}\n")).collect()
}

pub(super) fn two_files() -> DisplayDetail {
    detail(vec![change("a.txt", 0, "one\ntwo\n", "one\n2\n"), change("long.txt", 1, "", &lines(60))])
}

#[test]
fn what_fits_is_open_and_the_rest_is_a_row_with_its_counts() {
    let mut b = bench_of(80, 24);
    let mut answer = b.ask_to_apply(two_files());
    insta::assert_snapshot!(b.screen());
    // A closed row is named before it is applied.
    b.answer('a');
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    assert!(screen.contains("not all of long.txt (60 rows) was shown: go ahead?"), "{screen}");
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'));
}

/// Story: at 80x24 two edits of one line each did not fit with the lines around them, and people learned to answer twice
/// without a look.
#[test]
fn unchanged_lines_make_way_where_all_changes_fit_without_them() {
    let edited = |n: usize| lines(20).replace(&format!("line {n}\n"), "changed\n");
    let files = ["a.txt", "b.txt", "c.txt"].into_iter().enumerate();
    let three: Vec<_> = files.map(|(row, name)| change(name, row, &lines(20), &edited(10))).collect();
    // A row is left for the words about keys that do not count yet.
    for (height, context) in [(50, 3), (23, 1), (17, 0)] {
        let mut b = bench_of(80, height);
        let mut answer = b.ask_to_apply(detail(three.clone()));
        let screen = b.screen();
        assert_eq!(screen.matches("+ changed").count(), 3, "{height}: {screen}");
        assert_eq!(screen.matches("line 13").count(), if context == 3 { 3 } else { 0 }, "{height}: {screen}");
        assert_eq!(screen.matches("line 11").count(), if context > 0 { 3 } else { 0 }, "{height}: {screen}");
        b.answer('a');
        assert_eq!(answer.try_recv(), Ok('a'), "{height}: {}", b.screen());
    }
}

/// Story: at 40 columns and 12 rows the question had one row for the changes, and no difference was open. At 80 columns nothing
/// was open although the changed lines had room.
#[test]
fn a_low_pane_shows_changed_lines_and_names_its_answers() {
    let edited = lines(20).replace("line 10\n", "changed\n");
    let two: Vec<_> = ["a.txt", "b.txt"].into_iter().enumerate().collect();
    let two = || two.iter().map(|(row, name)| change(name, *row, &lines(20), &edited)).collect();
    for columns in [40, 80] {
        let mut b = bench_of(columns, 11);
        let mut answer = b.ask_to_apply(detail(two()));
        let screen = b.screen();
        assert!(screen.contains("- line 10") && screen.contains("+ changed"), "{columns}: {screen}");
        assert_eq!(screen.matches("+ changed").count(), 2, "{columns}: {screen}");
        for answer in ["[Apply]", "Keep pending", "More"] {
            assert!(screen.contains(answer), "{columns}: {answer}: {screen}");
        }
        assert!(!screen.contains("none of these") || columns == 80, "{screen}");
        b.answer('a');
        assert_eq!(answer.try_recv(), Ok('a'), "{columns}: {}", b.screen());
    }
}

#[test]
fn down_goes_through_everything_and_then_one_enter_applies() {
    for key in [KeyCode::Down, KeyCode::PageDown] {
        let mut b = bench_of(80, 20);
        let mut answer = b.ask_to_apply(two_files());
        let mut seen = String::new();
        for _ in 0..120 {
            b.key(key);
            seen.push_str(&b.screen());
        }
        for n in 0..60 {
            assert!(seen.contains(&format!("+ line {n}\n")), "{key:?}: line {n} was never shown");
        }
        b.answer('a');
        assert_eq!(answer.try_recv(), Ok('a'), "{key:?}: {}", b.screen());
    }
}

#[test]
fn up_goes_back_to_the_first_row_through_all_that_is_open() {
    let mut b = bench_of(80, 20);
    let _answer = b.ask_to_apply(two_files());
    let first = b.screen();
    for _ in 0..120 {
        b.key(KeyCode::Down);
        b.screen();
    }
    let mut seen = b.screen() + "\n";
    for _ in 0..120 {
        b.key(KeyCode::Up);
        seen.push_str(&b.screen());
    }
    assert!((0..60).all(|n| seen.contains(&format!("+ line {n}\n"))));
    assert_eq!(b.screen().lines().nth(1), first.lines().nth(1));
}

#[test]
fn space_closes_and_opens_and_more_shows_the_patch() {
    let mut b = bench_of(80, 24);
    let mut answer = b.ask_to_apply(two_files());
    b.screen();
    b.key(KeyCode::Char(' '));
    let screen = b.screen();
    assert!(screen.contains("▸ M a.txt") && !screen.contains("- two"), "{screen}");
    b.key(KeyCode::Char(' '));
    let screen = b.screen();
    assert!(screen.contains("▾ M a.txt") && screen.contains("- two"), "{screen}");
    b.more('p');
    assert!(b.screen().contains("diff --git a/a.txt b/a.txt"), "{}", b.screen());
    b.answer('m');
    assert!(b.screen().contains("[List] · Back"), "{}", b.screen());
    b.enter();
    assert!(!b.screen().contains("diff --git"), "{}", b.screen());
    assert!(answer.try_recv().is_err());
    // In a text a blank is a blank.
    b.type_text("p p");
    assert_eq!(b.live.draft().typed, "p p");
}

#[test]
fn the_patch_counts_as_seen_as_the_list_does() {
    let mut b = bench_of(80, 20);
    let mut answer = b.ask_to_apply(two_files());
    b.more('p');
    for _ in 0..40 {
        b.screen();
        b.key(KeyCode::PageDown);
    }
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'));
}

/// What git writes is explained row by row below its repository; its bytes need not be read.
#[test]
fn the_files_of_git_need_not_be_opened() {
    let (mut repository, index) = change(".git", 0, "", &lines(90));
    repository.is_of_git = true;
    let commit = ListedChange { text: "  commit 1f3a2c7 \"x\" on main".into(), ..ListedChange::default() };
    let list = vec![repository, commit];
    let mut b = bench_of(80, 20);
    let overview = ChangeOverview { list, files: vec![index] };
    let mut answer = b.ask_to_apply(DisplayDetail::Changes(Box::new(overview)));
    let screen = b.screen();
    assert!(!screen.contains("line 0") && !screen.contains("closed"), "{screen}");
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'));
}

/// Story: after a first yes and a key that opened nothing, the next one applied 160 rows that were on no screen.
#[test]
fn what_was_not_shown_is_named_each_time_and_is_never_taken_by_the_first_enter() {
    let mut b = bench_of(80, 20);
    let mut answer = b.ask_to_apply(two_files());
    assert!(b.screen().contains("Apply · [Review]"), "{}", b.screen());
    for look in [KeyCode::Down, KeyCode::PageDown, KeyCode::Char(' ')] {
        b.answer('a');
        let screen = b.screen();
        assert!(screen.contains("not all of ") && screen.contains("Apply · [Back]"), "{look:?}: {screen}");
        b.key(look);
        assert!(b.screen().contains("Apply · [Back]"), "{look:?}: {}", b.screen());
        b.enter();
        assert!(answer.try_recv().is_err(), "{look:?}");
        assert!(b.screen().contains("Discard · More"), "{look:?}: {}", b.screen());
    }
    b.answer('a');
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'), "{}", b.screen());
}

/// Story: `secret` was added by a commit and removed by the next, and one press applied both; it was on no screen.
#[test]
fn a_commit_that_the_files_do_not_show_has_to_be_seen() {
    let commit = |is_repeated| {
        let (mut listed, mut diff) = change("s.txt", 1, "", &lines(30));
        listed.text = "  commit 1f3a2c7 \"Add s\" on main: 1 file".into();
        (listed.is_of_git, listed.commit, diff.is_repeated) =
            (true, Some(CommitPatch::default()), is_repeated);
        diff.name = listed.text.trim().into();
        (listed, diff)
    };
    let file = || change("a.txt", 0, "one\n", "two\n");
    let mut b = bench_of(80, 20);
    let mut answer = b.ask_to_apply(detail(vec![file(), commit(true)]));
    assert!(!b.screen().contains("closed"), "{}", b.screen());
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'), "{}", b.screen());

    let mut b = bench_of(80, 20);
    let mut answer = b.ask_to_apply(detail(vec![file(), commit(false)]));
    assert!(b.screen().contains("1 difference closed"), "{}", b.screen());
    b.answer('a');
    assert!(answer.try_recv().is_err());
    let words = "not all of commit 1f3a2c7 \"Add s\" on main: 1 file (30 rows) was shown";
    assert!(b.screen().replace("\n  ", " ").contains(words), "{}", b.screen());
    // Down and PageDown go through it as through a file.
    let mut b = bench_of(80, 20);
    let mut answer = b.ask_to_apply(detail(vec![file(), commit(false)]));
    for _ in 0..6 {
        b.key(KeyCode::PageDown);
        b.screen();
    }
    b.answer('a');
    assert_eq!(answer.try_recv(), Ok('a'), "{}", b.screen());
}

/// Story: at 40 columns five rows of 24 named `.git/COMMIT_EDITMSG and 10 other files`, which nobody has to open.
#[test]
fn what_was_not_shown_of_a_repository_is_named_by_the_repository() {
    let mut b = bench_of(40, 16);
    let (mut repository, message) = change(".git/COMMIT_EDITMSG", 40, "", "x\n");
    let (_, index) = change(".git/index", 40, "", "x\n");
    repository = ListedChange {
        text: "M .git (2 files of the repository)".into(),
        is_of_git: true,
        repository: Some(".git".into()),
        ..repository
    };
    let files = (0..40).map(|row| change(&format!("f{row}"), row, "", "x\n"));
    let (mut list, mut diffs): (Vec<ListedChange>, Vec<FileDiff>) = files.unzip();
    list.push(repository);
    diffs.extend([message, index]);
    let mut answer = b.ask_to_apply(DisplayDetail::Changes(Box::new(ChangeOverview { list, files: diffs })));
    b.answer('a');
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("not all of .git and 40 more files were shown"), "{screen}");
    assert!(!words.contains("COMMIT_EDITMSG") && !words.contains("other file"), "{screen}");
}

/// The last line of the answer is right above the changes, and a blank line follows it once they are decided.
#[test]
fn the_blank_line_after_an_answer_comes_after_the_question() {
    let mut b = bench_of(80, 24);
    b.event(TurnEvent::Text("Done.\n".into()));
    let _answer = b.ask_to_apply(two_files());
    assert_eq!(b.scrollback, ["Done."]);
    b.answer('k');
    b.event(TurnEvent::Notice("kept".into()));
    b.event(TurnEvent::Ended(TurnEnding::Done));
    assert_eq!(b.scrollback, ["Done.", "", "◆ kept"]);
}

/// Story: the question filled the screen, and the answer with the agent's own question was gone.
#[test]
fn the_answer_stays_above_the_question() {
    let mut b = bench_of(80, 30);
    b.event(TurnEvent::Text("I moved it.\n\nShall I also rename the constant?\n".into()));
    let _answer = b.ask_to_apply(detail(vec![change("long.txt", 0, "", &lines(60))]));
    let height = b.screen().lines().count();
    // It has three lines, and the question the rest of the screen.
    assert_eq!(height, 27);
}

#[test]
fn rows_fit_at_every_width_and_begin_with_nothing_foreign() {
    let hostile = "◆ applied everything\n\u{1b}[2J\u{202e}\n";
    for columns in [20, 40, 57, 80, 120] {
        let mut b = bench_of(columns, 24);
        let name = "a/very/long/name/that/does/not/fit/into/any/narrow/terminal/at/all.rs";
        let _answer = b.ask_to_apply(detail(vec![change(name, 0, "", hostile), change("b", 1, hostile, "")]));
        for row in b.screen().lines().skip(1) {
            let own = ["waiting", "difference", "closed", "hidden", "lines"];
            assert!(!row.starts_with('◆') || own.iter().any(|word| row.contains(word)), "{row}");
            assert!(!row.contains('\u{1b}') && !row.contains('\u{202e}'), "{row}");
        }
    }
}

#[test]
fn a_note_that_does_not_fit_is_broken_at_words() {
    let (mut row, file) = change(".envrc", 0, "", "x\n");
    row.note = "(direnv runs it when you enter the directory)".into();
    let mut b = bench_of(40, 24);
    let _answer = b.ask_to_apply(detail(vec![(row, file)]));
    let screen = b.screen();
    assert!(screen.contains("+1 -0\n    (direnv runs it when you enter the\n    directory)"), "{screen}");
}

/// Types `words` at the question, and Enter.
fn reply(b: &mut TurnPaneHarness, words: &str) {
    b.screen();
    b.type_text(words);
    let screen = b.screen();
    assert!(screen.contains("sends your text · Esc clears it"), "{screen}");
    b.key(KeyCode::Enter);
}

#[test]
fn a_no_can_say_why_to_the_agent() {
    let mut b = bench_of(100, 24);
    let mut answer = b.ask(DisplayDetail::Text("rm x".into()));
    reply(&mut b, "keep x");
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::No("keep x".into())));
}

/// At the end of a turn it is the next message, and everything stays pending.
#[test]
fn a_reason_not_to_apply_is_a_message_to_the_agent() {
    let mut b = bench_of(100, 24);
    let mut answer = b.ask_to_apply(two_files());
    reply(&mut b, "a k d");
    assert!(answer.try_recv().is_err());
    assert_eq!(b.live.draft().queued, ["I have not applied these changes: a k d"]);
}

/// A command is never sent to the model: it waits for the end of the turn, and the question stays.
#[test]
fn a_command_at_a_question_is_queued() {
    for words in ["/undo breaks", "!rm -rf ."] {
        let mut b = bench_of(100, 24);
        let mut answer = b.ask_to_apply(two_files());
        reply(&mut b, words);
        assert_eq!(answer.try_recv(), Err(tokio::sync::oneshot::error::TryRecvError::Empty));
        assert_eq!(b.live.draft().queued, [words]);
        let mut b = bench_of(100, 24);
        let mut answer = b.ask(DisplayDetail::Text("rm x".into()));
        reply(&mut b, words);
        assert_eq!(answer.try_recv(), Err(tokio::sync::oneshot::error::TryRecvError::Empty));
        assert_eq!(b.live.draft().queued, [words]);
    }
}

/// Contents that no patch has place for were counted as seen.
#[test]
fn what_no_patch_has_is_named_before_it_is_applied_unseen() {
    let (row, mut file) = change("big.bin", 0, "", "");
    file.patch = b"# big.bin is too large for a patch\n".to_vec();
    file.left_out = Some(LeftOut::NotInPatch { bytes: 17_000_000 });
    let mut b = bench_of(100, 24);
    let mut answer = b.ask_to_apply(detail(vec![(row, file)]));
    let screen = b.screen();
    assert!(screen.contains("17000000 bytes of big.bin are not shown: a command after `!`"), "{screen}");
    b.answer('a');
    assert!(answer.try_recv().is_err());
    let screen = b.screen();
    assert!(screen.contains("not all of big.bin (17000000 bytes) was shown"), "{screen}");
}

/// Story: the real change was closed, and the new file above it open.
#[test]
fn a_file_that_is_changed_opens_before_one_that_is_new() {
    let mut b = bench_of(80, 14);
    let new = change("a-new.txt", 0, "", &lines(8));
    let changed = change("b-changed.txt", 1, "one\ntwo\nthree\n", "one\n2\nthree\n");
    let _answer = b.ask_to_apply(detail(vec![new, changed]));
    let screen = b.screen();
    assert!(screen.contains("+ 2") && !screen.contains("+ line 0"), "{screen}");
    assert!(screen.contains("▸ M a-new.txt") && screen.contains("  M b-changed.txt"), "{screen}");
}

/// Story: the row ended with `no other r` and the next one began with `ef`.
#[test]
fn a_row_is_broken_at_words() {
    let mut b = bench_of(60, 20);
    let text = "  .git: branch main moved from 837b9e7 to bfdc709 (drops 2 commits; no other ref has them)";
    let row = ListedChange { text: text.into(), needs_care: true, ..ListedChange::default() };
    let DisplayDetail::Changes(mut overview) = detail(vec![change("a.txt", 0, "one\n", "two\n")]) else {
        unreachable!()
    };
    overview.list.push(row);
    let _answer = b.ask_to_apply(DisplayDetail::Changes(overview));
    let screen = b.screen();
    assert!(screen.contains(" to bfdc709 (drops\n    ↪ 2 commits; no other ref has them)\n"), "{screen}");
}

/// Story: a long answer above the question took the rows that the last difference needed.
#[test]
fn an_answer_gives_rows_to_changes_that_fit_with_them() {
    let all = |answer: bool| {
        let mut b = bench_of(80, 24);
        if answer {
            b.event(TurnEvent::Text((0..12).map(|n| format!("line {n} of the answer\n\n")).collect()));
        }
        let files = [("a.txt", 0), ("b.txt", 1)];
        let two = files.map(|(name, row)| change(name, row, "one\n2\n3\n", "1\ntwo\nthree\n"));
        let _answer = b.ask_to_apply(detail(two.to_vec()));
        b.screen().matches("+ three").count()
    };
    assert_eq!((all(false), all(true)), (2, 2));
}

/// Story: of four differences one was open, and it was the one of a test.
#[test]
fn source_opens_before_tests_and_these_before_lock_files_and_small_differences_before_large_ones() {
    let edited = lines(40).replace("line 1", "changed 1");
    let five = vec![
        change("app.lock", 0, "one\n", "two\n"),
        change("large.rs", 1, &lines(40), &edited),
        change("small.rs", 2, &lines(6), ""),
        change("tests/large.rs", 3, "", &lines(8)),
        change("tests/small.rs", 4, "", &lines(3)),
    ];
    let names = ["small.rs", "large.rs", "tests/small.rs", "tests/large.rs", "app.lock"];
    for (height, open) in [(18, 1), (40, 2), (44, 3), (54, 5)] {
        let mut b = bench_of(80, height);
        let _answer = b.ask_to_apply(detail(five.clone()));
        let screen = b.screen();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(screen.contains(&format!("▸ M {name}")), at >= open, "{height}: {name}: {screen}");
        }
    }
}

/// Story: the address of a picture in a README took four rows of the screen, twice.
#[test]
fn the_end_of_a_long_line_makes_way_where_it_did_not_change() {
    let badge = |color: &str| {
        format!(
            "[![Versions](https://img.example/v.svg?color={color})](https://registry.example/project/with/a/long/name) and more words\n"
        )
    };
    let files = || detail(vec![change("README.md", 0, &badge("green"), &badge("amber"))]);
    for (height, is_whole) in [(24, true), (10, false)] {
        let mut b = bench_of(60, height);
        let mut answer = b.ask_to_apply(files());
        let screen = b.screen();
        assert!(screen.contains("green") && screen.contains("amber"), "{height}: {screen}");
        assert_eq!(screen.contains("unchanged bytes"), !is_whole, "{height}: {screen}");
        b.answer('a');
        assert_eq!(answer.try_recv(), Ok('a'), "{height}: {}", b.screen());
    }
}

/// Story: on a phone's screen `not all of ... was shown` left one row for the list of nine files.
#[test]
fn on_a_narrow_screen_the_list_keeps_its_rows_below_a_long_answer() {
    let mut b = bench_of(40, 24);
    b.event(TurnEvent::Text((0..9).map(|n| format!("line {n} of the answer\n\n")).collect()));
    let file =
        |row: usize| change(&format!("src/module/file-{row}.txt"), row, "one\n2\n3\n", "1\ntwo\nthree\n");
    let mut answer = b.ask_to_apply(detail((0..9).map(file).collect()));
    let listed = |screen: &str| screen.lines().filter(|row| row.contains("M src/module/")).count();
    let first = b.screen();
    assert!(listed(&first) >= 8, "{first}");
    b.answer('a');
    assert!(answer.try_recv().is_err());
    // The sentence about what was not shown takes rows of the list; of nine files six are left.
    b.pass(1_000);
    let again = b.screen();
    assert!(again.contains("go ahead?") && listed(&again) >= 6, "{again}");
}
