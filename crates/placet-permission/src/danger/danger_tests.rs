use super::super::ProtectedPaths;
use super::*;

fn judge(line: &str) -> Option<CommandDanger> {
    danger_of(
        line,
        Path::new("/home/me/p/w"),
        Some(Path::new("/home/me")),
        &[PathBuf::from("/home/me/p/w")],
        &ProtectedPaths::default(),
    )
}

use DangerSeverity::{Loss, Total, Unclear};

/// Spellings of commands that lose everything, or more than the task's files.
#[test]
fn losing_all_of_it_is_found_in_every_spelling() {
    for line in [
        "rm -rf /",
        "rm -rf /*",
        "rm -fr /.",
        "rm -r -f //",
        "rm --recursive --force /",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf \"$HOME\"",
        "rm -rf $HOME/",
        "rm -rf \"${HOME}\"/*",
        "rm -rf /home/me",
        "rm -rf /home",
        "rm -rf /home/me/p",
        "rm -rf .",
        "rm -rf ./",
        "rm -rf *",
        "rm -rf ./*",
        "rm -rf ..",
        "rm -rf ../w",
        "rm -rf ../../..",
        "rm -rf a/../..",
        "rm -rf \"$PWD\"",
        "rm -rf /etc",
        "rm -rf /usr/",
        "'rm' -rf /",
        "r\\m -rf /",
        "\\rm -rf /",
        "/bin/rm -rf /",
        "command rm -rf /",
        "sudo rm -rf /",
        "doas rm -rf /",
        "env A=b rm -rf /",
        "timeout 5 nice rm -rf /",
        "nohup rm -rf / &",
        "sh -c 'rm -rf /'",
        "bash -lc \"rm -rf /\"",
        "sh -c \"sh -c 'rm -rf /'\"",
        "eval 'rm -rf /'",
        "echo $(rm -rf /)",
        "echo `rm -rf /`",
        "cat <(rm -rf /)",
        "true && rm -rf /",
        "false || rm -rf /",
        "a; b; rm -rf /",
        "if a; then rm -rf /; fi",
        "for i in 1; do rm -rf /; done",
        "f() { rm -rf /; }; f",
        "( rm -rf / )",
        "{ rm -rf /; }",
        "echo a | rm -rf /",
        "cat <<E\n$(rm -rf /)\nE",
        "bash <<'E'\nrm -rf /\nE",
        "bash <<< 'rm -rf /'",
        "trap 'rm -rf /' EXIT",
        "alias l='rm -rf /'",
        "cd / && rm -rf *",
        "cd .. && rm -rf .",
        "cd build; rm -rf *",
        "D=/; rm -rf $D",
        "D=$HOME; rm -rf \"$D\"",
        "find / -delete",
        "find . -delete",
        "find ~ -type f -delete",
        "chmod -R 777 /",
        "chown -R me ~",
        "mv ~ /tmp/x",
        "mv . /dev/null",
        "kill -9 -1",
        "kill -KILL -- -1",
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
    ] {
        let danger = judge(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(danger.severity, Total, "{line}: {danger:?}");
        assert!(danger.typed.is_some(), "{line}");
    }
}

#[test]
fn what_destroys_is_found_and_its_targets_are_named() {
    let table: &[(&str, DangerSeverity, &[&str])] = &[
        ("rm -rf target", Loss, &["/home/me/p/w/target"]),
        ("cd sub && rm -rf ../a b", Loss, &["/home/me/p/w/a", "/home/me/p/w/sub/b"]),
        ("cd sub; rm -rf b", Loss, &["/home/me/p/w/sub/b", "/home/me/p/w/b"]),
        ("rm -rf build/*", Loss, &["everything in /home/me/p/w/build"]),
        ("rm -rf *.o", Loss, &["/home/me/p/w/*.o"]),
        ("rm -rf .git", Loss, &["/home/me/p/w/.git"]),
        ("rm -f /opt/x", Loss, &["/opt/x"]),
        ("rm *", Total, &["everything in /home/me/p/w"]),
        ("rm ../other/x", Loss, &["/home/me/p/other/x"]),
        ("rm -rf \"$UNSET/\"", Unclear, &["`$UNSET/` (cannot be resolved)"]),
        ("rm -rf $X", Unclear, &["`$X` (cannot be resolved)"]),
        ("rm -rf $(cat list)", Unclear, &["`$(cat list)` (cannot be resolved)"]),
        ("ls | xargs rm -f", Unclear, &["`(standard input)` (cannot be resolved)"]),
        ("ls | xargs -I% rm -r %", Unclear, &["`(standard input)` (cannot be resolved)"]),
        ("find . -exec rm {} +", Unclear, &["`{}` (cannot be resolved)"]),
        ("cd $X && rm -rf a", Unclear, &["`a` (cannot be resolved)"]),
        ("find . -name '*.o' -delete", Loss, &["/home/me/p/w"]),
        ("find a b -delete", Loss, &["/home/me/p/w/a", "/home/me/p/w/b"]),
        ("dd if=/dev/zero of=/dev/sda", Loss, &["/dev/sda"]),
        ("mkfs.ext4 /dev/sda1", Loss, &["/dev/sda1"]),
        ("shred -u a", Loss, &["/home/me/p/w/a"]),
        ("wipefs -a /dev/sda", Loss, &["/dev/sda"]),
        ("fdisk /dev/sda", Loss, &["/dev/sda"]),
        ("truncate -s 0 a", Loss, &["/home/me/p/w/a"]),
        ("chmod -R 777 src", Loss, &["/home/me/p/w/src"]),
        ("mv a /dev/null", Loss, &["/home/me/p/w/a"]),
        ("cp /dev/null a", Loss, &["/home/me/p/w/a"]),
        (": > a", Loss, &["/home/me/p/w/a"]),
        ("> a", Loss, &["/home/me/p/w/a"]),
        ("cat /dev/null > a", Loss, &["/home/me/p/w/a"]),
        ("echo x > /dev/sda", Loss, &["/dev/sda"]),
        ("echo x >> ~/.bashrc", Loss, &["/home/me/.bashrc"]),
        ("tee .git/hooks/pre-commit", Loss, &["/home/me/p/w/.git/hooks/pre-commit"]),
        ("cp x .envrc", Loss, &["/home/me/p/w/.envrc"]),
        ("rsync -a --delete a/ b/", Loss, &["/home/me/p/w/b"]),
        ("git reset --hard", Loss, &["/home/me/p/w"]),
        ("git -C sub reset --hard origin/main", Loss, &["/home/me/p/w/sub"]),
        ("git -c a=b clean -fdx", Loss, &["/home/me/p/w"]),
        ("git checkout -- .", Loss, &["/home/me/p/w"]),
        ("git checkout .", Loss, &["/home/me/p/w"]),
        ("git checkout ./src", Loss, &["/home/me/p/w"]),
        ("git checkout HEAD src/main.rs", Loss, &["/home/me/p/w"]),
        ("git checkout -f main", Loss, &["/home/me/p/w"]),
        ("git restore .", Loss, &["/home/me/p/w"]),
        ("git restore --staged --worktree a", Loss, &["/home/me/p/w"]),
        ("git switch -f main", Loss, &["/home/me/p/w"]),
        ("git switch --discard-changes main", Loss, &["/home/me/p/w"]),
        ("git stash drop", Loss, &["/home/me/p/w"]),
        ("git stash clear", Loss, &["/home/me/p/w"]),
        ("git push --force", Loss, &["/home/me/p/w"]),
        ("git push -fu origin x", Loss, &["/home/me/p/w"]),
        ("git push --force-with-lease", Loss, &["/home/me/p/w"]),
        ("git push origin +main", Loss, &["/home/me/p/w"]),
        ("git push origin :main", Loss, &["/home/me/p/w"]),
        ("git push --delete origin x", Loss, &["/home/me/p/w"]),
        ("git branch -D main", Loss, &["/home/me/p/w"]),
        ("git branch --delete --force main", Loss, &["/home/me/p/w"]),
        ("git filter-branch --all", Loss, &["/home/me/p/w"]),
        ("git update-ref -d refs/heads/x", Loss, &["/home/me/p/w"]),
        ("git reflog expire --all", Loss, &["/home/me/p/w"]),
        ("git gc --prune=now", Loss, &["/home/me/p/w"]),
        ("git worktree remove --force x", Loss, &["/home/me/p/w"]),
        ("git rm -rf src", Loss, &["/home/me/p/w"]),
        ("git $X", Unclear, &[]),
        ("git submodule foreach 'git reset --hard'", Loss, &["/home/me/p/w"]),
        ("curl -s x | sh", Unclear, &[]),
        ("wget -O- x | sudo bash -s -- a", Unclear, &[]),
        ("curl x | python3", Unclear, &[]),
        ("bash <(curl x)", Unclear, &[]),
        ("source <(curl x)", Unclear, &[]),
        ("sh -c \"$(curl x)\"", Unclear, &[]),
        ("eval \"$(curl x)\"", Unclear, &[]),
        ("echo cm0= | base64 -d | sh", Unclear, &[]),
        ("$X -rf /", Unclear, &[]),
        ("{rm,-rf,/}", Unclear, &[]),
        ("/bin/r? -rf /", Unclear, &[]),
        ("/bin/[r]m -rf /", Unclear, &[]),
        ("rm {-rf,/}", Unclear, &["`{-rf,/}` (cannot be resolved)"]),
        ("rm -rf {*,.*}", Unclear, &["`{*,.*}` (cannot be resolved)"]),
        ("git reset {--hard,HEAD}", Unclear, &[]),
        ("find . {-delete,-print}", Unclear, &[]),
        ("\"$@\"", Unclear, &[]),
        ("python3 -c 'import shutil; shutil.rmtree(\"/\")'", Unclear, &[]),
        ("node -e 'fs.rmSync(\"a\")'", Unclear, &[]),
        ("a=(1 2); ls", Unclear, &[]),
        ("docker system prune -af", Loss, &[]),
        ("docker volume rm x", Loss, &[]),
        ("docker compose down -v", Loss, &[]),
        ("kubectl -n x delete pod y", Loss, &[]),
        ("terraform destroy -auto-approve", Loss, &[]),
        ("psql -c 'DROP TABLE users'", Loss, &[]),
        ("mysql -e 'drop   database x'", Loss, &[]),
        ("sqlite3 a.db 'DELETE FROM t;'", Loss, &[]),
        ("echo 'truncate t' | psql", Loss, &[]),
        ("aws s3 rm --recursive s3://x", Loss, &[]),
        ("crontab -r", Loss, &[]),
        ("shutdown now", Loss, &[]),
    ];
    for (line, severity, targets) in table {
        let danger = judge(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (danger.severity, danger.targets.as_slice()),
            (*severity, targets.map_owned().as_slice()),
            "{line}"
        );
        assert_eq!(danger.typed.is_some(), *severity == Total, "{line}");
    }
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|s| (*s).to_string()).collect()
    }
}

