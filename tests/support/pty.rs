//! The real binary in a pseudo-terminal: keys go in, an emulator shows what a person would see.

use super::terminal_answers::{TerminalAnswers, TerminalColors};
use super::wait::Deadline;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<Mutex<Seen>>,
    /// Kept for as long as the shell runs in it.
    home: TempDir,
    pub tree: TempDir,
}

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    closed: bool,
}

pub struct Start {
    size: (u16, u16),
    args: Vec<String>,
    variables: Vec<(String, String)>,
    files: Vec<(String, Vec<u8>)>,
    config: Option<String>,
    places: Option<(TempDir, TempDir)>,
    /// Where it runs, if that is not the tree.
    dir: Option<std::path::PathBuf>,
    /// Another program, which starts placet.
    program: Option<String>,
    /// The file that gets its standard output.
    output: Option<String>,
    colors: TerminalColors,
}

/// A shell in an empty home and an empty tree, 80x24, with the offline provider.
pub fn shell() -> Start {
    Start {
        size: (80, 24),
        args: Vec::new(),
        variables: Vec::new(),
        files: Vec::new(),
        config: None,
        places: None,
        dir: None,
        program: None,
        output: None,
        colors: TerminalColors::Untold,
    }
}

impl Start {
    pub fn size(mut self, columns: u16, rows: u16) -> Start {
        self.size = (columns, rows);
        self
    }

    pub fn arg(mut self, arg: &str) -> Start {
        self.args.push(arg.into());
        self
    }

