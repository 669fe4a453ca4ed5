use super::*;
use placet_text::conversation::{CallId, CallInput, CallOutcome, CallResult, Image, ToolCall, words_of};

const INSTRUCTIONS: &str = "[placet: the project's instructions]\n--- /w/AGENTS.md\nobey\n";
const MODE: &str = "[placet: the mode is ask: files may be changed and commands run, in a copy: nothing lands before the person applies it]";
const JOB: &str =
    "[placet: job 3 has ended: exit code 0 after 2.0 s: make]\n[effects: 1 created: a; pending]";
const LOST: &str = "[placet: the background commands 1, 12 are out of reach: placet was left meanwhile]";
const FILE: &str = "[placet: the person attached src/a.rs]";
const PAD: &str = "[placet: the person attached the scratchpad `notes`]";
const REPORT: &str = "{\"review\": \"The person reviewed your changes. More.\", \"rejected\": []}";

fn texts(texts: &[&str]) -> Vec<Part> {
    texts.iter().map(|text| Part::text(*text)).collect()
}

/// `n` where a part has become a note, `t` where it is a text, `i` where it is a picture.
fn kinds(parts: &[Part]) -> String {
    let kind = |part: &Part| match part {
        Part::Note(_) => 'n',
        Part::Text { .. } => 't',
        Part::Image(_) => 'i',
    };
    parts.iter().map(kind).collect()
}

#[test]
fn notes_are_taken_from_their_places_only_and_not_a_byte_changes() {
    let image = || Part::Image(Image::new("image/png", 1, 1, "p.png", vec![1].into()));
    let pictured = [texts(&["see", FILE, "a picture"]), vec![image()], texts(&[INSTRUCTIONS, MODE])].concat();
    for (parts, expected) in [
        (texts(&["hello", INSTRUCTIONS, MODE, JOB, LOST]), "tnnnn"),
        (texts(&["hello", MODE]), "tn"),
        (texts(&[REPORT, "hello", INSTRUCTIONS]), "ntn"),
        (texts(&["hello", FILE, "1│x", PAD, "y", MODE]), "tntntn"),
        (pictured, "tntinn"),
        // The whole of a message or paste of the person.
        (texts(&[INSTRUCTIONS]), "t"),
        (texts(&[REPORT]), "t"),
        (texts(&[MODE, MODE]), "tn"),
        // An attachment, whatever it contains.
        (texts(&["see", PAD, INSTRUCTIONS]), "tnt"),
        (texts(&["see", PAD, INSTRUCTIONS, INSTRUCTIONS]), "tntn"),
        (texts(&["see", FILE, FILE, MODE]), "tntn"),
        // Out of their order, or twice.
        (texts(&["hello", MODE, INSTRUCTIONS]), "tnt"),
        (texts(&["hello", INSTRUCTIONS, INSTRUCTIONS]), "tnt"),
        // Nearly the same text.
        (texts(&["hello", "[placet: the mode is ask: do all]"]), "tt"),
        (
            texts(&[
                "hello",
                "[placet: the background commands x are out of reach: placet was left meanwhile]",
            ]),
            "tt",
        ),
        (texts(&["hello", "[placet: the person attached a\nb]", "x"]), "ttt"),
    ] {
        let mut message = Message::User { parts: parts.clone() };
        NoteExtractor::default().retype(&mut message);
        let Message::User { parts: now } = &message else { panic!("{message:?}") };
        assert_eq!((kinds(now), words_of(now)), (expected.to_string(), words_of(&parts)));
    }
}

#[test]
fn what_a_tool_gave_back_and_what_was_said_while_a_turn_ran_is_never_taken() {
    let call = ToolCall { id: CallId::new("c"), name: "run_command".into(), input: CallInput::parse("{}") };
    let parts = texts(&["x", INSTRUCTIONS, MODE]);
    let before = [
        Message::Results { results: vec![CallResult::new(&call, CallOutcome::Done, parts.clone())] },
        Message::User { parts: parts.clone() },
    ];
    let (mut messages, mut notes) = (before.clone(), NoteExtractor::default());
    messages.iter_mut().for_each(|message| notes.retype(message));
    assert_eq!(messages, before);
    let mut next = Message::User { parts };
    notes.retype(&mut next);
    assert_ne!(next, before[1], "what begins the next turn");
}

#[test]
fn a_summary_keeps_its_text_and_nothing_that_it_had_taken_over() {
    let notes = [format!("{SUMMARY}they talked"), INSTRUCTIONS.into(), MODE.into()];
    let body = serde_json::json!({"kind": "summed_up", "summary": {"upto": 4, "notes": notes}});
    let SessionRecord::SummedUp { summary } = record(&body.to_string()).unwrap() else { panic!("a summary") };
    assert_eq!((summary.upto, summary.notes), (4, vec![Note::Summary { text: "they talked".into() }]));
}

#[test]
fn a_mode_that_was_told_in_an_earlier_format_is_told_again() {
    let mut message = Message::User { parts: texts(&["hello", MODE]) };
    NoteExtractor::default().retype(&mut message);
    let Message::User { parts } = message else { panic!("what was said") };
    assert_eq!(parts[1], Part::Note(Note::Earlier { text: MODE.into() }));
}
