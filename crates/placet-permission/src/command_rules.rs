//! Checks a command line against rules and grants: each of its parts needs consent, and each part may be refused.

use super::command::{CommandSegment, RedirectKind, SegmentKind, WrapperKind};
use super::grant_pattern;
use super::parsed_command::{ParsedCommand, is_write, named, seen_as, written};
use super::policy::{AccessVerdict, NotCovered, Policy};
use super::read_only;
use super::tables::steers_later_commands;
use super::{Access, AccessLocation, Grant, Mode, PermitReason, Rule, RuleVerdict, danger};
use std::path::{Path, PathBuf};

/// The basis of the consent to a part.
pub(super) enum SegmentConsent {
    /// The part needs no consent: `cd` inside the workspace, a variable.
    Harmless,
    By(PermitReason),
    /// Nothing covers the part; with a more specific reason if there is one.
    Open(Option<String>),
}

impl Policy {
    /// The rule of this verdict that matches the line, any part of it, or a file that it names.
    pub(super) fn catching(&self, line: &ParsedCommand<'_>, verdict: RuleVerdict) -> Option<&Rule> {
        self.rules().iter().filter(|rule| rule.verdict == verdict).find(|rule| {
            let speaks = rule.applies_to(line.tool, line.reach);
            let whole =
                speaks && (rule.is_whole() || line.segments.is_err() && rule.catches_text(line.command));
            whole
                || line
                    .parts()
                    .into_iter()
                    .any(|part| speaks && rule.matches_any_spelling(part) || self.names_guarded(rule, part))
        })
    }

    pub(super) fn names_guarded(&self, rule: &Rule, part: &CommandSegment) -> bool {
        let hits =
            |kind: &str, paths: Vec<PathBuf>| paths.iter().any(|path| rule.guards(kind, path, self.roots()));
        let writes = part
            .redirects
            .iter()
            .filter(|r| is_write(r))
            .flat_map(|r| seen_as(part, r.target.text.as_deref()));
        hits("read", named(part)) || hits("write", written(part)) || hits("write", writes.collect())
    }

    /// The consent to every part of the line, from rules, grants and the built-in set; or why it is missing.
    pub(super) fn consent(&self, line: &ParsedCommand<'_>) -> Result<PermitReason, NotCovered> {
        let allowing = || {
            self.rules()
                .iter()
                .filter(|r| r.verdict == RuleVerdict::Allow && r.applies_to(line.tool, line.reach))
        };
        if let Some(rule) = allowing().find(|rule| rule.is_whole()) {
            return Ok(self.by_rule(rule));
        }
        if let Some(given) = self.live().find(|g| g.grant.covers(line.reach)) {
            return Ok(PermitReason::Grant { id: given.id, words: given.grant.describe() });
        }
        let Ok(segments) = &line.segments else { return Err(NotCovered(None)) };
        if segments.is_empty() {
            return Err(NotCovered(None));
        }
        let mut reasons = vec![];
        for segment in segments {
            match self.cover(line, segment) {
                SegmentConsent::Harmless => {}
                SegmentConsent::By(why) => reasons.push(why),
                SegmentConsent::Open(reason) => return Err(NotCovered(reason)),
            }
        }
        reasons.extend(self.redirects(line)?);
        Ok(PermitReason::all(reasons).unwrap_or(PermitReason::ReadOnly))
    }

    /// The basis of the consent to one part, without its redirections.
    pub(super) fn cover(&self, line: &ParsedCommand<'_>, segment: &CommandSegment) -> SegmentConsent {
        if segment.kind == SegmentKind::Opaque {
            return SegmentConsent::Open(Some(
                "arithmetic with a variable may run the variable's value".into(),
            ));
        }
        if segment.words.is_empty() {
            let steers = segment.assignments.iter().find(|(name, _)| steers_later_commands(name));
            return match steers {
                None => SegmentConsent::Harmless,
                Some((name, _)) => {
                    SegmentConsent::Open(Some(format!("`{name}` changes what later commands are")))
                }
            };
        }
        let allowing = self
            .rules()
            .iter()
            .filter(|r| r.verdict == RuleVerdict::Allow && r.applies_to(line.tool, line.reach));
        if let Some(rule) = allowing.into_iter().find(|rule| rule.allows(segment)) {
            return SegmentConsent::By(self.by_rule(rule));
        }
        if let Some(given) = self.live().find(|g| g.covers_segment(segment, self.roots())) {
            return SegmentConsent::By(PermitReason::Grant { id: given.id, words: given.grant.describe() });
        }
        let inner = self.cover_inner(line, segment);
        if segment.carrier == WrapperKind::Transparent {
            return inner.unwrap_or(SegmentConsent::Open(None));
        }
        match (self.cover_read_only(line, segment), inner) {
            (SegmentConsent::By(why), Some(SegmentConsent::By(below))) => {
                PermitReason::all([why, below]).map_or(SegmentConsent::Open(None), SegmentConsent::By)
            }
            (_, Some(open @ SegmentConsent::Open(_))) => open,
            (cover, _) => cover,
        }
    }

