//! Branches of a session, forks, titles and pins: nothing that was said is lost by going back.

use crate::support::binary::Place;
use crate::support::mock_server::Say;
use crate::support::pty::shell;
use crate::support::sessions::store;
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{Agent, TurnEnding};
use placet::conversation::{ConversationSummary, Message, Note, Part};
use placet::permission::Mode;
use placet::session::{
    BranchPosition, BranchTree, ScratchpadEntry, SessionBranch, SessionPin, SessionRecord, SessionStateKey,
};
use std::path::Path;
use tempfile::TempDir;

async fn say(talk: &Talk, agent: &mut Agent, text: &str) {
    talk.server.push(talk.wire.reply(&[Say::Text(&format!("answer to {text}"))]));
    assert_eq!(turn(agent, text, |_, _| {}).await, TurnEnding::Done);
}

fn words(messages: &[Message]) -> Vec<String> {
    let said = messages.iter().filter_map(|m| match m {
        Message::User { parts } => parts.iter().find_map(Part::as_text).map(String::from),
        _ => None,
    });
    said.collect()
}

/// Number, depth, turns before it, own turns, first words, where one is.
fn drawn(tree: &BranchTree) -> Vec<(usize, usize, usize, usize, String, Option<BranchPosition>)> {
    let row = |b: &SessionBranch| {
        let said = b.said.iter().find_map(Part::as_text).unwrap_or_default().to_string();
        (b.number, b.depth, b.after, b.turns, said, b.here)
    };
    tree.branches.iter().map(row).collect()
}

#[tokio::test]
async fn what_a_rewind_leaves_is_a_branch_that_can_be_gone_to_and_comes_back_after_a_resume() {
    let talk = Talk::new(Wire::Anthropic);
    let mut agent = talk.begin();
    for text in ["one", "two", "three"] {
        say(&talk, &mut agent, text).await;
    }
    agent.rewind(2).unwrap();
    let tree = talk.store().tree(&talk.last()).unwrap();
    assert_eq!(drawn(&tree), [(1, 0, 0, 3, "one".into(), Some(BranchPosition::After(1)))]);
    say(&talk, &mut agent, "other").await;
    agent.rewind(0).unwrap();
    say(&talk, &mut agent, "anew").await;
    let expected = |here: [Option<BranchPosition>; 3]| {
        [
            (1, 0, 0, 3, "one".to_string(), here[0]),
            (2, 1, 1, 1, "other".to_string(), here[1]),
            (3, 0, 0, 1, "anew".to_string(), here[2]),
        ]
    };
    let tree = talk.store().tree(&talk.last()).unwrap();
    assert_eq!(drawn(&tree), expected([None, None, Some(BranchPosition::AtItsEnd)]));
    agent.go_to(tree.branches[0].tip).unwrap();
    assert_eq!(words(agent.transcript().messages()), ["one", "two", "three"]);
    say(&talk, &mut agent, "four").await;
    agent.go_to(tree.branches[1].tip).unwrap();
    assert_eq!(words(agent.transcript().messages()), ["one", "other"]);
    drop(agent);
    let mut agent = talk.resume();
    assert_eq!(words(agent.transcript().messages()), ["one", "other"]);
    say(&talk, &mut agent, "more").await;
    talk.is_lawful();
    let sent = serde_json::to_string(&talk.sent().pop().unwrap()).unwrap();
    assert!(sent.contains("answer to other") && !sent.contains("three") && !sent.contains("anew"), "{sent}");
    let tree = talk.store().tree(&talk.last()).unwrap();
    assert_eq!(tree.branches[0].turns, 4, "what was said in a branch that was gone to goes on in it");
    assert_eq!(tree.branches[1].here, Some(BranchPosition::AtItsEnd));
}

