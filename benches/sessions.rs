//! Sessions at the sizes where they would break: a list of 1,000, one of 10,000 entries taken up again, one with 500 MB of
//! pictures, and a search through all of it, beside `sqlite3` and `cat` over the same bytes.
//!
//! `cargo bench --bench sessions`; `-- MEGABYTES` for another amount of pictures.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench stops at the first surprise and prints"
)]

mod desk;

use desk::{median, other, report};
use placet::conversation::{AssistantBlock, AssistantMessage, Image, Message, Part, SessionId};
use placet::session::{SessionRecord, SessionStore};
use std::path::Path;
use std::time::Instant;

const WORDS: &str = "a sentence of an answer that is neither short nor long and says nothing in particular. ";

fn main() {
    let megabytes = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(500);
    let dir = tempfile::TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (store, _) = SessionStore::open(&root).unwrap();
    for n in 0..1000 {
        drop(begun(&store, n, 20));
    }
    let long = begun(&store, 1000, 10_000);
    let pictures = pictured(&store, megabytes);
    store.checkpoint().unwrap();
    let db = root.join("placet.db").display().to_string();
    let size = std::fs::metadata(&db).unwrap().len() as f64 / 1e6;
    println!("1,002 sessions, {size:.0} MB of database, {megabytes} MB of pictures");

    let ours = median(|| assert_eq!(store.list(1000).unwrap().len(), 1000));
    let rows =
        "SELECT id, title, cwd, created, updated, entries FROM session ORDER BY updated DESC LIMIT 1000";
    report("list of 1,000 sessions", ours, "sqlite3", other(&root, "sqlite3", &[&db, rows]));

    let ours =
        median(|| assert_eq!(store.load_for_resume(&long).unwrap().transcript.messages().len(), 10_000));
    let bodies = format!("SELECT body FROM entry WHERE session = '{long}' ORDER BY seq");
    report("10,000 entries taken up", ours, "sqlite3", other(&root, "sqlite3", &[&db, &bodies]));
    report("", ours, "cat", other(&root, "cat", &[&db]));

    let before = memory();
    let once = Instant::now();
    let loaded = store.load_for_resume(&pictures).unwrap();
    println!(
        "pictures taken up: {:.1} ms, {:.1} MB of memory",
        once.elapsed().as_secs_f64() * 1e3,
        memory() - before
    );
    drop(loaded);
    let ours = median(|| drop(store.load_for_resume(&pictures).unwrap()));
    let cat = other(&root, "sh", &["-c", "cat blobs/*/* > /dev/null"]);
    report(&format!("{megabytes} MB of pictures taken up"), ours, "cat", cat);
    let ours = median(|| drop(store.load(&pictures).unwrap()));
    report(
        "the same, read for an export",
        ours,
        "cat",
        other(&root, "sh", &["-c", "cat blobs/*/* > /dev/null"]),
    );

    let ours = median(|| assert_eq!(store.search("\"question 7 of 777\"", 20).unwrap().len(), 1));
    let like = "SELECT session FROM entry WHERE body LIKE '%question 7 of 777%'";
    report("search", ours, "sqlite3 LIKE", other(&root, "sqlite3", &[&db, like]));
}

fn begun(store: &SessionStore, n: usize, entries: usize) -> SessionId {
    let mut open = store.create(Path::new("/work"), &format!("session {n}")).unwrap();
    let records = (0..entries).map(|at| {
        let message = match at % 2 {
            0 => Message::user(format!("question {} of {n}", at / 2)),
            _ => Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Text { text: WORDS.repeat(10) }],
                ..AssistantMessage::default()
            }),
        };
        SessionRecord::Message { message }
    });
    open.append_all(records.collect()).unwrap();
    open.id().clone()
}

fn pictured(store: &SessionStore, megabytes: usize) -> SessionId {
    let mut open = store.create(Path::new("/work"), "pictures").unwrap();
    for n in 0..megabytes {
        let mut bytes = vec![0u8; 1 << 20];
        bytes[..8].copy_from_slice(&n.to_le_bytes());
        let image = Image::new("image/png", 1000, 1000, "shot.png", bytes.into());
        open.append(SessionRecord::Message { message: Message::User { parts: vec![Part::Image(image)] } })
            .unwrap();
    }
    open.id().clone()
}

/// Resident memory in megabytes.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}
