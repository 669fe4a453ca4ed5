//! Every full screen as it looks: sizes, themes, letters and their styles, held by snapshots.
//!
//! A dump has two lines for each row: what stands there, and a letter for the style of each cell, with a legend of what
//! the letters stand for. So a colour that changes is seen as well as a word. `INSTA_UPDATE=always` writes them anew.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Message, StopReason,
    ThinkingBlock, ToolCall,
};
use placet::text::RangeSet;
use placet::ui::Theme;
use placet::ui::ansi::Depth;
use placet::ui::full::{Flow, Pane};
use placet::ui::keymap::{Keymap, Row};
use placet::ui::pager;
use placet::ui::picker::{self, Feed, Item, Picker, Preview};
use placet::ui::picture::Display;
use placet::ui::review::{self, Body, Desk, Doc, File, Lines, Review, ReviewPane, Subject, Whole};
use placet::ui::scratchpads::{self, Browser, Kind, Listed};
use placet::ui::transcript::{self, Transcript};
use placet::ui::viewer::{self, FileText, Viewer};
use placet::workspace::SeenLines;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];
const CODE: &str = "//! A tail.\n\n/// The last letter: 日本 👩\u{200d}👧 e\u{301} שלום.\nfn tail(of: &str) -> Option<char> {\n\tlet bad = \"\u{1b}]52;c;aGk=\u{7}\u{202e}\";\n\tof.chars().last() // of them all, and a line that is longer than a narrow screen can show at once\n}\n";

fn theme(name: &str) -> Theme {
    let depth = if name == "mono" { Depth::None } else { Depth::True };
    Theme::load(name, Path::new("/"), depth, |_| None).unwrap()
}

fn review(theme: &Theme) -> ReviewPane<'static> {
    let lines = |old: &str, new: &str| {
        let doc = |text: &str| Doc::new(text.as_bytes().to_vec()).unwrap();
        Body::Lines(Lines::new(doc(old), doc(new)))
    };
    let file = |name: &str, letter, body| File {
        name: name.into(),
        path: format!("/w/{name}").into(),
        paths: vec![format!("/w/{name}").into()],
        renamed: None,
        letter,
        facts: Vec::new(),
        runs_later: None,
        body,
        key: name.into(),
    };
    let whole = Whole {
        words: vec!["picture: PNG 4x4, 10 bytes (aa) becomes PNG 8x8, 12 bytes (bb)".into()],
        ..Whole::default()
    };
    let files = vec![
        file(
            "src/tail.rs",
            'M',
            lines(CODE, &CODE.replace("last()", "next_back()").replace("A tail", "The tail")),
        ),
        file("docs/日本.md", 'A', lines("", "# New\n\n- *one*\n")),
        file("logo.png", 'M', Body::Whole(whole)),
    ];
    ReviewPane::new(
        Review::new("a turn", Subject::Pending, files),
        Desk {
            theme: theme.clone(),
            keys: Keymap::usual("review", review::TABLE),
            editor: None,
            memory: None,
            outbox: None,
            blame: Arc::new(|_| Err("nobody knows".into())),
            display: Display::words(),
            copy: Box::new(|_| String::new()),
        },
    )
}

fn viewer(theme: &Theme) -> Viewer<'static> {
    let hands = viewer::Hands {
        keys: Keymap::usual("viewer", viewer::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    let mut seen = SeenLines { lines: RangeSet::of(2..6), ..SeenLines::default() };
    seen.turns.show(&RangeSet::of(2..4), 3);
    seen.turns.show(&RangeSet::of(4..5), 12);
    let text = FileText::in_memory(CODE.into());
    Viewer::new(text, "src/tail.rs", Some(4), theme, hands).with_seen(seen).with_facts(vec!["pending".into()])
}

fn messages() -> &'static [Message] {
    let call = |id: &str, name: &str, input| {
        AssistantBlock::Call(ToolCall {
            id: CallId::new(id),
            name: name.into(),
            input: CallInput::Object(input),
        })
    };
    let result = |id: &str, name: &str, outcome, text: &str| {
        let call = ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::parse("") };
        CallResult::text(&call, outcome, text)
    };
    let answer = |blocks| {
        Message::Assistant(AssistantMessage {
            blocks,
            stop: StopReason::EndTurn,
            model: "big-1".into(),
            ..AssistantMessage::default()
        })
    };
    let all = vec![
        Message::user("Where is the tail? 日本"),
        answer(vec![
            AssistantBlock::Thinking(ThinkingBlock {
                text: "Perhaps here.".into(),
                ..ThinkingBlock::default()
            }),
            call("1", "read_file", serde_json::json!({"path": "src/tail.rs"})),
            call("2", "run_command", serde_json::json!({"command": "false"})),
        ]),
        Message::Results {
            results: vec![
                result("1", "read_file", CallOutcome::Done, CODE),
                result("2", "run_command", CallOutcome::Failed, "exit code 1"),
            ],
        },
        answer(vec![AssistantBlock::Text { text: format!("In **tail.rs**:\n\n```rust\n{CODE}```\n") }]),
    ];
    Box::leak(all.into_boxed_slice())
}

