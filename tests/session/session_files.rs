//! Sessions carried away as files and back, and sessions that go by themselves.

use crate::support::binary::Place;
use crate::support::fixture::PNG;
use crate::support::mock_server::Say;
use crate::support::sessions::store;
use crate::support::talk::{ALL_WIRES, Talk, Wire, turn};
use placet::agent::TurnEnding;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, ConversationSummary, Image,
    Message, Note, Part, ThinkingBlock, ToolCall,
};
use placet::session::{
    ImportError, MarkdownPictures, RetentionPolicy, ScratchpadEntry, SessionPin, SessionRecord, SessionRow,
    SessionStore, html, markdown, pictures, to_json,
};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const HOSTILE: &str = "<script>alert(1)</script>\" onload='x' \u{1b}[31m\u{202e}";

/// A session with everything in it, hostile words wherever words may stand.
fn filled(store: &SessionStore) -> SessionRow {
    let mut open = store.create(Path::new("/w/<b>"), &format!("title {HOSTILE}")).unwrap();
    let image = |name: &str, bytes: &[u8]| Image::new("image/png", 1, 1, name, bytes.to_vec().into());
    let picture = image(HOSTILE, &PNG);
    let call = ToolCall {
        id: CallId::new("a"),
        name: HOSTILE.into(),
        input: CallInput::parse(&json!({"path": HOSTILE}).to_string()),
    };
    let broken = ToolCall {
        id: CallId::new("b"),
        name: "probe".into(),
        input: CallInput::parse("{\"half\": <script>"),
    };
    let thinking =
        ThinkingBlock { text: HOSTILE.into(), signature: Some("proof".into()), ..ThinkingBlock::default() };
    let blocks = vec![
        AssistantBlock::Thinking(thinking),
        AssistantBlock::Text { text: HOSTILE.into() },
        AssistantBlock::Call(call.clone()),
        AssistantBlock::Call(broken.clone()),
    ];
    let results = vec![
        CallResult::new(
            &call,
            CallOutcome::Done,
            vec![Part::text(HOSTILE), Part::Image(image("second", b"other"))],
        ),
        CallResult::text(&broken, CallOutcome::Failed, "no"),
    ];
    let answer = AssistantMessage { blocks, model: HOSTILE.into(), ..AssistantMessage::default() };
    for message in [
        Message::User { parts: vec![Part::text(HOSTILE), Part::Image(picture)] },
        Message::Assistant(answer),
        Message::Results { results },
        Message::user("thanks"),
    ] {
        open.append(SessionRecord::Message { message }).unwrap();
    }
    open.append(SessionRecord::SummedUp {
        summary: ConversationSummary { upto: 3, notes: vec![Note::Summary { text: "in short".into() }] },
    })
    .unwrap();
    store.find(open.id().as_str()).unwrap()
}

/// An export without what another session of the same words has of its own.
fn bare(mut value: Value) -> Value {
    let about = value["session"].as_object_mut().unwrap();
    for own in ["id", "created", "updated"] {
        assert!(about.remove(own).is_some(), "{own}");
    }
    value
}

fn exported(store: &SessionStore, row: &SessionRow) -> Value {
    to_json(row, &store.load(&row.id).unwrap(), &store.scratchpads(&row.id).unwrap())
}

#[test]
fn what_was_exported_imports_as_the_same_session_with_a_name_of_its_own() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store_here = store(&here);
    let plain = SessionRow { title: "plain".into(), ..filled(&store_here) };
    let first = exported(&store_here, &plain);
    assert_eq!(first["pictures"].as_object().unwrap().len(), 2);
    let store_there = store(&there);
    let open = store_there.import(&first.to_string(), Path::new("/w/<b>")).unwrap();
    let row = store_there.find(open.id().as_str()).unwrap();
    assert_ne!(row.id, plain.id);
    assert_eq!(bare(exported(&store_there, &row)), bare(first));
    assert_eq!(store_there.search("thanks", 5).unwrap().len(), 1, "what was imported is found");
}

