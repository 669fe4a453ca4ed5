use super::*;
use std::path::Path;

fn at() -> ShellParseContext<'static> {
    ShellParseContext { cwd: Path::new("/w"), home: Some(Path::new("/home/me")) }
}

/// The leaves of a line, each as its words.
fn runs(line: &str) -> Vec<String> {
    let segments = parse(line, at()).unwrap_or_else(|e| panic!("{line}: {e}"));
    let all = segments.iter().flat_map(CommandSegment::all);
    all.filter(|s| s.inner.is_empty() && !s.words.is_empty()).map(CommandSegment::text).collect()
}

#[test]
fn every_command_of_a_line_is_found_wherever_it_stands() {
    let table: &[(&str, &[&str])] = &[
        ("a b  c", &["a b c"]),
        ("a; b && c || d & e | f |& g", &["a", "b", "c", "d", "e", "f", "g"]),
        ("! a\nb # c\nd", &["a", "b", "d"]),
        ("(a; b) > f; { c; }", &["a", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
        ("for x in 1 $(a) 2; do b $x; done", &["a", "b $x"]),
        ("for x; do a; done", &["a"]),
        ("case $x in a|b) c;; (*) d ;; esac", &["c", "d"]),
        ("f() { a; }; f", &["a", "f"]),
        ("function f { a; }", &["a"]),
        ("function f() ( a )", &["a"]),
        ("echo $(a $(b)) `c` \"$(d)\"", &["b", "a $(b)", "c", "d", "echo $(a $(b)) `c` $(d)"]),
        ("echo \"${x:-$(a)}\" ${y:+`b`}", &["a", "b", "echo ${x:-$(a)} ${y:+`b`}"]),
        ("diff <(a) >(b)", &["a", "b", "diff <(a) >(b)"]),
        ("x=$(a) y=`b`", &["a", "b"]),
        ("a <<E\n$(b) `c`\nE\nd", &["a", "b", "c", "d"]),
        ("a <<'E'\n$(b)\nE\nd", &["a", "d"]),
        ("a <<-E\n\t$(b)\n\tE\nd", &["a", "b", "d"]),
        ("a <<< \"$(b)\"", &["b", "a"]),
        ("[[ -f x && $(a) == b* ]] && c", &["a", "[[ -f x $(a) == b*", "c"]),
        ("time a; time -p b", &["a", "b"]),
        ("a 2>&1 &> f >&2 <&-", &["a"]),
        ("ec\\\nho 'a b' \"c\"'d' \\e", &["echo a b cd e"]),
        ("printf $'a\\nb\\x41\\101'", &["printf a\nbAA"]),
        ("echo $((1 + 2)) $(( (1) ))", &["echo $((1 + 2)) $(( (1) ))"]),
        ("echo $((a); b)", &["a", "b", "echo $((a); b)"]),
    ];
    for (line, expected) in table {
        assert_eq!(runs(line), *expected, "{line}");
    }
}

#[test]
fn wrappers_are_looked_through() {
    for line in [
        "env A=b -i -u X rm x",
        "timeout -k 1 5 rm x",
        "nice -n 5 nohup setsid stdbuf -oL rm x",
        "time rm x",
        "command rm x",
        "builtin exec -a n rm x",
        "sudo -u root A=b rm x",
        "doas rm x",
        "sh -c 'rm x'",
        "bash -euo pipefail -c 'rm x' name",
        "zsh -lc \"rm x\"",
        "eval rm x",
        "eval 'rm' x",
        "watch -n 1 rm x",
        "sh <<< 'rm x'",
        "bash <<E\nrm x\nE",
        "find . -exec rm x ;",
        "find . -name y -execdir rm x \\;",
        "git submodule foreach 'rm x'",
        "git rebase --exec 'rm x' main",
        "git -c alias.z='!rm x' z",
        "sudo sh -c 'env A=b timeout 3 rm x'",
        "trap 'rm x' EXIT",
        "alias z='rm x'",
        "env -S 'rm x'",
    ] {
        assert_eq!(runs(line), ["rm x"], "{line}");
    }
    assert_eq!(runs("a | xargs -n 1 rm x"), ["a", "rm x (standard input)"]);
    assert_eq!(runs("a | xargs -I % rm %/b"), ["a", "rm (standard input)/b"]);
    assert_eq!(runs("find . -exec rm {} +"), ["rm {}"]);
    assert_eq!(runs("command -v rm"), ["command -v rm"]);
    assert_eq!(runs("ssh host rm x"), ["rm x"]);
    assert_eq!(runs("sh -c \"$X\""), ["sh -c $X"]);
}

#[test]
fn the_directory_is_followed_and_a_failed_cd_is_counted_in() {
    let dirs = |line: &str| {
        let segments = parse(line, at()).unwrap();
        let mut found: Vec<&CommandSegment> = segments.iter().flat_map(CommandSegment::all).collect();
        found.retain(|s| s.program() == Some("x"));
        let last = found.pop().unwrap();
        last.dirs
            .clone()
            .map(|dirs| dirs.iter().map(|d| d.display().to_string()).collect::<Vec<_>>().join(" "))
    };
    let table = [
        ("x", Some("/w")),
        ("cd a && x", Some("/w/a")),
        ("cd a; x", Some("/w/a /w")),
        ("cd a || exit 1; x", Some("/w/a")),
        ("set -e; cd a; x", Some("/w/a")),
        ("cd a || x", Some("/w/a /w")),
        ("(cd a && b); x", Some("/w")),
        ("cd .. && x", Some("/")),
        ("cd && x", Some("/home/me")),
        ("cd ~/p && x", Some("/home/me/p")),
        ("cd $P && x", None),
        ("cd - && x", None),
        ("cd a && sh -c 'cd b && x'", Some("/w/a/b")),
        ("cd a && eval 'cd b' && x", Some("/w/a /w/a/b")),
        ("while a; do x; cd b; done", None),
        ("f() { cd b; }; x", None),
        ("f() { x; }", None),
        ("if a; then cd b; fi; x", Some("/w /w/b")),
        ("cd a | b; x", Some("/w")),
    ];
    for (line, expected) in table {
        let mut got = dirs(line);
        if let (Some(got), Some(expected)) = (&mut got, expected) {
            let sorted = |s: &str| {
                let mut parts: Vec<&str> = s.split(' ').collect();
                parts.sort_unstable();
                parts.join(" ")
            };
            assert_eq!(sorted(got), sorted(expected), "{line}");
        } else {
            assert_eq!(got.as_deref(), expected, "{line}");
        }
    }
}

#[test]
fn a_value_is_used_only_where_it_is_certain() {
    let last = |line: &str| {
        let segments = parse(line, at()).unwrap();
        let mut all = segments
            .iter()
            .flat_map(CommandSegment::all)
            .filter(|s| s.program() == Some("x"))
            .collect::<Vec<_>>();
        all.pop().unwrap().words.last().unwrap().text.clone()
    };
    let table = [
        ("x ~", Some("/home/me")),
        ("x ~/a", Some("/home/me/a")),
        ("x \"~\"", Some("~")),
        ("x ~you", None),
        ("x $HOME/a", Some("/home/me/a")),
        ("x \"${HOME}\"", Some("/home/me")),
        ("x '$HOME'", Some("$HOME")),
        ("x \\$HOME", Some("$HOME")),
        ("HOME=/; x $HOME", Some("/")),
        ("HOME=$Y; x $HOME", None),
        ("A=b; x $A", Some("b")),
        ("A='b c'; x $A", None),
        ("A='b c'; x \"$A\"", Some("b c")),
        ("A=b; A+=c; x $A", None),
        ("if y; then A=/; else A=b; fi; x $A", None),
        ("A=b; for i in 1 2; do x $A; A=/; done", None),
        ("A=b; read A; x $A", None),
        ("A=b; . ./f; x $A", None),
        ("A=b; f() { A=/; }; f; x $A", None),
        ("IFS=b; A=abc; x $A", None),
        ("x $UNSET/", None),
        ("x $(y)", None),
        ("x ${A%/*}", None),
        ("x a$", Some("a$")),
        ("x $PWD", Some("/w")),
        ("A=b; sh -c 'x $A'", None),
    ];
    for (line, expected) in table {
        assert_eq!(last(line).as_deref(), expected, "{line}");
    }
}

#[test]
fn what_cannot_be_read_for_certain_is_an_error() {
    for line in [
        "a=(1 2)",
        "a[0]=1",
        "((i++))",
        "for ((;;)); do a; done",
        "ls !(a)",
        "echo 'a",
        "echo \"a",
        "echo $(a",
        "(a",
        "{ a",
        "if a; then b",
        "a |",
        "a &&",
        "; a",
        "a ;; b",
        "case x in",
        "echo `a",
        "${a@P}",
        "a >",
        "fi",
        "a)",
        "coproc a",
        "env -Sx",
        "[[ a",
        "echo ${a",
        "<<",
        "while a; b; done",
        "f() {",
    ] {
        assert!(parse(line, at()).is_err(), "{line}");
    }
    for (open, close) in
        [("$(", ")"), ("(", ")"), ("{ ", "; }"), ("${a:-", "}"), ("\"$(", ")\""), ("if a; then ", "; fi")]
    {
        for depth in [100, 10_000] {
            let line = format!("echo {}a{}", open.repeat(depth), close.repeat(depth));
            let line = if open.starts_with(['(', '{', 'i']) { line.replacen("echo ", "", 1) } else { line };
            assert!(parse(&line, at()).is_err(), "{depth} {open}");
        }
    }
    assert_eq!(parse(&"a;".repeat(60_000), at()), Err(ShellParseError::Long));
}

#[test]
fn arithmetic_over_names_is_marked() {
    let opaque = |line: &str| parse(line, at()).unwrap().iter().any(|s| s.kind == SegmentKind::Opaque);
    for line in ["echo $((x))", "echo $(( $x ))", "[[ $x -eq 1 ]]", "echo ${a[i]}", "echo $((1 + $(a)))"] {
        assert!(opaque(line), "{line}");
    }
    for line in ["echo $((1 + 2))", "[[ -f x ]]", "[[ 1 -lt 2 ]]", "echo ${a[@]}", "echo ${a[0]}"] {
        assert!(!opaque(line), "{line}");
    }
}

proptest::proptest! {
    /// For every line the parser terminates with a result.
    #[test]
    fn any_text_is_read_without_a_fall(line in "[a-c $'\"`\\\\(){}<>|&;\n=*~#!\\[\\]-]{0,60}") {
        drop(parse(&line, at()));
    }
}

/// Lines that could cause repeated parsing; each must be parsed or refused at once.
#[test]
fn no_line_takes_long_to_read() {
    let started = std::time::Instant::now();
    for (part, times) in [
        ("$((", 30_000),
        ("$(( $(", 15_000),
        ("a <<E ", 16_000),
        ("`", 90_000),
        ("${a:-", 18_000),
        ("for a in b; do ", 6_000),
        ("while a=b; do c; done; ", 4_000),
        ("a[", 49_000),
        ("eval ", 19_000),
        ("sudo ", 19_000),
        ("f() { ", 15_000),
        ("case a in b) ", 7_000),
        ("<(", 49_000),
        ("a | ", 24_000),
        ("if a; then ", 9_000),
        ("\\", 99_000),
        ("{", 99_000),
        ("a() ", 24_000),
    ] {
        let before = started.elapsed();
        drop(parse(&part.repeat(times), at()));
        drop(parse(&format!("{}{}", part.repeat(12), ")".repeat(24)), at()));
        let took = started.elapsed() - before;
        // A guard against a line that never ends, not a measurement.
        assert!(took < std::time::Duration::from_secs(60), "{part}: {took:?}");
    }
}
