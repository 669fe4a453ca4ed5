//! The whole picture: title, files, lines, and one row at the bottom for typed text, messages and hints.

use super::cells::{StyledCell, cell, cells, window};
use super::paint::{DrawContext, INDENT, NEW_SIGN, ReviewPainter, picture_columns};
use super::rows::ReviewRow;
use super::tree::ReviewTreeNode;
use crate::help_page;
use crate::keymap::{Keymap, Move};
use crate::lines::wrap::wrap;
use crate::picture::PlacedPicture;
use crate::review::action::ReviewAction;
use crate::review::content::comment::CommentTarget;
use crate::review::content::file::{CombinedDecision, ReviewBody, ReviewDecision, WholeChange, standing};
use crate::review::content::side_text::DiffSide;
use crate::review::state::areas::ReviewAreas;
use crate::review::state::overlay::{ReviewInput, ReviewOverlay, SummaryAnswer};
use crate::review::state::{Review, ReviewFocus, ReviewOpenedFrom, ReviewSubject};
use placet_text::text::{count, width};
use placet_workspace::line_words;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Line;

/// Columns for the numbers of decisions behind a file's name in the title.
const TALLIES: usize = 8;

impl Review {
    pub fn draw(&self, buffer: &mut Buffer, scene: &DrawContext<'_>) -> Option<(u16, u16)> {
        let area = buffer.area;
        if area.width == 0 || area.height == 0 {
            return None;
        }
        let places = self.places();
        let (columns, rows) = (usize::from(area.width), usize::from(area.height));
        if rows > 1 {
            put(buffer, 0, 0, &self.title_row(scene, columns));
        }
        match &self.overlay {
            ReviewOverlay::Help { top } => self.draw_help(buffer, scene, *top),
            ReviewOverlay::Summary { top, .. } => self.draw_summary(buffer, scene, *top),
            _ => {
                self.draw_tree(buffer, scene, places);
                self.draw_lines(buffer, scene, places);
            }
        }
        self.draw_foot(buffer, scene)
    }

    fn title_row(&self, scene: &DrawContext<'_>, columns: usize) -> Vec<StyledCell> {
        let (decided, all) = self.progress();
        let (accepted, rejected) = self.tally();
        let lines = line_words(self.task.line_counts).map(|words| format!("{words} ")).unwrap_or_default();
        let style = |label: &str| scene.theme.style(label);
        let mut out = Vec::new();
        let mut say = |text: &str, label: &str| out.extend(cells(text, |_| style(label)));
        let progress = format!(" {decided}/{all} hunks ");
        let name = self.name_above();
        let tallies = if name.is_some() { TALLIES } else { 0 };
        // The rows that explain a conflict may be below the screen or above it.
        let in_conflict = match self.files_in_conflict() {
            0 => String::new(),
            files => format!(" {files} in conflict "),
        };
        let room = columns.saturating_sub(tallies + in_conflict.len());
        let title = match name {
            Some(name) => width::cut_middle(name, room.saturating_sub(width::of(&progress))) + " ",
            None => format!("{} ", self.task.title),
        };
        let count = format!(" {} {lines}", self.task.count);
        let fits = width::of(&title) + width::of(&count) + width::of(&progress) <= room;
        say(&title, "title");
        // How far the review is, is worth more than how long it is.
        if fits {
            say(&count, "status");
        }
        say(&progress, "strong");
        say(&in_conflict, "warning");
        if accepted > 0 {
            say(&format!(" ✓{accepted}"), "accepted");
        }
        if rejected > 0 {
            say(&format!(" ✗{rejected}"), "rejected");
        }
        if let count @ 1.. = self.new_units() {
            say(&format!(" {NEW_SIGN}{count} new "), "question");
        }
        if let Some((words, label)) = self.checks_title() {
            say(words, label);
        }
        if let count @ 1.. = self.visible_comments().count() {
            say(&format!(" »{count}"), "comment");
        }
        if !self.finder.filter.is_empty() {
            say(&format!(" files: {}", placet_text::text::sanitize::line(&self.finder.filter)), "match");
        }
        window(&out, 0, columns).to_vec()
    }

