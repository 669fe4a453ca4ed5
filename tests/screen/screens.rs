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
use placet::ui::ansi::ColorDepth;
use placet::ui::full_screen::{FullScreenPane, PaneFlow};
use placet::ui::keymap::{KeyBinding, Keymap};
use placet::ui::pager;
use placet::ui::picker::{self, Picker, PickerFeed, PickerItem, PickerPreview, PickerScope};
use placet::ui::picture::PictureDisplay;
use placet::ui::review::{
    self, Review, ReviewBody, ReviewContext, ReviewFile, ReviewLines, ReviewPane, ReviewSubject, SideText,
    WholeChange,
};
use placet::ui::scratchpads::{self, ScratchpadBrowser, ScratchpadItem, ScratchpadItemKind};
use placet::ui::transcript::{self, TranscriptView};
use placet::ui::viewer::{self, Viewer, ViewerText};
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
    let depth = if name == "mono" { ColorDepth::None } else { ColorDepth::True };
    Theme::load(name, Path::new("/"), depth, |_| None).unwrap()
}

fn review(theme: &Theme) -> ReviewPane<'static> {
    let lines = |old: &str, new: &str| {
        let doc = |text: &str| SideText::new(text.as_bytes().to_vec()).unwrap();
        ReviewBody::Lines(ReviewLines::new(doc(old), doc(new)))
    };
    let file = |name: &str, letter, body| ReviewFile {
        name: name.into(),
        path: format!("/w/{name}").into(),
        paths: vec![std::path::PathBuf::from(format!("/w/{name}")).into()],
        renamed: None,
        letter,
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body,
        key: name.into(),
    };
    let whole = WholeChange {
        words: vec!["picture: PNG 4x4, 10 bytes becomes PNG 8x8, 12 bytes".into()],
        ..WholeChange::default()
    };
    let files = vec![
        file(
            "src/tail.rs",
            'M',
            lines(CODE, &CODE.replace("last()", "next_back()").replace("A tail", "The tail")),
        ),
        file("docs/日本.md", 'A', lines("", "# New\n\n- *one*\n")),
        file("logo.png", 'M', ReviewBody::Whole(whole)),
    ];
    ReviewPane::new(
        Review::new("a turn", ReviewSubject::Pending, files),
        ReviewContext {
            theme: theme.clone(),
            keys: Keymap::usual("review", review::TABLE),
            editor: None,
            memory: None,
            outbox: None,
            blame: Arc::new(|_| Err(std::io::Error::other("nobody knows"))),
            display: PictureDisplay::words(),
            copy: Box::new(|_| String::new()),
            checks: None,
        },
    )
}

