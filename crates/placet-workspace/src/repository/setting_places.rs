//! Settings whose meaning depends on more than their value: the places that git fetches from and pushes to, and tools that
//! are files.
//!
//! A fetch brings what the place has, and nobody looks at it: a pull from a bundle in the work tree merges what the same
//! command wrote there. So a path waits, and so does another address of a remote that was there. A new remote with the address
//! of a server is an ordinary setting: nothing goes there before a person names it.

use super::config::GitSettings;
use super::config_keys::unknown;
use std::path::Path;

const PROGRAM: &str = "git runs this transport program";
const PATH: &str = "git fetches from this path, and placet does not look at what it has";
const OTHER: &str = "git fetches from and pushes to another place than before";
const NO_REMOTE: &str = "no remote has this name, so git takes it for an address";
const BRANCHES: &str = "the next fetch may overwrite branches";
const BARE: &str = "git takes the repository for one without a work tree";
const PUSHES: &str = "the next push may overwrite or remove branches of the server";
const OTHER_BRANCH: &str = "the next push of a branch goes to a branch of another name";
const TOOL: &str = "git runs the file at this path to compare or merge";

/// A setting that differs, in its two states.
pub(super) struct ChangedSetting<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: Option<&'a [u8]>,
    pub(super) before: &'a GitSettings,
    pub(super) after: &'a GitSettings,
    /// The file is new: `git clone` and `git submodule add` write one.
    pub(super) is_new_file: bool,
    /// True for a directory that is there.
    pub(super) is_directory: &'a dyn Fn(&Path) -> bool,
}

impl ChangedSetting<'_> {
    pub(super) fn consequence(&self) -> Option<&'static str> {
        let key = String::from_utf8_lossy(self.key).into_owned();
        let value = String::from_utf8_lossy(self.value?).into_owned();
        let (section, rest) = key.split_once('.')?;
        let name = rest.rsplit_once('.').map_or(rest, |(_, name)| name);
        match (section, name) {
            ("remote", "url") => self.of_address(&value),
            ("remote", "fetch") => {
                // git completes `main` to `refs/heads/main`. Without a target nothing but `FETCH_HEAD` changes.
                let target = value.split_once(':').map_or("", |(_, target)| target);
                let is_usual = ["refs/remotes/", "refs/tags/"].iter().any(|begin| target.starts_with(begin));
                (!target.is_empty() && !is_usual && !self.is_new_file).then_some(BRANCHES)
            }
            ("core", "bare") => (!self.is_new_file && !is_false(&value)).then_some(BARE),
            // `git clone --mirror` writes it.
            ("remote", "mirror" | "push") if self.is_new_file || is_false(&value) => None,
            ("remote", "mirror" | "push") => Some(PUSHES),
            ("branch", "remote" | "pushremote") | ("remote", "pushdefault") => self.of_remote(&value),
            // With `upstream`, a push goes where the branch pulls from, whatever it is called.
            ("branch", "merge") => {
                let branch = rest.strip_suffix(".merge").unwrap_or(rest);
                (pushes_upstream(self.after) && is_other_branch(branch, &value)).then_some(OTHER_BRANCH)
            }
            ("push", "default") if is_upstream(&value) => {
                let follows = |(key, values): (&Vec<u8>, &Vec<Option<Vec<u8>>>)| {
                    let key = String::from_utf8_lossy(key);
                    let branch = key.strip_prefix("branch.").and_then(|rest| rest.strip_suffix(".merge"));
                    let is_other = |value: &Vec<u8>| {
                        branch.is_some_and(|branch| is_other_branch(branch, &String::from_utf8_lossy(value)))
                    };
                    values.iter().flatten().any(is_other)
                };
                self.after.iter().any(follows).then_some(OTHER_BRANCH)
            }
            // A group of them, which `git remote update` fetches from.
            ("remotes", _) => {
                let is_none = |name: &&str| !has_remote(self.after, name);
                value.split_whitespace().find(is_none).map(|_| NO_REMOTE)
            }
            ("merge" | "diff", "tool" | "guitool") => value.contains('/').then_some(TOOL),
            _ => None,
        }
    }

    fn of_address(&self, value: &str) -> Option<&'static str> {
        match AddressKind::of(value) {
            AddressKind::Program => Some(PROGRAM),
            AddressKind::Path(path) => {
                let is_clone = self.is_new_file && path.is_absolute() && (self.is_directory)(path);
                (!is_clone).then_some(PATH)
            }
            AddressKind::Server => {
                let old = self.before.get(self.key).into_iter().flatten();
                let mut old = old.flatten().peekable();
                let is_other = old.peek().is_some() && !old.any(|old| Some(old.as_slice()) == self.value);
                is_other.then_some(OTHER)
            }
        }
    }

    fn of_remote(&self, name: &str) -> Option<&'static str> {
        // The repository itself.
        if name == "." {
            return None;
        }
        if !has_remote(self.after, name) {
            return Some(NO_REMOTE);
        }
        let had_others = self.before.keys().any(|key| key.starts_with(b"remote.") && key.ends_with(b".url"));
        (!self.is_new_file && had_others && !has_remote(self.before, name)).then_some(OTHER)
    }
}