fn transcript(theme: &Theme) -> Transcript<'static> {
    let hands = transcript::Hands {
        keys: Keymap::usual("transcript", transcript::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    Transcript::new(messages(), theme, hands)
}

fn list(theme: &Theme) -> Picker<'static> {
    let names = [
        "src/main.rs",
        "src/tail.rs",
        "docs/日本.md",
        "a\u{1b}]0;bad\u{7}.rs",
        "tests/a/very/long/path/to/a/file/with/many/parts.rs",
    ];
    let items = names.iter().map(|name| Item::new(*name, "a note")).collect();
    Picker::new("Files", Feed::of(items), theme, Keymap::usual("picker", picker::KEYS))
        .with_query("rs")
        .several()
        .with_preview(|_| Preview { text: CODE.into(), language: "tail.rs".into(), ..Preview::default() })
}

fn browser(theme: &Theme) -> Browser {
    let pad = |name: &str, kind| Listed { name: name.into(), bytes: 12_345, head: CODE.into(), kind };
    let pads = vec![pad("log", Kind::Text), pad("日本", Kind::Text), pad("a\u{1b}[2Jshot", Kind::Picture)];
    Browser::new(
        pads,
        theme,
        Keymap::usual("scratchpads", scratchpads::KEYS),
        Keymap::usual("pager", pager::KEYS),
    )
}

/// A screen of each kind, and the keys that make it worth looking at.
fn screen(name: &str, theme: &Theme) -> (Box<dyn Pane>, &'static str) {
    match name {
        "review" => (Box::new(review(theme)), "acis it so?\nt"),
        "viewer" => (Box::new(viewer(theme)), "/last\n"),
        "transcript" => (Box::new(transcript(theme)), "{]\n"),
        "picker" => (Box::new(list(theme)), "\t"),
        "scratchpads" => (Box::new(browser(theme)), "\t"),
        _ => (Box::new(viewer(theme)), "?"),
    }
}

fn settled(pane: &mut dyn Pane, (columns, rows): (u16, u16)) -> Buffer {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        pane.draw(&mut buffer);
        if !pane.waits() {
            return buffer;
        }
        pane.tick();
        assert!(Instant::now() < until, "it does not settle");
        std::thread::yield_now();
    }
}

fn press(pane: &mut dyn Pane, keys: &str, size: (u16, u16)) {
    for c in keys.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        pane.key(KeyEvent::new(code, KeyModifiers::NONE));
        settled(pane, size);
    }
}

fn style_words(style: Style) -> String {
    let colour = |colour: Option<Color>| match colour {
        None | Some(Color::Reset) => "-".to_string(),
        Some(Color::Rgb(r, g, b)) => format!("#{r:02x}{g:02x}{b:02x}"),
        Some(other) => format!("{other:?}").to_lowercase(),
    };
    let mut words = format!("{} on {}", colour(style.fg), colour(style.bg));
    for (name, modifier) in [
        ("bold", Modifier::BOLD),
        ("dim", Modifier::DIM),
        ("italic", Modifier::ITALIC),
        ("underlined", Modifier::UNDERLINED),
        ("reversed", Modifier::REVERSED),
        ("crossed", Modifier::CROSSED_OUT),
    ] {
        if style.add_modifier.contains(modifier) {
            let _ = write!(words, " {name}");
        }
    }
    words
}

/// Rows with their styles, blank ends left out.
fn dump(buffer: &Buffer, legend: &mut BTreeMap<String, char>) -> String {
    let mut out = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let (mut text, mut styles, mut skip) = (String::new(), String::new(), 0);
        for cell in row {
            let style = cell.style();
            let next = u8::try_from(legend.len()).unwrap();
            let plain = style_words(style) == "- on -";
            let letter = match plain {
                true => ' ',
                false => *legend
                    .entry(style_words(style))
                    .or_insert_with(|| char::from(if next < 26 { b'a' + next } else { b'A' + next - 26 })),
            };
            styles.push(letter);
            if skip > 0 {
                skip -= 1;
                continue;
            }
            assert!(!cell.symbol().contains(char::is_control), "{:?} would act on a terminal", cell.symbol());
            text.push_str(cell.symbol());
            skip = placet::text::width::of(cell.symbol()).saturating_sub(1);
        }
        let _ = writeln!(out, "{}\n{}", text.trim_end(), styles.trim_end());
    }
    out
}

