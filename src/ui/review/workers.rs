//! What is worked out beside the review while it is drawn: colours of code, pictures, who wrote what.
//!
//! Every answer comes from a thread of its own and is taken in between two frames; until then the screen says that it is
//! coming, and every key works.

use super::cells::{StyledCell, cells};
use super::comment::DiffSide;
use super::file::PicturePair;
use super::paint::{ReviewAnnotations, cell};
use crate::ui::Theme;
use crate::ui::highlight::{HighlightDocId, SyntaxHighlighter};
use crate::ui::picture::{PictureDisplay, RenderedPicture, TerminalPicture};
use ratatui::style::Style;
use ratatui::text::Line;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Who wrote each line of a file, in a few words; the error says why that cannot be told.
pub type BlameFn = Arc<dyn Fn(&std::path::Path) -> Result<Vec<String>, String> + Send + Sync>;

/// Rows of the screen that a picture takes at most.
const PICTURE_ROWS: usize = 16;

pub(super) struct ReviewWorkers {
    pub(super) tint: SyntaxHighlighter,
    pub(super) docs: HashMap<(usize, DiffSide), HighlightDocId>,
    /// `None` while it is worked out.
    blamed: HashMap<usize, Option<Vec<String>>>,
    pictures: HashMap<(usize, DiffSide), ReviewPicture>,
    /// Answers that are awaited.
    coming: usize,
    made: (Sender<ReviewWorkResult>, Receiver<ReviewWorkResult>),
}

struct ReviewPicture {
    /// The width it was made for.
    columns: usize,
    drawn: Option<RenderedPicture>,
}

enum ReviewWorkResult {
    Picture { of: (usize, DiffSide), columns: usize, drawn: RenderedPicture },
    Blame { file: usize, lines: Result<Vec<String>, String> },
}

/// What became known.
pub(super) enum ReviewUpdate {
    Nothing,
    Something,
    /// Something that is to be said.
    Said(String),
}

impl ReviewWorkers {
    pub(super) fn new(theme: &Theme) -> ReviewWorkers {
        ReviewWorkers {
            tint: SyntaxHighlighter::new(theme),
            docs: HashMap::new(),
            blamed: HashMap::new(),
            pictures: HashMap::new(),
            coming: 0,
            made: channel(),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.tint.is_busy() || self.coming > 0
    }

    /// Decodes both pictures of a file for so many columns, once.
    pub(super) fn want_pictures(
        &mut self,
        file: usize,
        (pictures, name): (&PicturePair, &str),
        columns: usize,
        display: PictureDisplay,
    ) {
        for (side, bytes) in [(DiffSide::Old, &pictures.before), (DiffSide::New, &pictures.after)] {
            let of = (file, side);
            let made = self.pictures.get(&of).is_some_and(|picture| picture.columns == columns);
            let Some(bytes) = bytes.clone().filter(|_| !made) else { continue };
            self.pictures.insert(of, ReviewPicture { columns, drawn: None });
            let name = name.to_string();
            self.spawn(move || ReviewWorkResult::Picture {
                of,
                columns,
                drawn: display.draw(&bytes, &name, (columns, PICTURE_ROWS)),
            });
        }
    }

    /// Asks who wrote the lines of a file; false when that was asked before.
    pub(super) fn want_blame(&mut self, file: usize, path: PathBuf, blamer: &BlameFn) -> bool {
        if self.blamed.contains_key(&file) {
            return false;
        }
        self.blamed.insert(file, None);
        let blamer = Arc::clone(blamer);
        self.spawn(move || ReviewWorkResult::Blame { file, lines: blamer(&path) });
        true
    }

    /// The file is another one now.
    pub(super) fn forget(&mut self, file: usize) {
        for side in [DiffSide::Old, DiffSide::New] {
            if let Some(doc) = self.docs.remove(&(file, side)) {
                self.tint.remove(doc);
            }
        }
        self.blamed.remove(&file);
    }

    fn spawn(&mut self, work: impl FnOnce() -> ReviewWorkResult + Send + 'static) {
        let sender = self.made.0.clone();
        let started =
            std::thread::Builder::new().name("beside".into()).spawn(move || drop(sender.send(work())));
        // Without a thread the answer stays away; everything else goes on.
        self.coming += usize::from(started.is_ok());
    }

    pub(super) fn take_in(&mut self) -> ReviewUpdate {
        let mut news = if self.tint.poll() { ReviewUpdate::Something } else { ReviewUpdate::Nothing };
        while let Ok(made) = self.made.1.try_recv() {
            self.coming = self.coming.saturating_sub(1);
            if matches!(news, ReviewUpdate::Nothing) {
                news = ReviewUpdate::Something;
            }
            match made {
                ReviewWorkResult::Picture { of, columns, drawn } => {
                    if let Some(picture) = self.pictures.get_mut(&of).filter(|p| p.columns == columns) {
                        picture.drawn = Some(drawn);
                    }
                }
                ReviewWorkResult::Blame { file, lines } => {
                    if let Err(why) = &lines {
                        news = ReviewUpdate::Said(format!("cannot determine who wrote these lines: {why}"));
                    }
                    // It may have been edited meanwhile.
                    if let Some(slot) = self.blamed.get_mut(&file) {
                        *slot = Some(lines.unwrap_or_default());
                    }
                }
            }
        }
        news
    }
}

impl ReviewAnnotations for ReviewWorkers {
    fn colours(&self, file: usize, side: DiffSide, line: usize) -> Option<Vec<(Range<usize>, Style)>> {
        let doc = self.docs.get(&(file, side))?;
        self.tint.line(*doc, line).map(<[_]>::to_vec)
    }

    fn blame(&self, file: usize, line: usize) -> Option<String> {
        match self.blamed.get(&file)? {
            Some(lines) => lines.get(line).cloned(),
            None => Some("working out…".into()),
        }
    }

    fn picture(&self, file: usize, side: DiffSide) -> Option<Vec<Vec<StyledCell>>> {
        let words = |text: &str| vec![cells(text, |_| Style::default())];
        match self.pictures.get(&(file, side))?.drawn.as_ref() {
            None => Some(words("working out…")),
            Some(RenderedPicture::Words(why)) if why.is_empty() => Some(Vec::new()),
            Some(RenderedPicture::Words(why)) => Some(words(why)),
            Some(RenderedPicture::Cells(lines)) => Some(lines.iter().map(cells_of).collect()),
            Some(RenderedPicture::Dots(dots)) => {
                let blank = vec![cell(" ", Style::default()); usize::from(dots.columns)];
                Some(vec![blank; usize::from(dots.rows)])
            }
        }
    }

    fn dots(&self, file: usize, side: DiffSide) -> Option<Arc<TerminalPicture>> {
        match self.pictures.get(&(file, side))?.drawn.as_ref()? {
            RenderedPicture::Dots(dots) => Some(Arc::clone(dots)),
            _ => None,
        }
    }
}

fn cells_of(line: &Line<'_>) -> Vec<StyledCell> {
    line.spans.iter().map(|span| cell(&span.content, span.style)).collect()
}
