use super::super::background_bench::{JobFiles, bench};
use super::*;
use crate::view::ApplyOutcome;
use crate::view::layers::layer;
use std::fs;
use std::path::PathBuf;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn what_it_sees_stands_still_while_others_go_on() {
    let bench = bench(&[("a", "old\n")]);
    bench.hold("a", "pending\n");
    bench.hold("new/b", "new\n");
    let command = bench.begin();
    bench.hold("a", "later\n");
    bench.hold("c", "later\n");
    bench.apply();
    let lower = &command.mounts[0].lowers[0];
    assert_eq!(fs::read_to_string(lower.join("a")).unwrap(), "pending\n");
    assert_eq!(fs::read_to_string(lower.join("new/b")).unwrap(), "new\n");
    assert!(!lower.join("c").exists());
    let kept = lower.clone();
    drop(command);
    assert!(!kept.exists(), "its copies go with it");
}

#[test]
fn what_only_the_command_changed_is_pending() {
    let bench = bench(&[("a", "a\n"), ("b", "b\n"), ("gone", "x\n")]);
    let command = bench.begin();
    bench.wrote(&command, "a", "changed\n");
    bench.wrote(&command, "dir/new", "new\n");
    bench.deleted(&command, "gone");
    bench.hold("b", "by a tool\n");
    let effects = bench.end(command);
    // The directory and the file in it.
    assert_eq!((effects.created, effects.modified, effects.deleted), (2, 1, 1));
    assert!(
        effects.merged.is_empty() && effects.beside.is_empty() && effects.raced.is_empty(),
        "{effects:?}"
    );
    assert_eq!(bench.seen("a").as_deref(), Some("changed\n"));
    assert_eq!(bench.seen("b").as_deref(), Some("by a tool\n"));
    assert_eq!(bench.seen("dir/new").as_deref(), Some("new\n"));
    assert_eq!(bench.seen("gone"), None);
    assert_eq!(fs::read_to_string(bench.root.join("a")).unwrap(), "a\n", "nothing has landed");
}

#[test]
fn changes_of_both_are_merged_whether_pending_or_landed_and_conflicts_lie_beside() {
    for landed in [false, true] {
        for held_before in [false, true] {
            let bench = bench(&[("m", TEXT), ("c", TEXT)]);
            if held_before {
                // The state that the command found was itself pending.
                bench.hold("m", &TEXT.replace('5', "five"));
                bench.hold("c", &TEXT.replace('5', "five"));
            }
            let command = bench.begin();
            let found = bench.seen("m").unwrap();
            bench.hold("m", &found.replace('1', "one"));
            bench.hold("c", &found.replace('1', "one"));
            if landed {
                bench.apply();
            }
            bench.wrote(&command, "m", &found.replace('9', "nine"));
            bench.wrote(&command, "c", &found.replace('1', "uno"));
            let effects = bench.end(command);
            let case = format!("landed {landed}, held before {held_before}");
            assert_eq!(bench.names(&effects.merged), ["m"], "{case}");
            assert_eq!(bench.names(&effects.beside), ["c.job-1"], "{case}");
            assert_eq!(bench.seen("m").unwrap(), found.replace('1', "one").replace('9', "nine"), "{case}");
            assert_eq!(bench.seen("c").unwrap(), found.replace('1', "one"), "{case}");
            assert_eq!(bench.seen("c.job-1").unwrap(), found.replace('1', "uno"), "{case}");
        }
    }
}

#[test]
fn what_the_person_changed_in_the_workspace_is_never_taken_for_what_the_command_saw() {
    let bench = bench(&[("a", TEXT)]);
    let command = bench.begin();
    bench.wrote(&command, "a", &TEXT.replace('9', "nine"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(bench.root.join("a"), TEXT.replace('1', "one")).unwrap();
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.beside), ["a.job-1"]);
    assert_eq!(bench.seen("a").unwrap(), TEXT.replace('1', "one"));
    assert_eq!(bench.seen("a.job-1").unwrap(), TEXT.replace('9', "nine"));
}

