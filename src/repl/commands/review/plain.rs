//! The review without a screen: one sentence for each hunk, its lines, and an answer typed with Enter. Nothing is ever
//! repainted, and Enter alone decides nothing.

use crate::repl::output::ShellOutput;
use crate::ui::line_ui::{self, LineUi, TerminalLineUi};
use crate::ui::review::{Review, ReviewAction, ReviewDecision, ReviewOutcome, SavedReview};
use ratatui::text::Line;
use std::path::Path;

/// The answer when the person pressed Ctrl-C or Ctrl-D instead.
const STOPPED: &str = "\u{3}";

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum PlainReviewAnswer<'a> {
    Mark(ReviewDecision),
    File(ReviewDecision),
    Comment(&'a str),
    Next,
    Back,
    Undo,
    Finish,
    Leave,
}

fn read(answer: &str) -> Option<PlainReviewAnswer<'_>> {
    let answer = answer.trim();
    if let Some(text) = answer.strip_prefix("c ").or(answer.strip_prefix("comment ")) {
        return (!text.trim().is_empty()).then(|| PlainReviewAnswer::Comment(text.trim()));
    }
    Some(match answer {
        "a" | "accept" => PlainReviewAnswer::Mark(ReviewDecision::Accepted),
        "r" | "reject" => PlainReviewAnswer::Mark(ReviewDecision::Rejected),
        "o" | "open" => PlainReviewAnswer::Mark(ReviewDecision::Open),
        "A" => PlainReviewAnswer::File(ReviewDecision::Accepted),
        "R" => PlainReviewAnswer::File(ReviewDecision::Rejected),
        "" | "n" | "next" => PlainReviewAnswer::Next,
        "b" | "back" => PlainReviewAnswer::Back,
        "u" | "undo" => PlainReviewAnswer::Undo,
        "f" | "finish" => PlainReviewAnswer::Finish,
        "q" | "quit" | STOPPED => PlainReviewAnswer::Leave,
        _ => return None,
    })
}

const WORDS: &str = "a accept, r reject, A or R the whole file, o open again, c TEXT comment, Enter next, b back, \
                     u undo, f finish, q leave";

/// Goes through everything; returns the decisions and whether they are to be applied.
pub(super) fn run(output: &ShellOutput<'_>, mut review: Review, memory: &Path) -> (Review, ReviewOutcome) {
    for told in SavedReview::load(memory).restore_into(&mut review) {
        output.note(&told);
    }
    let outbox = SavedReview::load(memory).outbox;
    output.note(&format!("{}: {WORDS}", review.task.title));
    let mut at = 0;
    loop {
        let stops = review.stops();
        let Some(stop) = stops.get(at).copied() else { break };
        output.note(&review.sentence(at, stops.len(), stop));
        for line in review.spoken(stop) {
            output.print(&[Line::raw(format!("  {line}"))]);
        }
        review.mark_seen(stop);
        let question = format!("hunk {} of {}: ", at + 1, stops.len());
        let answer = TerminalLineUi.ask(&question).unwrap_or_else(|| STOPPED.into());
        match read(&answer) {
            Some(PlainReviewAnswer::Mark(mark)) => {
                review.decide_stop(stop, mark);
                at += 1;
            }
            Some(PlainReviewAnswer::File(mark)) => {
                for other in stops.iter().filter(|s| s.file == stop.file && s.hunk >= stop.hunk) {
                    review.decide_stop(*other, mark);
                }
                at += stops.iter().filter(|s| s.file == stop.file && s.hunk >= stop.hunk).count();
            }
            Some(PlainReviewAnswer::Comment(text)) => {
                review.comment_on(stop, text);
                output.hint("commented");
            }
            Some(PlainReviewAnswer::Next) => at += 1,
            Some(PlainReviewAnswer::Back) => at = at.saturating_sub(1),
            Some(PlainReviewAnswer::Undo) => {
                review.handle(ReviewAction::Undo);
                output.hint(review.footer.message.as_deref().unwrap_or(""));
            }
            Some(PlainReviewAnswer::Finish) => break,
            Some(PlainReviewAnswer::Leave) => {
                save(output, &review, outbox, memory);
                output.hint("nothing was applied; your decisions are saved");
                return (review, ReviewOutcome::Left);
            }
            None => output.hint(WORDS),
        }
        save(output, &review, outbox.clone(), memory);
    }
    let outcome = confirm(output, &review);
    (review, outcome)
}

fn save(output: &ShellOutput<'_>, review: &Review, outbox: Option<String>, memory: &Path) {
    let before = SavedReview::load(memory);
    if let Err(e) = SavedReview::of(review, outbox).merge(&before, review).save(memory) {
        output.error(&format!("this is not saved: {e}"), None);
    }
}

/// The summary, and a word that carries it out.
fn confirm(output: &ShellOutput<'_>, review: &Review) -> ReviewOutcome {
    let (accepted, rejected) = review.tally();
    if accepted + rejected == 0 && !review.has_news() {
        output.note("no decisions: everything stays pending");
        return ReviewOutcome::Left;
    }
    let summary = review.summary();
    let lines = summary.iter().map(|(line, _)| line).filter(|line| !line.is_empty());
    output.say_list(lines.cloned().map(Line::raw));
    if review.open_conflict().is_some() {
        output.hint("nothing was applied; your decisions are saved");
        return ReviewOutcome::Left;
    }
    let tell = if review.has_news() { ", `tell` to apply and report to the agent now" } else { "" };
    loop {
        let question = format!("Type `apply` to apply this{tell}, Enter to leave: ");
        match line_ui::consent(&question).as_deref().unwrap_or(STOPPED).trim() {
            "apply" => return ReviewOutcome::Apply { tell: false },
            "tell" if review.has_news() => return ReviewOutcome::Apply { tell: true },
            "" | "n" | "no" | "q" | STOPPED => {
                output.hint("nothing was applied; your decisions are saved");
                return ReviewOutcome::Left;
            }
            _ if review.has_news() => output.hint("`apply`, `tell`, or Enter alone"),
            _ => output.hint("`apply`, or Enter alone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_words_and_enter_alone_decides_nothing() {
        assert_eq!(read("a"), Some(PlainReviewAnswer::Mark(ReviewDecision::Accepted)));
        assert_eq!(read(" reject "), Some(PlainReviewAnswer::Mark(ReviewDecision::Rejected)));
        assert_eq!(read("R"), Some(PlainReviewAnswer::File(ReviewDecision::Rejected)));
        assert_eq!(read(""), Some(PlainReviewAnswer::Next));
        assert_eq!(read("c why this?"), Some(PlainReviewAnswer::Comment("why this?")));
        assert_eq!(read("c  "), None);
        assert_eq!(read("accept all"), None);
        assert_eq!(read(STOPPED), Some(PlainReviewAnswer::Leave));
    }
}
