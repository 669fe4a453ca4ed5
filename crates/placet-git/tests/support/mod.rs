//! Repositories with three sides: what was, what the agent made of it, and the person's.
//!
//! All sides are made at the same path and moved away, so that absolute paths that git writes are the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]
#![allow(dead_code, reason = "each test binary uses a part")]

use placet_git::{
    ApplyPlace, ApplyWatch, ApprovedGroups, Comparison, GitError, GitName, NewRepository, PersonIdentity,
    PlainRunner, PlainSource, QuestionSides, RepositoryQuestion, RepositoryState, Unwatched,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const SETUP: &str = r#"
git init -q -b main . && git config user.name P && git config user.email p@x
for i in 1 2 3 4 5; do printf 'line %s\nsecond\nthird\n' $i > f$i; git add f$i; GIT_COMMITTER_DATE="2026-01-0$i 00:00" git commit -q --date "2026-01-0$i 00:00" -m "c$i"; done
mkdir d; for i in $(seq 12); do echo $i > d/n$i; done; git add d; git commit -q -m "many"
git tag v1; git tag -a -m annotated v2 HEAD~2
git branch side HEAD~2; git checkout -q side; echo side > f1; git commit -q -am "side change"; echo more > s2; git add s2; git commit -q -m "side two"; git checkout -q main
echo main > f1; git commit -q -am "main change"
git init -q --bare ../up.git; git remote add origin ../up.git; git push -q origin main
echo stashed >> f3; git stash -q; echo staged > f4; git add f4; echo unstaged >> f5; echo untracked > u1
git status >/dev/null
"#;

/// The functions of `tests/fixtures/git_commands.txt`.
pub(crate) const FUNCTIONS: &str = r#"
export GIT_TEMPLATE_DIR=
T=${T:-1700000000}
git() {
    T=$((T + 60)); export GIT_AUTHOR_DATE="$T +0000" GIT_COMMITTER_DATE="$T +0000"; command git "$@"
}
repository() {
    mkdir -p "$1"; cd "$1"; git init -q -b main .; printf 'one\ntwo\n' > a.txt; git add .; git commit -qm First
    echo b > b.txt; git add .; git commit -qm Second
}
beside() {
    git switch -q -c topic; echo "$1" > "$2"; git add .; git commit -qm Topic; git switch -q main
    printf '1\ntwo\n' > a.txt; git commit -qam Main
}
diverge() { beside c c.txt; }
conflict() { beside ONE a.txt; }
"#;

/// Runs a line of shell and returns what it printed.
pub(crate) fn sh(directory: &Path, line: &str) -> String {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(directory).env_clear();
    let variables = [
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        ("GIT_AUTHOR_NAME", "A"),
        ("GIT_AUTHOR_EMAIL", "a@x"),
        ("GIT_COMMITTER_NAME", "A"),
        ("GIT_COMMITTER_EMAIL", "a@x"),
        ("GIT_AUTHOR_DATE", "2026-02-01 00:00"),
        ("GIT_COMMITTER_DATE", "2026-02-01 00:00"),
        ("GIT_CONFIG_COUNT", "4"),
        ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
        ("GIT_CONFIG_VALUE_0", "always"),
        ("GIT_CONFIG_KEY_1", "gc.auto"),
        ("GIT_CONFIG_VALUE_1", "0"),
        ("GIT_CONFIG_KEY_2", "maintenance.auto"),
        ("GIT_CONFIG_VALUE_2", "false"),
        ("GIT_CONFIG_KEY_3", "init.defaultBranch"),
        ("GIT_CONFIG_VALUE_3", "main"),
    ];
    command.envs(variables).env("PATH", std::env::var_os("PATH").unwrap());
    let output = command.output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Everything that git says about the repository in a directory. The empty tree is no object that a store needs.
pub(crate) fn says(directory: &Path) -> String {
    says_in(directory, ".git")
}

/// The same for a git directory, named from the directory.
pub(crate) fn says_in(directory: &Path, git_dir: &str) -> String {
    let line = format!(
        r#"export GIT_OPTIONAL_LOCKS=0 GIT_ADVICE=0 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false; g() {{ echo "== $*"; command git "$@" 2>&1; }}
        case {git_dir} in .git) ;; *) export GIT_DIR=$PWD/{git_dir};; esac
        g for-each-ref; cat {git_dir}/HEAD; g rev-parse -q --verify HEAD; g symbolic-ref -q HEAD
        g status --porcelain=v2 --branch; g stash list; g ls-files -s -v; g worktree list
        echo == fsck; git fsck --no-progress --no-dangling 2>&1 | grep -v 'missing tree 4b825dc' | sort; echo == config; git config --local --list | sort
        for w in {git_dir}/worktrees/*/; do test -d $w && {{ echo == $w; GIT_DIR=$PWD/$w git ls-files -s -v; cat $w/HEAD; }}; done; true"#
    );
    sh(directory, &line).replace(&directory.display().to_string(), "W")
}

/// Differences of two texts, line by line.
pub(crate) fn difference(one: &str, other: &str) -> String {
    let only = |a: &str, b: &str, mark: &str| -> String {
        let b: BTreeSet<&str> = b.lines().collect();
        a.lines().filter(|line| !b.contains(line)).map(|line| format!("      {mark} {line}\n")).collect()
    };
    let text = format!("{}{}", only(one, other, "-"), only(other, one, "+"));
    if text.is_empty() && one != other { "      other order\n".into() } else { text }
}

pub(crate) fn same(what: &str, wanted: &str, found: &str) -> Result<(), String> {
    if wanted == found { Ok(()) } else { Err(format!("{what}\n{}", difference(wanted, found))) }
}

pub(crate) struct Scene {
    _directory: tempfile::TempDir,
    root: PathBuf,
    pub(crate) base: RepositoryState,
    pub(crate) said_before: String,
    said_by_agent: String,
    number: std::cell::Cell<u32>,
}

impl Scene {
    /// `root/w/repo` is where everything happens.
    pub(crate) fn new(before: &str) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("w/repo")).unwrap();
        sh(&root.join("w/repo"), before);
        Scene::from(directory, root)
    }

    /// With the repository of the prototype, which is made once.
    pub(crate) fn prototype() -> Scene {
        static TEMPLATE: std::sync::LazyLock<tempfile::TempDir> = std::sync::LazyLock::new(|| {
            let directory = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(directory.path().join("w/repo")).unwrap();
            sh(&directory.path().join("w/repo"), SETUP);
            directory
        });
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        sh(TEMPLATE.path(), &format!("cp -a w {}", root.display()));
        Scene::from(directory, root)
    }

    fn from(directory: tempfile::TempDir, root: PathBuf) -> Scene {
        let said_before = says(&root.join("w/repo"));
        sh(&root, "cp -a w 1");
        let source = PlainSource::new(&root.join("1/repo/.git"));
        let base = RepositoryState::read(&source, &root.join("base"), &PlainRunner).unwrap();
        let stored = RepositoryState::from_bytes(&base.to_bytes().unwrap()).unwrap();
        assert_eq!((stored.refs, stored.checkouts), (base.refs.clone(), base.checkouts.clone()));
        let number = std::cell::Cell::new(0);
        Scene { _directory: directory, root, base, said_before, said_by_agent: String::new(), number }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root.join("w/repo")
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.repo().join(".git")
    }

    pub(crate) fn agent_git_dir(&self) -> PathBuf {
        self.root.join("2/repo/.git")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A directory that does not exist yet.
    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        self.number.set(self.number.get() + 1);
        self.root.join(format!("{name}{}", self.number.get()))
    }

    /// Runs the agent's command in its copy, and puts the person's copy in its place.
    pub(crate) fn agent(&mut self, line: &str) -> &mut Scene {
        sh(&self.repo(), line);
        self.said_by_agent = says(&self.repo());
        sh(&self.root, "mv w 2; cp -a 1 w");
        self
    }

    /// As [`Scene::agent`], in a repository in which git may hang.
    pub(crate) fn hostile_agent(&mut self, line: &str) -> &mut Scene {
        sh(&self.repo(), line);
        // What ran in the agent's own commands does not count.
        sh(&self.root, "find w -name 'pwned*' -delete; mv w 2; cp -a 1 w");
        self
    }

    pub(crate) fn person(&mut self, line: &str) -> &mut Scene {
        sh(&self.repo(), line);
        self
    }

    pub(crate) fn agent_says(&self) -> &str {
        &self.said_by_agent
    }

    pub(crate) fn says(&self) -> String {
        says(&self.repo())
    }

    pub(crate) fn question(&self) -> Result<Option<RepositoryQuestion>, GitError> {
        let (person, agent) = (PlainSource::new(&self.git_dir()), PlainSource::new(&self.agent_git_dir()));
        let sides = QuestionSides { base: &self.base, person: &person, agent: &agent };
        RepositoryQuestion::read(sides, &self.fresh("question"), &PlainRunner)
    }

    /// Puts the work tree of a side into the person's, without git directories.
    pub(crate) fn work_tree_of(&self, side: &str) {
        let (from, to) = (self.root.join(side), self.root.join("w"));
        mirror(&from, &to);
    }

    pub(crate) fn apply(
        &self,
        question: &RepositoryQuestion,
        approved: &ApprovedGroups,
    ) -> Result<PathBuf, GitError> {
        self.apply_watched(question, approved, &Unwatched)
    }

    /// Applies, and returns the journal.
    pub(crate) fn apply_watched(
        &self,
        question: &RepositoryQuestion,
        approved: &ApprovedGroups,
        watch: &dyn ApplyWatch,
    ) -> Result<PathBuf, GitError> {
        let change = question.comparison.selected(approved)?;
        let journal = self.fresh("journal");
        with_place(&self.git_dir(), &journal, watch, |place| {
            let prepared = placet_git::prepare(question, &change, place)?;
            prepared.commit(place)
        })?;
        Ok(journal)
    }

    /// Makes the repositories that the agent's side has and the person's has not; returns their git directories.
    pub(crate) fn make_new_repositories(&self) -> Result<Vec<PathBuf>, GitError> {
        let list = |side: &str| -> BTreeSet<String> {
            let line = "find . -name HEAD | while read -r h; do d=${h%/HEAD}; test -d $d/objects && echo $d; done; true";
            sh(&self.root.join(side), line).lines().map(String::from).collect()
        };
        let mut made = Vec::new();
        for name in list("2").difference(&list("w")) {
            let agent = PlainSource::new(&self.root.join("2").join(name));
            let new = NewRepository::read(&agent, &self.fresh("new"), &PlainRunner)?;
            let approved = new.question.as_ref().map(everything).unwrap_or_default();
            let (git_dir, journal) = (self.root.join("w").join(name), self.fresh("journal"));
            std::fs::create_dir_all(git_dir.parent().unwrap()).unwrap();
            with_place(&git_dir, &journal, &Unwatched, |place| make_new(&new, &approved, place))?;
            made.push(git_dir);
        }
        Ok(made)
    }

    /// Undoes a change, or redoes it by its undo.
    pub(crate) fn undo(&self, applied: &Path) -> Result<PathBuf, GitError> {
        let found = self.undo_question(applied)?;
        let change = found.selected(&found.groups())?;
        let journal = self.fresh("journal");
        with_place(&self.git_dir(), &journal, &Unwatched, |place| {
            placet_git::prepare_undo(&[applied.to_path_buf()], &change, place)?.commit(place)
        })?;
        Ok(journal)
    }

    pub(crate) fn undo_question(&self, applied: &Path) -> Result<Comparison, GitError> {
        let journal = placet_git::ApplyJournal::load(applied)?;
        placet_git::undo_question(&journal.change, &self.git_dir(), &self.fresh("undo"))
    }
}

pub(crate) fn with_place<T>(
    git_dir: &Path,
    journal: &Path,
    watch: &dyn ApplyWatch,
    work: impl FnOnce(ApplyPlace<'_>) -> T,
) -> T {
    let identity = PersonIdentity { name: "P".into(), email: "p@x".into() };
    let title = GitName::from("turn 1");
    work(ApplyPlace { git_dir, journal, identity: &identity, title: &title, watch })
}

pub(crate) fn everything(question: &RepositoryQuestion) -> ApprovedGroups {
    question.groups.clone()
}

/// Makes a new repository next to its place, and moves it there.
pub(crate) fn make_new(
    new: &NewRepository,
    approved: &ApprovedGroups,
    place: ApplyPlace<'_>,
) -> Result<(), GitError> {
    let staged = place.git_dir.with_extension("staged");
    new.make(&staged, approved, place)?;
    std::fs::rename(staged, place.git_dir).unwrap();
    Ok(())
}

/// Makes the files of one directory those of another, without git directories.
pub(crate) fn mirror(from: &Path, to: &Path) {
    let line = format!(
        "cd {to}; is() {{ test -d \"$1\" -a -e \"$1/HEAD\" -a -e \"$1/objects\"; }}
        python3 - {from} {to} <<'E'
import os, shutil, sys
a, b = sys.argv[1:]
def git(p): return os.path.isdir(p) and not os.path.islink(p) and os.path.exists(p + '/HEAD') and os.path.isdir(p + '/objects')
def walk(x, y):
    for n in set(os.listdir(y)) - set(os.listdir(x)):
        p = y + '/' + n
        if has_git(p): walk_gone(p)
        elif os.path.isdir(p) and not os.path.islink(p): shutil.rmtree(p)
        else: os.remove(p)
    for n in os.listdir(x):
        p, q = x + '/' + n, y + '/' + n
        if git(p) or git(q): continue
        if os.path.isdir(p) and not os.path.islink(p):
            if os.path.islink(q) or os.path.isfile(q): os.remove(q)
            os.makedirs(q, exist_ok=True); walk(p, q)
        else:
            if os.path.isdir(q) and not os.path.islink(q): shutil.rmtree(q)
            elif os.path.lexists(q): os.remove(q)
            shutil.copy2(p, q, follow_symlinks=False)
def has_git(p):
    return os.path.isdir(p) and not os.path.islink(p) and any(git(r) for r, _, _ in os.walk(p))
def walk_gone(p):
    if git(p): return
    for n in os.listdir(p):
        q = p + '/' + n
        if has_git(q): walk_gone(q)
        elif os.path.isdir(q) and not os.path.islink(q): shutil.rmtree(q)
        else: os.remove(q)
walk(a, b)
E",
        from = from.display(),
        to = to.display()
    );
    let said = sh(to, &line);
    assert!(said.is_empty(), "{said}");
}

/// The tests wait for processes most of the time.
const WORKERS: usize = 16;

/// Runs each case, and shows all that failed. `PLACET_SCENARIO` is a part of the titles of cases to run.
pub(crate) fn in_parallel<T: Sync + std::fmt::Debug>(
    cases: &[T],
    run: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let only = std::env::var("PLACET_SCENARIO").unwrap_or_default();
    let cases: Vec<&T> = cases.iter().filter(|case| format!("{case:?}").contains(&only)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(why) = run(case) {
                        eprintln!("{why}");
                        failed.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// Nothing but refs, the index and the stash keeps an object alive.
const FORGET: &str = "find .git/logs -type f ! -path '*refs/stash' -delete; git gc -q --prune=now";

/// Moves new repositories away, or back.
fn move_repositories(scene: &Scene, made: &[PathBuf], to: &dyn Fn(&Path, &Path)) {
    for (number, git_dir) in made.iter().enumerate() {
        to(git_dir, &scene.root().join(format!("kept{number}")));
    }
}

/// Reads, applies, undoes and redoes the agent's change, and compares what git says each time.
pub(crate) fn round_trip(title: &str, scene: &Scene) -> Result<(), String> {
    let words = |what: &str, error: placet_git::GitError| format!("{title}: {what}: {error}");
    if !scene.agent_git_dir().exists() {
        let error = scene.question().expect_err("a removed repository");
        return same(title, "the repository has no `HEAD` or no objects", &error.to_string());
    }
    // What the agent says is without a reflog that expired: the ref of the stash stays there, and the list is empty.
    let wanted = match title {
        "gc-aggr" => without_stash(scene.agent_says()),
        _ => scene.agent_says().to_owned(),
    };
    let question = scene.question().map_err(|error| words("read", error))?;
    if let Some(question) = &question {
        placet_git::RepositoryRows::read(question, &PlainRunner).map_err(|error| words("rows", error))?;
    }
    let applied = match &question {
        Some(question) => {
            Some(scene.apply(question, &everything(question)).map_err(|error| words("apply", error))?)
        }
        None => None,
    };
    scene.work_tree_of("2");
    let made = scene.make_new_repositories().map_err(|error| words("new repository", error))?;
    same(&format!("{title}: applied"), &wanted, &scene.says())?;
    let Some(applied) = applied else { return Ok(()) };
    sh(&scene.repo(), FORGET);
    let undo = |applied: &Path, what: &str| scene.undo(applied).map_err(|error| words(what, error));
    let undone = undo(&applied, "undo")?;
    let away = |from: &Path, to: &Path| std::fs::rename(from, to).unwrap();
    let back = |from: &Path, to: &Path| std::fs::rename(to, from).unwrap();
    move_repositories(scene, &made, &away);
    scene.work_tree_of("1");
    same(&format!("{title}: undone"), &scene.said_before, &scene.says())?;
    let redone = undo(&undone, "redo")?;
    scene.work_tree_of("2");
    for git_dir in &made {
        std::fs::create_dir_all(git_dir.parent().unwrap()).unwrap();
    }
    move_repositories(scene, &made, &back);
    same(&format!("{title}: redone"), &wanted, &scene.says())?;
    sh(&scene.repo(), FORGET);
    undo(&redone, "undo after gc")?;
    move_repositories(scene, &made, &away);
    scene.work_tree_of("1");
    same(&format!("{title}: undone after gc"), &scene.said_before, &scene.says())
}

fn without_stash(said: &str) -> String {
    said.lines().filter(|line| !line.ends_with("refs/stash")).map(|line| format!("{line}\n")).collect()
}
