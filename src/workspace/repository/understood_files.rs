//! Which files in a repository's directory placet understands, and who reads each of them.
//!
//! git gives a meaning to more files than anybody can list as dangerous: one names a merge strategy, which is a program,
//! another one is taken for a ref, a third is copied into the work tree. So the table lists what is understood. Any other
//! file that is new or changed waits for an answer.

use super::git_files::is_hex;
use std::path::Path;

/// Who says what a changed file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum StateFileReader {
    /// The facts of a repository: settings, hooks, links to other places. What runs later waits by itself.
    Facts,
    /// The readers of refs, of the index and of objects.
    Refs,
    Index,
    Objects,
    /// An object of git LFS, whose name is the hash of its content.
    LfsObject,
    /// A reflog.
    Log,
    /// Names of objects anywhere in the text.
    Words,
    /// Names of objects and nothing else, or `ref: NAME`.
    Names,
    /// The branch or the commit to which `git bisect reset` goes back.
    Start,
    /// The steps of a rebase, a cherry-pick or a revert.
    Steps,
    /// Refs of a rebase, which git removes when it ends.
    Labels,
    /// The settings of a cherry-pick or a revert.
    Options,
    /// A merge strategy, and what it is given.
    Strategy,
    StrategyOptions,
    /// The key with which the commits of a rebase are signed.
    SigningOption,
    /// Name, address and time of an author, as assignments of a shell.
    Author,
    /// A mail or a patch of `git am`.
    Patch,
    /// What `git am` gives to `git apply`.
    ApplyOptions,
    /// A rebase by patches: each names a commit.
    PatchRebase,
    /// A conflict that git recorded, and how it was resolved.
    Resolution,
    /// Files in conflict for `git rerere`.
    ConflictPaths,
    /// Text that no program runs or obeys. git may still take the file for a ref.
    Text,
    /// No command reads it under this name. git may still take the file for a ref, if a person names it like one.
    Leftover,
}

