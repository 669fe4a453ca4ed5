use super::*;
use crate::permission::command::{ShellParseContext, parse};

fn all_read(line: &str) -> bool {
    let segments =
        parse(line, ShellParseContext { cwd: Path::new("/w"), home: Some(Path::new("/h")) }).unwrap();
    let leaves = segments.iter().flat_map(CommandSegment::all).filter(|s| !s.words.is_empty());
    leaves.filter(|s| s.inner.is_empty() || s.carrier == WrapperKind::Itself).all(|s| reads(s).is_some())
}

#[test]
fn what_only_looks_is_in_the_set() {
    for line in [
        "ls",
        "ls -la src",
        "cat a b",
        "head -n 5 a",
        "tail -f a",
        "wc -l a",
        "grep -rn x .",
        "grep -e x a",
        "rg x src",
        "pwd",
        "echo a b",
        "echo $X",
        "printf '%s' a",
        "date",
        "date +%F",
        "uname -a",
        "which cargo",
        "file a",
        "stat a",
        "du -sh .",
        "df -h",
        "sort a",
        "sort -u a",
        "find . -name '*.rs' -type f",
        "find . -path ./x -prune -o -print",
        "git status",
        "git status --short --branch",
        "git log --oneline -5",
        "git log -p -- a",
        "git diff",
        "git diff --stat HEAD~1",
        "git show HEAD",
        "git -C sub log",
        "git --no-pager diff",
        "git branch",
        "git branch -a",
        "git branch --list 'a*'",
        "git tag",
        "git tag -l v1",
        "git remote -v",
        "git config --get a.b",
        "git stash list",
        "git worktree list",
        "git reflog",
        "git rev-parse HEAD",
        "git ls-files",
        "git blame a",
        "git grep x",
        "git cat-file -p HEAD",
        "cargo tree --locked",
        "cargo metadata --frozen",
        "cargo --version",
        "node -v",
        "python3 --version",
        "npm ls",
        "sed -n 1,20p a",
        "sed -n '5p' a",
        "tree src",
        "jq .a b",
        "diff a b",
        "uniq a",
        "test -f a",
        "[ -f a ]",
        "[[ -f a ]]",
        "true",
        "sleep 1",
        "basename a",
        "command -v rg",
        "cd sub",
        "LC_ALL=C sort a",
        "GIT_PAGER=cat git log",
        "/usr/bin/git status",
        "timeout 5 ls",
        "ls | xargs -n 1 echo",
        "find . -exec grep x {} +".split(" -exec").next().unwrap(),
    ] {
        assert!(all_read(line), "{line}");
    }
}

#[test]
fn what_could_do_more_is_not() {
    for line in [
        "find . -delete",
        "find . -exec x {} +",
        "find . -execdir x ;",
        "find . -ok x ;",
        "find . -fprint a",
        "find . -fls a",
        "find . $X",
        "fd -x rm",
        "sort -o a b",
        "sort -uo a b",
        "sort --output=a b",
        "sort --ou a b",
        "sort --compress-program=x a",
        "sort $X",
        "tree -o a",
        "rg --pre x y",
        "date -s x",
        "date 01010101",
        "file -C -m a",
        "uniq a b",
        "xxd -r a",
        "sed s/a/b/ x",
        "sed -n 'w x' a",
        "sed -n '1e x' a",
        "sed -ni 1p a",
        "awk 1 a",
        "git diff --output=a",
        "git diff --outp a",
        "git log --ext-diff",
        "git show --textconv",
        "git grep -O x",
        "git grep --open-files-in-pager=x y",
        "git -c core.pager=x log",
        "git -c alias.status=!x status",
        "git --exec-path=x log",
        "git --git-dir=x log",
        "git log $X",
        "git branch new",
        "git branch -d x",
        "git branch -m a b",
        "git branch --edit-description",
        "git tag v1",
        "git tag -d v1",
        "git remote add a b",
        "git remote update",
        "git config a b",
        "git config --get a --unset b",
        "git stash",
        "git stash pop",
        "git worktree add x",
        "git reflog expire",
        "git symbolic-ref HEAD x",
        "git push",
        "git fetch",
        "git commit",
        "git checkout x",
        "git submodule update",
        "git notes add",
        "GIT_PAGER=x git log",
        "GIT_EXTERNAL_DIFF=x git diff",
        "LD_PRELOAD=x ls",
        "PATH=. ls",
        "PAGER=x git log",
        "RIPGREP_CONFIG_PATH=x rg y",
        "./ls",
        "/tmp/ls",
        "bin/git status",
        "$X",
        "ls $X",
        "cat \"$X\"",
        "printf -v 'a[$(x)]' y",
        "test -v 'a[$(x)]'",
        "[ -v 'a[$(x)]' ]",
        "export PATH=x",
        "export LD_PRELOAD=x",
        "export GIT_PAGER=x",
        "cargo test",
        "cargo --config x tree",
        "cargo tree --config=x",
        "npm test",
        "rustup run x y",
        "hostname x",
        "env",
        "printenv",
        "python3 -c 1",
        "sh -c $X",
        "sudo ls",
        "cat a | sh",
        "tee a",
        "rm a",
        "touch a",
        "cd -",
        "man x",
        "less a",
        "vim a",
        "bat a",
        "{ls,x}",
        "/bin/l? a",
        "sort {-o,a} b",
        "cat {a,/etc/b}",
        "bash -v",
        "python3 -v",
        "ruby -v",
        "yarn --version",
        "cargo tree",
        "go list",
        "rustup show",
        "tree -R -L 1",
        "hash -p ./x ls",
        "read PATH",
        "local PATH=x",
        "getopts a PATH",
        "read $X",
        "cloc --out=a b",
    ] {
        assert!(!all_read(line), "{line}");
    }
}