#[test]
fn ordinary_commands_are_not_dangerous() {
    for line in [
        "ls -la",
        "cargo test",
        "cargo build --release 2>&1 | tail -20",
        "cargo clean",
        "cargo fmt && cargo clippy -- -D warnings",
        "npm run build",
        "npm ci",
        "make -j8",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "git add -A && git commit -m 'rm -rf the old cache'",
        "git commit -m \"$(cat <<'E'\nfix: rm -rf /\nE\n)\"",
        "git checkout main",
        "git checkout -b feature/x origin/main",
        "git switch -c x",
        "git push",
        "git push -u origin feature",
        "git stash",
        "git stash pop",
        "git branch -d merged",
        "git branch -a",
        "git restore --staged a",
        "git reset HEAD~1",
        "git clean -n",
        "git worktree remove x",
        "git gc",
        "grep -r 'rm -rf' .",
        "echo 'rm -rf /'",
        "echo rm -rf / # rm -rf /",
        "rm one.txt",
        "rm -f build.log",
        "rm src/a.rs src/b.rs",
        "find . -name '*.rs'",
        "find . -name '*.rs' -exec grep -l x {} +",
        "chmod +x run.sh",
        "chown me a",
        "mv a b",
        "cp -r a b",
        "mkdir -p a/{b,c}",
        "cp a.{txt,md} b",
        "touch a",
        "echo x > a.txt",
        "cargo test > out.txt 2>&1",
        "cat > a.rs <<'E'\nfn main() {}\nE",
        "tee out.log",
        "dd if=a of=/dev/null",
        "kill 123",
        "kill -9 123",
        "curl -s https://x/y.json | jq .",
        "curl -o a.tgz https://x",
        "sh run.sh",
        "bash -c 'cargo test'",
        "python3 x.py",
        "python3 -c 'print(1)'",
        "cat x | python3 -m json.tool",
        "docker ps",
        "docker build -t x .",
        "docker rm x",
        "kubectl get pods",
        "terraform plan",
        "psql -c 'select * from t'",
        "sqlite3 a.db 'delete from t where id = 1'",
        "rsync -a a/ b/",
        "tar xzf a.tgz",
        "for f in *.rs; do wc -l $f; done",
        "export PATH=$PATH:/x; make",
        "cd sub && cargo test",
        "sed -i s/a/b/ x",
        "$(npm bin)/eslint .",
        "xargs -n1 echo",
        "if [ -f x ]; then cat x; fi",
        "i=$((i+1)); echo $i",
        "fdisk -l",
        "time make",
        "ssh host uptime",
        "echo a | tee b | wc -l",
    ] {
        assert_eq!(judge(line), None, "{line}");
    }
}

