//! How a person reads the names in a repository: of refs, commits and paths. They are bytes of the agent's, and rendered here.

use placet_git::{GitName, ObjectId, RefTarget};
use placet_text::text::visible;

const LONGEST_SUBJECT: usize = 120;

pub(super) fn name(name: &GitName) -> String {
    visible::path(name.as_path())
}

/// The name without the directory that its kind says.
pub(super) fn short(full: &GitName) -> String {
    let dirs = ["refs/heads/", "refs/remotes/", "refs/tags/", "refs/notes/", "refs/replace/"];
    let rest = dirs.iter().find_map(|dir| full.as_bytes().strip_prefix(dir.as_bytes()));
    name(&GitName::new(rest.unwrap_or(full.as_bytes())))
}

pub(super) fn kind(full: &GitName) -> &'static str {
    let kinds = [
        ("refs/heads/", "branch"),
        ("refs/remotes/", "remote branch"),
        ("refs/tags/", "tag"),
        ("refs/notes/", "notes"),
        ("refs/replace/", "replacement"),
    ];
    kinds.iter().find(|(dir, _)| full.starts_with(dir)).map_or("ref", |(_, kind)| kind)
}

pub(super) fn short_id(id: ObjectId) -> String {
    id.to_string().chars().take(7).collect()
}

pub(super) fn target(to: &RefTarget) -> String {
    match to {
        RefTarget::Object(id) => short_id(*id),
        RefTarget::Symbolic(to) => short(to),
    }
}

pub(super) fn quoted(subject: &GitName) -> String {
    let text = String::from_utf8_lossy(subject.as_bytes());
    let shown: String = text.chars().take(LONGEST_SUBJECT).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("\"{}{more}\"", visible::guard_line(&shown))
}