/// Patterns of paths below the directory of a repository, the first that matches counts: `*` stands for any part of one name,
/// `**` for one name or several, `[0-9]` for a name of digits. `worktrees/NAME/` before a path is left out.
const TABLE: [(&str, StateFileReader); 138] = {
    use StateFileReader::*;
    [
        // Locks and temporary files that an interrupted git leaves.
        ("**.lock", Leftover),
        ("index.stash.*", Leftover),
        ("next-index-*", Leftover),
        ("packed-refs.new", Leftover),
        ("objects/tmp_objdir-**", Leftover),
        ("objects/*/tmp_obj_*", Leftover),
        ("objects/pack/tmp_*", Leftover),
        ("gc.pid", Leftover),
        ("fsmonitor--daemon/**", Leftover),
        ("fsmonitor--daemon.ipc", Leftover),
        ("HEAD", Refs),
        ("packed-refs", Refs),
        ("refs/**", Refs),
        ("reftable/**", Refs),
        ("shallow", Refs),
        ("index", Index),
        ("sharedindex.*", Index),
        ("objects/**", Objects),
        ("logs/**", Log),
        ("config", Facts),
        ("config.worktree", Facts),
        ("hooks/**", Facts),
        ("info/attributes", Facts),
        ("info/grafts", Facts),
        ("commondir", Facts),
        ("gitdir", Facts),
        ("remotes/**", Facts),
        ("branches/**", Facts),
        ("info/exclude", Text),
        ("info/refs", Text),
        ("info/sparse-checkout", Text),
        ("info/lefthook.checksum", Text),
        ("description", Text),
        ("locked", Text),
        ("gc.log", Text),
        ("git-daemon-export-ok", Text),
        ("cloneurl", Text),
        // Messages of commits and what editors leave next to them.
        ("*_MSG", Text),
        ("*_EDITMSG", Text),
        ("*_EDITMSG~", Text),
        (".*_EDITMSG.sw*", Text),
        ("EDIT_DESCRIPTION", Text),
        ("ADD_EDIT.patch", Text),
        ("addp-hunk-edit.diff", Text),
        ("NOTES_MERGE_WORKTREE/**", Text),
        ("lost-found/**", Text),
        // Of other programs.
        ("gitk.cache", Text),
        ("opencode", Text),
        ("machete", Text),
        ("filter-repo/**", Text),
        ("lfs/objects/**", LfsObject),
        ("lfs/**", Text),
        // Operations that are not over.
        ("MERGE_MODE", Text),
        ("MERGE_RR", ConflictPaths),
        ("AUTO_MERGE", Words),
        ("FETCH_HEAD", Words),
        ("MERGE_HEAD", Words),
        ("MERGE_AUTOSTASH", Words),
        ("BISECT_START", Start),
        ("BISECT_LOG", Text),
        ("BISECT_NAMES", Text),
        ("BISECT_TERMS", Text),
        ("BISECT_RUN", Text),
        ("BISECT_ANCESTORS_OK", Text),
        ("BISECT_FIRST_PARENT", Text),
        ("rebase-merge/git-rebase-todo", Steps),
        ("rebase-merge/strategy", Strategy),
        ("rebase-merge/strategy_opts", StrategyOptions),
        ("rebase-merge/gpg_sign_opt", SigningOption),
        ("rebase-merge/author-script", Author),
        ("rebase-merge/onto", Names),
        ("rebase-merge/orig-head", Names),
        ("rebase-merge/squash-onto", Names),
        ("rebase-merge/stopped-sha", Names),
        ("rebase-merge/amend", Names),
        ("rebase-merge/rewritten-list", Names),
        ("rebase-merge/rewritten-pending", Names),
        ("rebase-merge/autostash", Names),
        ("rebase-merge/update-refs", Words),
        ("rebase-merge/current-fixups", Words),
        ("rebase-merge/refs-to-delete", Labels),
        ("rebase-merge/git-rebase-todo.backup", Words),
        ("rebase-merge/done", Words),
        ("rebase-merge/dropped", Words),
        ("rebase-merge/head-name", Text),
        ("rebase-merge/message", Text),
        ("rebase-merge/message-squash", Text),
        ("rebase-merge/message-fixup", Text),
        ("rebase-merge/patch", Text),
        ("rebase-merge/msgnum", Text),
        ("rebase-merge/end", Text),
        ("rebase-merge/interactive", Text),
        ("rebase-merge/quiet", Text),
        ("rebase-merge/verbose", Text),
        ("rebase-merge/signoff", Text),
        ("rebase-merge/trailer", Text),
        ("rebase-merge/ignore_date", Text),
        ("rebase-merge/cdate_is_adate", Text),
        ("rebase-merge/allow_rerere_autoupdate", Text),
        ("rebase-merge/reschedule-failed-exec", Text),
        ("rebase-merge/no-reschedule-failed-exec", Text),
        ("rebase-merge/drop_redundant_commits", Text),
        ("rebase-merge/keep_redundant_commits", Text),
        ("rebase-apply/autostash", Names),
        // git writes it again before it reads it.
        ("rebase-apply/patch-merge-index", Leftover),
        ("rebase-apply/rebasing", PatchRebase),
        ("rebase-apply/[0-9]", Patch),
        ("rebase-apply/patch", Patch),
        ("rebase-apply/apply-opt", ApplyOptions),
        ("rebase-apply/author-script", Author),
        ("rebase-apply/gpg_sign_opt", SigningOption),
        ("rebase-apply/abort-safety", Names),
        ("rebase-apply/original-commit", Names),
        ("rebase-apply/rewritten", Names),
        ("rebase-apply/orig-head", Names),
        ("rebase-apply/onto", Names),
        ("rebase-apply/applying", Text),
        ("rebase-apply/final-commit", Text),
        ("rebase-apply/info", Text),
        ("rebase-apply/msg", Text),
        ("rebase-apply/next", Text),
        ("rebase-apply/last", Text),
        ("rebase-apply/head-name", Text),
        ("rebase-apply/threeway", Text),
        ("rebase-apply/quiet", Text),
        ("rebase-apply/sign", Text),
        ("rebase-apply/utf8", Text),
        ("rebase-apply/keep", Text),
        ("rebase-apply/messageid", Text),
        ("rebase-apply/scissors", Text),
        ("rebase-apply/quoted-cr", Text),
        ("rebase-apply/dirtyindex", Text),
        ("sequencer/todo", Steps),
        ("sequencer/opts", Options),
        ("sequencer/head", Names),
        ("sequencer/abort-safety", Names),
        ("rr-cache/*/*", Resolution),
        // Any other name in capitals is a ref.
        ("[A-Z]", Names),
    ]
};

impl StateFileReader {
    /// Who reads the file at `rel`, a path below the directory of a repository. `None` for a file that placet does not know.
    pub(in crate::workspace) fn of(rel: &Path) -> Option<StateFileReader> {
        let names: Option<Vec<&str>> = rel.iter().map(|name| name.to_str()).collect();
        let names = names?;
        let names = match names.as_slice() {
            ["worktrees", _, below @ ..] if !below.is_empty() => below,
            all => all,
        };
        let found = TABLE.iter().find(|(pattern, _)| is_like(pattern, names)).map(|(_, reader)| *reader)?;
        let is_known = match found {
            StateFileReader::Objects => is_object_file(names.get(1..).unwrap_or_default()),
            _ => true,
        };
        is_known.then_some(found)
    }
}

