//! Stores: what every one of them must do, routing, mirrors, and mounts seen by tools and commands.

use crate::support::binary::Place;
use placet::storage::{
    CompositeStore, FileData, FileStore, LocalStore, MemoryStore, SqliteStore, StoreError, StoreMirror,
    StorePrecondition,
};
use std::path::Path;
use std::sync::Arc;

fn stores(dir: &Path) -> Vec<(&'static str, Box<dyn FileStore>)> {
    vec![
        ("memory", Box::new(MemoryStore::default())),
        ("sqlite", Box::new(SqliteStore::open(&dir.join("s.db"), "one").unwrap())),
        ("local", Box::new(LocalStore::new(dir.join("local")))),
        (
            "composite",
            Box::new(CompositeStore::new(
                vec![("a/".into(), Arc::new(MemoryStore::default()) as Arc<dyn FileStore>)],
                Arc::new(MemoryStore::default()),
            )),
        ),
    ]
}

/// What any store must do, also one across a network.
pub fn behaves(name: &str, store: &dyn FileStore) {
    assert!(matches!(store.read("a/x"), Err(StoreError::Missing(_))), "{name}");
    let first = store.write("a/x", b"one", &StorePrecondition::Absent).unwrap();
    assert_eq!(store.read("a/x").unwrap(), b"one", "{name}");
    assert!(
        matches!(store.write("a/x", b"two", &StorePrecondition::Absent), Err(StoreError::Changed(_))),
        "{name}"
    );
    let second = store.write("a/x", b"two", &StorePrecondition::Version(first.clone())).unwrap();
    assert_ne!(first, second, "{name}");
    let stale = StorePrecondition::Version(first);
    assert!(matches!(store.write("a/x", b"three", &stale), Err(StoreError::Changed(_))), "{name}");
    assert!(matches!(store.remove("a/x", &stale), Err(StoreError::Changed(_))), "{name}");
    assert_eq!(store.read("a/x").unwrap(), b"two", "{name}");
    store.write("b.bin", &[0, 255, 10], &StorePrecondition::Absent).unwrap();
    store.write("a/y/z", b"", &StorePrecondition::Absent).unwrap();
    let paths = |prefix: &str| -> Vec<String> {
        store.list(prefix).unwrap().into_iter().map(|meta| meta.path).collect()
    };
    assert_eq!(paths(""), ["a/x", "a/y/z", "b.bin"], "{name}");
    assert_eq!(paths("a/"), ["a/x", "a/y/z"], "{name}");
    let meta = store.meta("a/x").unwrap();
    assert_eq!((meta.size, meta.version), (3, second.clone()), "{name}");
    for bad in ["", "/abs", "a/../b", "a//b", ".", "a\0b"] {
        assert!(store.write(bad, b"", &StorePrecondition::Absent).is_err(), "{name}: {bad:?}");
    }
    store.remove("a/x", &StorePrecondition::Version(second)).unwrap();
    store.remove("a/x", &StorePrecondition::Absent).unwrap();
    assert_eq!(paths(""), ["a/y/z", "b.bin"], "{name}");
}

#[test]
fn every_store_keeps_what_it_was_given_and_refuses_what_it_did_not_expect() {
    let dir = tempfile::tempdir().unwrap();
    for (name, store) in stores(dir.path()) {
        behaves(name, store.as_ref());
    }
}

#[test]
fn a_database_outlives_its_process_and_its_stores_are_apart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("deep/s.db");
    SqliteStore::open(&file, "one").unwrap().write("x", b"kept", &StorePrecondition::Absent).unwrap();
    assert_eq!(SqliteStore::open(&file, "one").unwrap().read("x").unwrap(), b"kept");
    assert!(SqliteStore::open(&file, "two").unwrap().list("").unwrap().is_empty());
}

