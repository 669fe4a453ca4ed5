//! Real git commands, and the rows that a person reads of each.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "command_list.rs"]
mod command_list;
#[path = "forged_tests.rs"]
mod forged_tests;
#[path = "proved_tests.rs"]
mod proved_tests;
#[path = "stored_tests.rs"]
mod stored_tests;
#[path = "unexplained_tests.rs"]
mod unexplained_tests;

/// Files of one directory, shown at the path of another: the state before was copied away.
struct Copied<'a> {
    shown: &'a Path,
    real: &'a Path,
}

impl RepositoryFiles for Copied<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(self.real.join(path.strip_prefix(self.shown).ok()?))
    }

    fn names(&self, path: &Path) -> Vec<OsString> {
        let listed = self.real(path).and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten();
        listed.map(|entry| entry.unwrap().file_name()).collect()
    }
}

struct Ground {
    _dir: tempfile::TempDir,
    work: PathBuf,
    copy: PathBuf,
    clock: u64,
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

impl Ground {
    /// A repository with two commits on `main`.
    fn new() -> Ground {
        let mut ground = Ground::empty();
        ground.git("init -q -b main");
        ground.write("a.txt", "one\ntwo\n");
        ground.git("add .");
        ground.git("commit -qm first");
        ground.write("b.txt", "b\n");
        ground.git("add .");
        ground.git("commit -qm second");
        ground
    }

    fn empty() -> Ground {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let (work, copy) = (base.join("work"), base.join("copy"));
        fs::create_dir(&work).unwrap();
        Ground { _dir: dir, work, copy, clock: 1_700_000_000 }
    }

    fn packed_head(&self) -> object_id::ObjectId {
        let packed = fs::read(self.work.join(".git/packed-refs")).unwrap();
        let line = packed.split(|b| *b == b'\n').find(|line| line.ends_with(b" refs/heads/main")).unwrap();
        object_id::ObjectId::from_hex(&line[..40]).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.work.join(name), text).unwrap();
    }

    /// Words are parted by blanks; `_` in a word is a blank.
    fn git(&mut self, words: &str) -> bool {
        self.clock += 60;
        let date = format!("{} +0000", self.clock);
        let mut git = Command::new("git");
        git.args(words.split(' ').map(|word| word.replace('_', " "))).current_dir(&self.work).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.work)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).env("GIT_EDITOR", "true");
        for (name, value) in [("AUTHOR", "A"), ("COMMITTER", "A")] {
            git.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "a@x");
        }
        git.output().unwrap().status.success()
    }

    /// The rows of what `change` does, with the names of commits as `X`.
    fn rows(&mut self, change: impl FnOnce(&mut Ground)) -> Vec<String> {
        let events = self.events(change);
        let line =
            |event: &GitEvent| format!("{}{}", if event.needs_care() { "! " } else { "" }, event.line());
        events.iter().map(|event| without_names(&line(event))).collect()
    }

    fn events(&mut self, change: impl FnOnce(&mut Ground)) -> Vec<GitEvent> {
        let _ = fs::remove_dir_all(&self.copy);
        assert!(Command::new("cp").arg("-a").arg(&self.work).arg(&self.copy).status().unwrap().success());
        change(self);
        let dir = self.work.join(".git");
        let before = files_below(&self.copy.join(".git"));
        let after = files_below(&dir);
        let names: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let changed: Vec<(PathBuf, bool)> = names
            .into_iter()
            .filter(|name| before.get(*name) != after.get(*name))
            .map(|name| (dir.join(name), !after.contains_key(name)))
            .collect();
        let changed: Vec<(&Path, bool)> =
            changed.iter().map(|(path, gone)| (path.as_path(), *gone)).collect();
        let (before, after) =
            (Copied { shown: &self.work, real: &self.copy }, Copied { shown: &self.work, real: &self.work });
        compare(&GitSides {
            dir: &dir,
            before: &before,
            after: &after,
            changed: &changed,
            loose_objects: &[],
            person_settings: &[],
            deadline: budget::without_deadline(),
        })
    }
}

fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => todo.push(entry.path()),
                false => {
                    let name = entry.path().strip_prefix(dir).unwrap().to_path_buf();
                    // A pipe would be waited for, and a device has no end.
                    let is_file = entry.file_type().unwrap().is_file();
                    let content = if is_file {
                        fs::read(entry.path()).unwrap_or_default()
                    } else {
                        b"special".to_vec()
                    };
                    found.insert(name, content);
                }
            }
        }
    }
    found
}

