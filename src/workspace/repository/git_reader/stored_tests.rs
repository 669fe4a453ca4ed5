//! What git stores besides the commits of branches, made by git.

use super::*;

/// Story: `git stash`, `git notes add` and a tag on a blob had a row each, and their contents were on no screen.
#[test]
fn what_git_stores_has_its_content_below_its_row() {
    if !has_git() {
        return;
    }
    // The commands, the beginning of the row, and lines of its patch.
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&["a.txt=evil/", "stash push -q"], "stash entry X \"WIP on main", &["-one", "-two", "+evil"]),
        (&["n.txt=evil/", "stash push -q -u"], "stash entry X, untracked files", &["+++ b/n.txt", "+evil"]),
        (
            &["a.txt=evil/", "add a.txt", "a.txt=y/", "stash push -q"],
            "stash entry X, what was staged",
            &["+evil"],
        ),
        (&["notes add -m evil"], "note on commit X \"second\" in commits", &["+evil"]),
        (&["notes add -m evil", "notes add -f -m Other"], "note on commit X", &["+evil"]),
        (&["tag -a v1 -m evil"], "tag v1 created at X, annotated", &["+tag v1", "+evil"]),
        (&["tag -a v1 -m evil", "tag -a v2 -m Two v1"], "tag v1 created", &["+evil"]),
        (
            &["tag -a v1 -m evil", "tag -a v2 -m Two v1", "tag -d v1"],
            "tag v2 created at X, annotated: 2 files",
            &["+Two", "+evil"],
        ),
        (
            &["!printf evil | git hash-object -w --stdin | xargs git tag b"],
            "tag b created at X, a blob",
            &["+evil"],
        ),
        (&["n.txt=evil/", "add .", "!git tag t $(git write-tree)"], "tag t created at X, a tree", &["+evil"]),
        (&["n.txt=evil/", "add n.txt"], "index: 1 staged", &["+++ b/n.txt", "+evil"]),
        // Story: these are objects that were stored before, so the row had no path and no difference.
        (
            &["!git update-index --cacheinfo 100644,$(git rev-parse HEAD:b.txt),a.txt"],
            "index: 1 staged",
            &["--- a/a.txt", "-one", "+b"],
        ),
        (&["rm -q --cached b.txt"], "index: 1 staged", &["deleted file mode 100644", "--- a/b.txt", "-b"]),
        (
            &["update-index --chmod=+x b.txt"],
            "index: 1 staged",
            &["diff --git a/b.txt b/b.txt", "old mode 100644", "new mode 100755"],
        ),
        (
            &["!git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub"],
            "index: 1 staged",
            &["diff --git a/sub b/sub", "new file mode 160000"],
        ),
        (
            &[
                "!E=$(git rev-parse HEAD:a.txt); printf '0 %s\\tb.txt\\n100644 %s 3\\tb.txt\\n' $E $E | git update-index --index-info",
            ],
            "index: 1 in conflict",
            &["+++ b/b.txt (theirs)", "+one"],
        ),
        (
            &[
                "!E=$(printf evil | git hash-object -w --stdin); printf '0 %s\\tb.txt\\n100644 %s 3\\tb.txt\\n' $E $E | git update-index --index-info; git add b.txt",
            ],
            "index: 1 resolved",
            &["+++ b/b.txt (resolved, theirs)", "+evil"],
        ),
        (
            &["rm -q --cached b.txt", "add -N b.txt"],
            "index: 1 intent-to-add",
            &["deleted file mode 100644", "-b"],
        ),
        (&["!printf evil | git hash-object -w --stdin"], "1 blob, reached by no branch or tag", &["+evil"]),
        (
            &["!git tag b $(head -c 3000000 /dev/zero | tr '\\0' a | git hash-object -w --stdin)"],
            "tag b created at X, a blob: too large to be shown",
            &["# after: too large to be shown, 3000000 bytes"],
        ),
        (
            &["!git tag b $(head -c 9 /dev/zero | git hash-object -w --stdin)"],
            "tag b created at X, a blob: not text, 9 bytes",
            &["# after: not text, 9 bytes"],
        ),
        (
            &["c.txt=evil/", "add .", "commit -qm Third", "c.txt=d/", "commit -qa --amend -m Again"],
            "commit X \"Third\", reached by no branch or tag",
            &["+evil"],
        ),
        (
            &["c.txt=evil/", "add .", "commit -qm Third", "tag -a v1 -m x", "reset -q --hard HEAD~1"],
            "commit X \"Third\" on v1",
            &["+evil"],
        ),
        (
            &["c.txt=evil/", "add .", "commit -qm Third", "reset -q --hard HEAD~1"],
            "commit X \"Third\" on ORIG_HEAD",
            &["+evil"],
        ),
    ];
    for (commands, row, wanted) in cases {
        let events = Ground::new().events(|ground| run(ground, commands));
        let rows: Vec<String> = events.iter().map(|event| without_names(&event.line())).collect();
        let of_row = events.iter().zip(&rows).filter(|(_, line)| line.starts_with(row));
        let patches: Vec<String> = of_row
            .filter_map(|(event, _)| Some(String::from_utf8_lossy(&event.patch()?.bytes).into_owned()))
            .collect();
        let has = |patch: &String| wanted.iter().all(|line| patch.lines().any(|found| found == *line));
        assert!(patches.iter().any(has), "{commands:?}: {row}\n{rows:#?}\n{patches:#?}");
    }
}

