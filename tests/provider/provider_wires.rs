//! Whole conversations over each of the four wire formats, with a server that refuses what real ones refuse.

use crate::support::fixture::PNG;
use crate::support::mock_server::Say;
use crate::support::talk::{ALL_WIRES, Talk, start, turn, unmarked};
use placet::agent::{TurnEnding, TurnStart};
use placet::conversation::{Image, Part};
use placet::permission::Mode;
use serde_json::Value;

#[tokio::test]
async fn a_turn_with_calls_is_held_over_every_wire() {
    for wire in ALL_WIRES {
        let talk = Talk::new(wire);
        talk.server.push(wire.reply(&[
            Say::Text("Two at once."),
            Say::Call("a", "probe", r#"{"name":"one","do":"done"}"#),
            Say::Call("b", "probe", r#"{"name":"two","do":"fail"}"#),
        ]));
        talk.server.push(wire.reply(&[Say::Text("There.")]));
        let mut agent = talk.begin();
        assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done, "{wire:?}");
        let mut ran = talk.ran();
        ran.sort();
        assert_eq!(ran, ["one", "two"], "{wire:?}");
        talk.is_lawful();
        let sent = talk.sent();
        assert_eq!(sent.len(), 2);
        let second = serde_json::to_string(&sent[1]).unwrap();
        assert!(second.contains("did one") && second.contains("cannot two"), "{wire:?}: {second}");
        assert_eq!(sent[1][..sent[0].len()], sent[0], "{wire:?}: the beginning stays as it was");
        drop(agent);
        talk.server.push(wire.reply(&[Say::Text("Yes.")]));
        let mut agent = talk.resume();
        assert_eq!(turn(&mut agent, "again", |_, _| {}).await, TurnEnding::Done, "{wire:?}");
        talk.is_lawful();
        let sent = talk.sent();
        assert_eq!(sent[2][..sent[1].len()], sent[1], "{wire:?}: resumed");
    }
}

/// What a vendor keeps in its cache is a beginning, byte for byte.
#[tokio::test]
async fn modes_files_and_a_resume_leave_the_beginning_of_a_request_as_it_was() {
    for wire in ALL_WIRES {
        let talk = Talk::native(wire);
        let mut agent = talk.begin();
        let picture = Image::new("image/png", 1, 1, "p.png", PNG.to_vec().into());
        for (n, mode) in
            [Mode::Read, Mode::Write, Mode::None, Mode::Unrestricted, Mode::Ask].into_iter().enumerate()
        {
            talk.mode.store(mode);
            talk.write("added.txt", format!("version {n}"));
            talk.server.push(wire.reply(&[Say::Call("c", "read_file", r#"{"path":"added.txt"}"#)]));
            talk.server.push(wire.reply(&[Say::Text("Seen.")]));
            let parts = vec![
                Part::text(format!("turn {n} @added.txt")),
                Part::text(format!("<file>version {n}</file>")),
                Part::Image(picture.clone()),
            ];
            assert_eq!(
                start(&mut agent, TurnStart::Say(parts), |_, _| {}).await,
                TurnEnding::Done,
                "{wire:?}"
            );
            if n == 2 {
                drop(agent);
                agent = talk.resume();
            }
        }
        talk.is_lawful();
        let bodies: Vec<Value> = talk.server.requests().into_iter().map(|r| unmarked(r.body)).collect();
        assert_eq!(bodies.len(), 10);
        for (k, pair) in bodies.windows(2).enumerate() {
            let [before, after] = pair else { unreachable!() };
            let bytes = |body: &Value| serde_json::to_string(body).unwrap();
            let (before, after) = (bytes(before), bytes(after));
            // Up to the end of the last message, which some wires go on with.
            let kept = before.trim_end_matches(['}', ']']);
            assert!(after.starts_with(kept), "{wire:?}, request {k}:\n{before}\n{after}");
        }
    }
}

#[tokio::test]
async fn what_stays_behind_when_another_model_goes_on_is_told() {
    use crate::support::mock_server::Reply;
    use crate::support::talk::Wire;
    let mut talk = Talk::new(Wire::Anthropic);
    let path = format!("{}/tests/fixtures/anthropic/thinking.sse", env!("CARGO_MANIFEST_DIR"));
    talk.server.push(Reply::sse(std::fs::read_to_string(path).unwrap()));
    let mut agent = talk.begin();
    let picture = Image::new("image/png", 1, 1, "p.png", PNG.to_vec().into());
    let parts = vec![Part::text("think"), Part::Image(picture)];
    assert_eq!(start(&mut agent, TurnStart::Say(parts), |_, _| {}).await, TurnEnding::Done);
    assert_eq!(agent.lost_on_switch(), None);
    let (provider, _) = talk.provider();
    agent.switch(provider, talk.figures.model("other"), 100);
    let reasoning = "the reasoning of 1 answer is not sent: only its own model can read it";
    assert_eq!(agent.lost_on_switch().as_deref(), Some(reasoning));
    drop(agent);
    talk.figures.vision = false;
    let store = talk.store();
    let loaded = store.load(&talk.last()).unwrap();
    let mut agent = talk.begin();
    assert_eq!(
        agent.resume(loaded).unwrap(),
        ["1 picture is not sent to mock-1, which does not accept pictures"]
    );
}
