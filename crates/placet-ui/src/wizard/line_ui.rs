//! The same questions without a screen: numbered, and answered with typed lines.

use super::search::matching;
use super::{ChoiceTyping, TAKE_KEY, Wizard, WizardAnswer, WizardChoice, WizardQuestion};
use crate::line_ui::{LineUi, number};
use placet_text::text::{sanitize, visible};
use std::time::Duration;

/// Items that are listed at once.
const PAGE: usize = 10;
/// How often the wait checks whether the person stops it.
const LOOK: Duration = Duration::from_millis(50);

/// Asks until the wizard is closed.
pub(super) fn converse(wizard: &mut dyn Wizard, talk: &mut dyn LineUi) {
    while !wizard.is_closed() {
        let page = wizard.page().clone();
        for (line, _) in &page.lines {
            // A typed line always ends with it.
            talk.say(&visible::guard_line(&line.replace(TAKE_KEY, "Enter")));
        }
        let title = visible::guard_line(&page.title).into_owned();
        match page.question {
            WizardQuestion::Wait => {
                talk.say(&format!("{title} Ctrl-C stops."));
                wait(wizard, talk);
            }
            WizardQuestion::Secret => match talk.ask_secret(&format!("{title} (nothing is shown): ")) {
                Some(text) => wizard.answer(WizardAnswer::Text(text)),
                None => wizard.cancel(),
            },
            WizardQuestion::Text { text, .. } => {
                let shown = visible::guard_line(&text).into_owned();
                let usual = if text.is_empty() { String::new() } else { format!(" (Enter alone: {shown})") };
                match talk.ask(&format!("{title}{usual}: ")) {
                    Some(answer) if answer.trim().is_empty() && text.is_empty() => wizard.back(),
                    Some(answer) if answer.trim().is_empty() => wizard.answer(WizardAnswer::Text(text)),
                    Some(answer) => wizard.answer(WizardAnswer::Text(answer)),
                    None => wizard.cancel(),
                }
            }
            WizardQuestion::Choice { items, typing, .. } => choose(wizard, talk, (&title, &items), typing),
        }
    }
}

fn wait(wizard: &mut dyn Wizard, talk: &mut dyn LineUi) {
    while !wizard.poll() {
        if talk.is_interrupted(LOOK) {
            return wizard.back();
        }
    }
}

fn choose(
    wizard: &mut dyn Wizard,
    talk: &mut dyn LineUi,
    (title, items): (&str, &[WizardChoice]),
    typing: ChoiceTyping,
) {
    let (mut query, mut from) = (String::new(), 0);
    loop {
        let found: Vec<usize> = matching(items, &query);
        talk.say(title);
        for (at, item) in found.iter().enumerate().skip(from).take(PAGE) {
            if let Some(item) = items.get(*item) {
                talk.say(&format!("{}: {}", at + 1, words(item)));
            }
        }
        let is_long = items.len() > PAGE || typing == ChoiceTyping::SearchOrName;
        let more = if from + PAGE < found.len() { ", `more`" } else { "" };
        let search = if is_long && typing != ChoiceTyping::Consent { ", words to search" } else { "" };
        let name = if typing == ChoiceTyping::SearchOrName { ", `=NAME` for another name" } else { "" };
        let question = format!("a number{search}{more}{name}, or Enter to go back: ");
        let Some(answer) = talk.ask(&question) else { return wizard.cancel() };
        let answer = answer.trim();
        match (answer, number(answer, found.len()).and_then(|at| found.get(at))) {
            ("", _) if query.is_empty() => return wizard.back(),
            ("", _) => (query, from) = (String::new(), 0),
            ("more", _) if !more.is_empty() => from += PAGE,
            (_, Some(item)) => return wizard.answer(WizardAnswer::Item(*item)),
            _ => match answer.strip_prefix('=').filter(|_| typing == ChoiceTyping::SearchOrName) {
                Some(name) => return wizard.answer(WizardAnswer::Text(name.into())),
                None if search.is_empty() => {
                    talk.say(&format!("there is no {}", visible::guard_line(answer)))
                }
                None if matching(items, answer).is_empty() => {
                    talk.say(&format!("nothing matches {}", visible::guard_line(answer)))
                }
                None => (query, from) = (answer.into(), 0),
            },
        }
    }
}

fn words(item: &WizardChoice) -> String {
    let text = sanitize::name(&item.text).into_owned();
    match item.note.is_empty() {
        true => text,
        false => format!("{text}, {}", sanitize::line(&item.note)),
    }
}
