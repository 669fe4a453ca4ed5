//! What rustyline asks while a line is typed: completions, hints, whether the line is whole.

use super::directory_completion::directories;
use super::file_list::resources;
use super::path_completion::PathCompletions;
use super::typing_menu::{PromptHint, TypingMenu, written_out};
use super::unsent::UnsentInput;
use crate::config::WrapSetting;
use crate::guidance::Guidance;
use crate::repl::commands::COMMANDS;
use crate::repl::commands::extensions::server_prompts::own_names;
use crate::text::{visible, width};
use crate::tools::ServerPool;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::prose::{self, ProseIndent, ProseSpan, ProseWidth};
use crate::ui::{Theme, ansi, margin_mark, term};
use ratatui::style::Style;
use ratatui::text::Span;
use rustyline::completion::{Candidate, Completer};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::SearchDirection;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Candidates shown at most.
const MOST: usize = 40;

pub(super) struct ShellHelper {
    files: PathCompletions,
    root: PathBuf,
    guidance: Arc<Guidance>,
    servers: ServerPool,
    hint: Style,
    /// How a line that was sent looks.
    said: Style,
    /// The line that is drawn next was sent.
    is_sent: Cell<bool>,
    /// Hears of every change of the line.
    unsent: UnsentInput,
    /// Receives a notification when a line continues after Enter.
    pump: Option<PtyProxy>,
    menu: TypingMenu,
    /// Who breaks a line that was sent.
    wrap: WrapSetting,
}

/// A completion, and what is listed for it.
pub(super) struct PromptCompletion {
    shown: String,
    text: String,
}

impl Candidate for PromptCompletion {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

impl ShellHelper {
    pub(super) fn new(
        (cwd, guidance, servers): (&Path, &Arc<Guidance>, &ServerPool),
        theme: &Theme,
        unsent: UnsentInput,
        (pump, menu, wrap): (Option<PtyProxy>, TypingMenu, WrapSetting),
    ) -> ShellHelper {
        let (hint, said) = (theme.style("hint"), theme.style("said"));
        let (files, root) = (PathCompletions::new(cwd), cwd.to_path_buf());
        let (guidance, servers) = (Arc::clone(guidance), servers.clone());
        let is_sent = Cell::new(false);
        ShellHelper { files, root, guidance, servers, hint, said, is_sent, unsent, pump, menu, wrap }
    }

    pub(super) fn set_theme(&mut self, theme: &Theme) {
        (self.hint, self.said) = (theme.style("hint"), theme.style("said"));
        self.menu.set_theme(theme);
    }

    pub(super) fn set_said(&mut self, said: Style) {
        self.said = said;
    }

    /// The built-in commands, and those of files, that begin so.
    fn commands(&self, typed: &str) -> Vec<PromptCompletion> {
        let own = own_names(&self.guidance, &self.servers).into_iter();
        let own = own.filter(|custom| !COMMANDS.iter().any(|row| row.name == custom.name));
        let own = own.map(|custom| (custom.name, custom.about));
        let rows = COMMANDS.iter().map(|row| (row.name.to_string(), row.help.to_string()));
        rows.chain(own)
            .filter(|(name, _)| name.starts_with(typed))
            .map(|(name, about)| PromptCompletion {
                shown: format!("/{name:<12} {about}"),
                text: format!("/{name} "),
            })
            .collect()
    }

    fn complete_at(&self, line: &str, pos: usize) -> (usize, Vec<PromptCompletion>) {
        let before = line.get(..pos).unwrap_or(line);
        if let Some(typed) = before.strip_prefix('/') {
            return match typed.split_once(char::is_whitespace) {
                None => (0, self.commands(typed)),
                Some(("cd", rest)) => {
                    let found = directories(&self.root, rest.trim_start(), MOST).into_iter();
                    let shown = |path: &String| visible::name(path).into_owned();
                    let choices = found.map(|text| PromptCompletion { shown: shown(&text), text });
                    (pos - rest.trim_start().len(), choices.collect())
                }
                Some((name, rest)) => (pos - rest.trim_start().len(), arguments(name, rest.trim_start())),
            };
        }
        let word = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let Some(typed) = before.get(word..).and_then(|w| w.strip_prefix('@')) else {
            return (pos, Vec::new());
        };
        let typed = typed.trim_start_matches('"');
        let choices = self.files.matching(typed, MOST).into_iter().map(|path| {
            let written = written_out(&path);
            let quoted = written.contains(char::is_whitespace);
            let text = if quoted { format!("@\"{written}\"") } else { format!("@{written}") };
            PromptCompletion { shown: visible::name(&path).into_owned(), text }
        });
        let of_servers = resources(&self.servers).into_iter().map(|(named, _)| named);
        let of_servers = of_servers.filter(|named| named.starts_with(typed)).take(MOST);
        let of_servers = of_servers.map(|named| PromptCompletion { text: format!("@{named}"), shown: named });
        (word, choices.chain(of_servers).collect())
    }
}

fn arguments(name: &str, typed: &str) -> Vec<PromptCompletion> {
    let Some(row) = COMMANDS.iter().find(|row| row.name == name) else { return Vec::new() };
    let words = (row.words)();
    let fitting = words.into_iter().filter(|word| word.starts_with(typed));
    fitting.map(|word| PromptCompletion { shown: word.clone(), text: word }).collect()
}

impl Completer for ShellHelper {
    type Candidate = PromptCompletion;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<PromptCompletion>)> {
        // A single completion goes into the line: this is how a row of the menu gets there.
        if let Some((start, text)) = self.menu.take_accepted() {
            return Ok((start, vec![PromptCompletion { shown: String::new(), text }]));
        }
        Ok(self.complete_at(line, pos))
    }
}