/// Seven hexadecimal digits become `X`.
fn without_names(line: &str) -> String {
    let shown = |word: &str| {
        let (begin, name) = word.strip_prefix('(').map_or(("", word), |name| ("(", name));
        let plain = name.trim_end_matches([';', ',', ':', ')']);
        let is_name = plain.len() == 7 && plain.bytes().all(|b| b.is_ascii_hexdigit());
        if is_name { format!("{begin}X{}", &name[7..]) } else { word.to_string() }
    };
    let words = line.split(' ').map(shown);
    words.collect::<Vec<_>>().join(" ")
}

/// Files and histories that several rows begin with.
fn prepare(ground: &mut Ground, what: &str) {
    let commands: &[&str] = match what {
        "diverge" => &[
            "switch -q -c topic",
            "c.txt=c/",
            "add .",
            "commit -qm Topic",
            "switch -q main",
            "a.txt=1/two/",
            "commit -qam Main",
        ],
        "conflict" => &[
            "switch -q -c topic",
            "a.txt=ONE/two/",
            "commit -qam Topic",
            "switch -q main",
            "a.txt=1/two/",
            "commit -qam Main",
        ],
        "clone" => {
            let other = ground.work.parent().unwrap().join("other");
            let cp = Command::new("cp").arg("-a").arg(&ground.work).arg(&other).status();
            assert!(cp.unwrap().success());
            let own = std::mem::replace(&mut ground.work, other);
            run(ground, &["far.txt=x/", "add .", "commit -qm Far_away", "tag far"]);
            ground.work = own;
            &["remote add origin ../other"]
        }
        "squash" => {
            // What the editor of the list of commits would do by hand.
            let edit = "sed -i 2s/pick/squash/ \"$1\"";
            fs::write(ground.work.join(".git/edit"), format!("#!/bin/sh\n{edit}\n")).unwrap();
            &["-c sequence.editor=sh_.git/edit rebase -q -i HEAD~2", "!rm .git/edit"]
        }
        shell => {
            let done = Command::new("sh").arg("-c").arg(shell).current_dir(&ground.work).status();
            return assert!(done.unwrap().success(), "{shell}");
        }
    };
    run(ground, commands);
}

/// `NAME=TEXT` writes a file, with `/` for line ends; `!` prepares; all else is a command of git.
fn run(ground: &mut Ground, commands: &[&str]) {
    for command in commands {
        match (command.strip_prefix('!'), command.split_once('=').filter(|(name, _)| !name.contains(' '))) {
            (Some(what), _) => prepare(ground, what),
            (None, Some((name, text))) => ground.write(name, &text.replace('/', "\n")),
            // Some are meant to fail, as a merge with a conflict does.
            (None, None) => drop(ground.git(command)),
        }
    }
}

#[test]
fn each_command_of_git_has_its_rows() {
    if !has_git() {
        return;
    }
    let mut all = String::new();
    for (title, commands) in command_list::COMMANDS {
        let mut ground = Ground::new();
        let at = commands.iter().position(|command| *command == "|").unwrap();
        run(&mut ground, &commands[..at]);
        let rows = ground.rows(|ground| run(ground, &commands[at + 1..]));
        all.push_str(&format!("{title}: {}\n", commands[at + 1..].join(", ").escape_debug()));
        rows.iter().for_each(|row| all.push_str(&format!("    {row}\n")));
    }
    insta::assert_snapshot!("git_commands", all);
}

