//! Ctrl-B in the pane.

use super::*;
use placet_tools::ForegroundCall;

fn with_command(width: u16, can_move: bool, title: &str) -> TurnPaneHarness {
    let mut b = bench_of(width, 16);
    let id = CallId::new("1");
    b.event(TurnEvent::CallPlanned { id: id.clone(), name: "run_command".into(), title: title.into() });
    b.event(TurnEvent::CallRunning { id: id.clone() });
    b.live.set_foreground(Some(ForegroundCall { call: id, since: b.now, can_move }));
    b
}

fn ctrl_b(b: &mut TurnPaneHarness) -> Option<TurnPaneAction> {
    b.live.key(KeyEvent::new(KeyCode::Char('b'), KeyModifiers::CONTROL), b.now)
}

#[test]
fn the_row_names_the_key_after_two_seconds_where_there_is_room() {
    let row = |b: &mut TurnPaneHarness| b.screen().lines().next().unwrap().trim_end().to_string();
    let mut b = with_command(60, true, "run cargo test");
    assert_eq!(row(&mut b), "◆ › run cargo test");
    b.pass(1900);
    assert_eq!(row(&mut b), "◆ › run cargo test  1 s");
    b.pass(200);
    assert_eq!(row(&mut b), "◆ › run cargo test  2 s  Ctrl-B: background");
    let mut b = with_command(60, true, &format!("run {}", "x".repeat(90)));
    b.pass(2500);
    let long = row(&mut b);
    assert!(long.ends_with("2 s  Ctrl-B: background") && long.chars().count() <= 60, "{long}");
    // Half a command would be shown for it.
    let mut b = with_command(40, true, "run cargo test --test main -- jobs::");
    b.pass(2500);
    assert!(!row(&mut b).contains("Ctrl-B"));
    let mut b = with_command(60, false, "run cargo test");
    b.pass(2500);
    assert_eq!(row(&mut b), "◆ › run cargo test  2 s");
}

#[test]
fn the_key_asks_only_while_a_command_runs_and_moves_the_cursor_otherwise() {
    let mut b = with_command(60, true, "run cargo test");
    b.key(KeyCode::Char('x'));
    assert_eq!(ctrl_b(&mut b), Some(TurnPaneAction::ToBackground));
    // A command that cannot be moved: the answer says why.
    b.live.set_foreground(Some(ForegroundCall { call: CallId::new("1"), since: b.now, can_move: false }));
    assert_eq!(ctrl_b(&mut b), Some(TurnPaneAction::ToBackground));
    b.live.set_foreground(None);
    assert_eq!(ctrl_b(&mut b), None);
    b.key(KeyCode::Char('y'));
    assert_eq!(b.live.draft().typed, "yx");
}
