//! The preview of what is selected, next to the list.

use super::rank::PickerItem;
use crate::Theme;
use crate::highlight::{HighlightDocId, SyntaxHighlighter};
use crate::list::PreviewArea;
use crate::viewer;
use ratatui::buffer::Buffer;
use ratatui::text::Line;
use std::sync::Arc;

/// What is shown next to the list of the thing under the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickerPreview {
    pub text: String,
    /// A path or a language, for colours; empty for none.
    pub language: String,
    /// Lines that are drawn as they are, in place of the text.
    pub drawn: Vec<Line<'static>>,
}

/// The preview of what is selected.
struct RenderedPreview {
    item: Arc<PickerItem>,
    lines: Vec<Line<'static>>,
    /// What the lines are, and who colours them.
    coloured: Option<(Vec<String>, HighlightDocId)>,
}

/// Makes the preview of a thing.
type PickerPreviewer<'h> = Box<dyn Fn(&PickerItem) -> PickerPreview + 'h>;

pub(super) struct PreviewColumn<'h> {
    /// Absent in a list without previews.
    pub(super) previewer: Option<PickerPreviewer<'h>>,
    pub(super) tint: SyntaxHighlighter,
    shown: Option<RenderedPreview>,
}

impl<'h> PreviewColumn<'h> {
    pub(super) fn new(theme: &Theme) -> PreviewColumn<'h> {
        PreviewColumn { previewer: None, tint: SyntaxHighlighter::new(theme), shown: None }
    }

    /// The preview is made again, also of the same thing.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }

    /// Makes the preview of what is selected now; false where it is shown already.
    pub(super) fn show(&mut self, current: Option<Arc<PickerItem>>) -> bool {
        let Some(previewer) = &self.previewer else { return false };
        if self.shown.as_ref().map(|shown| &shown.item) == current.as_ref() {
            return false;
        }
        if let Some((_, doc)) = self.shown.take().and_then(|shown| shown.coloured) {
            self.tint.remove(doc);
        }
        self.shown = current.map(|item| {
            let preview = previewer(&item);
            let text: Vec<String> = preview.text.split_terminator('\n').take(200).map(String::from).collect();
            let plain = || text.iter().map(|line| viewer::styled(line, &[])).collect();
            let lines = if preview.drawn.is_empty() { plain() } else { preview.drawn };
            let has_colours = !preview.language.is_empty();
            let doc = has_colours.then(|| self.tint.add(preview.text.as_str().into(), &preview.language));
            RenderedPreview { item, lines, coloured: doc.map(|doc| (text, doc)) }
        });
        true
    }

    pub(super) fn draw(&self, buffer: &mut Buffer, area: PreviewArea, theme: &Theme) {
        area.draw_border(buffer, theme);
        let area = area.inside();
        let Some(shown) = &self.shown else { return };
        if let Some((_, doc)) = &shown.coloured {
            self.tint.want(*doc, 0..usize::from(area.height));
        }
        for (at, line) in shown.lines.iter().enumerate().take(usize::from(area.height)) {
            let coloured = shown
                .coloured
                .as_ref()
                .and_then(|(text, doc)| Some(viewer::styled(text.get(at)?, self.tint.line(*doc, at)?)));
            let y = area.y + u16::try_from(at).unwrap_or(0);
            buffer.set_line(area.x, y, coloured.as_ref().unwrap_or(line), area.width);
        }
    }
}
