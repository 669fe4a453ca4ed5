//! The conversation with the person: a prompt, a line, a turn, and again.

mod app_context;
mod attach;
mod branches;
mod changes;
mod command_table;
mod commands;
mod context;
mod cost;
mod helper;
mod jobs;
mod keys;
mod pasted_pictures;
mod path_completion;
mod permission;
mod pickers;
mod plain_review;
mod prompt;
mod prompt_input;
mod review;
mod rewind;
mod scratchpads;
mod session;
mod taint;
mod terminal_status;
mod theme;
mod transcript;
mod turn;
mod view;

pub use app_context::{AppContext, UserError};
pub use command_table::{COMMANDS, SlashCommand};
pub use cost::priced;
pub use review::{AppliedReview, TurnNumbers, apply_review, blamed, keymap, memory_of, review_of};
pub use session::{title_of, when};

use crate::agent::{MessageQueue, SelectedModel};
use crate::config::{ProjectSettings, TrustStore};
use crate::session::{DraftFile, InputDraft, SessionError, SessionStore};
use crate::ui::ansi::{self, ColorDepth};
use crate::ui::paste::PasteStore;
use crate::ui::{Theme, ThemeError, margin_mark, scrollback, term};
use crate::workspace::Workspace;
use prompt::{PromptEditor, PromptOutcome, PromptScreen, UnfinishedLine};
use prompt_input::PromptInput;
use ratatui::text::Line as Styled;
use session::ShellConversation;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terminal_status::TerminalStatus;
use thiserror::Error;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// How a shell begins.
pub struct ShellOptions {
    /// The first turn, if there is one already.
    pub prompt: Option<String>,
    pub resume: ResumeTarget,
    /// A project's file that waits for the person's trust.
    pub trust: Option<(ProjectSettings, TrustStore)>,
    /// Hears of the turn that runs now, so that a signal can stop it.
    pub on_turn: Box<dyn Fn(Option<CancellationToken>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeTarget {
    No,
    Last,
    Named(String),
    Choose,
}

#[derive(Debug, Error)]
pub enum ReplError {
    #[error(transparent)]
    Host(#[from] UserError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error("the terminal failed: {0}")]
    Terminal(#[from] std::io::Error),
    #[error("the prompt failed: {0}")]
    Prompt(#[from] rustyline::error::ReadlineError),
}

/// A connection is opened again before the old one is closed for doing nothing; after so many times nobody is there.
const WARM_AGAIN: Duration = Duration::from_secs(45);
const WARM: u32 = 10;

/// How long "again to quit" holds.
const AGAIN: Duration = Duration::from_secs(2);

/// Everything a command or a turn may need.
pub(crate) struct Shell<'r> {
    app: Box<dyn AppContext>,
    runtime: &'r Runtime,
    theme: Theme,
    store: Option<SessionStore>,
    /// Who answers next; the conversation takes it over when it begins.
    answerer: Option<SelectedModel>,
    conversation: ShellConversation,
    on_turn: Box<dyn Fn(Option<CancellationToken>)>,
    quit: Option<u8>,
    /// What an earlier session of this directory left pending.
    earlier: Option<Workspace>,
    /// The review of these paths is to begin.
    review: Option<String>,
    /// The next line begins as this.
    typed: Option<UnfinishedLine>,
    /// A reset of the classification is to be asked about.
    resetting: bool,
    /// The prompt has not heard of the theme yet.
    rethemed: bool,
    /// What the person sent off while a turn ran.
    queue: MessageQueue,
    /// Keeps what is typed and queued, should this process end.
    drafts: Option<Arc<DraftFile>>,
    /// Long pastes of this session.
    pastes: PasteStore,
    /// Thinking and output are shown at length.
    expanded: bool,
    signals: TerminalStatus,
}

/// Runs the shell until the person leaves; returns the exit code.
pub fn run(app: Box<dyn AppContext>, runtime: &Runtime, opening: ShellOptions) -> Result<u8, ReplError> {
    let variable = |name: &str| std::env::var(name).ok();
    let depth = ColorDepth::detect(app.config().settings().ui.color, variable);
    let theme = Theme::load(&app.config().settings().ui.theme, app.config_dir(), depth, variable)?;
    let answerer = app.answerer(None, None)?;
    let base = term::BaseMode::enter()?;
    let mut notes: Vec<String> = answerer.note.clone().into_iter().collect();
    let store = match app.store() {
        Ok((store, told)) => {
            notes.extend(told);
            Some(store)
        }
        Err(e) => {
            notes.push(format!("conversations are not saved: {e}"));
            None
        }
    };
    let (drafts, left) = drafts_of(store.as_ref(), app.cwd());
    let (signals, wrong) = TerminalStatus::new(app.as_ref(), &theme, variable);
    notes.extend(wrong);
    let pastes = PasteStore::default();
    let mut prompter =
        PromptEditor::new(app.as_ref(), &theme, store.as_ref(), drafts.clone(), pastes.clone())?;
    let linear = app.config().settings().ui.linear;
    // rustyline itself does not understand the sequences that these keys send.
    if prompter.knows_keys() && !linear && app.config().settings().ui.extended_keys {
        term::request_extended_keys(&variable("TERM").unwrap_or_default());
    }
    if signals.marks() {
        prompter.mark();
    }
    let expanded = app.config().settings().ui.expanded;
    let mut shell = Shell {
        app,
        runtime,
        theme,
        store,
        answerer: Some(answerer),
        conversation: ShellConversation::default(),
        on_turn: opening.on_turn,
        quit: None,
        review: None,
        typed: None,
        resetting: false,
        rethemed: false,
        earlier: None,
        queue: MessageQueue::default(),
        drafts,
        pastes: pastes.clone(),
        expanded,
        signals,
    };
    for note in notes {
        shell.note(&note);
    }
    if let Some((project, store)) = opening.trust {
        shell.ask_trust(&mut prompter, project, store)?;
    }
    shell.begin(&opening.resume)?;
    // After `begin`: the session that was resumed is open now, and an open session is never removed.
    if let Some(note) = shell.store.as_ref().and_then(|store| shell.app.prune_sessions(store)) {
        shell.note(&note);
    }
    shell.show_earlier();
    // Each as its own: a short line stays to be read.
    let each = left.queued.into_iter().chain([left.typed]).map(|line| pastes.collapsed(line));
    let left = each.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if !left.is_empty() {
        shell.note("restored the text that you typed before and did not send");
    }
    let code = shell.rounds(&mut prompter, opening.prompt, left)?;
    shell.stop_jobs();
    drop(base);
    Ok(code)
}

/// Where drafts are stored, and what is there of shells that ended. Without a state directory nothing is
/// stored.
fn drafts_of(store: Option<&SessionStore>, cwd: &Path) -> (Option<Arc<DraftFile>>, InputDraft) {
    match store.map(|store| DraftFile::open(store.dir(), cwd)) {
        Some(Ok((drafts, left))) => (Some(Arc::new(drafts)), left),
        Some(Err(e)) => {
            tracing::warn!("drafts are not saved: {e}");
            (None, InputDraft::default())
        }
        None => (None, InputDraft::default()),
    }
}

/// Replaces this process by a new one with the same arguments; returns only when that fails.
fn begin_anew() -> std::io::Error {
    use std::os::unix::process::CommandExt;
    match std::env::current_exe() {
        Ok(program) => std::process::Command::new(program).args(std::env::args_os().skip(1)).exec(),
        Err(e) => e,
    }
}

impl Shell<'_> {
    fn rounds(
        &mut self,
        prompter: &mut PromptEditor,
        mut first: Option<String>,
        mut draft: String,
    ) -> Result<u8, ReplError> {
        let mut interrupted: Option<Instant> = None;
        loop {
            let text = match first.take().or_else(|| self.queue.next()) {
                // What else was typed meanwhile goes on in the pane.
                Some(text) => {
                    self.echo_line(&text);
                    text
                }
                None => match self.ask(prompter, &std::mem::take(&mut draft))? {
                    PromptOutcome::Line(text) => {
                        if let Some(why) = self.pastes.placeholder_error(&text) {
                            self.error(&why, Some("nothing was sent"));
                            draft = text;
                            continue;
                        }
                        self.signals.sent();
                        text
                    }
                    PromptOutcome::Interrupted => {
                        if interrupted.is_some_and(|at| at.elapsed() < AGAIN) {
                            // 128 + SIGINT, as shells report it.
                            return Ok(130);
                        }
                        interrupted = Some(Instant::now());
                        self.hint("Ctrl-C again to quit");
                        continue;
                    }
                    PromptOutcome::Open(PromptScreen::Review, typed) => {
                        prompter.restore_line(typed);
                        if let Some(start) = self.review_pending(prompter, "")? {
                            draft = self.take_turn(prompter, start, String::new())?;
                            self.review_reported();
                        }
                        continue;
                    }
                    PromptOutcome::Open(screen, typed) => {
                        let typed = self.open(screen, typed);
                        prompter.restore_line(typed);
                        continue;
                    }
                    PromptOutcome::Closed => return Ok(0),
                },
            };
            interrupted = None;
            if !text.trim().is_empty() {
                prompter.remember(&text, self.app.cwd(), self.store.as_ref());
            }
            self.keep_draft(&draft);
            match PromptInput::parse(&text) {
                PromptInput::Blank => {}
                PromptInput::Shell(command) => self.run_in_terminal(&self.pastes.expanded(&command)),
                PromptInput::Slash { name, rest } => {
                    let rest = self.pastes.expanded(&rest).into_owned();
                    if let Some(after) = command_table::run(self, &name, &rest) {
                        draft = self.take_turn(prompter, after, draft)?;
                    }
                }
                PromptInput::Say(text) => draft = self.send_or_run(prompter, &text, draft)?,
            }
            if std::mem::take(&mut self.rethemed) {
                prompter.set_theme(&self.theme);
            }
            if let Some(typed) = self.typed.take() {
                prompter.restore_line(typed);
            }
            if let Some(paths) = self.review.take()
                && let Some(start) = self.review_pending(prompter, &paths)?
            {
                draft = self.take_turn(prompter, start, std::mem::take(&mut draft))?;
                self.review_reported();
            }
            if std::mem::take(&mut self.resetting) {
                self.reset_taint(prompter)?;
            }
            if let Some(code) = self.quit {
                return Ok(code);
            }
        }
    }

    /// Operations are carried out where lines may be such; everything else is said.
    fn send_or_run(
        &mut self,
        prompter: &mut PromptEditor,
        text: &str,
        draft: String,
    ) -> Result<String, ReplError> {
        if self.app.typed_batches()
            && let Some(start) = self.app.operations(&self.pastes.expanded(text))
        {
            self.agent_for(text)?;
            return self.take_turn(prompter, start, draft);
        }
        self.say(prompter, text, draft)
    }

    /// A screen that a key opened; returns what is in the line then.
    fn open(&mut self, screen: PromptScreen, typed: UnfinishedLine) -> UnfinishedLine {
        match screen {
            PromptScreen::Transcript => {
                self.transcript();
                typed
            }
            PromptScreen::Review => typed,
            PromptScreen::Picker => self.pick_into(typed),
        }
    }

    /// A line that was not typed at a prompt is shown above what comes of it.
    fn echo_line(&self, text: &str) {
        if self.is_linear() {
            let clean = crate::text::sanitize::line(&text.replace('\n', " / ")).into_owned();
            return self.print(&[Styled::raw(format!("you: {clean}"))]);
        }
        self.print(&scrollback::said(text, &self.theme));
    }

    fn ask(&mut self, prompter: &mut PromptEditor, draft: &str) -> Result<PromptOutcome, ReplError> {
        self.signals.prompt();
        let beside = [self.prewarm_connection(), self.watch_jobs(prompter)];
        let asked = prompter.ask(draft, self.pending(), self.level());
        beside.into_iter().flatten().for_each(|task| task.abort());
        asked
    }

    /// Keeps a connection to the provider open while somebody may be typing, where that is wanted.
    fn prewarm_connection(&self) -> Option<tokio::task::JoinHandle<()>> {
        if !self.app.config().settings().network.warm {
            return None;
        }
        let next = self.answerer.as_ref().map(|answerer| &answerer.provider);
        let now = self.conversation.agent.as_ref().map(|agent| agent.provider());
        let provider = std::sync::Arc::clone(next.or(now)?);
        Some(self.runtime.spawn(async move {
            for _ in 0..WARM {
                provider.warm().await;
                tokio::time::sleep(WARM_AGAIN).await;
            }
        }))
    }

    fn keep_draft(&self, typed: &str) {
        let Some(drafts) = &self.drafts else { return };
        drafts.sent();
        let whole = |line: &str| self.pastes.expanded(line).into_owned();
        let queued = self.queue.lines().into_iter().map(|line| whole(&line.text)).collect();
        drafts.keep(InputDraft { queued, typed: whole(typed) });
    }

    /// Pending changes of an earlier session are not forgotten.
    fn show_earlier(&mut self) {
        if self.pending() > 0 {
            return;
        }
        if let Some((name, workspace)) = self.app.earlier() {
            self.earlier = Some(workspace);
            let count = self.pending();
            let s = if count == 1 { " is" } else { "s are" };
            let id = name.get(..13).unwrap_or(&name);
            self.note(&format!("session {id} left {count} change{s} pending: /changes, /apply, /discard"));
        }
    }

    /// `!command`: in the person's own terminal, as if they had typed it into their shell.
    fn run_in_terminal(&self, command: &str) {
        let status = term::with_original_mode(|| {
            std::process::Command::new("sh").arg("-c").arg(command).current_dir(self.app.cwd()).status()
        });
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => self.note(&status.to_string()),
            Err(e) => self.error(&format!("`sh` cannot be started: {e}"), None),
        }
    }

    /// Shows a project's file and asks for trust, once for this content.
    fn ask_trust(
        &mut self,
        prompter: &mut PromptEditor,
        project: ProjectSettings,
        mut store: TrustStore,
    ) -> Result<(), ReplError> {
        let path = crate::text::sanitize::name(&project.path.to_string_lossy()).into_owned();
        let head = Styled::styled(format!("{path} would set:"), self.theme.style("question"));
        let clean = |setting: &String| crate::text::sanitize::line(setting).into_owned();
        let settings = self.app.config().untrusted.iter();
        let settings = settings.map(|one| Styled::styled(clean(one), self.theme.style("text")));
        self.say_lines(std::iter::once(head).chain(settings));
        let answer = prompter.ask_word("Type `trust` to accept it, Enter to continue without it: ");
        if answer.trim() != "trust" {
            self.note("ignored; placet asks again next time");
            return Ok(());
        }
        store.trust(&project.path, &project.hash)?;
        // Started again, every part is built from the settings that hold now.
        // `exec` runs no destructor, so the terminal is restored here.
        term::leave();
        Err(ReplError::Terminal(begin_anew()))
    }

    /// Lines that belong together and that placet says itself.
    fn say_lines<'l>(&self, lines: impl IntoIterator<Item = Styled<'l>>) {
        self.print(&margin_mark::block(lines, &self.theme));
    }

    /// Lines that have the mark already, or are somebody else's.
    fn print(&self, lines: &[Styled<'_>]) {
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

    fn note(&self, text: &str) {
        self.print(&scrollback::notice(text, &self.theme));
    }

    fn hint(&self, text: &str) {
        self.print(&scrollback::hint(text, &self.theme));
    }

    fn error(&self, text: &str, hint: Option<&str>) {
        self.print(&scrollback::error(text, hint, &self.theme));
    }
}
