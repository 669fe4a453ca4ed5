//! Whole outputs of the binary: the command line, standard output, standard error and the exit code as one text, compared
//! with a snapshot in `tests/snapshots/outputs/`. A reader of a diff sees every change of wording.
//!
//! Update all of them, and read the difference in git before you commit it:
//!
//! ```sh
//! INSTA_UPDATE=always cargo test --test main -- outputs
//! ```

use super::binary::{Out, Place, Run};
use super::pty::{Pty, Start};
use regex::Regex;
use std::cell::RefCell;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A home without settings, and a project with `notes.txt` and `src/main.rs`.
pub struct Project {
    pub place: Place,
    names: Names,
}

impl Project {
    pub fn new() -> Project {
        let place = Place::new()
            .file("notes.txt", "one\ntwo\n")
            .file("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n");
        for (name, mode) in [("notes.txt", 0o644), ("src/main.rs", 0o644), ("src", 0o755)] {
            // Some outputs show the mode, which would be another one under another umask.
            std::fs::set_permissions(place.tree.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        let paths = vec![
            (place.tree.clone(), "[TREE]"),
            (place.home.clone(), "[HOME]"),
            (place.tree.parent().unwrap().into(), "[TEMP]"),
        ];
        Project { names: Names::new(paths), place }
    }

    /// With the offline provider in the settings: without it, every turn begins with a note that there is none.
    pub fn offline() -> Project {
        Project::new().config("provider = \"offline\"\n")
    }

    /// The user's settings.
    pub fn config(self, text: &str) -> Project {
        Project { place: self.place.config(text), names: self.names }
    }

    /// A file of the project.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Project {
        Project { place: self.place.file(name, content), names: self.names }
    }

    /// Runs `placet LINE` and returns everything that it printed. Single quotes keep words together, as in a POSIX shell.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        self.piped(line, "")
    }

    /// The same with `stdin` on standard input.
    #[track_caller]
    pub fn piped(&self, line: &str, stdin: &str) -> String {
        let out = self.start(line).stdin(stdin).go();
        self.names.stable(&shown(line, stdin, &out))
    }

    /// Prepares a case: the output is not of interest, the exit code is.
    #[track_caller]
    pub fn prepare(&self, line: &str, code: i32) {
        let out = self.start(line).go().code(code);
        // The session gets its number here, in the order of the runs.
        self.names.stable(&shown(line, "", &out));
    }

    /// The output as it is, for a test that needs a part of it.
    #[track_caller]
    pub fn out(&self, line: &str) -> Out {
        self.start(line).go()
    }

    fn start(&self, line: &str) -> Run {
        let run =
            self.place.placet(words(line)).env("TERM", "xterm").env("COLUMNS", "100").env("NO_COLOR", "1");
        // A time zone of the machine must not be seen in an output: the gate can set one.
        match std::env::var_os("TZ") {
            Some(zone) => run.env("TZ", zone),
            None => run,
        }
    }
}

fn shown(line: &str, stdin: &str, out: &Out) -> String {
    let mut text = format!("$ placet {line}\n");
    if !stdin.is_empty() {
        let _ = writeln!(text, "stdin:\n{}", stdin.trim_end());
        text.push_str("stdout:\n");
    }
    text.push_str(&ended(&out.stdout));
    if !out.stderr.is_empty() {
        let _ = write!(text, "stderr:\n{}", ended(&out.stderr));
    }
    let _ = writeln!(text, "exit {}", out.code);
    text
}

/// Text whose last line has an end, with a mark where it had none.
fn ended(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_string(),
        false => format!("{text}[no line end]\n"),
    }
}

fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => all.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    assert!(!quoted, "an open quote: {line}");
    all.extend(word);
    all
}

/// The shell in a pseudo-terminal, one command after the other.
pub struct Commands {
    pty: Pty,
    names: Names,
}

impl Commands {
    /// Wide enough that no path, long or short, moves the place where a line is broken.
    const COLUMNS: u16 = 260;

    pub fn open(start: Start) -> Commands {
        let start = start
            .size(Commands::COLUMNS, 60)
            .file("notes.txt", "one\ntwo\n")
            .file("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n")
            // An animation would draw over earlier rows.
            .arg("--set")
            .arg("ui.motion=none");
        let pty = start.open();
        let real = |path: &Path| std::fs::canonicalize(path).unwrap();
        let paths = vec![(real(pty.tree.path()), "[TREE]"), (real(pty.home()), "[HOME]")];
        pty.until_prompt("");
        Commands { pty, names: Names::new(paths) }
    }

    /// Types a command; what the terminal shows from its prompt to the next one.
    #[track_caller]
    pub fn run(&mut self, line: &str) -> String {
        self.shown_by(line, |pty| pty.line(line))
    }

    /// The same for a turn at whose end placet asks what becomes of its changes.
    #[track_caller]
    pub fn answering(&mut self, line: &str, key: &str) -> String {
        self.shown_by(line, |pty| {
            pty.line(line);
            // Keys count a moment after the question is on the screen.
            pty.until("the question", |s| s.contains("Keep pending") && !s.contains("a moment"));
            pty.answer(key);
        })
    }

