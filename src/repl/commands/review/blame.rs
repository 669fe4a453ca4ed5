//! Who wrote each line of a file that is shown.

use crate::conversation::Message;
use crate::workspace::{ApprovedBy, LineAttribution, LineStatus, TransactionLabel, View};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Turns of a conversation by the names they have in the journal, counted as people count them.
pub type TurnNumbers = BTreeMap<String, usize>;

/// The turns of this conversation.
pub(in crate::repl) fn turn_numbers(messages: &[Message], view: &View) -> TurnNumbers {
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let said = messages.iter().enumerate().filter(|(_, m)| matches!(m, Message::User { .. }));
    said.enumerate().map(|(n, (index, _))| (TransactionLabel::turn_of(&name, index, 0), n + 1)).collect()
}

/// Who wrote each line, in the width of a gutter: turn, what, consent.
pub fn blamed(view: &View, path: &Path, turns: &TurnNumbers) -> io::Result<Vec<String>> {
    let blame = view.blame(path)?;
    Ok(blame.lines.iter().map(|line| words(&line.claim, turns)).collect())
}

fn words(claim: &LineAttribution, turns: &TurnNumbers) -> String {
    let who = match (&claim.standing, &claim.assent) {
        (LineStatus::Before, _) => return String::new(),
        (LineStatus::Outside { .. }, _) => return "you, outside".into(),
        (LineStatus::Unknown { .. }, _) => return "?".into(),
        (LineStatus::Pending, _) => "pending",
        (_, ApprovedBy::You { .. }) => "you",
        (_, ApprovedBy::Rule { .. }) => "rule",
        (_, ApprovedBy::Mode { .. }) => "mode",
        (_, ApprovedBy::Unknown) => "-",
    };
    let origin = claim.origin.as_deref();
    let turn = origin.map_or("", |o| o.turn.as_str());
    // What another conversation did is named as `placet blame` names it.
    let turn = match turns.get(TransactionLabel::place_of(turn)) {
        Some(number) => number.to_string(),
        None => turn.rsplit_once('#').map_or_else(String::new, |(_, index)| format!("#{index}")),
    };
    let tool = origin.map_or("", |o| o.tool.as_str());
    format!("{turn} {who} {tool}").trim().to_string()
}