#[test]
fn a_file_that_breaks_the_rules_of_a_conversation_is_refused_whole() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let row = filled(&store);
    let good = exported(&store, &row);
    let bad = |change: &dyn Fn(&mut Value)| {
        let mut file = good.clone();
        change(&mut file);
        store.import(&file.to_string(), Path::new("/w")).err().unwrap()
    };
    let unanswered = bad(&|f| drop(f["messages"].as_array_mut().unwrap().remove(2)));
    assert!(matches!(unanswered, ImportError::Order { number: 3, .. }), "{unanswered}");
    let cut = bad(&|f| f["messages"].as_array_mut().unwrap().truncate(2));
    assert!(matches!(cut, ImportError::Incomplete), "{cut}");
    let newer = bad(&|f| f["version"] = json!(99));
    assert!(matches!(newer, ImportError::Version(99)), "{newer}");
    let forged = bad(&|f| {
        let pictures = f["pictures"].as_object_mut().unwrap();
        let hash = pictures.keys().next().unwrap().clone();
        pictures.insert(hash, json!("data:image/png;base64,AAAA"));
    });
    assert!(matches!(forged, ImportError::Picture(_)), "{forged}");
    assert!(matches!(store.import("[]", Path::new("/w")).err().unwrap(), ImportError::Form(_)));
    assert_eq!(store.list(10).unwrap().len(), 1, "nothing is left of what was refused");
}

#[test]
fn a_picture_whose_bytes_are_not_in_the_file_is_words_and_names_no_file() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let row = filled(&store);
    let mut file = exported(&store, &row);
    file["messages"][0]["parts"][1]["hash"] = json!("../../../../tmp/x");
    file["messages"][0]["parts"][1]["name"] = json!("lost.png");
    let open = store.import(&file.to_string(), Path::new("/w")).unwrap();
    let loaded = store.load(open.id()).unwrap();
    let note = Part::Note(Note::PictureMissing { name: "lost.png".into() });
    assert_eq!(loaded.transcript.messages()[0], Message::User { parts: vec![Part::text(HOSTILE), note] });
    assert_eq!(loaded.withheld, []);
}

#[test]
fn secrets_in_a_file_stay_out_of_the_session() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let file = json!({"version": 2, "session": {"title": format!("my {key}")}, "messages": [
        {"role": "user", "parts": [{"type": "text", "text": format!("use {key}")}]},
    ]});
    let open = store.import(&file.to_string(), Path::new("/w")).unwrap();
    let row = store.find(open.id().as_str()).unwrap();
    let all = exported(&store, &row).to_string();
    assert!(!all.contains(&key) && all.contains("use "), "{all}");
}

#[test]
fn a_page_holds_the_words_and_the_pictures_and_no_word_is_markup() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let row = filled(&store);
    let loaded = store.load(&row.id).unwrap();
    let page = html(&row, &loaded);
    assert!(!page.contains("<script") && !page.contains("\u{1b}") && !page.contains("\u{202e}"), "{page}");
    assert_eq!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count(), 11, "{page}");
    assert!(!page.contains("onload='"), "an attribute cannot be left");
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 2);
    assert!(!page.contains("http://") && !page.contains("https://"), "it needs nothing else");
    assert!(page.contains("prefers-color-scheme: dark"));
    let beside = markdown(&row, &loaded, MarkdownPictures::Beside);
    let files = pictures(&loaded);
    assert_eq!(files.len(), 2);
    assert!(files.iter().all(|(name, _)| beside.contains(&format!("]({name})"))), "{beside}");
}

#[test]
fn old_sessions_and_those_beyond_the_limit_go_but_never_a_pinned_or_a_needed_one() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let mut rows = Vec::new();
    for title in ["pinned", "needed", "old", "open", "last"] {
        let mut open = store.create(Path::new("/w"), title).unwrap();
        open.append(SessionRecord::Message { message: Message::user("x".repeat(1000)) }).unwrap();
        rows.push(store.find(open.id().as_str()).unwrap());
        // Each was used in a millisecond of its own.
        let used = SystemTime::now();
        while used.elapsed().unwrap() < Duration::from_millis(2) {
            std::thread::yield_now();
        }
    }
    store.pin(&rows[0].id, SessionPin::On).unwrap();
    let needed = rows[1].id.to_string();
    let needed = |id: &str| id == needed;
    let titles = |rows: Vec<SessionRow>| rows.into_iter().map(|r| r.title).collect::<Vec<_>>();
    let none = RetentionPolicy::default();
    assert_eq!(titles(store.prunable(none, &needed).unwrap()), Vec::<String>::new());
    let old = RetentionPolicy { age: Some(Duration::ZERO), ..none };
    assert_eq!(titles(store.prunable(old, &needed).unwrap()), ["old", "open", "last"]);
    let much = RetentionPolicy { bytes: Some(4000), ..none };
    assert_eq!(titles(store.prunable(much, &needed).unwrap()), ["old", "open"]);
    let held = store.resume(&rows[3].id).unwrap();
    assert_eq!(titles(store.prune(much, &needed).unwrap()), ["old"]);
    drop(held);
    let mut left = titles(store.list(10).unwrap());
    left.sort();
    assert_eq!(left, ["last", "needed", "open", "pinned"]);
}