fn is_upstream(value: &str) -> bool {
    // `tracking` is its old name.
    ["upstream", "tracking"].contains(&value)
}

fn pushes_upstream(settings: &GitSettings) -> bool {
    let values = settings.get(b"push.default".as_slice());
    let value = values.and_then(|values| values.last()).and_then(Option::as_deref);
    value.is_some_and(|value| is_upstream(&String::from_utf8_lossy(value)))
}

/// True where `value` of `branch.BRANCH.merge` names another branch.
fn is_other_branch(branch: &str, value: &str) -> bool {
    value.strip_prefix("refs/heads/").unwrap_or(value) != branch
}

fn has_remote(settings: &GitSettings, name: &str) -> bool {
    settings.contains_key(format!("remote.{name}.url").as_bytes())
}

fn is_false(value: &str) -> bool {
    ["false", "no", "off", "0", ""].contains(&value.to_lowercase().as_str())
}

/// What git does without the setting `key`. `after` are the settings that are left.
pub(super) fn removed_consequence(key: &[u8], after: &GitSettings) -> Option<&'static str> {
    const UNKNOWN: &str = "placet does not know what git does without a setting that is gone";
    if unknown(key, false).is_some() {
        return Some(UNKNOWN);
    }
    let key = String::from_utf8_lossy(key).into_owned();
    let (section, rest) = key.split_once('.')?;
    let (part, name) = rest.rsplit_once('.')?;
    let follows = |(key, values): (&Vec<u8>, &Vec<Option<Vec<u8>>>)| {
        let is_remote =
            key.starts_with(b"branch.") && key.ends_with(b"remote") || key == b"remote.pushdefault";
        is_remote && values.iter().flatten().any(|value| value == part.as_bytes())
    };
    match (section, name) {
        // `git remote remove` removes what follows the remote as well.
        ("remote", "url") if after.iter().any(follows) => {
            Some("a branch follows a remote that is gone, so git takes its name for an address")
        }
        // A remote that is gone as a whole has no place to push to.
        ("remote", "pushurl") if after.contains_key(format!("remote.{part}.url").as_bytes()) => Some(OTHER),
        ("url", "insteadof" | "pushinsteadof") => Some(OTHER),
        // The filter may be what keeps secrets out of commits.
        ("filter", "clean" | "process") => Some("git stores files without a filter that they had"),
        _ => None,
    }
}

/// What git takes an address for (`connect.c`, `transport.c`).
enum AddressKind<'v> {
    Server,
    Path(&'v Path),
    /// git runs `git-remote-NAME`.
    Program,
}

