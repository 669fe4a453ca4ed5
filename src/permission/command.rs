//! A command line against rules and grants: each of its parts must be consented to, and each may be refused.

use super::family;
use super::policy::{Opinion, Policy};
use super::read_only;
use super::shell::{self, Carrier, Kind, Redirect, RedirectKind, Segment, ShellError, Surroundings};
use super::{Grant, Mode, Place, Reach, Rule, Verdict, Why, danger};
use std::path::{Path, PathBuf};

/// A line that was read once.
pub(super) struct Line<'a> {
    pub(super) tool: &'a str,
    pub(super) reach: &'a Reach,
    pub(super) command: &'a str,
    pub(super) segments: Result<Vec<Segment>, ShellError>,
}

/// What consent to a part rests on.
pub(super) enum Cover {
    /// It does nothing that needs consent: `cd` inside, a variable.
    Harmless,
    By(Why),
    /// Nothing covers it; the reason, where there is a better one than that.
    Open(Option<String>),
}

impl<'a> Line<'a> {
    /// `None` for what is no command.
    pub(super) fn read(tool: &'a str, reach: &'a Reach, home: Option<&Path>) -> Option<Line<'a>> {
        let Reach::Run { command, cwd, .. } = reach else { return None };
        let segments = shell::parse(command, Surroundings { cwd, home });
        Some(Line { tool, reach, command, segments })
    }

    /// Every part, with what wrappers run.
    pub(super) fn parts(&self) -> Vec<&Segment> {
        self.segments.iter().flatten().flat_map(Segment::all).collect()
    }

    /// The files its words name: those it reads and those it writes. A line that cannot be read names every word of it
    /// for reading; what it writes is seen afterwards.
    pub(super) fn files(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if let (Err(_), Reach::Run { cwd, .. }) = (&self.segments, self.reach) {
            let cut = |c: char| c.is_whitespace() || ";|&`(){}<>\"'=".contains(c);
            let words = self.command.split(cut).filter(|word| !word.is_empty());
            reads.extend(words.map(|word| shell::join(cwd, word)));
        }
        for part in self.parts() {
            let redirects = part.redirects.iter().filter(|r| is_write(r));
            writes.extend(redirects.flat_map(|r| seen_as(part, r.target.text.as_deref())));
            let mut named = named(part);
            let from = named.len() - reads_of_redirects(part).len().min(named.len());
            let aimed = part
                .arguments()
                .iter()
                .any(|w| w.source.starts_with("-t") || w.source.starts_with("--target"));
            match part.program() {
                // Only the last one is written; what is moved away goes nowhere.
                Some("cp" | "mv" | "ln" | "install") if !aimed => {
                    writes.extend(named.pop().filter(|_| from > 0));
                }
                _ => writes.extend(written(part)),
            }
            reads.extend(named);
        }
        writes.retain(|path| !danger::is_harmless_device(path));
        (reads, writes)
    }
}

impl Policy {
    /// The rule of this verdict that speaks of the line, or of any part of it, or of a file it names.
    pub(super) fn catching(&self, line: &Line<'_>, verdict: Verdict) -> Option<&Rule> {
        self.rules().iter().filter(|rule| rule.verdict == verdict).find(|rule| {
            let speaks = rule.speaks_of(line.tool, line.reach);
            let whole =
                speaks && (rule.is_whole() || line.segments.is_err() && rule.catches_text(line.command));
            whole
                || line
                    .parts()
                    .into_iter()
                    .any(|part| speaks && rule.catches(part) || self.names_guarded(rule, part))
        })
    }

    pub(super) fn names_guarded(&self, rule: &Rule, part: &Segment) -> bool {
        let hits =
            |kind: &str, paths: Vec<PathBuf>| paths.iter().any(|path| rule.guards(kind, path, self.roots()));
        let writes = part
            .redirects
            .iter()
            .filter(|r| is_write(r))
            .flat_map(|r| seen_as(part, r.target.text.as_deref()));
        hits("read", named(part)) || hits("write", written(part)) || hits("write", writes.collect())
    }

    /// Consent to every part of the line, from rules, grants and the built-in set; or what stands in the way.
    pub(super) fn consent(&self, line: &Line<'_>) -> Result<Why, Option<String>> {
        let allowing = || {
            self.rules().iter().filter(|r| r.verdict == Verdict::Allow && r.speaks_of(line.tool, line.reach))
        };
        if let Some(rule) = allowing().find(|rule| rule.is_whole()) {
            return Ok(self.by_rule(rule));
        }
        if let Some(given) = self.live().find(|g| g.grant.covers(line.reach)) {
            return Ok(Why::Grant { id: given.id, words: given.grant.describe() });
        }
        let Ok(segments) = &line.segments else { return Err(None) };
        if segments.is_empty() {
            return Err(None);
        }
        let mut reasons = vec![];
        for segment in segments {
            match self.cover(line, segment) {
                Cover::Harmless => {}
                Cover::By(why) => reasons.push(why),
                Cover::Open(reason) => return Err(reason),
            }
        }
        reasons.extend(self.redirects(line)?);
        Ok(Why::all(reasons).unwrap_or(Why::ReadOnly))
    }

