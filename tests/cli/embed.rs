//! The public API, as a program uses that embeds placet: nothing here reaches into a module.

use crate::support::den::sandbox_or_skip;
use crate::support::program;
use placet::{
    Applied, CallOutcome, ChangeChoice, ChangeKind, ChangesOutcome, CommandRunner, EndReason, Error, Event,
    FileState, Loss, Mode, PendingClass, Question, RunningTurn, Session, SessionBuilder, TurnOutcome,
};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A project and a home of its own, in a temporary directory.
struct Place {
    dir: TempDir,
    project: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let project = fs::canonicalize(dir.path()).unwrap().join("project");
        fs::create_dir(&project).unwrap();
        Place { dir, project }
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.project.join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.project.join(name)).ok()
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn builder(&self) -> SessionBuilder {
        Session::builder(&self.project)
            .home(self.home())
            .without_settings_files()
            .provider("offline")
            .mode(Mode::Ask)
            .commands(CommandRunner::Nobody)
    }

    fn session(&self) -> Session {
        self.builder().start().unwrap()
    }

    /// With commands, in the sandbox.
    fn with_commands(&self) -> SessionBuilder {
        self.builder().commands(CommandRunner::Placet(program::placet().into())).allow("run_command")
    }
}

/// Reads a turn to its end and hands each question to `answer`.
fn follow(mut turn: RunningTurn<'_>, mut answer: impl FnMut(Question)) -> TurnOutcome {
    while let Some(event) = turn.recv_blocking() {
        match event {
            Event::Question(question) => answer(question),
            Event::Ended(outcome) => return outcome,
            _ => {}
        }
    }
    panic!("the turn has no end");
}

fn keep(question: Question) {
    match question {
        Question::Apply(question) => question.keep().unwrap(),
        other => drop(other),
    }
}

fn say(session: &mut Session, message: &str) -> TurnOutcome {
    follow(session.send(message).unwrap(), keep)
}