#[test]
fn summaries_belong_to_their_branch() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let mut open = store.create(Path::new("/w"), "t").unwrap();
    let id = open.id().clone();
    let said = |text: &str| SessionRecord::Message { message: Message::user(text) };
    let summary =
        |upto, note: &str| ConversationSummary { upto, notes: vec![Note::Summary { text: note.into() }] };
    let summed = |upto, note: &str| SessionRecord::SummedUp { summary: summary(upto, note) };
    for record in [said("1"), said("2"), summed(1, "early"), said("3"), summed(2, "late")] {
        open.append(record).unwrap();
    }
    open.append(SessionRecord::Rewound { messages: 1 }).unwrap();
    assert_eq!(store.load(&id).unwrap().summaries, [summary(1, "early")]);
    open.append(said("else")).unwrap();
    open.append(summed(2, "other")).unwrap();
    let tip = store.tree(&id).unwrap().branches[0].tip;
    open.append(SessionRecord::Switched { entry: tip }).unwrap();
    let loaded = store.load(&id).unwrap();
    assert_eq!(words(loaded.transcript.messages()), ["1", "2", "3"]);
    assert_eq!(loaded.summaries, [summary(1, "early"), summary(2, "late")]);
    open.append(SessionRecord::Switched { entry: 99 }).unwrap();
    let loaded = store.load(&id).unwrap();
    assert_eq!(words(loaded.transcript.messages()), ["1", "2", "3"]);
    assert_eq!(loaded.dropped.len(), 1, "{:?}", loaded.dropped);
}

#[test]
fn a_fork_holds_what_came_before_and_is_a_session_of_its_own() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let mut open = store.create(Path::new("/w"), "first").unwrap();
    for text in ["1", "2", "3"] {
        open.append(SessionRecord::Message { message: Message::user(text) }).unwrap();
    }
    open.set(SessionStateKey::Taint, "CONFIDENTIAL").unwrap();
    open.set(SessionStateKey::Ledger, "seen").unwrap();
    open.scratchpads().unwrap().put("notes", ScratchpadEntry::Text("milk".into())).unwrap();
    let from = store.find(open.id().as_str()).unwrap();
    let whole = store.fork(&from, 3, Path::new("/elsewhere")).unwrap();
    let part = store.fork(&from, 2, Path::new("/w")).unwrap();
    open.append(SessionRecord::Message { message: Message::user("4") }).unwrap();
    let of = |id| words(store.load(id).unwrap().transcript.messages());
    assert_eq!(
        (of(&from.id), of(&whole), of(&part)),
        (
            ["1", "2", "3", "4"].map(String::from).to_vec(),
            ["1", "2", "3"].map(String::from).to_vec(),
            ["1", "2"].map(String::from).to_vec()
        )
    );
    let fork = store.resume(&part).unwrap();
    assert_eq!(
        fork.state(SessionStateKey::Taint).unwrap().as_deref(),
        Some("CONFIDENTIAL"),
        "what was seen stays seen"
    );
    assert_eq!(fork.state(SessionStateKey::Ledger).unwrap(), None, "a part has not seen what the whole had");
    assert_eq!(
        store.resume(&whole).unwrap().state(SessionStateKey::Ledger).unwrap().as_deref(),
        Some("seen")
    );
    assert_eq!(fork.scratchpads().unwrap().get("notes").unwrap(), ScratchpadEntry::Text("milk".into()));
    let row = store.find(whole.as_str()).unwrap();
    assert_eq!((row.title.as_str(), row.cwd.as_path(), row.entries), ("first", Path::new("/elsewhere"), 3));
}

