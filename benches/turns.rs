//! Turns against the clock: the start, a turn of one and of twenty rounds, 20,000 pieces of an answer on the screen.
//!
//! `cargo bench --bench turns`. Whole processes are set beside `sh -c true`, because that is what starting anything
//! costs on the machine at hand.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench stops at the first surprise and prints"
)]

use placet::agent::{TurnEnding, TurnEvent};
use placet::conversation::TokenUsage;
use placet::permission::Mode;
use placet::ui::ansi::{self, ColorDepth};
use placet::ui::turn_pane::{TurnDisplay, TurnPane, TurnPaneStatus};
use placet::ui::{InlinePainter, Theme};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn median(runs: usize, mut work: impl FnMut()) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[runs / 2]
}

fn run(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}

fn placet(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var("PATH").unwrap())
        .current_dir(home);
    command
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() {
    let home = tempfile::TempDir::new().unwrap();
    std::fs::write(home.path().join("a.txt"), "alpha\nbeta\n").unwrap();
    let plain = median(40, || run(Command::new("sh").args(["-c", "true"])));
    println!("sh -c true                              {:8.2} ms", ms(plain));
    let report = |name: &str, time: Duration| {
        println!("{name:<40}{:8.2} ms  {:5.1}x sh -c true", ms(time), ms(time) / ms(plain));
    };
    report("placet --version", median(40, || run(&mut placet(home.path(), &["--version"]))));
    report("one-shot turn, one call", median(40, || run(&mut placet(home.path(), &["-p", "show a.txt"]))));
    let twenty: Vec<String> = (0..20).map(|n| format!("search \"{n}\" in a.txt")).collect();
    let twenty = twenty.join(" and then ");
    report("one-shot turn, twenty rounds", median(20, || run(&mut placet(home.path(), &["-p", &twenty]))));
    screen();
}

/// 20,000 pieces of an answer through the pane, a frame each hundred pieces, into a sink that counts.
fn screen() {
    let piece = "word and *more* `code` ";
    let bytes = Arc::new(AtomicUsize::new(0));
    let time = median(5, || {
        bytes.store(0, Ordering::Relaxed);
        let theme = Theme::load("dark", Path::new("/nowhere"), ColorDepth::True, |_| None).unwrap();
        let now = Instant::now();
        let facts = TurnPaneStatus {
            is_asked_again: false,
            model: "m".into(),
            window: 200_000,
            usage: TokenUsage::default(),
            prompt_tokens: 0,
            display: TurnDisplay {
                fold: 6,
                applied: placet::config::AppliedSetting::Difference,
                wrap: placet::config::WrapSetting::Words,
                motion: true,
            },
            expanded: false,
            grants: 0,
            taint: placet::permission::Taint::default(),
            todos: Vec::new(),
            cost: None,
            questions_only: false,
            to_ask_mode: None,
        };
        let mut live = TurnPane::new(
            theme,
            80,
            facts,
            placet::agent::MessageQueue::default(),
            placet::ui::paste::PasteStore::default(),
            now,
        );
        let sink = Arc::clone(&bytes);
        let mut painter = InlinePainter::new(
            Box::new(move |b| {
                sink.fetch_add(b.len(), Ordering::Relaxed);
            }),
            (80, 24),
        );
        for n in 0..20_000 {
            let text = if n % 12 == 11 { format!("{piece}\n\n") } else { piece.to_string() };
            for line in live.event(TurnEvent::Text(text), now) {
                painter.insert(&ansi::line(&line));
                painter.insert("\n");
            }
            if n % 100 == 0 {
                let picture = live.picture(Mode::Ask, 23, now);
                painter.frame(now, (80, 24), picture.height(), |buffer, area| picture.draw(buffer, area));
            }
        }
        for line in live.event(TurnEvent::Ended(TurnEnding::Done), now) {
            painter.insert(&ansi::line(&line));
        }
        painter.finish();
    });
    let size = 20_000 * piece.len();
    let written = bytes.load(Ordering::Relaxed);
    println!(
        "20,000 pieces on the screen             {:8.2} ms  {written} bytes for {size} of text ({:.2}x)",
        ms(time),
        written as f64 / size as f64
    );
}
