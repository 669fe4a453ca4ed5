//! The review of a change set of 50,000 lines: opening it, going through it, and what stands beside it: colours against
//! `bat`, differences against `git diff`.
//!
//! `cargo bench --bench review`. Scroll steps are timed one by one, first visits to each language included.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a bench stops at the first surprise and prints"
)]

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet::text::hunk::hunks;
use placet::ui::ansi::ColorDepth;
use placet::ui::full_screen::FullScreenPane;
use placet::ui::highlight::SyntaxHighlighter;
use placet::ui::keymap::Keymap;
use placet::ui::picture::PictureDisplay;
use placet::ui::review::{
    Review, ReviewBody, ReviewContext, ReviewFile, ReviewLines, ReviewPane, ReviewSubject, SideText, TABLE,
};
use placet::ui::{FullScreenPainter, Theme};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LINES: usize = 50_000;
const FILES: usize = 50;
const STEPS: usize = 10_000;

/// A line of each language, with a number in it.
const LANGUAGES: [(&str, &str); 5] = [
    ("rs", "    let value_N: Option<&str> = map.get(\"key N\").copied(); // a comment with words"),
    ("py", "    value_N = {\"key\": [x for x in range(N)], 'other': None}  # a comment with words"),
    ("ts", "    const valueN: Map<string, number> = new Map([[\"key\", N]]); // a comment with words"),
    ("md", "Some **words** with `code N` and a [link](https://example.org/N), line after line."),
    ("json", "  \"key N\": {\"name\": \"value\", \"count\": N, \"list\": [1, 2, N]},"),
];

fn text(language: &str, lines: usize, mark: &str) -> String {
    (0..lines)
        .map(|n| language.replace('N', &format!("{n}{}", if n % 7 == 6 { "" } else { mark })) + "\n")
        .collect()
}

/// Contents of both sides, as they would have been read.
fn contents() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let each = LINES / FILES;
    (0..FILES)
        .map(|n| {
            let (ending, line) = LANGUAGES[n % LANGUAGES.len()];
            let name = format!("src/dir{}/file{n}.{ending}", n % 7);
            (name, text(line, each, "").into_bytes(), text(line, each, "0").into_bytes())
        })
        .collect()
}

fn review(contents: &[(String, Vec<u8>, Vec<u8>)]) -> Review {
    let files = contents.iter().map(|(name, old, new)| {
        let lines =
            ReviewLines::new(SideText::new(old.clone()).unwrap(), SideText::new(new.clone()).unwrap());
        ReviewFile {
            name: name.clone(),
            path: name.into(),
            paths: vec![std::path::Path::new(&name).into()],
            renamed: None,
            runs_later: None,
            letter: 'M',
            facts: Vec::new(),
            care: Vec::new(),
            body: ReviewBody::Lines(lines),
            decided_with: None,
            key: name.clone(),
        }
    });
    Review::new("a bench", ReviewSubject::Pending, files.collect())
}

fn desk() -> ReviewContext<'static> {
    ReviewContext {
        theme: Theme::load("dark", std::path::Path::new("/"), ColorDepth::True, |_| None).unwrap(),
        keys: Keymap::usual("review", TABLE),
        editor: None,
        memory: None,
        outbox: None,
        blame: Arc::new(|_| Err(std::io::Error::other(""))),
        copy: Box::new(|_| String::new()),
        display: PictureDisplay::words(),
        checks: None,
    }
}

fn canvas() -> (FullScreenPainter, Arc<AtomicUsize>) {
    let bytes = Arc::new(AtomicUsize::new(0));
    let sink = Arc::clone(&bytes);
    (
        FullScreenPainter::new(Box::new(move |b| {
            sink.fetch_add(b.len(), Ordering::Relaxed);
        })),
        bytes,
    )
}

fn frame(canvas: &mut FullScreenPainter, pane: &ReviewPane<'_>) {
    canvas.frame((160, 50), |buffer| pane.draw(buffer), pane.pictures());
}

