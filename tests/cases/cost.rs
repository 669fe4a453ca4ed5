//! What requests cost is kept with them, summed up, and held to a budget.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{Budget, Ending, Event};
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
        .warns("--since 7d, --since 12h or --since 2026-11-01");
}

#[test]
fn a_price_that_is_not_known_is_said_to_be_unknown() {
    let server = MockServer::start([Reply::anthropic(&[Say::Text("one")])]);
    let place = place(&server, "");
    place.run(["-p", "hello"]).code(0);
    let text = place.run(["usage"]).code(0);
    assert!(text.stdout.contains("price not known"), "{}", text.stdout);
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
    place.run(["-p", "x", "--set", "budget.day=lots"]).code(2).warns("`lots` is no amount of dollars");
    let day = place.run(["-p", "hello", "--set", "budget.day=0.0001"]);
    assert!(day.stderr.contains("for this day is used up"), "{}", day.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_may_go_on_for_as_much_again_or_stop() {
    for (key, done) in [('g', true), ('s', false)] {
        let budget = Budget { session: Some(Money::from_micros(1)), day: None };
        let named = ("anthropic", "claude-sonnet-4-5");
        let talk = Talk { budget, named, ..Talk::new(Wire::Anthropic) };
        let mut agent = talk.begin();
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", r#"{"name":"p"}"#)]));
        talk.server.push(talk.wire.reply(&[Say::Text("on")]));
        let mut asked = 0;
        let ending = turn(&mut agent, "hello", |event, _| {
            if let Event::Choice(question) = event {
                asked += 1;
                assert!(question.title.contains("used up"), "{}", question.title);
                question.reply.send(key).unwrap();
            }
        })
        .await;
        assert_eq!(asked, 1);
        assert_eq!(matches!(ending, Ending::Done), done, "{ending:?}");
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
    let (store, notes) = placet::session::Store::open(dir.path()).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    let spent = store.spent(placet::session::Within::default()).unwrap();
    assert_eq!(spent.len(), 1);
    assert_eq!((spent[0].usage.input, spent[0].usage.output, spent[0].unpriced), (7, 9, 1));
}
