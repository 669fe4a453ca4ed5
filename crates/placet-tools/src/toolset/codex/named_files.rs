//! The files that a command names, with their present content, and which lines of them were shown.

use super::super::super::ToolContext;
use super::shell_line::below;
use crate::files::lookup::load_text;
use placet_text::text::RangeSet;
use placet_workspace::{Hash, OpenConsent, ResolvedPath, TextFile};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

/// The most files with which one command's output is compared.
const MOST_FILES: usize = 100;

/// Lines of files, by the numbers that the files have in [`CodexFiles`].
pub(super) type CodexSeenLines = BTreeMap<usize, RangeSet>;

/// The files that a command names, with their present content.
pub(super) struct CodexFiles<'e> {
    env: &'e ToolContext,
    /// The directory to which names are relative; `cd` changes it.
    pub(super) dir: Option<String>,
    numbers: BTreeMap<String, Option<usize>>,
    pub(super) known: Vec<CodexFile>,
}

pub(super) struct CodexFile {
    pub(super) at: ResolvedPath,
    pub(super) file: TextFile,
    pub(super) hash: Hash,
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// The position of each line, without its end; `None` for a line that occurs several times. Built on demand.
    places: OnceCell<HashMap<Vec<u8>, Option<usize>>>,
}

impl<'e> CodexFiles<'e> {
    pub(super) fn new(env: &'e ToolContext, dir: Option<&str>) -> CodexFiles<'e> {
        CodexFiles { env, dir: dir.map(String::from), numbers: BTreeMap::new(), known: Vec::new() }
    }

    /// The number of a text file inside the workspace.
    pub(super) fn number(&mut self, name: &str) -> Option<usize> {
        let path = below(self.dir.as_deref(), name);
        if let Some(number) = self.numbers.get(&path) {
            return *number;
        }
        let number = self.load(&path);
        self.numbers.insert(path, number);
        number
    }

    fn load(&mut self, path: &str) -> Option<usize> {
        if self.known.len() == MOST_FILES {
            return None;
        }
        let at = self.env.resolve(path).ok().filter(|at| at.exists)?;
        let (file, hash) = load_text(self.env, &at, OpenConsent::Inside).ok()?;
        let mut end = 0;
        let begins = lines(&file).map(|line| {
            end += line.len();
            end - line.len()
        });
        let starts: Vec<usize> = begins.collect();
        // The lines must be those of the ledger, which counts lines in the bytes.
        (starts.len() == file.line_count()).then_some(())?;
        self.known.push(CodexFile { at, file, hash, starts, places: OnceCell::new() });
        Some(self.known.len() - 1)
    }

    /// The lines of a file, each with its end.
    pub(super) fn lines(&self, number: usize) -> impl Iterator<Item = &[u8]> {
        self.known.get(number).into_iter().flat_map(|known| lines(&known.file))
    }

    /// True if this is the line of a file, apart from its end.
    pub(super) fn is_line(&self, number: usize, at: usize, text: &[u8]) -> bool {
        let line = self.known.get(number).and_then(|known| {
            let from = *known.starts.get(at)?;
            let end = known.starts.get(at + 1).copied().unwrap_or(known.file.bytes().len());
            known.file.bytes().get(from..end)
        });
        line.is_some_and(|line| bare(line) == text)
    }

    /// The only line of a file that equals this text, apart from its end.
    pub(super) fn only_line(&self, number: usize, text: &[u8]) -> Option<usize> {
        let known = self.known.get(number)?;
        let places = known.places.get_or_init(|| {
            let mut places = HashMap::new();
            for (at, line) in lines(&known.file).enumerate() {
                let place = places.entry(bare(line).to_vec());
                place.and_modify(|at| *at = None).or_insert(Some(at));
            }
            places
        });
        places.get(text).copied().flatten()
    }
}

fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn lines(file: &TextFile) -> impl Iterator<Item = &[u8]> {
    file.bytes().split_inclusive(|b| *b == b'\n')
}
