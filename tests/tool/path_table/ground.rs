//! The ground the path table is walked on: a workspace with every kind of file and link, and a canary beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// What must never be shown.
pub const CANARY: &str = "CANARY-OUTSIDE";

/// Names, with contents; `None` for what is no regular file.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Files of the workspace; each holds its own name.
pub const FILES: [&str; 16] = [
    "d/f",
    "d/sub/g",
    "D/F",
    "dot.",
    "space ",
    "a.txt:stream",
    "back\\slash",
    "new\nline",
    "esc\u{1b}[31m",
    "~file",
    "..foo",
    "...",
    "-dash",
    "e\u{301}.txt",
    "\u{e9}.txt",
    "sp ace",
];

/// What is held open while a spelling is tried.
pub struct Kept {
    pub inside: File,
    pub outside: File,
    _socket: UnixListener,
}

impl Kept {
    pub fn numbers(&self) -> (i32, i32) {
        (self.inside.as_raw_fd(), self.outside.as_raw_fd())
    }
}

/// What a file of the workspace holds: its name in letters that no surface escapes.
pub fn content_of(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let place = FILES.iter().position(|file| *file == name).map_or_else(String::new, |n| n.to_string());
    format!("inside-{plain}-{place}\n")
}

pub fn lay_out(root: &Path) -> Kept {
    let base = root.parent().unwrap();
    for name in FILES {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content_of(name)).unwrap();
    }
    std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
    std::fs::create_dir_all(root.join("empty-dir")).unwrap();
    std::fs::create_dir_all(base.join("outside/sub")).unwrap();
    std::fs::write(base.join("outside/secret"), format!("{CANARY}\n")).unwrap();
    std::fs::write(base.join("outside/sub/deep"), format!("{CANARY}\n")).unwrap();
    std::fs::write(base.join("work-twin"), format!("{CANARY}\n")).unwrap();
    std::fs::write(root.join("hard-one"), content_of("hard-one")).unwrap();
    std::fs::hard_link(root.join("hard-one"), root.join("hard-two")).unwrap();
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"bad\xff")), "not UTF-8 in its name\n").unwrap();
    links(root, base);
    crate::support::special::fifo(&root.join("fifo"));
    let socket = UnixListener::bind(root.join("socket")).unwrap();
    let open = |path| File::open(path).unwrap();
    Kept { inside: open(root.join("d/f")), outside: open(base.join("outside/secret")), _socket: socket }
}

fn links(root: &Path, base: &Path) {
    let text = |path: &Path| path.to_str().unwrap().to_string();
    let pairs: Vec<(&str, String)> = vec![
        ("l", "d/f".into()),
        ("l2", "l".into()),
        ("l3", "./l2".into()),
        ("absolute", text(&root.join("d/f"))),
        ("ld", "d".into()),
        ("ldd", "ld/sub".into()),
        ("slashes", "d//.///f".into()),
        ("out", "../outside".into()),
        ("out-absolute", text(&base.join("outside"))),
        ("out-chain", "out".into()),
        ("out-file", "../outside/secret".into()),
        ("out-by-d", "d/../../outside/secret".into()),
        ("dangling", "d/missing".into()),
        ("dangling-deep", "gone/deep/file".into()),
        ("dangling-out", "../outside/new".into()),
        ("dangling-proc", "/proc/self/root/placet-no-such-file".into()),
        ("loop-a", "loop-b".into()),
        ("loop-b", "loop-a".into()),
        ("self", "self".into()),
        ("self-below", "self-below/x".into()),
        ("up", "..".into()),
        ("root", "/".into()),
        ("zero", "/dev/zero".into()),
        ("stdin", "/dev/stdin".into()),
        ("proc-root", "/proc/self/root".into()),
        ("proc-cwd", "/proc/self/cwd".into()),
        ("to-fifo", "fifo".into()),
        ("tilde-link", "~/x".into()),
    ];
    for (name, target) in pairs {
        symlink(target, root.join(name)).unwrap();
    }
    symlink("../work", base.join("outside/back")).unwrap();
    symlink("work", base.join("alias")).unwrap();
    for number in 0..60 {
        let target = if number == 0 { "d/f".into() } else { format!("chain-{}", number - 1) };
        symlink(target, root.join(format!("chain-{number}"))).unwrap();
    }
}

/// Everything below a directory, links as what they say.
pub fn tree(dir: &Path) -> Tree {
    let mut out = Tree::new();
    walk(dir, dir, &mut out);
    out
}

/// Everything beside the workspace but placet's own state.
pub fn outside(base: &Path) -> Tree {
    let mut all = Tree::new();
    for entry in std::fs::read_dir(base).unwrap() {
        let entry = entry.unwrap();
        match entry.file_name().to_str() {
            Some("work" | "view-state") => {}
            _ => add(base, &entry, &mut all),
        }
    }
    all
}

fn walk(root: &Path, dir: &Path, out: &mut Tree) {
    for entry in std::fs::read_dir(dir).unwrap() {
        add(root, &entry.unwrap(), out);
    }
}

fn add(root: &Path, entry: &std::fs::DirEntry, out: &mut Tree) {
    let (path, kind) = (entry.path(), entry.file_type().unwrap());
    let content = if kind.is_file() {
        Some(std::fs::read(&path).unwrap())
    } else if kind.is_symlink() {
        Some(std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
    } else {
        None
    };
    if kind.is_dir() {
        walk(root, &path, out);
    }
    let name = path.strip_prefix(root).unwrap();
    // A name that is no UTF-8 must not look like one that is.
    let name =
        name.to_str().map_or_else(|| name.as_os_str().as_bytes().escape_ascii().to_string(), String::from);
    out.insert(name, content);
}
