//! Matching lines, collected by several threads and sorted.

use super::file_page::GUTTER;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use placet_workspace::{Hash, RelativePath, SkippedEntries, TextFile, WalkBudget};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, PoisonError};

const CONTEXT_GUTTER: char = '┊';
/// The longest line that is stored whole, and how much of a longer line is stored before and after its match, in bytes.
const LINE: usize = 400;
const BEFORE: usize = 100;
const AFTER: usize = 250;
/// The largest file that is loaded to record which of its lines were shown. A larger one is hashed while it is searched.
pub(crate) const LOADED: u64 = 16 << 20;
/// How much room a part of a long line takes, with the number of the line and what was cut.
pub(crate) const LONGEST_HIT: usize = BEFORE + AFTER + 100;

/// What to look for.
#[derive(Clone, Debug)]
pub(crate) struct SearchQuery {
    pub(crate) matcher: RegexMatcher,
    pub(crate) context: usize,
    /// The first match of a file is enough.
    pub(crate) names_only: bool,
    /// How many matching lines of one file are stored; further matches are only counted.
    pub(crate) most: usize,
}

/// A line that matched, or a context line. Numbers begin with 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchHit {
    pub(crate) line: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) matched: bool,
    /// How many bytes of the line were cut before and after.
    pub(crate) cut: Option<(usize, usize)>,
    /// Where a search found the line, with its line end: in bytes of what it read.
    pub(crate) found_at: Range<usize>,
}

impl SearchHit {
    /// The part of a long line around what matches in it.
    pub(crate) fn around(line: usize, text: &str, matcher: &RegexMatcher) -> SearchHit {
        let found = matcher.find(text.as_bytes()).ok().flatten().map_or(0, |found| found.start());
        let (part, cut) = around(text.as_bytes(), found);
        SearchHit { line, bytes: part.to_vec(), matched: true, cut, found_at: 0..0 }
    }

    /// What is before and after the text in a row, with the number of the line right-aligned in `width`.
    pub(crate) fn ends(&self, width: usize) -> (String, String) {
        let gutter = if self.matched { GUTTER } else { CONTEXT_GUTTER };
        let (lead, tail) = self.marks();
        (format!("{:>width$}{gutter}{lead}", self.line), tail)
    }

    pub(crate) fn row(&self, width: usize) -> String {
        let (lead, tail) = self.ends(width);
        format!("{lead}{}{tail}", String::from_utf8_lossy(&self.bytes))
    }

    /// The text of the line; a part of a long line says so.
    pub(crate) fn text(&self) -> String {
        let (lead, tail) = self.marks();
        format!("{lead}{}{tail}", String::from_utf8_lossy(&self.bytes))
    }

    fn marks(&self) -> (String, String) {
        self.cut.map_or_else(Default::default, |(before, after)| {
            (format!("[... {before} bytes] "), format!(" [{after} bytes ...]"))
        })
    }

    /// The bytes of a large file that were shown; `None` if the file has other bytes there: in another encoding, or by now.
    pub(crate) fn shown_bytes(&self, file: &File) -> Option<Range<usize>> {
        let (before, after) = self.cut.unwrap_or_default();
        let start = self.found_at.start + before;
        let mut there = vec![0; self.bytes.len()];
        file.read_exact_at(&mut there, start as u64).ok()?;
        let end = if after == 0 { self.found_at.end } else { start + there.len() };
        (there == self.bytes).then_some(start..end)
    }

