//! The report of a review as a message for a program that is another agent: Markdown, as a person would write it.

use super::report::{ReportedComment, ReportedEdit, ReportedRejection, ReviewReport};
use std::fmt::Write;
use std::path::Path;

/// Reports as [`super::report()`] makes them, one after the other, as a message. `None` where they say nothing.
pub fn message(reports: &str) -> Option<String> {
    let mut all = ReviewReport::default();
    for report in serde_json::Deserializer::from_str(reports).into_iter::<ReviewReport>() {
        // What follows something unreadable is unreadable, too.
        let Ok(report) = report else { break };
        all.rejected.extend(report.rejected);
        all.edited.extend(report.edited);
        all.comments.extend(report.comments);
    }
    if all.rejected.is_empty() && all.edited.is_empty() && all.comments.is_empty() {
        return None;
    }
    let mut out = String::from("I reviewed your changes.");
    if !all.rejected.is_empty() {
        out.push_str(
            " The parts that are listed as rejected are not in the files any more: do not make them again unless I \
             ask for them.",
        );
    }
    if !all.edited.is_empty() {
        out.push_str(" Where I edited your text, the files have mine.");
    }
    out.push_str(" Everything else is in the files as you left it.\n");
    all.rejected.iter().for_each(|part| out.push_str(&rejected(part)));
    all.edited.iter().for_each(|part| out.push_str(&edited(part)));
    all.comments.iter().for_each(|part| out.push_str(&comment(part)));
    Some(out)
}

fn rejected(part: &ReportedRejection) -> String {
    if Path::new(&part.path).iter().any(|name| name == ".git") {
        let what = if part.what.is_empty() { &part.path } else { part.what.trim_end() };
        return format!(
            "\n## Rejected in the repository: {what}\n\nThe repository is as it was without it. The files of the work tree were \
             decided separately.\n"
        );
    }
    let line = part.new_line.or(part.old_line).map(|line| format!(":{line}")).unwrap_or_default();
    let mut out = format!("\n## Rejected: {}{line}\n", part.path);
    if !part.what.is_empty() {
        let _ = write!(out, "\n{}\n", part.what.trim_end());
    }
    let signed =
        |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let lines = signed('-', &part.removed) + &signed('+', &part.added);
    if !lines.is_empty() {
        out.push_str(&fenced("diff", &lines));
    }
    out
}

fn edited(part: &ReportedEdit) -> String {
    format!("\n## Edited: {}\n{}", part.path, fenced("diff", &part.diff))
}

fn comment(part: &ReportedComment) -> String {
    let mut place = match part.path.as_str() {
        "" => "the whole change".to_string(),
        path => path.to_string(),
    };
    if let Some(line) = part.line {
        let last = part.last_line.map(|last| format!("-{last}")).unwrap_or_default();
        let _ = write!(place, ":{line}{last}");
    }
    if part.side.as_deref() == Some("old") {
        place.push_str(" (removed)");
    }
    let mut out = format!("\n## Comment: {place}\n");
    if !part.on.is_empty() {
        out.push_str(&fenced("", &part.on.join("\n")));
    }
    let _ = write!(out, "\n{}\n", part.comment.trim_end());
    out
}

/// A block that its text cannot end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_commit_is_named_and_not_the_file_that_git_has_for_it() {
        let what = "commit 1621923 \"Second\" on main: 1 file +1 -0 (a)";
        for path in [".git/", "lib/.git/", ".git/refs/heads/topic"] {
            let reports = serde_json::json!({"review": "x", "rejected": [{"path": path, "what": what}]});
            let message = message(&reports.to_string()).unwrap();
            assert!(message.contains(&format!("\n## Rejected in the repository: {what}\n")), "{message}");
            assert!(!message.contains(".git"), "{message}");
        }
        let file = serde_json::json!({"review": "x", "rejected": [{"path": ".github/x", "what": what}]});
        assert!(message(&file.to_string()).unwrap().contains("## Rejected: .github/x"));
    }

    #[test]
    fn rejections_edits_and_comments_become_markdown() {
        let reports = r#"{"review": "x", "rejected": [{"path": "a.py", "new_line": 3, "removed": "old\n", "added": "```\n"}]}
            {"review": "x", "edited": [{"path": "b.py", "diff": "@@ -1 +1 @@\n-a\n+b\n"}],
             "comments": [{"path": "a.py", "side": "old", "line": 7, "on": ["x = 1"], "comment": "why?\n"},
                          {"comment": "and the tests"}]}"#;
        insta::assert_snapshot!(message(reports).unwrap());
        assert_eq!(message("{\"review\": \"x\"}"), None);
        assert_eq!(message("no report"), None);
    }
}
