//! A session taken up from where it was last summed up: it must go on exactly as if all of it had been read.

use crate::support::mock_server::Say;
use crate::support::talk::{self, Talk, Wire};
use placet::agent::TurnEnding;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, ConversationSummary, Image,
    Message, Note, Part, SessionId, TokenUsage, ToolCall,
};
use placet::session::{
    LoadedSession, OpenSession, RequestCost, ScratchpadEntry, SessionRecord, SessionStore,
};
use proptest::prelude::*;
use std::path::Path;
use tempfile::TempDir;

/// What may happen in a session; the numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    /// A turn with so many rounds of calls, and words added before the last one.
    Turn {
        rounds: usize,
        added: bool,
    },
    SummedUp {
        back: usize,
    },
    Rewound {
        to: usize,
    },
    Switched {
        to: usize,
    },
    Withheld,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4usize, any::<bool>()).prop_map(|(rounds, added)| Step::Turn { rounds, added }),
        3 => (0..12usize).prop_map(|back| Step::SummedUp { back }),
        1 => (0..40usize).prop_map(|to| Step::Rewound { to }),
        1 => (0..40usize).prop_map(|to| Step::Switched { to }),
        1 => Just(Step::Withheld),
    ]
}

fn answer(n: usize, calls: bool) -> Message {
    let call = |at: usize| {
        AssistantBlock::Call(ToolCall {
            id: CallId::new(format!("c{n}-{at}")),
            name: ["read_file", "run_command", "todo"][(n + at) % 3].into(),
            input: CallInput::parse(&format!(r#"{{"n":{n}}}"#)),
        })
    };
    let blocks = if calls {
        vec![call(0), call(1)]
    } else {
        vec![AssistantBlock::Text { text: format!("answer {n}") }]
    };
    Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() })
}

fn results(of: &Message) -> Message {
    let Message::Assistant(answer) = of else { panic!("an answer") };
    let result = |(at, call): (usize, &ToolCall)| {
        let outcome = if at == 0 { CallOutcome::Done } else { CallOutcome::Failed };
        CallResult::text(call, outcome, format!("result of {}", call.id))
    };
    Message::Results { results: answer.calls().enumerate().map(result).collect() }
}

fn turn(n: &mut usize, rounds: usize, added: bool) -> Vec<SessionRecord> {
    let mut messages = vec![Message::user(format!("question {n}"))];
    for round in 0..rounds {
        *n += 1;
        let asked = answer(*n, true);
        let given = results(&asked);
        messages.extend([asked, given]);
        if added && round + 1 == rounds {
            messages.push(Message::user(format!("and also {n}")));
        }
    }
    *n += 1;
    messages.push(answer(*n, false));
    let usage = TokenUsage { input: *n as u64, output: 1, ..TokenUsage::default() };
    let cost = SessionRecord::Cost {
        provider: "p".into(),
        model: format!("m{}", *n % 2),
        usage,
        picos: Some(*n as u64),
    };
    messages.into_iter().map(|message| SessionRecord::Message { message }).chain([cost]).collect()
}

fn take(open: &mut OpenSession, n: &mut usize, step: &Step) {
    let store = open.store().clone();
    let now = store.load(open.id()).unwrap();
    let messages = now.transcript.messages();
    let records = match step {
        Step::Turn { rounds, added } => turn(n, *rounds, *added),
        Step::SummedUp { back } => {
            let from = now.summaries.last().map_or(0, |s| s.upto);
            let upto = messages.len().saturating_sub(*back);
            if upto <= from || matches!(messages.get(upto), Some(Message::Results { .. })) {
                return;
            }
            let notes = vec![Note::Summary { text: format!("of {upto}, at {n}") }];
            vec![SessionRecord::SummedUp { summary: ConversationSummary { upto, notes } }]
        }
        Step::Rewound { to } => {
            let to = *to % (messages.len() + 1);
            if matches!(messages.get(to), Some(Message::Results { .. })) {
                return;
            }
            vec![SessionRecord::Rewound { messages: to }]
        }
        Step::Switched { to } => {
            let branches = store.tree(open.id()).unwrap().branches;
            match branches.get(*to % branches.len().max(1)) {
                Some(branch) => vec![SessionRecord::Switched { entry: branch.tip }],
                None => return,
            }
        }
        Step::Withheld => vec![SessionRecord::Withheld { hash: format!("h{n}"), reason: "refused".into() }],
    };
    open.append_all(records).unwrap();
}

fn total(spent: &[RequestCost]) -> RequestCost {
    let mut sum = RequestCost::default();
    spent.iter().for_each(|one| sum.add(one));
    sum
}

