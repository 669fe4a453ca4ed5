//! 86 ordinary commands, with what a sane person wants to be asked about them beside what placet asks. Care that is felt as a
//! nuisance is turned off: what goes beyond the wish may only become less.
//!
//! A program that need not be installed is replaced by a script that changes the same files. Each command runs outside of
//! placet; what it changed is then put into the view, as if it had run there.

use crate::support::require::require;
use crate::support::some_of;
use crate::support::special::whiteout;
use crate::support::txn::fast_dir;
use placet::workspace::{
    ChangeApproval, ChangeOrigin, GitRunnerStart, LayerKind, ListedChange, TransactionLabel, View, ViewPaths,
};
use placet_git::{GitRunner, PlainRunner};
use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// The table is about what waits, not about the sandbox of git.
struct PlainGit;

impl GitRunnerStart for PlainGit {
    fn start(&self, _: &Path) -> Result<Box<dyn GitRunner>, placet::workspace::GitNotConfined> {
        Ok(Box::new(PlainRunner))
    }
}

/// Where a person is asked: `w`, write mode does not apply it at once; `a`, something is left after a yes to everything.
type Asked = &'static str;

/// A name, a script, what is wanted, what placet does.
struct Row(&'static str, &'static str, Asked, Asked);

/// Lines of git: write mode applies what adds, and waits for what takes away or leads elsewhere.
const GIT: &[Row] = &[
    Row("git add", "echo x >> src/f1.js; git add src/f1.js", "", ""),
    Row("git commit", "echo x >> src/f1.js; git commit -qam one", "", ""),
    Row("git commit of a new file", "echo x > new.js; git add new.js; git commit -qm new", "", ""),
    Row("git commit --amend", "git commit -q --amend -m other", "", "w"),
    Row("git commit --allow-empty", "git commit -q --allow-empty -m empty", "", ""),
    Row("git merge", "git merge -q --no-ff --no-edit feature", "", ""),
    Row("git merge --ff-only", "git merge -q --ff-only feature", "", ""),
    Row("git cherry-pick", "git cherry-pick feature", "", ""),
    Row("git revert", "git revert --no-edit HEAD", "", ""),
    Row("git stash", "echo x >> src/f1.js; git stash -q", "", ""),
    Row("git stash pop", "echo x >> src/f1.js; git stash -q; git stash pop -q", "", ""),
    Row("git tag", "git tag v2", "", ""),
    Row("git tag -a", "git tag -a v2 -m v2", "", ""),
    Row("git branch", "git branch topic", "", ""),
    Row("git branch -D", "git branch -D feature", "w", "w"),
    Row("git branch -m", "git branch -m other", "", ""),
    Row("git switch -c", "git switch -qc topic", "", ""),
    Row("git checkout", "git checkout -q feature", "", ""),
    Row("git restore --staged", "echo x >> src/f1.js; git add -A; git restore --staged .", "", ""),
    Row("git notes", "git notes add -m note", "", ""),
    Row("git mv", "git mv src/f1.js src/g1.js", "", ""),
    Row("git mv of 40 files", "git mv src lib", "", ""),
    Row("git rm", "git rm -q src/f1.js", "", ""),
    Row("git gc", "git gc -q", "", ""),
    Row("git pull", "git pull -q --no-rebase", "", ""),
    Row("git fetch", "git fetch -q", "", ""),
    Row("git config user.name", "git config user.name Other", "", ""),
    Row("git bisect", "git bisect start; git bisect reset", "", ""),
    Row("git rebase", "git checkout -q feature; git rebase -q master", "", ""),
    Row("git reset --hard HEAD~1", "git reset -q --hard HEAD~1", "w", "w"),
    Row("git remote add", "git remote add other ../other.git", "wa", "wa"),
    Row("git worktree add", "git worktree add -q tree", "", "w"),
    Row(
        "git submodule add",
        "git -c protocol.file.allow=always submodule --quiet add ../sub.git sub",
        "wa",
        "wa",
    ),
];