    /// What consent to one part rests on, its redirections left aside.
    pub(super) fn cover(&self, line: &Line<'_>, segment: &Segment) -> Cover {
        if segment.kind == Kind::Opaque {
            return Cover::Open(Some("arithmetic over a variable may run what its value holds".into()));
        }
        if segment.words.is_empty() {
            let steers = segment.assignments.iter().find(|(name, _)| read_only::steers_later_commands(name));
            return match steers {
                None => Cover::Harmless,
                Some((name, _)) => Cover::Open(Some(format!("`{name}` changes what later commands are"))),
            };
        }
        let allowing =
            self.rules().iter().filter(|r| r.verdict == Verdict::Allow && r.speaks_of(line.tool, line.reach));
        if let Some(rule) = allowing.into_iter().find(|rule| rule.allows(segment)) {
            return Cover::By(self.by_rule(rule));
        }
        if let Some(given) = self.live().find(|g| g.covers_segment(segment, self.roots())) {
            return Cover::By(Why::Grant { id: given.id, words: given.grant.describe() });
        }
        let inner = self.cover_inner(line, segment);
        if segment.carrier == Carrier::Transparent {
            return inner.unwrap_or(Cover::Open(None));
        }
        match (self.cover_read_only(line, segment), inner) {
            (Cover::By(why), Some(Cover::By(below))) => {
                Why::all([why, below]).map_or(Cover::Open(None), Cover::By)
            }
            (_, Some(open @ Cover::Open(_))) => open,
            (cover, _) => cover,
        }
    }

    fn cover_inner(&self, line: &Line<'_>, segment: &Segment) -> Option<Cover> {
        if segment.inner.is_empty() {
            return None;
        }
        let mut reasons = Vec::new();
        for inner in &segment.inner {
            match self.cover(line, inner) {
                Cover::Harmless => reasons.push(Why::ReadOnly),
                Cover::By(why) => reasons.push(why),
                open => return Some(open),
            }
        }
        Why::all(reasons).map(Cover::By)
    }

    /// The built-in set: what such a command looks at must be open to reading.
    fn cover_read_only(&self, line: &Line<'_>, segment: &Segment) -> Cover {
        let Some(reads) = read_only::reads(segment) else { return Cover::Open(None) };
        if reads.more && self.hides_something() {
            return Cover::Open(Some("it may show files that a rule hides".into()));
        }
        for path in reads.paths.into_iter().filter(|p| !danger::is_harmless_device(p)) {
            let reach = Reach::Read { place: self.place_of(&path), path };
            match self.judge(line.tool, &reach) {
                Opinion::Allow(_) => {}
                Opinion::Ask { reason, .. } | Opinion::Deny { reason, .. } => {
                    return Cover::Open(Some(reason));
                }
                Opinion::Danger(danger) => return Cover::Open(Some(danger.what)),
            }
        }
        match segment.program() {
            Some("cd" | "pushd" | "popd" | "set" | "export" | "true" | ":" | "exit") => Cover::Harmless,
            _ => Cover::By(Why::ReadOnly),
        }
    }

    /// Files that redirections write are judged as any other write, files they read as any other read.
    fn redirects(&self, line: &Line<'_>) -> Result<Vec<Why>, Option<String>> {
        let mut reasons = Vec::new();
        for part in line.parts() {
            for redirect in part.redirects.iter().filter(|r| r.kind != RedirectKind::Text) {
                let target = &redirect.target;
                if target.source.starts_with("<(") || target.source.starts_with(">(") {
                    continue;
                }
                let paths = if target.glob { Vec::new() } else { seen_as(part, target.text.as_deref()) };
                if paths.is_empty() {
                    return Err(Some(format!("which file `{}` is cannot be resolved", target.source)));
                }
                for path in paths.into_iter().filter(|p| !danger::is_harmless_device(p)) {
                    let place = self.place_of(&path);
                    let told = path.display().to_string();
                    let reach = if is_write(redirect) {
                        Reach::Write { path, place }
                    } else {
                        Reach::Read { path, place }
                    };
                    match self.judge(line.tool, &reach) {
                        // A tool's write would be held for the person; this one would be real at once.
                        Opinion::Allow(Why::Mode(_)) if is_write(redirect) && self.mode() == Mode::Ask => {
                            return Err(Some(format!("it writes `{told}`, at once")));
                        }
                        Opinion::Allow(why) => reasons.push(why),
                        Opinion::Ask { reason, .. } | Opinion::Deny { reason, .. } => {
                            return Err(Some(format!("it opens `{told}`: {reason}")));
                        }
                        Opinion::Danger(danger) => return Err(Some(danger.what)),
                    }
                }
            }
        }
        Ok(reasons)
    }