fn viewer(theme: &Theme) -> Viewer<'static> {
    let hands = viewer::ViewerCallbacks {
        keys: Keymap::usual("viewer", viewer::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    let mut seen = SeenLines { lines: RangeSet::of(2..6), ..SeenLines::default() };
    seen.turns.show(&RangeSet::of(2..4), 3);
    seen.turns.show(&RangeSet::of(4..5), 12);
    let text = ViewerText::in_memory(CODE.into());
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

fn transcript(theme: &Theme) -> TranscriptView<'static> {
    let hands = transcript::TranscriptCallbacks {
        keys: Keymap::usual("transcript", transcript::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    TranscriptView::new(messages(), theme, hands)
}

fn list(theme: &Theme) -> Picker<'static> {
    let names = [
        "src/main.rs",
        "src/tail.rs",
        "docs/日本.md",
        "a\u{1b}]0;bad\u{7}.rs",
        "tests/a/very/long/path/to/a/file/with/many/parts.rs",
    ];
    let items = names.iter().map(|name| PickerItem::new(*name, "a note")).collect();
    Picker::new("Files", PickerFeed::of(items), theme, Keymap::usual("picker", picker::KEYS))
        .with_query("rs")
        .several()
        .with_preview(|_| PickerPreview {
            text: CODE.into(),
            language: "tail.rs".into(),
            ..PickerPreview::default()
        })
}

fn browser(theme: &Theme) -> ScratchpadBrowser {
    let pad = |name: &str, kind| ScratchpadItem { name: name.into(), bytes: 12_345, head: CODE.into(), kind };
    let pads = vec![
        pad("log", ScratchpadItemKind::Text),
        pad("日本", ScratchpadItemKind::Text),
        pad("a\u{1b}[2Jshot", ScratchpadItemKind::Picture),
    ];
    ScratchpadBrowser::new(
        pads,
        theme,
        Keymap::usual("scratchpads", scratchpads::KEYS),
        Keymap::usual("pager", pager::KEYS),
    )
}

/// A screen of each kind, and the keys that make it worth looking at.
pub(super) fn screen(name: &str, theme: &Theme) -> (Box<dyn FullScreenPane>, &'static str) {
    match name {
        "review" => (Box::new(review(theme)), "acis it so?\nF"),
        "viewer" => (Box::new(viewer(theme)), "/last\n"),
        "transcript" => (Box::new(transcript(theme)), "{]\n"),
        "picker" => (Box::new(list(theme)), "\t"),
        "scratchpads" => (Box::new(browser(theme)), "\t"),
        _ => (Box::new(viewer(theme)), "?"),
    }
}

pub(super) fn settled(pane: &mut dyn FullScreenPane, (columns, rows): (u16, u16)) -> Buffer {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        pane.draw(&mut buffer);
        if !pane.has_background_work() {
            return buffer;
        }
        pane.tick();
        assert!(Instant::now() < until, "it does not settle");
        std::thread::yield_now();
    }
}

pub(super) fn press(pane: &mut dyn FullScreenPane, keys: &str, size: (u16, u16)) {
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
    let text = ViewerText::in_memory(format!("{tower}\nnext\n").into());
    let hands = viewer::ViewerCallbacks {
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
    let hands_of_transcript = transcript::TranscriptCallbacks {
        keys: Keymap::usual("transcript", transcript::KEYS),
        pager: Keymap::usual("pager", pager::KEYS),
        copy: Box::new(|_| String::new()),
        edit: Box::new(|_| Ok(())),
    };
    let feed = PickerFeed::of(vec![PickerItem::new(tower.as_str(), tower.as_str())]);
    let pads = vec![ScratchpadItem {
        name: tower.clone(),
        bytes: 1,
        head: tower.clone(),
        kind: ScratchpadItemKind::Text,
    }];
    let (keys, pager_keys) =
        (Keymap::usual("scratchpads", scratchpads::KEYS), Keymap::usual("pager", pager::KEYS));
    let panes: Vec<(&str, Box<dyn FullScreenPane + '_>)> = vec![
        ("viewer", Box::new(Viewer::new(text, &tower, None, &theme, hands))),
        ("transcript", Box::new(TranscriptView::new(&said, &theme, hands_of_transcript))),
        ("picker", Box::new(Picker::new("Files", feed, &theme, Keymap::usual("picker", picker::KEYS)))),
        ("scratchpads", Box::new(ScratchpadBrowser::new(pads, &theme, keys, pager_keys))),
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
fn state(screen_name: &str, keys: &[KeyEvent], rows: u16) -> (String, Vec<String>, PaneFlow) {
    let theme = theme("dark");
    let asked: Rc<RefCell<Vec<String>>> = Rc::default();
    let (copies, edits) = (Rc::clone(&asked), Rc::clone(&asked));
    let copy = move |text: &str| {
        copies.borrow_mut().push(format!("copy {text}"));
        "copied".to_string()
    };
    let mut pane: Box<dyn FullScreenPane> = match screen_name {
        "transcript" => {
            let hands = transcript::TranscriptCallbacks {
                keys: Keymap::usual("transcript", transcript::KEYS),
                pager: Keymap::usual("pager", pager::KEYS),
                copy: Box::new(copy),
                edit: Box::new(|_| Ok(())),
            };
            Box::new(TranscriptView::new(messages(), &theme, hands))
        }
        "picker" => {
            let scope = |name: &str, text: &str| PickerScope {
                name: name.into(),
                short_name: name.into(),
                items: vec![PickerItem::new(text, "a note")],
            };
            Box::new(list(&theme).with_query("").with_scopes(vec![scope("this", "a"), scope("all", "b")]))
        }
        "scratchpads" => Box::new(browser(&theme)),
        _ => {
            let hands = viewer::ViewerCallbacks {
                keys: Keymap::usual("viewer", viewer::KEYS),
                pager: Keymap::usual("pager", pager::KEYS),
                copy: Box::new(copy),
                edit: Box::new(move |line| {
                    edits.borrow_mut().push(format!("edit {line}"));
                    Ok(())
                }),
            };
            let text = ViewerText::in_memory(CODE.repeat(20).as_str().into());
            let mut seen = SeenLines { lines: RangeSet::of(80..90), ..SeenLines::default() };
            seen.turns.show(&RangeSet::of(80..90), 2);
            let pane = Viewer::new(text, "a.rs", None, &theme, hands).with_seen(seen);
            Box::new(pane.with_provenance(Box::new(|| vec!["3 you edit_file".into()])))
        }
    };
    let size = (60, rows);
    pane.resize(size.0, size.1);
    settled(pane.as_mut(), size);
    let mut flow = PaneFlow::Stay;
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
    fn names<A>(table: &'static [KeyBinding<A>]) -> Vec<(&'static str, &'static str)> {
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
                let lends = after.2 == PaneFlow::Lend;
                if (&before.0, &before.1) == (&after.0, &after.1) && after.2 == PaneFlow::Stay && !lends {
                    dead.push(format!("{screen_name}: {action} by {key}"));
                }
            }
        }
    }
    assert_eq!(dead, Vec::<String>::new(), "these do nothing");
}