#[test]
fn pinned_sessions_come_first_and_titles_and_summaries_are_found() {
    let dir = TempDir::new().unwrap();
    let store = store(&dir);
    let mut ids = Vec::new();
    for title in ["old", "middle", "new"] {
        let mut open = store.create(Path::new("/w"), title).unwrap();
        open.append(SessionRecord::Message { message: Message::user(format!("about {title} things")) })
            .unwrap();
        ids.push(open.id().clone());
    }
    store.pin(&ids[0], SessionPin::On).unwrap();
    let titles = || store.list(10).unwrap().into_iter().map(|r| r.title).collect::<Vec<_>>();
    assert_eq!(titles()[0], "old");
    assert!(store.list(1).unwrap()[0].pinned);
    store.pin(&ids[0], SessionPin::Off).unwrap();
    assert_ne!(titles()[0], "old");
    store.rename(&ids[1], "Zebra crossing").unwrap();
    let hits = store.search("ZEBRA cross", 10).unwrap();
    assert_eq!((hits.len(), hits[0].session.as_str()), (1, ids[1].as_str()));
    assert_eq!(hits[0].marked("«", "»"), "«Zebra» «cross»ing");
    let summary = ConversationSummary {
        upto: 1,
        notes: vec![Note::Summary { text: "they talked of giraffes".into() }],
    };
    store.resume(&ids[2]).unwrap().append(SessionRecord::SummedUp { summary }).unwrap();
    let hits = store.search("giraffe", 10).unwrap();
    assert_eq!((hits.len(), hits[0].session.as_str()), (1, ids[2].as_str()));
    assert_eq!(hits[0].marked("[", "]"), "they talked of [giraffe]s");
}

#[test]
fn sessions_are_named_and_pinned_from_the_command_line() {
    let place = Place::new().file("notes.txt", "one\ntwo\n");
    for prompt in ["show notes.txt", "list"] {
        place.run(["-p", prompt]).code(0);
    }
    let rows = place.run(["session", "list", "--json"]).code(0).json();
    let first = rows[1]["id"].as_str().unwrap();
    place.run(["session", "rename", first, "the", "\u{1b}[31mplan"]).code(0).warns("to: the ␛[31mplan");
    place.run(["session", "rename", first, " "]).code(2).warns("the title is empty");
    place.run(["session", "pin", first]).code(0).warns("is pinned");
    let list = place.run(["session", "list"]).code(0).stdout;
    assert!(list.lines().next().unwrap().contains("  pinned: the ␛[31mplan  "), "{list}");
    place.run(["session", "search", "TWO"]).code(0).says("«two»");
    place.run(["session", "unpin", first]).code(0).warns("not pinned any more");
    assert!(!place.run(["session", "list"]).code(0).stdout.contains("pinned"));
}

#[test]
fn in_the_shell_a_branch_is_left_listed_and_gone_back_to() {
    let mut pty =
        shell().arg("--linear").arg("--mode").arg(Mode::Read.name()).file("a.txt", "alpha\n").open();
    let ended = |turns: usize| move |s: &str| s.matches("done: the turn").count() == turns;
    for (turn, line) in ["show a.txt", "save that as kept"].into_iter().enumerate() {
        pty.line(line);
        pty.until(line, ended(turn + 1));
        pty.until_prompt("");
    }
    pty.line("/rewind 1 conversation");
    pty.until("the way back", |s| s.contains("rewound to before"));
    pty.until_prompt("");
    pty.line("list");
    pty.until("the other way", ended(3));
    pty.until_prompt("");
    pty.line("/tree");
    pty.until("the branches", |s| {
        s.contains("  1  show a.txt  (2 turns") && s.contains("*   2    list  (1 turn after turn 1")
    });
    pty.line("/tree 1");
    pty.until("the branch", |s| s.contains("at the end of branch 1; no file was changed"));
    pty.line("/tree 7");
    pty.until("no such branch", |s| s.contains("no branch 7"));
    pty.line("/title the long way");
    pty.until("the title", |s| s.contains("renamed this conversation to: the long way"));
    pty.line("/fork 1");
    pty.until("the fork", |s| s.contains("the earlier session is unchanged"));
    pty.line("/tree");
    pty.until("its own branch", |s| s.contains("*   1  show a.txt  (1 turn,"));
    pty.line("/search long way");
    pty.until("the title is found", |s| s.contains("the «long» «way»"));
}

