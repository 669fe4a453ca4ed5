//! Names of one file (hard links): every list says which file a new name belongs to, a file of a repository gets no second
//! name outside of it, and a change of a file that has several names waits.

use crate::support::binary::Place;
use crate::support::require::has_view;
use crate::support::require::require;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// Device, inode and number of names.
fn file(place: &Place, name: &str) -> (u64, u64, u64) {
    let meta = std::fs::metadata(place.tree.join(name)).unwrap();
    (meta.dev(), meta.ino(), meta.nlink())
}

fn are_one_file(place: &Place, one: &str, other: &str) -> bool {
    file(place, one) == file(place, other)
}

/// A turn in which the agent runs this shell line.
fn turn(place: &Place, line: &str, mode: &str) -> crate::support::binary::Out {
    let script = place.home.join("turn.sh");
    std::fs::write(&script, line).unwrap();
    place.run(["-p", &format!("run sh {}", script.display()), "--mode", mode])
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]);
    let out = command.args(args).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{args:?}: {out:?}");
    String::from_utf8(out.stdout).unwrap().trim().to_string()
}

/// A repository whose branch `main` is one commit before `old`.
fn repository() -> Option<Place> {
    if !has_view() || !require("git") {
        return None;
    }
    let place = Place::new().file("one.txt", "1\n").file("docs/readme.txt", "docs\n");
    git(&place.tree, &["init", "-q"]);
    for message in ["first", "second"] {
        place.write("one.txt", message);
        git(&place.tree, &["add", "-A"]);
        git(&place.tree, &["commit", "-qm", message]);
    }
    git(&place.tree, &["branch", "old", "HEAD~1"]);
    Some(place)
}

/// Story: `A docs/example.txt +1 -0` was applied as a second name of `src/main.rs`, and no list said so.
#[test]
fn every_list_says_of_which_file_a_new_path_is_another_name() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("src/main.rs", "fn main() {}\n");
    let row = "A docs/example.txt +1 -0 (another name of src/main.rs)";
    turn(&place, "mkdir docs; ln src/main.rs docs/example.txt", "ask").warns(row);
    place.run(["changes"]).says(row);
    let patch = place.run(["changes", "--patch"]).says("# docs/example.txt: another name of src/main.rs\n");
    std::fs::write(place.beside("p"), &patch.stdout).unwrap();
    if require("git") {
        git(&place.tree, &["apply", "--check", &place.beside("p").display().to_string()]);
    }
    let json = place.run(["changes", "--json"]).json();
    let changes = json.as_array().unwrap();
    let change = changes.iter().find(|c| c["path"].as_str().unwrap().ends_with("example.txt")).unwrap();
    assert!(change["another_name_of"].as_str().unwrap().ends_with("/tree/src/main.rs"), "{change}");
    place.run(["apply"]).code(0).says(row);
    assert!(are_one_file(&place, "docs/example.txt", "src/main.rs"));
    place.run(["undo"]).code(0);
    let report = place.run([
        "-p",
        "run mkdir docs; ln src/main.rs docs/example.txt",
        "--mode",
        "ask",
        "--output-format",
        "json",
    ]);
    assert!(report.stdout.contains("\"another_name_of\":"), "{report:#?}");
}

#[test]
fn a_new_directory_that_is_one_row_says_which_of_its_files_are_other_names() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("src/main.rs", "fn main() {}\n");
    let line =
        "mkdir out; for i in $(seq 40); do echo $i > out/$i; done; ln out/1 out/same; ln src/main.rs out/x";
    turn(&place, line, "ask")
        .warns("A out/ (42 files, ")
        .warns("(1 file in it: another name of src/main.rs)");
}

/// Story: `ln .git/refs/heads/main docs/id.txt` in one turn, and `M docs/id.txt +1 -1` in the next moved the branch.
#[test]
fn a_second_name_of_a_file_of_a_repository_is_applied_as_a_copy() {
    for mode in ["ask", "write"] {
        let Some(place) = repository() else { return };
        let (main, old) = (git(&place.tree, &["rev-parse", "main"]), git(&place.tree, &["rev-parse", "old"]));
        let line = "ln .git/refs/heads/main docs/id.txt; ln .git/HEAD docs/head.txt; ln .git/index docs/index; \
                    cp docs/id.txt docs/new; ln docs/new .git/refs/heads/new; cp docs/id.txt docs/a; ln docs/a docs/b";
        turn(&place, line, mode);
        place.run(["apply"]);
        let changed = format!(
            "overwrite docs/id.txt with \"{old}\\n\" anyway; overwrite docs/head.txt with \"ref: refs/heads/old\\n\" anyway; \
             overwrite docs/new with \"{old}\\n\" anyway"
        );
        assert_eq!(file(&place, "docs/id.txt").2, 1, "{mode}");
        assert!(are_one_file(&place, "docs/a", "docs/b"), "{mode}");
        place.run(["-p", &changed, "--mode", mode]);
        place.run(["apply"]);
        assert_eq!(place.read("docs/id.txt"), format!("{old}\n"), "{mode}");
        assert_eq!(git(&place.tree, &["rev-parse", "main", "new"]), format!("{main}\n{main}"), "{mode}");
        assert_eq!(place.read(".git/HEAD"), "ref: refs/heads/main\n", "{mode}");
        for name in [".git/refs/heads/main", ".git/HEAD", ".git/index", ".git/refs/heads/new"] {
            assert_eq!(file(&place, name).2, 1, "{mode}: {name}");
        }
    }
}

