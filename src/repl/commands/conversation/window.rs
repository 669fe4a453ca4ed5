//! `/context` and `/compact`: what fills the model's window, making room in it, and what the summary says that did.

use crate::agent::{ContextUsage, TurnStart, UsagePart};
use crate::config::WrapSetting;
use crate::repl::commands::extensions::skills::shown;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::{visible, width};
use crate::ui::prose::{self, ProseIndent, ProseWidth, SECOND_COLUMN, STACKED_INDENT};
use crate::ui::{editor, margin_mark, term, token_counts};
use ratatui::text::{Line, Span};
use std::path::Path;

/// The widest bar. A wider one tells nothing more.
const WIDEST_BAR: usize = 100;
/// What the shares are drawn with in the bar and marked with below it, in turn: blocks, of which no neighbours are alike.
const FILLS: [char; 20] =
    ['█', '▒', '▓', '░', '▚', '▄', '▞', '▀', '▌', '▙', '▐', '▜', '▖', '▟', '▝', '▛', '▗', '▬', '▘', '▪'];
/// The shares that have a sign of their own; the smallest of more are one share, because no sign means two things.
const MOST_SHARES: usize = FILLS.len();
/// Where less than one part of so many of the window is in use, the bar shows what is in use and not the window: in a
/// window of a million tokens every share would be one cell.
const SMALL_PART: u64 = 4;
const RESERVED: char = '-';
const FREE: char = '·';
/// Columns of the sign of a share.
const SIGN: usize = 2;
/// Columns of a number of tokens, and of a percentage.
const NUMBER: usize = 5;
const PERCENT: usize = 4;
const NO_SUMMARY: &str = "this conversation has no summary";

pub(in crate::repl::commands) fn context(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    match rest.trim() {
        "" => {}
        "summary" => return summary(context),
        other => {
            let what = format!("unknown argument `{other}` of /context");
            return Err(CommandStop::with_hint(what, "use /context or /context summary"));
        }
    }
    let agent = context.conversation.agent.as_ref();
    let agent = agent.ok_or_else(|| CommandStop::note("no messages yet"))?;
    let width = context.output.width();
    let columns = width.columns.saturating_sub(margin_mark::UNDER.len());
    let bar = if context.output.is_linear() { None } else { Some(columns.min(WIDEST_BAR)) };
    let mut usage = agent.context_usage();
    for share in usage.shares.iter_mut().filter(|share| share.is_file) {
        share.name = shown(context, Path::new(&share.name));
    }
    context.output.say_lines(told(&usage, bar, ProseWidth::new(columns, width.wrap)));
    Ok(CommandFollowUp::Nothing)
}

/// What the model has in place of the beginning; in the viewer where it is longer than the screen.
fn summary(context: &CommandContext<'_>) -> SlashCommandResult {
    let summary = context.conversation.agent.as_ref().and_then(|agent| agent.summary());
    let (text, upto) = summary.ok_or_else(|| CommandStop::note(NO_SUMMARY))?;
    let clean = visible::prose(text).into_owned();
    if clean.lines().count() + 2 >= usize::from(term::size().1) {
        context.output.look_at("the summary", &clean);
    } else {
        let head = format!("of {upto} messages, as the model has it:");
        context.output.say_plain(std::iter::once(head).chain(clean.lines().map(String::from)));
    }
    Ok(CommandFollowUp::Nothing)
}

pub(in crate::repl::commands) fn compact(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    if context.conversation.agent.is_none() {
        return Err(CommandStop::note("nothing to summarize"));
    }
    match rest.trim() {
        "undo" => undo(context),
        "edit" => edit(context),
        focus => Ok(CommandFollowUp::Turn(TurnStart::SumUp { focus: focus.to_string() })),
    }
}