/// A hostile repository: nothing outside is read, no program runs, and what cannot be read is a row.
#[test]
fn hostile_repositories_end_in_rows() {
    if !has_git() {
        return;
    }
    let of = |change: &dyn Fn(&mut Ground)| Ground::new().rows(|ground| change(ground));
    let not_read =
        |rows: &[String], why: &str| assert!(rows.iter().any(|row| row.contains(why)), "{why}: {rows:?}");
    // A pipe, and a link to a device, in place of files.
    for (name, why) in
        [("packed-refs", "refs changed, and were not read"), ("index", "index changed, and was not read")]
    {
        for make in ["mkfifo", "ln -sf /dev/zero"] {
            let rows = of(&|ground| prepare(ground, &format!("rm -f .git/{name}; {make} .git/{name}")));
            not_read(&rows, why);
        }
    }
    // Refs that lead out of the repository.
    let rows = of(&|ground| {
        let outside = ground.work.parent().unwrap().join("outside");
        fs::write(&outside, "0123456789abcdef0123456789abcdef01234567\n").unwrap();
        fs::write(ground.work.join(".git/refs/heads/x"), "ref: ../../outside\n").unwrap();
        std::os::unix::fs::symlink(outside, ground.work.join(".git/refs/heads/y")).unwrap();
    });
    assert_eq!(rows, ["! branch x cannot be read", "! branch y cannot be read"]);
    // HEAD as a pipe.
    let rows = of(&|ground| prepare(ground, "rm .git/HEAD; mkfifo .git/HEAD"));
    assert_eq!(rows, ["! refs changed, and were not read: HEAD is no regular file, or names no ref"]);
    // A directory of refs that is a link to itself.
    let rows = of(&|ground| {
        prepare(ground, "ln -s . .git/refs/heads/loop");
        ground.git("branch -q -f other HEAD~1");
        ground.git("reset -q --hard HEAD~1");
    });
    not_read(&rows, "drops 1 commit: \"second\"; no other ref has it");
    // Objects elsewhere.
    let rows = of(&|ground| {
        fs::write(ground.work.join(".git/commondir"), "/etc\n").unwrap();
        ground.git("tag v1");
    });
    not_read(&rows, "its objects are in another repository");
    // An object of another content, and one that inflates to more than any object may have.
    for content in [b"commit 3\0abc".to_vec(), [b"blob 99999999\0".to_vec(), vec![0; 99_999_999]].concat()] {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&content, 1);
        let name = "0123456789abcdef0123456789abcdef01234567";
        let rows = of(&|ground| {
            let dir = ground.work.join(".git/objects/01");
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(&name[2..]), &packed).unwrap();
            fs::write(ground.work.join(".git/refs/heads/bad"), format!("{name}\n")).unwrap();
        });
        assert_eq!(rows, ["branch bad created at X"]);
    }
    // A commit whose tree is missing: nobody knows what is staged.
    let rows = of(&|ground| {
        ground.write("n.txt", "n\n");
        ground.git("add n.txt");
        fs::write(ground.work.join(".git/refs/heads/main"), format!("{}\n", "1".repeat(40))).unwrap();
    });
    not_read(&rows, "! index: not all paths were compared");
    // A pack that is cut off.
    let mut ground = Ground::new();
    ground.git("gc -q");
    let rows = ground.rows(|ground| {
        prepare(ground, "for p in .git/objects/pack/*.pack; do chmod u+w $p; truncate -s 40 $p; done");
        ground.git("update-ref refs/heads/again HEAD");
        fs::write(ground.work.join(".git/refs/heads/main"), format!("{}\n", "1".repeat(40))).unwrap();
    });
    not_read(&rows, "branch main moved from X to X");
}

/// Deltas that lead to each other, in a pack made by hand.
#[test]
fn deltas_in_a_circle_end() {
    let ids = [[0x11_u8; 20], [0x22; 20]];
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x02".to_vec();
    let mut places = Vec::new();
    for base in [ids[1], ids[0]] {
        places.push(u32::try_from(pack.len()).unwrap());
        let delta = miniz_oxide::deflate::compress_to_vec_zlib(&[1, 1, 1, b'x'], 6);
        // A reference to the base by its name, four bytes long.
        pack.push(7 << 4 | 4);
        pack.extend(base);
        pack.extend(delta);
    }
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for byte in 0..=255_u32 {
        index.extend((u32::from(byte >= 0x11) + u32::from(byte >= 0x22)).to_be_bytes());
    }
    index.extend(ids.concat());
    index.extend([0; 8]);
    places.iter().for_each(|place| index.extend(place.to_be_bytes()));
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir_all(base.join("objects/pack")).unwrap();
    fs::write(base.join("objects/pack/pack-x.pack"), pack).unwrap();
    fs::write(base.join("objects/pack/pack-x.idx"), index).unwrap();
    let files = Copied { shown: &base, real: &base };
    let budget = budget::ReadBudget::new(deadline());
    let objects = object_store::ObjectReader::new(&files, &base, 20, &budget);
    let id = object_id::ObjectId::from_bytes(&ids[0]).unwrap();
    assert!(objects.has(&id));
    assert!(objects.get(&id).is_none());
}

