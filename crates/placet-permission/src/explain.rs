//! How the policy decided about a call, part by part: the answer to "why does it ask?".

use super::command::CommandSegment;
use super::command_rules::SegmentConsent;
use super::parsed_command::ParsedCommand;
use super::policy::{AccessVerdict, Policy};
use super::{Access, PermitReason, RuleVerdict};
use serde::Serialize;
use std::fmt;

/// The whole decision about one access, for people and for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionExplanation {
    pub verdict: &'static str,
    /// Why, in one line.
    pub reason: String,
    /// What the person must type to agree, if a key is not enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// The commands of a line; empty for other accesses.
    pub segments: Vec<ExplainedCommand>,
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedCommand {
    pub command: String,
    /// 0 for a command of the line, 1 for a command that a wrapper of the line runs, and so on.
    pub depth: usize,
    /// Where the command may run; empty if unknown.
    pub dirs: Vec<String>,
    pub rules: Vec<MatchedRule>,
    /// What decides about this command.
    pub by: String,
}

/// A rule that matches a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    pub verdict: &'static str,
    pub rule: String,
    pub origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Policy {
    /// The present decision about `reach`, and its reasons. Counts no use of rules and grants.
    pub fn explain(&self, tool: &str, reach: &Access) -> PermissionExplanation {
        let runs = self.as_it_runs(reach);
        let reach = &*runs;
        let judged = self.judge(tool, reach);
        let by_mode = matches!(judged, AccessVerdict::Allow(PermitReason::Mode(_)));
        let (verdict, reason, typed) = match judged {
            AccessVerdict::Allow(why) => ("allow", why.to_string(), None),
            AccessVerdict::Ask { reason, .. } => ("ask", reason, None),
            AccessVerdict::Danger(danger) => ("ask", danger.describe(), danger.typed),
            AccessVerdict::Deny { reason, .. } => ("deny", reason, None),
        };
        let line = ParsedCommand::read(tool, reach, self.home());
        let mut segments = Vec::new();
        if let Some(line) = &line {
            for segment in line.segments.iter().flatten() {
                self.explain_segment(line, segment, 0, &mut segments);
            }
        }
        // The parts alone are allowed: without this, the lines below a refusal would be misleading.
        if verdict == "deny" {
            for part in segments.iter_mut().filter(|part| part.rules.is_empty()) {
                part.by = "denied by the mode, see above".into();
            }
        }
        // If the mode decides, it does not matter what rules and grants cover.
        for part in segments.iter_mut().filter(|_| by_mode) {
            part.by = "the mode allows it".into();
        }
        PermissionExplanation { verdict, reason, typed, segments }
    }

    /// What a question shows as its reasons: how each part was decided, and what asks. What is asked for has its row above.
    pub(super) fn why_asked(&self, tool: &str, reach: &[Access]) -> String {
        let mut out = String::new();
        for access in reach {
            let explained = self.explain(tool, access);
            if reach.len() > 1 {
                out.push_str(&explained.to_string());
            } else {
                let parts = PermissionExplanation { reason: String::new(), ..explained }.to_string();
                out.push_str(parts.split_once('\n').map_or("", |(_, parts)| parts));
            }
            out.extend(self.asks_by(tool, access).map(|by| format!("asked by: {by}\n")));
        }
        out
    }

    /// The rule or the mode that asks, and where a person changes it; `None` where nothing asks.
    fn asks_by(&self, tool: &str, reach: &Access) -> Option<String> {
        let runs = self.as_it_runs(reach);
        let always = match self.judge(tool, &runs) {
            AccessVerdict::Ask { always, flag, .. } => always.is_some() || flag.is_some(),
            AccessVerdict::Danger(_) => return Some("every mode, because the command is dangerous".into()),
            AccessVerdict::Allow(_) | AccessVerdict::Deny { .. } => return None,
        };
        let line = ParsedCommand::read(tool, &runs, self.home());
        if let Some(rule) = self.rule_of(RuleVerdict::Ask, tool, &runs, line.as_ref()) {
            return Some(format!("the rule `{}`, set in {}", rule.text, rule.origin));
        }
        let mode = self.mode().name();
        Some(match always {
            true => format!(
                "{mode} mode, because no rule and no grant allows it. Shift+Tab and /mode change the mode; a rule in `permission.allow` of the settings allows it in this mode"
            ),
            false => format!("{mode} mode, each time: no rule and no grant allows this"),
        })
    }

    fn explain_segment(
        &self,
        line: &ParsedCommand<'_>,
        segment: &CommandSegment,
        depth: usize,
        out: &mut Vec<ExplainedCommand>,
    ) {
        let mut rules: Vec<MatchedRule> = Vec::new();
        for rule in self.rules() {
            let speaks = rule.applies_to(line.tool, line.reach);
            let hit = match rule.verdict {
                RuleVerdict::Allow => speaks && !segment.words.is_empty() && rule.allows(segment),
                _ => speaks && rule.matches_any_spelling(segment) || self.names_guarded(rule, segment),
            };
            if hit {
                rules.push(MatchedRule {
                    verdict: rule.verdict.name(),
                    rule: rule.text.clone(),
                    origin: rule.origin.clone(),
                    reason: rule.reason.clone(),
                });
            }
        }
        let stops = |verdict: &str| rules.iter().find(|m| m.verdict == verdict);
        let by = match (stops("deny"), stops("ask")) {
            (Some(rule), _) => format!("the rule `{}` denies it", rule.rule),
            (None, Some(rule)) => format!("the rule `{}` asks", rule.rule),
            (None, None) => match self.cover(line, segment) {
                SegmentConsent::Harmless => "needs no permission".into(),
                SegmentConsent::By(why) => why.to_string(),
                SegmentConsent::Open(Some(reason)) => reason,
                SegmentConsent::Open(None) => "no rule or grant matches".into(),
            },
        };
        let dirs = segment.dirs.iter().flatten().map(|dir| dir.display().to_string()).collect();
        out.push(ExplainedCommand { command: segment.describe(), depth, dirs, rules, by });
        for inner in &segment.inner {
            self.explain_segment(line, inner, depth + 1, out);
        }
    }
}

impl fmt::Display for PermissionExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.verdict, self.reason)?;
        if let Some(word) = &self.typed {
            writeln!(f, "  to confirm, type: {word}")?;
        }
        for part in &self.segments {
            let indent = "  ".repeat(part.depth + 1);
            writeln!(f, "{indent}{}", part.command.replace('\n', " "))?;
            for matched in &part.rules {
                write!(f, "{indent}  {} {} ({})", matched.verdict, matched.rule, matched.origin)?;
                match &matched.reason {
                    Some(reason) => writeln!(f, ": {reason}")?,
                    None => writeln!(f)?,
                }
            }
            if part.dirs.len() > 1 {
                writeln!(f, "{indent}  runs in {}", part.dirs.join(" or "))?;
            }
            writeln!(f, "{indent}  = {}", part.by)?;
        }
        Ok(())
    }
}