#[test]
fn what_was_deleted_on_one_side_and_changed_on_the_other_is_kept_and_reported() {
    let bench = bench(&[("a", "a\n"), ("d/x", "x\n"), ("d/s/y", "y\n"), ("e/x", "x\n"), ("mine", "m\n")]);
    let command = bench.begin();
    for name in ["a", "d", "e"] {
        bench.deleted(&command, name);
    }
    bench.wrote(&command, "mine", "changed\n");
    bench.hold("a", "newer\n");
    bench.hold("d/s/y", "newer\n");
    bench.hold("d/new", "new\n");
    fs::remove_file(bench.root.join("mine")).unwrap();
    let effects = bench.end(command);
    let files = [("a", "newer\n"), ("d/new", "new\n"), ("d/s/y", "newer\n"), ("mine", "changed\n")];
    assert_eq!(bench.files(), files.map(|(name, text)| (name.to_string(), text.to_string())).into());
    // What others added was never the command's to delete.
    assert_eq!(bench.names(&effects.kept), ["a", "d/s/y"]);
    assert!(effects.beside.is_empty() && !bench.entries().contains("e"), "{effects:?}");
}

/// Story: such a deletion was dropped without a word.
#[test]
fn a_deletion_that_is_the_only_effect_and_is_not_carried_is_reported() {
    let bench = bench(&[("a", "a\n")]);
    let command = bench.begin();
    bench.deleted(&command, "a");
    bench.hold("a", "newer\n");
    let effects = bench.end(command);
    assert_eq!((effects.is_empty(), bench.names(&effects.kept)), (true, vec!["a".to_string()]));
}

#[test]
fn a_directory_that_both_made_holds_what_both_put_there() {
    let bench = bench(&[]);
    let command = bench.begin();
    bench.wrote(&command, "out/from-command", "1\n");
    bench.wrote(&command, "out/same", "same\n");
    bench.wrote(&command, "out/other", "1\n");
    // As the overlay marks a directory that is new.
    let made = open_dir(&command.mounts[0].upper.join("out")).unwrap();
    rustix::fs::fsetxattr(&made, layer::OPAQUE, b"y", rustix::fs::XattrFlags::empty()).unwrap();
    bench.hold("out/from-tool", "2\n");
    bench.hold("out/same", "same\n");
    bench.hold("out/other", "2\n");
    let effects = bench.end(command);
    let seen = |name: &str| bench.seen(name).unwrap_or_default();
    assert_eq!((seen("out/from-command"), seen("out/from-tool")), ("1\n".into(), "2\n".into()));
    assert_eq!((seen("out/same"), seen("out/other")), ("same\n".into(), "2\n".into()));
    assert_eq!(seen("out/other.job-1"), "1\n");
    assert_eq!(bench.names(&effects.beside), ["out/other.job-1"]);
}

/// Stories: an edit ended as a deletion, and the new directory lay next to the old one.
#[test]
fn a_directory_that_was_made_again_counts_by_what_is_in_it() {
    let bench = bench(&[
        ("d/same", TEXT),
        ("d/other", TEXT),
        ("d/gone", "x\n"),
        ("d/s/deep", TEXT),
        ("d/kept", "x\n"),
    ]);
    let command = bench.begin();
    let files = JobFiles::of(&bench, &command);
    files.remove("d");
    files.write("d/same", TEXT);
    files.write("d/other", &TEXT.replace('9', "nine"));
    files.write("d/s/deep", TEXT);
    files.write("d/fresh", "fresh\n");
    for name in ["d/same", "d/other", "d/s/deep"] {
        bench.hold(name, &TEXT.replace('1', "one"));
    }
    bench.hold("d/kept", "newer\n");
    bench.hold("d/added", "added\n");
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.merged), ["d/other"]);
    assert_eq!((bench.names(&effects.kept), effects.beside.len()), (vec!["d/kept".to_string()], 0));
    let edited = TEXT.replace('1', "one");
    let expected = [
        ("d/added", "added\n"),
        ("d/fresh", "fresh\n"),
        ("d/kept", "newer\n"),
        ("d/other", &edited.replace('9', "nine")),
        ("d/s/deep", &edited),
        ("d/same", &edited),
    ];
    assert_eq!(bench.files(), expected.map(|(name, text)| (name.to_string(), text.to_string())).into());
}

#[test]
fn what_it_made_in_a_directory_that_others_removed_lies_beside() {
    let bench = bench(&[("d/x", "x\n"), ("d/y", "y\n"), ("e/x", "x\n")]);
    let command = bench.begin();
    let files = JobFiles::of(&bench, &command);
    files.write("d/x", "x\n");
    files.write("d/fresh", "fresh\n");
    files.remove("d/y");
    files.remove("e/x");
    bench.remove("d");
    bench.remove("e");
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.beside), ["d.job-1"]);
    assert_eq!(bench.entries().into_iter().collect::<Vec<_>>(), ["d.job-1", "d.job-1/fresh"]);
}

