//! Patches against git and GNU diff: what one of them writes, all of them apply to the same bytes.

use crate::support::is_full;
use crate::support::require::require;
use placet::text::patch::{Options, PatchApplyError, PatchError, StripLevels, apply, parse, unified};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::path::Path;
use std::process::{Command, Stdio};

/// Ten thousand pairs with `PLACET_FULL=1`, a tenth without; the other programs see every so-manieth.
fn pairs() -> (u32, usize) {
    if is_full() { (10_000, 10) } else { (1_000, 20) }
}

/// Contents with few different lines, so that they repeat, with every kind of line end and with raw bytes.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        "a\n",
        "b\n",
        "}\n",
        "\n",
        "c\r\n",
        "-- x\n",
        "++ y\n",
        "\tz\n",
        " \n",
        "\\ w\n",
        "@@ -1 +1 @@\n",
        "long line of words\n",
    ]);
    let raw = prop::collection::vec(1u8..=255, 1..4);
    let piece = prop_oneof![8 => line.prop_map(|l| l.as_bytes().to_vec()), 1 => raw];
    prop::collection::vec(piece, 0..40).prop_map(|parts| parts.concat())
}

/// A content and what edits made of it.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let edited =
        (content(), prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, content()), 1..4));
    let edited = edited.prop_map(|(old, edits)| {
        let mut lines: Vec<Vec<u8>> = old.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        for (at, gone, put) in edits {
            let at = at.index(lines.len() + 1);
            let end = (at + gone).min(lines.len());
            let put = put.split_inclusive(|b| *b == b'\n').take(3).map(<[u8]>::to_vec);
            lines.splice(at..end, put);
        }
        (old, lines.concat())
    });
    prop_oneof![3 => edited, 1 => (content(), content())]
}

fn with_header(hunks: &[u8]) -> Vec<u8> {
    [b"--- a/f\n+++ b/f\n", hunks].concat()
}

#[derive(Debug)]
enum Failed {
    #[expect(dead_code, reason = "shown by Debug")]
    Read(PatchError),
    Apply(PatchApplyError),
}

fn placet(patch: &[u8], old: &[u8]) -> Result<Vec<u8>, Failed> {
    let patch = parse(patch, StripLevels::Auto).map_err(Failed::Read)?;
    let [file] = patch.files.as_slice() else { panic!("{patch:?}") };
    let applied = apply(file, old, Options::default()).map_err(Failed::Apply)?;
    assert_eq!(applied.notes, Vec::<String>::new(), "nothing is put right in a patch of a program");
    Ok(applied.bytes)
}

/// The content that a program makes of `f` in a new directory, or what it says.
fn by(program: &str, arguments: &[&str], patch: &[u8], old: &[u8]) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), old).unwrap();
    std::fs::write(dir.path().join("p"), patch).unwrap();
    let out = command(program, dir.path()).args(arguments).arg("p").output().unwrap();
    if !out.status.success() {
        return Err(format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ));
    }
    Ok(std::fs::read(dir.path().join("f")).unwrap_or_default())
}

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap()).stdin(Stdio::null());
    command
}

const GIT: &[&str] = &["apply", "--whitespace=nowarn"];
const GNU: &[&str] = &["-p1", "--binary", "-F0", "-s", "-i"];

/// The same two contents by `git diff` and `diff -u`.
fn written_by(program: &str, arguments: &[&str], old: &[u8], new: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    for (side, bytes) in [("a", old), ("b", new)] {
        std::fs::create_dir(dir.path().join(side)).unwrap();
        std::fs::write(dir.path().join(side).join("f"), bytes).unwrap();
    }
    command(program, dir.path()).args(arguments).args(["a/f", "b/f"]).output().unwrap().stdout
}

fn each_pair(mut check: impl FnMut(usize, &[u8], &[u8])) {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let mut count = 0;
    while count < pairs().0 as usize {
        let (old, new) = pair().new_tree(&mut runner).unwrap().current();
        if old != new {
            check(count, &old, &new);
            count += 1;
        }
    }
}

#[test]
fn a_patch_of_ours_makes_the_new_content_of_the_old_with_all_three_programs() {
    let every = pairs().1;
    let programs = require("git") && require("patch");
    each_pair(|count, old, new| {
        let mut hunks = Vec::new();
        unified(old, new, &mut hunks);
        let patch = with_header(&hunks);
        let case = || String::from_utf8_lossy(&patch).into_owned();
        assert_eq!(placet(&patch, old).unwrap_or_else(|e| panic!("{e:?}\n{}", case())), new, "{}", case());
        if programs && count % every == 0 {
            let git = by("git", GIT, &patch, old);
            assert_eq!(git.as_deref(), Ok(new), "git: {}", case());
            let gnu = by("patch", GNU, &patch, old);
            assert_eq!(gnu.as_deref(), Ok(new), "patch: {}", case());
        }
    });
}

