//! What requests cost is kept with them, summed up, and held to a budget.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say, anthropic_events, openai_events};
use crate::support::talk::{Talk, Wire, start, turn};
use placet::agent::{Agent, CostBudget, TurnEnding, TurnEvent, TurnStart};
use placet::conversation::TokenUsage;
use placet::provider::catalog::Money;
use serde_json::json;

/// The mock counts 10 tokens in and 20 out: 130 millionths of a dollar at these prices.
const PRICES: &str = "[mock.\"mock-1\"]\nprice = { input = 3, output = 5 }\n";

fn place(server: &MockServer, prices: &str) -> Place {
    let place = Place::new().answered_by(server);
    std::fs::write(place.config_dir().join("models.toml"), prices).unwrap();
    place
}

#[test]
fn what_was_spent_is_told_by_day_and_model_and_outlives_its_session() {
    let server =
        MockServer::start([Reply::anthropic(&[Say::Text("one")]), Reply::anthropic(&[Say::Text("two")])]);
    let place = place(&server, PRICES);
    place.run(["-p", "hello"]).code(0);
    place.run(["-p", "again"]).code(0);
    let usage = place.run(["usage", "--json"]).code(0).json();
    let days = usage["days"].as_array().unwrap();
    assert_eq!(days.len(), 1, "{usage}");
    assert_eq!((&days[0]["provider"], &days[0]["model"]), (&json!("mock"), &json!("mock-1")));
    assert_eq!((&days[0]["requests"], &days[0]["cost_micros"]), (&json!(2), &json!(260)));
    assert_eq!(usage["total"]["usage"]["output"], json!(40));
    let text = place.run(["usage", "--since", "7d"]).code(0);
    assert!(text.stdout.contains("total: 2 requests, 20 in, 40 out, $0.0003"), "{}", text.stdout);
    let id = place.run(["session", "list", "--json"]).code(0).json()[0]["id"].as_str().unwrap().to_string();
    place.run(["session", "delete", &id, "--yes"]);
    assert_eq!(place.run(["usage", "--json"]).json()["total"]["requests"], json!(2));
    place
        .run(["usage", "--since", "yesterday"])
        .code(2)
        .warns("use --since 7d, --since 12h or --since 2026-11-01");
}

#[test]
fn a_price_that_is_not_known_is_said_to_be_unknown() {
    let server = MockServer::start([Reply::anthropic(&[Say::Text("one")])]);
    let place = place(&server, "");
    place.run(["-p", "hello"]).code(0);
    let text = place.run(["usage"]).code(0);
    assert!(text.stdout.contains("price unknown"), "{}", text.stdout);
    assert_eq!(place.run(["usage", "--json"]).json()["total"]["cost_micros"], json!(null));
}

#[test]
fn a_budget_ends_the_turn_where_nobody_can_be_asked() {
    let server = MockServer::start([
        Reply::anthropic(&[Say::Call("c1", "list_directory", "{}")]),
        Reply::anthropic(&[Say::Text("never asked for")]),
    ]);
    let place = place(&server, PRICES);
    let done = place.run(["-p", "hello", "--set", "budget.session=0.0001"]);
    assert_ne!(done.code, 0);
    let said = "the budget of $0.0001 for this session is used up: $0.0001";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    assert_eq!(server.requests().len(), 1);
    place
        .run(["-p", "x", "--set", "budget.day=lots"])
        .code(2)
        .warns("invalid amount `lots`: expected dollars, such as 5.00");
    let day = place.run(["-p", "hello", "--set", "budget.day=0.0001"]);
    assert!(day.stderr.contains("for this day is used up"), "{}", day.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_may_go_on_for_as_much_again_or_stop() {
    for (key, done) in [('g', true), ('s', false)] {
        let budget = CostBudget { session: Some(Money::from_micros(1)), day: None };
        let named = ("anthropic", "claude-sonnet-4-5");
        let talk = Talk { budget, named, ..Talk::new(Wire::Anthropic) };
        let mut agent = talk.begin();
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", r#"{"name":"p"}"#)]));
        talk.server.push(talk.wire.reply(&[Say::Text("on")]));
        let mut asked = 0;
        let ending = turn(&mut agent, "hello", |event, _| {
            if let TurnEvent::Choice(question) = event {
                asked += 1;
                assert!(question.title.contains("used up"), "{}", question.title);
                question.reply.send(key).unwrap();
            }
        })
        .await;
        assert_eq!(asked, 1);
        assert_eq!(matches!(ending, TurnEnding::Done), done, "{ending:?}");
        assert_eq!(talk.server.requests().len(), if done { 2 } else { 1 });
    }
}

#[test]
fn a_database_from_before_keeps_what_it_knew_of_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("placet.db")).unwrap();
    // The first format, as it was written then.
    conn.execute_batch(
        r#"CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT NOT NULL, cwd TEXT NOT NULL,
            created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;
        CREATE INDEX session_by_age ON session (updated);
        CREATE TABLE entry (session TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY (session, seq)) STRICT, WITHOUT ROWID;
        CREATE TABLE state (session TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (session, key)) STRICT, WITHOUT ROWID;
        CREATE TABLE scratchpad (session TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,
            PRIMARY KEY (session, name)) STRICT, WITHOUT ROWID;
        CREATE TABLE history (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, cwd TEXT NOT NULL, line TEXT NOT NULL) STRICT;
        CREATE VIRTUAL TABLE said USING fts5(text, session UNINDEXED, seq UNINDEXED, tokenize = 'trigram');
        PRAGMA user_version = 1;
        INSERT INTO session VALUES ('s1', 'old', '/w', 1, 1);
        INSERT INTO entry VALUES ('s1', 1, 1700000000000, '{"kind":"cost","model":"m","usage":{"input":7,"output":9}}');
        INSERT INTO entry VALUES ('s1', 2, 1700000000000, '{"kind":"rewound","messages":0}');"#,
    )
    .unwrap();
    drop(conn);
    let (store, notes) = placet::session::SessionStore::open(dir.path()).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    let spent = store.spent(placet::session::CostFilter::default()).unwrap();
    assert_eq!(spent.len(), 1);
    assert_eq!((spent[0].usage.input, spent[0].usage.output, spent[0].unpriced), (7, 9, 1));
}

