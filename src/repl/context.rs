//! `/context` and `/compact`: what fills the model's window, making room in it, and what the summary says that did.

use super::Shell;
use super::command_table::CommandFollowUp;
use crate::agent::{ContextUsage, TurnStart};
use crate::text::visible;
use crate::ui::{editor, scrollback, term};
use ratatui::text::Line;

/// Cells of the bar before a share.
const BAR: usize = 20;

pub(super) fn context(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    match rest.trim() {
        "" => {}
        "summary" => {
            summary(shell);
            return None;
        }
        other => {
            let what = format!("unknown argument `{other}` of /context");
            shell.error(&what, Some("use /context or /context summary"));
            return None;
        }
    }
    let Some(agent) = &shell.conversation.agent else {
        shell.note("no messages yet");
        return None;
    };
    shell.say_lines(told(&agent.context_usage()).into_iter().map(Line::raw));
    None
}

/// What the model has in place of the beginning; in the viewer where it is longer than the screen.
fn summary(shell: &Shell<'_>) {
    let Some((text, upto)) = shell.conversation.agent.as_ref().and_then(|agent| agent.summary()) else {
        return shell.note(NOTHING);
    };
    let clean = visible::prose(text).into_owned();
    if clean.lines().count() + 2 >= usize::from(term::size().1) {
        return shell.look_at("the summary", &clean);
    }
    let head = format!("of {upto} messages, as the model has it:");
    let lines = std::iter::once(head).chain(clean.lines().map(String::from));
    shell.say_lines(lines.map(Line::raw));
}

const NOTHING: &str = "this conversation has no summary";

fn undo(shell: &mut Shell<'_>) {
    let undone = shell.conversation.agent.as_mut().map_or(Ok(None), |agent| agent.undo_summary());
    match undone {
        Ok(None) => shell.note(NOTHING),
        Ok(Some(upto)) => {
            let before = shell.conversation.agent.as_ref().and_then(|agent| agent.summary());
            let from = before.map_or(String::new(), |(_, upto)| format!(" from message {} on", upto + 1));
            shell.note(&format!(
                "removed the summary of {upto} messages: they are sent again{from}; placet leaves out what does not fit, and reports it"
            ));
        }
        Err(e) => shell.error(&format!("the summary was not removed: {e}"), None),
    }
}

fn edit(shell: &mut Shell<'_>) {
    let program = shell.editor();
    let Some(agent) = &mut shell.conversation.agent else { return shell.note(NOTHING) };
    let Some(before) = agent.summary().map(|(text, _)| text.to_string()) else { return shell.note(NOTHING) };
    let after =
        term::with_original_mode(|| editor::edit(&program, &before, ".md")).map_err(|e| e.to_string());
    let told = after.and_then(|after| match after.trim() {
        "" => Err("the summary is empty; /compact undo removes a summary".to_string()),
        same if same == before.trim() => Ok("the summary is unchanged"),
        text => agent
            .rewrite_summary(text)
            .map(|()| "your summary is used from the next request on")
            .map_err(|e| e.to_string()),
    });
    match told {
        Ok(words) => shell.note(words),
        Err(why) => shell.error(&format!("the summary is unchanged: {why}"), None),
    }
}

pub(super) fn compact(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if shell.conversation.agent.is_none() {
        shell.note("nothing to summarize");
        return None;
    }
    match rest.trim() {
        "undo" => undo(shell),
        "edit" => edit(shell),
        focus => return Some(TurnStart::SumUp { focus: focus.to_string() }),
    }
    None
}

/// A line for the whole and one for each share, the largest with the longest bar.
fn told(fill: &ContextUsage) -> Vec<String> {
    let used: u64 = fill.shares.iter().map(|share| share.tokens).sum();
    let percent = |tokens: u64| tokens * 100 / fill.window.max(1);
    let how =
        if fill.counted > 0 { "by the provider's last count" } else { "estimated; no request was sent yet" };
    let mut lines = vec![format!(
        "{} of {} tokens, {}% ({how}); {} tokens are reserved for the answer",
        scrollback::short(used),
        scrollback::short(fill.window),
        percent(used),
        scrollback::short(fill.answer)
    )];
    if used + fill.answer > fill.window {
        let words =
            "more than fits: the oldest messages are left out of each request; /compact summarizes them";
        lines.push(words.into());
    }
    let wide = fill.shares.iter().map(|share| share.name.len()).max().unwrap_or(0);
    let largest = fill.shares.iter().map(|share| share.tokens).max().unwrap_or(0).max(1);
    for share in &fill.shares {
        let cells = usize::try_from(share.tokens * BAR as u64 / largest).unwrap_or(BAR);
        let bar = "#".repeat(cells.max(1));
        let hint = share.hint.map(|hint| format!("  ({hint})")).unwrap_or_default();
        lines.push(format!(
            "{:wide$}  {:>7}  {:>3}%  {bar:BAR$}{hint}",
            share.name,
            scrollback::short(share.tokens),
            percent(share.tokens)
        ));
    }
    if fill.summed_up > 0 {
        lines.push(format!("{} earlier messages are summarized; /transcript shows them", fill.summed_up));
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::UsagePart;

    #[test]
    fn every_share_has_its_part_of_the_window() {
        let share = |name: &str, tokens, hint| UsagePart { name: name.into(), tokens, count: 1, hint };
        let fill = ContextUsage {
            window: 200_000,
            answer: 8_000,
            counted: 30_000,
            shares: vec![
                share("tool definitions", 10_000, None),
                share("results of read_file", 20_000, Some("/compact")),
            ],
            summed_up: 12,
        };
        let wanted = [
            "30.0k of 200k tokens, 15% (by the provider's last count); 8.0k tokens are reserved for the answer",
            "tool definitions        10.0k    5%  ##########",
            "results of read_file    20.0k   10%  ####################  (/compact)",
            "12 earlier messages are summarized; /transcript shows them",
        ];
        assert_eq!(told(&fill), wanted);
        let small = ContextUsage { window: 37_000, ..fill };
        assert!(told(&small)[1].starts_with("more than fits: "));
    }
}
