//! The directions in which data may flow, as tables.

use super::super::{Access, AccessLocation, Decision, Mode, ModeCell, Policy};
use super::*;
use placet_text::conversation::CallId;

fn policy(paths: &[&str], taint: ClassificationLevel) -> Policy {
    let paths: Vec<String> = paths.iter().map(|p| (*p).to_string()).collect();
    let hosts = ["RESTRICTED:vault.corp".to_string(), "INTERNAL:*.corp".to_string()];
    let levels =
        [ClassificationLevel::Public, ClassificationLevel::Public, ClassificationLevel::Confidential];
    let labels = ClassificationRules::new(&paths, &hosts, levels).unwrap();
    let cell = Taint::default();
    cell.begin(taint);
    Policy::new(ModeCell::new(Mode::Write), Vec::new(), vec!["/w".into()]).classified(labels, cell)
}

const PATHS: [&str; 4] =
    ["PUBLIC:secret/open.txt", "RESTRICTED:vault/**", "CONFIDENTIAL:secret/**", "INTERNAL:*.plan"];

#[test]
fn the_first_pattern_that_matches_gives_the_level_and_a_tree_includes_its_directory() {
    let policy = policy(&PATHS, ClassificationLevel::Public);
    for (path, level) in [
        ("/w/secret/open.txt", ClassificationLevel::Public),
        ("/w/secret/a/b", ClassificationLevel::Confidential),
        ("/w/secret", ClassificationLevel::Confidential),
        ("/w/secrets", ClassificationLevel::Public),
        ("/w/vault/x", ClassificationLevel::Restricted),
        ("/w/deep/in/x.plan", ClassificationLevel::Internal),
        ("/w/src/main.rs", ClassificationLevel::Public),
        ("/etc/passwd", ClassificationLevel::Public),
    ] {
        assert_eq!(policy.level_of(Path::new(path)), level, "{path}");
    }
}

/// `r` reads, `w` writes, `n` is a host, `$` a command line.
fn reach(text: &str) -> Access {
    let (kind, rest) = text.split_once(' ').unwrap();
    let (path, place) = (PathBuf::from("/w").join(rest), AccessLocation::Inside);
    match kind {
        "r" => Access::Read { path, place },
        "w" => Access::Write { path, place },
        "n" => Access::Network { host: rest.into() },
        _ => Access::Run { command: rest.into(), cwd: "/w".into(), confined: true },
    }
}

#[test]
fn data_flows_up_and_never_down() {
    use ClassificationLevel::{Confidential, Internal, Public, Restricted};
    // taint, access, the level it touches, the violation's first word.
    for (taint, wanted, level, violation) in [
        (Public, "r src/a", Public, ""),
        (Public, "r secret/a", Confidential, ""),
        (Public, "w secret/a", Confidential, ""),
        (Public, "r vault/a", Restricted, "Ceiling"),
        (Confidential, "w secret/a", Confidential, ""),
        (Confidential, "w src/a", Public, "File"),
        (Confidential, "w x.plan", Internal, "File"),
        (Internal, "w x.plan", Internal, ""),
        (Public, "n example.org", Public, ""),
        (Internal, "n example.org", Public, "Sink"),
        (Internal, "n git.corp:443", Public, ""),
        (Confidential, "n GIT.corp", Public, "Sink"),
        (Confidential, "n vault.corp", Public, ""),
        (Public, "$ cat secret/a", Confidential, ""),
        (Public, "$ cat secret/a > out.txt", Confidential, "File"),
        (Public, "$ cp secret/a out.txt", Confidential, "File"),
        (Public, "$ cp src/a secret/a", Confidential, ""),
        (Public, "$ sh -c 'cat secret/a | tee out.txt'", Confidential, "File"),
        (Public, "$ cat vault/key", Restricted, "Ceiling"),
        (Confidential, "$ ls", Public, ""),
        (Confidential, "$ echo x > out.txt", Public, "File"),
        (Confidential, "$ echo x > secret/out.txt", Confidential, ""),
        (Confidential, "$ echo x > /dev/null", Public, ""),
        (Public, "$ cat 'secret/a", Confidential, ""),
    ] {
        let flowing = policy(&PATHS, taint).flow("run_command", &[reach(wanted)]);
        let first = flowing.violations.first().map(|v| format!("{v:?}")).unwrap_or_default();
        let first = first.split(' ').next().unwrap_or_default();
        assert_eq!((flowing.level, first), (level, violation), "{taint} {wanted}");
    }
}

