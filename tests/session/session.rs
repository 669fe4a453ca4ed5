//! Sessions: what is kept, what a crash or a damaged file leaves, and how it is found again.

use crate::support::is_full;
use crate::support::sessions::store;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    ToolCall,
};
use placet::session::{ScratchpadEntry, SessionError, SessionRecord, SessionStateKey, SessionStore};
use std::path::Path;
use tempfile::TempDir;

fn said(text: &str) -> SessionRecord {
    SessionRecord::Message { message: Message::user(text) }
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(id),
        name: "read_file".into(),
        input: CallInput::parse(r#"{"path":"src/app.rs"}"#),
    }
}

fn answered(blocks: Vec<AssistantBlock>) -> SessionRecord {
    SessionRecord::Message {
        message: Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }),
    }
}

#[test]
fn a_session_reads_back_as_it_was_written_pictures_included() {
    let dir = TempDir::new().unwrap();
    let image = Image::new("image/png", 2, 1, "a.png", vec![1u8, 2, 3].into());
    let first = Message::User { parts: vec![Part::text("look"), Part::Image(image.clone())] };
    let mut open = store(&dir).create(Path::new("/w"), "look").unwrap();
    let id = open.id().clone();
    open.append(SessionRecord::Message { message: first.clone() }).unwrap();
    open.append(answered(vec![AssistantBlock::Call(call("a"))])).unwrap();
    let result = CallResult::new(&call("a"), CallOutcome::Done, vec![Part::Image(image)]);
    open.append(SessionRecord::Message { message: Message::Results { results: vec![result] } }).unwrap();
    drop(open);
    let loaded = store(&dir).load(&id).unwrap();
    assert_eq!(loaded.dropped, Vec::<String>::new());
    assert_eq!(loaded.transcript.messages().len(), 3);
    assert_eq!(loaded.transcript.messages()[0], first);
    let row = store(&dir).find(&id.as_str()[..14]).unwrap();
    assert_eq!((row.title.as_str(), row.entries), ("look", 3));
}

#[test]
fn a_session_open_elsewhere_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let open = store(&dir).create(Path::new("/w"), "mine").unwrap();
    let id = open.id().clone();
    let error = store(&dir).resume(&id).err().unwrap();
    assert!(matches!(&error, SessionError::Elsewhere { title, .. } if title == "mine"), "{error}");
    assert!(store(&dir).delete(&id).is_err(), "an open session is not deleted under its shell");
    drop(open);
    store(&dir).resume(&id).unwrap();
    store(&dir).delete(&id).unwrap();
    assert!(store(&dir).list(10).unwrap().is_empty());
}

#[test]
fn what_a_crash_left_open_is_completed_on_resume_and_said() {
    let dir = TempDir::new().unwrap();
    let mut open = store(&dir).create(Path::new("/w"), "t").unwrap();
    let id = open.id().clone();
    open.append(said("go")).unwrap();
    open.append(answered(vec![AssistantBlock::Call(call("a")), AssistantBlock::Call(call("b"))])).unwrap();
    drop(open);
    let loaded = store(&dir).load(&id).unwrap();
    assert!(loaded.transcript.open_calls().is_empty());
    assert_eq!(loaded.repairs.len(), 1);
    assert_eq!(loaded.dropped.len(), 1);

    let mut open = store(&dir).create(Path::new("/w"), "t").unwrap();
    let id = open.id().clone();
    open.append(said("go")).unwrap();
    let half = AssistantMessage {
        blocks: vec![AssistantBlock::Text { text: "half an answer".into() }],
        ..AssistantMessage::default()
    };
    open.set(SessionStateKey::Partial, &serde_json::to_string(&half).unwrap()).unwrap();
    drop(open);
    let loaded = store(&dir).load(&id).unwrap();
    assert_eq!(loaded.repairs, [Message::Assistant(half)]);
    // Once the repairs are written, the next load is clean.
    let mut open = store(&dir).resume(&id).unwrap();
    for message in loaded.repairs {
        open.append(SessionRecord::Message { message }).unwrap();
    }
    assert_eq!(store(&dir).load(&id).unwrap().dropped, Vec::<String>::new());
}