impl Hinter for ShellHelper {
    type Hint = PromptHint;

    /// The menu; or the rest of a command's name, what its argument is, or the rest of the newest line in the history
    /// that begins so.
    fn hint(&self, line: &str, pos: usize, ctx: &Context<'_>) -> Option<PromptHint> {
        self.is_sent.set(false);
        // Before anything else, so that nothing delays the letter that was typed.
        let place = self.menu.echo(line, pos);
        // rustyline asks for a hint after every change of the line, and tells nobody else about it.
        if let Some(drafts) = &self.unsent.drafts {
            drafts.typed(&self.unsent.pastes.expanded(line));
        }
        if let Some(hint) = place.and_then(|place| self.menu.show(place, line, pos)) {
            return Some(hint);
        }
        if let Some(note) = self.menu.note_hint() {
            return Some(note);
        }
        if line.is_empty() || pos < line.len() || line.contains('\n') {
            return None;
        }
        if let Some(typed) = line.strip_prefix('/') {
            if let Some(name) = typed.strip_suffix(' ') {
                let row = COMMANDS.iter().find(|row| row.name == name && !row.arguments.is_empty())?;
                return Some(PromptHint::usage(row.arguments));
            }
            let row = COMMANDS.iter().find(|row| row.name.starts_with(typed) && row.name != typed)?;
            return row.name.get(typed.len()..).map(|rest| PromptHint::rest(rest.into()));
        }
        let newest = ctx.history().len().checked_sub(1)?;
        let found = ctx.history().starts_with(line, newest, SearchDirection::Reverse).ok().flatten()?;
        let rest = found.entry.get(line.len()..)?;
        (!rest.is_empty() && !rest.contains('\n')).then(|| PromptHint::rest(rest.into()))
    }
}

impl Highlighter for ShellHelper {
    /// A line that was sent is marked, so that it can be found in the scrollback.
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        match self.is_sent.get() {
            true => {
                let width = ProseWidth::new(usize::from(term::size().0), self.wrap);
                let (prompt, ends_at_margin) = self.menu.prompt_and_end(line, width.columns);
                let mut out = sent(line, self.said, prompt, width);
                if ends_at_margin {
                    // rustyline goes to the next row by itself where the line as it was typed fills its last one.
                    out.push_str("\x1b[A");
                }
                Cow::Owned(out)
            }
            false => Cow::Borrowed(line),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, is_own: bool) -> Cow<'b, str> {
        match self.menu.clear(is_own) {
            "" => Cow::Borrowed(prompt),
            clear => Cow::Owned(format!("{clear}{prompt}")),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        let mut out = String::new();
        if self.hint == Style::default() {
            out.push_str(hint);
        } else {
            ansi::push_style(&mut out, self.hint);
            out.push_str(hint);
            out.push_str("\x1b[0m");
        }
        out.push_str(&self.menu.paint());
        Cow::Owned(out)
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind == CmdKind::MoveCursor && self.menu.cursor_moved()
    }
}

impl Validator for ShellHelper {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        if is_whole(ctx.input()) {
            // With a message, even an empty one, rustyline draws the line once more: as it stays in the scrollback.
            let is_marked = fits(ctx.input(), term::size());
            self.is_sent.set(is_marked);
            return Ok(ValidationResult::Valid(is_marked.then(String::new)));
        }
        if let Some(pump) = &self.pump {
            pump.continue_line();
        }
        Ok(ValidationResult::Incomplete)
    }
}

impl Helper for ShellHelper {}

/// Columns in front of the first line, at most about.
const PROMPT_COLUMNS: usize = 40;

/// True for a line of which rustyline can draw all rows again: rows above the screen would be there twice.
fn fits(line: &str, (columns, rows): (u16, u16)) -> bool {
    let each = line.split('\n').map(|line| width::of(line) / usize::from(columns.max(1)) + 1);
    let prompt = PROMPT_COLUMNS / usize::from(columns.max(1));
    each.sum::<usize>() + prompt < usize::from(rows)
}