/// True where git reads something of that name at the top of a repository, whatever the directory is called.
pub(in crate::workspace) fn is_name_of_git(first: &str) -> bool {
    let is_begin = |(pattern, _): &(&str, StateFileReader)| {
        let begin = pattern.split('/').next().unwrap_or_default();
        !pattern.starts_with("**") && is_like(begin, &[first])
    };
    TABLE.iter().any(is_begin) || ["common", "modules", "worktrees"].contains(&first)
}

fn is_like(pattern: &str, names: &[&str]) -> bool {
    if let Some(end) = pattern.strip_prefix("**") {
        return names.last().is_some_and(|last| last.ends_with(end));
    }
    let (Some((name, below)), parts) = (names.split_first(), pattern.split_once('/')) else { return false };
    let (first, rest) = parts.map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    match (first.strip_suffix("**"), rest) {
        (Some(begin), None) => name.starts_with(begin),
        (None, Some("**")) => is_one(first, name) && !below.is_empty(),
        (None, Some(rest)) => is_one(first, name) && is_like(rest, below),
        (None, None) => is_one(first, name) && below.is_empty(),
        (Some(_), Some(_)) => false,
    }
}

/// One name, with one `*` or two.
fn is_one(pattern: &str, name: &str) -> bool {
    if pattern == "[A-Z]" {
        // What git takes for a ref without a directory.
        return !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b == b'-');
    }
    if pattern == "[0-9]" {
        return !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|begin| name.strip_prefix(begin)) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.len() >= end.len() && rest.ends_with(end)
}

/// Objects by their whole names, packs with what lies next to them, and lists of both.
fn is_object_file(below: &[&str]) -> bool {
    const NEXT_TO_PACK: [&str; 7] = ["pack", "idx", "rev", "keep", "bitmap", "mtimes", "promisor"];
    match below {
        [dir, name] if is_hex(dir, 2..=2) => [38, 62].contains(&name.len()) && is_hex(name, 38..=62),
        ["pack", name] => {
            let end = name.rsplit_once('.').map(|(_, end)| end);
            end.is_some_and(|end| NEXT_TO_PACK.contains(&end)) || name.starts_with("multi-pack-index")
        }
        ["pack", "multi-pack-index.d", _] | ["info", "commit-graphs", _] => true,
        ["info", name] => ["packs", "commit-graph", "alternates"].contains(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_reader() {
        use StateFileReader::*;
        let hash = "ab".repeat(19);
        let loose = format!("objects/ab/{hash}");
        for (path, reader) in [
            ("config", Facts),
            ("hooks/pre-commit", Facts),
            ("hooks/a/b", Facts),
            ("worktrees/w/HEAD", Refs),
            ("worktrees/w/logs/HEAD", Log),
            ("worktrees/w/gitdir", Facts),
            ("refs/heads/a/b", Refs),
            ("refs/heads/a.lock", Leftover),
            ("logs/refs/heads/main", Log),
            ("EVIL", Names),
            ("ORIG_HEAD", Names),
            ("COMMIT_EDITMSG", Text),
            (".COMMIT_EDITMSG.swp", Text),
            ("GITGUI_MSG", Text),
            ("rebase-merge/strategy", Strategy),
            ("rebase-apply/0001", Patch),
            ("rebase-apply/rebasing", PatchRebase),
            ("sequencer/opts", Options),
            ("rr-cache/ab/postimage", Resolution),
            ("lfs/tmp/x/y", Text),
            ("lfs/objects/ab/cd/x", LfsObject),
            ("objects/pack/pack-1.idx", Objects),
            ("objects/pack/tmp_pack_1", Leftover),
            ("objects/info/alternates", Objects),
            (&loose, Objects),
        ] {
            assert_eq!(StateFileReader::of(Path::new(path)), Some(reader), "{path}");
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_not_understood() {
        let unknown = [
            "evil",
            "EVIL2",
            "Evil",
            "sub/EVIL",
            "rebase-merge/hook",
            "rebase-merge/a/b",
            "rebase-apply/000x",
            "rebase-apply/hook",
            "sequencer/x",
            "objects/x.py",
            "objects/ab/short",
            "objects/info/http-alternates",
            "modules/a/config",
            "annex/x",
            "svn/x",
            "rr-cache/x",
            "info/x",
            "",
        ];
        for path in unknown {
            assert_eq!(StateFileReader::of(Path::new(path)), None, "{path}");
        }
        for (name, is) in [("rebase-merge", true), ("EVIL", true), ("src", false), ("main.rs", false)] {
            assert_eq!(is_name_of_git(name), is, "{name}");
        }
    }
}
