//! Whole conversations over each of the four wire formats, with a server that refuses what real ones refuse.

use crate::support::mock_server::Say;
use crate::support::talk::{ALL_WIRES, Talk, turn};
use placet::agent::Ending;

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
        assert_eq!(turn(&mut agent, "go", |_, _| {}).await, Ending::Done, "{wire:?}");
        assert_eq!(talk.ran(), ["one", "two"], "{wire:?}");
        talk.is_lawful();
        let sent = talk.sent();
        assert_eq!(sent.len(), 2);
        let second = serde_json::to_string(&sent[1]).unwrap();
        assert!(second.contains("did one") && second.contains("cannot two"), "{wire:?}: {second}");
        assert_eq!(sent[1][..sent[0].len()], sent[0], "{wire:?}: the beginning stays as it was");
        drop(agent);
        talk.server.push(wire.reply(&[Say::Text("Yes.")]));
        let mut agent = talk.resume();
        assert_eq!(turn(&mut agent, "again", |_, _| {}).await, Ending::Done, "{wire:?}");
        talk.is_lawful();
        let sent = talk.sent();
        assert_eq!(sent[2][..sent[1].len()], sent[1], "{wire:?}: resumed");
    }
}