/// A name that git has counts for the consent; what only its hash leads to does not.
#[test]
fn only_what_no_name_leads_to_is_marked_as_unreached() {
    if !has_git() {
        return;
    }
    let events = Ground::new().events(|ground| {
        run(
            ground,
            &[
                "a.txt=x/",
                "stash push -q",
                "!printf a | git hash-object -w --stdin",
                "!printf b | git hash-object -w --stdin | xargs git tag b",
                "notes add -m n",
            ],
        );
    });
    let marked: Vec<(bool, String)> =
        events.iter().filter_map(|event| Some((event.patch()?.is_unreached, event.line()))).collect();
    let unreached: Vec<&String> = marked.iter().filter(|(is, _)| *is).map(|(_, line)| line).collect();
    assert_eq!(marked.len(), 4, "{marked:#?}");
    assert_eq!(unreached, ["1 blob, reached by no branch or tag: +1 -0"]);
}

/// Story: what the person applied as reached by nothing was given a name in the next step, and had no content there either.
#[test]
fn what_was_only_stored_has_its_content_where_a_name_leads_to_it() {
    if !has_git() {
        return;
    }
    let evil = "!git config alias.evil '!E=$(printf evil | git hash-object -w --stdin); git read-tree HEAD; \
                git update-index --add --cacheinfo 100644,$E,evil.txt; T=$(git write-tree); git read-tree HEAD; \
                git commit-tree $T -p HEAD -m Evil'; git evil > .git/hash; printf evil | git hash-object -w --stdin > .git/blob";
    let stash =
        "!git stash push -q; git update-ref --no-deref refs/stash $(cat .git/hash); rm .git/logs/refs/stash";
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&[evil], &["!git update-ref refs/heads/main $(cat .git/hash)"], "commit X \"Evil\" on main: 1 file"),
        (&[evil], &["!git branch feature $(cat .git/hash)"], "commit X \"Evil\" on feature: 1 file"),
        (&[evil], &["!git tag v1 $(cat .git/blob)"], "tag v1 created at X, a blob: +1 -0"),
        (&[evil], &["!git update-index --add --cacheinfo 100644,$(cat .git/blob),n.txt"], "index: 1 staged"),
        (
            &[evil],
            &[
                "!echo \"$(git rev-parse HEAD) $(git rev-parse HEAD) A <a@x> 5 +0000\tcheckout: moving from $(cat .git/hash) to main\" >> .git/logs/HEAD",
            ],
            "commit X \"Evil\" on logs/HEAD: 1 file",
        ),
        (&[], &[evil, "a.txt=x/", stash], "stash entry X \"Evil\" added: 1 file"),
        (
            &[],
            &[
                "notes add -m evil",
                "!git tag -a -m x zz refs/notes/commits; cp .git/refs/tags/zz .git/refs/notes/commits",
            ],
            "note on commit X \"second\" in commits: +1 -0",
        ),
    ];
    for (before, commands, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, before);
        let events = ground.events(|ground| run(ground, commands));
        let found = events.iter().find(|event| without_names(&event.line()).starts_with(row));
        let patch = found.and_then(GitEvent::patch).map(|patch| (patch.is_unreached, patch.bytes.clone()));
        let lines: Vec<String> = events.iter().map(GitEvent::line).collect();
        let Some((false, patch)) = patch else { panic!("{commands:?}: {row}\n{lines:#?}") };
        assert!(String::from_utf8_lossy(&patch).contains("\n+evil"), "{commands:?}: {row}\n{lines:#?}");
    }
    // A branch at a commit that the person's branches have shows nothing.
    let events = Ground::new().events(|ground| run(ground, &["branch old HEAD~1"]));
    assert_eq!(events.len(), 1, "{events:#?}");
}