/// `taken` is what `whole` is; nothing of it has been read yet that did not have to be.
fn same(taken: &LoadedSession, whole: &LoadedSession) {
    let summary = whole.summaries.last();
    assert_eq!(taken.summaries.last(), summary);
    let sent =
        summary.map_or_else(|| whole.transcript.messages().to_vec(), |s| s.over(whole.transcript.messages()));
    assert_eq!(taken.transcript.over(summary).into_owned(), sent);
    assert_eq!(taken.transcript.len(), whole.transcript.len());
    assert_eq!(taken.transcript.user_message_count(), whole.transcript.user_message_count());
    assert_eq!(taken.transcript.last(), whole.transcript.messages().last());
    assert_eq!(taken.withheld, whole.withheld);
    assert_eq!((taken.usage, taken.last_prompt), (whole.usage, whole.last_prompt));
    assert_eq!(total(&taken.spent), total(&whole.spent));
    assert_eq!(taken.dropped, whole.dropped);
    for tool in ["read_file", "run_command", "todo"] {
        let before = &whole.transcript.messages()[..taken.transcript.begins()];
        let last = before.windows(2).rev().find(|pair| match pair {
            [Message::Assistant(answer), Message::Results { results }] => {
                let done = |call: &ToolCall| {
                    results.iter().any(|r| r.id == call.id && r.outcome == CallOutcome::Done)
                };
                answer.calls().any(|call| call.name == tool && done(call))
            }
            _ => false,
        });
        assert_eq!(taken.transcript.earlier_round(tool), last.unwrap_or(&[]), "{tool}");
    }
    assert_eq!(taken.transcript.messages(), whole.transcript.messages());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn from_its_place_a_session_is_what_it_is_from_its_beginning(steps in proptest::collection::vec(step(), 1..24)) {
        let dir = TempDir::new().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let mut open = store.create(Path::new("/w"), "t").unwrap();
        let mut n = 0;
        for step in &steps {
            take(&mut open, &mut n, step);
            same(&store.load_for_resume(open.id()).unwrap(), &store.load(open.id()).unwrap());
        }
    }
}

#[test]
fn after_a_rewind_to_where_a_summary_ends_the_request_before_it_is_found() {
    let dir = TempDir::new().unwrap();
    let (store, _) = SessionStore::open(dir.path()).unwrap();
    let mut open = store.create(Path::new("/w"), "t").unwrap();
    let mut n = 0;
    for step in [
        Step::Turn { rounds: 1, added: true },
        Step::Turn { rounds: 3, added: true },
        Step::SummedUp { back: 9 },
        Step::Rewound { to: 5 },
    ] {
        take(&mut open, &mut n, &step);
        same(&store.load_for_resume(open.id()).unwrap(), &store.load(open.id()).unwrap());
    }
}

fn day(store: &SessionStore, turns: usize) -> (OpenSession, usize) {
    let mut open = store.create(Path::new("/w"), "a day").unwrap();
    let mut n = 0;
    for _ in 0..turns {
        open.append_all(turn(&mut n, 1, false)).unwrap();
    }
    (open, n)
}

fn summed_up(open: &mut OpenSession, upto: usize) {
    let summary = ConversationSummary { upto, notes: vec![Note::Summary { text: upto.to_string() }] };
    open.append(SessionRecord::SummedUp { summary }).unwrap();
}

/// Changes every entry before the place into something that cannot be read.
fn spoil(dir: &TempDir, id: &SessionId, before: i64) -> usize {
    let conn = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    let sql = "UPDATE entry SET body = 'not a record' WHERE session = ?1 AND seq < ?2";
    conn.execute(sql, rusqlite::params![id.as_str(), before]).unwrap()
}

#[test]
fn what_was_summed_up_is_not_read_when_a_session_is_taken_up() {
    let dir = TempDir::new().unwrap();
    let (store, _) = SessionStore::open(dir.path()).unwrap();
    let (mut open, _) = day(&store, 10);
    summed_up(&mut open, 20);
    // Five turns of five entries each come before the one whose first message is the twentieth.
    assert_eq!(spoil(&dir, open.id(), 26), 25);
    let taken = store.load_for_resume(open.id()).unwrap();
    assert_eq!((taken.dropped, taken.transcript.begins(), taken.transcript.len()), (Vec::new(), 20, 40));
    let lost = Message::User { parts: vec![Part::Note(Note::MessageLost)] };
    assert_eq!(taken.transcript.messages()[19], lost, "places do not shift");
    assert_eq!(taken.transcript.messages()[20], Message::user("question 10"));
    assert_eq!(store.load(open.id()).unwrap().dropped.len(), 25, "read whole, each is named");
}

#[test]
fn a_session_without_a_place_is_read_whole_until_it_is_summed_up_again() {
    let dir = TempDir::new().unwrap();
    let (store, _) = SessionStore::open(dir.path()).unwrap();
    let (mut open, _) = day(&store, 6);
    summed_up(&mut open, 8);
    let conn = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    for value in [None, Some("not a place")] {
        conn.execute("DELETE FROM state WHERE key = 'place'", []).unwrap();
        if let Some(value) = value {
            let sql = "INSERT INTO state (session, key, value) VALUES (?1, 'place', ?2)";
            conn.execute(sql, [open.id().as_str(), value]).unwrap();
        }
        let taken = store.load_for_resume(open.id()).unwrap();
        assert_eq!((taken.transcript.begins(), taken.transcript.len(), taken.dropped.len()), (0, 24, 0));
    }
    summed_up(&mut open, 16);
    assert_eq!(store.load_for_resume(open.id()).unwrap().transcript.begins(), 16);
}

