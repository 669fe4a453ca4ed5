//! What the shell shows: lines that stay in the scrollback, and screens that close again.

use crate::checks::ProjectChecks;
use crate::config::{AppDirs, Config, WrapSetting};
use crate::serve::changes::UserReport;
use crate::text::{sanitize, visible, width};
use crate::ui::clipboard::Clipboard;
use crate::ui::full_screen::{self, FullScreenPane};
use crate::ui::keymap::{KeyBinding, Keymap, KeymapError};
use crate::ui::line_ui::TerminalLineUi;
use crate::ui::picker::{KEYS, Picker, PickerFeed};
use crate::ui::picture::PictureDisplay;
use crate::ui::prose::{self, ProseIndent, ProseWidth, SECOND_COLUMN, STACKED_INDENT};
use crate::ui::viewer::{self, CheckOutputScreen, LineNumbers, Viewer, ViewerCallbacks, ViewerText};
use crate::ui::{Theme, ansi, editor, margin_mark, pager, scrollback, term};
use crate::workspace::Workspace;
use ratatui::text::{Line, Span};
use std::io::IsTerminal;

/// The screen of one shell, with the person's settings for it.
pub(super) struct ShellOutput<'r> {
    config: &'r Config,
    pub(super) theme: Theme,
    linear: bool,
}

/// Columns of the cursor on a screen of its own.
const CURSOR: usize = 2;
/// Rows that a list leaves for the prompt, the line that was typed, and the hint below the list.
const ROWS_OF_PROMPT: usize = 5;

/// True where a screen can be shown and keys can be read.
pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// The person's keys of a screen.
pub fn keymap<A: Copy + PartialEq>(
    config: &Config,
    screen: &str,
    table: &'static [KeyBinding<A>],
) -> Result<Keymap<A>, KeymapError> {
    Keymap::new(screen, table, &config.screen_keys(screen))
}

impl<'r> ShellOutput<'r> {
    pub(super) fn new(config: &'r Config, theme: Theme) -> ShellOutput<'r> {
        let linear = config.settings().ui.linear;
        ShellOutput { config, theme, linear }
    }

    /// Reading line by line: for screen readers, and where nothing may be repainted.
    pub(super) fn is_linear(&self) -> bool {
        self.linear
    }

    /// The width of the screen, and how prose is broken there; lines for a screen reader stay whole.
    pub(super) fn width(&self) -> ProseWidth {
        let columns = usize::from(term::size().0);
        match self.linear {
            true => ProseWidth::unbroken(columns),
            false => ProseWidth::new(columns, self.config.settings().ui.wrap),
        }
    }

    /// Lines that belong together and that placet says itself.
    pub(super) fn say_lines(&self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.print_prose(margin_mark::block(lines, &self.theme));
    }

    /// The same for a list: a row that does not fit continues further in.
    pub(super) fn say_list(&self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.print(&margin_mark::broken_list(margin_mark::block(lines, &self.theme), self.width()));
    }

    /// Lines that have the mark already, broken at words.
    pub(super) fn print_prose(&self, lines: Vec<Line<'static>>) {
        self.print(&margin_mark::broken(lines, self.width()));
    }

    /// The same, without a style.
    pub(super) fn say_plain(&self, lines: impl IntoIterator<Item = String>) {
        self.say_lines(lines.into_iter().map(Line::raw));
    }

    /// Lines that have the mark already, or are somebody else's.
    pub(super) fn print(&self, lines: &[Line<'_>]) {
        let columns = usize::from(term::size().0);
        let mut out = String::new();
        for line in lines {
            let line = margin_mark::clear_margin(line.clone(), columns);
            // A dumb terminal has no styles at all, and shows what would switch them.
            out.push_str(&if term::is_dumb() { line.to_string() } else { ansi::line(&line) });
            out.push_str("\r\n");
        }
        term::write_all(out.as_bytes());
    }

    pub(super) fn note(&self, text: &str) {
        self.print_prose(scrollback::notice(text, &self.theme));
    }

    /// Paragraphs that belong together, each with the label of its style; their rows are cut at words.
    pub(super) fn paragraphs(&self, paragraphs: &[(&str, &str)]) {
        let columns = usize::from(term::size().0);
        for (at, (text, label)) in paragraphs.iter().enumerate() {
            let line = Line::styled(visible::guard_line(text).into_owned(), self.theme.style(label));
            self.print(&match at {
                0 => margin_mark::rows(&line, columns, &self.theme),
                _ => margin_mark::under(&line, columns),
            });
        }
    }

    pub(super) fn hint(&self, text: &str) {
        self.print_prose(scrollback::hint(text, &self.theme));
    }

    pub(super) fn error(&self, text: &str, hint: Option<&str>) {
        self.print_prose(scrollback::error(text, hint, &self.theme));
    }

    /// What became of changes.
    pub(super) fn report(&self, report: UserReport) {
        let mut lines = report.lines.into_iter();
        let first = lines.next().unwrap_or_default();
        let mut all = match report.done {
            true => scrollback::notice(&first, &self.theme),
            false => scrollback::error(&first, None, &self.theme),
        };
        all.extend(lines.flat_map(|line| scrollback::under(&line, &self.theme)));
        self.print_prose(all);
    }

    /// Rows of two columns; what is somebody else's in them was rendered before.
    pub(super) fn rows(&self, rows: &[(String, String)]) {
        self.print(&self.row_lines(rows, self.width()));
    }

    /// The same as lines.
    pub(super) fn row_lines(&self, rows: &[(String, String)], width: ProseWidth) -> Vec<Line<'static>> {
        let names = rows.iter().map(|(name, _)| width::of(name)).max().unwrap_or(0);
        self.lines_of_rows(rows, names, margin_mark::lead(&self.theme), width)
    }

    /// The same below a title, with a first column of `names`.
    pub(super) fn titled_lines(
        &self,
        title: &str,
        rows: &[(String, String)],
        names: usize,
        width: ProseWidth,
    ) -> Vec<Line<'static>> {
        let title = Span::styled(title.to_string(), self.theme.style("heading"));
        let mut lines = vec![margin_mark::line(title, &self.theme)];
        lines.extend(self.lines_of_rows(rows, names, Span::raw(margin_mark::UNDER), width));
        lines
    }

