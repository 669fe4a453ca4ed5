//! Repositories that the agent made: clone, init, bare, with a separate directory, shallow, of a submodule.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::{ApprovedGroups, NewRepository, PlainRunner, PlainSource, Unwatched};
use support::{FUNCTIONS, Scene, everything, in_parallel, make_new, same, says_in, sh, with_place};

/// Title, the agent's command, the git directory, and the settings that wait.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("init", "mkdir n; cd n; git init -q -b main; echo x > y; git add y; git commit -qm i", "n/.git", ""),
    ("init without a commit", "git init -q -b main n", "n/.git", ""),
    ("staged only", "git init -q -b main n; cd n; echo x > y; git add y", "n/.git", ""),
    ("clone", "git clone -q \"file://$PWD\" n", "n/.git", ""),
    ("bare clone", "git clone -q --bare \"file://$PWD\" n.git", "n.git", ""),
    ("shallow clone", "git clone -q --depth 1 \"file://$PWD\" n", "n/.git", ""),
    ("shared clone", "git clone -q --shared . n", "n/.git", ""),
    (
        "separate directory",
        "git init -q -b main --separate-git-dir gd n; cd n; echo x > y; git add y; git commit -qm i",
        "gd",
        "",
    ),
    (
        "reftable",
        "git init -q --ref-format=reftable n; cd n; git commit -q --allow-empty -m i; git tag t",
        "n/.git",
        "",
    ),
    (
        "SHA-256",
        "git init -q --object-format=sha256 n; cd n; echo a>b; git add b; git commit -q -m i",
        "n/.git",
        "",
    ),
    (
        "a setting that runs a program",
        "git init -q n; cd n; git config core.pager 'touch pwned'; git config user.name A; git commit -q --allow-empty -m i",
        "n/.git",
        "core.pager",
    ),
    (
        "a remote that is a program",
        "git init -q n; cd n; git remote add origin 'ext::sh -c true'; git commit -q --allow-empty -m i",
        "n/.git",
        "remote.origin.url",
    ),
    (
        "hooks",
        "git init -q n; cd n; mkdir -p .git/hooks; echo x > .git/hooks/post-commit; git commit -q --allow-empty -m i",
        "n/.git",
        "",
    ),
];

#[test]
fn a_new_repository_is_made_again_by_git() {
    in_parallel(CASES, |(title, command, git_dir, waits)| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}repository .; git branch side HEAD~1"));
        sh(&scene.repo(), command);
        let top = git_dir.split('/').next().unwrap();
        let (work, below) = if git_dir.ends_with("/.git") {
            (scene.repo().join(top), ".git")
        } else {
            (scene.repo(), *git_dir)
        };
        let said = says_in(&work, below);
        scene.agent("true");
        let error = |error: placet_git::GitError| format!("{title}: {error}");
        let agent = PlainSource::new(&scene.root().join("2/repo").join(git_dir));
        let new = NewRepository::read(&agent, &scene.fresh("new"), &PlainRunner).map_err(error)?;
        let waiting: Vec<String> = new.waiting_settings.iter().map(|setting| setting.key.escaped()).collect();
        same(&format!("{title}: waits"), waits, &waiting.join(" "))?;
        scene.work_tree_of("2");
        let approved = new.question.as_ref().map(everything).unwrap_or_default();
        let (place, journal) = (scene.repo().join(git_dir), scene.fresh("journal"));
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        with_place(&place, &journal, &Unwatched, |place| make_new(&new, &approved, place)).map_err(error)?;
        same(&format!("{title}: made"), &said, &says_in(&work, below))?;
        // Without an approval nothing that waits is there.
        let other = scene.repo().join("other.git");
        let journal = scene.fresh("journal");
        with_place(&other, &journal, &Unwatched, |place| make_new(&new, &ApprovedGroups::new(), place))
            .map_err(error)?;
        let left = sh(
            &other,
            "git config -f config --get core.pager; ls hooks 2>/dev/null; git config -f config core.worktree",
        );
        same(&format!("{title}: not approved"), "", &left)
    });
}