fn undo(context: &mut CommandContext<'_>) -> SlashCommandResult {
    let agent = context.conversation.agent.as_mut().ok_or_else(|| CommandStop::note(NO_SUMMARY))?;
    let undone = agent.undo_summary().map_err(|e| format!("the summary was not removed: {e}"))?;
    let upto = undone.ok_or_else(|| CommandStop::note(NO_SUMMARY))?;
    let before = agent.summary();
    let from = before.map_or(String::new(), |(_, upto)| format!(" from message {} on", upto + 1));
    context.output.note(&format!(
        "removed the summary of {upto} messages: they are sent again{from}; placet leaves out what does not fit, and reports it"
    ));
    Ok(CommandFollowUp::Nothing)
}

fn edit(context: &mut CommandContext<'_>) -> SlashCommandResult {
    let program = context.output.editor();
    let agent = context.conversation.agent.as_mut().ok_or_else(|| CommandStop::note(NO_SUMMARY))?;
    let before = agent.summary().map(|(text, _)| text.to_string());
    let before = before.ok_or_else(|| CommandStop::note(NO_SUMMARY))?;
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
    context.output.note(told.map_err(|why| format!("the summary is unchanged: {why}"))?);
    Ok(CommandFollowUp::Nothing)
}

/// A line for the whole, a bar of `bar` cells for the window, and a row for each share.
fn told(fill: &ContextUsage, bar: Option<usize>, width: ProseWidth) -> Vec<Line<'static>> {
    let used = fill.used();
    let percent = |tokens: u64| tokens * 100 / fill.usable.max(1);
    let (shown, counted) = (token_counts::short(used), token_counts::short(fill.counted));
    let how = match fill.counted {
        0 => "estimated; no request was sent yet".into(),
        _ if shown == counted => "by the provider's last count".into(),
        // The status row has that figure, and what came since is not in it.
        _ => format!("the next request; the last one had {counted}"),
    };
    let mut lines =
        vec![format!("{shown} of {} tokens, {}% ({how})", token_counts::short(fill.usable), percent(used))];
    if used > fill.usable {
        let words =
            "more than fits: the oldest messages are left out of each request; /compact summarizes them";
        lines.push(words.into());
    }
    let free = fill.usable.saturating_sub(used);
    let shares = with_sign(&fill.shares);
    let mut parts: Vec<(char, &str, u64, Option<&str>)> =
        shares.iter().map(|(sign, name, tokens, hint)| (*sign, name.as_str(), *tokens, *hint)).collect();
    parts.push((RESERVED, "reserved for the answer", fill.answer, None));
    parts.push((FREE, "free", free, None));
    if let Some(cells) = bar {
        let is_small = used > 0 && used < (fill.usable + fill.answer) / SMALL_PART;
        let drawn = if is_small { shares.len() } else { parts.len() };
        lines.push(bar_of(
            &parts.iter().take(drawn).map(|(sign, _, tokens, _)| (*sign, *tokens)).collect::<Vec<_>>(),
            cells,
        ));
        if is_small {
            lines.push("the bar shows what is in use, not the whole window".into());
        }
    }
    let names = parts.iter().map(|(_, name, ..)| width::of(name)).max().unwrap_or(0);
    let gaps = [(4, 2), (1, 1)];
    let room = |(before, between): &(usize, usize)| {
        width.columns.saturating_sub(SIGN + before + NUMBER + between + PERCENT)
    };
    let gaps = gaps.into_iter().find(|gaps| names <= room(gaps)).unwrap_or((1, 1));
    let wide = match width.wrap {
        WrapSetting::Words => names.min(room(&gaps)),
        WrapSetting::Terminal => names,
    };
    let mut lines: Vec<Line<'static>> = lines.into_iter().map(Line::raw).collect();
    for (sign, name, tokens, hint) in &parts {
        let lead = if bar.is_some() { format!("{sign} ") } else { String::new() };
        let name = width::cut_middle(name, wide);
        let gap = " ".repeat(gaps.0 + wide - width::of(&name));
        // What is reserved is not a part of what a request may have.
        let share = if *sign == RESERVED {
            String::new()
        } else {
            format!("{:>PERCENT$}", format!("{}%", percent(*tokens)))
        };
        let numbers = format!("{:>NUMBER$}{}{share}", token_counts::short(*tokens), " ".repeat(gaps.1));
        lines.extend(share_rows(&format!("{lead}{name}{gap}{}", numbers.trim_end()), *hint, width));
    }
    if fill.summed_up > 0 {
        let words = format!("{} earlier messages are summarized; /transcript shows them", fill.summed_up);
        lines.push(Line::raw(words));
    }
    lines
}

