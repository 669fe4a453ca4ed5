//! A picture on a screen of its own, as large as the screen allows and no larger than it is.
//!
//! The picture is decoded in the background, and again when the screen has another size. The screen neither zooms nor
//! plays: of an animated picture the first frame is shown.

use crate::Theme;
use crate::help_page::HelpPage;
use crate::keymap::Keymap;
use crate::pager::{PagerAction, bar};
use crate::picture::{PictureDisplay, PlacedPicture, RenderedPicture};
use crate::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::worker::Worker;
use crossterm::event::KeyEvent;
use placet_text::text::{sanitize, width};
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};
use std::sync::Arc;

pub struct PictureViewer {
    name: String,
    /// A description of the picture.
    about: String,
    theme: Theme,
    keys: Keymap<PagerAction>,
    size: (u16, u16),
    /// The picture at this size; `None` while it is decoded.
    drawn: Option<RenderedPicture>,
    decoder: Worker<(u16, u16), SizedPicture>,
    help: HelpPage,
}

/// A picture for a size of the screen.
type SizedPicture = ((u16, u16), RenderedPicture);

impl PictureViewer {
    pub fn new(
        bytes: Arc<Vec<u8>>,
        (name, about): (&str, String),
        theme: &Theme,
        keys: Keymap<PagerAction>,
        display: PictureDisplay,
    ) -> PictureViewer {
        let shown_name = name.to_string();
        let decoder = Worker::new("picture", move |mut inbox| {
            while let Some(mut size) = inbox.wait() {
                // Only the newest size is of use.
                size = std::iter::from_fn(|| inbox.try_next()).last().unwrap_or(size);
                let (columns, rows): (u16, u16) = size;
                let room = (usize::from(columns), usize::from(rows.saturating_sub(1)));
                inbox.send((size, display.draw(&bytes, &shown_name, room)));
            }
        });
        PictureViewer {
            name: name.into(),
            about,
            theme: theme.clone(),
            keys,
            size: (0, 0),
            drawn: None,
            decoder,
            help: HelpPage::default(),
        }
    }

    fn rows(&self) -> u16 {
        self.size.1.saturating_sub(1)
    }

    /// The message in the middle of the screen in place of a picture.
    fn words(&self) -> Option<String> {
        match &self.drawn {
            None => Some("working out…".into()),
            Some(RenderedPicture::Words(why)) if why.is_empty() => Some(self.about.clone()),
            Some(RenderedPicture::Words(why)) => Some(why.clone()),
            Some(RenderedPicture::Cells(_) | RenderedPicture::Dots(_)) => None,
        }
    }

    fn middle(&self, columns: u16, rows: u16) -> (u16, u16) {
        (self.size.0.saturating_sub(columns) / 2, self.rows().saturating_sub(rows) / 2)
    }
}

impl FullScreenPane for PictureViewer {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        if self.help.key(key, &self.keys) {
            return PaneFlow::Stay;
        }
        match self.keys.action(key) {
            Some(PagerAction::Close) => return PaneFlow::Close,
            Some(PagerAction::Help) => {
                let all = self.keys.help();
                let own = all.into_iter().rev().take(2).rev().collect();
                self.help.open(&[("Picture", own)], &self.theme, self.size);
            }
            _ => {}
        }
        PaneFlow::Stay
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.help.resize(columns, rows);
        if self.size == (columns, rows) {
            return;
        }
        self.size = (columns, rows);
        self.drawn = None;
        self.decoder.send(self.size);
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        if self.help.draw(buffer, &self.theme) {
            return None;
        }
        let area = buffer.area;
        if let Some(words) = self.words() {
            let words = sanitize::line(&words).into_owned();
            let wide = u16::try_from(width::of(&words)).unwrap_or(u16::MAX);
            let (x, y) = self.middle(wide, 1);
            if y < area.height {
                buffer.set_line(x, y, &Line::styled(words, self.theme.style("hint")), area.width);
            }
        }
        if let Some(RenderedPicture::Cells(lines)) = &self.drawn {
            let wide = lines.iter().map(Line::width).max().unwrap_or(0);
            let tall = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            let (x, y) = self.middle(u16::try_from(wide).unwrap_or(u16::MAX), tall);
            for (n, line) in (y..self.rows()).zip(lines) {
                buffer.set_line(x, n, line, area.width);
            }
        }
        let room = usize::from(area.width).saturating_sub(30).max(10);
        let status = Line::from(vec![
            Span::styled(
                format!(" {} ", width::cut_middle(&sanitize::name(&self.name), room)),
                self.theme.style("title"),
            ),
            Span::styled(format!(" {}", sanitize::line(&self.about)), self.theme.style("status")),
        ]);
        let close = self.keys.key(PagerAction::Close);
        bar(buffer, area.height.saturating_sub(1), &self.theme, &status, &format!("? keys  {close} close "));
        None
    }

    fn pictures(&self) -> Vec<PlacedPicture> {
        let Some(RenderedPicture::Dots(dots)) = self.drawn.as_ref().filter(|_| !self.help.is_open()) else {
            return Vec::new();
        };
        let (x, y) = self.middle(dots.columns, dots.rows);
        let bottom = usize::from(self.rows());
        PlacedPicture::within(dots, (x.into(), y.into()), 0, bottom).into_iter().collect()
    }

    fn tick(&mut self) -> bool {
        let mut news = false;
        while let Some(made) = self.decoder.poll() {
            let (size, drawn) = made.unwrap_or_else(|e| (self.size, RenderedPicture::Words(e.to_string())));
            if size == self.size {
                self.drawn = Some(drawn);
                news = true;
            }
        }
        news
    }

    fn has_background_work(&self) -> bool {
        self.decoder.is_busy()
    }
}
