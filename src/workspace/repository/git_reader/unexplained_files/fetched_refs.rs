//! The lines of `FETCH_HEAD`, which `git merge FETCH_HEAD` and `git pull` merge.
//!
//! A line is explained where it names a remote of the settings as git shortens it, and a commit that was fetched now, that the
//! remote's branch has, or that is at `HEAD`.

use super::KnownCommits;
use crate::workspace::repository::config::{LARGEST as LARGEST_CONFIG, settings};
use crate::workspace::repository::git_reader::event::HeadPosition;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::read;
use std::path::Path;

struct Remote {
    name: String,
    url: String,
}

impl KnownCommits<'_> {
    /// `ID<tab><tab>branch 'main' of URL`: a ref of a remote that the settings name, at the same commit. `git merge FETCH_HEAD`
    /// writes the rest of the line into its message. What it merges is what was fetched now, or the upstream of the branch.
    pub(super) fn is_fetched_ref(&self, line: &[u8]) -> bool {
        let mut parts = line.splitn(3, |byte| *byte == b'\t');
        let mut next = || std::str::from_utf8(parts.next()?).ok();
        let (Some(id), Some(merge), Some(text)) = (next(), next(), next()) else { return false };
        let Some(id) = ObjectId::from_hex(id.as_bytes()) else { return false };
        let kinds = [("branch '", "refs/heads"), ("tag '", "refs/tags"), ("", "")];
        let found = kinds.iter().find_map(|(word, dir)| Some((text.strip_prefix(word)?, *dir)));
        let Some((rest, dir)) = found else { return false };
        let (name, url) = match dir {
            "" => ("", rest),
            _ => match rest.split_once("' of ") {
                Some(parts) => parts,
                None => return false,
            },
        };
        let is_for_merge = match merge {
            "" => true,
            "not-for-merge" => false,
            _ => return false,
        };
        // A commit that came now has a row, and that at `HEAD` is merged already.
        let is_known = !self.before.objects.has(&id) || self.after.refs.head_commit() == Some(id);
        let (was, is) = (
            |name: &str| self.before.refs.get(Path::new(name)) == Some(id),
            |name: &str| self.after.refs.get(Path::new(name)) == Some(id),
        );
        let is_of_remote = |remote: &Remote| {
            let is_there = match dir {
                "refs/heads" => {
                    let tracking = format!("refs/remotes/{}/{name}", remote.name);
                    is(&tracking) && (!is_for_merge || !was(&tracking) || self.is_upstream(remote, name))
                }
                "refs/tags" => {
                    let tag = format!("refs/tags/{name}");
                    is(&tag) && (!is_for_merge || !was(&tag))
                }
                _ => is(&format!("refs/remotes/{}/HEAD", remote.name)),
            };
            shown_url(&remote.url) == url && (is_there || is_known)
        };
        self.remotes().iter().any(is_of_remote)
    }

    fn is_upstream(&self, remote: &Remote, name: &str) -> bool {
        let Some(HeadPosition::Branch(branch)) = self.after.refs.head() else { return false };
        let Some(branch) = branch.to_str().and_then(|branch| branch.strip_prefix("refs/heads/")) else {
            return false;
        };
        let text = read(self.sides.after, &self.common.join("config"), LARGEST_CONFIG).unwrap_or_default();
        let (settings, _) = settings(&text);
        let is = |key: &str, wanted: &str| {
            let values = settings.get(format!("branch.{branch}.{key}").as_bytes());
            values.and_then(|values| values.last()?.as_deref()) == Some(wanted.as_bytes())
        };
        is("remote", &remote.name) && is("merge", &format!("refs/heads/{name}"))
    }

    fn remotes(&self) -> Vec<Remote> {
        let text = read(self.sides.after, &self.common.join("config"), LARGEST_CONFIG).unwrap_or_default();
        let (settings, _) = settings(&text);
        let urls = |(key, values): (&Vec<u8>, &Vec<Option<Vec<u8>>>)| {
            let name = key.strip_prefix(b"remote.")?.strip_suffix(b".url")?;
            let name = String::from_utf8(name.to_vec()).ok()?;
            let urls = values.iter().flatten().filter_map(|url| String::from_utf8(url.clone()).ok());
            Some(urls.map(|url| Remote { name: name.clone(), url }).collect::<Vec<_>>())
        };
        settings.iter().filter_map(urls).flatten().collect()
    }
}

/// A URL as git writes it into `FETCH_HEAD`: without a user, without slashes and `.git` at its end.
fn shown_url(url: &str) -> String {
    let shown = without_user(url);
    let shown = shown.trim_end_matches('/');
    // git leaves a name of `.git` alone.
    shown.strip_suffix(".git").filter(|_| shown.len() > 5).unwrap_or(shown).to_string()
}

/// `https://user@host/a` as `https://host/a`, and `user@host:a` as `host:a`. A path has no user.
fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let host_end = match scheme {
        "" => rest.find(':').filter(|colon| rest.find('/').is_none_or(|slash| *colon < slash)),
        "file" => None,
        _ => Some(rest.find('/').unwrap_or(rest.len())),
    };
    let host = host_end.and_then(|end| rest.get(..end));
    let Some((_, after)) = host.and_then(|host| host.split_once('@')) else { return url.to_string() };
    let end = host_end.and_then(|end| rest.get(end..)).unwrap_or_default();
    match scheme {
        "" => format!("{after}{end}"),
        scheme => format!("{scheme}://{after}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_compared_as_git_shortens_it() {
        for (url, shown) in [
            ("https://example.org/a.git", "https://example.org/a"),
            ("https://example.org/a/", "https://example.org/a"),
            ("https://example.org/a.git//", "https://example.org/a"),
            ("https://me:secret@example.org/a@b", "https://example.org/a@b"),
            ("https://example.org/a@b", "https://example.org/a@b"),
            ("git@example.org:a/b.git", "example.org:a/b"),
            ("ssh://git@example.org:22/a.git", "ssh://example.org:22/a"),
            ("/srv/a@b:c.git", "/srv/a@b:c"),
            ("../up.git", "../up"),
            ("../.git", "../"),
            (".git", ".git"),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }
}