    fn cover_inner(&self, line: &ParsedCommand<'_>, segment: &CommandSegment) -> Option<SegmentConsent> {
        if segment.inner.is_empty() {
            return None;
        }
        let mut reasons = Vec::new();
        for inner in &segment.inner {
            match self.cover(line, inner) {
                SegmentConsent::Harmless => reasons.push(PermitReason::ReadOnly),
                SegmentConsent::By(why) => reasons.push(why),
                open => return Some(open),
            }
        }
        PermitReason::all(reasons).map(SegmentConsent::By)
    }

    /// The built-in set: such a command needs permission to read its files.
    fn cover_read_only(&self, line: &ParsedCommand<'_>, segment: &CommandSegment) -> SegmentConsent {
        let Some(reads) = read_only::reads(segment) else { return SegmentConsent::Open(None) };
        if reads.more && self.has_denied_reads() {
            return SegmentConsent::Open(Some("it may show files that a rule hides".into()));
        }
        for path in reads.paths.into_iter().filter(|p| !danger::is_harmless_device(p)) {
            let reach = Access::Read { place: self.place_of(&path), path };
            match self.judge(line.tool, &reach) {
                AccessVerdict::Allow(_) => {}
                AccessVerdict::Ask { reason, .. } | AccessVerdict::Deny { reason, .. } => {
                    return SegmentConsent::Open(Some(reason));
                }
                AccessVerdict::Danger(danger) => return SegmentConsent::Open(Some(danger.what)),
            }
        }
        match segment.program() {
            Some("cd" | "pushd" | "popd" | "set" | "export" | "true" | ":" | "exit") => {
                SegmentConsent::Harmless
            }
            _ => SegmentConsent::By(PermitReason::ReadOnly),
        }
    }

    /// Files that redirections write count like any other write, files that they read like any other read.
    fn redirects(&self, line: &ParsedCommand<'_>) -> Result<Vec<PermitReason>, NotCovered> {
        let mut reasons = Vec::new();
        for part in line.parts() {
            for redirect in part.redirects.iter().filter(|r| r.kind != RedirectKind::Text) {
                let target = &redirect.target;
                if target.source.starts_with("<(") || target.source.starts_with(">(") {
                    continue;
                }
                let paths = if target.glob { Vec::new() } else { seen_as(part, target.text.as_deref()) };
                if paths.is_empty() {
                    return Err(NotCovered(Some(format!(
                        "cannot resolve which file `{}` is",
                        target.source
                    ))));
                }
                for path in paths.into_iter().filter(|p| !danger::is_harmless_device(p)) {
                    let place = self.place_of(&path);
                    let told = path.display().to_string();
                    let reach = if is_write(redirect) {
                        Access::Write { path, place }
                    } else {
                        Access::Read { path, place }
                    };
                    match self.judge(line.tool, &reach) {
                        // In ask mode a tool's write stays pending for the person; this write would be immediate.
                        AccessVerdict::Allow(PermitReason::Mode(_))
                            if is_write(redirect) && self.mode() == Mode::Ask =>
                        {
                            return Err(NotCovered(Some(format!("it writes `{told}`, at once"))));
                        }
                        AccessVerdict::Allow(why) => reasons.push(why),
                        AccessVerdict::Ask { reason, .. } | AccessVerdict::Deny { reason, .. } => {
                            return Err(NotCovered(Some(format!("it opens `{told}`: {reason}"))));
                        }
                        AccessVerdict::Danger(danger) => return Err(NotCovered(Some(danger.what))),
                    }
                }
            }
        }
        Ok(reasons)
    }

    /// The patterns that would cover the uncovered parts.
    pub(super) fn family(&self, line: &ParsedCommand<'_>) -> Option<Grant> {
        let mut patterns: Vec<String> = Vec::new();
        for segment in line.segments.as_ref().ok()? {
            self.families(line, segment, &mut patterns)?;
        }
        self.redirects(line).ok()?;
        (!patterns.is_empty()).then_some(Grant::Pattern { patterns })
    }

    fn families(
        &self,
        line: &ParsedCommand<'_>,
        segment: &CommandSegment,
        out: &mut Vec<String>,
    ) -> Option<()> {
        if !matches!(self.cover(line, segment), SegmentConsent::Open(_)) {
            return Some(());
        }
        if segment.carrier == WrapperKind::Transparent {
            return segment.inner.iter().try_for_each(|inner| self.families(line, inner, out));
        }
        let pattern = grant_pattern::of(segment)?;
        // In another directory the same words are another command: another Makefile, another package.
        let inside = |dir: &PathBuf| self.roots().iter().any(|root| dir.starts_with(root));
        if !segment.dirs.as_ref().is_some_and(|dirs| dirs.iter().all(inside)) {
            return None;
        }
        if !out.contains(&pattern) {
            out.push(pattern);
        }
        Some(())
    }

    /// Whether a path is in the workspace, by its spelling.
    pub(super) fn place_of(&self, path: &Path) -> AccessLocation {
        match self.roots().iter().find_map(|root| path.strip_prefix(root).ok()) {
            Some(relative) if self.protected().class_of(relative).asks() => AccessLocation::Protected,
            Some(_) => AccessLocation::Inside,
            None => AccessLocation::Outside,
        }
    }
}