/// Story: "stash entry removed" was all that a person read of it.
#[test]
fn what_goes_from_the_stash_has_its_lines_unless_the_work_tree_has_them() {
    if !has_git() {
        return;
    }
    let before: &[&str] = &["a.txt=lost/", "n.txt=own/", "stash push -q -u"];
    let staged: &[&str] = &["a.txt=lost/", "add a.txt", "a.txt=later/", "stash push -q"];
    let cases: &[(&[&str], &[&str], &str, &str)] = &[
        (
            before,
            &["stash drop -q"],
            "stash entry X \"WIP on main: X second\" removed: 1 file +2 -1",
            "-lost",
        ),
        (before, &["stash clear"], "stash entry X, untracked files, removed: 1 file +0 -1", "-own"),
        (
            before,
            &["stash pop -q"],
            "stash entry X \"WIP on main: X second\" removed: its files are in the work tree",
            "",
        ),
        // The work tree has other lines now.
        (
            before,
            &["stash pop -q", "a.txt=x/"],
            "stash entry X \"WIP on main: X second\" removed: 1 file",
            "-lost",
        ),
        (staged, &["stash pop -q"], "stash entry X, what was staged, removed: 1 file", "-lost"),
        // Nothing is gone.
        (before, &["!sed -i s/WIP/Other/ .git/logs/refs/stash"], "logs/refs/stash: +1 -1", "+"),
    ];
    for (before, commands, row, line) in cases {
        let mut ground = Ground::new();
        run(&mut ground, before);
        let events = ground.events(|ground| run(ground, commands));
        let rows: Vec<String> = events.iter().map(|event| without_names(&event.line())).collect();
        let Some(at) = rows.iter().position(|found| found.starts_with(row)) else {
            panic!("{commands:?}: {row}\n{rows:#?}")
        };
        let patch = events[at].patch().map(|patch| String::from_utf8_lossy(&patch.bytes).into_owned());
        let patch = patch.unwrap_or_default();
        assert_eq!(patch.is_empty(), line.is_empty(), "{commands:?}: {patch}");
        assert!(patch.contains(line), "{commands:?}: {patch}");
    }
}

#[test]
fn a_renamed_file_in_the_index_is_one_part_without_lines() {
    if !has_git() {
        return;
    }
    let events = Ground::new().events(|ground| run(ground, &["mv b.txt c.txt"]));
    let patch = events.iter().find_map(|event| event.patch()).unwrap();
    let wanted = "diff --git a/b.txt b/c.txt\nrename from b.txt\nrename to c.txt\n";
    assert_eq!(String::from_utf8_lossy(&patch.bytes), wanted);
}