const OTHERS: &[Row] = &[
    Row("a source file", "echo 'const y = 1' >> src/f1.js", "", ""),
    Row("a new source file", "echo 'const y = 1' > src/new.js", "", ""),
    Row("a source file is removed", "rm src/f1.js", "", ""),
    Row("a source file is renamed", "mv src/f1.js src/g1.js", "", ""),
    Row("half of a source file is removed", "sed -i 3,8d src/f1.js", "", ""),
    Row("ten source files", "sed -i s/const/let/ src/f?.js", "", ""),
    Row("a test", "echo 'test()' >> test/a.test.js", "", ""),
    Row("a new test", "echo 'test()' > test/b.test.js", "", ""),
    Row("README", "echo more >> README.md", "", ""),
    Row("a new page", "mkdir docs; echo page > docs/page.md", "", ""),
    Row("LICENSE", "echo MIT > LICENSE", "", ""),
    Row("Makefile", "printf 'all:\\n\\ttrue\\n' > Makefile", "", ""),
    Row("a script", "mkdir scripts; echo '#!/bin/sh' > scripts/a.sh; chmod +x scripts/a.sh", "", ""),
    Row("chmod +x", "chmod +x run.sh", "", ""),
    Row("dependency of package.json", "sed -i 's/\"left\"/\"right\"/' package.json", "", ""),
    Row("scripts of package.json", "sed -i 's/vite build/vite build --minify/' package.json", "", ""),
    Row("package-lock.json", "echo '{ }' > package-lock.json", "", ""),
    Row("pyproject.toml", "echo '[tool.ruff]' > pyproject.toml", "", ""),
    Row("requirements.txt", "echo ruff > requirements.txt", "", ""),
    Row("Dockerfile", "echo 'FROM scratch' > Dockerfile", "", ""),
    Row("docker-compose.yml", "echo 'services: {}' > docker-compose.yml", "", ""),
    Row(".env", "echo 'PORT=1' > .env", "", ""),
    Row(".env.example", "echo 'PORT=1' > .env.example", "", ""),
    Row("tsconfig.json", "echo '{}' > tsconfig.json", "", ""),
    Row("eslint.config.js", "echo 'export default []' > eslint.config.js", "", ""),
    Row(".prettierrc", "echo '{}' > .prettierrc", "", ""),
    Row(".gitignore", "echo dist >> .gitignore", "", ""),
    Row("Cargo.toml", "echo '[dependencies]' >> Cargo.toml", "", ""),
    Row("Cargo.lock", "echo 'version = 4' > Cargo.lock", "", ""),
    Row("build.rs", "echo 'fn main() {}' > build.rs", "", ""),
    Row(
        "a new crate",
        "mkdir -p crates/a/src; echo '[package]' > crates/a/Cargo.toml; touch crates/a/src/lib.rs",
        "",
        "",
    ),
    Row("a migration", "mkdir migrations; echo 'create table t' > migrations/1.sql", "", ""),
    Row("a picture", "head -c 4000 /dev/urandom > logo.png", "", ""),
    Row("a link", "ln -s README.md INDEX.md", "", ""),
    Row("npm install NAME", NPM_INSTALL, "", ""),
    Row(
        "npm ci",
        "sh -c 'rm -rf node_modules'; for n in 1 2 3 4 5 6; do mkdir -p node_modules/p$n/lib; echo 1 > node_modules/p$n/lib/i.js; done",
        "",
        "",
    ),
    Row("npm run build", "mkdir -p dist/assets; echo 1 > dist/assets/a.js; echo 1 > dist/index.html", "", ""),
    Row(
        "npm test",
        "mkdir -p coverage node_modules/.cache; echo 1 > coverage/lcov.info; echo 1 > node_modules/.cache/a",
        "",
        "",
    ),
    Row(
        "cargo build",
        "mkdir -p target/debug/deps; echo 1 > target/debug/a; chmod +x target/debug/a; echo 1 > target/debug/deps/a.d; echo 1 > Cargo.lock",
        "",
        "",
    ),
    Row("cargo test", "mkdir -p target/debug/incremental/a; echo 1 > target/debug/incremental/a/dep", "", ""),
    Row("cargo fmt", "sed -i 's/  /    /' src/f1?.js", "", ""),
    Row(
        "make",
        "mkdir -p build; for n in 1 2 3; do echo $n > build/$n.o; done; echo 1 > app; chmod +x app",
        "",
        "",
    ),
    Row(
        "python -m venv",
        "mkdir -p .venv/bin .venv/lib/python3/site-packages; ln -s /usr/bin/python3 .venv/bin/python; echo 'VIRTUAL_ENV=x' > .venv/bin/activate; echo home = /usr/bin > .venv/pyvenv.cfg",
        "",
        "",
    ),
    Row("pip install -e .", "mkdir app.egg-info; echo 1 > app.egg-info/PKG-INFO", "", ""),
    Row(
        "pytest",
        "mkdir -p .pytest_cache/v __pycache__; echo 1 > .pytest_cache/v/a; echo 1 > __pycache__/a.pyc",
        "",
        "",
    ),
    Row("generated code", "mkdir -p gen; for n in 1 2 3 4 5 6 7 8 9; do echo $n > gen/$n.ts; done", "", ""),
    Row("continuous integration", "sed -i 's/test/lint/' .github/workflows/ci.yml", "wa", "wa"),
    Row(".vscode/settings.json", "mkdir .vscode; echo '{}' > .vscode/settings.json", "wa", "wa"),
    Row("AGENTS.md", "echo 'Use tabs.' > AGENTS.md", "", "wa"),
    Row(".nvmrc", "echo 22 > .nvmrc", "", ""),
    Row("a formatter over 40 files", "sed -i '1s/const/const  /' src/*.js", "", ""),
    Row("40 files replaced", "for f in src/*.js; do echo // > $f; done", "wa", "wa"),
    Row("33 of 40 files removed", "ls src/*.js | head -33 | xargs rm", "wa", "wa"),
];

