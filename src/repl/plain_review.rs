//! The review without a screen: one sentence for each hunk, its lines, and an answer typed with Enter. Nothing is ever
//! repainted, and Enter alone decides nothing.

use super::prompt::{PromptEditor, STOPPED};
use super::{ReplError, Shell};
use crate::ui::review::{Review, ReviewDecision, ReviewOutcome, SavedReview};
use std::path::Path;

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
pub(super) fn run(
    shell: &Shell<'_>,
    prompter: &mut PromptEditor,
    mut review: Review,
    memory: &Path,
) -> Result<(Review, ReviewOutcome), ReplError> {
    for told in SavedReview::load(memory).restore_into(&mut review) {
        shell.note(&told);
    }
    let outbox = SavedReview::load(memory).outbox;
    shell.note(&format!("{}: {WORDS}", review.title));
    let mut at = 0;
    loop {
        let stops = review.stops();
        let Some(stop) = stops.get(at).copied() else { break };
        shell.note(&review.sentence(at, stops.len(), stop));
        for line in review.spoken(stop) {
            shell.print(&[ratatui::text::Line::raw(format!("  {line}"))]);
        }
        review.mark_seen(stop);
        let answer = prompter.ask_mark(&format!("hunk {} of {}: ", at + 1, stops.len()));
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
                shell.hint("commented");
            }
            Some(PlainReviewAnswer::Next) => at += 1,
            Some(PlainReviewAnswer::Back) => at = at.saturating_sub(1),
            Some(PlainReviewAnswer::Undo) => {
                review.handle(crate::ui::review::ReviewAction::Undo);
                shell.hint(review.message.as_deref().unwrap_or(""));
            }
            Some(PlainReviewAnswer::Finish) => break,
            Some(PlainReviewAnswer::Leave) => {
                save(shell, &review, outbox, memory);
                shell.hint("nothing was applied; your decisions are saved");
                return Ok((review, ReviewOutcome::Left));
            }
            None => shell.hint(WORDS),
        }
        save(shell, &review, outbox.clone(), memory);
    }
    let outcome = confirm(shell, prompter, &review)?;
    Ok((review, outcome))
}

fn save(shell: &Shell<'_>, review: &Review, outbox: Option<String>, memory: &Path) {
    let before = SavedReview::load(memory);
    if let Err(e) = SavedReview::of(review, outbox).merge(&before, review).save(memory) {
        shell.error(&format!("this is not saved: {e}"), None);
    }
}

/// The summary, and a word that carries it out.
fn confirm(
    shell: &Shell<'_>,
    prompter: &mut PromptEditor,
    review: &Review,
) -> Result<ReviewOutcome, ReplError> {
    let (accepted, rejected) = review.tally();
    if accepted + rejected == 0 && !review.has_news() {
        shell.note("no decisions: everything stays pending");
        return Ok(ReviewOutcome::Left);
    }
    let summary = review.summary();
    let lines = summary.iter().map(|(line, _)| line).filter(|line| !line.is_empty());
    shell.say_lines(lines.map(|line| ratatui::text::Line::raw(line.clone())));
    let tell = if review.has_news() { ", `tell` to apply and report to the agent now" } else { "" };
    loop {
        let question = format!("Type `apply` to apply this{tell}, Enter to leave: ");
        match prompter.ask_word(&question).trim() {
            "apply" => return Ok(ReviewOutcome::Apply { tell: false }),
            "tell" if review.has_news() => return Ok(ReviewOutcome::Apply { tell: true }),
            "" | "n" | "no" | "q" | STOPPED => {
                shell.hint("nothing was applied; your decisions are saved");
                return Ok(ReviewOutcome::Left);
            }
            _ if review.has_news() => shell.hint("`apply`, `tell`, or Enter alone"),
            _ => shell.hint("`apply`, or Enter alone"),
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