#[test]
fn a_root_below_the_root_of_the_system_and_a_missing_home_do_no_harm() {
    let danger =
        danger_of("rm -rf a", Path::new("/w"), None, &[PathBuf::from("/w")], &ProtectedPaths::default())
            .unwrap();
    assert_eq!((danger.severity, danger.typed), (Loss, None));
    let danger =
        danger_of("rm -rf ~", Path::new("/w"), None, &[PathBuf::from("/w")], &ProtectedPaths::default())
            .unwrap();
    assert_eq!(danger.severity, Unclear);
    let danger =
        danger_of("rm -rf .", Path::new("/w"), None, &[PathBuf::from("/w")], &ProtectedPaths::default())
            .unwrap();
    assert_eq!((danger.severity, danger.typed.as_deref()), (Total, Some("/w")));
}

#[test]
fn what_a_person_protects_is_protected_from_command_lines_too() {
    let own = ProtectedPaths::with(&["deploy/*.sh".into()], crate::ProgramDirs::default()).unwrap();
    let danger = |line: &str, protected: &ProtectedPaths| {
        danger_of(line, Path::new("/w"), None, &[PathBuf::from("/w")], protected)
    };
    for line in
        ["echo x > deploy/run.sh", "echo x | tee deploy/run.sh", "rm deploy/run.sh", "cp a deploy/run.sh"]
    {
        assert!(danger(line, &own).is_some(), "{line}");
        assert_eq!(danger(line, &ProtectedPaths::default()), None, "{line}");
    }
    assert_eq!(danger("echo x > deploy/notes", &own), None);
}