const NPM_INSTALL: &str = "mkdir -p node_modules/right/lib node_modules/.bin; echo 1 > node_modules/right/lib/i.js; \
    echo '{}' > node_modules/right/package.json; ln -s ../right/lib/i.js node_modules/.bin/right; \
    sed -i 's/\"left\"/\"right\"/' package.json; echo '{\"right\": 1}' > package-lock.json";

/// How many answers go beyond what is wanted; of git, and of everything else.
const BEYOND_GIT: usize = 2;
const BEYOND: usize = 2;

/// Answers in `now` that are not in `want`.
fn beyond(rows: &[Row]) -> usize {
    rows.iter().map(|Row(_, _, want, now)| now.chars().filter(|mode| !want.contains(*mode)).count()).sum()
}

#[test]
fn what_goes_beyond_the_wish_only_becomes_less() {
    assert_eq!(GIT.len() + OTHERS.len(), 86);
    assert_eq!((beyond(GIT), beyond(OTHERS)), (BEYOND_GIT, BEYOND));
    let missing = |Row(_, _, want, now): &&Row| want.chars().any(|mode| !now.contains(mode));
    let missing: Vec<&str> = GIT.iter().chain(OTHERS).filter(missing).map(|row| row.0).collect();
    assert!(missing.is_empty(), "nobody is asked, and a person wants it: {missing:?}");
}

