//! A question to the person: shown whole, and answered only by a key that was meant for it.
//!
//! A key counts when the question has been drawn, when nothing was typed for half a second before it, and when it is
//! no paste. What hides below the fold must be seen, or the answer given twice.

use super::super::cell;
use super::super::picture;
use super::super::theme::Theme;
use super::super::wrap::wrap;
use crate::agent::{Choice, ChoiceQuestion, Enquiry, LoopQuestion, Question, Reply};
use crate::text::sanitize;
use crate::tools::{Detail, Said};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};
use std::time::{Duration, Instant};

/// How long the keyboard must have been quiet before a key may answer.
pub(super) const QUIET: Duration = Duration::from_millis(500);

pub(super) enum Asked {
    Call(Box<Question>),
    Loop(LoopQuestion),
    Choice(ChoiceQuestion),
    Enquiry(Enquiry),
}

pub(super) struct Open {
    asked: Asked,
    /// When it was first on the screen; set by the frame that drew it.
    drawn_at: Option<Instant>,
    scroll: usize,
    /// The rows of the body and how many of them fit, as last drawn.
    rows: usize,
    fits: usize,
    seen_end: bool,
    /// The key that was pressed once and has to be pressed again: rows were unseen, or there is no way back.
    confirmed: Option<char>,
    /// The body is how the call was judged, and not the call.
    shows_why: bool,
    /// What was typed of the word that says yes; `None` before yes was pressed.
    typing: Option<String>,
}

pub(super) enum Answered {
    /// The key was not for the question.
    Not,
    Open,
    Closed,
    /// Refused, and the turn is to stop.
    Cancelled,
}

impl Open {
    pub(super) fn new(asked: Asked) -> Open {
        Open {
            asked,
            drawn_at: None,
            scroll: 0,
            rows: 0,
            fits: 0,
            seen_end: false,
            confirmed: None,
            shows_why: false,
            typing: None,
        }
    }

    /// True when a key pressed at `now` may answer; `last_input` is when anything was last typed or pasted.
    pub(super) fn may_answer(&self, now: Instant, last_input: Option<Instant>) -> bool {
        let quiet = |since: Instant| now.saturating_duration_since(since) >= QUIET;
        self.drawn_at.is_some_and(quiet) && last_input.is_none_or(quiet)
    }

    /// A key that meant nothing to the question: what it was about to do is off, and the letter before it was text too.
    pub(super) fn take_pressed(&mut self) -> Option<char> {
        self.confirmed.take()
    }

    /// The key is the one that has to be pressed again.
    pub(super) fn is_pressed(&self, key: KeyEvent) -> bool {
        self.confirmed.is_some_and(|pressed| key.code == KeyCode::Char(pressed))
    }

    /// The answer to the model's own question, as far as it is typed.
    pub(super) fn typed_answer(&self) -> Option<&str> {
        self.typing.as_deref().filter(|_| matches!(self.asked, Asked::Enquiry(_)))
    }

    /// True while a word is being typed: then every key is meant for it.
    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn drawn(&mut self, now: Instant, rows: usize, fits: usize) {
        self.drawn_at.get_or_insert(now);
        (self.rows, self.fits) = (rows, fits);
        self.scroll = self.scroll.min(rows.saturating_sub(fits));
        self.seen_end |= !self.shows_why && self.scroll + fits >= rows;
    }

    pub(super) fn cancel(self) {
        match self.asked {
            Asked::Call(question) => drop(question.reply.send(Reply::Cancel)),
            Asked::Loop(question) => drop(question.reply.send(false)),
            Asked::Choice(_) | Asked::Enquiry(_) => {}
        }
    }

    /// Scrolling is always possible; answering is for the caller to allow.
    pub(super) fn scroll_key(&mut self, key: KeyEvent) -> bool {
        let page = self.fits.saturating_sub(1).max(1);
        let most = self.rows.saturating_sub(self.fits);
        self.scroll = match key.code {
            KeyCode::Down => self.scroll + 1,
            KeyCode::Up => self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll + page,
            KeyCode::PageUp => self.scroll.saturating_sub(page),
            _ => return false,
        }
        .min(most);
        self.seen_end |= !self.shows_why && self.scroll >= most;
        true
    }

