//! The list: what matches, in which order, what is taken, and how long it takes.

use super::*;
use crate::test_screen::{self, dark};
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn opened(feed: PickerFeed, columns: u16, rows: u16) -> Picker<'static> {
    sized(Picker::new("Files", feed, &dark(), Keymap::new("picker", KEYS, &[]).unwrap()), columns, rows)
}

fn sized(mut pane: Picker<'_>, columns: u16, rows: u16) -> Picker<'_> {
    pane.resize(columns, rows);
    wait_until_idle(&mut pane);
    pane
}

fn wait_until_idle(pane: &mut Picker<'_>) {
    let size = pane.size;
    test_screen::wait_until_idle(pane, size);
}

fn files(names: &[&str]) -> PickerFeed {
    PickerFeed::of(names.iter().map(|name| PickerItem::new(*name, "")).collect())
}

fn key(pane: &mut Picker<'_>, code: KeyCode) -> PaneFlow {
    pane.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn typed(pane: &mut Picker<'_>, text: &str) {
    text.chars().for_each(|c| assert_eq!(key(pane, KeyCode::Char(c)), PaneFlow::Stay));
    wait_until_idle(pane);
}

fn screen(pane: &Picker<'_>) -> String {
    test_screen::rows(&test_screen::drawn(pane, pane.size)).join("\n")
}

const NAMES: [&str; 6] =
    ["README.md", "src/main.rs", "src/text/", "src/text/width.rs", "tests/main.rs", "odd\nname.txt"];

#[test]
fn the_best_match_is_first_and_taken_by_enter() {
    let mut pane = opened(files(&NAMES), 80, 24);
    typed(&mut pane, "main");
    insta::assert_snapshot!(screen(&pane), @r#"
     Files ❯ main                                                            2 of 6

    ❯  src/main.rs
       tests/main.rs



















     Enter choose  Esc cancel
    "#);
    key(&mut pane, KeyCode::Down);
    assert_eq!(key(&mut pane, KeyCode::Enter), PaneFlow::Close);
    assert_eq!(pane.taken(), ["tests/main.rs"]);
}

#[test]
fn what_is_looked_for_is_edited_like_every_other_line() {
    let mut pane = opened(files(&NAMES), 80, 24);
    let ctrl = KeyModifiers::CONTROL;
    typed(&mut pane, "ests/main.txt");
    for (code, modifiers) in [
        (KeyCode::Backspace, KeyModifiers::ALT),
        (KeyCode::Char('a'), ctrl),
        (KeyCode::Char('t'), KeyModifiers::NONE),
        (KeyCode::Char('e'), ctrl),
    ] {
        pane.key(KeyEvent::new(code, modifiers));
    }
    pane.paste("rs\n");
    wait_until_idle(&mut pane);
    assert!(screen(&pane).starts_with(" Files ❯ tests/main.rs   "), "{}", screen(&pane));
    pane.key(KeyEvent::new(KeyCode::Char('w'), ctrl));
    wait_until_idle(&mut pane);
    assert!(screen(&pane).starts_with(" Files ❯ tests/   "), "{}", screen(&pane));
    pane.paste("main\n.rs");
    wait_until_idle(&mut pane);
    assert!(screen(&pane).starts_with(" Files ❯ tests/main .rs   "), "{}", screen(&pane));
    // A line that is longer than the screen shows the place where one types.
    pane.paste(&"x".repeat(100));
    assert!(screen(&pane).starts_with(&format!(" Files ❯ {}", "x".repeat(60))), "{}", screen(&pane));
}

#[test]
fn a_narrow_screen_keeps_the_ends_of_paths_and_shows_a_line_break_in_a_name() {
    let long = "a/very/long/way/down/to/the/bottom/of/everything.rs";
    let mut pane = opened(files(&[long, NAMES[5], "日本/語.txt"]), 40, 12);
    wait_until_idle(&mut pane);
    insta::assert_snapshot!(screen(&pane), @r#"
     Files ❯                         3 of 3

    ❯  a/very/long/…/bottom/of/everything.rs
       odd␊name.txt
       日本/語.txt






     Enter choose  Esc cancel
    "#);
}

#[test]
fn several_are_taken_in_the_order_they_were_marked_and_none_by_escape() {
    let pane = Picker::new("Files", files(&NAMES), &dark(), Keymap::usual("picker", KEYS)).several();
    let mut pane = sized(pane, 60, 10);
    key(&mut pane, KeyCode::End);
    key(&mut pane, KeyCode::Tab);
    key(&mut pane, KeyCode::Home);
    key(&mut pane, KeyCode::Tab);
    assert!(screen(&pane).contains("2 marked"), "{}", screen(&pane));
    key(&mut pane, KeyCode::Enter);
    assert_eq!(pane.taken(), ["odd\nname.txt", "README.md"]);
    let mut pane = opened(files(&NAMES), 60, 10);
    key(&mut pane, KeyCode::Tab);
    assert_eq!(key(&mut pane, KeyCode::Esc), PaneFlow::Close);
    assert_eq!(pane.taken(), Vec::<String>::new());
}

#[test]
fn what_is_not_in_the_list_comes_last_and_only_when_it_is_typed() {
    let beyond = |query: &str| match query {
        "targ" => vec![PickerItem::new("target/", "ignored"), PickerItem::new("src/target.rs", "ignored")],
        _ => Vec::new(),
    };
    let pane = Picker::new("Files", files(&["src/target.rs", "x"]), &dark(), Keymap::usual("picker", KEYS));
    let mut pane = sized(pane.with_beyond(beyond), 60, 10);
    let texts =
        |pane: &Picker<'_>| pane.search.ranked.top.iter().map(|item| item.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&pane), ["src/target.rs", "x"]);
    typed(&mut pane, "targ");
    assert_eq!(texts(&pane), ["src/target.rs", "target/"]);
    typed(&mut pane, "e");
    assert_eq!(texts(&pane), ["src/target.rs"]);
    key(&mut pane, KeyCode::Backspace);
    wait_until_idle(&mut pane);
    assert_eq!(texts(&pane), ["src/target.rs", "target/"]);
}

#[test]
fn things_that_come_later_are_found_too_and_a_wide_screen_shows_what_is_in_them() {
    let feed = PickerFeed::default();
    let sender = feed.sender();
    let pane = Picker::new("Files", feed, &dark(), Keymap::usual("picker", KEYS));
    let preview = |item: &PickerItem| PickerPreview {
        text: format!("fn in_{}() {{}}\n", item.text),
        language: "rs".into(),
        ..PickerPreview::default()
    };
    let mut pane = pane.with_preview(preview);
    pane.resize(120, 12);
    assert!(pane.has_background_work());
    sender.push(vec![PickerItem::new("one", "")]);
    sender.push(vec![PickerItem::new("two", "a note")]);
    drop(sender);
    wait_until_idle(&mut pane);
    typed(&mut pane, "tw");
    let shown = screen(&pane);
    assert!(
        shown.contains("1 of 2") && shown.contains("a note") && shown.contains("│ fn in_two() {}"),
        "{shown}"
    );
    pane.resize(90, 12);
    assert!(!screen(&pane).contains("fn in_two"), "too narrow for a preview");
}

/// Before, the screen waited for the thread for ever.
#[test]
fn a_crash_of_the_thread_is_shown_and_not_waited_for() {
    let pane = Picker::new("Files", files(&NAMES), &dark(), Keymap::usual("picker", KEYS));
    let mut pane = sized(pane.with_beyond(|_| panic!("a panic that the test wants")), 80, 10);
    assert!(
        screen(&pane).contains("the thread `picker` could not be started, or it crashed"),
        "{}",
        screen(&pane)
    );
    typed(&mut pane, "main");
    assert_eq!(
        (key(&mut pane, KeyCode::Enter), key(&mut pane, KeyCode::Esc)),
        (PaneFlow::Stay, PaneFlow::Close)
    );
}

#[test]
fn a_hundred_thousand_things_are_ranked_while_one_types() {
    let names = |n: usize| format!("crates/part{}/src/module{}/file_{n}.rs", n % 97, n % 1013);
    let feed = PickerFeed::of((0..100_000).map(|n| PickerItem::new(names(n), "")).collect());
    let mut pane = opened(feed, 100, 40);
    let mut slowest = Duration::ZERO;
    for c in "mod77file9.rs".chars() {
        let started = Instant::now();
        key(&mut pane, KeyCode::Char(c));
        assert!(
            started.elapsed() < Duration::from_millis(30),
            "the key itself waited: {:?}",
            started.elapsed()
        );
        while !pane.search.take_ranked() || !pane.search.ranked.is_done {
            assert!(started.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        slowest = slowest.max(started.elapsed());
    }
    println!("slowest of 100,000: {slowest:?}");
    assert!(pane.search.ranked.matched > 0);
}

#[test]
fn keys_of_the_list_do_not_contradict_each_other_and_leave_letters_alone() {
    let keys = Keymap::new("picker", KEYS, &[]).unwrap();
    for c in (' '..='~').chain(['é']) {
        assert_eq!(keys.action(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)), None, "{c}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_key_at_any_size_breaks_it(
        keys in proptest::collection::vec(0usize..12, 0..40), names in proptest::collection::vec("[a-z/日é\u{1b}]{0,20}", 0..12),
        columns in 1u16..200, rows in 1u16..60,
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let pane = Picker::new("Files", files(&names), &dark(), Keymap::usual("picker", KEYS)).several();
        let mut pane = pane.with_preview(|item| PickerPreview { text: item.text.clone(), ..PickerPreview::default() });
        pane.resize(columns, rows);
        let codes = [
            KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End,
            KeyCode::Tab, KeyCode::Char('a'), KeyCode::Char('日'), KeyCode::Char('!'), KeyCode::Backspace, KeyCode::Delete,
        ];
        for at in keys {
            key(&mut pane, codes[at]);
            pane.tick();
            screen(&pane);
        }
        pane.resize(rows, columns.min(60));
        wait_until_idle(&mut pane);
    }
}

#[test]
fn without_a_screen_a_list_is_numbered_and_a_number_takes() {
    use crate::line_ui::script::ScriptedLineUi;
    let names: Vec<String> = (1..=12).map(|n| format!("src/file{n:02}.rs")).collect();
    let items = || names.iter().map(|name| PickerItem::new(name.as_str(), "a \u{1b}note")).collect();
    let run = |answers: &[&str]| {
        let keys = Keymap::new("picker", KEYS, &[]).unwrap();
        let mut pane = Picker::new("Files", PickerFeed::of(items()), &dark(), keys).several();
        let mut script = ScriptedLineUi::of(answers);
        pane.run_line_ui(&mut script);
        (script.transcript(), pane.taken())
    };
    let (said, taken) = run(&["more", "99", "file1", "2"]);
    insta::assert_snapshot!(said, @"
    Files: 12
    1: src/file01.rs, a ␛note
    2: src/file02.rs, a ␛note
    3: src/file03.rs, a ␛note
    4: src/file04.rs, a ␛note
    5: src/file05.rs, a ␛note
    6: src/file06.rs, a ␛note
    7: src/file07.rs, a ␛note
    8: src/file08.rs, a ␛note
    9: src/file09.rs, a ␛note
    10: src/file10.rs, a ␛note
    numbers, words to search, `more`, or Enter to leave: more
    Files: 12
    11: src/file11.rs, a ␛note
    12: src/file12.rs, a ␛note
    numbers, words to search, or Enter to leave: 99
    no 99; `/99` searches for it
    Files: 12
    11: src/file11.rs, a ␛note
    12: src/file12.rs, a ␛note
    numbers, words to search, or Enter to leave: file1
    Files: 4 of 12 match file1
    1: src/file10.rs, a ␛note
    2: src/file11.rs, a ␛note
    3: src/file12.rs, a ␛note
    4: src/file01.rs, a ␛note
    numbers, words to search, or Enter to leave: 2
    ");
    assert_eq!(taken, ["src/file11.rs"]);
    assert_eq!(run(&["3, 1"]).1, ["src/file03.rs", "src/file01.rs"]);
    assert_eq!(run(&["/12", "1"]).1, ["src/file12.rs"], "a number is searched for behind a slash");
    assert_eq!(run(&["nothing like it", ""]).1, Vec::<String>::new());
    assert_eq!(run(&[]).1, Vec::<String>::new(), "Ctrl-C takes nothing");
}