    /// Prints placet's own lines, or shows them on a screen of their own where their beginning would leave the screen.
    pub(super) fn print_or_page(&self, name: &str, lines: &dyn Fn(ProseWidth) -> Vec<Line<'static>>) {
        let (columns, rows) = term::size();
        let of_line = |line: &Line<'_>| line.width().max(1).div_ceil(usize::from(columns.max(1)));
        let all = lines(self.width());
        let fits = all.iter().map(of_line).sum::<usize>() + ROWS_OF_PROMPT <= usize::from(rows);
        if fits || self.linear || term::is_dumb() || !is_interactive() {
            return self.print(&all);
        }
        let text = |line: Line<'_>| {
            let text = line.to_string();
            let words = text.strip_prefix(margin_mark::LEAD).or(text.strip_prefix(margin_mark::UNDER));
            format!("{}\n", words.unwrap_or(&text))
        };
        let beside_cursor =
            ProseWidth { columns: usize::from(columns).saturating_sub(CURSOR), ..self.width() };
        let text: String = lines(beside_cursor).into_iter().map(text).collect();
        self.look_at_numbered(name, &text, LineNumbers::Hidden);
    }

    /// The second column is below the first where the first is wider than `names`, where only there its longest word has
    /// room, such as a path, and on a narrow screen.
    fn lines_of_rows(
        &self,
        rows: &[(String, String)],
        names: usize,
        lead: Span<'static>,
        width: ProseWidth,
    ) -> Vec<Line<'static>> {
        let second = margin_mark::UNDER.len() + names + 2;
        let is_narrow = width.wrap == WrapSetting::Words && second + SECOND_COLUMN > width.columns;
        let room = width.columns.saturating_sub(second);
        // A longer word is broken in both places, after a `/` where it has one.
        let has_room = |text: &str| {
            let longest = text.split_whitespace().map(width::of).max().unwrap_or(0);
            longest <= room || longest + STACKED_INDENT > width.columns || width.wrap != WrapSetting::Words
        };
        let mut lead = Some(lead);
        let mut lines = Vec::new();
        for (name, text) in rows {
            let lead = lead.take().unwrap_or(Span::raw(margin_mark::UNDER));
            let wide = width::of(name);
            let name = Span::styled(visible::guard_line(name).into_owned(), self.theme.style("key"));
            let text = visible::guard_line(text).into_owned();
            let is_below = is_narrow || wide > names || !has_room(&text);
            let further = " ".repeat(if is_narrow || !has_room(&text) { STACKED_INDENT } else { second });
            let first = if is_below {
                lines.extend(margin_mark::broken(vec![Line::from(vec![lead, name])], width));
                vec![Span::raw(further.clone())]
            } else {
                vec![lead, name, Span::raw(" ".repeat(names - wide + 2))]
            };
            let indent = ProseIndent { first, further, breaks_words: true };
            lines.extend(prose::lines(indent, prose::of_spans([Span::raw(text)]), width));
        }
        lines
    }

    /// Several lines of placet's own.
    pub(super) fn text(&self, text: &str) {
        self.say_plain(sanitize::block(text).lines().map(String::from));
    }

    /// Somebody else's text, below a line of placet's own.
    pub(super) fn quote(&self, text: &str) {
        let line = |line: &str| Line::raw(format!("{}{line}", margin_mark::UNDER));
        self.print(&sanitize::block(text).lines().map(line).collect::<Vec<_>>());
    }

    /// A line that was not typed at a prompt is shown above what comes of it.
    pub(super) fn echo_line(&self, text: &str) {
        if self.linear {
            let clean = sanitize::line(&text.replace('\n', " / ")).into_owned();
            return self.print(&[Line::raw(format!("you: {clean}"))]);
        }
        self.print_prose(scrollback::said(text, &self.theme));
    }

    /// The keys of a screen, as the settings have them; a mistake in them is reported and changes nothing.
    pub(super) fn keymap<A: Copy + PartialEq>(
        &self,
        screen: &str,
        table: &'static [KeyBinding<A>],
    ) -> Keymap<A> {
        keymap(self.config, screen, table).unwrap_or_else(|error| {
            self.error(&error.to_string(), Some("using the default keys"));
            Keymap::usual(screen, table)
        })
    }

    /// Shows a screen until it closes.
    pub(super) fn show(&self, pane: &mut dyn FullScreenPane) {
        if self.linear {
            return pane.run_line_ui(&mut TerminalLineUi);
        }
        if let Err(e) = full_screen::run(pane) {
            self.error(&format!("the terminal failed: {e}"), None);
        }
    }

    pub(super) fn picker<'h>(&self, title: &str, feed: PickerFeed) -> Picker<'h> {
        Picker::new(title, feed, &self.theme, self.keymap("picker", KEYS))
    }

    /// Shows a list to choose from; what was chosen of it.
    pub(super) fn pick(&self, mut picker: Picker<'_>) -> Vec<String> {
        self.show(&mut picker);
        picker.taken()
    }

    /// The same where one is enough.
    pub(super) fn pick_one(&self, picker: Picker<'_>) -> Option<String> {
        self.pick(picker).into_iter().next()
    }

    /// A text on a screen of its own.
    pub(super) fn look_at(&self, name: &str, text: &str) {
        self.look_at_numbered(name, text, LineNumbers::Shown);
    }

    fn look_at_numbered(&self, name: &str, text: &str, numbers: LineNumbers) {
        let (clipboard, program) = (self.clipboard(), self.editor());
        let hands = ViewerCallbacks {
            keys: self.keymap("viewer", viewer::KEYS),
            pager: self.keymap("pager", pager::KEYS),
            copy: Box::new(move |text| clipboard.copy(text).map_or_else(|e| e.to_string(), |c| c.words())),
            edit: Box::new(|_| Ok(editor::edit(&program, text, ".txt").map(drop)?)),
        };
        let shown = ViewerText::in_memory(text.into());
        self.show(&mut Viewer::new(shown, name, None, &self.theme, hands).with_numbers(numbers));
    }

    pub(super) fn clipboard(&self) -> Clipboard {
        let variable = |name: &str| std::env::var(name).ok();
        // A shell that has begun has its directories; nothing can be written below this path.
        let cache = AppDirs::from_variables(variable).map_or_else(|_| "/dev/null".into(), |dirs| dirs.cache);
        Clipboard::new(variable, &cache)
    }

    /// Shows the output of checks.
    pub(super) fn check_output(&self, workspace: &Workspace, checks: &ProjectChecks) -> CheckOutputScreen {
        CheckOutputScreen {
            theme: self.theme.clone(),
            keys: self.keymap("viewer", viewer::KEYS),
            pager: self.keymap("pager", pager::KEYS),
            clipboard: self.clipboard(),
            editor: self.editor(),
            workspace: workspace.clone(),
            store: checks.store.clone(),
        }
    }

    /// The person's own editor.
    pub(super) fn editor(&self) -> String {
        editor::program(self.config.settings().conversation.editor.as_deref())
    }

    /// What pictures are drawn with here.
    pub(super) fn display(&self) -> PictureDisplay {
        let setting = self.config.settings().ui.pictures;
        PictureDisplay::of(setting, self.theme.depth, |name| std::env::var(name).ok())
    }
}
