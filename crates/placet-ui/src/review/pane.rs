//! The review on the screen. Keys go to the state machine; this module does what the machine asks for: highlighting in
//! the background, the person's editor, the clipboard, and saving after every change.

use super::action::ReviewAction;
use super::checks::ReviewChecks;
use super::content::edit;
use super::content::file::{ReviewBody, ReviewFile, ReviewLines, WholeChange};
use super::content::inline_diff::InlineDiffCache;
use super::content::side_text::DiffSide;
use super::picture::paint::{DrawContext, picture_columns};
use super::picture::rows::ReviewRow;
use super::saved_review::SavedReview;
use super::state::history::ReviewUndoItem;
use super::state::overlay::ReviewOverlay;
use super::state::{Review, ReviewEffect, ReviewOpenedFrom};
use super::workers::{BlameFn, ReviewUpdate, ReviewWorkers};
use crate::Theme;
use crate::keymap::{Keymap, Move};
use crate::picture::{PictureDisplay, PlacedPicture};
use crate::terminal::editor;
use crate::terminal::full_screen::{FullScreenPane, PaneFlow};
use crossterm::event::KeyEvent;
use placet_checks::OutputToShow;
use placet_text::text::sanitize;
use ratatui::buffer::Buffer;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

/// How the person left the review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewOutcome {
    Left,
    Apply { tell: bool },
}

/// What the review needs from outside.
pub struct ReviewContext<'a> {
    pub theme: Theme,
    pub keys: Keymap<ReviewAction>,
    /// The `editor` setting.
    pub editor: Option<String>,
    /// Where the review is saved; `None` when it is not.
    pub memory: Option<PathBuf>,
    /// What an earlier review has not reported to the agent yet.
    pub outbox: Option<String>,
    pub blame: BlameFn,
    pub display: PictureDisplay,
    /// Copies text to the clipboard; returns a message about the result.
    pub copy: Box<dyn FnMut(&str) -> String + 'a>,
    /// `None` where the review is not of pending changes, or no check is defined.
    pub checks: Option<ReviewChecks<'a>>,
}

const NO_CHECKS: &str = "there is no check for this; `placet checks detect` proposes checks";

/// What to do with the terminal released.
enum EditorRequest {
    Edit { file: usize, hunk: usize },
    Open { file: usize, line: usize },
}

pub struct ReviewPane<'a> {
    review: Review,
    desk: ReviewContext<'a>,
    inside: InlineDiffCache,
    around: ReviewWorkers,
    lent: Option<EditorRequest>,
    output_to_show: Option<OutputToShow>,
    /// The person's text that could not be used: the next edit of that hunk starts with it.
    refused: Option<(usize, usize, String)>,
    pub outcome: ReviewOutcome,
    /// The size of the screen at first.
    first_size: Option<(u16, u16)>,
    /// The screen had another size in the meantime: what is below may have lost rows.
    pub was_resized: bool,
}

