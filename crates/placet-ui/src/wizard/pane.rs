//! The questions on a full screen.

use super::search::matching;
use super::{
    ChoiceTyping, TAKE_KEY, TextPrefill, Wizard, WizardAnswer, WizardChoice, WizardPage, WizardQuestion,
};
use crate::keymap::{Keymap, Move};
use crate::line_ui::LineUi;
use crate::lines::prose::{self, ProseIndent, ProseWidth};
use crate::lines::wrap;
use crate::pager::bar;
use crate::picker::PickerAction;
use crate::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::text_field::{TextField, TextFieldKind};
use crate::{Theme, list};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_config::WrapSetting;
use placet_text::text::{sanitize, visible, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::cell::Cell;

/// Columns on the left of everything.
const MARGIN: u16 = 2;
/// Rows of a list that are shown even where the lines above it are many.
const LEAST_ITEMS: usize = 4;
/// From so many items on the line for searching is shown before anything is typed.
const SEARCHED: usize = 8;

pub struct WizardPane<'w> {
    wizard: &'w mut dyn Wizard,
    theme: Theme,
    /// The keys of the lists to choose from: these questions have no others.
    keys: Keymap<PickerAction>,
    field: TextField,
    /// What is in the field was suggested, and the person has not edited it.
    is_suggestion: bool,
    /// The items that match what is typed, the best first.
    matches: Vec<usize>,
    selected: usize,
    /// Rows of the lines above the question that are scrolled away.
    scrolled: usize,
    /// How far the lines can be scrolled; known when they were drawn.
    scroll_room: Cell<usize>,
    size: (u16, u16),
    ticks: usize,
    /// An Enter that consents would count now.
    enter_counts: bool,
}