#[test]
fn a_change_is_shown_as_a_value_applied_undone_and_redone() {
    let place = Place::new();
    place.write("a.txt", "one\ntwo\n");
    let mut session = place.session();
    let mut titles = Vec::new();
    let message =
        "show a.txt and then replace \"two\" with \"2\" in a.txt and then create b.txt with \"new\\n\"";
    let outcome = follow(session.send(message).unwrap(), |question| match question {
        Question::Apply(question) => {
            titles.push((question.title.clone(), question.changes.changes().len()));
            question.keep().unwrap();
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(titles, [("2 files, +2 -1 lines: apply?".to_string(), 2)]);
    assert_eq!((outcome.reason, outcome.changes), (EndReason::Done, ChangesOutcome::Pending));
    assert_eq!((outcome.message, outcome.refused_calls), (None, 0));
    // The answer has what was read. The edits are in the changes.
    assert!(outcome.answer.contains("read_file a.txt"), "{}", outcome.answer);
    assert_eq!((place.read("a.txt").as_deref(), place.read("b.txt")), (Some("one\ntwo\n"), None));

    let pending = session.pending().unwrap();
    let [a, b] = pending.changes() else { panic!("{pending:?}") };
    assert_eq!((a.path.as_path(), a.kind), (place.project.join("a.txt").as_path(), ChangeKind::Modified));
    assert_eq!((&a.class, b.kind), (&PendingClass::Ordinary, ChangeKind::Created));
    let hash = |content: &str| blake3::hash(content.as_bytes()).to_hex().to_string();
    let FileState::File { hash: before, size: 8, .. } = &a.before else { panic!("{a:?}") };
    let FileState::File { hash: after, size: 6, .. } = &a.after else { panic!("{a:?}") };
    assert_eq!((before, after), (&hash("one\ntwo\n"), &hash("one\n2\n")));
    assert_eq!(b.before, FileState::Absent);
    assert_eq!(pending.contents("a.txt").unwrap(), (b"one\ntwo\n".to_vec(), b"one\n2\n".to_vec()));
    let hunks = pending.hunks("a.txt").unwrap();
    assert_eq!((hunks[0].old_lines.clone(), hunks[0].new_lines.clone(), hunks.len()), (1..2, 1..2, 1));
    assert_eq!((hunks[0].removed.as_slice(), hunks[0].added.as_slice()), (&b"two\n"[..], &b"2\n"[..]));
    assert!(String::from_utf8(pending.patch()).unwrap().contains("+2\n"));
    assert_eq!(pending.listing(), ["M a.txt +1 -1", "A b.txt +1 -0"]);

    let both = [place.project.join("a.txt"), place.project.join("b.txt")];
    let applied = session.apply(&pending, &ChangeChoice::all()).unwrap();
    assert_eq!(applied.paths, both);
    assert_eq!((applied.protected, applied.losses, applied.incomplete), (vec![], vec![], vec![]));
    assert_eq!(
        (place.read("a.txt").unwrap(), place.read("b.txt").unwrap()),
        ("one\n2\n".into(), "new\n".into())
    );
    assert!(session.pending().unwrap().is_empty());

    let undone = session.undo().unwrap();
    assert_eq!((undone.paths, undone.restored), (both.to_vec(), false));
    assert_eq!((place.read("a.txt").as_deref(), place.read("b.txt")), (Some("one\ntwo\n"), None));
    assert_eq!(session.redo().unwrap().paths, both);
    assert_eq!(place.read("b.txt").as_deref(), Some("new\n"));
    session.undo().unwrap();
    assert_eq!(session.undo().unwrap().paths, Vec::<PathBuf>::new());
    assert_eq!(session.close().unwrap(), Vec::<String>::new());
}

#[test]
fn the_apply_question_applies_discards_or_leaves_pending() {
    let place = Place::new();
    let mut session = place.session();
    let turn = session.send("create a.txt with \"1\"").unwrap();
    let outcome = follow(turn, |question| match question {
        Question::Apply(question) => question.apply().unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!((outcome.changes, place.read("a.txt").as_deref()), (ChangesOutcome::Applied, Some("1")));

    let turn = session.send("create b.txt with \"2\"").unwrap();
    let outcome = follow(turn, |question| match question {
        Question::Apply(question) => question.discard().unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!(outcome.changes, ChangesOutcome::Discarded);
    assert!(session.pending().unwrap().is_empty());
    let undone = session.undo().unwrap();
    assert!(undone.restored && undone.paths.is_empty(), "{undone:?}");
    assert_eq!(session.pending().unwrap().listing(), ["A b.txt +1 -0"]);

    // Nobody answers: the change stays pending.
    let outcome = session.send("create c.txt with \"3\"").unwrap().finish_blocking().unwrap();
    assert_eq!(outcome.changes, ChangesOutcome::Pending);
    assert_eq!(session.pending().unwrap().listing(), ["A b.txt +1 -0", "A c.txt +1 -0"]);
    assert_eq!((place.read("b.txt"), place.read("c.txt")), (None, None));
}

#[test]
fn a_refused_question_changes_nothing() {
    let place = Place::new();
    let outside = place.dir.path().join("outside.txt");
    let mut session = place.session();
    let message = format!("create {} with \"x\"", outside.display());
    type Answer = fn(Question);
    let refuse: [Answer; 3] = [
        |question| match question {
            Question::Permission(question) => question.refuse("not there").unwrap(),
            other => panic!("{other:?}"),
        },
        drop,
        |question| match question {
            Question::Permission(question) => question.refuse_always().unwrap(),
            other => panic!("{other:?}"),
        },
    ];
    for answer in refuse {
        let mut results = Vec::new();
        let mut asked = 0;
        let mut turn = session.send(message.as_str()).unwrap();
        let outcome = loop {
            match turn.recv_blocking().unwrap() {
                Event::Question(question) => {
                    asked += 1;
                    answer(question);
                }
                Event::Result { outcome, .. } => results.push(outcome),
                Event::Ended(outcome) => break outcome,
                _ => {}
            }
        };
        assert_eq!((asked, results), (1, vec![CallOutcome::Denied]));
        assert_eq!((outcome.refused_calls, outcome.changes), (1, ChangesOutcome::NotAsked));
        drop(turn);
        assert!(!outside.exists() && session.pending().unwrap().is_empty());
    }
    // "Never" was the last answer: the same call is refused without a question.
    let outcome = follow(session.send(message.as_str()).unwrap(), |question| panic!("{question:?}"));
    assert_eq!(outcome.refused_calls, 1);
    assert!(!outside.exists());
}

#[test]
fn an_allowed_call_runs_and_a_rule_that_denies_asks_nobody() {
    let place = Place::new();
    let outside = place.dir.path().join("outside.txt");
    let mut session = place.builder().deny("write(secret.txt)").start().unwrap();
    let turn = session.send(format!("create {} with \"x\"", outside.display())).unwrap();
    let mut reasons = Vec::new();
    follow(turn, |question| match question {
        Question::Permission(question) => {
            reasons.push((question.tool.clone(), question.word.clone()));
            assert!(question.preview.contains('x'), "{question:?}");
            question.allow().unwrap();
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(reasons, [("write_file".to_string(), None)]);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "x");
    let turn = session.send("create secret.txt with \"x\"").unwrap();
    assert_eq!(follow(turn, |question| panic!("{question:?}")).refused_calls, 1);
}

#[test]
fn a_protected_file_is_applied_only_when_it_is_named_and_as_it_was_shown() {
    let place = Place::new();
    let mut session = place.session();
    let message = "create .envrc with \"export A=1\\n\" and then create a.txt with \"1\"";
    let mut asked = Vec::new();
    let outcome = follow(session.send(message).unwrap(), |question| match question {
        Question::Apply(question) => {
            asked.push("all".to_string());
            question.apply().unwrap();
        }
        Question::Protected(question) => {
            asked.push(format!("{}: {}", question.path.display(), question.reason));
            question.keep().unwrap();
        }
        Question::Permission(question) => question.allow().unwrap(),
        other => panic!("{other:?}"),
    });
    let envrc = place.project.join(".envrc");
    let why = "direnv runs it when you enter the directory";
    assert_eq!(asked, ["all".to_string(), format!("{}: {why}", envrc.display())]);
    assert_eq!(outcome.changes, ChangesOutcome::Applied);
    assert_eq!((place.read("a.txt").as_deref(), place.read(".envrc")), (Some("1"), None));

    let pending = session.pending().unwrap();
    let class = &pending.get(".envrc").unwrap().class;
    assert_eq!(*class, PendingClass::RunsLater { by: "direnv".into(), why: why.into() });
    for choice in [ChangeChoice::all(), ChangeChoice::none().path(".envrc"), ChangeChoice::none().path(".")] {
        let applied = session.apply(&pending, &choice).unwrap();
        assert_eq!((applied.paths, applied.protected), (vec![], vec![envrc.clone()]));
        assert_eq!(place.read(".envrc"), None);
    }
    // Other content than what was shown needs another approval.
    let turn = session.send("append \"export B=2\\n\" to .envrc").unwrap();
    follow(turn, |question| match question {
        Question::Permission(question) => question.allow().unwrap(),
        other => drop(other),
    });
    let approved = ChangeChoice::none().approve(".envrc");
    assert!(matches!(session.apply(&pending, &approved), Err(Error::Outdated)));
    assert_eq!(place.read(".envrc"), None);
    let pending = session.pending().unwrap();
    assert_eq!(session.apply(&pending, &approved).unwrap().paths, [envrc]);
    assert_eq!(place.read(".envrc").as_deref(), Some("export A=1\nexport B=2\n"));
}

/// Three files are more than the limit of this session; a file that stays keeps the root from being emptied.
#[test]
fn a_large_loss_is_applied_only_when_it_is_approved() {
    let place = Place::new();
    let names = ["a.txt", "b.txt", "c.txt"];
    names.iter().for_each(|name| place.write(name, "some text\n"));
    place.write("stays.txt", "x\n");
    let mut session = place.builder().set("brake.files", "1").start().unwrap();
    let part = |name: &&str| format!("*** Delete File: {name}\\n");
    let patch: String = names.iter().map(part).collect();
    let read = "show a.txt and b.txt and c.txt and then";
    let message =
        format!("{read} call apply_patch {{\"patch\": \"*** Begin Patch\\n{patch}*** End Patch\\n\"}}");
    // Another word than the one that was asked for refuses.
    let mut words = Vec::new();
    let outcome = follow(session.send(message).unwrap(), |question| match question {
        Question::Apply(question) => question.apply().unwrap(),
        Question::Permission(question) => {
            words.push((question.tool.clone(), question.word.clone()));
            let result = question.allow();
            assert!(matches!(&result, Err(Error::WordRequired(word)) if word == "remove"), "{result:?}");
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(words, [("apply".to_string(), Some("remove".to_string()))]);
    assert_eq!(outcome.changes, ChangesOutcome::Pending);
    assert!(names.iter().all(|name| place.read(name).is_some()));

    let pending = session.pending().unwrap();
    let loss = Loss::Files { files: 3, bytes: 30 };
    assert_eq!(pending.losses(), std::slice::from_ref(&loss));
    assert!(pending.changes().iter().all(|change| change.class == PendingClass::LargeLoss));
    let refused = session.apply(&pending, &ChangeChoice::all()).unwrap();
    assert_eq!((refused.paths, refused.losses), (vec![], vec![loss.clone()]));
    let less = ChangeChoice::all().approve_loss(&Loss::Files { files: 2, bytes: 30 });
    assert_eq!(session.apply(&pending, &less).unwrap().paths, Vec::<PathBuf>::new());
    assert!(names.iter().all(|name| place.read(name).is_some()));
    let applied = session.apply(&pending, &ChangeChoice::all().approve_loss(&loss)).unwrap();
    assert_eq!(applied.paths.len(), 3);
    assert!(names.iter().all(|name| place.read(name).is_none()));
}

#[test]
fn single_paths_and_hunks_are_applied_and_discarded() {
    let place = Place::new();
    place.write("a.txt", "1\n2\n3\n4\n5\n");
    let mut session = place.session();
    let message = "show a.txt and then replace \"1\" with \"one\" in a.txt and then replace \"5\" with \"five\" in a.txt \
                   and then create b.txt with \"b\" and then create c.txt with \"c\"";
    say(&mut session, message);
    let pending = session.pending().unwrap();
    assert_eq!(pending.hunks("a.txt").unwrap().len(), 2);
    let choice = ChangeChoice::none().path("c.txt").hunks("a.txt", [1]);
    let applied = session.apply(&pending, &choice).unwrap();
    assert_eq!(applied.paths, [place.project.join("a.txt"), place.project.join("c.txt")]);
    assert_eq!(place.read("a.txt").as_deref(), Some("1\n2\n3\n4\nfive\n"));
    let pending = session.pending().unwrap();
    assert_eq!(pending.listing(), ["M a.txt +1 -1", "A b.txt +1 -0"]);

    let result = session.apply(&pending, &ChangeChoice::none().hunks("a.txt", [7]));
    assert!(matches!(result, Err(Error::NoHunk { index: 7, .. })), "{result:?}");
    let result = session.discard(&pending, &ChangeChoice::none().path("d.txt"));
    assert!(matches!(result, Err(Error::NotPending(path)) if path.ends_with("d.txt")));
    assert_eq!(session.apply(&pending, &ChangeChoice::none()).unwrap(), Applied::default());

    let discarded = session.discard(&pending, &ChangeChoice::none().path("b.txt")).unwrap();
    assert_eq!((discarded.count, discarded.can_undo, discarded.incomplete), (1, true, vec![]));
    assert_eq!(session.pending().unwrap().listing(), ["M a.txt +1 -1"]);
}

#[test]
fn nothing_is_applied_over_what_changed_in_the_meantime() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    place.write("b.txt", "one\n");
    let mut session = place.session();
    let message = "show a.txt and b.txt and then replace \"one\" with \"1\" in a.txt and then replace \"one\" with \"1\" in b.txt";
    say(&mut session, message);
    let old = session.pending().unwrap();
    place.write("a.txt", "uno\n");
    match session.apply(&old, &ChangeChoice::all()) {
        Err(Error::Changed { merged, conflicts }) => {
            assert_eq!((merged, conflicts), (vec![], vec![place.project.join("a.txt")]));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        (place.read("a.txt").unwrap(), place.read("b.txt").unwrap()),
        ("uno\n".into(), "one\n".into())
    );
    // The program must look again before it decides about something else than it was shown.
    say(&mut session, "create c.txt with \"c\"");
    assert!(matches!(session.apply(&old, &ChangeChoice::all()), Err(Error::Outdated)));
    assert!(matches!(session.discard(&old, &ChangeChoice::all()), Err(Error::Outdated)));
    assert_eq!(session.pending().unwrap().changes().len(), 3);
}

#[test]
fn a_cancelled_turn_leaves_nothing_half_done() {
    let place = Place::new();
    let outside = place.dir.path().join("outside.txt");
    let mut session = place.session();
    let message = format!("create a.txt with \"1\" and then create {} with \"x\"", outside.display());
    let mut turn = session.send(message).unwrap();
    let (mut held, mut outcome) = (None, None);
    while let Some(event) = turn.recv_blocking() {
        match event {
            Event::Question(question) => {
                held = Some(question);
                turn.canceller().cancel();
            }
            Event::Ended(end) => outcome = Some(end),
            _ => {}
        }
    }
    drop(turn);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.reason, outcome.changes), (EndReason::Cancelled, ChangesOutcome::NotAsked));
    // An answer that comes too late allows nothing.
    match held {
        Some(Question::Permission(question)) => {
            assert!(matches!(question.allow(), Err(Error::NotOpen)));
        }
        other => panic!("{other:?}"),
    }
    assert!(!outside.exists());
    // What the finished call changed is pending, and the conversation goes on.
    assert_eq!(session.pending().unwrap().listing(), ["A a.txt +1 -0"]);
    assert_eq!(say(&mut session, "show a.txt").reason, EndReason::Done);
}

#[test]
fn a_dropped_turn_is_cancelled_and_a_question_at_its_end_leaves_changes_pending() {
    let place = Place::new();
    let mut session = place.session();
    let mut turn = session.send("create a.txt with \"1\"").unwrap();
    let question = loop {
        if let Event::Question(Question::Apply(question)) = turn.recv_blocking().unwrap() {
            break question;
        }
    };
    drop(turn);
    // Waits for the end of the turn, though the question is still here.
    assert_eq!(session.pending().unwrap().listing(), ["A a.txt +1 -0"]);
    assert!(matches!(question.apply(), Err(Error::NotOpen)));
    assert_eq!(place.read("a.txt"), None);
}

#[test]
fn a_cancelled_command_is_ended_and_its_changes_are_discarded() {
    if !sandbox_or_skip(placet::sandbox::SandboxBackend::Overlay) {
        return;
    }
    let place = Place::new();
    let mut session = place.with_commands().start().unwrap();
    let mut turn = session.send("run echo half > a.txt; echo ready; sleep 600").unwrap();
    let mut outcome = None;
    while let Some(event) = turn.recv_blocking() {
        match event {
            Event::Output { .. } => turn.cancel(),
            Event::Question(question) => panic!("{question:?}"),
            Event::Ended(end) => outcome = Some(end),
            _ => {}
        }
    }
    drop(turn);
    assert_eq!(outcome.unwrap().reason, EndReason::Cancelled);
    assert!(session.pending().unwrap().is_empty());
    assert_eq!(place.read("a.txt"), None);
    // A command that ends well leaves its changes pending.
    let outcome = say(&mut session, "run echo whole > b.txt");
    assert_eq!(outcome.changes, ChangesOutcome::Pending);
    assert_eq!(session.pending().unwrap().listing(), ["A b.txt +1 -0"]);
}

#[test]
fn without_a_supervisor_no_command_runs() {
    let place = Place::new();
    let mut session = place.builder().allow("run_command").start().unwrap();
    let outcome = follow(session.send("run touch made.txt").unwrap(), |question| panic!("{question:?}"));
    assert_eq!(outcome.refused_calls, 1);
    assert!(!place.project.join("made.txt").exists() && session.pending().unwrap().is_empty());
    // This program does not begin with `supervisor_main`: it would be started again and again.
    let started = place.builder().commands(CommandRunner::ThisProgram).start();
    assert!(matches!(started.err(), Some(Error::NoSupervisor)));
}

#[test]
fn mistakes_in_settings_are_errors_with_a_type() {
    let place = Place::new();
    let error = |builder: SessionBuilder| builder.start().err().unwrap();
    let unknown = error(place.builder().set("mod", "ask"));
    assert!(matches!(unknown, Error::Setting { .. }), "{unknown:?}");
    assert_eq!(unknown.to_string(), "the embedding program: unknown setting `mod`");
    assert!(matches!(error(place.builder().set("mode", "bold")), Error::Setting { .. }));
    let provider = error(place.builder().provider("antropic"));
    assert_eq!(provider.to_string(), "unknown provider `antropic`");
    assert_eq!(provider.hint(), Some("did you mean `anthropic`?"));
    assert!(matches!(error(place.builder().allow("nothing(")), Error::Start { .. }));
    let missing = Session::builder(place.project.join("missing")).home(place.home());
    assert!(matches!(error(missing.commands(CommandRunner::Nobody)), Error::Start { .. }));
    assert!(matches!(error(place.builder().resume("zzzz")), Error::Start { .. }));
    assert!(matches!(place.session().send(" \n").err(), Some(Error::EmptyMessage)));
}

#[test]
fn a_session_is_resumed_with_what_is_pending_in_it() {
    let place = Place::new();
    let mut session = place.session();
    say(&mut session, "create a.txt with \"1\"");
    let id = session.id().unwrap().to_string();
    session.close().unwrap();
    let mut session = place.builder().resume(&id).start().unwrap();
    assert_eq!(session.id(), Some(id.as_str()));
    let pending = session.pending().unwrap();
    assert_eq!(pending.listing(), ["A a.txt +1 -0"]);
    assert_eq!(session.apply(&pending, &ChangeChoice::all()).unwrap().paths.len(), 1);
    assert_eq!(place.read("a.txt").as_deref(), Some("1"));
    session.close().unwrap();

    let session = place.builder().in_memory().start().unwrap();
    assert_eq!((session.id(), session.provider(), session.model()), (None, "offline", "offline"));
}

#[test]
fn a_session_can_be_used_from_any_thread() {
    fn is_send<T: Send + 'static>() {}
    is_send::<Session>();
    is_send::<RunningTurn<'static>>();
    is_send::<Event>();
    is_send::<placet::PendingChanges>();
    is_send::<Error>();
}

#[tokio::test]
async fn it_works_in_an_async_program_and_two_sessions_at_once() {
    let place = Place::new();
    let (mut one, mut two) = (place.session(), place.session());
    let turn = |session, message: &'static str| async move {
        let session: &mut Session = session;
        let mut turn = session.send(message).unwrap();
        while let Some(event) = turn.recv().await {
            match event {
                Event::Question(Question::Apply(question)) => question.apply().unwrap(),
                Event::Ended(outcome) => return outcome.changes,
                _ => {}
            }
        }
        panic!("the turn has no end");
    };
    let both =
        tokio::join!(turn(&mut one, "create a.txt with \"1\""), turn(&mut two, "create b.txt with \"2\""));
    assert_eq!(both, (ChangesOutcome::Applied, ChangesOutcome::Applied));
    assert_eq!((place.read("a.txt").as_deref(), place.read("b.txt").as_deref()), (Some("1"), Some("2")));
    // A turn that nobody reads, and a session that is dropped in an async task.
    drop(one.send("create c.txt with \"3\"").unwrap());
    drop((one, two));
}