impl<'a> ReviewPane<'a> {
    /// The pane over `review`, with the saved decisions restored.
    pub fn new(mut review: Review, desk: ReviewContext<'a>) -> ReviewPane<'a> {
        if let Some(memory) = &desk.memory {
            let notes = SavedReview::load(memory).restore_into(&mut review);
            if !notes.is_empty() {
                review.say_also(&notes.join("; "));
            }
        }
        if let Some((_, _, row)) = review.rows.hunks.first() {
            review.window.cursor = *row;
        }
        // Where a question was, a person may still be typing.
        review.footer.takes_keys = review.task.opened_from != ReviewOpenedFrom::ApplyQuestion;
        let around = ReviewWorkers::new(&desk.theme);
        ReviewPane {
            review,
            desk,
            inside: InlineDiffCache::default(),
            around,
            lent: None,
            output_to_show: None,
            refused: None,
            outcome: ReviewOutcome::Left,
            first_size: None,
            was_resized: false,
        }
    }

    pub fn review(&self) -> &Review {
        &self.review
    }

    pub fn into_review(self) -> Review {
        self.review
    }

    fn perform(&mut self, effects: Vec<ReviewEffect>) -> PaneFlow {
        let mut flow = PaneFlow::Stay;
        for effect in effects {
            match effect {
                ReviewEffect::Copy(text) => {
                    let said = (self.desk.copy)(&text);
                    self.review.say(said);
                }
                ReviewEffect::Edit { file, hunk } => {
                    self.lent = Some(EditorRequest::Edit { file, hunk });
                    flow = PaneFlow::Lend;
                }
                ReviewEffect::Open { file, line } => {
                    self.lent = Some(EditorRequest::Open { file, line });
                    flow = PaneFlow::Lend;
                }
                ReviewEffect::Blame { file } => self.blame(file),
                ReviewEffect::Remember => {
                    self.inside.forget();
                    self.remember();
                }
                ReviewEffect::RunChecks => {
                    let said = match &self.desk.checks {
                        Some(checks) => checks.run(&mut self.review),
                        None => NO_CHECKS.into(),
                    };
                    self.review.say(said);
                }
                ReviewEffect::LookAtChecks => {
                    if let Some(checks) = &self.desk.checks {
                        checks.look(&mut self.review);
                    }
                }
                ReviewEffect::ShowCheckOutput => {
                    match self.desk.checks.as_ref().map(|checks| checks.to_show(&self.review)) {
                        Some(Some(output)) => {
                            self.output_to_show = Some(output);
                            flow = PaneFlow::Cover;
                        }
                        Some(None) => self.review.say("no check has run here yet; t runs the checks"),
                        None => self.review.say(NO_CHECKS),
                    }
                }
                ReviewEffect::Close => flow = PaneFlow::Close,
                ReviewEffect::Apply { tell } => {
                    let unmet = self.desk.checks.as_ref().and_then(|checks| checks.unmet(&self.review));
                    if let Some(unmet) = unmet {
                        self.review.say(unmet);
                        continue;
                    }
                    self.outcome = ReviewOutcome::Apply { tell };
                    flow = PaneFlow::Close;
                }
            }
        }
        flow
    }

    fn remember(&mut self) {
        let Some(file) = &self.desk.memory else { return };
        let before = SavedReview::load(file);
        let memory = SavedReview::of(&self.review, self.desk.outbox.clone()).merge(&before, &self.review);
        if let Err(e) = memory.save(file) {
            self.review.say(format!("this is not saved: {e}"));
        }
    }

    fn blame(&mut self, file: usize) {
        let Some(path) = self.review.files.get(file).map(|f| f.path.clone()) else { return };
        if self.around.want_blame(file, path, &self.desk.blame) {
            self.review.say("working out who wrote these lines…");
        }
    }

    /// Asks for the colours of what is on the screen.
    fn want(&mut self) {
        let places = self.review.places();
        let shown = self.review.window.top.0..self.review.window.top.0 + places.rows + 1;
        let rows: Vec<ReviewRow> = self
            .review
            .rows
            .list
            .get(shown.start..)
            .unwrap_or_default()
            .iter()
            .take(shown.len())
            .copied()
            .collect();
        for row in &rows {
            let ReviewRow::Picture(file) = *row else { continue };
            let Some(of) = self.review.files.get(file as usize) else { continue };
            if let ReviewBody::Whole(WholeChange { pictures: Some(pictures), .. }) = &of.body {
                let columns = picture_columns(places.columns, pictures);
                self.around.want_pictures(file as usize, (pictures, &of.name), columns, self.desk.display);
            }
        }
        let mut wanted: HashMap<(usize, DiffSide), Range<usize>> = HashMap::new();
        let mut want = |file: usize, side: DiffSide, line: usize| {
            let range = wanted.entry((file, side)).or_insert(line..line + 1);
            *range = range.start.min(line)..range.end.max(line + 1);
        };
        for row in rows {
            let Some(file) = row.file() else { continue };
            if let ReviewRow::Same { old, new, .. } = row {
                want(file, DiffSide::New, new as usize);
                if self.review.layout.side {
                    want(file, DiffSide::Old, old as usize);
                }
            }
            for (side, line) in self.review.changed_lines(row) {
                want(file, side, line);
            }
        }
        for ((file, side), range) in wanted {
            let Some(of) = self.review.files.get(file) else { continue };
            let Some(lines) = of.lines() else { continue };
            let doc = lines.side(side);
            let around = &mut self.around;
            let id =
                *around.docs.entry((file, side)).or_insert_with(|| around.tint.add(doc.text(), &of.name));
            around.tint.want(id, range);
        }
    }

    /// After a key: scrolls to the cursor, and asks for colours.
    fn refresh(&mut self) {
        let scene = scene(&self.desk, &self.around, &self.inside);
        self.review.scroll_to_cursor(&scene);
        self.want();
    }

    fn edit_hunk(&mut self, file: usize, hunk: usize) {
        let Some(of) = self.review.files.get(file) else { return };
        let Some((lines, found)) = of.lines().and_then(|l| Some((l, l.hunks.get(hunk)?))) else { return };
        let shown = match self.refused.take() {
            Some((f, h, text)) if (f, h) == (file, hunk) => text,
            _ => edit::text(&of.name, lines, found),
        };
        let extension = of.path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
        let suffix = if extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '.') {
            extension
        } else {
            String::new()
        };
        let program = editor::program(self.desk.editor.as_deref());
        let back = match editor::edit(&program, &shown, &format!("{suffix}.diff")) {
            Ok(back) => back,
            Err(e) => return self.review.say(format!("not edited: {e}")),
        };
        match edit::read(lines, hunk, &back) {
            Ok(Some(_)) if back == shown => self.review.say("nothing was changed"),
            Ok(None) => self.review.say("the hunk is unchanged"),
            Ok(Some(lines)) => self.take_edit(file, lines),
            Err(why) => {
                self.refused = Some((file, hunk, back));
                self.review.say(format!("not accepted: {why}; E continues with your text"));
            }
        }
    }