impl<'w> WizardPane<'w> {
    pub fn new(wizard: &'w mut dyn Wizard, theme: &Theme, keys: Keymap<PickerAction>) -> WizardPane<'w> {
        let mut pane = WizardPane {
            wizard,
            theme: theme.clone(),
            keys,
            field: TextField::default(),
            is_suggestion: false,
            matches: Vec::new(),
            selected: 0,
            scrolled: 0,
            scroll_room: Cell::new(0),
            size: (0, 0),
            ticks: 0,
            enter_counts: false,
        };
        pane.open_page();
        pane
    }

    /// Shows another question and drops the text that was typed for the previous question, also a secret.
    fn open_page(&mut self) {
        let page = self.wizard.page();
        self.field = TextField::new(TextFieldKind::Line);
        (self.scrolled, self.selected, self.is_suggestion) = (0, 0, false);
        if let WizardQuestion::Text { text, prefill } = &page.question {
            self.field.set(text);
            self.is_suggestion = *prefill == TextPrefill::Suggestion && !text.is_empty();
        }
        let first = match &page.question {
            WizardQuestion::Choice { selected, .. } => *selected,
            _ => 0,
        };
        self.search();
        self.selected = first.min(self.matches.len().saturating_sub(1));
    }

    fn search(&mut self) {
        let WizardQuestion::Choice { items, .. } = &self.wizard.page().question else {
            self.matches = Vec::new();
            return;
        };
        self.matches = matching(items, self.field.text());
        self.selected = 0;
    }

    fn flow(&mut self) -> PaneFlow {
        if self.wizard.is_closed() {
            return PaneFlow::Close;
        }
        self.open_page();
        PaneFlow::Stay
    }

    fn take(&mut self) -> PaneFlow {
        let answer = match &self.wizard.page().question {
            WizardQuestion::Wait => return PaneFlow::Stay,
            WizardQuestion::Text { .. } | WizardQuestion::Secret => WizardAnswer::Text(self.field.take()),
            WizardQuestion::Choice { typing, .. } => match self.matches.get(self.selected) {
                Some(item) => WizardAnswer::Item(*item),
                None if *typing == ChoiceTyping::SearchOrName && !self.field.text().trim().is_empty() => {
                    WizardAnswer::Text(self.field.take())
                }
                None => return PaneFlow::Stay,
            },
        };
        self.wizard.answer(answer);
        self.flow()
    }

    fn go(&mut self, step: Move) {
        let is_list = matches!(&self.wizard.page().question, WizardQuestion::Choice { .. });
        let pages = matches!(step, Move::PageUp | Move::PageDown | Move::HalfUp | Move::HalfDown);
        // A short list needs no pages: the keys show the rest of the lines above it.
        if pages && self.scroll_room.get() > 0 && self.matches.len() <= LEAST_ITEMS {
            self.scrolled = step.row(self.scrolled, usize::from(self.size.1 / 2), self.scroll_room.get());
        } else if is_list {
            let page = usize::from(self.size.1 / 2).max(1);
            self.selected = step.row(self.selected, page, self.matches.len().saturating_sub(1));
        }
    }

    fn typed(&mut self, key: KeyEvent) {
        match &self.wizard.page().question {
            WizardQuestion::Wait | WizardQuestion::Choice { typing: ChoiceTyping::Consent, .. } => {}
            WizardQuestion::Choice { .. } => {
                if self.field.key(key) {
                    self.search();
                }
            }
            WizardQuestion::Text { .. } | WizardQuestion::Secret => {
                let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
                if plain && matches!(key.code, KeyCode::Char(_)) {
                    self.drop_suggestion();
                }
                self.is_suggestion = false;
                self.field.key(key);
            }
        }
    }

    /// The person gives a text of their own.
    fn drop_suggestion(&mut self) {
        if std::mem::take(&mut self.is_suggestion) {
            self.field.take();
        }
    }

    /// Everything above the question's own rows: the answers so far, the title and its lines.
    fn head(&self, columns: usize) -> (Vec<Line<'static>>, Vec<Line<'static>>) {
        let page = self.wizard.page();
        let answered = self.wizard.answered();
        let names = answered.iter().map(|(name, _)| width::of(name)).max().unwrap_or(0);
        let mut fixed = Vec::new();
        for (name, answer) in &answered {
            let room = columns.saturating_sub(names + 2);
            let answer = width::cut(&visible::guard_line(answer), room);
            fixed.push(Line::from(vec![
                Span::styled(format!("{name:names$}  "), self.theme.style("hint")),
                Span::raw(answer),
            ]));
        }
        if !fixed.is_empty() {
            fixed.push(Line::default());
        }
        fixed.extend(wrap::wrap(
            &Line::styled(visible::guard_line(&page.title).into_owned(), self.theme.style("question")),
            columns,
        ));
        let take = self.keys.key(PickerAction::Take);
        let line = |(text, label): &(String, &'static str)| {
            let text = text.replace(TAKE_KEY, &take);
            let text = Span::styled(visible::guard_line(&text).into_owned(), self.theme.style(label));
            let width = ProseWidth::new(columns, WrapSetting::Words);
            let lines = prose::lines(ProseIndent::default(), prose::of_spans([text]), width);
            // A path that is longer than the screen is broken, so that all of it is seen.
            lines.iter().flat_map(|line| wrap::wrap(line, columns)).collect::<Vec<_>>()
        };
        (fixed, page.lines.iter().flat_map(line).collect())
    }

    /// The row in which something is typed; the column of the cursor.
    fn field_row(&self, page: &WizardPage, columns: usize) -> Option<(Line<'static>, usize)> {
        const LEAD: &str = "❯ ";
        let room = columns.saturating_sub(width::of(LEAD));
        let (shown, at) = match &page.question {
            WizardQuestion::Wait => return None,
            WizardQuestion::Choice { typing: ChoiceTyping::Consent, .. } => return None,
            WizardQuestion::Choice { items, typing, .. } => {
                let named = *typing == ChoiceTyping::SearchOrName;
                if self.field.is_empty() && items.len() < SEARCHED && !named {
                    return None;
                }
                self.field.view(room)
            }
            WizardQuestion::Text { .. } => self.field.view(room),
            WizardQuestion::Secret => self.field.masked_view(room),
        };
        let mut spans = vec![
            Span::styled(LEAD, self.theme.style("key")),
            Span::styled(shown.clone(), self.theme.style(if self.is_suggestion { "dim" } else { "strong" })),
        ];
        let used = width::of(LEAD) + width::of(&shown);
        let note = match &page.question {
            WizardQuestion::Choice { items, .. } => format!("{} of {}", self.matches.len(), items.len()),
            WizardQuestion::Secret if !self.field.is_empty() => {
                placet_text::text::count::of(self.field.text().chars().count(), "character")
            }
            _ => String::new(),
        };
        if !note.is_empty() && used + width::of(&note) + 2 <= columns {
            let pad = columns - used - width::of(&note);
            spans.push(Span::styled(format!("{}{note}", " ".repeat(pad)), self.theme.style("hint")));
        }
        Some((Line::from(spans), width::of(LEAD) + at))
    }

    fn draw_items(&self, buffer: &mut Buffer, area: Rect, items: &[WizardChoice], typing: ChoiceTyping) {
        let rows = usize::from(area.height);
        let top = (self.selected + 1).saturating_sub(rows.max(1));
        // The notes are in a column of their own, where there is room.
        let wide = |at: &usize| items.get(*at).map_or(0, |item| width::of(&sanitize::name(&item.text)));
        let names = self.matches.iter().skip(top).take(rows).map(wide).max().unwrap_or(0);
        let columns = usize::from(area.width);
        for (row, (at, item)) in self.matches.iter().enumerate().skip(top).take(rows).enumerate() {
            let Some(item) = items.get(*item) else { continue };
            let y = area.y + u16::try_from(row).unwrap_or(0);
            let room = columns.saturating_sub(3);
            let text = width::cut_middle(&sanitize::name(&item.text), room);
            let gap = names.saturating_sub(width::of(&text)) + 2;
            let note_room = room.saturating_sub(width::of(&text) + gap);
            let note = if note_room < 8 {
                String::new()
            } else {
                width::cut(&visible::guard_line(&item.note), note_room)
            };
            let mut spans = vec![Span::styled(text, self.theme.style("text"))];
            if !note.is_empty() {
                spans.push(Span::styled(format!("{}{note}", " ".repeat(gap)), self.theme.style("dim")));
            }
            let place = Rect::new(area.x, y, area.width, 1);
            let mark = Span::raw(" ");
            list::draw_row((buffer, &self.theme), place, at == self.selected, mark, spans, "");
        }
        let below = self.matches.len().saturating_sub(top + rows);
        if below > 0 {
            let words = format!("  ↓ {below} more");
            buffer.set_stringn(area.x, area.bottom(), words, columns, self.theme.style("hint"));
        }
        if self.matches.is_empty() && area.height > 0 {
            let typed = visible::guard_line(self.field.text()).into_owned();
            let words = match typing {
                ChoiceTyping::SearchOrName if !typed.trim().is_empty() => {
                    format!("{} takes the name as it is typed", self.keys.key(PickerAction::Take))
                }
                _ => "nothing matches".into(),
            };
            buffer.set_stringn(area.x + 2, area.y, words, columns, self.theme.style("hint"));
        }
    }

    /// The question asks for consent.
    fn consents(&self) -> bool {
        let question = &self.wizard.page().question;
        matches!(question, WizardQuestion::Choice { typing: ChoiceTyping::Consent, .. })
    }

    fn draw_keys(&self, buffer: &mut Buffer, page: &WizardPage) {
        let back = if self.wizard.answered().is_empty() { "leave" } else { "back" };
        let take = self.keys.key(PickerAction::Take);
        let left = match &page.question {
            WizardQuestion::Wait => "  Esc stop".to_string(),
            _ if self.consents() && !self.enter_counts => format!("  a moment  Esc {back}"),
            _ => format!("  {take} choose  Esc {back}"),
        };
        let more = if self.scroll_room.get() > 0 { "  PageDown more" } else { "" };
        let leave = "Ctrl-C leaves and changes nothing ";
        let line = Line::styled(format!("{left}{more}"), self.theme.style("hint"));
        bar(buffer, buffer.area.height.saturating_sub(1), &self.theme, &line, leave);
    }
}

impl FullScreenPane for WizardPane<'_> {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            self.wizard.cancel();
            return PaneFlow::Close;
        }
        match self.keys.action(key) {
            Some(PickerAction::Cancel) => {
                self.wizard.back();
                self.flow()
            }
            Some(PickerAction::Take) => self.take(),
            Some(PickerAction::Move(step)) => {
                // Home and End move in a line of text.
                match &self.wizard.page().question {
                    WizardQuestion::Text { .. } | WizardQuestion::Secret => self.typed(key),
                    _ => self.go(step),
                }
                PaneFlow::Stay
            }
            Some(PickerAction::Clear) => {
                self.is_suggestion = false;
                self.field.take();
                self.search();
                PaneFlow::Stay
            }
            Some(
                PickerAction::Mark
                | PickerAction::More
                | PickerAction::Rename
                | PickerAction::Delete
                | PickerAction::Sort,
            ) => PaneFlow::Stay,
            None => {
                self.typed(key);
                PaneFlow::Stay
            }
        }
    }

    fn paste(&mut self, text: &str) {
        match &self.wizard.page().question {
            WizardQuestion::Text { .. } | WizardQuestion::Secret => {
                self.drop_suggestion();
                self.field.insert(text.trim());
            }
            WizardQuestion::Choice { typing: ChoiceTyping::SearchOrName, .. } => {
                self.field.insert(text.trim());
                self.search();
            }
            // A key that was pasted one question too early must not become a search on the screen.
            WizardQuestion::Choice { .. } | WizardQuestion::Wait => {
                if self.wizard.paste(text) {
                    self.open_page();
                }
            }
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
    }

    fn decides(&self, key: KeyEvent) -> bool {
        self.consents() && self.keys.action(key) == Some(PickerAction::Take)
    }

    fn enter_counts(&mut self, counts: bool) -> bool {
        std::mem::replace(&mut self.enter_counts, counts) != counts && self.consents()
    }

    fn tick(&mut self) -> bool {
        let changed = self.wizard.poll();
        if changed {
            self.open_page();
        }
        self.ticks += 1;
        changed || self.ticks.is_multiple_of(8)
    }

    fn is_finished(&self) -> bool {
        self.wizard.is_closed()
    }

    fn has_background_work(&self) -> bool {
        self.wizard.page().question == WizardQuestion::Wait
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        super::line_ui::converse(self.wizard, talk);
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let area = buffer.area;
        let page = self.wizard.page();
        let columns = usize::from(area.width.saturating_sub(2 * MARGIN));
        let title = Span::styled(format!(" {}", self.wizard.title()), self.theme.style("title"));
        buffer.set_line(0, 0, &Line::from(title), area.width);
        let (fixed, lines) = self.head(columns);
        let field = self.field_row(page, columns);
        let needed = match &page.question {
            WizardQuestion::Choice { items, .. } => items.len().min(LEAST_ITEMS),
            _ => 1,
        };
        // The title and a blank row above; a blank row and the keys below.
        let rows = usize::from(area.height).saturating_sub(4);
        let others = fixed.len() + usize::from(field.is_some()) + needed + 1;
        let room = rows.saturating_sub(others).max(usize::from(rows > 3));
        self.scroll_room.set(lines.len().saturating_sub(room));
        let mut y = 2;
        let shown = lines.iter().skip(self.scrolled.min(self.scroll_room.get())).take(room);
        for line in fixed.iter().chain(shown) {
            buffer.set_line(MARGIN, y, line, area.width.saturating_sub(2 * MARGIN));
            y += 1;
        }
        if !lines.is_empty() || field.is_none() {
            y += 1;
        }
        let mut cursor = None;
        if let Some((line, at)) = &field {
            buffer.set_line(MARGIN, y, line, area.width.saturating_sub(2 * MARGIN));
            cursor = Some(((MARGIN + u16::try_from(*at).unwrap_or(0)).min(area.width.saturating_sub(1)), y));
            y += 1;
        }
        match &page.question {
            WizardQuestion::Choice { items, typing, .. } => {
                let height = area.height.saturating_sub(y + 2);
                let place = Rect::new(MARGIN, y, area.width.saturating_sub(2 * MARGIN), height);
                self.draw_items(buffer, place, items, *typing);
            }
            WizardQuestion::Wait => {
                const FRAMES: [&str; 4] = ["·", "··", "···", "····"];
                let frame = FRAMES.get(self.ticks / 8 % FRAMES.len()).copied().unwrap_or("·");
                buffer.set_stringn(MARGIN, y, frame, columns, self.theme.style("hint"));
            }
            WizardQuestion::Text { .. } | WizardQuestion::Secret => {}
        }
        self.draw_keys(buffer, page);
        cursor
    }
}
