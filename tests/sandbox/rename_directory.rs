//! The rename of a directory that was there before the view, by every call that programs use, and attacks on it.
#![cfg(target_os = "linux")]

use crate::support::den::Den;
use crate::support::require::{has_view, require};
use placet::sandbox::SandboxSpec;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// `snapshot` is everything that a rename keeps; `say` prints the outcome of an attempt.
const PRELUDE: &str = r#"
import ctypes, errno, os, platform, stat, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def renameat2(a, b, flags=0, da=-100, db=-100):
    number = 316 if platform.machine() == "x86_64" else 276
    if libc.syscall(ctypes.c_long(number), da, a.encode(), db, b.encode(), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")
def snapshot(top):
    seen, first = {}, {}
    for at, dirs, files in os.walk(top):
        for name in ["."] + dirs + files:
            path = os.path.join(at, name)
            known = os.lstat(path)
            kind = stat.S_IFMT(known.st_mode)
            content = open(path, "rb").read() if kind == stat.S_IFREG else None
            if kind == stat.S_IFLNK: content = os.readlink(path)
            marks = {} if kind == stat.S_IFLNK else {key: os.getxattr(path, key) for key in os.listxattr(path)}
            key = os.path.relpath(path, top)
            same = first.setdefault((known.st_dev, known.st_ino), key) if kind != stat.S_IFDIR else key
            seen[key] = (known.st_mode, known.st_uid, known.st_gid, known.st_mtime_ns, content, marks, same)
    return seen
def say(name, work):
    try: work(); print(name, "done")
    except OSError as error: print(name, errno.errorcode[error.errno])
"#;

fn python(body: &str) -> String {
    format!("python3 - <<'PYTHON' 2>&1\n{PRELUDE}\n{body}\nPYTHON")
}

/// A workspace with `lib`, which has one of everything.
fn den() -> Option<Den> {
    if !has_view() || !require("python3") {
        return None;
    }
    let den = Den::new();
    den.write("lib/a.txt", "a\n");
    let sub = den.write("lib/sub/deep/b.txt", "b\n");
    std::fs::set_permissions(sub, std::fs::Permissions::from_mode(0o444)).unwrap();
    let lib = den.root.join("lib");
    std::fs::set_permissions(lib.join("sub"), std::fs::Permissions::from_mode(0o2750)).unwrap();
    std::fs::create_dir(lib.join("empty")).unwrap();
    std::fs::hard_link(lib.join("a.txt"), lib.join("sub/again.txt")).unwrap();
    symlink("../elsewhere", lib.join("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, lib.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    drop(std::os::unix::net::UnixListener::bind(lib.join("sock")).unwrap());
    let _ = rustix::fs::setxattr(lib.join("sub"), "user.mark", b"m", rustix::fs::XattrFlags::empty());
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
    for path in ["lib/sub/deep", "lib/sub", "lib/empty", "lib"] {
        std::fs::File::open(den.root.join(path)).unwrap().set_modified(long_ago).unwrap();
    }
    Some(den)
}

#[track_caller]
fn expect(den: &Den, spec: &SandboxSpec, body: &str, outcomes: &[(&str, &str)]) {
    let text = den.run(spec, &python(body)).done();
    let got: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(got, outcomes, "{text}");
}

#[test]
fn every_way_to_rename_keeps_everything_that_is_in_the_directory() {
    let Some(den) = den() else { return };
    let ways = [
        ("os.rename", "os.rename('lib', 'moved')"),
        ("os.renames below another", "os.mkdir('new'); os.rename('lib', 'new/moved')"),
        ("slashes", "os.rename('./lib/', 'moved/')"),
        ("absolute", "os.rename(os.path.abspath('lib'), os.path.abspath('moved'))"),
        ("from inside", "os.chdir('lib/sub'); os.rename('../../lib', '../../moved'); os.chdir(root)"),
        ("no replacing", "renameat2('lib', 'moved', 1)"),
        ("onto an empty one", "os.mkdir('moved'); os.rename('lib', 'moved')"),
        (
            "by descriptors",
            "here = os.open('.', os.O_PATH); os.rename('lib', 'moved', src_dir_fd=here, dst_dir_fd=here)",
        ),
        ("through a link", "os.symlink('.', 'way'); os.rename('way/lib', 'way/moved')"),
        (
            "from a thread",
            "one = threading.Thread(target=os.rename, args=('lib', 'moved')); one.start(); one.join()",
        ),
        ("twice", "os.rename('lib', 'other'); os.rename('other', 'moved')"),
        ("mv", "subprocess.run(['mv', 'lib', 'moved'], check=True)"),
    ];
    for (name, way) in ways {
        let spec = den.spec();
        let body = format!(
            "root = os.getcwd()\nbefore = snapshot('lib')\n{way}\n\
             to = 'new/moved' if os.path.exists('new') else 'moved'\n\
             after = snapshot(to)\n\
             for key in before.keys() | after.keys():\n    \
                 if before.get(key) != after.get(key): print(key, before.get(key), after.get(key))\n\
             print('gone', os.path.lexists('lib'))"
        );
        assert_eq!(den.run(&spec, &python(&body)).done(), "gone False\n", "{name}");
    }
    if require("node") {
        let line = "node -e 'require(\"fs\").renameSync(\"lib\", \"moved\")' && cat moved/sub/deep/b.txt";
        assert_eq!(den.run(&den.spec(), line).done(), "b\n");
    }
    assert!(den.root.join("lib/a.txt").exists() && !den.root.join("moved").exists(), "nothing is applied");
}

#[test]
fn git_moves_a_committed_directory() {
    if !has_view() || !require("git") {
        return;
    }
    let den = Den::new();
    den.write("lib/sub/code", "code\n");
    let git = "git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main";
    let setup = format!("cd {} && {git} init -q && git add . && {git} commit -qm first", den.root.display());
    assert!(std::process::Command::new("sh").args(["-c", &setup]).status().unwrap().success());
    let line = format!("git mv lib lib2 && git status --short && {git} commit -qm second && git ls-files");
    assert_eq!(den.run(&den.spec(), &line).done(), "R  lib/sub/code -> lib2/sub/code\nlib2/sub/code\n");
}

#[test]
fn what_rename_refuses_is_refused_with_its_error() {
    let Some(den) = den() else { return };
    den.write("full/file", "full\n");
    den.write("file", "file\n");
    den.write("locked/inner/file", "inner\n");
    symlink("lib", den.root.join("alias")).unwrap();
    std::fs::set_permissions(den.root.join("locked"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let body = r#"
def other_user(work):
    # Root has every right over files: another user of the view tries it, and this one has other rights than process 1.
    if os.geteuid() != 0: return work()
    got = os.fork()
    if got == 0:
        try: os.setresuid(65534, 65534, 65534); work(); os._exit(0)
        except OSError as error: os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(got, 0)[1])
    if code: raise OSError(code, "other user")
say("itself", lambda: os.rename("lib", "lib/sub/lib"))
say("parent", lambda: os.rename("lib/sub", "lib"))
say("full", lambda: os.rename("lib", "full"))
say("file", lambda: os.rename("lib", "file"))
say("file-slash", lambda: os.rename("file", "made/"))
say("dot", lambda: os.rename("lib/.", "moved"))
say("missing", lambda: os.rename("lib", "no/moved"))
say("noreplace", lambda: renameat2("lib", "full", 1))
say("exchange", lambda: renameat2("lib", "full", 2))
say("both", lambda: renameat2("lib", "moved", 3))
say("locked", lambda: other_user(lambda: os.rename("locked/inner", "locked/moved")))
say("bad-descriptor", lambda: renameat2("lib", "moved", 0, 77, 77))
say("bad-address", lambda: os.rename("lib" + "/x" * 3000, "moved"))
say("own-process", lambda: os.rename("/proc/self/cwd/lib", "moved"))
say("elsewhere", lambda: os.rename("lib", "/tmp/lib"))
say("alias", lambda: os.rename("alias", "alias2"))
print("kept", os.path.islink("alias2") and os.path.exists("lib/sub/deep/b.txt") and os.listdir("full") == ["file"])
"#;
    let outcomes = [
        ("itself", "EINVAL"),
        ("parent", "ENOTEMPTY"),
        ("full", "ENOTEMPTY"),
        ("file", "ENOTDIR"),
        ("file-slash", "ENOTDIR"),
        ("dot", "EBUSY"),
        ("missing", "ENOENT"),
        ("noreplace", "EEXIST"),
        ("exchange", "EXDEV"),
        ("both", "EINVAL"),
        ("locked", "EACCES"),
        ("bad-descriptor", "EBADF"),
        ("bad-address", "ENAMETOOLONG"),
        ("own-process", "EXDEV"),
        ("elsewhere", "EXDEV"),
        ("alias", "done"),
        ("kept", "True"),
    ];
    expect(&den, &den.spec(), body, &outcomes);
}

/// A masked file must not come along, a directory must not be larger than what a call may wait for, and a program that has
/// restricted itself gets no right back.
#[test]
fn what_is_not_moved_stays_whole() {
    let Some(den) = den() else { return };
    let secret = den.write("lib/sub/secret", "s3cret\n");
    let outcome = |spec: &SandboxSpec, first: &str| {
        let body = format!("{first}\nsay('rename', lambda: os.rename('lib', 'moved'))");
        let ran = den.run(
            spec,
            &python(&format!("{body}\nprint(sorted(os.listdir('lib')) if os.path.exists('lib') else 0, os.path.exists('moved'))")),
        );
        ran.done()
    };
    let whole = "['a.txt', 'empty', 'link', 'pipe', 'sock', 'sub'] False\n";
    let masked = SandboxSpec { masked: vec![secret], ..den.spec() };
    assert_eq!(outcome(&masked, ""), format!("rename EXDEV\n{whole}"));
    std::fs::remove_file(den.root.join("lib/sub/secret")).unwrap();
    let restrict = r#"
class Rules(ctypes.Structure): _fields_ = [("fs", ctypes.c_uint64)]
rules = Rules(1)
made = libc.syscall(ctypes.c_long(444), ctypes.byref(rules), ctypes.c_size_t(8), 0)
if made < 0 or libc.syscall(ctypes.c_long(446), made, 0) < 0: print("no landlock")
"#;
    let restricted = outcome(&den.spec(), restrict);
    assert!(
        restricted == format!("rename EXDEV\n{whole}") || restricted.starts_with("no landlock"),
        "{restricted}"
    );
    let deep = "path = 'lib/sub'\nfor n in range(120): path += '/d'; os.mkdir(path)";
    assert_eq!(outcome(&den.spec(), deep), format!("rename EXDEV\n{whole}"));
    let large = std::fs::File::create(den.root.join("lib/empty/large")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    assert_eq!(outcome(&den.spec(), ""), format!("rename EXDEV\n{whole}"));
    large.set_len(1 << 29).unwrap();
    assert_eq!(outcome(&den.spec(), "").lines().next(), Some("rename done"));
}

/// Threads that change the path and the directory while the call waits: whatever is renamed, the command could rename it
/// by itself, nothing is lost, and nothing outside is touched.
#[test]
fn whoever_changes_paths_meanwhile_gains_nothing() {
    let Some(den) = den() else { return };
    let outside = den.base.join("outside");
    std::fs::create_dir_all(outside.join("sub")).unwrap();
    std::fs::write(outside.join("sub/theirs"), "theirs\n").unwrap();
    for number in 0..40 {
        den.write(&format!("tree/d{number}/file"), &format!("content {number}\n"));
    }
    let body = format!(
        r#"
outside, stop = {:?}, False
path = ctypes.create_string_buffer(b"tree", 300)
target = ctypes.create_string_buffer(b"moved", 300)
def flip():
    while not stop:
        for one in [b"tree", outside.encode(), b"trap", b"moved", b"../outside/sub"]:
            path.value = one; target.value = b"moved" if one != b"moved" else b"tree"
def swap():
    os.symlink(outside, "trap")
    while not stop:
        for pair in [("tree", "trap"), ("moved", "trap"), ("trap", "tree")]:
            try: renameat2(*pair, 2)
            except OSError: pass
threads = [threading.Thread(target=one) for one in (flip, swap)]
for one in threads: one.start()
for n in range(200): libc.rename(path, target)
stop = True
for one in threads: one.join()
found = sorted(open(os.path.join(at, name)).read() for at, _, names in os.walk(".") for name in names
               if name == "file")
print("files", found == sorted("content %d\n" % n for n in range(40)))
"#,
        outside.to_str().unwrap()
    );
    expect(&den, &den.spec(), &body, &[("files", "True")]);
    assert_eq!(std::fs::read_to_string(outside.join("sub/theirs")).unwrap(), "theirs\n");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

/// The caller's death: what it waited for is not half done in a layer that is shown as a change.
#[test]
fn a_caller_that_dies_leaves_each_file_once() {
    let Some(den) = den() else { return };
    for number in 0..1000 {
        den.write(&format!("tree/d{}/f{number}", number % 10), &number.to_string());
    }
    let body = r#"
import signal
counts = set()
for n in range(4):
    child = subprocess.Popen([sys.executable, "-c", "import os; os.rename('tree', 'moved')"])
    # Wait for what can be seen: the target appears when the first directory is moved.
    while child.poll() is None and not os.path.exists("moved"): pass
    child.send_signal(signal.SIGKILL); child.wait()
    # The next rename is answered after the one that was stopped.
    open("x", "w").close(); os.rename("x", "y")
    counts.add(sum(len(names) for top in ("tree", "moved") for _, _, names in os.walk(top)))
    if os.path.exists("moved") and not os.path.exists("tree"): os.rename("moved", "tree")
print("each", counts == {1000}, not (os.path.exists("tree") and os.path.exists("moved")))
"#;
    expect(&den, &den.spec(), body, &[("each", "True True")]);
}

/// Other renames, and the end of the command, do not depend on what was asked for before.
#[test]
fn a_hundred_threads_rename_files_and_directories_at_the_same_time() {
    let Some(den) = den() else { return };
    for number in 0..100 {
        den.write(&format!("d{number}/file"), "x");
        den.write(&format!("f{number}"), "x");
    }
    let body = r#"
def work(n): os.rename(f"d{n}", f"e{n}"); os.rename(f"f{n}", f"e{n}/other"); os.rename(f"e{n}", f"g{n}")
threads = [threading.Thread(target=work, args=(n,)) for n in range(100)]
for one in threads: one.start()
for one in threads: one.join()
print("all", all(sorted(os.listdir(f"g{n}")) == ["file", "other"] for n in range(100)))
"#;
    expect(&den, &den.spec(), body, &[("all", "True")]);
    assert_eq!(std::fs::symlink_metadata(den.root.join("d0/file")).unwrap().nlink(), 1);
    assert!(Path::new(&den.root.join("f0")).exists());
}