/// An answer of the Messages API whose request is counted as `usage` in its first event.
fn counted(said: &str, usage: &str) -> Vec<String> {
    let mut events = anthropic_events(&[Say::Text(said)]);
    events[0] = events[0].replace("\"input_tokens\":10", usage);
    events
}

#[test]
fn an_answer_that_breaks_off_is_paid_for_as_far_as_it_was_counted() {
    let cut = counted("half of it", "\"input_tokens\":10000")[..3].concat();
    let server = MockServer::start([
        Reply::stream().write(cut).reset(),
        Reply::anthropic(&[Say::Text("and the rest")]),
    ]);
    let place = place(&server, PRICES);
    place.run(["-p", "hello"]).code(0);
    assert_eq!(server.requests().len(), 2);
    let usage = place.run(["usage", "--json"]).code(0).json();
    let total = &usage["total"];
    assert_eq!((&total["requests"], &total["usage"]["input"]), (&json!(2), &json!(10_010)), "{usage}");
    // Three millionths for each token in, five for each out: of the first answer one was counted.
    assert_eq!(total["cost_micros"], json!(30_030 + 5 * 21), "{usage}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_stopped_is_paid_for_and_one_that_never_began_is_not() {
    let talk = priced(None);
    let cut = counted("half of it", "\"input_tokens\":10000")[..3].concat();
    talk.server.push(Reply::stream().write(cut).stall());
    let mut agent = talk.begin();
    let stop_at_text = |event: TurnEvent, stop: &tokio_util::sync::CancellationToken| {
        if let TurnEvent::Text(_) = event {
            stop.cancel();
        }
    };
    assert_eq!(turn(&mut agent, "hello", stop_at_text).await, TurnEnding::Interrupted);
    let cost =
        |agent: &Agent| (agent.costs().0.requests, agent.costs().0.usage.input, agent.costs().0.unpriced);
    assert_eq!(cost(&agent), (1, 10_000, 0));
    talk.server.push(Reply::error(401, "authentication_error", "no"));
    assert!(matches!(turn(&mut agent, "again", |_, _| {}).await, TurnEnding::Failed(_)));
    assert_eq!(cost(&agent), (1, 10_000, 0), "what was refused costs nothing");
    drop(agent);
    assert_eq!(cost(&talk.resume()), (1, 10_000, 0));
}

/// A model whose prices are known: one request of the mock's comes to 330 millionths of a dollar.
fn priced(session: Option<u64>) -> Talk {
    let budget = CostBudget { session: session.map(Money::from_micros), day: None };
    Talk { budget, named: ("anthropic", "claude-sonnet-4-5"), ..Talk::native(Wire::Anthropic) }
}

/// Answers questions about the budget with `key`, and counts them.
fn answering(
    key: char,
    asked: &mut Vec<String>,
) -> impl FnMut(TurnEvent, &tokio_util::sync::CancellationToken) {
    move |event, _| {
        if let TurnEvent::Choice(question) = event {
            asked.push(question.title);
            question.reply.send(key).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_counts_nothing_leaves_the_price_unknown() {
    let talk = Talk { wire: Wire::OpenAi, ..priced(Some(1_000_000)) };
    let uncounted = || {
        let events = openai_events(&[Say::Text("hi")]);
        Reply::sse(events.into_iter().filter(|event| !event.contains("usage")).collect::<String>())
    };
    let mut agent = talk.begin();
    let mut notices = Vec::new();
    for _ in 0..3 {
        talk.server.push(uncounted());
        let hear = |event: TurnEvent, _: &tokio_util::sync::CancellationToken| {
            if let TurnEvent::Notice(text) = event {
                notices.push(text);
            }
        };
        assert_eq!(turn(&mut agent, "hello", hear).await, TurnEnding::Done);
    }
    let (spent, _) = agent.costs();
    assert_eq!((spent.requests, spent.unpriced, spent.picos), (3, 3, 0));
    assert_eq!(placet::repl::priced(spent), "price unknown");
    let said =
        "anthropic did not report the tokens of an answer: its cost does not count towards your budget";
    assert_eq!(notices.iter().filter(|n| *n == said).count(), 1, "{notices:?}");
}

fn is_child(body: &serde_json::Value) -> bool {
    body.to_string().contains("You are a sub-agent")
}

/// The parent sends `children`; each of them looks around for ever.
fn tireless(talk: &Talk, children: usize) {
    let wire = talk.wire;
    talk.server.judged_by(move |body| {
        let looks = |n: usize| format!(r#"{{"path":".","depth":{n}}}"#);
        let messages = body["messages"].as_array().unwrap().len();
        Some(match is_child(body) {
            true => wire.reply(&[Say::Call("l", "list_directory", &looks(messages))]),
            false => {
                let ids: Vec<String> = (0..children).map(|n| format!("a{n}")).collect();
                let calls: Vec<Say> =
                    ids.iter().map(|id| Say::Call(id, "agent", r#"{"task":"look around"}"#)).collect();
                wire.reply(&calls)
            }
        })
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_of_a_day_stops_a_sub_agent_and_the_person_is_asked_once() {
    let talk =
        Talk { budget: CostBudget { session: None, day: Some(Money::from_micros(600)) }, ..priced(None) };
    tireless(&talk, 1);
    let mut agent = talk.begin();
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "send one", answering('s', &mut asked)).await;
    assert!(matches!(ending, TurnEnding::OverBudget { .. }), "{ending:?}");
    assert_eq!(asked, ["The budget of $0.0006 for this day is used up: $0.0007. Continue?"]);
    assert_eq!(talk.server.requests().len(), 2, "one of the parent, one of the child");
    assert_eq!(agent.costs().0.requests, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sub_agents_that_work_side_by_side_share_one_budget() {
    let talk = priced(Some(1_000));
    tireless(&talk, 2);
    let mut agent = talk.begin();
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "send two", answering('s', &mut asked)).await;
    assert!(matches!(ending, TurnEnding::OverBudget { .. }), "{ending:?}");
    assert_eq!(asked.len(), 1, "{asked:?}");
    // Four requests go over it; a fifth may have been on its way.
    let sent = talk.server.requests().len();
    assert!((4..=5).contains(&sent), "{sent}");
    let (spent, _) = agent.costs();
    assert_eq!((spent.requests, spent.picos), (sent as u64, sent as u64 * 330_000_000));
    drop(agent);
    // What was spent counts when the session is taken up again.
    let mut agent = talk.resume();
    assert_eq!(agent.costs().0.picos, sent as u64 * 330_000_000);
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "again", answering('s', &mut asked)).await;
    assert!(matches!(ending, TurnEnding::OverBudget { .. }), "{ending:?}");
    assert_eq!((asked.len(), talk.server.requests().len()), (1, sent));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sums_hold_to_the_token_with_the_cache_and_a_new_session_begins_at_nothing() {
    let talk = priced(None);
    let usage = r#""cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"input_tokens":10"#;
    let mut agent = talk.begin();
    for _ in 0..3 {
        talk.server.push(Reply::sse(counted("hi", usage).concat()));
        assert_eq!(turn(&mut agent, "hello", |_, _| {}).await, TurnEnding::Done);
    }
    let sum = TokenUsage { input: 30, output: 60, cache_read: 3_000, cache_write: 600, reasoning: 0 };
    // In millionths of a dollar for each token: 3 in, 15 out, 0.3 from the cache, 3.75 into it.
    let picos = 30 * 3_000_000 + 60 * 15_000_000 + 3_000 * 300_000 + 600 * 3_750_000;
    let told = |agent: &Agent| (agent.costs().0.requests, agent.costs().0.usage, agent.costs().0.picos);
    assert_eq!(told(&agent), (3, sum, picos));
    drop(agent);
    assert_eq!(told(&talk.resume()), (3, sum, picos));
    let kept = talk.store().spent(placet::session::CostFilter::default()).unwrap();
    assert_eq!((kept.len(), kept[0].requests, kept[0].usage, kept[0].picos), (1, 3, sum, picos));
    assert_eq!(told(&talk.begin()), (0, TokenUsage::default(), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn summing_up_is_held_to_the_budget_too() {
    let talk = priced(Some(300));
    let mut agent = talk.begin();
    for text in ["one ", "two "] {
        talk.server.push(Reply::anthropic(&[Say::Text(&text.repeat(2_000))]));
        let mut asked = Vec::new();
        assert_eq!(turn(&mut agent, &text.repeat(2_000), answering('g', &mut asked)).await, TurnEnding::Done);
    }
    let mut asked = Vec::new();
    let sum_up = TurnStart::SumUp { focus: String::new() };
    let ending = start(&mut agent, sum_up, answering('s', &mut asked)).await;
    assert!(matches!(ending, TurnEnding::OverBudget { .. }), "{ending:?}");
    assert_eq!((asked.len(), talk.server.requests().len()), (1, 2));
}