    #[track_caller]
    fn shown_by(&mut self, line: &str, typed: impl Fn(&mut Pty)) -> String {
        let before = self.pty.transcript().trim_end().to_string();
        let prompt = before.lines().last().unwrap_or_default().to_string();
        typed(&mut self.pty);
        // The prompt has more between its mode and its `>` as soon as something is pending.
        self.pty.until("the next prompt", |screen| {
            let last = screen.trim_end().lines().last().unwrap_or_default();
            last.starts_with("◆ placet [") && last.ends_with(" >")
        });
        let after = self.pty.transcript();
        let new =
            after.strip_prefix(&before).unwrap_or_else(|| panic!("{line} drew over\n{before}\n{after}"));
        self.names.stable(&format!("{prompt}{}\n", new.trim_end()))
    }
}

/// What differs from run to run, and what is written in its place.
struct Names {
    paths: Vec<(PathBuf, &'static str)>,
    sessions: RefCell<Vec<String>>,
}

/// Pattern, replacement and reason.
const CHANGING: [(&str, &str, &str); 18] = [
    (
        r#""(prev|mac|preview_hash|names)":( ?)"[0-9a-f]+""#,
        r#""$1":$2"[HASH]""#,
        "hashes over paths and times",
    ),
    (
        r#""[0-9a-f]{24}/(\d+)""#,
        r#""[HASH]/$1""#,
        "transactions of a journal, whose name is a hash of a path",
    ),
    (r"\b1\d{12}\b", "[MILLISECONDS]", "points in time"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "[TIME]", "points in time, in any form"),
    (r"(?m)^(\d{4}-\d\d-\d\d)  ", "[DAY]  ", "the day of a row of `usage`"),
    (r#""day": "\d{4}-\d\d-\d\d""#, r#""day": "[DAY]""#, "the same as JSON"),
    (r"\b\d+\.\d s\b", "[SECONDS] s", "durations"),
    (r#""(uid|gid)": \d+"#, r#""$1": [ID]"#, "who runs the tests"),
    (r#""(input|output|bytes)":( ?)\d+"#, r#""$1":$2[COUNT]"#, "paths are counted, of any length"),
    (r"\b[\d.]+k? in, \d+ out\b", "[COUNT] in, [COUNT] out", "the same in a sentence"),
    (
        r"[\d.]+[kM]? of ([\d.]+[kM]) tokens, \d+%",
        "[COUNT] of $1 tokens, [PERCENT]",
        "the same in `/context`",
    ),
    (r"(?m)^  [█▒▓░▚▄▞▀·-]{20,}$", "  [BAR]", "the same as a bar"),
    (
        r"(?m)^  ([█▒▓░▚▄▞▀·-]) (.+?) {2,}[\d.]+[kM]? +\d+%",
        "  $1 $2  [COUNT]  [PERCENT]",
        "the same in its rows",
    ),
    (concat!("placet( +)", env!("CARGO_PKG_VERSION")), "placet$1[VERSION]", "every release has another one"),
    (r"\bsolo-\[MILLISECONDS\]-\d+\b", "solo-[ID]", "a process number"),
    (r"\brun-([\w.]+)-[0-9a-f]{8}\b", "run-$1-[DIRECTORY]", "a hash of the directory"),
    (r"(?m)(\[(?:TREE|HOME|TEMP)\][^\s]*) {2,}", "$1  ", "padding after a path of any length"),
    (r"(?m)[ \t]+$", "", "editors and git remove it from snapshots"),
];

impl Names {
    fn new(paths: Vec<(PathBuf, &'static str)>) -> Names {
        Names { paths, sessions: RefCell::default() }
    }

    fn stable(&self, text: &str) -> String {
        static CHANGING_NOW: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
            CHANGING.iter().map(|(pattern, put, _)| (Regex::new(pattern).unwrap(), *put)).collect()
        });
        let mut text = text.to_string();
        for (path, name) in &self.paths {
            text = text.replace(path.to_str().unwrap(), name);
        }
        for (pattern, put) in CHANGING_NOW.iter() {
            text = pattern.replace_all(&text, *put).into_owned();
        }
        self.number_sessions(text)
    }

    /// Sessions are numbered in the order in which they are first seen. A session id is 16 characters of Crockford's
    /// base 32, beginning with the time; `blame` shows the last eight of them.
    fn number_sessions(&self, mut text: String) -> String {
        static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b0[0-9a-hjkmnp-tv-z]{15}\b").unwrap());
        let mut sessions = self.sessions.borrow_mut();
        for id in ID.find_iter(&text) {
            if !sessions.iter().any(|known| known == id.as_str()) {
                sessions.push(id.as_str().to_string());
            }
        }
        for (k, id) in sessions.iter().enumerate() {
            text = text.replace(id, &format!("[SESSION {}]", k + 1));
            text = text.replace(&id[8..], &format!("[SESSION {}, SHORT]", k + 1));
        }
        text
    }
}

/// Compares `text` with the snapshot `GROUP__NAME.snap`.
#[track_caller]
pub fn snapshot(group: &str, name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots/outputs",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(format!("{group}__{name}"), text);
    });
}

/// Runs the lines in their order in one project, a snapshot each.
#[track_caller]
pub fn snapshots(group: &str, project: &Project, cases: &[(&str, &str)]) {
    for (name, line) in cases {
        snapshot(group, name, &project.run(line));
    }
}