#[test]
fn on_a_screen_branches_and_hits_are_chosen_from_lists() {
    let mut pty = shell().file("a.txt", "alpha\n").open();
    for (line, wait) in
        [("show a.txt", "alpha"), ("list", "list_directory"), ("/rewind 1 conversation", "rewound to before")]
    {
        pty.line(line);
        pty.until(line, |s| s.contains(wait));
        pty.until_prompt("");
    }
    pty.line("save that as kept");
    pty.until("the other way", |s| s.contains("wrote the scratchpad"));
    pty.until_prompt("");
    pty.line("/tree");
    pty.until("the list", |s| {
        s.contains("Branches") && s.contains("save that as kept  (1 turn after turn 1")
    });
    pty.send("show\r");
    pty.until("the branch", |s| s.contains("at the end of branch 1"));
    pty.until_prompt("");
    pty.line("/new");
    pty.until("another conversation", |s| s.contains("started a new conversation"));
    pty.until_prompt("");
    pty.line("/search ALPHA");
    pty.until("the hits", |s| s.contains("Found") && s.contains("«alpha»"));
    pty.send("\r");
    pty.until("the session", |s| s.contains("resumed"));
    pty.until_prompt("");
    pty.line("/search alpha");
    pty.until("the hits again", |s| s.contains("Found"));
    pty.send("\r");
    pty.until("already there", |s| s.contains("this is the current conversation"));
}

#[test]
fn the_same_words_after_a_rewind_are_a_turn_of_their_own_to_undo() {
    use crate::support::den::sandbox_or_skip;
    if !sandbox_or_skip(placet::sandbox::SandboxBackend::Overlay) {
        return;
    }
    let mut pty = shell().arg("--mode").arg("write").open();
    for turn in 1..=2 {
        pty.line("run echo x >> log; ls");
        pty.until("its effect", |_| pty.exists("log") && pty.read("log") == "x\n".repeat(turn));
        pty.until_prompt("");
        if turn == 1 {
            pty.line("/rewind 1 conversation");
            pty.until("the way back", |s| s.contains("rewound to before that turn"));
            pty.until_prompt("");
        }
    }
    pty.line("/undo");
    pty.until("the way back", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("log"), "x\n", "only the newer one of the two");
    pty.line("/undo");
    pty.until_prompt("");
    pty.until("the other one", |_| !pty.exists("log"));
}

/// What waited for the person when a session was left, and was applied after a resume or by `placet apply`, belongs to
/// the turn that made it.
#[test]
fn what_is_applied_after_a_resume_goes_back_with_the_turn_that_made_it() {
    use crate::support::den::sandbox_or_skip;
    if !sandbox_or_skip(placet::sandbox::SandboxBackend::Overlay) {
        return;
    }
    let ask = || shell().arg("--mode").arg("ask");
    let mut pty = ask().open();
    for (turn, file) in ["one", "two"].into_iter().enumerate() {
        pty.line(&format!("run echo {file} > {file}.txt"));
        pty.until("the question", |s| s.contains("lines: apply?"));
        pty.answer("k");
        pty.until("the prompt", |s| s.contains(&format!("placet [a] ±{} >", turn + 1)));
    }
    let mut resumed = ask().arg("--continue").after(pty).open();
    resumed.line("/apply one.txt");
    resumed.until("the apply", |s| s.contains("applied changes to 1 file"));
    let mut outside = shell().arg("apply").arg("--yes").after(resumed).spawn();
    assert_eq!(outside.ended(), 0);
    let mut pty = ask().arg("--continue").after(outside).open();
    assert!(pty.exists("one.txt") && pty.exists("two.txt"));
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("run echo two > two.txt") && s.contains("run echo one > one.txt"));
    assert_eq!(pty.screen().matches("1 file +1 -0  just now").count(), 2, "{}", pty.screen());
    pty.send("\x1b");
    pty.until_prompt("");
    pty.line("/rewind 1 files");
    pty.until("the newer turn", |_| !pty.exists("two.txt"));
    assert!(pty.exists("one.txt"), "it belongs to the previous turn");
    pty.line("/rewind 2 both");
    pty.until("the way back", |s| s.contains("the conversation is rewound to before that turn"));
    assert!(!pty.exists("one.txt"));
}
