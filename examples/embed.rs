//! A program that embeds placet. It needs no network and no key: the built-in offline provider answers, and everything is in
//! a temporary directory.
//!
//! Run it with `cargo run --example embed`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use placet::{
    ChangeChoice, ChangesOutcome, Error, Event, Mode, PendingChanges, PendingClass, Question, RunningTurn,
    Session,
};
use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    // First, while the program has one thread: placet starts this program again for each command that it runs.
    if let Some(code) = placet::supervisor_main() {
        return code;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

// ANCHOR: run
fn run() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let project = temporary.path().join("project");
    fs::create_dir(&project)?;
    fs::write(project.join("notes.txt"), "one\ntwo\nthree\n")?;

    let mut session = Session::builder(&project)
        .home(temporary.path().join("placet"))
        .without_settings_files()
        .provider("offline")
        .mode(Mode::Ask)
        .start()?;

    // A turn that changes two files. The apply question at its end is answered with "keep".
    let message = "show notes.txt and then replace \"two\" with \"2\" in notes.txt \
                   and then create .envrc with \"export PORT=80\\n\"";
    println!("> {message}");
    let outcome = follow(session.send(message)?, Answer::Keep)?;
    println!("changes: {outcome:?}");
    println!("notes.txt: {:?}", fs::read_to_string(project.join("notes.txt"))?);

    // What is pending, as values.
    let pending = session.pending()?;
    show(&pending);

    // Applies all but what needs an approval of its own.
    let applied = session.apply(&pending, &ChangeChoice::all())?;
    println!("applied {}, protected {}", applied.paths.len(), applied.protected.len());
    println!("notes.txt: {:?}", fs::read_to_string(project.join("notes.txt"))?);

    // The protected file is named, and so approved.
    let pending = session.pending()?;
    let applied = session.apply(&pending, &ChangeChoice::none().approve(".envrc"))?;
    println!("applied {}, protected {}", applied.paths.len(), applied.protected.len());

    // Another turn, with "apply" as the answer; then the turn is undone.
    let message = "replace \"three\" with \"3\" in notes.txt";
    println!("> {message}");
    let outcome = follow(session.send(message)?, Answer::Apply)?;
    println!("changes: {outcome:?}");
    for line in session.undo()?.lines {
        println!("{line}");
    }
    println!("notes.txt: {:?}", fs::read_to_string(project.join("notes.txt"))?);
    session.close()?;
    Ok(())
}

enum Answer {
    Keep,
    Apply,
}

/// Reads the events of a turn and answers its questions.
fn follow(mut turn: RunningTurn<'_>, answer: Answer) -> Result<ChangesOutcome, Error> {
    while let Some(event) = turn.recv_blocking() {
        match event {
            Event::Call { title, .. } => println!("call: {title}"),
            Event::Result { summary, .. } => println!("result: {summary}"),
            Event::Question(Question::Apply(question)) => {
                println!("question: {}", question.title);
                match answer {
                    Answer::Keep => question.keep()?,
                    Answer::Apply => question.apply()?,
                }
            }
            Event::Question(Question::Permission(question)) => {
                println!("question: {}: {}", question.title, question.reason);
                question.allow()?;
            }
            // Every other question is answered with what does nothing, because it is dropped here.
            Event::Ended(outcome) => return Ok(outcome.changes),
            _ => {}
        }
    }
    Err(Error::Ended)
}

fn show(pending: &PendingChanges) {
    for change in pending.changes() {
        let name = change.path.file_name().unwrap_or_default().to_string_lossy();
        let note = match &change.class {
            PendingClass::RunsLater { why, .. } => format!(" ({why})"),
            _ => String::new(),
        };
        println!("pending: {} {name}{note}", change.kind.word());
        for hunk in pending.hunks(&change.path).unwrap_or_default() {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            println!(
                "  line {}: -{:?} +{:?}",
                hunk.old_lines.start + 1,
                text(&hunk.removed),
                text(&hunk.added)
            );
        }
    }
}