#[test]
fn ordinary_commands_ask_what_the_table_says() {
    let git = if require("git") { GIT } else { &[] };
    let rows = some_of(git, 4).chain(some_of(OTHERS, 3));
    let check = |row: &Row| {
        let found = Fixture::new(require("git")).asked(row.1);
        (found.0 != row.3)
            .then(|| format!("{}: `{}`, and the table has `{}`: {}", row.0, found.0, row.3, found.1))
    };
    let wrong: Vec<String> = rows.filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A group is applied or waits as a whole: in a package of the tree, in its manifest and its lock file.
#[test]
fn npm_uninstall_waits_as_a_whole() {
    let script = "rm -r node_modules/many; sed -i /many/d package.json package-lock.json";
    let mut many = String::from(
        "mkdir -p node_modules/many; for n in $(seq 60); do echo $n > node_modules/many/$n.js; done; ",
    );
    many.push_str("printf '{\\n  \"many\": 1,\\n  \"right\": 1\\n}\\n' | tee package.json package-lock.json > /dev/null");
    let fixture = Fixture::new(require("git"));
    fixture.sh(&many);
    let view = fixture.ran(script).0;
    let shown = view.shown().unwrap();
    let all = View::everything(shown.set());
    let permitted = shown.permitted(all.clone(), &ChangeApproval::none());
    assert!(permitted.choice.is_empty(), "{:?}", permitted.choice.keys());
    assert_eq!((permitted.losses.len(), permitted.groups.len()), (1, 1));
    let yes = ChangeApproval::none().seen(&shown.classes().losses);
    assert_eq!(shown.permitted(all.clone(), &yes).choice.len(), all.len());
    // The person parts them.
    let only: BTreeSet<PathBuf> = ["package.json"].map(|name| fixture.root.join(name)).into();
    let chosen = all.into_iter().filter(|(path, _)| only.contains(&**path)).collect();
    assert_eq!(shown.permitted(chosen, &ChangeApproval::none()).choice.len(), 1);
}

/// The files of a worktree are those that the repository has already; another content is asked about, with all that the
/// command made.
#[test]
fn a_worktree_waits_as_a_whole_or_not_at_all() {
    if !require("git") {
        return;
    }
    let fixture = Fixture::new(true);
    let view = fixture.ran("git worktree add -q tree").0;
    let shown = view.shown().unwrap();
    assert_eq!(shown.classes().to_approve(shown.set()), []);
    let fixture = Fixture::new(true);
    let view = fixture.ran("git worktree add -q tree; echo evil > tree/.envrc").0;
    let shown = view.shown().unwrap();
    let waiting = shown.classes().to_approve(shown.set());
    assert_eq!(waiting.iter().map(|(path, _)| path.file_name().unwrap()).collect::<Vec<_>>(), [".envrc"]);
    let path = waiting[0].0.to_path_buf();
    let permitted = shown.permitted(View::everything(shown.set()), &ChangeApproval::none());
    assert!(permitted.choice.is_empty(), "{:?}", permitted.choice.keys());
    let with = shown.classes().approved_with(shown.set(), &path);
    assert_eq!(with.len(), shown.set().len(), "all of it is shown with the file");
}

/// A directory of a project, which is restored after a command ran in it.
struct Fixture {
    _dir: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
}

/// Made once: a project of 40 sources, with a repository if there is git.
fn template(with_git: bool) -> &'static Path {
    static TEMPLATE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &TEMPLATE
        .get_or_init(|| {
            let dir = fast_dir();
            let base = std::fs::canonicalize(dir.path()).unwrap();
            run(&base, &base, SETUP);
            if with_git {
                run(&base, &base, SETUP_GIT);
            }
            (dir, base)
        })
        .1
}

const SETUP: &str = r#"
mkdir -p w/src w/test w/.github/workflows && cd w
for n in $(seq 40); do
  for line in $(seq 10); do echo "const a$line = $n  // line $line"; done > src/f$n.js
done
echo 'test()' > test/a.test.js
printf '{\n  "scripts": { "build": "vite build" },\n  "dependencies": { "left": "1" }\n}\n' > package.json
echo '{}' > package-lock.json
printf '[package]\nname = "a"\n' > Cargo.toml
echo 20 > .nvmrc
echo node_modules > .gitignore
echo read > README.md
echo 'true' > run.sh
printf 'all:\n\tfalse\n' > Makefile
printf 'on: push\njobs:\n  test: {}\n' > .github/workflows/ci.yml
"#;

const SETUP_GIT: &str = r#"
git init -q -b master sub && cd sub && echo sub > sub.txt && git add -A && git commit -qm sub && cd ..
git clone -q --bare sub sub.git && rm -r sub
cd w && git init -q -b master && git add -A && git commit -qm first
echo second >> README.md && git commit -qam second
git checkout -qb feature && echo f > feature.js && git add -A && git commit -qm feature && git checkout -q master
git init -q --bare -b master ../origin.git && git remote add origin ../origin.git && git push -q -u origin master
git clone -q ../origin.git ../other && cd ../other && echo o > other.js && git add -A && git commit -qm other
git push -q && cd .. && rm -rf other
"#;