    /// The file under the cursor, where its head is above the first row: no other row has its name then.
    fn name_above(&self) -> Option<&str> {
        let is_plain = matches!(self.overlay, ReviewOverlay::None | ReviewOverlay::Typing { .. });
        let file = self.file_here().filter(|_| is_plain && self.places().tree == 0)?;
        let is_above = self.rows.of_file(file).is_some_and(|head| (head, 0) < self.window.top);
        self.files.get(file).filter(|_| is_above).map(|of| of.name.as_str())
    }

    fn draw_tree(&self, buffer: &mut Buffer, scene: &DrawContext<'_>, places: ReviewAreas) {
        if places.tree == 0 {
            return;
        }
        let width = places.tree.saturating_sub(1);
        let here = self.file_here().and_then(|f| self.tree.of_file(f));
        let at = if self.look.focus == ReviewFocus::Tree { self.tree.cursor } else { here.unwrap_or(0) };
        let top = at.saturating_sub(places.rows / 2).min(self.tree.nodes.len().saturating_sub(places.rows));
        for (y, (n, node)) in self.tree.nodes.iter().enumerate().skip(top).take(places.rows).enumerate() {
            let mut row = self.tree_row(node, scene, width);
            if n == at {
                let style = |style: Style| match self.look.focus {
                    ReviewFocus::Tree => scene.theme.selected(style),
                    _ => style.patch(scene.theme.style("strong")),
                };
                let used: usize = row.iter().map(|c| c.width).sum();
                row.extend((used..width).map(|_| cell(" ", Style::default())));
                row.iter_mut().for_each(|c| c.style = style(c.style));
                if let Some(first) = row.first_mut() {
                    first.text = "▌".into();
                }
            }
            put(buffer, 0, y + 1, &row);
        }
        for y in 0..places.rows {
            put(buffer, width, y + 1, &[cell("│", scene.theme.style("border"))]);
        }
    }

    fn tree_row(&self, node: &ReviewTreeNode, scene: &DrawContext<'_>, width: usize) -> Vec<StyledCell> {
        let style = |label: &str| scene.theme.style(label);
        let files: Vec<_> = node.files.iter().filter_map(|f| self.files.get(*f)).collect();
        let (decided, all) = files.iter().fold((0, 0), |(d, n), f| (d + f.decided(), n + f.units()));
        let sign = match standing(files.iter().map(|f| match f.standing() {
            CombinedDecision::All(mark) => mark,
            CombinedDecision::Mixed => ReviewDecision::Open,
        })) {
            CombinedDecision::All(ReviewDecision::Accepted) => ("✓", "accepted"),
            CombinedDecision::All(ReviewDecision::Rejected) => ("✗", "rejected"),
            _ if decided > 0 => ("~", "question"),
            _ => (" ", "text"),
        };
        let seen = if all > 0 && files.iter().all(|f| f.is_reviewed()) { "•" } else { " " };
        let tail = match (node.is_dir, files.first()) {
            (false, Some(file)) => match file.counts() {
                Some((added, removed)) if decided == all || decided == 0 => format!(" +{added} -{removed}"),
                Some(_) => format!(" {decided}/{all}"),
                None => String::new(),
            },
            // Files of a commit are decided with their repository.
            _ if all == 0 => String::new(),
            _ => format!(" {decided}/{all}"),
        };
        let letter = if node.is_dir { ' ' } else { files.first().map_or(' ', |f| f.letter) };
        let mut out = cells(" ", |_| Style::default());
        out.extend(cells(sign.0, |_| style(sign.1)));
        out.extend(cells(seen, |_| style("seen")));
        let indent = "  ".repeat(node.depth.min(8));
        let (lead, name, label) = match node.is_dir {
            true => (indent, format!("{}/", node.label), "status"),
            false => (format!("{indent}{letter} "), node.label.clone(), "text"),
        };
        let room = width.saturating_sub(3 + width::of(&tail) + width::of(&lead));
        let name = lead + &width::cut_middle(&name, room);
        out.extend(cells(&name, |_| style(label)));
        let used: usize = out.iter().map(|c| c.width).sum();
        let gap = width.saturating_sub(used + width::of(&tail));
        out.extend(cells(&" ".repeat(gap), |_| Style::default()));
        out.extend(cells(&tail, |_| style("gutter")));
        window(&out, 0, width).to_vec()
    }