    /// The patterns that would cover the parts that nothing covers yet.
    pub(super) fn family(&self, line: &Line<'_>) -> Option<Grant> {
        let mut patterns: Vec<String> = Vec::new();
        for segment in line.segments.as_ref().ok()? {
            self.families(line, segment, &mut patterns)?;
        }
        self.redirects(line).ok()?;
        (!patterns.is_empty()).then_some(Grant::Pattern { patterns })
    }

    fn families(&self, line: &Line<'_>, segment: &Segment, out: &mut Vec<String>) -> Option<()> {
        if !matches!(self.cover(line, segment), Cover::Open(_)) {
            return Some(());
        }
        if segment.carrier == Carrier::Transparent {
            return segment.inner.iter().try_for_each(|inner| self.families(line, inner, out));
        }
        let pattern = family::of(segment)?;
        // Elsewhere the same words are another command: another Makefile, another package.
        let inside = |dir: &PathBuf| self.roots().iter().any(|root| dir.starts_with(root));
        if !segment.dirs.as_ref().is_some_and(|dirs| dirs.iter().all(inside)) {
            return None;
        }
        if !out.contains(&pattern) {
            out.push(pattern);
        }
        Some(())
    }

    /// By its spelling: whether a path is in the workspace.
    pub(super) fn place_of(&self, path: &Path) -> Place {
        match self.roots().iter().find_map(|root| path.strip_prefix(root).ok()) {
            Some(relative) if self.protected().class_of(relative).asks() => Place::Protected,
            Some(_) => Place::Inside,
            None => Place::Outside,
        }
    }
}

pub(super) fn is_write(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
}

/// `text` as a path from each directory the part may run in; none where that cannot be known.
fn seen_as(part: &Segment, text: Option<&str>) -> Vec<PathBuf> {
    let Some(text) = text.filter(|t| !t.is_empty()) else { return Vec::new() };
    if text.starts_with('/') {
        return vec![shell::normal(Path::new(text))];
    }
    part.dirs.iter().flatten().map(|dir| shell::join(dir, text)).collect()
}

/// Paths that the words of a part may name, so that a rule which guards one is not passed by `cat`. Words of
/// messages and of programs that only print are none.
fn named(part: &Segment) -> Vec<PathBuf> {
    if matches!(part.program(), Some("echo" | "printf" | "true" | "false" | ":" | "test" | "[" | "[[")) {
        return reads_of_redirects(part);
    }
    let mut out = reads_of_redirects(part);
    let mut message = false;
    for word in part.arguments() {
        let text = word.shown();
        if std::mem::replace(
            &mut message,
            matches!(text, "-m" | "-am" | "--message" | "-t" | "--title" | "-b" | "--body"),
        ) {
            continue;
        }
        // `HEAD:.env`, `if=.env`, `@.env`: what stands behind the sign.
        let tails =
            [':', '=', '@'].into_iter().filter_map(|sign| text.rsplit_once(sign).map(|(_, tail)| tail));
        let whole = (!text.starts_with('-')).then_some(text);
        let plain = |t: &&str| {
            !t.contains(char::is_whitespace)
                || part.program().is_some_and(|p| ["cat", "head", "tail", "less", "cp", "mv"].contains(&p))
        };
        for piece in whole.into_iter().chain(tails).filter(plain) {
            out.extend(seen_as(part, Some(piece)));
        }
    }
    out
}

fn reads_of_redirects(part: &Segment) -> Vec<PathBuf> {
    let reads = part.redirects.iter().filter(|r| r.kind == RedirectKind::Read);
    reads.flat_map(|r| seen_as(part, r.target.text.as_deref())).collect()
}

/// Paths that well-known programs write, delete or change.
fn written(part: &Segment) -> Vec<PathBuf> {
    let changes = match part.program() {
        Some(
            "tee" | "touch" | "cp" | "mv" | "rm" | "rmdir" | "mkdir" | "ln" | "install" | "truncate"
            | "chmod" | "chown" | "unlink" | "dd" | "shred",
        ) => true,
        Some("sed" | "perl") => {
            part.arguments().iter().any(|w| w.source.starts_with("-i") || w.source.starts_with("-pi"))
        }
        _ => false,
    };
    if changes { named(part) } else { Vec::new() }
}