/// A line that was sent, behind a prompt of `prompt` columns: broken at words, and the rows of a broken line as far in as
/// placet's own. A line after a line break begins where it was typed, at the margin: nothing moves at Enter. rustyline counts
/// the rows of the line as it was typed, moves up by some of them and down again, so that more rows do no harm.
fn sent(line: &str, style: Style, prompt: usize, width: ProseWidth) -> String {
    // Commands are copied, and stay whole lines.
    let wrap = if line.starts_with(['/', '!']) { WrapSetting::Terminal } else { width.wrap };
    let (mut out, mut is_code) = (String::new(), false);
    for (at, text) in line.split('\n').enumerate() {
        let is_fence = text.trim_start().starts_with("```");
        is_code ^= is_fence;
        let wrap = if is_code || is_fence { WrapSetting::Terminal } else { wrap };
        // A ground ends with its text: on several rows it would be a stair.
        let style = if at == 0 { style } else { Style { fg: None, bg: None, ..style } };
        let before = if at == 0 { " ".repeat(prompt) } else { String::new() };
        let indent = ProseIndent {
            first: vec![Span::raw(before.clone())],
            further: margin_mark::UNDER.into(),
            breaks_words: false,
        };
        let words = ProseSpan { span: Span::styled(text.to_string(), style), is_whole: false };
        for (row, mut words) in
            prose::lines(indent, vec![words], ProseWidth { wrap, ..width }).into_iter().enumerate()
        {
            match (at, row) {
                // The prompt is there already. Without colours its blanks and the words are one span.
                (0, 0) => {
                    if let Some(first) = words.spans.first_mut() {
                        let rest = first.content.strip_prefix(before.as_str()).unwrap_or(&first.content);
                        first.content = rest.to_string().into();
                    }
                }
                _ => out.push('\n'),
            }
            words.spans.retain(|span| !span.content.is_empty());
            out.push_str(&ansi::line(&words));
        }
    }
    out
}

/// A line continues after a backslash at its end and inside an open fence.
fn is_whole(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    !text.ends_with('\\') && fences % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper(dir: &std::path::Path) -> ShellHelper {
        ShellHelper {
            root: dir.to_path_buf(),
            guidance: Arc::default(),
            servers: ServerPool::default(),
            files: PathCompletions::new(dir),
            hint: Style::default(),
            said: Style::default(),
            is_sent: Cell::new(false),
            unsent: UnsentInput::open(None, dir).0,
            pump: None,
            menu: TypingMenu::new(false, None, &Theme::plain()),
            wrap: WrapSetting::Words,
        }
    }

    #[test]
    fn a_line_is_whole_unless_it_says_that_it_goes_on() {
        for (text, whole) in
            [("hi", true), ("a\\", false), ("```rs\nfn", false), ("```\nx\n```", true), ("", true)]
        {
            assert_eq!(is_whole(text), whole, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_was_sent_is_broken_at_words_and_its_further_rows_are_indented() {
        let words = ProseWidth::new(20, WrapSetting::Words);
        let plain = |line: &str| sent(line, Style::default(), 9, words);
        assert_eq!(sent("one", Style::new().bold(), 9, words), "\x1b[0;1mone\x1b[0m");
        // Story: the second line of a draft moved by two columns when it was sent.
        assert_eq!(plain("one\ntwo\n\nx"), "one\ntwo\n\nx");
        // Story: each of them had a ground of its own as wide as its text, a stair.
        let on_blue = Style::new().white().on_blue().bold();
        assert_eq!(sent("one\ntwo", on_blue, 9, words), "\x1b[0;1;97;44mone\x1b[0m\n\x1b[0;1mtwo\x1b[0m");
        assert_eq!(plain("call round(total, 2) again"), "call\n  round(total, 2)\n  again");
        assert_eq!(plain("a\nwords that are wider than that"), "a\nwords that are wider\n  than that");
        // What is copied stays whole, and a word is never broken by placet.
        for whole in
            ["!echo words that are wider", "/cmd words that are wider", "0123456789012345678901234567"]
        {
            assert_eq!(plain(whole), whole);
        }
        let code = "```\nlet words = that_are(wider, than_it);\n```";
        assert_eq!(plain(code), code);
        let terminal = ProseWidth::new(20, WrapSetting::Terminal);
        let long = "call round(total, 2) again";
        assert_eq!(sent(long, Style::default(), 9, terminal), long);
    }

    #[test]
    fn a_line_is_drawn_again_where_all_of_its_rows_are_on_the_screen() {
        assert!(fits("one\ntwo", (80, 24)));
        assert!(!fits(&"x\n".repeat(30), (80, 24)));
        assert!(!fits(&"x".repeat(2000), (80, 24)));
    }

    #[test]
    fn tab_completes_commands_their_arguments_and_paths() {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::write(dir.path().join("two words.txt"), "").unwrap();
        let helper = helper(dir.path());
        let texts = |line: &str| {
            let (start, choices) = helper.complete_at(line, line.len());
            (start, choices.into_iter().map(|c| c.text).collect::<Vec<_>>())
        };
        assert_eq!(texts("/mod"), (0, vec!["/mode ".to_string(), "/model ".to_string()]));
        assert_eq!(texts("/mode w"), (6, vec!["write".to_string()]));
        assert_eq!(texts("look at @two"), (8, vec!["@\"two words.txt\"".to_string()]));
        assert_eq!(texts("mail a@two").1, Vec::<String>::new());
        std::fs::write(dir.path().join("q◆◇"), "").unwrap();
        let helper = super::tests::helper(dir.path());
        assert_eq!(helper.complete_at("@q", 2).1.remove(0).text, "@q<U+25C6><U+25C7>");
    }
}