#[test]
fn search_finds_cjk_substrings_paths_and_quotes_literally() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let mut open = store.create(Path::new("/w"), "t").unwrap();
    for text in [
        "面白い日本語の文章です",
        "see src/app.rs for foo-bar",
        "don't panic AND carry on",
        "100% \"quoted\" text",
    ] {
        open.append(said(text)).unwrap();
    }
    let found = |query: &str| store.search(query, 10).unwrap().len();
    for query in [
        "日本語",
        "日本",
        "本",
        "src/app.rs",
        "foo-bar",
        "don't",
        "DON'T",
        "AND",
        "100%",
        "\"carry on\"",
        "app panic",
        "src foo",
    ] {
        let expected = usize::from(query != "app panic");
        assert_eq!(found(query), expected, "{query}");
    }
    assert_eq!(found(""), 0);
    assert_eq!(found("nowhere"), 0);
    assert_eq!(store.search("foo-bar", 1).unwrap()[0].excerpt, "see src/app.rs for foo-bar");
}

#[test]
fn scratchpads_and_the_input_history_survive() {
    let dir = TempDir::new().unwrap();
    let open = store(&dir).create(Path::new("/w"), "t").unwrap();
    let id = open.id().clone();
    let pads = open.scratchpads().unwrap();
    pads.put("notes", ScratchpadEntry::Text("one".into())).unwrap();
    pads.put("empty", ScratchpadEntry::Text(String::new())).unwrap();
    let image = Image::new("image/png", 1, 1, "p.png", vec![9u8].into());
    pads.put("picture", ScratchpadEntry::Image(image.clone())).unwrap();
    pads.rename("notes", "plan").unwrap();
    pads.put("gone", ScratchpadEntry::Text("x".into())).unwrap();
    pads.delete("gone").unwrap();
    drop((pads, open));
    let pads = store(&dir).resume(&id).unwrap().scratchpads().unwrap();
    assert_eq!(pads.list(), [("empty".to_string(), 0), ("picture".to_string(), 1), ("plan".to_string(), 3)]);
    assert_eq!(pads.get("picture").unwrap(), ScratchpadEntry::Image(image));
    for line in ["first", "second", "second", "multi\nline"] {
        store(&dir).remember(line, Path::new("/w")).unwrap();
    }
    let lines: Vec<String> = store(&dir).history(2).unwrap().into_iter().map(|l| l.line).collect();
    assert_eq!(lines, ["second", "multi\nline"]);
}

/// The database cut at many offsets, and with garbage in its middle: it opens, lists and resumes what is whole, says
/// what was dropped, and leaves the damaged file as it was.
#[test]
fn a_damaged_database_opens_with_what_is_whole_and_keeps_the_original() {
    let dir = TempDir::new().unwrap();
    let mut open = store(&dir).create(Path::new("/w"), "title").unwrap();
    let id = open.id().clone();
    for n in 0..40 {
        open.append(said(&format!("{n} {}", "words ".repeat(200)))).unwrap();
    }
    open.store().checkpoint().unwrap();
    drop(open);
    let whole = std::fs::read(dir.path().join("placet.db")).unwrap();
    let step = if is_full() { 1021 } else { whole.len() / 23 };
    let damages = (0..whole.len()).step_by(step).flat_map(|at| {
        let mut garbled = whole.clone();
        garbled[at..(at + 64).min(whole.len())].fill(0xA5);
        [whole[..at].to_vec(), garbled]
    });
    for damaged in damages {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("placet.db");
        std::fs::write(&path, &damaged).unwrap();
        std::fs::create_dir(dir.path().join("open")).unwrap();
        let (store, notes) = SessionStore::open(dir.path()).unwrap();
        let _ = store.list(10).map(|rows| rows.len());
        let aside = dir.path().join("placet.db.damaged-1").exists();
        if let Ok(loaded) = store.load(&id) {
            let lost = loaded.transcript.messages().len() < 40;
            let told = !loaded.dropped.is_empty() || !notes.is_empty();
            let at = damaged.iter().zip(&whole).position(|(a, b)| a != b);
            let left = loaded.transcript.messages().len();
            assert!(
                !lost || told,
                "{} of {} bytes, aside: {aside}, {at:?}, {left}",
                damaged.len(),
                whole.len()
            );
        }
        let kept = std::fs::read_dir(dir.path()).unwrap().filter_map(Result::ok).find(|e| {
            e.file_name().to_string_lossy().contains("damaged")
                && !e.file_name().to_string_lossy().ends_with("-wal")
        });
        if let Some(kept) = kept {
            assert_eq!(std::fs::read(kept.path()).unwrap(), damaged, "the original is kept byte for byte");
        }
    }
}

