//! The report of a review to the agent: what was rejected, what was edited, and every comment, as data with path, side,
//! line and the text it is about.

use super::content::comment::{CommentTarget, ReviewComment};
use super::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines};
use super::content::side_text::{DiffSide, LineTerminator, SideText};
use super::state::Review;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The most bytes of lines that are repeated for one hunk; the rest is counted.
const TEXT: usize = 8 << 10;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReviewReport {
    /// Tells the model what it reads.
    review: Cow<'static, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rejected: Vec<ReportedRejection>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) edited: Vec<ReportedEdit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) comments: Vec<ReportedComment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReportedRejection {
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) old_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) new_line: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) removed: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) added: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) what: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReportedEdit {
    pub(super) path: String,
    /// The person's own hunks against the file as it was.
    pub(super) diff: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReportedComment {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) side: Option<Cow<'static, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_line: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) on: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stale: bool,
    pub(super) comment: String,
}

impl ReviewReport {
    /// True where there is nothing to report.
    fn is_empty(&self) -> bool {
        self.rejected.is_empty() && self.edited.is_empty() && self.comments.is_empty()
    }
}

/// How every report begins: placet recognizes a report by this text.
const BEGINS: &str = "The person reviewed your changes";

/// `review: 2 rejected, 1 comment`: a report in short. `None` where `text` is not a report; reports of several reviews,
/// one after the other, are summed up.
pub fn summary(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let mut counts = [("rejected", 0), ("edited", 0), ("comments", 0), ("undecided", 0)];
    let mut reports = 0;
    for report in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let report = report.ok()?;
        report.get("review")?.as_str().filter(|words| words.starts_with(BEGINS))?;
        reports += 1;
        for (name, count) in &mut counts {
            *count += report.get(*name).and_then(Value::as_array).map_or(0, Vec::len);
        }
    }
    let words = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| match (*name, count) {
        ("comments", 1) => "1 comment".to_string(),
        (name, count) => format!("{count} {name}"),
    });
    (reports > 0).then(|| format!("review: {}", words.collect::<Vec<_>>().join(", ")))
}

/// What became of the changes that were reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewEnd {
    CarriedOut,
    /// Nothing was applied or discarded.
    StillPending,
}

impl ReviewEnd {
    /// Begins with [`BEGINS`].
    fn words(self) -> &'static str {
        match self {
            ReviewEnd::CarriedOut => {
                "The person reviewed your changes. Everything not listed here was accepted and is in the workspace. Rejected parts are not in the files: do not make them again unless asked to."
            }
            ReviewEnd::StillPending => {
                "The person reviewed your changes and applied nothing: all of them are still pending, also the rejected parts. Take these back unless asked otherwise."
            }
        }
    }
}

/// The report as JSON; `None` when there is nothing to report.
pub fn report(review: &Review, end: ReviewEnd) -> Option<String> {
    let report = ReviewReport {
        review: end.words().into(),
        rejected: review.files.iter().flat_map(rejected).collect(),
        edited: review.files.iter().filter_map(edited).collect(),
        comments: review.visible_comments().map(|c| said(review, c)).collect(),
        undecided: review.files.iter().filter(|f| f.decided() < f.units()).map(|f| f.name.clone()).collect(),
    };
    if report.is_empty() {
        return None;
    }
    serde_json::to_string_pretty(&report).ok()
}