#[test]
fn the_command_line_exports_imports_and_prunes() {
    let place = Place::new().file("notes.txt", "one\ntwo\n");
    place.run(["-p", "show notes.txt"]).code(0);
    let id = place.run(["session", "list", "--json"]).code(0).json()[0]["id"].as_str().unwrap().to_string();
    let out = |name: &str| place.beside(name).display().to_string();
    let export = |format: &str, file: &str| {
        place.run(["session", "export", &id, "--format", format, "--output", file])
    };
    export("html", &out("s.html")).code(0).warns("wrote");
    export("html", &out("s.html")).code(1).warns("s.html` already exists");
    export("json", &out("s.json")).code(0);
    let said = place.run(["session", "import", &out("s.json")]).code(0).says("show notes.txt").stdout;
    let copy = said.split_whitespace().next().unwrap();
    assert_ne!(copy, id);
    place.run(["-r", copy, "-p", "save that as kept"]).code(0);
    place.run(["session", "import", &out("s.html")]).code(1).warns("not an exported session");
    place.run(["session", "prune"]).code(0).warns("0 sessions removed");
    let all = ["--set", "sessions.keep_bytes=1"];
    place.run(["session", "pin", copy]).code(0);
    place
        .run(["session", "prune", "--dry-run"].iter().chain(&all))
        .code(0)
        .says("show notes.txt")
        .warns("1 session would be");
    assert_eq!(place.run(["session", "list", "--json"]).code(0).json().as_array().unwrap().len(), 2);
    let told = place.run(["-p", "list"].iter().chain(&all)).code(0).warns("1 session (").stderr;
    assert!(told.contains("because of `sessions.keep_days`"), "{told}");
    let rows = place.run(["session", "list", "--json"]).code(0).json();
    assert_eq!((rows[0]["id"].as_str().unwrap(), rows.as_array().unwrap().len()), (copy, 2));
    place.run(["-p", "list"].iter().chain(&all)).code(0);
    assert_eq!(
        place.run(["session", "list", "--json"]).code(0).json().as_array().unwrap().len(),
        3,
        "once a day"
    );
}

#[test]
fn a_session_with_pending_changes_stays() {
    let place = Place::new().file("a.txt", "x\n");
    place.run(["--mode", "ask", "-p", "append \"y\" to a.txt"]);
    place.run(["changes"]).code(0).says("a.txt");
    place.run(["-p", "list"]).code(0);
    let kept = ["session", "prune", "--set", "sessions.keep_bytes=1"];
    place.run(kept).code(0).warns("1 session removed");
    place.run(["session", "list"]).code(0).says("append");
    place.run(["discard"]).code(0);
    place.run(kept).code(0).warns("1 session removed");
}

/// What each vendor proves its reasoning with, as its dialect keeps it; `CANARY` is for nobody else.
fn reasoning(wire: Wire) -> Vec<ThinkingBlock> {
    let of = |wire: &str, signature: Option<&str>, redacted: Option<Value>| ThinkingBlock {
        text: "thoughts".into(),
        signature: signature.map(String::from),
        redacted: redacted.map(|r| r.as_str().map_or_else(|| r.to_string(), String::from)),
        wire: wire.into(),
    };
    match wire {
        Wire::Anthropic => vec![of("", Some("CANARY"), None), of("", None, Some(json!("CANARY")))],
        Wire::OpenAi => vec![of("openai-chat", None, Some(json!([{"type": "x", "data": "CANARY"}])))],
        Wire::Responses => vec![of(
            "openai-responses",
            None,
            Some(json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "CANARY"})),
        )],
        Wire::Gemini => vec![of("gemini", Some("CANARY"), None)],
    }
}