#[test]
fn every_row_of_the_table_asks() {
    let table: ReadOnlyTable = toml::from_str(SHIPPED).unwrap_or_else(|e| panic!("{e}"));
    assert!(table.talk.len() > 40 && table.look.len() > 50 && table.spoilt.len() > 20);
    for row in &table.spoilt {
        for program in &row.programs {
            let known = table.talk.iter().chain(&table.look).any(|name| name == program);
            assert!(known || program == "git", "{program}");
            let own = |line: &&String| line.split(' ').next() == Some(program);
            assert!(row.asked.iter().any(|line| own(&line)) || row.programs.len() > 3, "{program}");
        }
        for line in &row.asked {
            assert!(!all_read(line), "{line}");
        }
    }
}

/// Story: a review found reads outside and a printed environment among what "changes nothing".
#[test]
fn what_tells_more_than_it_names_asks() {
    for line in [
        "jq -L /x 'import \"m\" as m; .'",
        "jq -n '$ENV'",
        "jq -n env",
        "jq -n 'env.HOME'",
        "jq --arg a b '$ENV.PATH' x",
        "jq -n '\"\\(env)\"'",
        "jq \"$X\" a",
        "find . -files0-from a",
        "find -files0-from a",
        "git cat-file --filters HEAD:a",
        "git log --format=%G? -1",
        "git log '--format=%h %GK'",
        "git for-each-ref --format='%(signature)'",
        "git tag -v v1",
        "set",
        "export",
        "export -p",
        "readonly",
        "readonly -p",
        "declare -p",
        "compgen -e",
        "ps axe",
        "ps eww",
        "ps -E",
        "ps -o pid,environ",
        "ps $X",
        "strings @a",
        "grep -nfsecret a",
        "grep -fsecret a",
        "rg -fsecret",
        "env",
        "printenv HOME",
        "cat a | xargs jq -n env",
        "jobs -x rm",
    ] {
        assert!(!all_read(line), "{line}");
    }
    for line in [
        "jq .env a",
        "jq '.services[].environment' a",
        "ps aux",
        "ps -ef",
        "ps -eo pid,user",
        "set -e",
        "export A=b",
        "grep -if pattern a",
        "grep -efoo a",
        "grep -A5 f a",
        "rg -tfoo x",
        "git log --format=%h",
        "strings a",
        "unset A",
    ] {
        assert!(all_read(line), "{line}");
    }
}

#[test]
fn what_it_looks_at_is_named() {
    let paths = |line: &str| {
        let segments =
            parse(line, ShellParseContext { cwd: Path::new("/w"), home: Some(Path::new("/h")) }).unwrap();
        let reads = reads(segments.last().unwrap()).unwrap();
        reads.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    for (line, expected) in [
        ("cat a ../b /etc/c ~/d", "/w/a /b /etc/c /h/d"),
        ("grep /etc/x a", "/w/a"),
        ("grep -e x /etc/a", "/w/x /etc/a"),
        ("grep -f /etc/a b", "/etc/a /w/b"),
        ("grep -f/etc/a b", "/etc/a /w/b"),
        ("git -C ../x log -- a", "/x /w/a"),
        ("cd sub && cat a", "/w/sub/a"),
        ("cd sub; cat a", "/w/sub/a /w/a"),
        ("ls", "/w"),
    ] {
        assert_eq!(paths(line), expected, "{line}");
    }
}