#[test]
fn the_longest_prefix_routes_and_comes_back_on_results() {
    let (memories, deep, rest) = (
        Arc::new(MemoryStore::default()),
        Arc::new(MemoryStore::default()),
        Arc::new(MemoryStore::default()),
    );
    let routes: Vec<(String, Arc<dyn FileStore>)> =
        vec![("/memories/".into(), memories.clone()), ("memories/deep".into(), deep.clone())];
    let store = CompositeStore::new(routes, rest.clone());
    for path in ["memories/a", "memories/deep/b", "memories2/c", "d"] {
        store.write(path, path.as_bytes(), &StorePrecondition::Absent).unwrap();
    }
    assert_eq!(memories.read("a").unwrap(), b"memories/a");
    assert_eq!(deep.read("b").unwrap(), b"memories/deep/b");
    assert_eq!(rest.read("memories2/c").unwrap(), b"memories2/c", "a prefix ends at a slash");
    let all: Vec<String> = store.list("").unwrap().into_iter().map(|m| m.path).collect();
    assert_eq!(all, ["d", "memories/a", "memories/deep/b", "memories2/c"]);
    let below: Vec<String> = store.list("memories/").unwrap().into_iter().map(|m| m.path).collect();
    assert_eq!(below, ["memories/a", "memories/deep/b"]);
    match store.read("memories/none") {
        Err(StoreError::Missing(path)) => assert_eq!(path, "memories/none"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn file_data_has_lines_and_times_and_an_edit_keeps_when_it_was_created() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("s.db"), "one").unwrap();
    let version = store.write("a.md", b"one\ntwo", &StorePrecondition::Absent).unwrap();
    let before = FileData::of(&store, "a.md").unwrap();
    store.write("a.md", b"one\n2", &StorePrecondition::Version(version)).unwrap();
    let after = FileData::of(&store, "a.md").unwrap();
    assert_eq!(after.content, ["one", "2"]);
    assert_eq!(after.created_at, before.created_at);
    let time = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    assert!(time(&after.modified_at) >= time(&before.modified_at));
}

#[test]
fn a_mirror_carries_changes_both_ways_and_leaves_conflicts_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::default());
    let there = store.write("both", b"base", &StorePrecondition::Absent).unwrap();
    store.write("gone", b"x", &StorePrecondition::Absent).unwrap();
    let mirror = StoreMirror::new(store.clone(), dir.path()).unwrap();
    assert_eq!(mirror.pull().unwrap().brought, 2);
    assert_eq!(std::fs::read(mirror.files().join("both")).unwrap(), b"base");
    std::fs::create_dir(mirror.files().join("sub")).unwrap();
    std::fs::write(mirror.files().join("sub/new"), "new").unwrap();
    std::fs::remove_file(mirror.files().join("gone")).unwrap();
    let synced = mirror.push().unwrap();
    assert_eq!((synced.carried, synced.left.len()), (2, 0));
    assert_eq!(store.read("sub/new").unwrap(), b"new");
    assert!(store.read("gone").is_err());
    // Changed on both sides: nothing is written over anywhere.
    store.write("both", b"theirs", &StorePrecondition::Version(there)).unwrap();
    std::fs::write(mirror.files().join("both"), "mine").unwrap();
    assert_eq!(mirror.push().unwrap().left, ["`both` changed in the store in the meantime"]);
    assert_eq!(mirror.pull().unwrap().left, ["`both` changed here and in the store"]);
    assert_eq!(store.read("both").unwrap(), b"theirs");
    assert_eq!(std::fs::read(mirror.files().join("both")).unwrap(), b"mine");
}

#[test]
fn a_working_copy_that_was_lost_is_brought_again_and_deletes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::default());
    store.write("a", b"kept", &StorePrecondition::Absent).unwrap();
    StoreMirror::new(store.clone(), dir.path()).unwrap().pull().unwrap();
    std::fs::remove_dir_all(dir.path().join("files")).unwrap();
    let mirror = StoreMirror::new(store.clone(), dir.path()).unwrap();
    assert_eq!(mirror.pull().unwrap().brought, 1);
    assert_eq!(mirror.push().unwrap().carried, 0);
    assert_eq!(store.read("a").unwrap(), b"kept");
    // What was really deleted is.
    std::fs::remove_file(mirror.files().join("a")).unwrap();
    assert_eq!(mirror.push().unwrap().carried, 1);
    assert!(store.read("a").is_err());
}

#[test]
fn a_mirror_brings_nothing_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let store = Arc::new(MemoryStore::default());
    let mirror = StoreMirror::new(store.clone(), &dir.path().join("mirror")).unwrap();
    std::os::unix::fs::symlink(&outside, mirror.files().join("d")).unwrap();
    store.write("d/x", b"planted", &StorePrecondition::Absent).unwrap();
    assert_eq!(mirror.pull().unwrap().left, ["`d/x` would go through a link"]);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(mirror.push().unwrap().left.len(), 1, "nor does it carry a link");
}

/// Arguments that mount a database at `/memories/` and a directory at `/team/`.
fn mounts(team: &Path) -> Vec<String> {
    [
        "mounts.memories.path=/memories/".to_string(),
        "mounts.memories.store=sqlite:memories".into(),
        "mounts.team.path=/team/".into(),
        format!("mounts.team.store=dir:{}", team.display()),
    ]
    .into_iter()
    .flat_map(|set| ["--set".to_string(), set])
    .collect()
}

