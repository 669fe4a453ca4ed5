use super::*;
use crate::turn_pane::TurnDisplay;
use placet_agent::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader,
};
use placet_text::conversation::{CallId, CallOutcome};
use placet_tools::{CallPreview, CallSummary, ChangeOverview, DisplayDetail, FileDiff, LeftOut};
use std::time::Duration;
use tokio::sync::oneshot;

fn linear() -> (LinearTurn, Instant) {
    let facts = TurnPaneStatus {
        model: "m".into(),
        display: TurnDisplay { fold: 2, ..TurnDisplay::default() },
        ..TurnPaneStatus::default()
    };
    let now = Instant::now();
    (
        LinearTurn::new(
            Theme::plain(),
            facts,
            MessageQueue::default(),
            String::new(),
            crate::paste::PasteStore::default(),
            now,
        ),
        now,
    )
}

fn request(title: &str, detail: DisplayDetail) -> (ApprovalRequest, oneshot::Receiver<ApprovalReply>) {
    let (reply, answer) = oneshot::channel();
    let question = ApprovalRequest {
        id: CallId::new("q"),
        tool: "run_command".into(),
        reason: "ask mode".into(),
        preview: CallPreview { line: title.into(), detail },
        always: None,
        pattern: None,
        typed: None,
        needs_care: false,
        why: "no rule".into(),
        flag: None,
        takes_reason: true,
        reply,
    };
    (question, answer)
}

fn ask(
    l: &mut LinearTurn,
    now: Instant,
    typed: Option<&str>,
) -> (Vec<String>, oneshot::Receiver<ApprovalReply>) {
    let (question, answer) = request("run make", DisplayDetail::Text("make\nall".into()));
    let question = ApprovalRequest { typed: typed.map(String::from), ..question };
    (l.event(TurnEvent::Question(question), now), answer)
}

fn choose(
    l: &mut LinearTurn,
    now: Instant,
    (title, detail): (&str, DisplayDetail),
    choices: Vec<QuestionChoice>,
) -> (Vec<String>, oneshot::Receiver<char>) {
    let (reply, answer) = oneshot::channel();
    let question = ChoiceQuestion {
        subject: ChoiceSubject::Hook,
        title: title.into(),
        reason: "ask".into(),
        detail,
        choices,
        checks: None,
        reasons_for: ReasonReader::Nobody,
        reply,
    };
    (l.event(TurnEvent::Choice(question), now), answer)
}

fn line(text: &str) -> TypedLine {
    TypedLine::Line(text.into())
}

#[test]
fn a_turn_is_reported_in_labelled_lines() {
    let (mut l, now) = linear();
    let mut said = Vec::new();
    for event in [
        TurnEvent::Requested,
        TurnEvent::Thinking("hm".into()),
        TurnEvent::Text("Two **words**.\n\n| a |\n|---|\n| 1 |\n".into()),
        TurnEvent::CallPlanned { id: CallId::new("c"), name: "read_file".into(), title: "read a.txt".into() },
        TurnEvent::CallRunning { id: CallId::new("c") },
        TurnEvent::CallOutput { id: CallId::new("c"), text: "not told in short".into() },
        TurnEvent::CallEnded {
            id: CallId::new("c"),
            name: "read_file".into(),
            outcome: CallOutcome::Done,
            summary: CallSummary::text("read a.txt", "1│one\n2│two\n3│x\n4│y"),
        },
        TurnEvent::Steered("use\ntabs".into()),
        TurnEvent::Silent { since: Duration::from_secs(10) },
        TurnEvent::Silent { since: Duration::from_secs(20) },
        TurnEvent::Text("Done.".into()),
        TurnEvent::Ended(TurnEnding::Done),
    ] {
        said.extend(l.event(event, now));
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    ◆ thinking
    model: Two words.
    a
    -
    1
    ◆ call: read a.txt
    ◆ done: read a.txt
      1:one
      2:two
      … 2 more lines
    you: use / tabs
    ◆ waiting: no data for 10 s; Ctrl-C stops
    model: Done.
    ◆ done: the turn, after 0 s
    ");
}

#[test]
fn a_question_is_answered_by_a_number_that_was_typed_after_it() {
    let (mut l, now) = linear();
    let (said, mut answer) = ask(&mut l, now, None);
    insta::assert_snapshot!(said.join("\n"), @r"
    ◆ question: allow? run make
    ◆ because: ask mode
      make
      all
    ◆ 1: yes
    ◆ 2: no
    ◆ 3: never in this session
    ◆ 4: why it asks
    ◆ 5: no, and stop the turn
    ◆ answer: type a number and Enter, or `no, because REASON` to tell the agent why
    ");
    let later = now + Duration::from_secs(1);
    // Too soon; no number of a choice; and then the answer.
    assert!(l.typed(line("1"), now).0[0].contains("ignored: "));
    for wrong in ["1 is wrong", "9", "y", "a", "yes"] {
        let (said, action) = l.typed(line(wrong), later);
        assert!(said[0].starts_with("◆ note: not an answer, and not sent"), "{said:?}");
        assert_eq!((said[1].as_str(), action), ("◆ 1: yes", None));
    }
    // In one piece, as a paste comes.
    assert!(l.typed(TypedLine::AtOnce("1".into()), later).0[0].contains("ignored: "));
    assert!(l.typed(TypedLine::Pasted("1\n1".into()), later).0[0].starts_with("◆ queued: 1"));
    assert!(answer.try_recv().is_err());
    assert_eq!(l.typed(line("4"), later).0, ["◆ why: no rule"]);
    assert_eq!(l.typed(line("1"), later), (vec!["◆ answered: yes".to_string()], None));
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
    let (_, mut answer) = ask(&mut l, now, None);
    l.typed(line("no, because it is needed"), later);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::No("it is needed".into())));
}

