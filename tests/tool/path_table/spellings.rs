//! The table itself: a spelling, and what it must mean.

use super::ground::Kept;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// This file of the workspace.
    File(String),
    /// A file of the workspace that is not there: reading fails, writing makes exactly it.
    New(String),
    /// A directory of the workspace: never written as a file.
    Directory,
    /// Something outside: with nobody to ask, neither read nor written.
    Outside,
    /// No file at all: a loop, a name that cannot be, something that is not a regular file.
    Error,
    /// Inside and not there, but run by something later: writing asks, and nobody is there.
    Protected,
}

use Means::{Directory, Error, Outside, Protected};

/// Spellings that do not depend on where the workspace is, and the file of the workspace they mean.
const FILES: [(&str, &str); 34] = [
    ("d/f", "d/f"),
    ("./d/f", "d/f"),
    ("d//f", "d/f"),
    (".//./d/.//f", "d/f"),
    ("d/sub/../f", "d/f"),
    ("d/sub/../../d/f", "d/f"),
    ("d/../d/../d/f", "d/f"),
    ("../work/d/f", "d/f"),
    ("d/../../work/d/f", "d/f"),
    ("../alias/d/f", "d/f"),
    ("../outside/back/d/f", "d/f"),
    ("out/back/d/f", "d/f"),
    ("out/../work/d/f", "d/f"),
    ("up/work/d/f", "d/f"),
    ("l", "d/f"),
    ("l3", "d/f"),
    ("absolute", "d/f"),
    ("ld/f", "d/f"),
    ("ldd/g", "d/sub/g"),
    ("ldd/../f", "d/f"),
    ("slashes", "d/f"),
    ("chain-38", "d/f"),
    ("D/F", "D/F"),
    ("dot.", "dot."),
    ("space ", "space "),
    ("a.txt:stream", "a.txt:stream"),
    ("back\\slash", "back\\slash"),
    ("new\nline", "new\nline"),
    ("esc\u{1b}[31m", "esc\u{1b}[31m"),
    ("./~file", "~file"),
    ("..foo", "..foo"),
    ("...", "..."),
    ("-dash", "-dash"),
    ("sp ace", "sp ace"),
];

/// Spellings that are names of their own, however much they look like something else.
const NEW: [&str; 54] = [
    "new",
    "new dir/deep/file",
    "D/f",
    "d/F",
    "dot",
    "d/f.",
    "d/f..",
    "d/f ",
    " d/f",
    "space",
    "... ",
    "%2e%2e/outside/secret",
    "%2e%2e%2foutside%2fsecret",
    "..%2foutside%2fsecret",
    "%252e%252e/x",
    "..%c0%afoutside",
    "d%2ff",
    "d/f%00",
    "..\\outside\\secret",
    "d\\f",
    "C:\\Windows\\system32",
    "C:/x",
    "C:x",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "CON",
    "NUL",
    "d/AUX.txt",
    "COM1",
    "a.txt::$DATA",
    "\u{ff0e}\u{ff0e}/outside/secret",
    "\u{2024}\u{2024}/outside",
    "..\u{2215}outside",
    "d\u{200b}/f",
    "d/f\u{feff}",
    "\u{202e}f/d",
    "E\u{301}.txt",
    "bad\u{fffd}",
    "d/f\n",
    "d/f\r",
    "tab\tname",
    "bell\u{7}",
    "$HOME/x",
    "${PWD}/d/f",
    "$(id)",
    "`id`",
    "*",
    "d/*",
    "{d,D}/x",
    "'d/f'",
    "\"d/f\"",
    "--help",
    "..;/outside",
    "file:///etc/passwd",
];

const OUTSIDE: [&str; 47] = [
    "..",
    "../",
    "../outside/secret",
    "./../outside/secret",
    "d/../../outside/secret",
    "d/sub/../../../outside/secret",
    "..//outside///secret",
    "../work-twin",
    "../work/../work-twin",
    "../new",
    "../../../../../../../../../../etc/passwd",
    "out/secret",
    "out/sub/deep",
    "out/new",
    "out/new/deep",
    "out-absolute/secret",
    "out-chain/secret",
    "out-file",
    "out-by-d",
    "out",
    "ld/../../outside/secret",
    "up/outside/secret",
    "up",
    "root/etc/passwd",
    "dangling-out",
    "dangling-proc",
    "zero",
    "proc-root/etc/passwd",
    "proc-cwd/Cargo.toml",
    "/",
    "//",
    "/etc/passwd",
    "///etc//passwd",
    "/etc/../etc/passwd",
    "/dev/zero",
    "/dev/null",
    "/dev/full",
    "/dev/random",
    "/dev/tty",
    "/proc/self/environ",
    "/proc/self/mem",
    "/proc/self/cwd/Cargo.toml",
    "/proc/self/root/etc/passwd",
    "/proc/self/root/proc/self/root/etc/passwd",
    "/proc/1/root/etc/passwd",
    "/placet-no-such-directory/x",
    "~/placet-no-such-file",
];