#[test]
fn a_second_name_of_a_file_of_a_repository_is_a_copy() {
    let Some(place) = repository() else { return };
    git(&place.tree, &["clone", "-q", "--bare", "--no-hardlinks", ".", "bare"]);
    let commit = git(&place.tree, &["rev-parse", "main"]);
    let (dir, name) = commit.split_at(2);
    let object = format!("objects/{dir}/{name}");
    let line = format!("ln bare/HEAD docs/head; ln bare/{object} docs/object; cp -al .git other.git");
    turn(&place, &line, "ask");
    place.run(["apply"]).code(0);
    for name in ["docs/head", "docs/object", "other.git/HEAD", "other.git/refs/heads/main"] {
        assert_eq!(file(&place, name).2, 1, "{name}");
    }
    assert_eq!(git(&place.tree, &["--git-dir", "other.git", "rev-parse", "main"]), commit);
}

/// Story: `M docs/id.txt +1 -1` and `M one mode 644 to 600` also changed the other names of the file.
#[test]
fn a_change_of_a_file_that_has_several_names_waits_and_names_them() {
    let Some(place) = repository() else { return };
    place.write("one", "1\n");
    std::fs::hard_link(place.tree.join("one"), place.tree.join("two")).unwrap();
    std::fs::hard_link(place.tree.join(".git/refs/heads/main"), place.tree.join("docs/id.txt")).unwrap();
    place.write("alone", "1\n");
    std::fs::hard_link(place.tree.join("alone"), place.beside("elsewhere")).unwrap();
    let (main, old) = (git(&place.tree, &["rev-parse", "main"]), git(&place.tree, &["rev-parse", "old"]));
    let why = "(the file has another name, which changes, too: ";
    let changed = format!(
        "replace \"1\" with \"2\" in one anyway; overwrite docs/id.txt with \"{old}\\n\" anyway; \
         append \"x\\n\" to alone anyway"
    );
    let rows = [
        format!("! M alone +1 -0 {why}placet did not find it)"),
        format!("! M docs/id.txt +1 -1 {why}`.git/refs/heads/main`)"),
        format!("! M one +1 -1 {why}`two`)"),
    ];
    let mut out = place.run(["-p", &changed, "--mode", "write"]).code(3);
    for row in &rows {
        out = out.warns(row);
    }
    place.run(["apply"]).code(3);
    assert_eq!((place.read("one"), git(&place.tree, &["rev-parse", "main"])), ("1\n".into(), main.clone()));
    place
        .run(["apply", "--apply-protected", "one"])
        .code(3)
        .says("one: written in place")
        .says("not applied: alone: ");
    assert_eq!((place.read("two"), place.read("alone")), ("2\n".into(), "1\n".into()));
    place.run(["discard"]).code(0);
    turn(&place, "chmod 600 two", "write").code(3).warns(&format!("! M two mode 644 to 600 {why}`one`)"));
    assert_eq!(std::fs::metadata(place.tree.join("one")).unwrap().mode() & 0o777, 0o644);
    place.run(["discard"]).code(0);
    // A command replaces a name: the others stay what they are, and nothing waits.
    turn(&place, "echo more >> one; rm alone; echo new > alone; chmod 600 alone", "write").code(0);
    assert_eq!(
        (place.read("one"), place.read("two"), place.read("alone")),
        ("2\nmore\n".into(), "2\n".into(), "new\n".into())
    );
    assert_eq!(git(&place.tree, &["rev-parse", "main"]), main);
}

/// Story: after `apply n2` the workspace's `n2` and the pending `n1` were one file, and a line that the person wrote into
/// `n2` was pending as the agent's.
#[test]
fn an_applied_name_of_a_file_that_is_still_pending_under_another_name_is_a_file_of_its_own() {
    if !has_view() {
        return;
    }
    for applied in ["n1", "n2"] {
        let place = Place::new().file("p", "p\n");
        let pending = if applied == "n1" { "n2" } else { "n1" };
        turn(&place, "echo n > n1; ln n1 n2", "ask").warns("A n2 +1 -0 (another name of n1)");
        place.run(["apply", applied]).code(0);
        assert_eq!(file(&place, applied).2, 1, "{applied}");
        place.write(applied, "n\nperson\n");
        place.run(["changes"]).says(&format!("A {pending} +1 -0"));
        place.run(["apply"]).code(0);
        assert_eq!((place.read(applied), place.read(pending)), ("n\nperson\n".into(), "n\n".into()));
    }
    let place = Place::new().file("p", "p\n");
    turn(&place, "echo n > n1; ln n1 n2; ln n1 n3", "ask");
    place.run(["apply"]).code(0);
    assert!(are_one_file(&place, "n1", "n2") && file(&place, "n3").2 == 3);
}