#[test]
fn a_line_begun_before_a_question_never_answers_it() {
    let (mut l, now) = linear();
    let later = now + Duration::from_secs(5);
    // The beginning is known before the question, or comes directly after it: the terminal had buffered it.
    l.typed(TypedLine::Begun("1".into()), now);
    let (_, mut answer) = ask(&mut l, now, None);
    assert!(l.typed(line("1"), later).0[0].contains("ignored: "));
    assert!(answer.try_recv().is_err());
    let (_, mut answer) = ask(&mut l, now, None);
    l.typed(TypedLine::Begun("1".into()), now);
    assert!(l.typed(line("1"), later).0[0].contains("ignored: "));
    assert!(answer.try_recv().is_err());
    assert_eq!(l.typed(line("1"), later).0, ["◆ answered: yes"]);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

#[test]
fn a_total_loss_wants_its_word_here_too() {
    let (mut l, now) = linear();
    let (_, mut answer) = ask(&mut l, now, Some("/home/me"));
    let later = now + Duration::from_secs(1);
    assert_eq!(l.typed(line("1"), later).0, ["◆ question: type `/home/me` and Enter to allow it"]);
    assert!(answer.try_recv().is_err());
    assert_eq!(l.typed(line("/home/me"), later).0, ["◆ answered: yes"]);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

#[test]
fn lines_queue_steer_and_come_back() {
    let (mut l, now) = linear();
    assert_eq!(
        l.typed(line("later"), now).0,
        ["◆ queued: 1 after this turn; /steer sends it with the next request, /back removes it: later"]
    );
    l.typed(line("/steer use tabs"), now);
    l.typed(line("third"), now);
    l.typed(line("/steer"), now);
    l.typed(line("/back"), now);
    let lines: Vec<_> = l.queue.lines().into_iter().map(|q| (q.text, q.sending)).collect();
    assert_eq!(
        lines,
        [("later".into(), SendTiming::AfterTurn), ("use tabs".into(), SendTiming::NextRequest)]
    );
    assert_eq!(l.draft().typed, "third");
}

#[test]
fn ctrl_c_clears_a_line_first_and_then_stops() {
    let (mut l, now) = linear();
    assert_eq!(l.typed(TypedLine::Stop("half".into()), now).1, None);
    assert_eq!(l.take_recall().as_deref(), Some("half"));
    assert_eq!(l.typed(TypedLine::Stop(String::new()), now).1, Some(TurnPaneAction::Stop));
    let (_, mut answer) = ask(&mut l, now, None);
    assert_eq!(l.typed(TypedLine::Stop(String::new()), now).1, Some(TurnPaneAction::Stop));
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Cancel));
}

#[test]
fn choices_of_other_questions_are_numbered_too() {
    let (mut l, now) = linear();
    let choices = vec![QuestionChoice::consent('a', "apply"), QuestionChoice::plain('k', "keep")];
    let detail = DisplayDetail::Diff("-a\n+b\n".into());
    let (said, mut answer) = choose(&mut l, now, ("1 file", detail), choices);
    assert!(said.ends_with(&[
        "◆ 1: apply".into(),
        "◆ 2: keep".into(),
        "◆ answer: type a number and Enter".into()
    ]));
    l.typed(line("2"), now + Duration::from_secs(1));
    assert_eq!(answer.try_recv(), Ok('k'));
}

#[test]
fn ctrl_z_suspends_and_keeps_what_was_begun_for_the_next_prompt() {
    let (mut linear, now) = linear();
    let (said, action) = linear.typed(TypedLine::Suspend(String::new()), now);
    assert_eq!((said.len(), action), (0, Some(TurnPaneAction::Suspend)));
    let (said, action) = linear.typed(TypedLine::Suspend("half a line".into()), now);
    assert_eq!(said, ["◆ note: your unfinished line is at the next prompt: half a line"]);
    assert_eq!((action, linear.draft().typed), (Some(TurnPaneAction::Suspend), "half a line".into()));
}