impl AddressKind<'_> {
    fn of(value: &str) -> AddressKind<'_> {
        const SERVERS: [&str; 8] = ["https", "http", "ssh", "git", "ssh+git", "git+ssh", "ftp", "ftps"];
        let scheme = value.split_once("://").filter(|(scheme, _)| {
            scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        });
        match scheme {
            Some(("file", path)) => AddressKind::Path(Path::new(path)),
            Some((scheme, _)) if SERVERS.contains(&scheme) => AddressKind::Server,
            Some(_) => AddressKind::Program,
            None if value.contains("::") || value.starts_with('-') => AddressKind::Program,
            // `host:path`, unless a slash comes first.
            None if value.split('/').next().is_some_and(|first| first.contains(':')) => AddressKind::Server,
            None => AddressKind::Path(Path::new(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::settings;
    use super::*;

    fn consequence(before: &str, after: &str, key: &str, is_new_file: bool) -> Option<&'static str> {
        let ((before, _), (after, _)) = (settings(before.as_bytes()), settings(after.as_bytes()));
        let value = after[key.as_bytes()].last().unwrap().as_deref();
        let is_directory = |path: &Path| path == Path::new("/srv/repo");
        let (before, after, is_directory) = (&before, &after, &is_directory);
        ChangedSetting { key: key.as_bytes(), value, before, after, is_new_file, is_directory }.consequence()
    }

    #[test]
    fn an_address_of_a_server_is_ordinary_where_it_is_new() {
        let remote = |url: &str| format!("[remote \"o\"]\n\turl = {url}\n");
        let cases = [
            ("https://example.org/a.git", None),
            ("ssh://git@example.org/a", None),
            ("git@example.org:a.git", None),
            ("./b.bundle", Some(PATH)),
            ("build/b.bundle", Some(PATH)),
            ("../x", Some(PATH)),
            ("/srv/repo", Some(PATH)),
            ("~/x", Some(PATH)),
            ("file:///srv/repo", Some(PATH)),
            ("./a:b", Some(PATH)),
            ("ext::sh -c x", Some(PROGRAM)),
            ("evil://x", Some(PROGRAM)),
        ];
        for (url, why) in cases {
            assert_eq!(consequence("", &remote(url), "remote.o.url", false), why, "{url}");
        }
        for (url, why) in [
            ("/srv/repo", None),
            ("file:///srv/repo", None),
            ("/srv/repo/b.bundle", Some(PATH)),
            ("../repo", Some(PATH)),
        ] {
            assert_eq!(consequence("", &remote(url), "remote.o.url", true), why, "{url}");
        }
        let (one, other) = (remote("https://example.org/a"), remote("https://example.com/a"));
        assert_eq!(consequence(&one, &other, "remote.o.url", false), Some(OTHER));
        assert_eq!(consequence(&one, &one, "remote.o.url", false), None);
    }

    /// Story: `push.default = upstream` with another branch in `branch.main.merge` sent `main` to the server's `production`.
    #[test]
    fn a_push_to_a_branch_of_another_name_is_asked_about() {
        let merge = |branch: &str| format!("[branch \"main\"]\n\tmerge = refs/heads/{branch}\n");
        let push = |how: &str| format!("[push]\n\tdefault = {how}\n");
        let of = |before: &str, after: &str, key: &str| consequence(before, after, key, false);
        let both = |how: &str, branch: &str| push(how) + &merge(branch);
        for (how, branch, why) in [
            ("upstream", "production", Some(OTHER_BRANCH)),
            ("tracking", "production", Some(OTHER_BRANCH)),
            ("upstream", "main", None),
            ("simple", "production", None),
            ("current", "production", None),
        ] {
            let after = both(how, branch);
            assert_eq!(of("", &after, "branch.main.merge"), why, "{how} {branch}");
            assert_eq!(of(&merge(branch), &after, "push.default"), why, "{how} {branch}");
        }
        assert_eq!(of("", &merge("production"), "branch.main.merge"), None);
        assert_eq!(of("", &push("upstream"), "push.default"), None);
    }

    #[test]
    fn a_branch_follows_a_remote_that_was_there() {
        let both = "[remote \"o\"]\n\turl = https://x\n";
        let branch = |remote: &str| format!("[branch \"main\"]\n\tremote = {remote}\n");
        let of = |before: &str, after: &str, name: &str| {
            consequence(before, &(after.to_string() + &branch(name)), "branch.main.remote", false)
        };
        let more = format!("{both}[remote \"new\"]\n\turl = https://y\n");
        assert_eq!(of("", "", "."), None);
        assert_eq!(of(both, both, "o"), None);
        assert_eq!(of("", both, "o"), None);
        assert_eq!(of(both, &more, "new"), Some(OTHER));
        for name in ["build/c.bundle", "https://x", "host:path", "~", ".."] {
            assert_eq!(of(both, both, name), Some(NO_REMOTE), "{name}");
        }
        let gone = |after: &str| removed_consequence(b"remote.o.url", &settings(after.as_bytes()).0);
        assert_eq!(gone(""), None);
        assert_eq!(gone(&branch("other")), None);
        assert!(gone(&branch("o")).is_some());
        assert!(removed_consequence(b"filter.crypt.clean", &GitSettings::new()).is_some());
        assert_eq!(removed_consequence(b"user.name", &GitSettings::new()), None);
        assert!(removed_consequence(b"mytool.guard", &GitSettings::new()).is_some());
        assert_eq!(removed_consequence(b"url.https://x/.insteadof", &GitSettings::new()), Some(OTHER));
        let gone = |after: &str| removed_consequence(b"remote.o.pushurl", &settings(after.as_bytes()).0);
        assert_eq!((gone(both), gone("")), (Some(OTHER), None));
        let fetch = |spec: &str, is_new| {
            consequence("", &format!("[remote \"o\"]\n\tfetch = {spec}\n"), "remote.o.fetch", is_new)
        };
        assert_eq!(fetch("+refs/heads/*:refs/remotes/o/*", false), None);
        assert_eq!(fetch("+refs/heads/*:refs/heads/*", false), Some(BRANCHES));
        assert_eq!(fetch("+refs/*:refs/*", true), None);
        for spec in ["refs/heads/main", "+refs/pull/*/head:refs/remotes/o/pr/*", "refs/tags/*:refs/tags/*"] {
            assert_eq!(fetch(spec, false), None, "{spec}");
        }
        for spec in ["+refs/heads/x:main", "+refs/h*:refs/h*", "x:HEAD", "refs/notes/*:refs/notes/*"] {
            assert_eq!(fetch(spec, false), Some(BRANCHES), "{spec}");
        }
        let group = |names: &str| {
            consequence("", &format!("{both}[remotes]\n\tdefault = {names}\n"), "remotes.default", false)
        };
        assert_eq!((group("o"), group("o o")), (None, None));
        for names in ["--upload-pack=./x.sh", "o ./b.bundle", "ext::sh"] {
            assert_eq!(group(names), Some(NO_REMOTE), "{names}");
        }
        let tool = |name: &str| consequence("", &format!("[merge]\n\ttool = {name}\n"), "merge.tool", false);
        assert_eq!((tool("vimdiff"), tool("../../x")), (None, Some(TOOL)));
    }
}