#[test]
fn a_write_down_is_denied_and_says_what_to_do() {
    let policy = policy(&PATHS, ClassificationLevel::Confidential);
    let Decision::Deny(denial) = policy.decide(&CallId::new("c"), "write_file", vec![reach("w out.txt")])
    else {
        panic!("not denied")
    };
    assert_eq!(
        denial.reason,
        "Write-down blocked — your session taint is CONFIDENTIAL, but the target resource \"out.txt\" is classified PUBLIC"
    );
    assert!(denial.hint.contains("/taint reset"), "{}", denial.hint);
}

#[test]
fn without_classification_nothing_flows_anywhere() {
    let off = ClassificationRules::default();
    assert!(off.is_off());
    let taint = Taint::default();
    taint.raise(ClassificationLevel::Internal);
    taint.raise(ClassificationLevel::Public);
    assert_eq!(taint.load(), ClassificationLevel::Internal);
    let policy = policy(&[], ClassificationLevel::Restricted);
    assert_eq!(policy.flow("x", &[reach("w a"), reach("n example.org")]), FlowCheck::default());
}

#[test]
fn what_is_no_label_is_said_to_be_none() {
    let bad = |text: &str| {
        ClassificationRules::new(&[text.into()], &[], [ClassificationLevel::Public; 3])
            .unwrap_err()
            .to_string()
    };
    assert!(bad("SECRET:a").starts_with("invalid classification `SECRET:a`: expected LEVEL:PATTERN"));
    assert!(bad("INTERNAL:").contains("invalid classification"));
    assert!(bad("INTERNAL:a[").contains("invalid glob"));
}

#[test]
fn a_repository_has_the_highest_level_unless_a_pattern_names_it() {
    let roots = [PathBuf::from("/w"), PathBuf::from("/src/proj.git/main")];
    let labels = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        ClassificationRules::new(
            &paths,
            &[],
            [ClassificationLevel::Internal, ClassificationLevel::Public, ClassificationLevel::Confidential],
        )
        .unwrap()
    };
    let of = |labels: &ClassificationRules, path: &str| labels.of_path(Path::new(path), &roots);
    let usual = labels(&["CONFIDENTIAL:board/**", "RESTRICTED:vault/**"]);
    for path in ["/w/.git", "/w/.git/objects/ab/cd", "/w/sub/.git/HEAD", "/elsewhere/.git/config"] {
        assert_eq!(of(&usual, path), ClassificationLevel::Restricted, "{path}");
    }
    // The worktree of a bare repository is inside the repository and is not a repository itself.
    assert_eq!(of(&usual, "/src/proj.git/main/a.txt"), ClassificationLevel::Internal);
    assert_eq!(of(&usual, "/w/.github/workflows/ci.yml"), ClassificationLevel::Internal);
    // A pattern that covers everything does not name the repository.
    let all = labels(&["RESTRICTED:vault/**", "INTERNAL:**"]);
    assert_eq!(of(&all, "/w/.git/HEAD"), ClassificationLevel::Restricted);
    let named = labels(&["PUBLIC:.git/**", "RESTRICTED:vault/**"]);
    assert_eq!(of(&named, "/w/.git/objects/ab/cd"), ClassificationLevel::Public);
    assert_eq!(of(&ClassificationRules::default(), "/w/.git/HEAD"), ClassificationLevel::Public);
}