    fn draw_lines(&self, buffer: &mut Buffer, scene: &DrawContext<'_>, places: ReviewAreas) {
        if !self.shows_lines(places) {
            return;
        }
        if self.files.is_empty() || self.rows.files.is_empty() {
            let text = if self.files.is_empty() { "nothing to review" } else { "no file matches" };
            let cells = cells(text, |_| scene.theme.style("hint"));
            put(buffer, places.tree + 2, 2, window(&cells, 0, places.columns.saturating_sub(2)));
            return;
        }
        let painter = ReviewPainter::new(self, scene, places.columns);
        let (mut y, mut row, mut skip) = (0, self.window.top.0, self.window.top.1);
        while y < places.rows && row < self.rows.list.len() {
            for cells in painter.rows(row).iter().skip(skip) {
                if y >= places.rows {
                    break;
                }
                put(buffer, places.tree, y + 1, window(cells, 0, places.columns));
                y += 1;
            }
            skip = 0;
            row += 1;
        }
    }

    /// The pictures that lie over cells, as far as they are visible.
    pub fn pictures(&self, scene: &DrawContext<'_>) -> Vec<PlacedPicture> {
        let places = self.places();
        if !self.shows_lines(places) {
            return Vec::new();
        }
        let painter = ReviewPainter::new(self, scene, places.columns);
        let (mut out, mut y, mut row, mut skip) = (Vec::new(), 0, self.window.top.0, self.window.top.1);
        while y < places.rows && row < self.rows.list.len() {
            let file = match self.rows.list.get(row) {
                Some(ReviewRow::Picture(file)) => self.files.get(*file as usize).map(|of| (*file, &of.body)),
                _ => None,
            };
            if let Some((file, ReviewBody::Whole(WholeChange { pictures: Some(pictures), .. }))) = file {
                // Behind the cursor and the mark.
                let left = places.tree + 2 + INDENT;
                let right = match pictures.before {
                    Some(_) => left + picture_columns(places.columns, pictures) + INDENT,
                    None => left,
                };
                for (side, x) in [(DiffSide::Old, left), (DiffSide::New, right)] {
                    let dots = scene.annotations.dots(file as usize, side);
                    let placed =
                        dots.and_then(|dots| PlacedPicture::within(&dots, (x, y + 1), skip, places.rows + 1));
                    out.extend(placed);
                }
            }
            y += painter.height(row).saturating_sub(skip);
            skip = 0;
            row += 1;
        }
        out
    }

