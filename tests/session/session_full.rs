//! A full disk: what cannot be saved is told, nothing is half written, and the session goes on when there is room again.

use crate::support::mock_server::Say;
use crate::support::talk::{Talk, Wire, start, turn};
use placet::agent::{Agent, TurnEnding, TurnEvent, TurnStart};
use placet::conversation::{AssistantBlock, AssistantMessage, Message};
use placet::provider::ModelLimits;
use placet::session::{LoadedSession, ScratchpadEntry, SessionRecord};

/// From here on the database takes no such row, as it takes none when the disk is full.
fn fill(talk: &Talk, table: &str, when: &str) {
    let conn = rusqlite::Connection::open(talk.store().dir().join("placet.db")).unwrap();
    conn.execute_batch(&format!(
        "CREATE TRIGGER full BEFORE INSERT ON {table} WHEN {when}
         BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END"
    ))
    .unwrap();
}

fn make_room(talk: &Talk) {
    let conn = rusqlite::Connection::open(talk.store().dir().join("placet.db")).unwrap();
    conn.execute_batch("DROP TRIGGER full").unwrap();
}

fn stored(talk: &Talk) -> LoadedSession {
    let store = talk.store();
    let (loaded, taken) = (store.load(&talk.last()).unwrap(), store.load_for_resume(&talk.last()).unwrap());
    assert_eq!(loaded.transcript, taken.transcript);
    loaded
}

async fn said(agent: &mut Agent, text: &str) -> (TurnEnding, Vec<String>) {
    let mut notices = Vec::new();
    let ending = turn(agent, text, |event, _| {
        if let TurnEvent::Notice(text) = event {
            notices.push(text);
        }
    })
    .await;
    (ending, notices)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_found_no_room_are_written_before_the_next_one() {
    let input = r#"{"name":"p","do":"done","reach":"session"}"#;
    for when in ["NEW.body LIKE '%\"role\":\"user\"%'", "NEW.body LIKE '%\"role\":\"results\"%'", "1"] {
        let talk = Talk::new(Wire::Anthropic);
        let mut agent = talk.begin();
        talk.server.push(talk.wire.reply(&[Say::Text("hello")]));
        assert_eq!(said(&mut agent, "hi").await.0, TurnEnding::Done);
        fill(&talk, "entry", when);
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", input)]));
        let (ending, _) = said(&mut agent, "do it").await;
        assert!(
            matches!(&ending, TurnEnding::Unsaved(why) if why.contains("disk is full")),
            "{when}: {ending:?}"
        );
        let before = stored(&talk);
        let unanswered = before.repairs.len();
        assert!(before.transcript.len() - unanswered < agent.transcript().len(), "{when}");
        make_room(&talk);
        talk.server.push(talk.wire.reply(&[Say::Text("on")]));
        talk.server.push(talk.wire.reply(&[Say::Text("on")]));
        assert_eq!(said(&mut agent, "and on").await.0, TurnEnding::Done, "{when}");
        let after = stored(&talk);
        assert_eq!((&after.transcript, after.dropped), (agent.transcript(), Vec::new()), "{when}");
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cost_that_found_no_room_is_told_and_the_turn_goes_on() {
    let talk = Talk::new(Wire::Anthropic);
    let mut agent = talk.begin();
    for (full, count) in [(true, 0), (false, 1)] {
        if full {
            fill(&talk, "spent", "1");
        } else {
            make_room(&talk);
        }
        talk.server.push(talk.wire.reply(&[Say::Text("hello")]));
        let (ending, notices) = said(&mut agent, "hi").await;
        let told = "the cost of a request was not saved; later totals do not include it: ";
        assert_eq!(ending, TurnEnding::Done);
        assert_eq!(notices.iter().filter(|n| n.starts_with(told)).count(), 1 - count, "{notices:?}");
        let loaded = stored(&talk);
        // The row of the sums and the entry of the session go together.
        let rows: u64 = talk
            .store()
            .spent(placet::session::CostFilter::default())
            .unwrap()
            .iter()
            .map(|s| s.requests)
            .sum();
        assert_eq!((loaded.spent.len() as u64, rows), (count as u64, count as u64));
        assert_eq!(&loaded.transcript, agent.transcript());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_found_no_room_leaves_the_conversation_as_it_was() {
    let figures = ModelLimits { window: 20_000, max_output: 1_000, vision: true };
    let talk = Talk { figures, ..Talk::new(Wire::Anthropic) };
    let mut session = talk.store().create(&talk.root, "long").unwrap();
    for n in 0..20 {
        let blocks = vec![AssistantBlock::Text { text: "words of an answer ".repeat(60) }];
        let answer = Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() });
        let both = [Message::user(format!("question {n}")), answer];
        session.append_all(both.map(|message| SessionRecord::Message { message }).to_vec()).unwrap();
    }
    drop(session);
    let mut agent = talk.resume();
    fill(&talk, "entry", "NEW.body LIKE '{\"kind\":\"summed_up\"%'");
    let ask = || TurnStart::SumUp { focus: String::new() };
    talk.server.push(talk.wire.reply(&[Say::Text("in short")]));
    let ending = start(&mut agent, ask(), |_, _| {}).await;
    assert!(matches!(&ending, TurnEnding::Blocked { why, .. } if why.contains("disk is full")), "{ending:?}");
    assert_eq!((stored(&talk).summaries.len(), agent.context_usage().summed_up), (0, 0));
    make_room(&talk);
    talk.server.push(talk.wire.reply(&[Say::Text("in short")]));
    assert_eq!(start(&mut agent, ask(), |_, _| {}).await, TurnEnding::Done);
    let loaded = stored(&talk);
    assert_eq!((loaded.summaries.len(), loaded.dropped.len()), (1, 0));
    assert_eq!(loaded.summaries[0].upto, agent.context_usage().summed_up);
}

#[test]
fn a_scratchpad_that_found_no_room_is_the_one_it_was() {
    let talk = Talk::new(Wire::Anthropic);
    let session = talk.store().create(&talk.root, "t").unwrap();
    let pads = session.scratchpads().unwrap();
    let large = |c: &str| ScratchpadEntry::Text(c.repeat(100_000));
    pads.put("a", large("a")).unwrap();
    // The body goes in first: its size, which comes after it, is what finds no room.
    for (table, when) in [("scratchpad", "1"), ("state", "NEW.key LIKE 'pad:%'")] {
        fill(&talk, table, when);
        for name in ["a", "b"] {
            let why = pads.put(name, large("b")).unwrap_err().to_string();
            assert!(
                why.starts_with("the scratchpad could not be saved: ") && why.contains("disk is full"),
                "{why}"
            );
        }
        assert_eq!((pads.list(), pads.get("a").unwrap()), (vec![("a".into(), 100_000)], large("a")));
        assert_eq!(session.scratchpads().unwrap().list(), [("a".to_string(), 100_000)]);
        make_room(&talk);
    }
    pads.put("a", large("bb")).unwrap();
    pads.rename("a", "c").unwrap();
    let again = session.scratchpads().unwrap();
    assert_eq!((again.list(), again.get("c").unwrap()), (vec![("c".into(), 200_000)], large("bb")));
    assert_eq!((pads.list(), pads.get("c").unwrap()), (again.list(), large("bb")));
}