const ERRORS: [&str; 20] = [
    "",
    "\0",
    "d/f\0",
    "d\0/f",
    "d/f\0.txt",
    "../outside/secret\0",
    "d/f/x",
    "d/f/..",
    "d/f/../f",
    "nowhere/../d/f",
    "loop-a",
    "loop-a/x",
    "self",
    "self-below",
    "chain-59",
    "fifo",
    "to-fifo",
    "socket",
    "~file",
    "~root/x",
];

const DIRECTORIES: [&str; 9] = [".", "./", "././.", "d", "d/", "d/.", "ld", "d/..", "empty-dir"];

const PROTECTED: [&str; 5] =
    [".git/hooks/pre-commit", "./d/../.git/hooks/new", ".git/config", ".envrc", "../work/.git/hooks/x"];

pub fn spellings(root: &Path, kept: &Kept) -> Vec<(String, Means)> {
    let mut table: Vec<(String, Means)> = Vec::new();
    let file = |name: &str| Means::File(name.into());
    table.extend(FILES.map(|(spelling, name)| (spelling.into(), file(name))));
    table.extend(["e\u{301}.txt", "\u{e9}.txt"].map(|name| (name.into(), file(name))));
    table.extend(["hard-one", "./hard-two"].map(|name| (name.into(), file("hard-one"))));
    table.extend(NEW.map(|name| (name.into(), Means::New(plain(name)))));
    table.push(("dangling".into(), Means::New("d/missing".into())));
    table.push(("dangling-deep".into(), Means::New("gone/deep/file".into())));
    table.push(("tilde-link".into(), Means::New("~/x".into())));
    for (names, means) in [
        (&OUTSIDE[..], Outside),
        (&ERRORS[..], Error),
        (&DIRECTORIES[..], Directory),
        (&PROTECTED[..], Protected),
    ] {
        table.extend(names.iter().map(|name| (name.to_string(), means.clone())));
    }
    absolute(root, kept, &mut table);
    long(&mut table);
    table
}

/// Without the slashes that say nothing.
fn plain(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Spellings that name the workspace's own directory.
fn absolute(root: &Path, kept: &Kept, table: &mut Vec<(String, Means)>) {
    let (root, base) = (root.to_str().unwrap(), root.parent().unwrap().to_str().unwrap());
    let (inside, outside) = kept.numbers();
    let file = || Means::File("d/f".into());
    table.extend([
        (format!("{root}/d/f"), file()),
        (format!("//{root}//d/./f"), file()),
        (format!("{root}/../work/d/f"), file()),
        (format!("{base}/alias/d/f"), file()),
        (format!("/proc/self/root{root}/d/f"), file()),
        (format!("/proc/thread-self/root{root}/d/f"), file()),
        (format!("/proc/self/fd/{inside}"), file()),
        (format!("/dev/fd/{inside}"), file()),
        (format!("/..{root}/d/f"), file()),
        (format!("{root}/new-absolute"), Means::New("new-absolute".into())),
        (format!("/proc/self/root{root}/new-by-proc"), Means::New("new-by-proc".into())),
        (root.to_string(), Directory),
        (format!("{root}-twin"), Outside),
        (format!("{root}/../outside/secret"), Outside),
        (format!("{base}/outside/secret"), Outside),
        (format!("/proc/self/root{base}/outside/secret"), Outside),
        (format!("/proc/self/fd/{outside}"), Outside),
        (format!("/dev/fd/{outside}"), Outside),
        (format!("proc-root{base}/outside/secret"), Outside),
        (format!("root{base}/outside/secret"), Outside),
        (format!("root{root}/d/f"), file()),
        (format!("file://{root}/d/f"), Means::New(format!("file:{root}/d/f"))),
    ]);
}

fn long(table: &mut Vec<(String, Means)>) {
    let name = |length: usize| "n".repeat(length);
    table.extend([
        (name(255), Means::New(name(255))),
        (name(256), Error),
        (format!("d/{}", name(4096)), Error),
        (name(100_000), Error),
        ("/".repeat(5000) + "etc/passwd", Outside),
        ("./".repeat(5000) + "d/f", Means::File("d/f".into())),
        ("d/../".repeat(2000) + "d/f", Means::File("d/f".into())),
        ("../".repeat(5000) + "etc/passwd", Outside),
        ("ld/../".repeat(50) + "d/f", Error),
        ("a/".repeat(3000) + "f", Error),
    ]);
}
