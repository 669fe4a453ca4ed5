//! A list whose things can be renamed, deleted and put into another order: sessions. The typed words of a list look for
//! something, so these keys are no letters.

use super::owner::{OwnedList, PickerOwner, PickerTask};
use super::{Picker, PickerAction};
use crate::lines::wrap::wrap;
use crate::terminal::full_screen::PaneFlow;
use crate::text_field::{TextField, TextFieldKind};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_text::text::visible;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Rows of a question or a message at most.
const MOST_ROWS: usize = 4;

impl<'h> Picker<'h> {
    /// Things that can be renamed, deleted and put into another order. Their lists replace those given before.
    #[must_use]
    pub fn owned_by(mut self, owner: impl PickerOwner + 'h) -> Picker<'h> {
        self.owned = Some(OwnedList { owner: Box::new(owner), order: 0, task: None });
        self
    }

    /// Begins a task with what is selected.
    pub(super) fn begin(&mut self, act: PickerAction) {
        let Some(value) = self.search.current().map(|item| item.value().to_string()) else { return };
        let Some(owned) = &mut self.owned else { return };
        owned.task = Some(match act {
            PickerAction::Rename => {
                let mut field = TextField::new(TextFieldKind::Line);
                field.set(&owned.owner.name_of(&value));
                let is_selected = !field.is_empty();
                PickerTask::Naming { value, field, is_selected }
            }
            _ => match owned.owner.delete_question(&value) {
                Ok(question) => PickerTask::Deleting { value, question },
                Err(refusal) => PickerTask::Told(refusal.to_string()),
            },
        });
    }

    /// The next order of the list, from its beginning.
    pub(super) fn next_order(&mut self) {
        let Some(owned) = &mut self.owned else { return };
        owned.order = (owned.order + 1) % owned.owner.orders().len().max(1);
        self.reload(0);
    }

    /// Shows the lists of the owner again, with this row selected.
    fn reload(&mut self, selected: usize) {
        let Some(owned) = &self.owned else { return };
        self.scopes.replace(owned.owner.scopes(owned.order));
        self.preview.forget();
        self.show_scope();
        self.search.cursor.selected = selected;
    }

    /// What a key does while the list waits for a name or an answer; `None` where it does not.
    pub(super) fn task_key(&mut self, key: KeyEvent) -> Option<PaneFlow> {
        let owned = self.owned.as_mut()?;
        let done = match owned.task.take()? {
            // The message has been read, and the key is for the list.
            PickerTask::Told(_) => return None,
            PickerTask::Naming { value, mut field, mut is_selected } => match key.code {
                KeyCode::Esc => return Some(PaneFlow::Stay),
                KeyCode::Char('c' | 'g') if key.modifiers == KeyModifiers::CONTROL => {
                    return Some(PaneFlow::Stay);
                }
                KeyCode::Enter => owned.owner.rename(&value, field.text()),
                code => {
                    let is_text =
                        matches!(code, KeyCode::Char(_)) && (key.modifiers - KeyModifiers::SHIFT).is_empty();
                    let is_erased = matches!(code, KeyCode::Backspace | KeyCode::Delete);
                    if is_selected && (is_text || is_erased) {
                        field.take();
                    }
                    if !(is_selected && is_erased) {
                        field.key(key);
                    }
                    is_selected = false;
                    owned.task = Some(PickerTask::Naming { value, field, is_selected });
                    return Some(PaneFlow::Stay);
                }
            },
            PickerTask::Deleting { value, .. } if key.code == KeyCode::Char('y') => {
                owned.owner.delete(&value)
            }
            // Every other key keeps it.
            PickerTask::Deleting { .. } => return Some(PaneFlow::Stay),
        };
        if let Err(refusal) = done {
            owned.task = Some(PickerTask::Told(refusal.to_string()));
        }
        self.reload(self.search.cursor.selected);
        Some(PaneFlow::Stay)
    }

    /// A paste goes into the field of a name, and answers nothing. False where it is for the list.
    pub(super) fn task_paste(&mut self, text: &str) -> bool {
        match self.owned.as_mut().and_then(|owned| owned.task.as_mut()) {
            Some(PickerTask::Naming { field, is_selected, .. }) => {
                if std::mem::take(is_selected) {
                    field.take();
                }
                field.insert(text);
                true
            }
            Some(PickerTask::Deleting { .. }) => true,
            Some(PickerTask::Told(_)) | None => false,
        }
    }

    pub(super) fn order_name(&self) -> Option<&'static str> {
        let owned = self.owned.as_ref().filter(|owned| owned.order > 0)?;
        owned.owner.orders().get(owned.order).copied()
    }

    /// What the key for another order shows next.
    pub(super) fn next_order_name(&self) -> Option<&'static str> {
        let owned = self.owned.as_ref()?;
        let orders = owned.owner.orders();
        orders.get((owned.order + 1) % orders.len().max(1)).copied()
    }

    /// Draws the task in the last rows. The place of the cursor is that of the field, where one is open.
    pub(super) fn draw_task(&self, buffer: &mut Buffer) -> Option<Option<(u16, u16)>> {
        let task = self.owned.as_ref()?.task.as_ref()?;
        let area = buffer.area;
        let columns = usize::from(area.width);
        let last = area.height.saturating_sub(1);
        if let PickerTask::Naming { field, is_selected, .. } = task {
            const LABEL: &str = " new name ❯ ";
            let lead = placet_text::text::width::of(LABEL);
            let (typed, at) = field.view(columns.saturating_sub(lead));
            let label = Span::styled(LABEL, self.theme.style("question"));
            let style = if *is_selected { self.theme.style("select") } else { Style::default() };
            clear(buffer, last);
            buffer.set_line(0, last, &Line::from(vec![label, Span::styled(typed, style)]), area.width);
            let x = u16::try_from(lead + at).unwrap_or(0).min(area.width.saturating_sub(1));
            return Some(Some((x, last)));
        }
        let (words, label) = match task {
            PickerTask::Deleting { question, .. } => (question.as_str(), "question"),
            PickerTask::Told(words) => (words.as_str(), "warning"),
            PickerTask::Naming { .. } => return None,
        };
        let line = Line::styled(visible::guard_line(words).into_owned(), self.theme.style(label));
        let rows = wrap(&line, columns.saturating_sub(1).max(1));
        let skipped = rows.len().saturating_sub(MOST_ROWS.min(usize::from(area.height)));
        let rows = rows.into_iter().skip(skipped);
        let count = u16::try_from(rows.len()).unwrap_or(0);
        for (row, y) in rows.zip(area.height.saturating_sub(count)..) {
            clear(buffer, y);
            buffer.set_line(1, y, &row, area.width.saturating_sub(1));
        }
        Some(None)
    }
}

fn clear(buffer: &mut Buffer, y: u16) {
    let blanks = " ".repeat(usize::from(buffer.area.width));
    buffer.set_stringn(0, y, blanks, usize::from(buffer.area.width), Style::reset());
}
