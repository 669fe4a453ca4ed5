//! Runs the examples of a guide page and compares what is printed with what the page shows.
//!
//! A page is a story: its blocks run in their order, in one home and one directory. A block with lines `$ COMMAND` runs
//! them, and what follows each must be all that the command prints. A block with lines `◆ placet [a] > LINE` types them
//! into a shell; its lines must be on the screen or in the scrollback. What a reader need not see is in a comment before
//! the block:
//!
//! ```text
//! <!-- run
//! new                      another home and another directory
//! file PATH "TEXT"         writes a file of the directory; the text is a JSON string
//! home PATH "TEXT"         the same below the home
//! do                       runs the commands of the next block, up to `placet`, and stays in its directory
//! sh COMMAND               runs it; its output counts as what the next block shows
//! shell ARGS               opens the shell at a terminal
//! terminal [ARGS]          runs placet with these arguments, a JSON list, at a terminal
//! line TEXT                types a line; waits for the prompt or a question
//! line_open TEXT           types a line that opens a screen
//! line_end TEXT            types a line that ends the shell
//! type "KEYS"              sends keys
//! key KEYS                 answers a question
//! wait TEXT                waits until the screen shows it
//! close                    ends the shell
//! shown                    the block shows what the hidden lines printed, not what its own commands print
//! keep                     the commands of the block run while the shell is open
//! -->
//! ```
//!
//! In a block, `...` alone in a line means any lines, and in a line any text. Times, hashes, numbers of tokens, IDs and
//! temporary directories differ from run to run; they are compared as words of their own.

use super::pty::{Pty, shell};
use regex::Regex;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Python takes the bytecode of a file that changed within the same second, and kept its size, for that of the new one.
const NO_BYTECODE: (&str, &str) = ("PYTHONDONTWRITEBYTECODE", "1");

/// How long the rest of a frame may take on a busy machine.
const WHOLE_FRAME: Duration = Duration::from_secs(5);

pub struct GuideRun {
    home: PathBuf,
    dir: PathBuf,
    /// Its directories, while no shell has them.
    places: Option<(TempDir, TempDir)>,
    shell: Option<Pty>,
    /// What the last hidden command printed.
    printed: String,
    failures: String,
    pub blocks: usize,
    bin: TempDir,
}

// A letter after `f` tells it from the short name of a commit.
const SESSION: &str = r"\b06[0-9a-f]{0,13}[g-z][0-9a-z]{0,13}\b";

/// Lines that a page leaves out: blank ones, the fences around a result, and what every first start says.
const LEFT_OUT: [&str; 3] = ["", "```", "note: no provider is configured"];

/// A block of a page with the hidden lines before it.
pub struct Block {
    pub line: usize,
    pub language: String,
    pub hidden: Vec<String>,
    pub text: Vec<String>,
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut hidden = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.trim() == "<!-- run" {
            let rest = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "-->");
            hidden.extend(rest.map(String::from));
        } else if let Some(language) = line.strip_prefix("```") {
            let text = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let text = text.map(String::from).collect();
            let hidden = std::mem::take(&mut hidden);
            out.push(Block { line: at + 1, language: language.into(), hidden, text });
        }
    }
    out
}

impl GuideRun {
    pub fn new() -> GuideRun {
        let bin = TempDir::new().unwrap();
        let link = |program, name| std::os::unix::fs::symlink(program, bin.path().join(name)).unwrap();
        link(super::program::placet(), "placet");
        // Only the debug build has the points at which `PLACET_CRASH_AT` ends it.
        link(env!("CARGO_BIN_EXE_placet"), "placet-that-crashes");
        let mut run = GuideRun {
            home: PathBuf::new(),
            dir: PathBuf::new(),
            places: None,
            shell: None,
            printed: String::new(),
            failures: String::new(),
            blocks: 0,
            bin,
        };
        run.renew();
        run
    }