#[test]
fn tools_of_every_surface_and_commands_see_the_same_mounts_and_later_sessions_what_was_kept() {
    let binary = Place::new();
    let team = binary.beside("team");
    let run = |dialect: &str, tool: &str, input: serde_json::Value| {
        let mut args: Vec<String> = ["--mode", "write", "--dialect", dialect].map(String::from).into();
        args.extend(mounts(&team));
        args.extend(["tool".into(), "call".into(), tool.into(), input.to_string()]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let out = binary.run(&args);
        assert_eq!(out.code, 0, "{}{}", out.stdout, out.stderr);
        out.stdout
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    run("native", "write_file", json(r#"{"path":"/memories/notes/a.md","content":"remembered\n"}"#));
    run("deepagents", "write_file", json(r#"{"file_path":"/team/b.md","content":"shared\n"}"#));
    assert_eq!(std::fs::read_to_string(team.join("b.md")).unwrap(), "shared\n");
    let listed = run("deepagents", "ls", json("{}"));
    assert!(listed.contains("'/memories/'") && listed.contains("'/team/'"), "{listed}");
    let found = run("deepagents", "glob", json(r#"{"pattern":"*.md"}"#));
    assert!(found.contains("'/memories/notes/a.md'") && found.contains("'/team/b.md'"), "{found}");
    let grep = run("deepagents", "grep", json(r#"{"pattern":"remembered"}"#));
    assert_eq!(grep.trim(), "/memories/notes/a.md");
    assert!(run("native", "read_file", json(r#"{"path":"/memories/notes/a.md"}"#)).contains("1│remembered"));
    // The working copy goes; the database has it.
    std::fs::remove_dir_all(binary.home.join(".local/share/placet/mounts")).unwrap();
    let again = run("agsh", "read_file", json(r#"{"path":"/memories/notes/a.md"}"#));
    assert!(again.contains("1│remembered"), "{again}");
}

#[test]
fn a_store_that_cannot_be_used_is_an_error_of_the_call_and_says_so() {
    let binary = Place::new();
    let out = binary.run(["--set", "mounts.x.path=/x/", "--set", "mounts.x.store=ftp:here", "tool", "list"]);
    assert_ne!(out.code, 0);
    assert!(out.stderr.contains("is not a store: use memory, sqlite:NAME"), "{}", out.stderr);
}

/// Story: what `placet apply` landed in a mount reached its store only when another call used the mount.
#[test]
fn what_is_applied_and_undone_later_reaches_the_store_at_once() {
    let binary = Place::new();
    let set = ["--set", "mounts.m.path=/m/", "--set", "mounts.m.store=sqlite:m"];
    let run = |args: &[&str]| binary.run(set.iter().chain(args).copied());
    let input = r#"{"path":"/m/a.md","content":"one\n"}"#;
    run(&["--mode", "ask", "tool", "call", "write_file", input]).code(3);
    let store = SqliteStore::open(&binary.home.join(".local/share/placet/stores.db"), "m").unwrap();
    assert!(store.list("").unwrap().is_empty());
    run(&["apply"]).code(0);
    assert_eq!(store.read("a.md").unwrap(), b"one\n");
    run(&["undo"]).code(0);
    assert!(store.list("").unwrap().is_empty());
}

/// Story: a rule about `/memories/**` was taken for another place and denied nothing.
#[test]
fn a_rule_about_a_mount_holds_for_tools_and_for_commands() {
    let binary = Place::new();
    let set = ["--set", "mounts.m.path=/m/", "--set", "mounts.m.store=sqlite:m", "--mode", "write"];
    let run = |args: &[&str]| binary.run(set.iter().chain(args).copied());
    run(&["tool", "call", "write_file", r#"{"path":"/m/a.md","content":"word\n"}"#]).code(0);
    let read = r#"{"path":"/m/a.md"}"#;
    for rule in ["read(/m/**)", "read(/m/*.md)", "read_file(/m/a.md)"] {
        run(&["tool", "call", "read_file", read, "--deny", rule]).code(3);
    }
    run(&["tool", "call", "read_file", read, "--deny", "read(/m2/**)"]).code(0);
    let search = r#"{"pattern":"word","path":"/m"}"#;
    let found = run(&["tool", "call", "search_contents", search, "--deny", "read(/m/**)"]);
    assert!(!found.stdout.contains("word"), "{}", found.stdout);
    let real = binary.home.join(".local/share/placet/mounts/m/files/a.md");
    let cat = serde_json::json!({"command": format!("cat {}", real.display())}).to_string();
    let out = run(&["tool", "call", "run_command", &cat, "--deny", "read(/m/**)"]);
    assert!(!out.stdout.contains("word"), "{}", out.stdout);
}