    /// The last row: the typed text, the message, or the keys.
    fn draw_foot(&self, buffer: &mut Buffer, scene: &DrawContext<'_>) -> Option<(u16, u16)> {
        let columns = usize::from(buffer.area.width);
        let y = usize::from(buffer.area.height).saturating_sub(1);
        let style = |label: &str| scene.theme.style(label);
        if let ReviewOverlay::Typing { input, field } = &self.overlay {
            let lead = match input {
                ReviewInput::Comment(CommentTarget::File { .. }) => "comment on the file: ",
                ReviewInput::Comment(_) => "comment: ",
                ReviewInput::CommentTurn => "comment on the turn: ",
                ReviewInput::Search => "/",
                ReviewInput::Filter => "files: ",
            };
            let lead = width::cut(lead, columns.saturating_sub(4));
            let room = columns.saturating_sub(width::of(&lead)).max(2);
            let (text, at) = field.view(room);
            let mut row = cells(&lead, |_| style("question"));
            row.extend(cells(&text, |_| style("text")));
            put(buffer, 0, y, window(&row, 0, columns));
            let x = (width::of(&lead) + at).min(columns.saturating_sub(1));
            return Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?));
        }
        let (advice, above) = (self.advice_rows(), self.message_rows());
        let first = y.saturating_sub(advice.len() + above.len());
        let labelled =
            |rows: &[String], label| rows.iter().map(|row| (row.clone(), label)).collect::<Vec<_>>();
        let rows = [labelled(&above, "notice"), labelled(&advice, "question")].concat();
        for (at, (text, label)) in rows.iter().enumerate() {
            put(buffer, 0, first + at, window(&cells(text, |_| style(label)), 0, columns));
        }
        let mut row = Vec::new();
        if let Some(message) = self.footer.message.as_ref().filter(|_| above.is_empty()) {
            let message = width::cut(message, columns);
            row.extend(cells(&message, |_| style("notice")));
            row.extend(cells("   ", |_| Style::default()));
        } else if matches!(self.overlay, ReviewOverlay::None) {
            let painter = ReviewPainter::new(self, scene, columns);
            let hints = self.hints(scene.keys);
            let needed = wide(hints.get(..IMPORTANT).unwrap_or(&hints));
            let fits = |about: &String| width::of(about) + 3 + needed <= columns;
            let about =
                self.row().and_then(|row| painter.about(row)).or_else(|| self.about_bytes(scene.keys));
            if let Some(about) = about.filter(fits) {
                row.extend(cells(&about, |_| style("notice")));
                row.extend(cells("   ", |_| Style::default()));
            }
        }
        let used: usize = row.iter().map(|c| c.width).sum();
        for (key, word) in fitting(self.hints(scene.keys), columns.saturating_sub(used)) {
            row.extend(cells(&key, |_| style("key")));
            row.extend(cells(&format!(" {word}  "), |_| style("hint")));
        }
        put(buffer, 0, y, window(&row, 0, columns));
        None
    }

    /// How to see the bytes of the file under the cursor, where they are not text.
    fn about_bytes(&self, keys: &Keymap<ReviewAction>) -> Option<String> {
        let ReviewBody::Whole(whole) = &self.files.get(self.row()?.file()?)?.body else { return None };
        whole.bytes.as_ref().map(|_| format!("{} shows the bytes", keys.key(ReviewAction::More)))
    }

    /// The keys of the last line, the most important first: the line is cut at its end.
    fn hints(&self, keys: &Keymap<ReviewAction>) -> Vec<(String, &'static str)> {
        let of = |action: ReviewAction, word: &'static str| (keys.key(action), word);
        match &self.overlay {
            ReviewOverlay::Help { .. } => {
                vec![of(ReviewAction::Move(Move::Down), "down"), ("Esc".into(), "back")]
            }
            ReviewOverlay::Summary { answer, .. } => self.summary_hints(*answer, keys),
            // The keys are named when they are taken.
            _ if !self.footer.takes_keys => Vec::new(),
            _ if self.window.anchor.is_some() => vec![
                of(ReviewAction::Accept, "accept"),
                of(ReviewAction::Reject, "reject"),
                ("Esc".into(), "end"),
                of(ReviewAction::Comment, "comment"),
                of(ReviewAction::Yank, "copy"),
            ],
            _ if self.look.focus == ReviewFocus::Tree => vec![
                of(ReviewAction::Accept, "accept"),
                of(ReviewAction::Reject, "reject"),
                of(ReviewAction::Focus, "to the lines"),
                of(ReviewAction::Help, "keys"),
                of(ReviewAction::Filter, "filter"),
            ],
            _ => vec![
                of(ReviewAction::Accept, "accept"),
                of(ReviewAction::Reject, "reject"),
                of(ReviewAction::Enter, self.confirming_word()),
                of(ReviewAction::Help, "keys"),
                of(ReviewAction::Close, self.leaving_word()),
                of(ReviewAction::NextHunk, "next"),
                of(ReviewAction::Comment, "comment"),
                of(ReviewAction::Visual, "select lines"),
            ],
        }
    }

    /// The answers of the summary, one of them marked, and the keys there.
    fn summary_hints(
        &self,
        marked: SummaryAnswer,
        keys: &Keymap<ReviewAction>,
    ) -> Vec<(String, &'static str)> {
        let discards = self.only_discards();
        let confirm = if discards { "Discard" } else { self.confirming_answer() };
        let tell = match (self.task.program.is_some(), discards) {
            (true, false) => "Apply, and send back now",
            (true, true) => "Discard, and send back now",
            (false, false) => "Apply, and report to the agent now",
            (false, true) => "Discard, and report to the agent now",
        };
        let both = [(SummaryAnswer::Apply, confirm), (SummaryAnswer::ApplyAndTell, tell)];
        let offered = both.into_iter().take(if self.can_tell() { 2 } else { 1 });
        let drawn = |(answer, words): (SummaryAnswer, &str)| match answer == marked {
            true => (format!("[{words}]"), ""),
            false => (words.to_string(), ""),
        };
        let enter =
            if self.footer.enter_counts { ("Enter".into(), "answers") } else { (String::new(), "a moment") };
        let others =
            [enter, ("Esc".into(), "back"), (keys.key(ReviewAction::Comment), "comment on the turn")];
        offered.map(drawn).chain(others).collect()
    }

    /// What Enter does at the summary, as its answer says.
    fn confirming_answer(&self) -> &'static str {
        match self.task.subject {
            ReviewSubject::Pending => "Apply",
            ReviewSubject::Stage => "Stage",
            ReviewSubject::Unstage => "Unstage",
            ReviewSubject::Compare => "Take",
            ReviewSubject::Patch if self.task.output.is_some() => "Write the patch",
            ReviewSubject::Patch => "Finish",
        }
    }

    fn leaving_word(&self) -> &'static str {
        match self.task.opened_from {
            ReviewOpenedFrom::Prompt => "leave",
            ReviewOpenedFrom::ApplyQuestion => "back",
        }
    }

    fn draw_help(&self, buffer: &mut Buffer, scene: &DrawContext<'_>, top: usize) {
        let (columns, rows) = (self.window.columns(), self.places().rows);
        let lines = help_page::rows_of_table(&scene.keys.help(), scene.theme, columns);
        let text = scene.theme.style("text");
        for (y, line) in lines.iter().skip(top).take(rows).enumerate() {
            let mut row = Vec::new();
            for span in &line.spans {
                let style = if span.style == Style::default() { text } else { span.style };
                row.extend(cells(&span.content, |_| style));
            }
            put(buffer, 0, y + 1, window(&row, 0, columns));
        }
    }

    fn draw_summary(&self, buffer: &mut Buffer, scene: &DrawContext<'_>, top: usize) {
        let (columns, rows) = (self.window.columns(), self.places().rows);
        let lines = self.summary_rows(columns);
        let top = top.min(lines.len().saturating_sub(rows));
        let hidden = lines.len().saturating_sub(top + rows);
        // The row that reports hidden rows takes the place of one.
        let shown = if hidden > 0 { rows.saturating_sub(1) } else { rows };
        for (y, (text, label)) in lines.iter().skip(top).take(shown).enumerate() {
            put(buffer, 0, y + 1, &cells(text, |_| scene.theme.style(label)));
        }
        if hidden > 0 {
            let text =
                format!("  {} more: {}", hidden + 1, scene.keys.plain_key(ReviewAction::Move(Move::Down)));
            let row = cells(&text, |_| scene.theme.style("warning"));
            put(buffer, 0, shown + 1, window(&row, 0, columns));
        }
    }

    /// The summary as rows of `columns`: a line that does not fit continues below its words.
    fn summary_rows(&self, columns: usize) -> Vec<(String, &'static str)> {
        let mut out = Vec::new();
        for (text, label) in self.summary() {
            let rows = wrap(&Line::raw(text), columns.saturating_sub(SUMMARY_INDENT + SUMMARY_FURTHER));
            out.extend(rows.iter().enumerate().map(|(at, row)| {
                let indent = if at == 0 { SUMMARY_INDENT } else { SUMMARY_INDENT + SUMMARY_FURTHER };
                (format!("{}{row}", " ".repeat(indent)), label)
            }));
        }
        out
    }

    /// How far the summary can be scrolled.
    pub(in crate::review) fn summary_end(&self) -> usize {
        self.summary_rows(self.window.columns()).len().saturating_sub(self.places().rows)
    }

    /// What becomes of so many hunks with a mark.
    fn consequence(&self, mark: ReviewDecision, hunks: usize) -> String {
        let (one, several) = match (self.task.subject, mark) {
            (ReviewSubject::Pending, ReviewDecision::Accepted) => ("will be applied", "will be applied"),
            (ReviewSubject::Pending, ReviewDecision::Rejected) => ("will be discarded", "will be discarded"),
            (ReviewSubject::Pending, ReviewDecision::Open) => ("stays pending", "stay pending"),
            (ReviewSubject::Stage, ReviewDecision::Accepted) => ("will be staged", "will be staged"),
            (ReviewSubject::Stage, _) => ("stays unstaged", "stay unstaged"),
            (ReviewSubject::Unstage, ReviewDecision::Rejected) => ("will be unstaged", "will be unstaged"),
            (ReviewSubject::Unstage, _) => ("stays staged", "stay staged"),
            (ReviewSubject::Patch, ReviewDecision::Accepted) => match &self.task.output {
                Some(file) => return format!("{} into {file}", if hunks == 1 { "goes" } else { "go" }),
                None => return "nothing is saved; --output FILE saves a patch".into(),
            },
            (ReviewSubject::Patch, _) => ("is left out", "are left out"),
            (ReviewSubject::Compare, ReviewDecision::Accepted) => {
                let verb = if hunks == 1 { "becomes" } else { "become" };
                return format!("{verb} pending in {}", self.task.output.as_deref().unwrap_or_default());
            }
            (ReviewSubject::Compare, _) => ("is not taken", "are not taken"),
        };
        if hunks == 1 { one.into() } else { several.into() }
    }

    /// What is done to the index, in one line.
    fn index_line(&self) -> Option<String> {
        let (does, mark) = match self.task.subject {
            ReviewSubject::Stage => ("stages", ReviewDecision::Accepted),
            ReviewSubject::Unstage => ("unstages", ReviewDecision::Rejected),
            ReviewSubject::Pending | ReviewSubject::Patch | ReviewSubject::Compare => return None,
        };
        let (hunks, files) = self.counted(mark);
        let what = match hunks {
            0 => "nothing".into(),
            _ => format!("{} in {}", count::of(hunks, "hunk"), count::of(files, "file")),
        };
        Some(format!("{does} {what}; the files in the work tree do not change"))
    }

    /// Nothing is applied: every decision is a rejection.
    fn only_discards(&self) -> bool {
        let (accepted, rejected) = self.tally();
        self.task.subject == ReviewSubject::Pending && accepted == 0 && rejected > 0 && !self.any_edit()
    }

    /// What the key that confirms does, as its hint says.
    fn confirming_word(&self) -> &'static str {
        match self.task.subject {
            ReviewSubject::Pending => "apply",
            ReviewSubject::Stage => "stage",
            ReviewSubject::Unstage => "unstage",
            ReviewSubject::Compare => "take",
            ReviewSubject::Patch if self.task.output.is_some() => "write the patch",
            ReviewSubject::Patch => "finish",
        }
    }

    /// What applying would do, line by line, each with the label of its style.
    pub fn summary(&self) -> Vec<(String, &'static str)> {
        let mut out = vec![(String::new(), "text")];
        let pending = self.task.subject == ReviewSubject::Pending;
        if let Some(line) = self.index_line() {
            out.extend([(line, "question"), (String::new(), "text")]);
        }
        for (mark, word, label) in [
            (ReviewDecision::Accepted, "accepted", "accepted"),
            (ReviewDecision::Rejected, "rejected", "rejected"),
            (ReviewDecision::Open, "undecided", "text"),
        ] {
            let (hunks, files) = self.counted(mark);
            if hunks > 0 {
                let then = self.consequence(mark, hunks);
                let (hunks, files) = (count::of(hunks, "hunk"), count::of(files, "file"));
                out.push((format!("{word:<10} {hunks} in {files}: {then}"), label));
            }
        }
        if self.any_edit() {
            let line = format!("edited     your text is applied instead of {}'s", self.reader());
            out.push((line, "accepted"));
        }
        out.extend(self.checks_summary());
        out.extend(self.unseen_summary().into_iter().map(|line| (line, "question")));
        out.extend(self.conflict_summary());
        out.extend(self.commit_summary());
        if let n @ 1.. = self.visible_comments().count() {
            let goes = match pending {
                true if self.task.is_unread => "kept with these changes".into(),
                true => format!("with the next message to {}", self.reader()),
                false => "are printed when you leave".into(),
            };
            out.push((format!("comments   {n}: {goes}"), "comment"));
        }
        out.push((String::new(), "text"));
        for file in self.files.iter().filter(|f| f.decided() > 0 || f.standing() == CombinedDecision::Mixed) {
            let (sign, label) = match file.standing() {
                CombinedDecision::All(ReviewDecision::Accepted) => ("✓", "accepted"),
                CombinedDecision::All(ReviewDecision::Rejected) => ("✗", "rejected"),
                _ => ("~", "question"),
            };
            out.push((format!("{sign} {}  {}/{}", file.name, file.decided(), file.units()), label));
        }
        out
    }
}