/// Story: of 3,000 new commits none was shown, and 150,000 new branches had a row each.
#[test]
fn of_many_commits_and_refs_the_newest_are_shown_and_the_others_counted() {
    if !has_git() {
        return;
    }
    let mut ground = Ground::new();
    let rows = ground.rows(|ground| {
        let commit = |n: usize| {
            format!("commit refs/heads/many\ncommitter A <a@x> {} +0000\ndata 4\n{n:04}\n", 1_700_000_000 + n)
        };
        let stream: String = (0..1200).map(commit).collect();
        fs::write(ground.work.join(".git/stream"), stream).unwrap();
        prepare(ground, "git fast-import --quiet < .git/stream; rm .git/stream");
        let id = fs::read_to_string(ground.work.join(".git/refs/heads/many")).unwrap();
        let line = |n: usize| format!("{} refs/heads/b{n:05}\n", id.trim());
        fs::write(ground.work.join(".git/packed-refs"), (0..3000).map(line).collect::<String>()).unwrap();
    });
    let commits: Vec<&String> = rows.iter().filter(|row| row.starts_with("commit ")).collect();
    assert_eq!(commits.len(), 200, "{:?}", rows.iter().take(5).collect::<Vec<_>>());
    assert!(
        commits[199].contains("\"1199\"") && commits[0].contains("\"1000\""),
        "{} {}",
        commits[0],
        commits[199]
    );
    assert!(rows.iter().any(|row| row.ends_with("new commits older than these")));
    assert!(
        rows.iter()
            .any(|row| row.starts_with("! refs: 2") && row.ends_with("more changed, which are not listed"))
    );
    assert!(rows.len() < 800, "{}", rows.len());
}

/// Story: of three commits of one second, the one below the other two was counted as dropped.
#[test]
fn commits_of_one_second_are_counted_as_they_are() {
    fn at_once(ground: &mut Ground, words: &str) {
        ground.clock = 1_700_000_000;
        assert!(ground.git(words), "{words}");
    }
    fn commit(ground: &mut Ground, name: &str, text: usize) {
        ground.write(name, &format!("{text}\n"));
        at_once(ground, "add .");
        at_once(ground, &format!("commit -qm {name}"));
    }
    if !has_git() {
        return;
    }
    // The order of commits of one second is that of their names, which the text changes.
    for text in 0..8 {
        let mut ground = Ground::empty();
        at_once(&mut ground, "init -q -b main");
        commit(&mut ground, "a", text);
        commit(&mut ground, "b", text);
        let rows = ground.rows(|ground| {
            at_once(ground, "reset -q --hard HEAD~1");
            commit(ground, "c", text);
        });
        assert!(
            rows.iter().any(|row| row.contains("drops 1 commit: \"b\"; no other ref has it")),
            "{rows:?}"
        );
    }
}

/// A pack that others cut off while it is open: reading ends, and the process does not.
#[test]
fn a_pack_that_is_cut_off_while_it_is_read_ends_the_reading() {
    if !has_git() {
        return;
    }
    let mut ground = Ground::new();
    ground.git("gc -q");
    let id = ground.packed_head();
    let git = ground.work.join(".git");
    let files = Copied { shown: &git, real: &git };
    let packs = || {
        let names = fs::read_dir(git.join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
        names
            .filter(|path| path.extension().is_some_and(|end| end == "pack" || end == "idx"))
            .collect::<Vec<_>>()
    };
    for end in ["pack", "idx"] {
        let budget = budget::ReadBudget::new(deadline());
        let objects = object_store::ObjectReader::new(&files, &git, 20, &budget);
        assert!(objects.get(&id).is_some());
        for path in packs().iter().filter(|path| path.extension().unwrap() == end) {
            prepare(&mut ground, &format!("chmod u+w {0}; truncate -s 20 {0}", path.display()));
        }
        let budget = budget::ReadBudget::new(deadline());
        let parent = commit::Commit::read(&objects, &id).and_then(|commit| commit.parents.first().copied());
        // What was read before may still be known; what was not is missing.
        assert!(parent.is_none_or(|parent| objects.get(&parent).is_none()), "{end}");
        let again = object_store::ObjectReader::new(&files, &git, 20, &budget);
        assert!(again.get(&id).is_none(), "{end}");
        let mut fresh = Ground::new();
        fresh.git("gc -q");
        for path in packs() {
            fs::remove_file(path).unwrap();
        }
        prepare(&mut ground, &format!("cp {}/.git/objects/pack/* .git/objects/pack/", fresh.work.display()));
    }
}
