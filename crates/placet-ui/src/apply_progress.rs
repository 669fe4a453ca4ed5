//! A line that shows how far an apply or an undo is, from half a second on, and the wait for the person who stops it.

use super::terminal::term;
use placet_text::text::count;
use placet_workspace::{ApplyPhase, ApplyProgress};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing is shown of an apply that is over before.
const LATER: Duration = Duration::from_millis(500);
/// How soon a request to stop is passed on.
const LOOK: Duration = Duration::from_millis(40);
/// How often the line is drawn.
const DRAWN: Duration = Duration::from_millis(120);

/// Runs `work`, an apply or an undo. `is_stopped` says whether the person asked to stop: until the first file changes, the
/// apply then ends without a change. The line is drawn where standard error is a terminal.
pub fn with_apply_progress<T>(
    progress: &ApplyProgress,
    is_stopped: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce() -> T,
) -> T {
    progress.reset();
    let (running, ended) = channel::<()>();
    let out = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("apply progress".into());
        // Where the system starts no more threads, the apply runs all the same.
        drop(thread.spawn_scoped(scope, || watch(progress, is_stopped, ended)));
        let out = work();
        drop(running);
        out
    });
    progress.reset();
    out
}

fn watch(progress: &ApplyProgress, is_stopped: &dyn Fn() -> bool, ended: Receiver<()>) {
    let begun = Instant::now();
    let is_shown = io::stderr().is_terminal() && !term::is_dumb();
    let mut drawn: Option<Instant> = None;
    let mut stop = StopRequest::None;
    let mut is_named = is_shown;
    while matches!(ended.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout)) {
        let before = stop;
        if is_stopped() {
            stop = if progress.cancel() { StopRequest::Accepted } else { StopRequest::TooLate };
        }
        // The key is answered at once, whatever the apply is busy with.
        let is_due = drawn.map_or(begun.elapsed() >= LATER, |at| at.elapsed() >= DRAWN) || stop != before;
        let now = progress.now();
        if !is_named && is_due && now.0 == ApplyPhase::Waiting {
            drop(writeln!(io::stderr().lock(), "{}", how_far(now)));
            is_named = true;
        }
        if is_shown && is_due {
            draw(&line(now, stop));
            drawn = Some(Instant::now());
        }
    }
    if drawn.is_some() {
        draw("");
    }
}

/// Draws over the line before. A line that reaches the last column would be broken, and could not be drawn over.
fn draw(line: &str) {
    let (columns, _) = term::size();
    let line: String = line.chars().take(usize::from(columns).saturating_sub(1)).collect();
    let mut out = io::stderr().lock();
    drop(write!(out, "\r\x1b[K{line}").and_then(|()| out.flush()));
}

/// What came of the person's request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopRequest {
    None,
    /// The apply ends before its first change, as soon as it looks.
    Accepted,
    /// Files change already.
    TooLate,
}

/// How far an apply is: `preparing 3 of 10 files`.
pub(super) fn how_far((phase, done, all): (ApplyPhase, usize, usize)) -> String {
    let doing = match phase {
        ApplyPhase::Waiting => return ApplyPhase::waiting_words(done),
        ApplyPhase::Planning => "reading",
        ApplyPhase::Checking => "checking",
        ApplyPhase::Staging => "preparing",
        ApplyPhase::Committing => "changing",
        ApplyPhase::Storing => "storing",
    };
    match (done, all) {
        (0, 0) => format!("{doing} files"),
        (_, 0) => format!("{doing} {}", count::of(done, "file")),
        _ => format!("{doing} {} of {all} files", done.min(all)),
    }
}

fn line(now: (ApplyPhase, usize, usize), stop: StopRequest) -> String {
    let how_far = how_far(now);
    match stop {
        StopRequest::Accepted => format!("{how_far}; stopping ..."),
        StopRequest::None if now.0.can_stop() => format!("{how_far}; Ctrl-C stops"),
        StopRequest::TooLate if !now.0.can_stop() => format!("{how_far}; too late to stop"),
        StopRequest::None | StopRequest::TooLate => how_far,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_stops() {
        use StopRequest::{Accepted, None, TooLate};
        let at = |phase, stop| line((phase, 123_456, 500_000), stop);
        assert_eq!(line((ApplyPhase::Planning, 0, 0), None), "reading files; Ctrl-C stops");
        assert_eq!(line((ApplyPhase::Planning, 7, 0), None), "reading 7 files; Ctrl-C stops");
        assert_eq!(line((ApplyPhase::Planning, 7, 0), Accepted), "reading 7 files; stopping ...");
        let waiting = "waiting for another placet (process 7), which applies changes here; Ctrl-C stops";
        assert_eq!(line((ApplyPhase::Waiting, 7, 0), None), waiting);
        assert_eq!(line((ApplyPhase::Checking, 3, 10), None), "checking 3 of 10 files; Ctrl-C stops");
        assert_eq!(at(ApplyPhase::Committing, None), "changing 123456 of 500000 files");
        assert_eq!(at(ApplyPhase::Committing, TooLate), "changing 123456 of 500000 files; too late to stop");
        // Twins are looked at once more.
        assert_eq!(line((ApplyPhase::Storing, 11, 10), None), "storing 10 of 10 files");
    }

    #[test]
    fn a_stop_reaches_the_apply_from_the_other_thread() {
        let progress = ApplyProgress::default();
        let stopped = with_apply_progress(&progress, &|| true, || {
            let begun = Instant::now();
            while !progress.is_cancelled() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            progress.is_cancelled()
        });
        assert!(stopped);
        assert!(!progress.is_cancelled(), "the next apply begins");
    }
}