/// The row of a share and its hint, which continues below its own words, or is below the row where it has no room.
fn share_rows(row: &str, hint: Option<&str>, width: ProseWidth) -> Vec<Line<'static>> {
    let Some(hint) = hint.map(|hint| format!("({hint})")) else { return vec![Line::raw(row.to_string())] };
    let broken = |first: String, further: String, text: String| {
        let indent = ProseIndent { first: vec![Span::raw(first)], further, breaks_words: true };
        prose::lines(indent, prose::of_spans([Span::raw(text)]), width)
    };
    let at = width::of(row) + 2;
    if width.wrap == WrapSetting::Words && at + SECOND_COLUMN.min(width::of(&hint)) > width.columns {
        let stacked = " ".repeat(STACKED_INDENT);
        let mut rows = vec![Line::raw(row.to_string())];
        rows.extend(broken(stacked.clone(), stacked, hint));
        return rows;
    }
    // Below the first letter, not below the bracket.
    broken(format!("{row}  "), " ".repeat(at + 1), hint)
}

/// Each share with its sign, in their order. Of too many shares the smallest are added up.
fn with_sign(shares: &[UsagePart]) -> Vec<(char, String, u64, Option<&str>)> {
    let mut by_size: Vec<u64> = shares.iter().map(|share| share.tokens).collect();
    by_size.sort_unstable_by(|a, b| b.cmp(a));
    let most = if shares.len() > MOST_SHARES { MOST_SHARES - 1 } else { shares.len() };
    let least = by_size.get(most.saturating_sub(1)).copied().unwrap_or(0);
    let (mut named, mut others) = (Vec::new(), (0, 0));
    for share in shares {
        if share.tokens >= least && named.len() < most {
            named.push((share.name.clone(), share.tokens, share.hint));
        } else {
            others = (others.0 + 1, others.1 + share.tokens);
        }
    }
    if others.0 > 0 {
        named.push((format!("{} smaller parts", others.0), others.1, None));
    }
    FILLS.into_iter().zip(named).map(|(sign, (name, tokens, hint))| (sign, name, tokens, hint)).collect()
}

