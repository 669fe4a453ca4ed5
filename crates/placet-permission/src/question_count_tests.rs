//! Ordinary commands of a day, by kind: a person who answers "commands of this kind" is asked at most once for each
//! kind, and never about a command that only reads.

use super::*;
use placet_text::conversation::CallId;
use std::path::PathBuf;

/// Never asks.
const LOOKING: &str = r#"
ls
ls -la
ls -la src tests
pwd
cat Cargo.toml
cat src/main.rs | head -50
head -n 20 README.md
tail -n 100 log.txt
tail -5 log.txt 2>/dev/null
wc -l src/*.rs
grep -rn "fn main" src
grep -rn "TODO\|FIXME" src --include=*.rs | head -20
grep -c test src/lib.rs
grep -E '^(use|mod) ' src/lib.rs | sort -u
rg --files
rg -n "struct Policy" src | head
rg 'unwrap\(\)' src -g '*.rs' | wc -l
find . -name '*.rs' -not -path './target/*'
find . -maxdepth 2 -type d
find src -name '*.rs' -exec grep -l unsafe {} +
git status
git status --short
git status -sb && git log --oneline -5
git log --oneline -20
git log --oneline --graph --all | head -40
git log -p --follow -- src/lib.rs
git log --since=yesterday --format='%h %s'
git diff
git diff --stat
git diff --cached
git diff HEAD~3 -- src | head -200
git show HEAD
git show --stat HEAD~1
git show HEAD:src/lib.rs
git blame -L 10,20 src/lib.rs
git branch
git branch -a
git branch --show-current
git rev-parse --short HEAD
git remote -v
git stash list
git tag --list
git ls-files | wc -l
git grep -n Permit
git config --get user.name
git worktree list
git describe --tags
git merge-base main HEAD
cd src && ls
cd src && grep -n fn lib.rs | head -5
cd tests; ls; cat main.rs
echo done
echo "exit: $?"
date
date +%s
uname -a
which cargo node
command -v rg
file target.bin
stat Cargo.toml
du -sh src
df -h .
sort names.txt | uniq -c | sort -rn
cut -d: -f1 a.csv | sort -u
diff a.txt b.txt
diff -u a.txt b.txt | head
sed -n '10,40p' src/lib.rs
sed -n 1,5p Cargo.toml && wc -l Cargo.toml
jq '.dependencies' package.json
jq -r .version package.json
cat package.json | jq .scripts
tree src
test -f Makefile && echo yes || echo no
[ -d node_modules ] && ls node_modules | wc -l
[[ -f Cargo.lock ]] && echo locked
for f in src/a.rs src/b.rs; do echo "== $f"; done
if [ -f .gitignore ]; then cat .gitignore; fi
cargo --version
cargo --version && rustc --version
cargo tree --locked
cargo tree --locked --depth 1 | head -30
cargo metadata --locked --format-version 1 --no-deps | jq '.packages[0].name'
node --version; npm --version
python3 --version
npm ls --depth=0
go version
timeout 10 ls
LC_ALL=C sort names.txt
GIT_PAGER=cat git log -3
git --no-pager diff --stat
basename src/lib.rs .rs
realpath src
md5sum Cargo.lock
sha256sum a.txt b.txt
true
sleep 1
nproc
whoami && id
ps aux | grep node | head
printf '%s\n' a b c
seq 1 10
xxd a.bin | head
od -c a.bin | head -2
ls | wc -l > /dev/null
cat a.txt 2>&1 | tail -3
git log -1 --format=%B
git diff --name-only main...HEAD
"#;

/// One kind per block.
const DOING: &[&str] = &[
    "cargo test
cargo test --lib
cargo test --lib permission 2>&1 | tail -20
cargo test -- --nocapture
cargo test --test main reference
RUST_BACKTRACE=1 cargo test --lib
cargo test 2>&1 | grep -E '^(error|test result)'
cargo test --all-targets | tail -5
timeout 300 cargo test
cd sub && cargo test",
    "cargo build
cargo build --release
cargo build --release 2>&1 | tail -3
cargo build --all-targets",
    "cargo check
cargo check --all-targets 2>&1 | head -50
cargo check --lib",
    "cargo clippy
cargo clippy --all-targets -- -D warnings
cargo clippy --fix --allow-dirty
cargo clippy 2>&1 | grep -A5 warning",
    "cargo fmt
cargo fmt --check
cargo fmt -- --check | head",
    "cargo run
cargo run -- --help
cargo run --release -- check a.txt",
    "cargo doc --no-deps
cargo doc --no-deps 2>&1 | grep warning",
    "cargo bench
cargo bench --bench files",
    "npm test
npm test -- --watch=false
cd web && npm test 2>&1 | tail -5
cd web && npm test 2>&1 | tail -50
CI=1 npm test",
    "npm run build
npm run build -- --mode production
npm run build 2>&1 | tail",
    "npm run lint
npm run lint -- --fix",
    "npm ci
npm ci --no-audit",
    "pytest
pytest -x
pytest tests/test_a.py::test_b -q
pytest -q 2>&1 | tail -3",
    "python -m pytest -q
python -m pytest tests -k name",
    "mypy src
mypy --strict src/a.py",
    "ruff check .
ruff check --fix src
ruff format .",
    "tsc --noEmit
tsc -p web | head",
    "eslint src
eslint src --ext .ts --max-warnings 0",
    "prettier --check .
prettier --check src/a.ts",
    "go test ./...
go test -run TestA ./pkg/a
go test ./... 2>&1 | tail -4",
    "go build ./...
go build -race ./cmd/a",
    "go vet ./...",
    "make
make 2>&1 | tail -4",
    "make test
make test V=1 | tail -1",
    "make lint",
    "git add -A
git add src/lib.rs
git add -p",
    "git commit -m 'a message'
git commit -am 'fix: rm -rf in a message'
git commit --amend --no-edit
git commit -m \"$(cat <<'E'\nmany lines\nE\n)\"",
    "git fetch
git fetch origin main",
    "mkdir -p a/b
mkdir c",
    "touch a.txt
touch src/new.rs",
    "just test
just test unit",
    "cmake -B build
cmake --build build -j8",
    "docker ps
docker ps -a",
    "docker logs web
docker logs --tail 50 web",
    "kubectl get pods
kubectl get pods -n a -o wide",
    "gh pr view 12
gh pr view --json title",
    "wc -l $(git ls-files)",
    "git ls-files | xargs wc -l | tail -1",
    "gh pr list
gh pr list --limit 5",
];

fn lines() -> impl Iterator<Item = String> {
    let looking = LOOKING.trim().lines().map(String::from);
    // A line end inside a quoted message is written as `\n` there.
    let doing = DOING.iter().flat_map(|family| split(family));
    looking.chain(doing)
}

/// The lines of a block; a line with an open quote continues on the next.
fn split(family: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in family.lines() {
        match out.last_mut() {
            Some(last) if last.matches('"').count() % 2 == 1 => {
                last.push('\n');
                last.push_str(line);
            }
            _ => out.push(line.to_string()),
        }
    }
    out
}

fn decide(policy: &Policy, line: &str) -> Decision {
    let reach = Access::Run { command: line.into(), cwd: "/w".into(), confined: false };
    policy.decide(&CallId::new("c"), "run_command", vec![reach])
}

fn new_policy() -> Policy {
    Policy::new(ModeCell::new(Mode::Ask), Vec::new(), vec![PathBuf::from("/w")])
        .at_home(Some("/home/me".into()))
}

#[test]
fn a_person_is_asked_at_most_once_for_each_family() {
    let mut policy = new_policy();
    let (mut asked, mut count) = (Vec::new(), 0);
    for line in lines() {
        count += 1;
        match decide(&policy, &line) {
            Decision::Allow(_) => {}
            Decision::Ask(question) => {
                let grant = question.pattern.or(question.always).unwrap_or_else(|| panic!("{line}"));
                policy.remember(grant);
                asked.push(line);
            }
            Decision::Deny(denial) => panic!("{line}: {denial:?}"),
        }
    }
    assert!(count >= 200, "{count}");
    assert!(asked.len() <= DOING.len(), "{} families, asked {}: {asked:#?}", DOING.len(), asked.len());
    // The same lines again: no question any more.
    for line in lines() {
        assert!(matches!(decide(&policy, &line), Decision::Allow(_)), "{line}");
    }
}

#[test]
fn what_only_looks_never_asks_and_changes_ask_the_first_time() {
    let policy = new_policy();
    for line in LOOKING.trim().lines() {
        assert!(
            matches!(decide(&policy, line), Decision::Allow(_)),
            "{}",
            policy.explain(
                "run_command",
                &Access::Run { command: line.into(), cwd: "/w".into(), confined: false }
            )
        );
    }
    for line in DOING.iter().flat_map(|family| split(family)) {
        assert!(matches!(decide(&policy, &line), Decision::Ask(_)), "{line}");
    }
}
