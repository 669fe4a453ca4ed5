//! What a check found and wrote, on a screen of its own: its diagnostics first, and Enter on a line opens the file that
//! the line names.
//!
//! The check chose every path in its output. Only files of the workspace are opened, as the conversation has them:
//! with what is pending.

use super::{Viewer, ViewerAction, ViewerCallbacks, ViewerEditError, ViewerText};
use crate::Theme;
use crate::keymap::Keymap;
use crate::pager::PagerAction;
use crate::terminal::clipboard::Clipboard;
use crate::terminal::{editor, full_screen};
use placet_checks::{
    CheckResult, CheckStore, DiagnosticFile, DiagnosticPlace, OutputToShow, diagnostic_line,
};
use placet_text::text::{TextEncoding, regular_file};
use placet_workspace::{LayerKind, OpenConsent, Workspace};
use std::io::Read as _;
use std::path::Path;

/// How much of the output the screen shows.
const LARGEST: u64 = 16 << 20;

/// Shows the output of checks.
pub struct CheckOutputScreen {
    pub theme: Theme,
    pub keys: Keymap<ViewerAction>,
    pub pager: Keymap<PagerAction>,
    pub clipboard: Clipboard,
    /// The person's own editor.
    pub editor: String,
    pub workspace: Workspace,
    pub store: CheckStore,
}

impl CheckOutputScreen {
    /// Shows the last run of a check until the person closes the screen. Returns the sentence that is shown instead where
    /// that is not possible.
    pub fn show(&self, output: &OutputToShow) -> Option<String> {
        let check = &output.check;
        let Some(result) = self.store.results(check).into_iter().next() else {
            return Some(format!("the check {check} has not run yet"));
        };
        let (text, line, places) = match self.text(&result) {
            Ok(text) => text,
            Err(e) => return Some(format!("cannot read the stored output of {check}: {e}")),
        };
        let lines = text.clone();
        let viewer = Viewer::new(
            ViewerText::in_memory(text.as_str().into()),
            &output.title_for(&result.state),
            Some(line),
            &self.theme,
            self.callbacks(Box::new(|_| Ok(editor::edit(&self.editor, &lines, ".txt").map(drop)?))),
        );
        let mut viewer = viewer.with_link(Box::new(|line| {
            let place = match places.get(line) {
                Some(place) => place.clone(),
                None => lines.lines().nth(line).and_then(|text| place_in(text, self.workspace.cwd())),
            };
            self.open(place.as_ref())
        }));
        full_screen::run(&mut viewer).err().map(|e| format!("the terminal failed: {e}"))
    }

    /// The text of the screen, the line of its first failure, and the place that each of its first lines names.
    fn text(&self, result: &CheckResult) -> std::io::Result<(String, usize, Vec<Option<DiagnosticPlace>>)> {
        let file = self.store.output(&result.check);
        let size = std::fs::metadata(&file)?.len();
        let mut bytes = Vec::new();
        regular_file::open(&file)?.take(LARGEST).read_to_end(&mut bytes)?;
        if size > LARGEST {
            let rest = format!("\n{} more bytes: placet checks output {}\n", size - LARGEST, result.check);
            bytes.extend_from_slice(rest.as_bytes());
        }
        let output = String::from_utf8_lossy(&bytes);
        let mut found: Vec<_> = result.diagnostics.iter().collect();
        found.sort_by_key(|diagnostic| diagnostic.level);
        if found.is_empty() {
            return Ok((output.into_owned(), result.first_failure.unwrap_or(1), Vec::new()));
        }
        let mut text = String::new();
        for diagnostic in &found {
            text.push_str(diagnostic_line(diagnostic).trim_start());
            text.push('\n');
        }
        let more = result.found.saturating_sub(found.len());
        if more > 0 {
            text.push_str(&format!("{more} more\n"));
        }
        text.push_str("\noutput:\n");
        text.push_str(&output);
        Ok((text, 1, found.iter().map(|diagnostic| diagnostic.place.clone()).collect()))
    }

    /// Shows a file at a line. Returns why that is not possible.
    fn open(&self, place: Option<&DiagnosticPlace>) -> Option<String> {
        let Some(DiagnosticPlace { file: DiagnosticFile::Inside(path), line, .. }) = place else {
            return Some("this line names no file of the workspace".into());
        };
        let opened = self.workspace.resolve(&path.to_string_lossy()).and_then(|at| {
            let opened = self.workspace.open(&at, OpenConsent::Inside)?;
            Ok((at, opened))
        });
        let (at, opened) = match opened {
            Ok(opened) => opened,
            Err(e) => return Some(e.to_string()),
        };
        let real = at.path.clone();
        let changes = self.workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok());
        let is_pending = changes.is_some_and(|set| set.get(&at.path).is_some());
        let edit = move |line: usize| match is_pending {
            true => Err(ViewerEditError::Pending),
            false => Ok(editor::open(&self.editor, &real, line)?),
        };
        let text = ViewerText::on_disk(opened.file, opened.size, TextEncoding::Utf8);
        let line = line.and_then(|line| usize::try_from(line).ok());
        let name = self.workspace.shown(&at.path);
        let mut viewer = Viewer::new(text, &name, line, &self.theme, self.callbacks(Box::new(edit)));
        full_screen::run(&mut viewer).err().map(|e| format!("the terminal failed: {e}"))
    }

    fn callbacks<'h>(
        &'h self,
        edit: Box<dyn Fn(usize) -> Result<(), ViewerEditError> + 'h>,
    ) -> ViewerCallbacks<'h> {
        ViewerCallbacks {
            keys: self.keys.clone(),
            pager: self.pager.clone(),
            copy: Box::new(|text| {
                self.clipboard.copy(text).map_or_else(|e| e.to_string(), |copied| copied.words())
            }),
            edit,
        }
    }
}

/// The first place that a line of output names: `src/a.rs:3:5: ...`, `  --> src/a.rs:3:5`, `File "a.py", line 3`.
fn place_in(text: &str, dir: &Path) -> Option<DiagnosticPlace> {
    if let Some((_, rest)) = text.split_once("File \"")
        && let Some((file, rest)) = rest.split_once("\", line ")
    {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return Some(DiagnosticPlace {
            file: DiagnosticFile::of(file, dir),
            line: digits.parse().ok(),
            column: None,
        });
    }
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\'' | '`')).find_map(|word| {
        let mut parts = word.split(':');
        let (file, line) = (parts.next()?, parts.next()?);
        // A time of day has the form of a place.
        if file.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let line: u32 = line.parse().ok().filter(|line| *line > 0)?;
        let file = DiagnosticFile::of(file, dir);
        matches!(file, DiagnosticFile::Inside(_)).then_some(DiagnosticPlace {
            file,
            line: Some(line),
            column: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_of_a_line_is_found() {
        let found = |text: &str| {
            let place = place_in(text, Path::new("/w"))?;
            Some((place.file.path().to_string_lossy().into_owned(), place.line))
        };
        let inside = |path: &str, line| Some((path.to_string(), Some(line)));
        assert_eq!(found("   --> src/a.rs:3:5"), inside("src/a.rs", 3));
        assert_eq!(found("src/a.rs:12: error: no"), inside("src/a.rs", 12));
        assert_eq!(found("  File \"/w/t.py\", line 7, in test"), inside("t.py", 7));
        assert_eq!(found("thread panicked at src/b.rs:9:1:"), inside("src/b.rs", 9));
        assert_eq!(found("at 12:30:11 in /etc/passwd:1"), None);
        assert_eq!(found("no place here"), None);
    }
}