/// What the pane asks for twice is asked for twice here: a yes to something that was not shown whole, and a yes that
/// cannot be undone.
#[test]
fn what_was_not_shown_is_named_and_applied_only_when_it_is_said_twice() {
    let (mut l, now) = linear();
    let file = |name: &str, left_out| FileDiff {
        name: name.into(),
        patch: b"+x\n".to_vec(),
        left_out,
        ..FileDiff::default()
    };
    let files = vec![file("all.rs", None), file("big.bin", Some(LeftOut::TooLong { bytes: 70_000 }))];
    let choices = vec![QuestionChoice::consent('a', "apply"), QuestionChoice::for_good('d', "discard")];
    let detail = DisplayDetail::Changes(Box::new(ChangeOverview { list: Vec::new(), files }));
    let (said, mut answer) = choose(&mut l, now, ("2 files", detail), choices);
    assert!(said.contains(&"◆ not shown: big.bin (70000 bytes)".to_string()), "{said:?}");
    let later = now + Duration::from_secs(1);
    let wants = |said: &[String], words: &str| assert!(said[0].starts_with(words), "{said:?}");
    wants(
        &l.typed(line("1"), later).0,
        "◆ question: not all of big.bin (70000 bytes) was shown: type 1 and Enter again",
    );
    wants(
        &l.typed(line("2"), later).0,
        "◆ question: type 2 and Enter again to do it; any other line changes nothing",
    );
    wants(&l.typed(line("1"), later).0, "◆ question: not all of big.bin");
    wants(&l.typed(line("x"), later).0, "◆ note: not an answer");
    wants(&l.typed(line("1"), later).0, "◆ question: not all of big.bin");
    assert!(answer.try_recv().is_err());
    assert_eq!(l.typed(line("1"), later).0, ["◆ answered: apply"]);
    assert_eq!(answer.try_recv(), Ok('a'));
}

/// The same for a call: a difference that was cut is not allowed by one line.
#[test]
fn a_call_of_which_changed_lines_are_not_shown_is_allowed_only_when_it_is_said_twice() {
    let (mut l, now) = linear();
    let detail = DisplayDetail::Diff(placet_tools::DiffText { text: "-a\n+b\n".into(), left_out: 7 });
    let (question, mut answer) = request("write a.txt", detail);
    let question = ApprovalRequest { why: String::new(), ..question };
    let said = l.event(TurnEvent::Question(question), now);
    assert!(said.contains(&"◆ not shown: 7 changed lines".to_string()), "{said:?}");
    let later = now + Duration::from_secs(1);
    let (said, _) = l.typed(line("1"), later);
    assert_eq!(said, ["◆ question: 7 changed lines not shown: type 1 and Enter again to allow it unseen"]);
    assert!(answer.try_recv().is_err());
    assert_eq!(l.typed(line("1"), later).0, ["◆ answered: yes"]);
    assert_eq!(answer.try_recv(), Ok(ApprovalReply::Yes));
}

/// Story: the steps of a plan were rendered twice, so that a sign was shown as the text of a sign.
#[test]
fn a_step_of_the_plan_is_rendered_once() {
    let (mut l, now) = linear();
    let text = "a\u{200b}b <FF>".to_string();
    let step = placet_tools::TodoItem { text, status: placet_tools::TodoStatus::Pending };
    let said = l.event(TurnEvent::Todos(vec![step.clone()]), now);
    let rendered = placet_tools::todo_lines(&[step]).remove(0);
    assert_eq!(said, [format!("◆ step: {rendered}")]);
    assert!(rendered.ends_with("a<U+200B>b <U+003C>FF>"), "{rendered}");
}

#[test]
fn a_reason_for_a_server_is_typed_as_a_line_and_the_server_gets_it() {
    let (mut l, now) = linear();
    let ((reply, answer), (reader, mut why)) = (oneshot::channel(), oneshot::channel());
    let question = ChoiceQuestion {
        subject: ChoiceSubject::Server,
        title: "the server s wants to ask your model: send this?".into(),
        reason: "during a call of t".into(),
        detail: DisplayDetail::Text("who?".into()),
        choices: vec![QuestionChoice::consent('y', "send"), QuestionChoice::plain('n', "no")],
        checks: None,
        reasons_for: ReasonReader::Server(reader),
        reply,
    };
    let shown = l.event(TurnEvent::Choice(question), now).join("\n");
    assert!(shown.contains("`no, because REASON` to tell the server why"), "{shown}");
    l.typed(line("no, because it is private"), now + Duration::from_secs(1));
    assert_eq!(why.try_recv(), Ok("it is private".into()));
    drop(answer);
}
