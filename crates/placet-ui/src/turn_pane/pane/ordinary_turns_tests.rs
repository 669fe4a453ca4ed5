//! Ordinary turns of a session, drawn in terminals of three sizes: the changes of nearly all are on one screen.

use super::change_list::detail;
use super::*;
use placet_tools::FileDiff;
use placet_workspace::{CommitPatch, ListedChange};

const TURNS: [&str; 4] = [
    include_str!("ordinary_turns/edits.txt"),
    include_str!("ordinary_turns/new.txt"),
    include_str!("ordinary_turns/moves.txt"),
    include_str!("ordinary_turns/builds.txt"),
];

/// What the agent said, the rows of its checks, and what it changed.
struct OrdinaryTurn {
    name: &'static str,
    answer: String,
    checks: u16,
    changes: Vec<(ListedChange, Option<FileDiff>)>,
}

/// All turns. Of each there is a name, the answer, and its changes: `## M path`, hunks after `@ LINE`.
fn ordinary_turns() -> Vec<OrdinaryTurn> {
    let turns = TURNS.iter().flat_map(|text| text.split("\n=== "));
    turns.map(|text| turn(text.trim_start_matches("=== "))).collect()
}

fn turn(text: &'static str) -> OrdinaryTurn {
    let mut parts = text.split("\n## ");
    let (name, said) = parts.next().unwrap().split_once('\n').unwrap();
    let (answer, checks) = said.split_once("!checks ").unwrap_or((said, "0"));
    let mut turn = OrdinaryTurn {
        name,
        answer: answer.into(),
        checks: checks.trim().parse().unwrap(),
        changes: Vec::new(),
    };
    for part in parts {
        let (head, hunks) = part.split_once('\n').unwrap_or((part, ""));
        let (kind, path) = head.split_once(' ').unwrap();
        let (listed, patch) = changed(kind, path, hunks);
        if kind == "of" {
            turn.changes.last_mut().unwrap().1.as_mut().unwrap().patch.extend(patch);
            continue;
        }
        let row = turn.changes.len();
        let is_repeated = kind == "C" && turn.changes.iter().any(|(row, _)| !row.is_of_git);
        let file = FileDiff { name: path.into(), row, patch, is_repeated, ..FileDiff::default() };
        turn.changes.push((listed, (!matches!(kind, "G" | "N")).then_some(file)));
    }
    turn
}

/// The row and the patch of one change, as the question gets them.
fn changed(kind: &str, path: &str, hunks: &str) -> (ListedChange, Vec<u8>) {
    let count = |sign: char| hunks.lines().filter(|line| line.starts_with(sign)).count();
    let is_of_git = matches!(kind, "G" | "N" | "C");
    let text = match kind {
        "G" => format!("M {path}"),
        "N" | "C" => format!("  {path}"),
        "L" => format!("A {path}"),
        _ => format!("{kind} {path}"),
    };
    let listed = ListedChange {
        text,
        lines: (!is_of_git && !hunks.is_empty()).then(|| (count('+'), count('-'))),
        is_edit: matches!(kind, "M" | "R"),
        is_of_git,
        repository: (kind == "G").then(|| path.into()),
        commit: (kind == "C").then(CommitPatch::default),
        ..ListedChange::default()
    };
    let (old, new) = path.split_once(" -> ").filter(|_| kind == "R").unwrap_or((path, path));
    let mut patch = format!("diff --git a/{old} b/{new}\n");
    match kind {
        "A" => patch.push_str("new file mode 100644\n"),
        "D" => patch.push_str("deleted file mode 100644\n"),
        "R" => patch.push_str(&format!("rename from {old}\nrename to {new}\n")),
        "L" => {
            let (link, target) = path.split_once(" -> ").unwrap();
            let names =
                format!("diff --git a/{link} b/{link}\nnew file mode 120000\n--- /dev/null\n+++ b/{link}\n");
            let content = format!("@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n");
            return (listed, (names + &content).into_bytes());
        }
        "G" | "N" | "C" => return (listed, Vec::new()),
        _ => {}
    }
    if hunks.is_empty() {
        return (listed, patch.into_bytes());
    }
    let old = if kind == "A" { "/dev/null".into() } else { format!("a/{old}") };
    let new = if kind == "D" { "/dev/null".into() } else { format!("b/{new}") };
    patch.push_str(&format!("--- {old}\n+++ {new}\n"));
    let first = if kind == "A" { "0" } else { "1" };
    let whole = if hunks.starts_with('@') { format!("\n{hunks}") } else { format!("\n@ {first}\n{hunks}") };
    let mut grown = 0_isize;
    for hunk in whole.split("\n@ ").skip(1) {
        let (line, lines) = hunk.split_once('\n').unwrap();
        let mut line: isize = line.parse().unwrap();
        let lines = if matches!(kind, "A" | "D") { lines.to_string() } else { in_context(lines, &mut line) };
        let of = |sign: char| lines.lines().filter(|line| !line.starts_with(sign)).count();
        let (removed, added) = (of('+'), of('-'));
        let new = line + grown + isize::from(line == 0);
        patch
            .push_str(&format!("@@ -{line},{removed} +{new},{added} @@\n{}\n", lines.trim_end_matches('\n')));
        grown += isize::try_from(added).unwrap() - isize::try_from(removed).unwrap();
    }
    (listed, patch.into_bytes())
}

/// A hunk with as many unchanged lines around its changes as git shows: the turns have only those that say something.
fn in_context(lines: &str, first: &mut isize) -> String {
    let is_same = |line: &&str| line.starts_with(' ');
    let lines: Vec<&str> = lines.lines().collect();
    let before = lines.iter().copied().take_while(is_same).count();
    let after = lines.iter().rev().copied().take_while(is_same).count();
    let above = isize::try_from(3 - before.min(3)).unwrap().min(*first - 1).max(0);
    *first -= above;
    let around = |count: usize| vec![" unchanged"; count];
    let above = around(usize::try_from(above).unwrap());
    [above, lines, around(3 - after.min(3))].concat().join("\n")
}

/// The question about the changes of a turn, below the answer.
fn asked(turn: &OrdinaryTurn, (columns, rows): (u16, u16)) -> (TurnPaneHarness, oneshot::Receiver<char>) {
    // Each check has a row above the changes.
    let mut b = bench_of(columns, rows - turn.checks);
    b.event(TurnEvent::Text(turn.answer.clone()));
    let DisplayDetail::Changes(mut overview) = detail(Vec::new()) else { unreachable!() };
    for (listed, file) in turn.changes.clone() {
        overview.list.push(listed);
        overview.files.extend(file);
    }
    let answer = b.ask_to_apply(DisplayDetail::Changes(overview));
    (b, answer)
}

#[test]
fn ordinary_turns_are_on_one_screen_and_one_enter_applies_them() {
    let turns = ordinary_turns();
    assert_eq!(turns.len(), 40);
    for (size, most) in [((80, 24), 6), ((100, 30), 3), ((120, 40), 1)] {
        let mut scrolled = Vec::new();
        for turn in &turns {
            let (mut b, mut answer) = asked(turn, size);
            let first = b.screen();
            b.enter();
            if answer.try_recv() != Ok('a') {
                scrolled.push((turn.name, first));
            }
        }
        let screens: String =
            scrolled.iter().map(|(name, screen)| format!("\n{name}:\n{screen}\n")).collect();
        assert!(scrolled.len() <= most, "{} of {} at {size:?}:{screens}", scrolled.len(), turns.len());
    }
}