#[test]
fn a_truncated_log_loses_only_what_was_in_its_missing_part() {
    let dir = TempDir::new().unwrap();
    let mut open = store(&dir).create(Path::new("/w"), "title").unwrap();
    let id = open.id().clone();
    open.store().checkpoint().unwrap();
    for n in 0..20 {
        open.append(said(&format!("message {n}"))).unwrap();
    }
    // Copied while open, as a power cut would leave it: the log has not been folded in.
    let db = std::fs::read(dir.path().join("placet.db")).unwrap();
    let wal = std::fs::read(dir.path().join("placet.db-wal")).unwrap();
    let mut most = 0;
    for at in (0..=wal.len()).step_by((wal.len() / 17).max(1)) {
        let copy = TempDir::new().unwrap();
        std::fs::write(copy.path().join("placet.db"), &db).unwrap();
        std::fs::write(copy.path().join("placet.db-wal"), &wal[..at]).unwrap();
        let (store, notes) = SessionStore::open(copy.path()).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        let count = store.load(&id).unwrap().transcript.messages().len();
        assert!(count >= most, "a longer log never holds less");
        most = count;
    }
    assert!(most >= 19, "{most}");
}

#[test]
fn two_shells_append_to_one_database_without_losing_a_line() {
    let dir = TempDir::new().unwrap();
    drop(store(&dir));
    let path = dir.path().to_path_buf();
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let path = path.clone();
            std::thread::spawn(move || {
                let (store, _) = SessionStore::open(&path).unwrap();
                let mut open = store.create(Path::new("/w"), &format!("shell {worker}")).unwrap();
                for n in 0..50 {
                    open.append(said(&format!("line {n}"))).unwrap();
                }
                open.id().clone()
            })
        })
        .collect();
    for worker in workers {
        let id = worker.join().unwrap();
        assert_eq!(store(&dir).load(&id).unwrap().transcript.messages().len(), 50);
    }
}

#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let state = dir.path().join("state");
    let (store, _) = SessionStore::open(&state).unwrap();
    drop(store.create(Path::new("/w"), "t").unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    assert_eq!(mode(&state.join("placet.db")), 0o600);
}

#[test]
fn deleting_a_session_removes_pictures_that_no_other_one_shows() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let (mine, shared) = (
        Image::new("image/png", 1, 1, "mine.png", vec![1u8].into()),
        Image::new("image/png", 1, 1, "shared.png", vec![2u8].into()),
    );
    let show = |images: &[&Image]| SessionRecord::Message {
        message: Message::User { parts: images.iter().map(|i| Part::Image((*i).clone())).collect() },
    };
    let mut first = store.create(Path::new("/w"), "one").unwrap();
    first.append(show(&[&mine, &shared])).unwrap();
    let mut second = store.create(Path::new("/w"), "two").unwrap();
    second.append(show(&[&shared])).unwrap();
    let id = first.id().clone();
    drop(first);
    store.delete(&id).unwrap();
    let there = |image: &Image| dir.path().join("blobs").join(&image.hash[..2]).join(&image.hash).exists();
    assert!(!there(&mine) && there(&shared));
}