    fn renew(&mut self) {
        self.shell = None;
        let (home, tree) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        self.home = std::fs::canonicalize(home.path()).unwrap();
        self.dir = self.home.join("demo");
        std::fs::create_dir(&self.dir).unwrap();
        self.places = Some((home, tree));
    }

    /// Runs a page and says which blocks are not what is printed.
    pub fn page(mut self, text: &str) -> (usize, String) {
        for block in blocks(text) {
            // One block that waits in vain must not hide what is wrong with the others.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.step(&block)));
            if let Err(panic) = done {
                let reason = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                let _ = write!(self.failures, "== line {}: {reason}\n\n", block.line);
            }
        }
        (self.blocks, self.failures)
    }

    fn step(&mut self, block: &Block) {
        for at in 0..block.hidden.len() {
            self.hidden(block, at);
        }
        if ["text", "console"].contains(&block.language.as_str()) {
            self.blocks += 1;
            self.block(block);
        }
    }

    fn hidden(&mut self, block: &Block, at: usize) {
        let line = block.hidden[at].trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" => {}
            "new" => self.renew(),
            "file" | "home" => {
                let (path, text) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}: PATH \"TEXT\""));
                let text: String = serde_json::from_str(text).unwrap_or_else(|e| panic!("{line}: {e}"));
                let path = if word == "home" { self.home.join(path) } else { self.dir.join(path) };
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            "do" => {
                let commands: Vec<&str> =
                    block.text.iter().map(String::as_str).filter(|l| *l != "placet").collect();
                self.dir = self.home.clone();
                let out = self.command(&format!("{}\npwd", commands.join("\n")));
                self.dir = PathBuf::from(out.lines().last().unwrap());
            }
            "sh" => self.printed = self.command(rest),
            "shell" => self.open(rest),
            "terminal" => {
                let words: Vec<String> = serde_json::from_str(rest).unwrap_or_else(|e| panic!("{line}: {e}"));
                self.close();
                let (home, tree) = self.places.take().unwrap();
                let start = words
                    .iter()
                    .fold(shell().variable(NO_BYTECODE.0, NO_BYTECODE.1).size(160, 50), |start, word| {
                        start.arg(word)
                    });
                self.shell = Some(start.at(home, tree, &self.dir).spawn());
            }
            "line" => self.line(rest),
            "line_open" => {
                self.pty().until("a prompt to type at", is_prompt);
                self.pty().line(rest);
            }
            "line_end" => {
                self.pty().until("a prompt to type at", is_prompt);
                self.pty().line(rest);
                self.pty().ended();
            }
            "type" => {
                let keys: String = serde_json::from_str(rest).unwrap_or_else(|e| panic!("{line}: {e}"));
                self.pty().send(&keys);
            }
            "key" => self.pty().answer(&rest.replace("\\r", "\r")),
            "wait" => self.pty().until(rest, |screen| squeezed(screen).contains(&squeezed(rest))),
            "close" => self.close(),
            "keep" | "shown" => {}
            other => panic!("line {}: `{other}` is not a word of a run", block.line),
        }
    }

    fn pty(&mut self) -> &mut Pty {
        self.shell.as_mut().expect("a shell is open")
    }

    fn open(&mut self, args: &str) {
        self.close();
        let (home, tree) = self.places.take().unwrap();
        // A menu below the line would hide that the line is still being typed.
        let plain =
            shell().variable(NO_BYTECODE.0, NO_BYTECODE.1).size(160, 50).arg("--set").arg("ui.menus=tab");
        let start = args.split_whitespace().fold(plain, |start, arg| start.arg(arg));
        self.shell = Some(start.at(home, tree, &self.dir).open());
    }

    fn close(&mut self) {
        if let Some(shell) = self.shell.take() {
            self.places = Some(shell.kill());
        }
    }

    fn line(&mut self, text: &str) {
        let pty = self.pty();
        pty.until("a prompt to type at", is_prompt);
        pty.line(text);
        pty.until("the end of the line", |screen| {
            let typed = screen
                .lines()
                .last()
                .is_some_and(|last| last.contains("] > ") && !last.trim_end().ends_with("] >"));
            !typed && (is_prompt(screen) || is_question(screen))
        });
    }

    fn block(&mut self, block: &Block) {
        let is_shown = |line: &String| line.starts_with("terminal ") || line == "shown";
        if !block.hidden.iter().any(is_shown) && block.text.iter().any(|line| line.starts_with("$ ")) {
            if !block.hidden.iter().any(|line| line == "keep") {
                self.close();
            }
            return self.commands(block);
        }
        let typed: Vec<(String, String)> = block.text.iter().filter_map(|line| typed(line)).collect();
        let hidden: Vec<&str> = block.hidden.iter().filter_map(|line| line.strip_prefix("line ")).collect();
        let typed: Vec<(String, String)> = typed
            .into_iter()
            .filter(|(_, line)| !line.is_empty() && !hidden.contains(&line.as_str()))
            .collect();
        if !typed.is_empty() {
            if self.shell.is_none() {
                let mode = match typed[0].0.as_str() {
                    "r" => "read",
                    "w" => "write",
                    "u" => "unrestricted",
                    _ => "ask",
                };
                self.open(&format!("--mode {mode}"));
            }
            for (_, line) in &typed {
                self.line(line);
            }
        }
        let mut expected = vec!["...".to_string()];
        let text = block.text.iter().filter(|line| !line.starts_with("$ "));
        expected.extend(text.map(|line| line.split("   # ").next().unwrap_or(line).to_string()));
        expected.push("...".into());
        let shown = match &self.shell {
            Some(pty) => self.settled(pty, &expected),
            None => self.printed.clone(),
        };
        self.compare(block, &expected, &shown);
    }

    /// What the terminal shows once it is as `expected`, or after some seconds: a frame may have arrived in part.
    fn settled(&self, pty: &Pty, expected: &[String]) -> String {
        let started = Instant::now();
        loop {
            let shown = pty.transcript();
            if self.is_printed(expected, &shown) || started.elapsed() > WHOLE_FRAME {
                return shown;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn commands(&mut self, block: &Block) {
        let mut code = 0;
        let mut lines = block.text.iter().peekable();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else {
                panic!("line {}: `{line}` is before the first command", block.line);
            };
            let mut expected = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                expected.push(line.clone());
            }
            let command = self.with_session(command);
            let shown = self.command(&format!("(exit {code}); {command}"));
            code = shown
                .lines()
                .last()
                .and_then(|l| l.strip_prefix("exit "))
                .and_then(|c| c.parse().ok())
                .unwrap_or(0);
            let shown: Vec<&str> = shown.lines().collect();
            let shown = shown[..shown.len() - 1].join("\n");
            self.compare(block, &expected, &shown);
        }
    }

    /// The newest session instead of the one that the page names.
    fn with_session(&mut self, command: &str) -> String {
        let named = Regex::new(SESSION).unwrap();
        if !named.is_match(command) {
            return command.into();
        }
        let list = self.command("placet session list --all");
        let newest = named.find(&list).map_or_else(String::new, |found| found.as_str().to_string());
        named.replace_all(command, newest.as_str()).into_owned()
    }

    /// What a command prints, and in the last line its exit code.
    fn command(&mut self, command: &str) -> String {
        let path = format!("{}:{}", self.bin.path().display(), std::env::var("PATH").unwrap());
        let script = format!("exec 2>&1\n{command}\necho \"exit $?\"");
        let script = if command.ends_with("\npwd") { format!("exec 2>&1\n{command}") } else { script };
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(script)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("TERM", "xterm")
            .env(NO_BYTECODE.0, NO_BYTECODE.1);
        let out = shell.current_dir(&self.dir).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn is_printed(&self, expected: &[String], shown: &str) -> bool {
        let shown = self.as_on_the_page(shown);
        let lines = |text: &str| -> Vec<String> {
            // A terminal has the mark before lines of placet's own, a pipe has not.
            let lines = text.lines().map(|line| plain(line.strip_prefix("◆ ").unwrap_or(line)));
            lines
                .filter(|line| {
                    // The rule above a question is as wide as the terminal.
                    let is_rule = line.len() > 3 && line.chars().all(|c| c == '─');
                    !is_rule
                        && !LEFT_OUT.iter().any(|start| {
                            line.trim() == *start || !start.is_empty() && line.trim().starts_with(start)
                        })
                })
                .collect()
        };
        matches(&lines(&expected.join("\n")), &lines(&shown))
    }

    fn as_on_the_page(&self, shown: &str) -> String {
        let shown = shown.replace(&*self.dir.to_string_lossy(), "/home/me/demo");
        shown.replace(&*self.home.to_string_lossy(), "/home/me")
    }

    fn compare(&mut self, block: &Block, expected: &[String], shown: &str) {
        if self.is_printed(expected, shown) {
            return;
        }
        let text = expected.join("\n");
        let shown = self.as_on_the_page(shown);
        let shown: Vec<&str> = shown.lines().filter(|line| !line.trim().is_empty()).collect();
        let _ = write!(
            self.failures,
            "== line {}: the page shows\n{text}\n-- and this is printed\n{}\n\n",
            block.line,
            shown.join("\n")
        );
    }
}

fn is_prompt(screen: &str) -> bool {
    let last = screen.trim_end().lines().last().unwrap_or_default();
    last.starts_with("◆ placet [") && last.trim_end().ends_with('>')
}

fn is_question(screen: &str) -> bool {
    screen.contains("waiting for you")
        || screen.contains("Enter alone keeps")
        || screen.contains("any other key keeps")
}

/// The mode and the line of a prompt.
fn typed(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("◆ placet [")?;
    let (mode, rest) = rest.split_once(']')?;
    let (_, line) = rest.split_once('>')?;
    Some((mode.into(), line.trim().split("   # ").next().unwrap_or_default().into()))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line without what differs from run to run.
fn plain(line: &str) -> String {
    const CHANGING: [(&str, &str); 13] = [
        (r"a moment \.\.\.", "Enter answers"),
        (r"\b\d+ B\b", "SIZE"),
        (r"solo-\d+-\d+", "SESSION"),
        (r"\brun-[\w.]+-[0-9a-f]{8}\b", "SESSION"),
        (SESSION, "SESSION"),
        (r"\b[0-9a-z]{8}#(\d+)", "TURN#$1"),
        (r"\d{4}-\d\d-\d\d([ T]\d\d[:-]\d\d([:-]\d\d)?)?", "DATE"),
        (r"\d+(\.\d+)? (ms|s)\b", "TIME"),
        (r"[\d.]+k? in, [\d.]+k? out · \d+% of context", "TOKENS"),
        (r#""(input|output|at|cache_read)":\d+"#, "\"$1\":N"),
        (r"\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]*\b|\b[0-9a-f]{7,40}\b", "HASH"),
        (r"process \d+", "process N"),
        (r"[ \t]+", " "),
    ];
    thread_local! {
        static RULES: Vec<(Regex, &'static str)> =
            CHANGING.map(|(rule, word)| (Regex::new(rule).unwrap(), word)).into();
    }
    let line = RULES.with(|rules| {
        rules.iter().fold(line.to_string(), |line, (rule, word)| rule.replace_all(&line, *word).into_owned())
    });
    // A pipe has no indent under the mark.
    line.trim().to_string()
}

/// `...` alone is any lines, and in a line any text.
fn matches(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=actual.len()).any(|at| matches(rest, &actual[at..]))
        }
        Some((first, rest)) => {
            actual.split_first().is_some_and(|(line, others)| fits(first, line) && matches(rest, others))
        }
    }
}

fn fits(expected: &str, line: &str) -> bool {
    if !expected.contains("...") {
        return expected == line;
    }
    let parts: Vec<String> = expected.split("...").map(regex::escape).collect();
    expected == line || Regex::new(&format!("^{}$", parts.join(".*"))).unwrap().is_match(line)
}

/// The directory of the guide.
pub fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}