    fn take_edit(&mut self, file: usize, lines: ReviewLines) {
        let Some(ReviewBody::Lines(slot)) = self.review.files.get_mut(file).map(|f| &mut f.body) else {
            return;
        };
        let was = std::mem::replace(slot, lines);
        self.review.seen.forget(file);
        self.review.push_undo("an edited hunk", vec![ReviewUndoItem::Lines { file, was: Box::new(was) }]);
        self.around.forget(file);
        self.review.lay_out();
        self.inside.forget();
        self.review.say("edited and accepted; u undoes it");
        self.remember();
    }

    fn open_file(&mut self, file: usize, line: usize) {
        let Some(of) = self.review.files.get(file) else { return };
        let program = editor::program(self.desk.editor.as_deref());
        let said = match open(&program, of, line) {
            Ok(EditorTarget::Workspace) => return,
            Ok(EditorTarget::Copy) => {
                "this was a copy: the file is not in the workspace yet; E edits a hunk".to_string()
            }
            Err(e) => format!("not opened: {e}"),
        };
        self.review.say(said);
    }
}

/// Borrows only these parts of the pane: the review can change while the context is in use.
fn scene<'s>(
    desk: &'s ReviewContext<'_>,
    annotations: &'s ReviewWorkers,
    inline: &'s InlineDiffCache,
) -> DrawContext<'s> {
    DrawContext { theme: &desk.theme, keys: &desk.keys, annotations, inline }
}

enum EditorTarget {
    Workspace,
    Copy,
}

/// Opens the file as it would be after the apply. The file is only pending: the editor shows a copy, and placet does
/// not read the copy back.
fn open(program: &str, file: &ReviewFile, line: usize) -> std::io::Result<EditorTarget> {
    let Some(lines) = file.lines() else {
        editor::open(program, &file.path, line)?;
        return Ok(EditorTarget::Workspace);
    };
    let dir = tempfile::Builder::new().prefix("placet-view-").tempdir()?;
    let copy = dir.path().join(file.path.file_name().unwrap_or("file".as_ref()));
    std::fs::write(&copy, lines.new.bytes(0..lines.new.len()))?;
    editor::open(program, &copy, line)?;
    Ok(EditorTarget::Copy)
}

impl FullScreenPane for ReviewPane<'_> {
    fn decides(&self, key: KeyEvent) -> bool {
        self.review.decides(key, &self.desk.keys)
    }

    fn waits_at_first(&self) -> bool {
        self.review.task.opened_from == ReviewOpenedFrom::ApplyQuestion
    }

    fn enter_counts(&mut self, counts: bool) -> bool {
        self.review.note_enter_counts(counts)
    }

    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        let down = match self.desk.keys.action(key) {
            Some(ReviewAction::Move(Move::Down | Move::HalfDown | Move::PageDown)) => Some(true),
            Some(ReviewAction::Move(Move::Up | Move::HalfUp | Move::PageUp)) => Some(false),
            _ => None,
        };
        let plain = matches!(self.review.overlay, ReviewOverlay::None);
        if let Some(down) = down.filter(|_| plain) {
            let scene = scene(&self.desk, &self.around, &self.inside);
            if self.review.scroll_in_row(down, &scene) {
                return PaneFlow::Stay;
            }
        }
        let effects = self.review.key(key, &self.desk.keys);
        let flow = self.perform(effects);
        self.refresh();
        flow
    }

    fn paste(&mut self, text: &str) {
        self.review.paste(text);
        self.refresh();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.was_resized |= *self.first_size.get_or_insert((columns, rows)) != (columns, rows);
        self.review.resize(columns, rows);
        self.refresh();
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        self.review.draw(buffer, &scene(&self.desk, &self.around, &self.inside))
    }

    fn pictures(&self) -> Vec<PlacedPicture> {
        self.review.pictures(&scene(&self.desk, &self.around, &self.inside))
    }

    fn tick(&mut self) -> bool {
        let rows = self.desk.checks.as_ref().map(|checks| checks.board.rows());
        let checked = rows.is_some_and(|rows| self.review.take_in_checks(rows));
        if checked && self.review.say_how_checks_ended() {
            self.refresh();
        }
        let news = self.around.take_in();
        match news {
            ReviewUpdate::Nothing if checked => return true,
            ReviewUpdate::Nothing => return false,
            ReviewUpdate::Something => {}
            ReviewUpdate::Said(words) => self.review.say(words),
        }
        // A picture that arrived may have more rows than its placeholder.
        self.refresh();
        true
    }

    fn has_background_work(&self) -> bool {
        // While a check runs, its end is to be shown.
        self.around.is_busy() || self.review.has_running_checks()
    }

    fn run_covered(&mut self) {
        let (output, checks) = (self.output_to_show.take(), self.desk.checks.as_ref());
        if let (Some(output), Some(checks)) = (output, checks)
            && let Some(why) = checks.output.show(&output)
        {
            self.review.say(why);
        }
    }

    fn run_released(&mut self) {
        match self.lent.take() {
            Some(EditorRequest::Edit { file, hunk }) => self.edit_hunk(file, hunk),
            Some(EditorRequest::Open { file, line }) => self.open_file(file, line),
            None => {}
        }
        if let Some(message) = &mut self.review.footer.message {
            *message = sanitize::line(message).into_owned();
        }
    }
}