    /// Starts another program, such as a shell in which placet is one job.
    pub fn program(mut self, name: &str) -> Start {
        self.program = Some(name.into());
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Start {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Start {
        self.files.push((path.into(), content.as_ref().into()));
        self
    }

    /// The person's settings file.
    pub fn config(mut self, text: &str) -> Start {
        self.config = Some(text.into());
        self
    }

    /// Its standard output goes to a file of the tree, and only its standard error to the terminal.
    pub fn output_to(mut self, file: &str) -> Start {
        self.output = Some(file.into());
        self
    }

    /// The terminal answers which colours it has.
    pub fn with_colors(mut self, answered: &[(&str, &str)]) -> Start {
        let owned = |(slot, value): &(&str, &str)| (slot.to_string(), value.to_string());
        self.colors = TerminalColors::Told(answered.iter().map(owned).collect());
        self
    }

    /// The terminal answers no question.
    pub fn mute(mut self) -> Start {
        self.colors = TerminalColors::Mute;
        self
    }

    /// In the home and the tree of a shell that was killed.
    pub fn after(mut self, killed: Pty) -> Start {
        self.places = Some(killed.kill());
        self
    }

    /// In a home, a tree and a directory that are there already.
    pub fn at(mut self, home: TempDir, tree: TempDir, dir: &Path) -> Start {
        self.places = Some((home, tree));
        self.dir = Some(dir.to_path_buf());
        self
    }

    /// In a tree that is there already.
    pub fn after_in(mut self, tree: TempDir) -> Start {
        self.places = Some((TempDir::new().unwrap(), tree));
        self
    }

    /// Starts it and waits for its prompt.
    pub fn open(self) -> Pty {
        let pty = self.spawn();
        pty.until("the prompt", |screen| screen.contains("placet ["));
        pty
    }

    pub fn spawn(self) -> Pty {
        let places = self.places.unwrap_or_else(|| (TempDir::new().unwrap(), TempDir::new().unwrap()));
        let (home, tree) = places;
        for (path, content) in &self.files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        if let Some(text) = &self.config {
            let dir = home.path().join(".config/placet");
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("config.toml"), text).unwrap();
        }
        let size = PtySize { rows: self.size.1, cols: self.size.0, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let placet = crate::support::program::placet();
        let mut command = match (&self.program, &self.output) {
            (Some(name), _) => CommandBuilder::new(name),
            (None, None) => CommandBuilder::new(placet),
            (None, Some(file)) => {
                let mut shell = CommandBuilder::new("/bin/sh");
                shell.args(["-c", &format!("exec \"$0\" \"$@\" > {file}")]);
                shell.arg(placet);
                shell
            }
        };
        command.env_clear();
        command.env("PATH", std::env::var("PATH").unwrap());
        command.env("HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.args(&self.args);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command.cwd(self.dir.as_deref().unwrap_or(tree.path()));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(self.size.1, self.size.0, 20_000);
        let seen = Arc::new(Mutex::new(Seen { parser, raw: Vec::new(), closed: false }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let (terminal, mut answers) = (Arc::clone(&writer), TerminalAnswers::new(self.colors));
        let sink = Arc::clone(&seen);
        std::thread::spawn(move || {
            let (mut buffer, mut unread) = ([0; 16 * 1024], Vec::new());
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                unread.extend_from_slice(&buffer[..read]);
                let whole = if read == 0 { unread.len() } else { whole_frames(&unread) };
                let mut seen = sink.lock().unwrap();
                let mut answered = String::new();
                for piece in answers.pieces(&unread[..whole]) {
                    seen.parser.process(&piece);
                    seen.raw.extend_from_slice(&piece);
                    let cursor = seen.parser.screen().cursor_position();
                    answered.extend(answers.take(&piece, cursor));
                }
                drop(seen);
                unread.drain(..whole);
                drop(terminal.lock().unwrap().write_all(answered.as_bytes()));
                if read == 0 {
                    break;
                }
            }
            sink.lock().unwrap().closed = true;
        });
        Pty { master: pair.master, writer, child, seen, home, tree }
    }
}

/// How many of these bytes a terminal would draw now: a frame between the marks of a synchronized update is drawn when it is
/// whole. A test that looked at a part of one took it for something else.
fn whole_frames(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let last = |mark: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark);
    match (last(BEGIN), last(END)) {
        (Some(begin), Some(end)) if end > begin => {}
        (Some(begin), _) => return begin,
        _ => {}
    }
    let cut = (1..BEGIN.len()).rev().find(|length| bytes.ends_with(&BEGIN[..*length]));
    bytes.len() - cut.unwrap_or(0)
}

/// The row of answers says so when an Enter takes the marked one, and that it will in a moment.
const ENTER_COUNTS: &str = "Enter answers";
const ENTER_WAITS: &str = "a moment";

/// The rows from the one above the marked answer to the words about Enter; empty where nothing is asked.
fn rows_of_answers(screen: &str) -> Vec<String> {
    let rows: Vec<&str> = screen.lines().collect();
    let says = |row: &&&str| row.contains(ENTER_COUNTS) || row.contains(ENTER_WAITS);
    let Some(end) = rows.iter().rposition(|row| says(&row)) else { return Vec::new() };
    let from = rows[..=end].iter().rposition(|row| row.contains('[')).unwrap_or(end);
    rows[from.saturating_sub(1)..=end].iter().map(|row| row.trim().to_string()).collect()
}

/// The marked answer is the one with this letter.
fn is_marked(screen: &str, letter: char) -> bool {
    let words = match letter {
        'a' => {
            &["Apply", "Yes, always", "Discard", "Stage", "Unstage", "Take", "Answer", "Write", "Finish"][..]
        }
        'A' => &["Apply, and", "Discard, and"],
        'b' => &["Back", "Keep"],
        'd' => &["Discard"],
        'g' => &["Continue"],
        'k' => &["Keep"],
        'm' => &["More"],
        'n' => &["No"],
        'o' => &["Output"],
        'p' => &["Patch", "List", "Yes, always"],
        'r' => &["Review"],
        's' => &["Send back", "Copy a message", "Stop"],
        't' => &["Run checks"],
        'v' => &["Never"],
        'w' => &["Why"],
        'y' => &["Yes", "Answer", "Send", "Sign"],
        _ => &[],
    };
    let answers = rows_of_answers(screen).join(" ");
    let marked = answers.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let is_told = |marked: &str| marked.contains(", and ");
    marked.filter(|marked| letter != 'a' || !is_told(marked)).any(|marked| {
        words.iter().any(|word| marked.starts_with(word))
            && (letter != 'y' || !marked.starts_with("Yes, always"))
    })
}

impl Pty {
    pub fn send(&mut self, keys: &str) {
        self.send_bytes(keys.as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(bytes).unwrap();
        writer.flush().unwrap();
    }

    /// A line as a person types it, and Enter once it stands on the screen.
    pub fn line(&mut self, text: &str) {
        self.send(text);
        let end: String = text.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
        self.until("the typed line", |screen| screen.replace('\n', "").contains(end.trim_end()));
        // An Enter that comes together with the text is a paste where a question is open.
        std::thread::sleep(Duration::from_millis(70));
        self.send("\r");
    }

    /// Keys as a hand types them, one by one: each once something came of the one before it, so that a program which
    /// is busy does not read two of them at once, as it reads a paste.
    pub fn by_hand(&mut self, keys: &str) {
        let mut keys = keys.chars().peekable();
        while let Some(key) = keys.next() {
            std::thread::sleep(Duration::from_millis(70));
            let before = self.seen.lock().unwrap().raw.len();
            self.send(key.encode_utf8(&mut [0; 4]));
            let sent = Instant::now();
            // Not every key is answered with a byte.
            while keys.peek().is_some()
                && self.seen.lock().unwrap().raw.len() == before
                && sent.elapsed() < Duration::from_secs(1)
            {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Takes the answer with this letter: marks it, waits until an Enter counts, presses Enter, and waits until that did
    /// something. Other keys are pressed by hand. In the review a letter is a command, but at its summary.
    pub fn answer(&mut self, keys: &str) {
        let letter = keys.chars().next().filter(|key| key.is_ascii_alphabetic());
        let Some(letter) = letter.filter(|_| keys.len() == 1) else {
            match self.has_answers() {
                true => self.until_answers_count(),
                // Where a line answers, nothing shows when the question has been there for half a second.
                false if !self.is_full_screen() => std::thread::sleep(Duration::from_millis(600)),
                false => {}
            }
            return self.by_hand(keys);
        };
        if self.is_full_screen() {
            // Its last row names the keys once they are taken.
            let names_keys = |s: &str| [" accept  ", "Esc back", "Esc end"].iter().any(|one| s.contains(one));
            self.until("the keys of the review", |s| !s.contains("hunk") || names_keys(s));
            if !self.has_answers() {
                return self.by_hand(keys);
            }
        } else {
            self.until("answers", |s| !rows_of_answers(s).is_empty());
        }
        if !is_marked(&self.screen(), letter) {
            let is_review = self.is_full_screen();
            self.send(&if is_review { letter.to_string() } else { format!("\x1b{letter}") });
            self.until("the mark", |s| is_marked(s, letter));
        }
        self.until_answers_count();
        let before = rows_of_answers(&self.screen());
        self.send("\r");
        self.until("what the answer does", |s| rows_of_answers(s) != before);
    }

    /// Types an answer and Enter where lines are read, until it counted: nothing shows from when on it does.
    pub fn answer_line(&mut self, answer: &str, what: &str, is_there: impl Fn(&str) -> bool) {
        let deadline = Deadline::start();
        while !is_there(&self.screen()) && !deadline.is_over() {
            self.by_hand(&format!("{answer}\r"));
            let typed = Instant::now();
            while !is_there(&self.screen()) && typed.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        self.until(what, is_there);
    }

    /// Waits until an Enter answers the question that is on the screen.
    pub fn until_answers_count(&self) {
        self.until("an Enter to count", |s| {
            rows_of_answers(s).last().is_some_and(|row| row.contains(ENTER_COUNTS))
        });
    }

    fn has_answers(&self) -> bool {
        !rows_of_answers(&self.screen()).is_empty()
    }

    fn is_full_screen(&self) -> bool {
        self.seen.lock().unwrap().parser.screen().alternate_screen()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Column and row of the cursor.
    pub fn cursor(&self) -> (u16, u16) {
        let (row, column) = self.seen.lock().unwrap().parser.screen().cursor_position();
        (column, row)
    }

    /// True where the cursor is not shown.
    pub fn hides_cursor(&self) -> bool {
        self.seen.lock().unwrap().parser.screen().hide_cursor()
    }

    /// Everything that stands in the scrollback and on the screen.
    pub fn transcript(&self) -> String {
        let mut seen = self.seen.lock().unwrap();
        let rows = usize::from(seen.parser.screen().size().0);
        let screen = seen.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let most = screen.scrollback();
        let mut out = Vec::new();
        let mut at = most;
        loop {
            screen.set_scrollback(at);
            let width = screen.size().1;
            let lines: Vec<String> = screen.rows(0, width).collect();
            let take = if at == 0 { rows } else { rows.min(at) };
            out.extend(lines.into_iter().take(take));
            if at == 0 {
                break;
            }
            at = at.saturating_sub(rows);
        }
        screen.set_scrollback(0);
        out.iter().map(|l| l.trim_end()).collect::<Vec<_>>().join("\n")
    }

    pub fn raw(&self) -> Vec<u8> {
        self.seen.lock().unwrap().raw.clone()
    }

    pub fn until(&self, what: &str, found: impl Fn(&str) -> bool) {
        let deadline = Deadline::start();
        loop {
            let screen = self.screen();
            if found(&screen) {
                return;
            }
            assert!(!deadline.is_over(), "waited for {what}; the screen shows:\n{screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the newest line is a prompt with nothing or `draft` typed in it.
    pub fn until_prompt(&self, draft: &str) {
        let end = format!("] > {draft}");
        self.until("a prompt", |screen| screen.trim_end().ends_with(end.trim_end()));
    }

    /// The same while `jobs` background commands run, which the prompt counts.
    pub fn until_prompt_with_jobs(&self, jobs: usize, draft: &str) {
        let end = format!("] &{jobs} > {draft}");
        self.until("a prompt", |screen| screen.trim_end().ends_with(end.trim_end()));
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.seen.lock().unwrap().parser.screen_mut().set_size(rows, columns);
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.process_id().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// The exit code once it has ended and everything it wrote was read.
    pub fn ended(&mut self) -> u32 {
        let deadline = Deadline::start();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The reader sees the end only after the last bytes, and begins to be late when the program has ended.
                let late = Deadline::start();
                while !self.seen.lock().unwrap().closed && !late.is_over() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                return status.exit_code();
            }
            assert!(!deadline.is_over(), "it did not end; the screen shows:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Echo, line editing and signals as a shell expects to find them.
    pub fn is_cooked(&self) -> bool {
        use rustix::termios::LocalModes;
        let modes = LocalModes::from_bits_retain(self.master.get_termios().unwrap().local_flags.bits());
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.tree.path().join(path).symlink_metadata().is_ok()
    }

    /// The modes of the emulator that a program may have left on, as words.
    pub fn modes_on(&self) -> Vec<&'static str> {
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        let on = [
            ("alternate screen", screen.alternate_screen()),
            ("application keypad", screen.application_keypad()),
            ("application cursor", screen.application_cursor()),
            ("hidden cursor", screen.hide_cursor()),
            ("bracketed paste", screen.bracketed_paste()),
            ("mouse", screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None),
            ("mouse encoding", screen.mouse_protocol_encoding() != vt100::MouseProtocolEncoding::Default),
            ("inverse", screen.inverse()),
            ("bold", screen.bold()),
        ];
        on.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect()
    }

    /// The screen with its colours and its cursor.
    pub fn picture(&self) -> String {
        let bytes = self.seen.lock().unwrap().parser.screen().contents_formatted();
        bytes.escape_ascii().to_string()
    }

    pub fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.tree.path().join(path)).unwrap()
    }
}

impl Pty {
    /// Ends it as `kill -9` does; its home and its tree stay.
    pub fn kill(mut self) -> (TempDir, TempDir) {
        drop(self.child.kill());
        drop(self.child.wait());
        let home = std::mem::replace(&mut self.home, TempDir::new().unwrap());
        let tree = std::mem::replace(&mut self.tree, TempDir::new().unwrap());
        (home, tree)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        drop(self.child.kill());
        super::program::forget_layers(&self.home.path().join(".local/state/placet"));
    }
}

/// The words of a screen on one line, wherever its rows end.
pub fn joined(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Waits for `what` and the prompt after it.
pub fn settled(pty: &mut Pty, what: &str) {
    pty.until(what, |screen| screen.contains(what));
    pty.until_prompt("");
}