/// Removes from `reports` each rejection whose lines are part of `review`: the person took it back, or decides about the
/// lines again there. `None` if nothing is left to report. A text that is not a report is returned unchanged.
pub fn without_undone(reports: &str, review: &Review) -> Option<String> {
    let parsed: Result<Vec<ReviewReport>, _> =
        serde_json::Deserializer::from_str(reports).into_iter::<ReviewReport>().collect();
    let Ok(mut parsed) = parsed else { return Some(reports.into()) };
    for report in &mut parsed {
        report.rejected.retain(|rejection| !review.files.iter().any(|file| has(file, rejection)));
    }
    parsed.retain(|report| !report.is_empty());
    let texts: Vec<String> =
        parsed.iter().filter_map(|report| serde_json::to_string_pretty(report).ok()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// True if what was rejected is a part of the changes in `file`.
fn has(file: &ReviewFile, rejection: &ReportedRejection) -> bool {
    let all = |doc: &SideText, lines: &std::ops::Range<usize>| {
        let lines: Vec<usize> = lines.clone().collect();
        texts(doc, &lines)
    };
    file.name == rejection.path
        && match &file.body {
            ReviewBody::Whole(whole) => whole.words.first().is_some_and(|what| *what == rejection.what),
            ReviewBody::Lines(lines) => lines.hunks.iter().any(|hunk| {
                all(&lines.old, &hunk.old).contains(&rejection.removed)
                    && all(&lines.new, &hunk.new).contains(&rejection.added)
            }),
        }
}

/// The same as a JSON value, for programs.
pub fn value(review: &Review) -> Value {
    report(review, ReviewEnd::CarriedOut)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Value::Null)
}

/// Every comment as Markdown, for people and for other agents.
pub fn markdown(review: &Review) -> String {
    let mut out = String::new();
    for comment in review.visible_comments() {
        let said = said(review, comment);
        let place = match (said.line, said.last_line) {
            (Some(a), Some(b)) if b > a => format!("{}:{a}-{b}", said.path),
            (Some(a), _) => format!("{}:{a}", said.path),
            _ if said.path.is_empty() => "the whole change".to_string(),
            _ => said.path.clone(),
        };
        let side = if said.side.as_deref() == Some("old") { " (removed)" } else { "" };
        let stale = if said.stale { " (stale: the lines are gone)" } else { "" };
        out.push_str(&format!("## {place}{side}{stale}\n\n"));
        if !said.on.is_empty() {
            let longest = said.on.iter().flat_map(|l| l.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            out.push_str(&format!("{fence}\n{}\n{fence}\n\n", said.on.join("\n")));
        }
        out.push_str(&format!("{}\n\n", said.comment.trim_end()));
    }
    out
}

fn rejected(file: &ReviewFile) -> Vec<ReportedRejection> {
    let lines = match &file.body {
        _ if file.is_decided_elsewhere() => return Vec::new(),
        ReviewBody::Whole(whole) if whole.mark == ReviewDecision::Rejected => {
            let what = whole.words.first().cloned().unwrap_or_default();
            return vec![ReportedRejection { path: file.name.clone(), what, ..ReportedRejection::default() }];
        }
        ReviewBody::Whole(_) => return Vec::new(),
        ReviewBody::Lines(lines) => lines,
    };
    let hunks = lines.hunks.iter().filter(|h| h.marks.contains(&ReviewDecision::Rejected));
    hunks
        .map(|hunk| {
            let picked = |n: usize| hunk.mark(n) == ReviewDecision::Rejected;
            let old: Vec<usize> =
                hunk.old.clone().enumerate().filter(|(n, _)| picked(*n)).map(|(_, l)| l).collect();
            let removed = hunk.old.len();
            let new: Vec<usize> =
                hunk.new.clone().enumerate().filter(|(n, _)| picked(removed + n)).map(|(_, l)| l).collect();
            ReportedRejection {
                path: file.name.clone(),
                old_line: old.first().map(|l| lines.old_number(*l)),
                new_line: new.first().map(|l| lines.new_number(*l)),
                removed: texts(&lines.old, &old),
                added: texts(&lines.new, &new),
                what: String::new(),
            }
        })
        .collect()
}

fn texts(doc: &SideText, lines: &[usize]) -> String {
    let mut out = String::new();
    for (n, line) in lines.iter().enumerate() {
        if out.len() > TEXT {
            out.push_str(&format!("[{} more lines]\n", lines.len() - n));
            break;
        }
        out.push_str(doc.line(*line));
        if doc.end(*line) != LineTerminator::None {
            out.push('\n');
        }
    }
    out
}

fn edited(file: &ReviewFile) -> Option<ReportedEdit> {
    let lines: &ReviewLines = file.lines().filter(|l| l.edited)?;
    let (old, new) = (lines.old.text(), lines.new.text());
    let diff = placet_text::text::LineDiff::new(&old, &new).unified(3, TEXT);
    Some(ReportedEdit {
        path: file.name.clone(),
        diff: placet_text::text::for_model(&diff.text).into_owned(),
    })
}

fn said(review: &Review, comment: &ReviewComment) -> ReportedComment {
    let name = |path: &std::path::Path| {
        let file = review.files.iter().find(|f| f.path == path);
        file.map_or_else(|| path.display().to_string(), |f| f.name.clone())
    };
    let mut out = ReportedComment { comment: comment.text.clone(), ..ReportedComment::default() };
    match &comment.target {
        CommentTarget::Turn => {}
        CommentTarget::File { path } => out.path = name(path),
        CommentTarget::Lines { path, side, lines, anchor, stale } => {
            let file = review.files.iter().find(|f| f.path == *path).and_then(ReviewFile::lines);
            let number = |line: usize| match (file, side) {
                (Some(file), DiffSide::Old) => file.old_number(line),
                (Some(file), DiffSide::New) => file.new_number(line),
                (None, _) => line + 1,
            };
            out.path = name(path);
            out.side = Some(if *side == DiffSide::Old { "old" } else { "new" }.into());
            out.line = Some(number(lines.start));
            out.last_line = (lines.len() > 1).then(|| number(lines.end - 1));
            out.on.clone_from(anchor);
            out.stale = *stale;
        }
    }
    out
}