#[test]
fn the_mode_of_a_directory_is_merged_as_well() {
    use std::os::unix::fs::PermissionsExt;
    let bench = bench(&[("d/x", "x\n"), ("e/x", "x\n")]);
    let command = bench.begin();
    let upper = command.mounts[0].upper.clone();
    let set = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for (name, mode) in [("d", 0o755), ("e", 0o711)] {
        bench.wrote(&command, &format!("{name}/own"), "own\n");
        set(upper.join(name), mode);
        bench.hold(&format!("{name}/x"), "newer\n");
        set(bench.view.dir().join("pending/0").join(name), 0o750);
    }
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.kept), ["e"]);
    let mode = |name: &str| bench.view.stack(0, 0).stat(Path::new(name)).unwrap().unwrap().st_mode & 0o777;
    assert_eq!((mode("d"), mode("e")), (0o750, 0o750));
    assert_eq!((effects.created, effects.modified), (2, 0));
}

/// Story: the edit of `d/x` was gone, without a word.
#[test]
fn a_file_or_link_in_place_of_a_directory_in_which_others_worked_lies_beside() {
    for is_link in [true, false] {
        for is_applied in [true, false] {
            let bench = bench(&[("d/sub/x", "x\n"), ("d/y", "y\n"), ("e/y", "y\n")]);
            let command = bench.begin();
            let upper = &command.mounts[0].upper;
            for name in ["d", "e"] {
                match is_link {
                    true => std::os::unix::fs::symlink("other", upper.join(name)).unwrap(),
                    false => fs::write(upper.join(name), "file\n").unwrap(),
                }
            }
            bench.hold("d/sub/x", "newer\n");
            if is_applied {
                bench.apply();
            }
            let effects = bench.end(command);
            let case = format!("{is_link} {is_applied}");
            assert_eq!(bench.names(&effects.beside), ["d.job-1"], "{case}");
            assert_eq!(bench.seen("d/sub/x").as_deref(), Some("newer\n"), "{case}");
            assert_eq!(bench.seen("d/y").as_deref(), Some("y\n"), "{case}");
            // Where nobody else worked, the directory is what the command made of it.
            assert_eq!(bench.seen("e/y"), None, "{case}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_never_merged() {
    let bench = bench(&[("b", "\0\n1\n2\n3\n4\n5\n")]);
    let command = bench.begin();
    bench.hold("b", "\0\none\n2\n3\n4\n5\n");
    bench.wrote(&command, "b", "\0\n1\n2\n3\n4\nfive\n");
    let effects = bench.end(command);
    assert_eq!((effects.merged.len(), bench.names(&effects.beside)), (0, vec!["b.job-1".to_string()]));
}

#[test]
fn a_discard_meanwhile_is_a_change_of_others() {
    let bench = bench(&[("a", "old\n")]);
    bench.hold("a", "pending\n");
    let command = bench.begin();
    bench.wrote(&command, "a", "pending\nand more\n");
    bench.discard();
    bench.end(command);
    assert_eq!(bench.seen("a").as_deref(), Some("old\n"));
    assert_eq!(bench.seen("a.job-1").as_deref(), Some("pending\nand more\n"));
}

/// Story: in write mode the effects of a job were gone that ended while those of a command were applied.
#[test]
fn a_job_that_ends_while_effects_are_applied_waits_for_that() {
    let b = bench(&[("f", "1\n")]);
    let job = b.begin();
    b.wrote(&job, "own", "of the job\n");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(b.view.begin(LayerKind::Pending, None)).unwrap();
    b.wrote(&command, "made", "of the command\n");
    let (effects, held) = b.view.finish_held(command, &|_| false).unwrap();
    std::thread::scope(|scope| {
        let ending = scope.spawn(|| b.end(job));
        let mut turn = b.view.turn().clone();
        let applied = b.view.apply_within_limit(&held, &effects.paths, &mut turn, b.view.label()).unwrap();
        assert!(matches!(applied, Ok(ApplyOutcome::Landed(_))), "{applied:?}");
        assert!(!ending.is_finished(), "it became pending in the middle of an apply");
        drop(held);
        assert_eq!(ending.join().unwrap().created, 1);
    });
    let pending: Vec<_> = b.view.changes(LayerKind::Pending).unwrap().paths().into_iter().collect();
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert!(pending[0].ends_with("own"));
}