    /// Where the part is in the file whose `line` has these bytes; empty if the file has other bytes there: in another
    /// encoding, or by now.
    pub(crate) fn bytes_in(&self, file: &TextFile, line: &Range<usize>) -> Range<usize> {
        let Some((before, after)) = self.cut else { return 0..0 };
        let start = line.start + before;
        let part = start..(start + self.bytes.len()).min(line.end);
        match file.part(part.clone()) == self.bytes {
            true if after == 0 => start..line.end,
            true => part,
            false => 0..0,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FileHits {
    pub(crate) relative: RelativePath,
    /// The hash of a file that is larger than [`LOADED`].
    pub(crate) hash: Option<Hash>,
    pub(crate) hits: Vec<SearchHit>,
    pub(crate) matches: usize,
    pub(crate) has_context: bool,
    kept: usize,
}

impl FileHits {
    /// The same file with the hits that an answer shows.
    pub(crate) fn of_shown(&self, hits: Vec<SearchHit>) -> FileHits {
        FileHits { relative: self.relative.clone(), hash: self.hash, hits, ..FileHits::default() }
    }
}

#[derive(Default)]
struct HitBatch {
    files: Vec<FileHits>,
    /// Files that were not opened because the kernel generates them, that could not be read, or that are binary.
    skipped: SkippedEntries,
    /// Files whose search was stopped.
    stopped: Vec<String>,
}

/// The results of a search.
pub(crate) struct SearchResults {
    /// In the order of their paths.
    pub(crate) files: Vec<FileHits>,
    pub(crate) skipped: SkippedEntries,
}

/// Collects what the workers find.
pub(crate) struct HitCollector {
    search: SearchQuery,
    pile: Mutex<HitBatch>,
}

impl HitCollector {
    pub(crate) fn new(search: SearchQuery) -> HitCollector {
        HitCollector { search, pile: Mutex::default() }
    }

    pub(crate) fn worker<'a>(&'a self, stop: &'a (dyn Fn() -> bool + Sync)) -> SearchWorker<'a> {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.search.context)
            .after_context(self.search.context)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        SearchWorker {
            gatherer: self,
            searcher,
            matcher: self.search.matcher.clone(),
            stop,
            own: HitBatch::default(),
        }
    }

    pub(crate) fn finish(self, budget: WalkBudget) -> SearchResults {
        let mut pile = self.pile.into_inner().unwrap_or_else(PoisonError::into_inner);
        pile.files.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        let late = (!pile.stopped.is_empty() && budget.is_expired()).then(|| budget.timeout_in(pile.stopped));
        let skipped = SkippedEntries { late, ..pile.skipped };
        SearchResults { files: pile.files, skipped }
    }
}

/// One thread's searcher.
pub(crate) struct SearchWorker<'a> {
    gatherer: &'a HitCollector,
    searcher: Searcher,
    matcher: RegexMatcher,
    stop: &'a (dyn Fn() -> bool + Sync),
    own: HitBatch,
}

impl SearchWorker<'_> {
    /// Searches one file, or counts that it cannot be read.
    pub(crate) fn file(&mut self, relative: RelativePath, file: io::Result<File>) {
        let file = match file {
            Ok(file) => file,
            Err(e) => {
                self.own.skipped += SkippedEntries::of(&e);
                return;
            }
        };
        let search = &self.gatherer.search;
        let mut hits = HitSink { search, found: FileHits::default(), binary: false };
        let is_large = file.metadata().is_ok_and(|meta| meta.len() > LOADED);
        let hasher = is_large.then(blake3::Hasher::new);
        let mut reader = CancellableFile { file, stop: self.stop, hasher };
        let done = self.searcher.search_reader(&self.matcher, &mut reader, &mut hits);
        if done.is_err() && (self.stop)() {
            self.own.stopped.push(relative.shown());
            return;
        }
        if hits.binary {
            self.own.skipped.binary += 1;
            return;
        }
        if let Err(e) = &done {
            self.own.skipped += SkippedEntries::of(e);
        }
        if done.is_ok() {
            hits.found.hash = reader.hasher.map(|hasher| hasher.finalize());
        }
        // What was found before the error is true.
        if hits.found.matches > 0 {
            hits.found.relative = relative;
            hits.found.has_context = search.context > 0;
            self.own.files.push(hits.found);
        }
    }
}

impl Drop for SearchWorker<'_> {
    fn drop(&mut self) {
        let mut pile = self.gatherer.pile.lock().unwrap_or_else(PoisonError::into_inner);
        pile.files.append(&mut self.own.files);
        pile.skipped += std::mem::take(&mut self.own.skipped);
        pile.stopped.append(&mut self.own.stopped);
    }
}

/// A file whose reads end when the call is cancelled.
struct CancellableFile<'a> {
    file: File,
    stop: &'a (dyn Fn() -> bool + Sync),
    /// For a large file: what the ledger knows it by.
    hasher: Option<blake3::Hasher>,
}

impl Read for CancellableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Err(io::Error::other("cancelled"));
        }
        let read = self.file.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(buffer.get(..read).unwrap_or_default());
        }
        Ok(read)
    }
}

struct HitSink<'a> {
    search: &'a SearchQuery,
    found: FileHits,
    binary: bool,
}

impl HitSink<'_> {
    fn keep(&mut self, (number, offset): (Option<u64>, u64), bytes: &[u8], matched: bool) {
        let line = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
        let start = usize::try_from(offset).unwrap_or(0);
        let found_at = start..start + bytes.len();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (part, cut) = match bytes.len() {
            0..=LINE => (bytes, None),
            _ => around(bytes, self.search.matcher.find(bytes).ok().flatten().map_or(0, |m| m.start())),
        };
        self.found.hits.push(SearchHit { line, bytes: part.to_vec(), matched, cut, found_at });
    }
}

/// The part of a long line around the byte at `at`, cut at character boundaries.
fn around(bytes: &[u8], at: usize) -> (&[u8], Option<(usize, usize)>) {
    let inside = |at: &usize| bytes.get(*at).is_some_and(|b| b & 0xC0 == 0x80);
    let boundary = |at: usize| (at.saturating_sub(3)..=at).rev().find(|at| !inside(at)).unwrap_or(at);
    let (from, to) = (boundary(at.saturating_sub(BEFORE)), boundary((at + AFTER).min(bytes.len())));
    (bytes.get(from..to).unwrap_or_default(), Some((from, bytes.len() - to)))
}

impl Sink for HitSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found.matches += 1;
        if self.search.names_only {
            return Ok(false);
        }
        if self.found.kept < self.search.most {
            self.found.kept += 1;
            let place = (found.line_number(), found.absolute_byte_offset());
            self.keep(place, found.bytes(), true);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.found.kept < self.search.most {
            let place = (context.line_number(), context.absolute_byte_offset());
            self.keep(place, context.bytes(), false);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> Result<(), io::Error> {
        Ok(())
    }
}