/// Story: a row named the commit to which a note is, and the message of the commit of notes was nowhere.
#[test]
fn a_message_of_a_commit_of_notes_is_shown_unless_git_wrote_it() {
    if !has_git() {
        return;
    }
    let of = |commands: &[&str]| {
        let events = Ground::new().events(|ground| run(ground, commands));
        let note = events.iter().find(|event| event.line().starts_with("note on")).unwrap();
        String::from_utf8_lossy(&note.patch().unwrap().bytes).into_owned()
    };
    assert!(!of(&["notes add -m n"]).contains("message"));
    let own = "!c=$(git commit-tree -m EVIL refs/notes/commits^{tree}); git update-ref refs/notes/commits $c";
    assert!(of(&["notes add -m n", own]).contains("\n+EVIL\n"));
}

/// Story: "tag v1 deleted, was at X": nothing else had its message, the blob or the commit behind it.
#[test]
fn what_goes_with_a_tag_or_with_notes_is_shown() {
    if !has_git() {
        return;
    }
    let blob = "!printf lost | git hash-object -w --stdin | xargs git tag b";
    let commit: &[&str] = &[
        "c.txt=lost/",
        "add .",
        "commit -qm Third",
        "tag v1",
        "reset -q --hard HEAD~1",
        "reflog expire --expire=now --all",
    ];
    let cases: &[(&[&str], &[&str], &str, &str)] = &[
        (&["tag -a v1 -m lost"], &["tag -d v1"], "tag v1 deleted, was at X, annotated: +0 -4", "-lost"),
        (&["tag -a v1 -m lost"], &["tag v2 v1", "tag -d v1"], "tag v1 deleted, was at X", ""),
        (&[blob], &["tag -d b"], "tag b deleted, was at X, a blob: +0 -1", "-lost"),
        (
            &["notes add -m lost"],
            &["update-ref -d refs/notes/commits"],
            "notes commits deleted, was at X: +0 -1",
            "-lost",
        ),
        (
            commit,
            &["tag -d v1"],
            "tag v1 deleted, was at X (drops 1 commit: \"Third\"; no other ref has it)",
            "",
        ),
        (&["tag v1"], &["tag -d v1"], "tag v1 deleted, was at X", ""),
    ];
    for (before, commands, row, line) in cases {
        let mut ground = Ground::new();
        run(&mut ground, before);
        let events = ground.events(|ground| run(ground, commands));
        let rows: Vec<String> = events.iter().map(|event| without_names(&event.line())).collect();
        let Some(at) = rows.iter().position(|found| found == row) else {
            panic!("{commands:?}: {row}\n{rows:#?}")
        };
        let patch = events[at].patch().map(|patch| String::from_utf8_lossy(&patch.bytes).into_owned());
        assert_eq!(patch.is_none(), line.is_empty(), "{commands:?}: {patch:?}");
        assert!(patch.unwrap_or_default().contains(line), "{commands:?}");
    }
}

/// Story: after `git update-ref` the index stayed, and nothing showed what the next commit takes back from the branch.
#[test]
fn the_lines_that_an_index_takes_back_from_a_moved_branch_are_shown() {
    if !has_git() {
        return;
    }
    let mut ground = Ground::new();
    run(&mut ground, &["switch -q -c up", "c.txt=new/", "add .", "commit -qm Up", "switch -q main"]);
    for command in ["update-ref refs/heads/main up", "symbolic-ref HEAD refs/heads/up"] {
        let events = ground.events(|ground| run(ground, &[command]));
        let index = events.iter().find(|event| event.line().starts_with("index:"));
        let patch =
            index.and_then(|event| event.patch()).map(|patch| patch.bytes.clone()).unwrap_or_default();
        let patch = String::from_utf8(patch).unwrap();
        assert!(
            patch.contains("deleted file mode 100644") && patch.contains("\n-new\n"),
            "{command}: {patch}"
        );
        run(
            &mut ground,
            &["reset -q --hard up", "symbolic-ref HEAD refs/heads/main", "reset -q --hard up~1"],
        );
    }
}