/// One bar of `cells`, in which each part has its share; a part that is not empty has one cell at least.
fn bar_of(parts: &[(char, u64)], cells: usize) -> String {
    let total: u64 = parts.iter().map(|(_, tokens)| tokens).sum::<u64>().max(1);
    let share =
        |tokens: u64| usize::try_from(u128::from(tokens) * cells as u128 / u128::from(total)).unwrap_or(0);
    let mut widths: Vec<usize> =
        parts.iter().map(|(_, tokens)| if *tokens > 0 { share(*tokens).max(1) } else { 0 }).collect();
    // What rounding left over, or took too much, is the widest part's.
    let sum: usize = widths.iter().sum();
    if let Some(widest) = widths.iter_mut().max_by_key(|width| **width) {
        *widest = (*widest + cells).saturating_sub(sum).max(1);
    }
    parts.iter().zip(widths).map(|((sign, _), width)| sign.to_string().repeat(width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_has_its_part_of_the_window() {
        let share = |name: &str, tokens, hint| UsagePart {
            name: name.into(),
            is_file: false,
            tokens,
            count: 1,
            hint,
        };
        let fill = ContextUsage {
            usable: 192_000,
            answer: 8_000,
            counted: 30_000,
            shares: vec![
                share("tool definitions", 10_000, None),
                share("results of read_file", 20_000, Some("/compact")),
            ],
            summed_up: 12,
        };
        let rows = |fill: &ContextUsage, bar, columns| -> Vec<String> {
            let width = ProseWidth::new(columns, WrapSetting::Words);
            told(fill, bar, width).iter().map(Line::to_string).collect()
        };
        let wanted = [
            "30.0k of 192k tokens, 15% (by the provider's last count)",
            "█████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒",
            "the bar shows what is in use, not the whole window",
            "█ tool definitions           10.0k    5%",
            "▒ results of read_file       20.0k   10%  (/compact)",
            "- reserved for the answer     8.0k",
            "· free                        162k   84%",
            "12 earlier messages are summarized; /transcript shows them",
        ];
        assert_eq!(rows(&fill, Some(40), 80), wanted);
        // Where there is no room, a hint continues below its own words, or is below its row.
        let mut long = fill.clone();
        long.shares =
            vec![share("results of run_command", 20_000, Some("the oldest are left out first; /compact"))];
        assert_eq!(
            rows(&long, Some(40), 78)[3..5],
            [
                "█ results of run_command     20.0k   10%  (the oldest are left out first;".to_string(),
                format!("{:43}/compact)", ""),
            ]
        );
        assert_eq!(
            rows(&long, Some(40), 50)[3..6],
            [
                "█ results of run_command     20.0k   10%",
                "      (the oldest are left out first; /compact)",
                "- reserved for the answer     8.0k"
            ]
        );
        assert_eq!(
            rows(&long, Some(38), 38)[3..8],
            [
                "█ results of run_command  20.0k  10%",
                "      (the oldest are left out first;",
                "      /compact)",
                "- reserved for the answer  8.0k",
                "· free                     172k  89%",
            ]
        );
        // A path keeps its end, and its figures stay next to it.
        let mut file = fill.clone();
        file.shares = vec![share("packages/service/src/deep/AGENTS.md", 20_000, None)];
        assert_eq!(rows(&file, Some(38), 38)[3], "█ packages…c/deep/AGENTS.md 20.0k  10%");
        // What came since the last request is not in the provider's count of it.
        let since = ContextUsage { counted: 28_000, ..fill.clone() };
        assert_eq!(
            rows(&since, None, 80)[0],
            "30.0k of 192k tokens, 15% (the next request; the last one had 28.0k)"
        );
        assert_eq!(rows(&fill, None, 80)[1], "tool definitions           10.0k    5%");
        let half = ContextUsage { usable: 52_000, ..fill };
        assert_eq!(rows(&half, Some(40), 80)[1], "██████▒▒▒▒▒▒▒▒▒▒▒▒▒-----················");
        let small = ContextUsage { usable: 29_000, ..half };
        assert!(rows(&small, Some(40), 80)[1].starts_with("more than fits: "));
        for cells in [1, 5, 38, 100] {
            let bar = bar_of(&[('a', 1), ('b', 1_000_000), ('c', 0), ('d', 30_000)], cells);
            assert_eq!(bar.chars().count(), cells.max(3), "{bar}");
            assert!(bar.contains('a') && !bar.contains('c') && bar.contains('d'), "{bar}");
        }
    }

    #[test]
    fn no_sign_means_two_things_however_many_shares_there_are() {
        let share = |n: u64| UsagePart {
            name: format!("file {n}"),
            is_file: true,
            tokens: n * 1000,
            count: 1,
            hint: None,
        };
        for most in [1, 8, 9, 20, 21, 60] {
            let shares: Vec<UsagePart> = (1..=most).map(share).collect();
            let signed = with_sign(&shares);
            let signs: std::collections::BTreeSet<char> = signed.iter().map(|part| part.0).collect();
            assert_eq!(signs.len(), signed.len());
            assert!(!signs.contains(&RESERVED) && !signs.contains(&FREE));
            let tokens: u64 = signed.iter().map(|part| part.2).sum();
            assert_eq!(tokens, shares.iter().map(|share| share.tokens).sum::<u64>());
        }
    }
}