fn run(dir: &Path, home: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(dir).env("HOME", home);
    for (name, value) in [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "A"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "A"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ("GIT_EDITOR", "true"),
    ] {
        command.env(name, value);
    }
    let out = command.output().unwrap();
    assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(done.success());
}

impl Fixture {
    fn new(with_git: bool) -> Fixture {
        let dir = fast_dir();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        for entry in std::fs::read_dir(template(with_git)).unwrap() {
            copy(&entry.unwrap().path(), &base);
        }
        let root = base.join("w");
        Fixture { _dir: dir, base, root }
    }

    fn sh(&self, script: &str) {
        run(&self.root, &self.base, script);
    }

    /// The view after the command, and the paths that the command changed.
    fn ran(&self, script: &str) -> (View, BTreeSet<Arc<Path>>) {
        let (before, after) = (self.base.join("before"), self.base.join("after"));
        copy(&self.root, &before);
        self.sh(script);
        std::fs::rename(&self.root, &after).unwrap();
        std::fs::rename(&before, &self.root).unwrap();
        let places = ViewPaths {
            view: self.base.join("state/view"),
            layers: Vec::new(),
            objects: self.base.join("state/objects"),
            journal: self.base.join("state/journal"),
            scratch: self.base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&self.root));
        view.run_git_by(Arc::new(PlainGit));
        view.begin_turn(TransactionLabel { turn: "t".into(), ..TransactionLabel::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(view.begin(LayerKind::Pending, None)).unwrap();
        let origin = ChangeOrigin::new(&view.label(), "call", "run_command", script);
        let command = command.made_by(Some(Arc::new(origin)));
        difference(&self.root, &after, &command.mounts[0].upper);
        let effects = view.finish(command, &|_| false).unwrap();
        (view, effects.paths)
    }

    /// Where a person is asked about it, and about what.
    fn asked(&self, script: &str) -> (String, String) {
        let (view, paths) = self.ran(script);
        let shown = view.shown().unwrap();
        let permitted = shown.permitted(View::everything(shown.set()), &ChangeApproval::none());
        let rows = shown.rows(Path::to_path_buf);
        let mut turn = view.turn().clone();
        let label = view.label();
        let is_applied = view.apply_within_limit(&view.block_commands(), &paths, &mut turn, label).unwrap();
        let mut asked = String::new();
        let mut why: Vec<String> = rows.iter().map(ListedChange::line).collect();
        if let Err(reason) = &is_applied {
            asked.push('w');
            why.push(reason.words());
        }
        if permitted.choice.len() < shown.set().len() {
            asked.push('a');
        }
        (asked, why.join("; "))
    }
}

/// Puts into `upper` what makes `after` of `before`.
fn difference(before: &Path, after: &Path, upper: &Path) {
    let names = |dir: &Path| -> BTreeSet<std::ffi::OsString> {
        std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().file_name()).collect()
    };
    let meta = |path: &Path| path.symlink_metadata().ok();
    for name in names(before).union(&names(after)) {
        let (old, new, at) = (before.join(name), after.join(name), upper.join(name));
        match (meta(&old), meta(&new)) {
            (Some(_), None) => {
                std::fs::create_dir_all(upper).unwrap();
                whiteout(&at);
            }
            (was, Some(is)) if is.is_dir() => {
                if was.is_none_or(|was| !was.is_dir()) {
                    std::fs::create_dir_all(&at).unwrap();
                }
                difference(&old, &new, &at);
            }
            (was, Some(is)) => {
                let is_same = was.is_some_and(|was| {
                    was.mode() == is.mode()
                        && !is.is_symlink()
                        && std::fs::read(&old).unwrap() == std::fs::read(&new).unwrap()
                });
                if !is_same {
                    std::fs::create_dir_all(upper).unwrap();
                    copy(&new, &at);
                }
            }
            (None, None) => {}
        }
    }
    if let (Some(is), true) = (meta(after), upper.is_dir()) {
        std::fs::set_permissions(upper, std::fs::Permissions::from_mode(is.mode() & 0o7777)).unwrap();
    }
}
