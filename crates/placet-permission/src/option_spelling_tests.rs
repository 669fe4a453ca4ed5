//! Spellings of options that hide a command: clusters that end in an option with a value, abbreviated long options,
//! `--`, and options that no table knows. A rule against the command and the destructive check must find the command,
//! and no such line counts as reading.

use super::*;
use placet_text::conversation::CallId;
use std::path::{Path, PathBuf};

const HOME: &str = "/home/me";
const ROOT: &str = "/home/me/p/w";

fn policy(mode: Mode, rules: &[(&str, RuleVerdict)]) -> Policy {
    let tools = ["run_command".to_string()];
    let rules = rules.iter().map(|(text, v)| Rule::parse(text, *v, "test", &tools).unwrap()).collect();
    Policy::new(ModeCell::new(mode), rules, vec![ROOT.into()]).at_home(Some(HOME.into()))
}

fn verdict(policy: &Policy, line: &str) -> &'static str {
    let access = Access::Run { command: line.into(), cwd: ROOT.into(), confined: false };
    match policy.decide(&CallId::new("c"), "run_command", vec![access]) {
        Decision::Allow(_) => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny(_) => "deny",
    }
}

fn is_destructive(line: &str) -> bool {
    let roots = [PathBuf::from(ROOT)];
    danger_of(line, Path::new(ROOT), Some(Path::new(HOME)), &roots, &ProtectedPaths::default()).is_some()
}

/// Each runs `rm -rf src`.
const RUNS_RM: &[&str] = &[
    "env -vu ls rm -rf src",
    "env -iu ls rm -rf src",
    "env -iu X rm -rf src",
    "env --uns ls rm -rf src",
    "env -a ls rm -rf src",
    "env --argv0 ls rm -rf src",
    "env -iC ls rm -rf src",
    "env -- X=1 rm -rf src",
    "env - X=1 rm -rf src",
    "env -S '-u ls rm -rf src'",
    "env -S '-u ls' rm -rf src",
    "env -vS 'rm -rf src'",
    "env --split 'rm -rf src'",
    "env --unknown ls rm -rf src",
    "env -z ls rm -rf src",
    "exec -ca ls rm -rf src",
    "exec -cla ls rm -rf src",
    "command -p -- rm -rf src",
    "sudo -nu root rm -rf src",
    "sudo -iu root rm -rf src",
    "sudo --us root rm -rf src",
    "sudo -Hng wheel -u root rm -rf src",
    "doas -nu root rm -rf src",
    "xargs -0n 1 rm -rf src",
    "xargs -ra F rm -rf src",
    "xargs -rd '\\n' rm -rf src",
    "xargs -tP 4 rm -rf src",
    "xargs --max-a 1 rm -rf src",
    "xargs --replace rm -rf src",
    "timeout -fk 5 5 rm -rf src",
    "timeout --kill 5 5 rm -rf src",
    "timeout -z 5 5 rm -rf src",
    "flock -nE 3 f rm -rf src",
    "flock f -c'rm -rf src'",
    "watch -dn 1 rm -rf src",
    "watch -dn rm -rf src",
    "watch --inter 1 rm -rf src",
    "ssh -tp 22 h rm -rf src",
    "ssh h -p 22 rm -rf src",
    "runuser -lu x rm -rf src",
    "runuser x -lc'rm -rf src'",
    "su --comm 'rm -rf src'",
    "su me -lc 'rm -rf src'",
    "script --comm='rm -rf src'",
    "/usr/bin/time -ao f rm -rf src",
    "time -p -- rm -rf src",
    "time -- rm -rf src",
    "time -po f rm -rf src",
    "git rebase -ix 'rm -rf src' main",
    "git rebase -ix'rm -rf src' main",
    "git rebase --exe 'rm -rf src' main",
    "git bisect run -- rm -rf src",
    "git bisect run rm -rf src",
    "git submodule foreach --recursive 'rm -rf src'",
    "git submodule foreach rm -rf src",
    "git submodule foreach 'rm -rf' src",
    "git bisect run sh -c 'rm -rf src'",
    "git -C foreach submodule foreach 'rm -rf src'",
    "git rebase foreach main -x 'rm -rf src'",
    "fd -0x rm -rf src",
    "fd -xrm -rf src",
    "fd -0Hx rm -rf",
    "fd x -x rm -rf",
    "fd --exec=rm -rf",
    "fd x --exec-batch=rm -rf",
    "sh -c -- 'rm -rf src'",
    "sh -ec -- 'rm -rf src'",
    "bash -oc pipefail 'rm -rf src'",
    "eval -- 'rm -rf src'",
    "trap -- 'rm -rf src' EXIT",
    "tcsh -c 'rm -rf src'",
    "csh -c 'rm -rf src'",
    "rbash -c 'rm -rf src'",
    "yash -c 'rm -rf src'",
    "fish --command 'rm -rf src'",
    "fish --comm='rm -rf src'",
    "hyperfine -p 'rm -rf src' true",
    "hyperfine --prep 'rm -rf src' true",
    "parallel rm -rf ::: src",
    "parallel -kj 4 rm -rf ::: src",
    "{fd}>x rm -rf src",
    "nice -n5 timeout -vk 1 2 rm -rf src",
    "ionice -tc 3 rm -rf src",
    "setsid -fw rm -rf src",
];