fn main() {
    opening();
    scrolling();
    colours();
    differences();
}

fn opening() {
    let contents = contents();
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        let mut pane = ReviewPane::new(review(&contents), desk());
        pane.resize(160, 50);
        let (mut canvas, _) = canvas();
        frame(&mut canvas, &pane);
        times.push(started.elapsed());
    }
    times.sort();
    println!("open {LINES} changed lines in {FILES} files, to the first frame: {:.1} ms", millis(times[2]));
}

fn scrolling() {
    for (name, keys) in [("lines", "jjjjjjjjjj"), ("screens", "    "), ("hunks and files", "]]]}")] {
        let mut pane = ReviewPane::new(review(&contents()), desk());
        pane.resize(160, 50);
        let (mut canvas, bytes) = canvas();
        let mut times = Vec::with_capacity(STEPS);
        for key in keys.chars().cycle().take(STEPS) {
            let started = Instant::now();
            pane.key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
            frame(&mut canvas, &pane);
            times.push(started.elapsed());
            // Beside the drawing, as the loop does it.
            pane.tick();
        }
        times.sort();
        println!(
            "{STEPS} steps by {name}: median {:.2} ms, p99 {:.2} ms, worst {:.2} ms, {} bytes a frame, {} MB resident",
            millis(times[STEPS / 2]),
            millis(times[STEPS * 99 / 100]),
            millis(times[STEPS - 1]),
            bytes.load(Ordering::Relaxed) / STEPS,
            resident() / 1024
        );
    }
}

/// Every line of a file in colours, and the same by `bat`.
fn colours() {
    let lines = 5_000;
    for (ending, line) in LANGUAGES {
        let text = text(line, lines, "");
        let theme = Theme::load("dark", std::path::Path::new("/"), ColorDepth::True, |_| None).unwrap();
        let started = Instant::now();
        let mut tint = SyntaxHighlighter::new(&theme);
        let doc = tint.add(text.as_str().into(), ending);
        for from in (0..lines).step_by(200) {
            tint.want(doc, from..from + 200);
        }
        while tint.line(doc, lines - 1).is_none() || tint.is_busy() {
            tint.poll();
            std::thread::sleep(Duration::from_millis(1));
        }
        let ours = started.elapsed();
        let file = tempfile::Builder::new().suffix(&format!(".{ending}")).tempfile().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let theirs = ["bat", "batcat"].into_iter().find_map(|program| {
            let started = Instant::now();
            let mut command = Command::new(program);
            command.args(["--color=always", "--style=plain", "--paging=never"]).arg(file.path());
            let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
            done.success().then(|| started.elapsed())
        });
        let against = theirs.map_or("bat is not here".to_string(), |t| {
            format!("{:.2} of bat", ours.as_secs_f64() / t.as_secs_f64())
        });
        println!(
            "colours of {lines} lines of {ending}: {:.0} lines/s, {against}",
            lines as f64 / ours.as_secs_f64()
        );
    }
}

fn differences() {
    let old = text(LANGUAGES[0].1, 20_000, "");
    let new: String = old
        .lines()
        .enumerate()
        .map(|(n, line)| if n % 10 == 3 { format!("{line} changed\n") } else { format!("{line}\n") })
        .collect();
    let started = Instant::now();
    let count = hunks(old.as_bytes(), new.as_bytes()).len();
    let ours = started.elapsed();
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::write(dir.path().join("a"), &old).unwrap();
    std::fs::write(dir.path().join("b"), &new).unwrap();
    let started = Instant::now();
    let mut git = Command::new("git");
    git.args(["diff", "--no-index", "--no-color", "a", "b"]).current_dir(dir.path()).stdout(Stdio::null());
    drop(git.status());
    let theirs = started.elapsed();
    println!(
        "difference of 20,000 lines, {count} hunks: {:.1} ms, {:.2} of git diff",
        millis(ours),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Resident memory in kB.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}