    pub(super) fn answer_key(slot: &mut Option<Open>, key: KeyEvent) -> Answered {
        let Some(open) = slot.as_mut() else { return Answered::Not };
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Answered::Not;
        }
        if open.typing.is_some() {
            return Open::type_key(slot, key);
        }
        if let (KeyCode::Char('w'), Asked::Call(q)) = (key.code, &open.asked)
            && !q.why.is_empty()
        {
            open.shows_why = !open.shows_why;
            open.scroll = 0;
            return Answered::Open;
        }
        if let Asked::Enquiry(question) = &open.asked {
            let chosen = chosen_of(question, key.code);
            return Open::enquire(slot, key.code, chosen);
        }
        if let Asked::Choice(question) = &open.asked {
            let chosen = question.choices.iter().find(|c| KeyCode::Char(c.key) == key.code).cloned();
            return Open::choose(slot, chosen, key.code == KeyCode::Esc);
        }
        let reply = match (key.code, &open.asked) {
            (KeyCode::Char('y'), _) => Reply::Yes,
            (KeyCode::Char('n'), _) => Reply::No(String::new()),
            (KeyCode::Char('a'), Asked::Call(q)) if q.always.is_some() => Reply::Always,
            (KeyCode::Char('p'), Asked::Call(q)) if q.pattern.is_some() => Reply::Pattern,
            (KeyCode::Char('v'), Asked::Call(_)) => Reply::Never,
            (KeyCode::Esc, _) => Reply::Cancel,
            _ => return Answered::Not,
        };
        let consents = matches!(reply, Reply::Yes | Reply::Always | Reply::Pattern);
        let pressed = if let KeyCode::Char(c) = key.code { Some(c) } else { None };
        if consents && !open.seen_end && open.confirmed != pressed {
            open.confirmed = pressed;
            return Answered::Open;
        }
        if consents && matches!(&open.asked, Asked::Call(q) if q.typed.is_some()) {
            open.typing = Some(String::new());
            return Answered::Open;
        }
        Open::close(slot, reply)
    }

    /// A key of a question with answers of its own; Esc answers nothing.
    fn choose(slot: &mut Option<Open>, chosen: Option<Choice>, escape: bool) -> Answered {
        let Some(open) = slot.as_mut() else { return Answered::Not };
        match chosen {
            Some(choice)
                if (choice.twice || choice.consents && !open.seen_end)
                    && open.confirmed != Some(choice.key) =>
            {
                open.confirmed = Some(choice.key);
                Answered::Open
            }
            Some(choice) => {
                if let Some(Open { asked: Asked::Choice(question), .. }) = slot.take() {
                    let _ = question.reply.send(choice.key);
                }
                Answered::Closed
            }
            None if escape => {
                drop(slot.take());
                Answered::Closed
            }
            None => Answered::Not,
        }
    }

    /// A key of the model's own question: a choice, the first letter of an answer, or Esc, which leaves it open.
    fn enquire(slot: &mut Option<Open>, key: KeyCode, chosen: Option<String>) -> Answered {
        match (key, chosen) {
            (_, Some(words)) => Open::answer(slot, Said::Words(words)),
            (KeyCode::Esc, None) => Open::answer(slot, Said::Open),
            (KeyCode::Char(c), None) => {
                if let Some(open) = slot {
                    open.typing = Some(c.to_string());
                }
                Answered::Open
            }
            _ => Answered::Open,
        }
    }

    fn answer(slot: &mut Option<Open>, said: Said) -> Answered {
        if let Some(Open { asked: Asked::Enquiry(question), .. }) = slot.take() {
            drop(question.reply.send(said));
        }
        Answered::Closed
    }

    fn close(slot: &mut Option<Open>, reply: Reply) -> Answered {
        let cancelled = reply == Reply::Cancel;
        let consents = matches!(reply, Reply::Yes | Reply::Always | Reply::Pattern);
        let Some(open) = slot.take() else { return Answered::Not };
        match open.asked {
            Asked::Call(question) => drop(question.reply.send(reply)),
            Asked::Loop(question) => drop(question.reply.send(consents)),
            Asked::Choice(_) | Asked::Enquiry(_) => {}
        }
        if cancelled { Answered::Cancelled } else { Answered::Closed }
    }

    /// A key of the word that says yes. A wrong word is begun again, Esc goes back to the question.
    fn type_key(slot: &mut Option<Open>, key: KeyEvent) -> Answered {
        let Some(open) = slot.as_mut() else { return Answered::Not };
        let wanted = match &open.asked {
            Asked::Call(q) => q.typed.clone(),
            Asked::Loop(_) | Asked::Choice(_) | Asked::Enquiry(_) => None,
        };
        let is_enquiry = matches!(open.asked, Asked::Enquiry(_));
        match (key.code, &mut open.typing) {
            (KeyCode::Char(c), Some(typed)) => typed.push(c),
            (KeyCode::Backspace, Some(typed)) => drop(typed.pop()),
            (KeyCode::Esc, typing) => *typing = None,
            (KeyCode::Enter, Some(typed)) if is_enquiry && !typed.trim().is_empty() => {
                let words = std::mem::take(typed);
                return Open::answer(slot, Said::Words(words));
            }
            (KeyCode::Enter, Some(typed)) if wanted.as_ref() == Some(typed) => {
                return Open::close(slot, Reply::Yes);
            }
            (KeyCode::Enter, Some(typed)) => typed.clear(),
            _ => {}
        }
        Answered::Open
    }

    /// Everything the call would do, wrapped to rows.
    fn body(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let detail = match &self.asked {
            Asked::Call(question) => &question.preview.detail,
            Asked::Choice(question) => &question.detail,
            Asked::Enquiry(question) => return choices_of(question, theme, columns),
            Asked::Loop(_) => return Vec::new(),
        };
        if let (true, Asked::Call(question)) = (self.shows_why, &self.asked) {
            let clean = sanitize::block(question.why.trim_end_matches('\n'));
            let lines = clean.lines().map(|l| Line::raw(format!("  {l}")));
            return lines.flat_map(|line| wrap(&line, columns)).collect();
        }
        let lines = match detail {
            Detail::Diff(diff) => cell::diff_lines(diff, theme),
            Detail::Text(text) => {
                let clean = sanitize::block(text.trim_end_matches('\n'));
                clean.lines().map(|l| Line::raw(format!("  {l}"))).collect()
            }
            Detail::Image(image) => vec![Line::raw(picture::chip(image))],
            Detail::None => Vec::new(),
        };
        lines.iter().flat_map(|line| wrap(line, columns)).collect()
    }

    /// The rows of the question in a pane of `columns`, with at most `room` rows; and the figures for [`Open::drawn`].
    pub(super) fn rows(
        &self,
        theme: &Theme,
        columns: usize,
        room: usize,
        ready: bool,
        composing: bool,
    ) -> (Vec<Line<'static>>, usize, usize) {
        let mut head = Vec::new();
        match &self.asked {
            Asked::Call(q) => {
                let title = sanitize::line(&q.preview.line).into_owned();
                head.extend(wrap(&Line::styled(format!("Allow? {title}"), theme.style("question")), columns));
                let why = format!("asks because: {}", q.reason);
                head.extend(wrap(
                    &Line::styled(sanitize::line(&why).into_owned(), theme.style("notice")),
                    columns,
                ));
            }
            Asked::Choice(q) => {
                let style = theme.style("question");
                head.extend(wrap(&Line::styled(sanitize::line(&q.title).into_owned(), style), columns));
                let style = theme.style("notice");
                head.extend(wrap(&Line::styled(sanitize::line(&q.reason).into_owned(), style), columns));
            }
            Asked::Enquiry(q) => {
                let clean = sanitize::block(q.question.trim_end()).into_owned();
                let lines = clean.lines().map(|l| Line::styled(l.to_string(), theme.style("question")));
                head.extend(lines.flat_map(|line| wrap(&line, columns)));
            }
            Asked::Loop(q) => {
                let text = format!("{} was called {} times with the same result. Go on?", q.tool, q.times);
                head.extend(wrap(
                    &Line::styled(sanitize::line(&text).into_owned(), theme.style("question")),
                    columns,
                ));
                let spent = format!("this turn has taken {} so far", cell::tokens(&q.spent));
                head.extend(wrap(&Line::styled(spent, theme.style("notice")), columns));
            }
        }
        let keys: Vec<Line<'static>> =
            self.keys(theme, ready, composing).iter().flat_map(|line| wrap(line, columns)).collect();
        let body = self.body(theme, columns);
        let fits = room.saturating_sub(head.len() + keys.len() + 1).max(1).min(body.len());
        let scroll = self.scroll.min(body.len() - fits);
        let hidden = body.len() - fits - scroll;
        let total = body.len();
        let mut rows = head;
        rows.extend(body.into_iter().skip(scroll).take(fits));
        if hidden > 0 {
            let s = if hidden == 1 { "" } else { "s" };
            let text = format!("{hidden} line{s} hidden: Down and PageDown show more");
            rows.push(Line::styled(text, theme.style("warning")));
        }
        rows.extend(keys);
        (rows, total, fits)
    }

    /// The answer that is typed, or how to give one.
    fn answer_row(&self, question: &Enquiry, theme: &Theme, ready: bool) -> Line<'static> {
        if let Some(typed) = &self.typing {
            let text = if typed.is_empty() {
                "your answer; Esc goes back"
            } else {
                "your answer; Enter sends it, Esc goes back"
            };
            return Line::styled(text, theme.style("question"));
        }
        let key = |k: String| Span::styled(k, theme.style("key"));
        let mut spans = match question.choices.len() {
            0 => vec![Span::raw("type an answer  ")],
            1 => vec![key("1".into()), Span::raw(" chooses it, or type an answer  ")],
            n => vec![key(format!("1-{n}")), Span::raw(" chooses, or type an answer  ")],
        };
        spans.extend([key("Esc".into()), Span::raw(" leaves it open")]);
        spans.extend(waiting(theme, ready));
        Line::from(spans)
    }

    fn keys(&self, theme: &Theme, ready: bool, composing: bool) -> Vec<Line<'static>> {
        if composing {
            return vec![Line::styled(
                "typing goes to your draft; Tab turns to the question",
                theme.style("hint"),
            )];
        }
        if let Asked::Enquiry(question) = &self.asked {
            return vec![self.answer_row(question, theme, ready)];
        }
        if let (Some(typed), Asked::Call(question)) = (&self.typing, &self.asked) {
            let wanted = question.typed.as_deref().unwrap_or_default();
            let text = format!("type `{wanted}` and Enter to allow it, Esc goes back: {typed}");
            return vec![Line::styled(sanitize::line(&text).into_owned(), theme.style("warning"))];
        }
        if let Some(key) = self.confirmed {
            let twice = |choice: &Choice| choice.key == key && choice.twice;
            let text = match &self.asked {
                Asked::Choice(q) if q.choices.iter().any(twice) => {
                    format!(
                        "there is no way back from this: press {key} again to do it, any other key not to"
                    )
                }
                Asked::Choice(_) => format!("not all of it was shown: press {key} again to do it unseen"),
                _ => format!("not all of it was shown: press {key} again to allow it unseen"),
            };
            return vec![Line::styled(text, theme.style("warning"))];
        }
        let key = |k: &'static str| Span::styled(k, theme.style("key"));
        if let Asked::Choice(question) = &self.asked {
            let mut spans = Vec::new();
            for choice in &question.choices {
                spans.push(Span::styled(choice.key.to_string(), theme.style("key")));
                spans.push(Span::raw(format!(" {}  ", choice.words)));
            }
            spans.extend(waiting(theme, ready));
            return vec![Line::from(spans)];
        }
        let mut spans = vec![key("y"), Span::raw(" yes  "), key("n"), Span::raw(" no  ")];
        let mut lines = Vec::new();
        if let Asked::Call(question) = &self.asked {
            if let Some(grant) = &question.always {
                let what = sanitize::line(&grant.describe()).into_owned();
                spans.extend([key("a"), Span::raw(format!(" always: {what}  "))]);
            }
            if let Some(grant) = &question.pattern {
                let what = sanitize::line(&grant.describe()).into_owned();
                spans.extend([key("p"), Span::raw(format!(" always: {what}  "))]);
            }
            spans.extend([key("v"), Span::raw(" never  ")]);
            if !question.why.is_empty() {
                let what = if self.shows_why { " the call  " } else { " why  " };
                spans.extend([key("w"), Span::raw(what)]);
            }
        }
        spans.extend([key("Esc"), Span::raw(" stop the turn")]);
        spans.extend(waiting(theme, ready));
        lines.push(Line::from(spans));
        lines
    }
}

/// The choice that a digit means.
fn chosen_of(question: &Enquiry, key: KeyCode) -> Option<String> {
    let KeyCode::Char(c) = key else { return None };
    let number = usize::try_from(c.to_digit(10)?).ok()?;
    question.choices.get(number.checked_sub(1)?).cloned()
}

/// The choices with their digits, wrapped to rows.
fn choices_of(question: &Enquiry, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let row = |(at, words): (usize, &String)| {
        let digit = Span::styled((at + 1).to_string(), theme.style("key"));
        Line::from(vec![digit, Span::raw(format!(" {}", sanitize::line(words)))])
    };
    question.choices.iter().enumerate().map(row).flat_map(|line| wrap(&line, columns)).collect()
}

/// What stands behind the keys while they do not count yet.
fn waiting(theme: &Theme, ready: bool) -> Option<Span<'static>> {
    let words = "  (a moment: keys count after half a second of quiet)";
    (!ready).then(|| Span::styled(words, theme.style("hint")))
}