#[test]
fn a_command_behind_any_spelling_of_options_is_found() {
    let denying = policy(Mode::Unrestricted, &[("run(rm *)", RuleVerdict::Deny)]);
    let missed = |test: &dyn Fn(&str) -> bool| -> Vec<&str> {
        RUNS_RM.iter().copied().filter(|line| !test(line)).collect()
    };
    assert_eq!(missed(&|line| verdict(&denying, line) == "deny"), Vec::<&str>::new(), "not denied");
    assert_eq!(missed(&is_destructive), Vec::<&str>::new(), "not destructive");
}

#[test]
fn no_spelling_of_options_makes_a_command_read_only_or_allowed() {
    let asking =
        policy(Mode::Ask, &[("run(cargo *)", RuleVerdict::Allow), ("run(ls *)", RuleVerdict::Allow)]);
    let others = [
        "env -iC ls touch pwn",
        "env -vu ls touch pwn",
        "env --uns ls touch pwn",
        "env -z ls",
        "env -z cargo test",
        "env --unknown cargo test",
        "env --i cargo ls",
        "timeout --unknown 5 5 cargo test",
        "timeout -z 5 cargo test",
        "nice --zzz ls",
        "command -x ls",
        "xargs -z cargo test",
        "watch -z ls",
    ];
    for line in RUNS_RM.iter().chain(&others) {
        assert_eq!(verdict(&asking, line), "ask", "{line}");
    }
    for line in [
        "env -u X ls",
        "env -iu X ls",
        "env --uns X cargo test",
        "env -v cargo test",
        "timeout -fk 5 5 cargo test",
        "timeout --foreground --kill 5 5 cargo test",
        "xargs -0n 1 cargo test",
        "nice -n 5 cargo test",
        "nice -10 cargo test",
        "stdbuf -oL cargo test",
        "sh -c -- 'cargo test'",
        "command -p ls",
    ] {
        assert_eq!(verdict(&asking, line), "allow", "{line}");
    }
}

#[test]
fn an_option_in_any_spelling_makes_a_command_destructive() {
    for line in [
        "git clean -fe -n",
        "git clean -fen",
        "git clean -n --no-dry-run -f",
        "git clean --exclude -n -f",
        "rm --recur src",
        "rm --r src",
        "git reset --har",
        "chmod --recurs 000 src",
        "git switch --disc x",
        "git push --mir",
        "git push --pru x",
        "git branch --del --forc x",
        "git restore -s -S a",
        "rsync --remove-s a b",
        "python3.12 -c 'import shutil; shutil.rmtree(\"a\")'",
        "python3 -Bc 'import shutil; shutil.rmtree(\"a\")'",
        "node -pe 'fs.rmSync(\"a\")'",
        "node --eval='fs.rmSync(\"a\")'",
        "perl5.36 -we 'unlink(\"a\")'",
    ] {
        assert!(is_destructive(line), "{line}");
    }
    for line in [
        "git clean -n",
        "git clean -fdn",
        "git clean -e x -n",
        "git restore --staged a",
        "git restore -S -s HEAD a",
        "git checkout -b x --no-track origin/main",
        "git branch --list",
        "git push --progress",
        "timeout -fk 5 5 cargo test",
        "sudo -nu root cargo test",
        "python3.12 -c 'print(1)'",
        "git bisect run -- cargo test",
        "parallel cargo test ::: a",
        "fd x -x wc -l",
    ] {
        assert!(!is_destructive(line), "{line}");
    }
}
