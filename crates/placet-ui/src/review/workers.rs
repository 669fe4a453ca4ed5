//! Background work of the review: colours of code, pictures, who wrote what.
//!
//! Pictures and blame have a thread each, and every answer is received between two frames. Until then the screen shows
//! that the answer is coming, and every key works.

use super::content::file::PicturePair;
use super::content::side_text::DiffSide;
use super::picture::cells::{StyledCell, cell, cells};
use super::picture::paint::ReviewAnnotations;
use crate::Theme;
use crate::highlight::{HighlightDocId, SyntaxHighlighter};
use crate::picture::{PictureDisplay, RenderedPicture, TerminalPicture};
use crate::worker::Worker;
use ratatui::style::Style;
use ratatui::text::Line;
use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Who wrote each line of a file, in a few words.
pub type BlameFn = Arc<dyn Fn(&std::path::Path) -> std::io::Result<Vec<String>> + Send + Sync>;

/// Rows of the screen that a picture takes at most.
const PICTURE_ROWS: usize = 16;

pub(super) struct ReviewWorkers {
    pub(super) tint: SyntaxHighlighter,
    pub(super) docs: HashMap<(usize, DiffSide), HighlightDocId>,
    /// `None` while the answer is computed.
    blamed: HashMap<usize, Option<Vec<String>>>,
    pictures: HashMap<(usize, DiffSide), ReviewPicture>,
    decoder: Worker<PictureTask, (PictureTask, RenderedPicture)>,
    blamer: Worker<BlameTask, (usize, std::io::Result<Vec<String>>)>,
}

struct PictureTask {
    of: (usize, DiffSide),
    bytes: Arc<Vec<u8>>,
    name: String,
    columns: usize,
    display: PictureDisplay,
}

struct BlameTask {
    file: usize,
    path: PathBuf,
    blamer: BlameFn,
}

struct ReviewPicture {
    /// The width it was made for.
    columns: usize,
    drawn: Option<RenderedPicture>,
}

/// A new result.
pub(super) enum ReviewUpdate {
    Nothing,
    Something,
    /// A message for the person.
    Said(String),
}

impl ReviewWorkers {
    pub(super) fn new(theme: &Theme) -> ReviewWorkers {
        ReviewWorkers {
            tint: SyntaxHighlighter::of_difference(theme),
            docs: HashMap::new(),
            blamed: HashMap::new(),
            pictures: HashMap::new(),
            decoder: Worker::each("pictures", |task: PictureTask| {
                let drawn = task.display.draw(&task.bytes, &task.name, (task.columns, PICTURE_ROWS));
                (task, drawn)
            }),
            blamer: Worker::each("blame", |task: BlameTask| (task.file, (task.blamer)(&task.path))),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.tint.is_busy() || self.decoder.is_busy() || self.blamer.is_busy()
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
            self.decoder.send(PictureTask { of, bytes, name, columns, display });
        }
    }

    /// Asks who wrote the lines of a file; false when this was asked before.
    pub(super) fn want_blame(&mut self, file: usize, path: PathBuf, blamer: &BlameFn) -> bool {
        if self.blamed.contains_key(&file) {
            return false;
        }
        self.blamed.insert(file, None);
        self.blamer.send(BlameTask { file, path, blamer: Arc::clone(blamer) });
        true
    }

    /// The file has other content now.
    pub(super) fn forget(&mut self, file: usize) {
        for side in [DiffSide::Old, DiffSide::New] {
            if let Some(doc) = self.docs.remove(&(file, side)) {
                self.tint.remove(doc);
            }
        }
        self.blamed.remove(&file);
    }

    pub(super) fn take_in(&mut self) -> ReviewUpdate {
        let mut news = if self.tint.poll() { ReviewUpdate::Something } else { ReviewUpdate::Nothing };
        while let Some(made) = self.decoder.poll() {
            news = ReviewUpdate::Something;
            match made {
                Ok((task, drawn)) => {
                    if let Some(picture) =
                        self.pictures.get_mut(&task.of).filter(|p| p.columns == task.columns)
                    {
                        picture.drawn = Some(drawn);
                    }
                }
                Err(e) => {
                    let awaited = self.pictures.values_mut().filter(|picture| picture.drawn.is_none());
                    awaited.for_each(|p| p.drawn = Some(RenderedPicture::Words(e.to_string())));
                }
            }
        }
        while let Some(made) = self.blamer.poll() {
            let cannot = |why: &dyn Display| {
                ReviewUpdate::Said(format!("cannot determine who wrote these lines: {why}"))
            };
            news = match made {
                Ok((file, lines)) => {
                    let said = lines.as_ref().err().map(|error| cannot(error));
                    // The file may have been edited in the meantime.
                    if let Some(slot) = self.blamed.get_mut(&file) {
                        *slot = Some(lines.unwrap_or_default());
                    }
                    said.unwrap_or(ReviewUpdate::Something)
                }
                Err(e) => {
                    self.blamed.values_mut().for_each(|lines| *lines = lines.take().or(Some(Vec::new())));
                    cannot(&e)
                }
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: the screen showed for ever that the answer is coming.
    #[test]
    fn a_crash_of_the_thread_is_said_and_not_waited_for() {
        let mut workers = ReviewWorkers::new(&Theme::plain());
        let blamer: BlameFn = Arc::new(|_| panic!("a panic that the test wants"));
        assert!(workers.want_blame(0, "/w/a".into(), &blamer));
        assert_eq!(workers.blame(0, 0).as_deref(), Some("working out…"));
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let mut said = Vec::new();
        while workers.is_busy() {
            assert!(std::time::Instant::now() < until, "it waits for ever");
            if let ReviewUpdate::Said(words) = workers.take_in() {
                said.push(words);
            }
        }
        let words =
            "cannot determine who wrote these lines: the thread `blame` could not be started, or it crashed";
        assert_eq!((said, workers.blame(0, 0)), (vec![words.to_string()], None));
    }
}
