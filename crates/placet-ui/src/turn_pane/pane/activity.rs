//! What the turn does at the moment, in words.

use crate::apply_progress::how_far;
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use placet_text::text::{count, visible};
use placet_workspace::ApplyPhase;
use ratatui::text::Line;
use std::time::{Duration, Instant};

/// A request that failed and is sent again at `at`.
struct RetryCountdown {
    attempt: u32,
    of: u32,
    at: Instant,
    error: String,
}

pub(super) struct TurnActivity {
    words: String,
    retry: Option<RetryCountdown>,
    is_stopping: bool,
}

impl TurnActivity {
    pub(super) fn new() -> TurnActivity {
        TurnActivity { words: "waiting for the model".into(), retry: None, is_stopping: false }
    }

    pub(super) fn set(&mut self, words: &str) {
        self.words = words.into();
    }

    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        self.set("stopping");
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    pub(super) fn silent(&mut self, since: Duration) {
        let seconds = since.as_secs();
        self.words = match seconds {
            0..30 => format!("no data for {seconds} s"),
            _ => format!("no data for {seconds} s: Esc, then /retry, sends it again"),
        };
    }

    pub(super) fn applying(&mut self, at: (ApplyPhase, usize, usize)) {
        let how_far = how_far(at);
        self.words = match (self.is_stopping, at.0.can_stop()) {
            (false, _) => how_far,
            (true, true) => "stopping".into(),
            (true, false) => format!("{how_far}; too late to stop"),
        };
    }

    pub(super) fn retrying(&mut self, attempt: u32, of: u32, at: Instant, error: String) {
        self.retry = Some(RetryCountdown { attempt, of, at, error });
    }

    /// No request fails any more; returns what stays to be said of those that did.
    pub(super) fn end_retries(&mut self) -> Option<String> {
        let retry = self.retry.take()?;
        let failed = count::of(retry.attempt.saturating_sub(1).max(1), "failed request");
        Some(format!("{failed}: {}", retry.error))
    }

    /// The words at the time that is shown; while a retry is due, a countdown.
    pub(super) fn words(&self, clock: Instant) -> String {
        match &self.retry {
            Some(retry) if retry.at > clock => {
                let left = retry.at.duration_since(clock).as_secs_f64().ceil();
                format!("retry {}/{} in {left} s", retry.attempt, retry.of)
            }
            _ => self.words.clone(),
        }
    }

    pub(super) fn retry_rows(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let Some(retry) = &self.retry else { return Vec::new() };
        let text = format!("{}: retry {}/{}", retry.error, retry.attempt, retry.of);
        let text = visible::guard_line(&text).into_owned();
        margin_mark::rows(&Line::styled(text, theme.style("notice")), columns, theme)
    }
}