#[test]
fn patches_of_git_and_of_gnu_diff_make_the_same_bytes_with_all_three_programs() {
    if !(require("git") && require("patch") && require("diff")) {
        return;
    }
    let every = pairs().1;
    each_pair(|count, old, new| {
        if count % every != 0 {
            return;
        }
        for (program, arguments) in [
            ("git", &["diff", "--no-index", "--no-prefix", "--no-color", "--text"][..]),
            ("git", &["diff", "--no-index", "--no-prefix", "--no-color", "--binary"][..]),
            ("diff", &["-u", "-a"][..]),
        ] {
            let patch = written_by(program, arguments, old, new);
            let case = || format!("{program} {arguments:?}\n{}", String::from_utf8_lossy(&patch));
            assert_eq!(
                placet(&patch, old).unwrap_or_else(|e| panic!("{e:?}\n{}", case())),
                new,
                "{}",
                case()
            );
            assert_eq!(by("git", GIT, &patch, old).as_deref(), Ok(new), "git: {}", case());
            if !patch.windows(16).any(|w| w == b"GIT binary patch") {
                assert_eq!(by("patch", GNU, &patch, old).as_deref(), Ok(new), "patch: {}", case());
            }
        }
    });
}

#[test]
fn a_delta_of_git_is_applied_and_only_to_its_own_content() {
    if !require("git") {
        return;
    }
    let old: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let new = [&old[..90_000], b"\0between\0", &old[100_000..]].concat();
    let patch =
        written_by("git", &["diff", "--no-index", "--no-prefix", "--binary", "--full-index"], &old, &new);
    assert!(patch.windows(6).any(|w| w == b"delta "), "git wrote no delta");
    assert!(placet(&patch, &old).unwrap() == new);
    let other = [&old[..], b"x"].concat();
    assert!(matches!(placet(&patch, &other), Err(Failed::Apply(PatchApplyError::OtherContent))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes in, nothing panics, and what is applied says what it changed.
    #[test]
    fn no_input_makes_it_stumble(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "--- a/f\n", "+++ b/f\n", "@@ -1,2 +1,2 @@\n", "@@ -0,0 +1 @@\n", "@@", "@@ x\n", " a\n", "-a\n", "+b\n", "\n", "a\n",
            "\\ No newline at end of file\n", "diff --git a/f b/f\n", "GIT binary patch\n", "literal 3\n", "delta 9\n", "Kabc\n",
            "*** Begin Patch\n", "*** Update File: f\n", "*** End Patch\n", "*** End of File\n", "```\n", "rename from f\n",
            "@@ -99999999999999999999,1 +1 @@\n", "@@ -4000000000,4000000000 +1 @@\n", "--- \"a\\", "\r\n", "index 1..2 100644\n",
        ]), 0..30),
        old in content(),
        fuzz in 0usize..4,
    ) {
        if let Ok(patch) = parse(pieces.concat().as_bytes(), StripLevels::Auto) {
            for file in &patch.files {
                if let Ok(applied) = apply(file, &old, Options { fuzz }) {
                    let (added, removed): (usize, usize) =
                        applied.edits.iter().fold((0, 0), |(a, r), e| (a + e.new, r + e.old.len()));
                    prop_assert!(file.hunks().is_empty() || (added, removed) == file.counts());
                }
            }
        }
    }
}

#[test]
fn a_thousand_hunks_in_a_long_file_take_no_thousand_passes() {
    let old: String = (0..100_000).map(|n| format!("line {} of many\n", n % 500)).collect();
    let new: String = (0..100_000)
        .map(|n| if n % 100 == 50 { format!("changed {n}\n") } else { format!("line {} of many\n", n % 500) })
        .collect();
    let mut hunks = Vec::new();
    unified(old.as_bytes(), new.as_bytes(), &mut hunks);
    let patch = parse(&hunks, StripLevels::Auto).unwrap();
    assert_eq!(patch.files[0].hunks().len(), 1000);
    let applied = apply(&patch.files[0], old.as_bytes(), Options::default()).unwrap();
    assert!(applied.bytes == new.as_bytes());
    // Equal lines everywhere: the search must not begin anew at each of them.
    let same = "x\n".repeat(50_000);
    let patch = format!("@@ -1,20001 +1,20001 @@\n{}-y\n+z\n", " x\n".repeat(20_000));
    let patch = parse(patch.as_bytes(), StripLevels::Auto).unwrap();
    assert!(apply(&patch.files[0], same.as_bytes(), Options { fuzz: 3 }).is_err());
}