#[test]
fn pictures_are_read_when_they_are_asked_for() {
    let dir = TempDir::new().unwrap();
    let (store, _) = SessionStore::open(dir.path()).unwrap();
    let mut open = store.create(Path::new("/w"), "t").unwrap();
    let image = Image::new("image/png", 2, 1, "a.png", vec![1u8, 2, 3].into());
    let message = Message::User { parts: vec![Part::Image(image.clone())] };
    open.append(SessionRecord::Message { message }).unwrap();
    let taken = store.load_for_resume(open.id()).unwrap();
    let bare = Image { bytes: Vec::new().into(), ..image.clone() };
    assert_eq!(taken.transcript.messages(), [Message::User { parts: vec![Part::Image(bare)] }]);
    assert_eq!(store.picture(&image.hash).unwrap(), image.bytes);
    std::fs::remove_dir_all(dir.path().join("blobs")).unwrap();
    assert!(store.picture(&image.hash).unwrap_err().to_string().contains(&image.hash));
}

#[test]
fn a_database_of_version_three_opens_with_its_scratchpads_and_their_sizes() {
    let dir = TempDir::new().unwrap();
    let (store, _) = SessionStore::open(dir.path()).unwrap();
    let open = store.create(Path::new("/w"), "t").unwrap();
    let id = open.id().clone();
    let pads = open.scratchpads().unwrap();
    for n in 0..40 {
        pads.put(&format!("pad-{n:02}"), ScratchpadEntry::Text("é".repeat(20_000 + n))).unwrap();
    }
    let sizes = pads.list();
    drop((open, pads, store));
    let old = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    old.execute_batch(
        "DROP INDEX scratchpad_by_name; DELETE FROM state WHERE key = 'pad:pad-07';
         ALTER TABLE entry DROP COLUMN format; PRAGMA user_version = 3;",
    )
    .unwrap();
    // Stopped in its middle, a step has not happened.
    old.execute_batch(
        "BEGIN IMMEDIATE; CREATE INDEX scratchpad_by_name ON scratchpad (session, name); ROLLBACK",
    )
    .unwrap();
    drop(old);
    let (store, notes) = SessionStore::open(dir.path()).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    let pads = store.resume(&id).unwrap().scratchpads().unwrap();
    assert_eq!(pads.list(), sizes, "one whose size was never kept is measured");
    assert_eq!(pads.get("pad-39").unwrap(), ScratchpadEntry::Text("é".repeat(20_039)));
    let now = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    let version: i64 = now.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let sql =
        "EXPLAIN QUERY PLAN SELECT name FROM scratchpad INDEXED BY scratchpad_by_name WHERE session = ?1";
    let plan: String = now.query_row(sql, [id.as_str()], |row| row.get(3)).unwrap();
    assert_eq!(
        (version, plan.as_str()),
        (5, "SEARCH scratchpad USING COVERING INDEX scratchpad_by_name (session=?)")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_taken_up_goes_on_and_goes_back_to_before_its_place() {
    let talk = Talk::new(Wire::Anthropic);
    let store = talk.store();
    let mut open = store.create(&talk.root, "a day").unwrap();
    let mut n = 0;
    for turns in [5, 5, 5] {
        for _ in 0..turns {
            open.append_all(turn(&mut n, 1, false)).unwrap();
        }
        let upto = store.load(open.id()).unwrap().transcript.len() - 8;
        summed_up(&mut open, upto);
    }
    let id = open.id().clone();
    drop(open);
    let mut agent = talk.take_up();
    assert_eq!((agent.transcript().begins(), agent.transcript().len()), (52, 60));
    talk.server.push(talk.wire.reply(&[Say::Text("here")]));
    assert_eq!(talk::turn(&mut agent, "are you there?", |_, _| {}).await, TurnEnding::Done);
    let sent = talk.server.requests().pop().unwrap().body.to_string();
    assert!(
        sent.contains("summed up; the person still has all of it]\\n52") && sent.contains("question 26"),
        "{sent}"
    );
    assert!(!sent.contains("question 24") && !sent.contains("question 0"), "{sent}");
    assert_eq!(
        (agent.transcript().begins(), agent.context_usage().summed_up),
        (52, 52),
        "a request reads nothing more"
    );
    let whole = store.load(&id).unwrap().transcript;
    assert_eq!(agent.transcript(), &whole);
    // Before the last two summaries: the one of that time holds again.
    agent.rewind(20).unwrap();
    assert_eq!(
        (agent.transcript().messages(), agent.context_usage().summed_up),
        (&whole.messages()[..20], 12)
    );
    drop(agent);
    assert_eq!(store.load(&id).unwrap().transcript.messages(), &whole.messages()[..20]);
    same(&store.load_for_resume(&id).unwrap(), &store.load(&id).unwrap());
    talk.is_lawful();
}
