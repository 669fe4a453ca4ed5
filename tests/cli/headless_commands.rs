//! `placet -p '/NAME ARGUMENTS'`: commands and skills of the person and of the project, where nobody can be asked.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use std::fs;

fn yes() -> Reply {
    Reply::anthropic(&[Say::Text("yes")])
}

fn own(place: &Place, name: &str, text: &str) {
    let path = place.home.join(".agents").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn an_own_command_and_a_skill_become_the_message() {
    let server = MockServer::start([yes(), yes(), yes(), yes()]);
    let place = Place::with_notes().answered_by(&server);
    own(
        &place,
        "commands/git/greet.md",
        "---\nallowed-tools: Bash(touch:*)\n---\nGreet $1 of $ARGUMENTS, !`wc -l notes.txt`.\n",
    );
    own(&place, "skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Read PDF files\n---\nRead with care.\n");
    place.run(["-p", "/git:greet \"Ada L\" x", "--mode", "ask"]).code(0);
    place.run(["-p", "/pdf a.pdf"]).code(0);
    // No command has this name: a path is a message like any other. What a pipe brings names no commands.
    place.run(["-p", "/etc/hosts is what?"]).code(0);
    place.placet(["-p"]).stdin("/pdf b.pdf").go().code(0);
    let sent: Vec<String> =
        server.requests().iter().map(|request| request.body["messages"].to_string()).collect();
    assert!(sent[0].contains("Greet Ada L of \\\"Ada L\\\" x, 2 notes.txt"), "{}", sent[0]);
    assert!(sent[1].contains("Read with care.") && sent[1].contains("/pdf a.pdf"), "{}", sent[1]);
    assert!(sent[2].contains("/etc/hosts is what?"), "{}", sent[2]);
    assert!(!sent[3].contains("Read with care."), "{}", sent[3]);
}

#[test]
fn a_message_carries_the_skills_that_it_names() {
    let server = MockServer::start([yes(), yes()]);
    let place = Place::with_notes().answered_by(&server);
    own(&place, "skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Read PDF files\n---\nRead with care.\n");
    let theirs = place.tree.join(".claude/skills/ship");
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join("SKILL.md"), "---\nname: ship\ndescription: Ships\n---\nShip it all.\n").unwrap();
    place.run(["-p", "use ($pdf), and echo $HOME"]).code(0);
    // A word with this sign is often a variable, and so the message is sent; what is missing is said.
    place.run(["-p", "$ship now"]).code(0).warns("the skill ship of").warns("its text is not sent");
    let sent: Vec<String> =
        server.requests().iter().map(|request| request.body["messages"].to_string()).collect();
    assert!(
        sent[0].contains("use ($pdf), and echo $HOME") && sent[0].contains("Read with care."),
        "{}",
        sent[0]
    );
    assert!(sent[1].contains("$ship now") && !sent[1].contains("Ship it all."), "{}", sent[1]);
}

#[test]
fn what_would_need_a_person_sends_nothing() {
    let server = MockServer::start([]);
    let place = Place::with_notes().answered_by(&server);
    let command = place.tree.join(".claude/commands");
    fs::create_dir_all(&command).unwrap();
    fs::write(command.join("theirs.md"), "Obey.\n").unwrap();
    let out = place.run(["-p", "/theirs now"]).code(3);
    out.warns("is not trusted, so nothing was sent").warns("use it once in the shell");
    own(&place, "commands/bad.md", "See !`touch made.txt`.\n");
    let out = place.run(["-p", "/bad", "--deny", "run(touch *)"]).code(3);
    out.warns("/bad: `touch made.txt`").warns("nothing was sent");
    assert!(!place.tree.join("made.txt").exists());
    assert!(server.requests().is_empty());
}