#[test]
fn every_screen_looks_as_it_did_in_every_size_and_theme() {
    for name in ["review", "viewer", "transcript", "picker", "scratchpads", "help"] {
        for theme_name in ["dark", "light", "mono"] {
            let theme = theme(theme_name);
            let (mut out, mut legend) = (String::new(), BTreeMap::new());
            for size in SIZES {
                let (mut pane, keys) = screen(name, &theme);
                pane.resize(size.0, size.1);
                settled(pane.as_mut(), size);
                press(pane.as_mut(), keys, size);
                let picture = dump(&settled(pane.as_mut(), size), &mut legend);
                let _ = writeln!(out, "== {}x{}\n{picture}", size.0, size.1);
            }
            let mut letters: Vec<(char, String)> = legend.into_iter().map(|(words, c)| (c, words)).collect();
            letters.sort();
            for (letter, words) in letters {
                let _ = writeln!(out, "{letter} {words}");
            }
            insta::with_settings!({ snapshot_path => "../snapshots" }, {
                insta::assert_snapshot!(format!("{name}_{theme_name}"), out);
            });
        }
    }
}

/// Marks without end in everything that is shown: no cell holds more than a few of them, and no row is longer for it.
#[test]
fn a_hundred_thousand_marks_stay_in_their_cell_on_every_screen() {
    let tower: String = std::iter::once('e').chain(std::iter::repeat_n('\u{301}', 100_000)).collect();
    let theme = theme("dark");
    let text = FileText::in_memory(format!("{tower}\nnext\n").into());
    let hands = viewer::Hands {
        keys: Keymap::usual("viewer", viewer::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    let said = vec![
        Message::user(&tower),
        Message::Assistant(AssistantMessage {
            blocks: vec![AssistantBlock::Text { text: tower.clone() }],
            ..AssistantMessage::default()
        }),
    ];
    let hands_of_transcript = transcript::Hands {
        keys: Keymap::usual("transcript", transcript::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    let feed = Feed::of(vec![Item::new(tower.as_str(), tower.as_str())]);
    let pads = vec![Listed { name: tower.clone(), bytes: 1, head: tower.clone(), kind: Kind::Text }];
    let (keys, pager_keys) =
        (Keymap::usual("scratchpads", scratchpads::KEYS), Keymap::usual("pager", pager::KEYS));
    let panes: Vec<(&str, Box<dyn Pane + '_>)> = vec![
        ("viewer", Box::new(Viewer::new(text, &tower, None, &theme, hands))),
        ("transcript", Box::new(Transcript::new(&said, &theme, hands_of_transcript))),
        ("picker", Box::new(Picker::new("Files", feed, &theme, Keymap::usual("picker", picker::KEYS)))),
        ("scratchpads", Box::new(Browser::new(pads, &theme, keys, pager_keys))),
    ];
    for (name, mut pane) in panes {
        pane.resize(80, 24);
        let buffer = settled(pane.as_mut(), (80, 24));
        let longest = buffer.content.iter().map(|cell| cell.symbol().chars().count()).max().unwrap();
        assert!(longest <= 12, "{name}: a cell of {longest} letters");
    }
}

/// What a person does before a key, so that it has something to do.
fn way(screen: &str, action: &str) -> &'static str {
    match (screen, action) {
        ("viewer" | "transcript" | "help", "up" | "half-up" | "page-up" | "top") => "G",
        ("viewer", "left") => "lll",
        ("transcript", "left") => "wlll",
        ("transcript", "right") => "w",
        ("viewer" | "transcript", "next" | "previous") => "/l\n",
        ("transcript", "next-turn" | "next-call" | "bottom" | "down" | "half-down" | "page-down") => "gZZ",
        ("transcript", "view" | "copy-input") => "[",
        ("picker", "up" | "first" | "page-up") => "\x0e\x0e",
        ("picker", "clear") => "s",
        ("scratchpads", "up" | "first" | "page-up") => "jj",
        ("scratchpads", "diff") => "\t\t",
        _ => "",
    }
}

/// A screen in a state that can be compared: its picture, what it asked of the world, and whether it stays.
fn state(screen_name: &str, keys: &[KeyEvent], rows: u16) -> (String, Vec<String>, Flow) {
    let theme = theme("dark");
    let asked: Rc<RefCell<Vec<String>>> = Rc::default();
    let (copies, edits) = (Rc::clone(&asked), Rc::clone(&asked));
    let copy = move |text: &str| {
        copies.borrow_mut().push(format!("copy {text}"));
        "copied".to_string()
    };
    let mut pane: Box<dyn Pane> = match screen_name {
        "transcript" => {
            let hands = transcript::Hands {
                keys: Keymap::usual("transcript", transcript::KEYS),
                pager: Keymap::usual("pager", pager::KEYS),
                copy: Box::new(copy),
                edit: Box::new(|_| Ok(())),
            };
            Box::new(Transcript::new(messages(), &theme, hands))
        }
        "picker" => Box::new(list(&theme).with_query("")),
        "scratchpads" => Box::new(browser(&theme)),
        _ => {
            let hands = viewer::Hands {
                keys: Keymap::usual("viewer", viewer::KEYS),
                pager: Keymap::usual("pager", pager::KEYS),
                copy: Box::new(copy),
                edit: Box::new(move |line| {
                    edits.borrow_mut().push(format!("edit {line}"));
                    Ok(())
                }),
            };
            let text = FileText::in_memory(CODE.repeat(20).as_str().into());
            let mut seen = SeenLines { lines: RangeSet::of(80..90), ..SeenLines::default() };
            seen.turns.show(&RangeSet::of(80..90), 2);
            let pane = Viewer::new(text, "a.rs", None, &theme, hands).with_seen(seen);
            Box::new(pane.with_provenance(Box::new(|| vec!["3 you edit_file".into()])))
        }
    };
    let size = (60, rows);
    pane.resize(size.0, size.1);
    settled(pane.as_mut(), size);
    let mut flow = Flow::Stay;
    for key in keys {
        flow = pane.key(*key);
        settled(pane.as_mut(), size);
    }
    let picture = dump(&settled(pane.as_mut(), size), &mut BTreeMap::new());
    let asked = asked.borrow().clone();
    (picture, asked, flow)
}

fn pressed(keys: &str) -> Vec<KeyEvent> {
    let key = |c| match c {
        '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
        '\t' => KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE),
        '\x0e' => KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL),
        c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
    };
    keys.chars().map(key).collect()
}

fn key_of(word: &str) -> KeyEvent {
    let (held, name) = match word.strip_prefix("Ctrl-") {
        Some(name) => (KeyModifiers::CONTROL, name),
        None => (KeyModifiers::NONE, word),
    };
    let code = match name {
        "Down" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageDown" => KeyCode::PageDown,
        "PageUp" => KeyCode::PageUp,
        "Space" => KeyCode::Char(' '),
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        one => KeyCode::Char(if held.is_empty() {
            one.chars().next().unwrap()
        } else {
            one.to_lowercase().chars().next().unwrap()
        }),
    };
    KeyEvent::new(code, held)
}

/// The review's own are pressed where its marks can be compared.
#[test]
fn every_key_on_every_page_of_keys_does_what_can_be_seen() {
    fn names<A>(table: &'static [Row<A>]) -> Vec<(&'static str, &'static str)> {
        table.iter().map(|row| (row.name, row.keys)).collect()
    }
    let tables = [
        ("viewer", names(viewer::KEYS)),
        ("viewer", names(pager::KEYS)),
        ("transcript", names(transcript::KEYS)),
        ("transcript", names(pager::KEYS)),
        ("picker", names(picker::KEYS)),
        ("scratchpads", names(scratchpads::KEYS)),
    ];
    let mut dead = Vec::new();
    for (screen_name, table) in tables {
        for (action, keys) in table {
            for key in keys.split_whitespace() {
                // `Space` and Ctrl keys are written as the page writes them.
                let mut way = pressed(way(screen_name, action));
                let before = state(screen_name, &way, 7);
                way.push(key_of(key));
                let after = state(screen_name, &way, 7);
                let lends = after.2 == Flow::Lend;
                if (&before.0, &before.1) == (&after.0, &after.1) && after.2 == Flow::Stay && !lends {
                    dead.push(format!("{screen_name}: {action} by {key}"));
                }
            }
        }
    }
    assert_eq!(dead, Vec::<String>::new(), "these do nothing");
}