/// Columns in front of the lines of the summary, and of their further rows.
const SUMMARY_INDENT: usize = 2;
const SUMMARY_FURTHER: usize = 2;

/// Hints that a remark on the line under the cursor does not push out.
const IMPORTANT: usize = 4;

/// The columns of some hints, without the blanks behind the last one.
fn wide(hints: &[(String, &'static str)]) -> usize {
    let columns: usize = hints.iter().map(|(key, word)| width::of(key) + width::of(word) + 3).sum();
    columns.saturating_sub(2)
}

/// The hints that fit, whole: `?` names the others.
fn fitting(mut hints: Vec<(String, &'static str)>, columns: usize) -> Vec<(String, &'static str)> {
    while wide(&hints) > columns && hints.len() > 1 {
        hints.pop();
    }
    hints
}

/// Puts cells on the screen; what does not fit is left out.
pub(in crate::review) fn put(buffer: &mut Buffer, x: usize, y: usize, row: &[StyledCell]) {
    let area = buffer.area;
    let mut x = x;
    for cell in row {
        if x + cell.width > usize::from(area.width) || y >= usize::from(area.height) {
            return;
        }
        let (Ok(column), Ok(line)) = (u16::try_from(x), u16::try_from(y)) else { return };
        if let Some(slot) = buffer.cell_mut((column, line)) {
            slot.set_symbol(&cell.text);
            slot.set_style(cell.style);
        }
        for more in 1..cell.width {
            if let Some(slot) = u16::try_from(x + more).ok().and_then(|c| buffer.cell_mut((c, line))) {
                slot.set_symbol(" ");
                slot.set_style(cell.style);
            }
        }
        x += cell.width;
    }
}
