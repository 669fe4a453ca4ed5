//! Blame as text: a table for a person and a program that cuts columns, and objects for a program that reads JSON.
//!
//! The text of a line is unchanged: the code that writes it to a terminal cleans it first.

use super::changes::when;
use crate::text::{sanitize, width};
use crate::workspace::{ApprovedBy, BlameLine, FileBlame, LineAttribution, LineStatus};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use thiserror::Error;

/// Columns that a call's title and its approval may take.
const TITLE: usize = 36;
const CONSENT: usize = 24;

/// What was given for the lines of a file is not a range of them.
#[derive(Debug, Error)]
#[error("invalid line range `{}`: expected 12 or 12,20", sanitize::line(.0))]
pub struct InvalidLineRange(String);

/// `12` or `12,20`: lines from 1.
pub fn range(words: &str) -> Result<RangeInclusive<usize>, InvalidLineRange> {
    let wrong = || InvalidLineRange(words.into());
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(wrong);
    match words.split_once(',') {
        None => number(words).map(|one| one..=one),
        Some((first, last)) => match (number(first)?, number(last)?) {
            (first, last) if first <= last => Ok(first..=last),
            _ => Err(wrong()),
        },
    }
}

/// One row for each line: turn, time, call, approval, number, text.
pub fn table<'b>(lines: impl IntoIterator<Item = &'b BlameLine>) -> Vec<String> {
    let lines: Vec<&BlameLine> = lines.into_iter().collect();
    let cells: Vec<[String; 4]> = lines.iter().map(|line| cells(&line.claim)).collect();
    let widest =
        |at: usize| cells.iter().filter_map(|row| row.get(at)).map(|c| width::of(c)).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2), widest(3)];
    let digits = lines.last().map_or(1, |line| line.number.to_string().len());
    let row = |(line, cells): (&&BlameLine, &[String; 4])| {
        let mut row = String::new();
        for (cell, wide) in cells.iter().zip(widths) {
            row.push_str(cell);
            row.push_str(&" ".repeat(wide.saturating_sub(width::of(cell)) + 2));
        }
        format!("{row}{:>digits$}  {}", line.number, line.text)
    };
    lines.iter().zip(&cells).map(row).collect()
}

fn cells(claim: &LineAttribution) -> [String; 4] {
    let Some(origin) = &claim.origin else {
        // A dash: a program that counts columns finds the same number in each row.
        let none = || "-".to_string();
        return [none(), none(), width::cut(&standing(claim), TITLE), none()];
    };
    let what = if origin.title.is_empty() { &origin.tool } else { &origin.title };
    // The exit code of a program that succeeded is only in the JSON form: the column is narrow.
    let failed = origin.program.as_ref().filter(|program| program.exit_code != Some(0));
    let what = failed.map_or_else(|| what.clone(), |program| format!("{what} ({})", program.ending()));
    let consent = match claim.standing {
        LineStatus::Pending => "pending".into(),
        _ => claim.assent.words(),
    };
    [
        short_turn(&origin.turn),
        when(origin.at),
        width::cut(&sanitize::line(&what), TITLE),
        width::cut(&consent, CONSENT),
    ]
}

fn standing(claim: &LineAttribution) -> String {
    match &claim.standing {
        LineStatus::Before => "before placet".into(),
        LineStatus::Workspace => "landed".into(),
        LineStatus::Pending => "pending".into(),
        LineStatus::Outside { after: Some(after), before: Some(before) } => {
            format!("outside placet, between {after} and {before}")
        }
        LineStatus::Outside { after: Some(after), before: None } => {
            format!("outside placet, after {after}")
        }
        LineStatus::Outside { .. } => "outside placet".into(),
        LineStatus::Unknown { why } => format!("unknown: {why}"),
    }
}

/// A turn's name as short as a person needs it: the end of its session's name, and its number.
fn short_turn(turn: &str) -> String {
    let (name, number) = match turn.split_once('#') {
        Some((name, number)) => (name, format!("#{number}")),
        None => (turn, String::new()),
    };
    let skip = name.chars().count().saturating_sub(8);
    let name: String = name.chars().skip(skip).collect();
    sanitize::line(&format!("{name}{number}")).into_owned()
}

/// Why lines are unknown, each reason once, and the other notes.
pub fn notes(blame: &FileBlame) -> Vec<String> {
    let mut notes = blame.notes.clone();
    for line in &blame.lines {
        if let LineStatus::Unknown { why } = &line.claim.standing
            && !notes.contains(why)
        {
            notes.push(why.clone());
        }
    }
    notes
}

pub fn object(line: &BlameLine) -> Value {
    let claim = &line.claim;
    let (state, after, before, why) = match &claim.standing {
        LineStatus::Before => ("before", None, None, None),
        LineStatus::Workspace => ("workspace", None, None, None),
        LineStatus::Pending => ("pending", None, None, None),
        LineStatus::Outside { after, before } => ("outside", *after, *before, None),
        LineStatus::Unknown { why } => ("unknown", None, None, Some(why)),
    };
    let all = [
        ("line", json!(line.number)),
        ("state", json!(state)),
        ("origin", json!(claim.origin.as_deref())),
        ("assent", (claim.assent != ApprovedBy::Unknown).then(|| json!(claim.assent)).into()),
        ("transaction", json!(claim.entry)),
        ("after", json!(after)),
        ("before", json!(before)),
        ("why", json!(why)),
        ("text", json!(line.text)),
    ];
    let known = all.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(known.map(|(key, value)| (key.to_string(), value)).collect())
}
