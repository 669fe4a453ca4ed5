use super::*;
use placet_text::text::regular_file::make_pipe;
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

type CommandAct = Box<dyn FnOnce()>;

thread_local! {
    static ACTS: RefCell<Vec<(&'static str, CommandAct)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn moment(step: &'static str) {
    let act = ACTS.with_borrow_mut(|acts| {
        let index = acts.iter().position(|(at, _)| *at == step)?;
        Some(acts.remove(index).1)
    });
    if let Some(act) = act {
        act();
    }
}

/// What a program of the command does to a name.
#[derive(Clone, Copy, Debug)]
enum CommandWrite {
    InPlace(&'static str),
    Replaced(&'static str),
    Removed,
    Pipe,
    Large,
    Link,
    Directory,
}

fn write(path: &Path, what: CommandWrite) {
    let next = path.with_file_name("next");
    match what {
        CommandWrite::InPlace(text) => fs::write(path, text).unwrap(),
        CommandWrite::Replaced(text) => fs::write(&next, text).unwrap(),
        CommandWrite::Removed => fs::remove_file(path).unwrap(),
        CommandWrite::Pipe => make_pipe(&next),
        CommandWrite::Large => fs::File::create(&next).unwrap().set_len(LARGEST + 1).unwrap(),
        CommandWrite::Link => symlink("/etc/passwd", &next).unwrap(),
        CommandWrite::Directory => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
    }
    if next.symlink_metadata().is_ok() {
        fs::rename(&next, path).unwrap();
    }
}

/// What is there, in a word.
fn shown(path: &Path) -> String {
    let Ok(meta) = path.symlink_metadata() else { return "nothing".into() };
    match meta.file_type() {
        kind if kind.is_symlink() => "link".into(),
        kind if kind.is_dir() => "directory".into(),
        kind if kind.is_file() && meta.len() > LARGEST => "large".into(),
        kind if kind.is_file() => fs::read_to_string(path).unwrap(),
        _ => "pipe".into(),
    }
}

struct NameFixture {
    _temporary: tempfile::TempDir,
    path: PathBuf,
    dir: OwnedFd,
}

fn fixture(text: Option<&str>) -> NameFixture {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("f");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    let dir = fs::File::open(temporary.path()).unwrap().into();
    NameFixture { _temporary: temporary, path, dir }
}

impl NameFixture {
    fn name(&self) -> RunningName<'_> {
        RunningName { dir: &self.dir, name: OsStr::new("f"), staged: OsStr::new(".staged") }
    }

    fn acts(&self, acts: &[(&'static str, CommandWrite)]) {
        for &(step, what) in acts {
            let path = self.path.clone();
            ACTS.with_borrow_mut(|all| all.push((step, Box::new(move || write(&path, what)))));
        }
    }

    fn other_names(&self) -> usize {
        fs::read_dir(self.path.parent().unwrap())
            .unwrap()
            .filter(|e| e.as_ref().unwrap().file_name() != "f")
            .count()
    }
}

fn new_state() -> PathState {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "new").unwrap();
    PathState::read(fs::File::open(dir.path()).unwrap(), OsStr::new("f")).unwrap()
}

/// The command's newest content has the name in the end, whenever the command writes, and nothing else is left.
#[test]
fn what_the_command_writes_in_the_middle_keeps_its_name() {
    use CommandWrite::{Directory, InPlace, Large, Link, Pipe, Removed, Replaced};
    use NameOutcome::{Done, ItsOwn};
    type Case = (&'static [(&'static str, CommandWrite)], NameOutcome, &'static str);
    let replaced: &[Case] = &[
        (&[], Done, "new"),
        (&[("update staged", InPlace("x"))], ItsOwn, "x"),
        (&[("update staged", Replaced("x"))], ItsOwn, "x"),
        (&[("update staged", Replaced("x")), ("update exchanged", Replaced("y"))], ItsOwn, "y"),
        (&[("update staged", Replaced("x")), ("update exchanged", InPlace("y"))], ItsOwn, "y"),
        (
            &[
                ("update staged", Replaced("x")),
                ("update exchanged", Replaced("y")),
                ("update given back", Replaced("z")),
            ],
            ItsOwn,
            "z",
        ),
        (&[("update staged", Replaced("x")), ("update given back", Replaced("z"))], ItsOwn, "z"),
        // After the exchange it changes what it got.
        (&[("update exchanged", Replaced("y"))], Done, "y"),
        (&[("update staged", Replaced("x")), ("update exchanged", Removed)], ItsOwn, "x"),
        (&[("update staged", Pipe)], ItsOwn, "pipe"),
        (&[("update staged", Pipe), ("update exchanged", Pipe)], ItsOwn, "pipe"),
        (&[("update staged", Large)], ItsOwn, "large"),
        (&[("update staged", Large), ("update exchanged", Replaced("y"))], ItsOwn, "y"),
        (&[("update staged", Link)], ItsOwn, "link"),
        (&[("update staged", Directory)], ItsOwn, "directory"),
    ];
    let created: &[Case] = &[(&[], Done, "new"), (&[("update staged", InPlace("x"))], ItsOwn, "x")];
    let removed: &[Case] = &[
        (&[], Done, "nothing"),
        (&[("update staged", InPlace("x"))], ItsOwn, "x"),
        (&[("update staged", Pipe)], ItsOwn, "pipe"),
        (&[("update staged", Replaced("x")), ("update exchanged", InPlace("y"))], ItsOwn, "y"),
        (&[("update exchanged", InPlace("y"))], Done, "y"),
    ];
    for (kind, had, cases) in
        [("replaced", Some("old"), replaced), ("created", None, created), ("removed", Some("old"), removed)]
    {
        for (acts, outcome, left) in cases {
            let at = fixture(had);
            let (name, now) = (at.name(), new_state());
            let found = name.state().unwrap();
            let done = match kind {
                "removed" => {
                    at.acts(acts);
                    name.remove(&found)
                }
                _ => {
                    name.stage(&now, b"new").unwrap();
                    at.acts(acts);
                    name.put(&found, &now)
                }
            };
            assert_eq!((done.unwrap(), &*shown(&at.path)), (*outcome, *left), "{kind}: {acts:?}");
            assert_eq!(at.other_names(), 0, "{kind}: {acts:?}");
        }
    }
}

#[test]
fn an_error_before_anything_changed_leaves_nothing_staged() {
    let at = fixture(Some("old"));
    let (name, now) = (at.name(), new_state());
    let found = name.state().unwrap();
    name.stage(&now, b"new").unwrap();
    at.acts(&[("update staged", CommandWrite::Removed)]);
    assert!(name.put(&found, &now).is_err());
    assert_eq!((shown(&at.path).as_str(), at.other_names()), ("nothing", 0));
    // The content is checked as it is there.
    assert!(name.stage(&now, b"other").is_err());
    assert_eq!(at.other_names(), 0);
    // A name that is taken belongs to somebody else.
    fs::write(at.path.with_file_name(".staged"), "theirs").unwrap();
    assert!(name.stage(&now, b"new").is_err());
    assert_eq!(shown(&at.path.with_file_name(".staged")), "theirs");
}

/// Story: placet waited at a pipe, and read and changed a file elsewhere through a link.
#[test]
fn only_a_small_regular_file_is_opened_and_never_changed() {
    let at = fixture(Some("old"));
    write(&at.path, CommandWrite::Pipe);
    assert!(at.name().state().is_err());
    write(&at.path, CommandWrite::Large);
    assert_eq!(at.name().state().unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    write(&at.path, CommandWrite::Link);
    assert_eq!(at.name().state().unwrap(), PathState::Link { target: "/etc/passwd".into() });
    write(&at.path, CommandWrite::Replaced("secret"));
    fs::set_permissions(&at.path, fs::Permissions::from_mode(0o000)).unwrap();
    let is_read = at.name().state().is_ok();
    assert_eq!(is_read, rustix::process::geteuid().is_root());
    assert_eq!(at.path.metadata().unwrap().permissions().mode() & 0o7777, 0);
}

/// A path that is hidden from the command has a mount over it.
#[test]
fn a_name_with_a_mount_over_it_is_not_looked_at() {
    let top: OwnedFd = fs::File::open("/").unwrap().into();
    let name = RunningName { dir: &top, name: OsStr::new("proc"), staged: OsStr::new(".staged") };
    assert_eq!(name.state().unwrap_err().raw_os_error(), Some(Errno::XDEV.raw_os_error()));
}