#[tokio::test]
async fn a_session_of_every_wire_goes_on_over_every_other_one() {
    for from in ALL_WIRES {
        for to in ALL_WIRES.into_iter().filter(|to| *to != from) {
            let mut talk = Talk::new(to);
            talk.figures.vision = false;
            talk.named = ("there", "its-own");
            let mut open = talk.store().create(&talk.root, "t").unwrap();
            let picture = Image::new("image/png", 1, 1, "shown.png", PNG.to_vec().into());
            // Ids and names as other vendors' servers make them up.
            let call = ToolCall {
                id: CallId::new("call|with:odd/id"),
                name: "probe".into(),
                input: CallInput::parse(r#"{"name":"one","do":"done"}"#),
            };
            let thinking = reasoning(from).into_iter().map(AssistantBlock::Thinking);
            let blocks = thinking
                .chain([AssistantBlock::Text { text: "I look.".into() }, AssistantBlock::Call(call.clone())])
                .collect();
            let answer = AssistantMessage { blocks, model: "theirs".into(), ..AssistantMessage::default() };
            let result = CallResult::new(
                &call,
                CallOutcome::Done,
                vec![Part::text("RESULT"), Part::Image(picture.clone())],
            );
            for message in [
                Message::User { parts: vec![Part::text("QUESTION"), Part::Image(picture)] },
                Message::Assistant(answer),
                Message::Results { results: vec![result] },
                Message::Assistant(AssistantMessage {
                    blocks: reasoning(from)
                        .into_iter()
                        .map(AssistantBlock::Thinking)
                        .chain([AssistantBlock::Text { text: "ANSWER".into() }])
                        .collect(),
                    model: "theirs".into(),
                    ..AssistantMessage::default()
                }),
            ] {
                open.append(SessionRecord::Message { message }).unwrap();
            }
            drop(open);
            let what = format!("{from:?} to {to:?}");
            let loaded = talk.store().load(&talk.last()).unwrap();
            let mut agent = talk.resume();
            assert_eq!(
                agent.lost_on_switch().unwrap(),
                "the reasoning of 2 answers is not sent: only their own model can read it; \
                 2 pictures are not sent to its-own, which does not accept pictures",
                "{what}"
            );
            talk.server.push(to.reply(&[Say::Text("Going on.")]));
            assert_eq!(turn(&mut agent, "and on", |_, _| {}).await, TurnEnding::Done, "{what}");
            talk.is_lawful();
            let sent = talk.server.requests().pop().unwrap().body.to_string();
            for kept in ["QUESTION", "I look.", "RESULT", "ANSWER", "and on", "shown.png"] {
                assert!(sent.contains(kept), "{what}: {kept} in {sent}");
            }
            assert!(!sent.contains("CANARY") && !sent.contains("thoughts"), "{what}: {sent}");
            let now = agent.transcript().messages();
            assert_eq!(now[..4], loaded.transcript.messages()[..], "{what}: the record keeps all of it");
        }
    }
}

#[test]
fn a_database_of_the_version_before_opens_with_its_sessions_counted() {
    let dir = TempDir::new().unwrap();
    let row = filled(&store(&dir));
    let old = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    old.execute_batch(
        "DROP INDEX session_by_use; CREATE INDEX session_by_age ON session (updated);
         ALTER TABLE session DROP COLUMN pinned; ALTER TABLE session DROP COLUMN entries;
         ALTER TABLE session DROP COLUMN bytes; ALTER TABLE entry DROP COLUMN format; PRAGMA user_version = 2;",
    )
    .unwrap();
    drop(old);
    let now = store(&dir).list(10).unwrap();
    let pictures = (PNG.len() + b"other".len()) as i64;
    assert_eq!(now, [SessionRow { bytes: row.bytes - pictures, ..row.clone() }]);
    assert_eq!(store(&dir).load(&row.id).unwrap().transcript.messages().len(), 4);
}

#[test]
fn scratchpads_are_exported_and_imported() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store_here = store(&here);
    let row = filled(&store_here);
    let pads = store_here.scratchpads(&row.id).unwrap();
    let picture = Image::new("image/png", 1, 1, "p.png", b"bytes of a picture"[..].into());
    pads.put("notes", ScratchpadEntry::Text("one\ntwo".into())).unwrap();
    pads.put("pic", ScratchpadEntry::Image(picture.clone())).unwrap();
    let file = exported(&store_here, &row);
    assert_eq!(file["scratchpads"]["notes"], json!({"text": "one\ntwo"}));
    let store_there = store(&there);
    let open = store_there.import(&file.to_string(), Path::new("/w")).unwrap();
    let pads = store_there.scratchpads(open.id()).unwrap();
    assert_eq!(pads.get("notes").unwrap(), ScratchpadEntry::Text("one\ntwo".into()));
    assert_eq!(pads.get("pic").unwrap(), ScratchpadEntry::Image(picture));
    let mut bad = file.clone();
    bad["scratchpads"]["../x"] = json!({"text": ""});
    let refused = store_there.import(&bad.to_string(), Path::new("/w")).err().unwrap();
    assert!(matches!(refused, ImportError::Scratchpad(_)), "{refused}");
    // A secret is left out of what a stranger's file brings in.
    let mut secret = file;
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    secret["scratchpads"]["notes"] = json!({"text": format!("token {key}")});
    let open = store_there.import(&secret.to_string(), Path::new("/w")).unwrap();
    let ScratchpadEntry::Text(text) = store_there.scratchpads(open.id()).unwrap().get("notes").unwrap()
    else {
        panic!()
    };
    assert!(!text.contains(&key), "{text}");
}
