use super::super::apply::fail_at;
use super::tests::bench;
use super::{LayerKind, View};
use crate::view::layers::layer;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Ends a command that wrote two files, with an error at `at`. Gives what is pending and what is stored, by name.
fn failed(at: &'static str) -> (BTreeMap<String, String>, BTreeMap<String, String>, String) {
    let b = bench();
    b.write("a.txt", "old\n");
    b.hold("a.txt", "earlier\n", Some("old\n"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(b.view.begin(LayerKind::Pending, None)).unwrap();
    let upper = command.mounts[0].upper.clone();
    fs::write(upper.join("a.txt"), "from the command\n").unwrap();
    fs::write(upper.join("b.txt"), "from the command\n").unwrap();
    fail_at(at, ErrorKind::Other);
    let error = b.view.finish(command, &|_| false).unwrap_err().to_string();
    assert_eq!(b.view.turn().unread.len(), 1);
    let kept = fs::read_dir(b.view.dir()).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.filter(|path| path.to_string_lossy().contains("/kept-run-")).collect::<Vec<_>>();
    assert_eq!(kept.len(), 1, "{kept:?}");
    (pending(&b.view, &b.root), texts(&kept[0].join("0/upper")), error)
}

fn texts(dir: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
    };
    files.map(text).collect()
}

fn pending(view: &View, root: &Path) -> BTreeMap<String, String> {
    let set = view.changes(LayerKind::Pending).unwrap();
    let paths = set.changes.iter().map(|change| change.path.clone());
    paths
        .map(|path| {
            let real = view.real(&path).unwrap().unwrap();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(real).unwrap())
        })
        .collect()
}

#[test]
fn what_cannot_be_read_is_found_while_nothing_of_the_command_is_pending() {
    let (pending, kept, error) = failed("check");
    assert_eq!(pending, [("a.txt".to_string(), "earlier\n".to_string())].into());
    assert_eq!(kept.len(), 2);
    assert!(error.contains("none of it is pending"), "{error}");
}

#[test]
fn an_error_in_the_middle_loses_nothing() {
    let (pending, kept, error) = failed("folded");
    let here = |all: &BTreeMap<String, String>, name: &str| {
        all.get(name).is_some_and(|text| text.starts_with("from"))
    };
    for name in ["a.txt", "b.txt"] {
        assert!(here(&pending, name) != here(&kept, name), "{name}: {pending:?} {kept:?}");
    }
    assert!(pending["a.txt"].starts_with("from") || pending["a.txt"] == "earlier\n");
    assert!(error.contains("a part of it may be pending") && error.contains("/kept-run-"), "{error}");
}

/// Story: `npm ci` wrote 10,600 files again as they were. All of them were recorded as deleted and created, and seconds
/// later found to be unchanged.
#[test]
fn a_directory_that_was_made_again_changes_only_what_differs() {
    let b = bench();
    for path in ["d/same", "d/in/same", "d/in/other", "d/in/gone", "d/old/x", "d/kind/y"] {
        b.write(path, path);
    }
    // What was pending there is gone as well.
    b.hold("d/in/held", "held\n", None);
    let mode = fs::metadata(b.root.join("d")).unwrap().permissions();
    let effects = b.command(|upper| {
        for dir in ["d", "d/in"] {
            fs::create_dir(upper.join(dir)).unwrap();
            fs::set_permissions(upper.join(dir), mode.clone()).unwrap();
        }
        // As the kernel leaves it: only the directory at the top is marked.
        layer::mark_opaque_at(&fs::File::open(upper).unwrap().into(), "d".as_ref()).unwrap();
        let files = [
            ("same", "d/same"),
            ("kind", "a file"),
            ("in/same", "d/in/same"),
            ("in/other", "new"),
            ("in/new", "new"),
        ];
        for (path, text) in files {
            fs::write(upper.join("d").join(path), text).unwrap();
        }
    });
    let gone = ["D d/in/gone", "D d/kind/y", "D d/old", "D d/old/x"];
    let rows = b.words();
    assert!(gone.iter().all(|row| rows.iter().any(|it| it == row)), "{rows:?}");
    let rest: Vec<&str> = rows.iter().map(String::as_str).filter(|row| !gone.contains(row)).collect();
    assert_eq!(rest, ["A d/in/new", "M d/in/other", "M d/kind"]);
    assert!(!effects.paths.iter().any(|path| path.ends_with("same")), "{effects:?}");
}
