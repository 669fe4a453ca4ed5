//! The proposal as a person reads it: what was read, the difference, what is not imported and why, what is left to do.

use super::proposal::ImportProposal;
use super::skip_reason::SkipReason;
use super::target::ImportTarget;
use crate::cli::mcp::start_note::start_note;
use crate::text::{LineDiff, count, visible};
use std::fmt::Write as _;

/// Lines of the old file around a change.
const CONTEXT: usize = 2;
/// The most of the difference that is shown, in bytes.
const SHOWN: usize = 1 << 20;
/// The most reasons that are listed.
const MOST_SKIPPED: usize = 200;

pub(super) fn proposal(proposal: &ImportProposal, target: &ImportTarget, program: &str) -> String {
    let mut out = String::new();
    if proposal.read.is_empty() && proposal.is_empty() {
        let place = if proposal.is_project() { "this project" } else { "your home directory" };
        // A file that cannot be read is named below, with the reason.
        let found = if proposal.skipped.is_empty() { "" } else { " can be read" };
        let _ = writeln!(out, "no settings of {program}{found} in {place}");
    } else {
        let names: Vec<String> = proposal.read.iter().map(|path| proposal.shown(path)).collect();
        // Commands are files of their own, which are named below.
        if !names.is_empty() {
            let _ = writeln!(out, "read: {}", names.join(", "));
        }
        if proposal.is_empty() {
            let _ = writeln!(out, "nothing to import");
        }
    }
    if target.before != target.after {
        let _ = writeln!(out, "\n{}:", proposal.shown(&target.settings));
        let diff = LineDiff::new(&target.before, &target.after).unified(CONTEXT, SHOWN);
        let lines = diff.text.lines().filter(|line| !target.before.is_empty() || !line.starts_with("@@"));
        for line in lines {
            let _ = writeln!(out, "{}", visible::guard_line(line.trim_end_matches('\r')));
        }
    }
    if !proposal.commands.is_empty() {
        let _ = writeln!(out, "\nnew commands in {}:", proposal.shown(&target.commands));
        for command in &proposal.commands {
            let lines = count::of(command.text.lines().count(), "line");
            let (name, from) = (visible::path(&command.path), proposal.shown(&command.from));
            let _ = writeln!(out, "  {name}: {lines}, from {from}");
        }
    }
    if !proposal.links.is_empty() {
        out.push_str("\nnew links:\n");
        for link in &proposal.links {
            let _ = writeln!(out, "  {} -> {}", proposal.shown(&link.at), proposal.shown(&link.to));
        }
    }
    skipped(proposal, &mut out);
    to_do(proposal, &mut out);
    out
}

fn skipped(proposal: &ImportProposal, out: &mut String) {
    if proposal.skipped.is_empty() {
        return;
    }
    out.push_str("\nnot imported:\n");
    for entry in proposal.skipped.iter().take(MOST_SKIPPED) {
        // A rule or a command line that has a secret is in the name of what is skipped, too.
        let what = crate::text::secret::redact(&entry.what, &[]).into_owned();
        let what: String = what.chars().take(160).collect();
        let file = proposal.shown(&entry.file);
        let why = visible::guard_line(&entry.why.to_string()).into_owned();
        let _ = writeln!(out, "  {} ({file}): {why}", visible::guard_line(&what));
    }
    if let Some(more) = proposal.skipped.len().checked_sub(MOST_SKIPPED).filter(|more| *more > 0) {
        let _ = writeln!(out, "  and {more} more");
    }
}

fn to_do(proposal: &ImportProposal, out: &mut String) {
    let mut lines = Vec::new();
    for (variable, for_what) in &proposal.variables {
        let variable = visible::line(variable);
        lines.push(format!("set the variable {variable} for {for_what}: placet copies no values of secrets"));
    }
    for (name, table) in &proposal.servers {
        let program = table.get("command").and_then(|command| command.as_str());
        let note = program.and_then(|program| start_note(program, !table.contains_key("hosts")));
        lines.extend(note.map(|note| format!("the server {name}: {}", visible::guard_line(&note))));
    }
    let has_program = proposal.servers.iter().any(|(_, table)| table.contains_key("command"));
    if has_program {
        lines.push(
            "servers run in the view, without network: add `hosts = [...]` to a server that needs the network".into(),
        );
    }
    if proposal.is_project() && !proposal.is_empty() {
        lines.push("anyone who writes in this project may have written these settings: read them before you trust them".into());
    }
    let is_alias = |why: &SkipReason| matches!(why, SkipReason::ModelAlias(_));
    if proposal.skipped.iter().any(|entry| is_alias(&entry.why)) {
        lines.push("`placet setup` chooses the provider and the model".into());
    }
    if !lines.is_empty() {
        out.push_str("\nto do:\n");
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
}
