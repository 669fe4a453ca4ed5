//! The loop: a prompt, a line, what comes of it, and again.

mod sending;

use super::background::RememberedBackground;
use super::coming::ComingMessages;
use super::commands::conversation::sessions;
use super::commands::{COMMANDS, directory, jobs, run as run_command, tries};
use super::context::{CommandContext, CommandFollowUp};
use super::conversation::ShellConversation;
use super::directory_change::{DirectoryChange, ShellDirectory};
use super::error::ReplError;
use super::output::ShellOutput;
use super::pending_elsewhere::pending_elsewhere;
use super::project_trust::ask_project_trust;
use super::prompt::{
    MenuSources, PromptEditor, PromptInput, PromptOutcome, PromptScreen, PromptStatus, UnfinishedLine,
    UnsentInput, pick_into,
};
use super::start_card;
use super::terminal_status::TerminalStatus;
use super::tour::Tour;
use super::user_context::UserContext;
use crate::config::{ProjectSettings, TrustStore, is_shown_first};
use crate::provider::catalog;
use crate::session::{SessionStore, TryName};
use crate::text::visible;
use crate::ui::ansi::ColorDepth;
use crate::ui::input::{answering_decoder, background, terminal_name};
use crate::ui::{Theme, reclaim, term};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How a shell begins.
pub struct ShellOptions {
    /// The first turn, if there is one already.
    pub prompt: Option<String>,
    pub resume: ResumeTarget,
    /// The person is led through the first steps.
    pub is_tour: bool,
    /// The directory that the conversation came from, and whether it may go to another.
    pub directory: ShellDirectory,
    /// A project's file that waits for the person's trust.
    pub trust: Option<(Vec<ProjectSettings>, TrustStore)>,
    /// Hears of the turn that runs now, so that a signal can stop it.
    pub on_turn: Box<dyn Fn(Option<CancellationToken>)>,
}

/// How a shell ended.
#[derive(Debug)]
pub struct ShellEnd {
    pub code: u8,
    /// Where placet is to start again.
    pub next: Option<DirectoryChange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeTarget {
    No,
    Last,
    Named(String),
    Choose,
    /// The session of this name, or a new one.
    Try(TryName),
}

/// A connection is opened again before the old one is closed for doing nothing; after so many times nobody is there.
const WARM_AGAIN: Duration = Duration::from_secs(45);
const WARM: u32 = 10;

/// How long "again to quit" holds.
const AGAIN: Duration = Duration::from_secs(2);

/// What the next round begins with: what was typed and not sent.
pub(super) type UnsentText = String;

pub(super) struct Shell<'r> {
    /// All that a command may use.
    pub(super) context: CommandContext<'r>,
    prompter: PromptEditor,
    pub(super) unsent: UnsentInput,
    pub(super) signals: TerminalStatus,
    /// Thinking and output are shown at length.
    pub(super) expanded: bool,
    /// The text that could not be sent because there was no model: the next line begins as this once there is one.
    unanswered: Option<UnsentText>,
    /// The last message is not stored, and has a report that is not forgotten for that reason.
    pub(super) keeps_report: bool,
    /// The apply question that was asked last was about everything that is pending, and not the one of a turn.
    asks_about_all: bool,
    tour: Option<Tour>,
    background: RememberedBackground,
}

/// Runs the shell until the person leaves.
pub fn run(app: &UserContext<'_>, runtime: &Runtime, opening: ShellOptions) -> Result<ShellEnd, ReplError> {
    let variable = |name: &str| std::env::var(name).ok();
    let depth = ColorDepth::detect(app.config.settings().ui.color, variable);
    let background = RememberedBackground::load(&app.dirs.state);
    let named = &app.config.settings().ui.theme;
    // The terminal may have been dark yesterday and be light today. Until it has answered, the colours are those that can be
    // read on both.
    let (theme, no_theme) = Theme::of_settings(named, &app.dirs.config, depth, variable);
    let answerer = app.builder.answerer(None, None)?;
    let base = term::BaseMode::enter()?;
    let (mut notes, of_model) = (Vec::new(), answerer.note.clone());
    notes.extend(no_theme.map(|why| format!("{why}; `auto` is used")));
    let store = open_store(&app.dirs.state, &mut notes);
    let (unsent, left) = UnsentInput::open(store.as_ref(), app.cwd());
    let (signals, wrong) = TerminalStatus::new(app, &theme, variable);
    notes.extend(wrong);
    let mut prompter = PromptEditor::new(app, &theme, store.as_ref(), &unsent)?;
    let output = ShellOutput::new(app.config, theme);
    // rustyline itself does not understand the sequences that these keys send.
    if prompter.knows_keys() && !output.is_linear() && app.config.settings().ui.extended_keys {
        term::request_extended_keys(&variable("TERM").unwrap_or_default());
    }
    if signals.marks() {
        prompter.mark();
    }
    let is_coloured = depth != ColorDepth::None && !output.is_linear();
    let is_wanted = is_coloured && prompter.knows_keys() && RememberedBackground::is_wanted(named);
    if is_wanted {
        let (dir, depth) = (app.dirs.config.clone(), output.theme.depth);
        prompter.ask_background(Box::new(move |found| RememberedBackground::theme_for(found, &dir, depth)));
    }
    let expanded = app.config.settings().ui.expanded;
    let tour = opening.is_tour.then(Tour::default);
    let mut conversation = ShellConversation::new(app, answerer, store);
    conversation.is_temporary = opening.is_tour;
    let directory = opening.directory;
    let on_turn = opening.on_turn;
    let commands = COMMANDS;
    let in_review = None;
    let context =
        CommandContext { app, runtime, output, conversation, directory, commands, in_review, on_turn };
    let mut shell = Shell {
        context,
        prompter,
        unsent,
        signals,
        expanded,
        unanswered: None,
        keeps_report: false,
        asks_about_all: false,
        tour,
        background,
    };
    if shell.tour.is_none() {
        start_card::show(&shell.context);
    }
    // The card says itself that there is no model.
    let of_model = of_model.filter(|_| !shell.context.conversation.lacks_model());
    if let Some(note) = of_model.filter(|note| is_shown_first(app.dirs, note)) {
        shell.context.output.note(&note);
    }
    for note in notes {
        shell.context.output.note(&note);
    }
    if let Some((project, store)) = opening.trust {
        ask_project_trust(&shell.context, &project, store)?;
    }
    if is_wanted && opening.resume == ResumeTarget::Choose {
        shell.ask_background();
    }
    shell.begin(&opening.resume)?;
    // Each as its own: a short line stays to be read.
    let each = left.queued.into_iter().chain([left.typed]).map(|line| shell.unsent.pastes.collapsed(line));
    let left = each.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if !left.is_empty() {
        shell.context.output.note("restored the text that you typed before and did not send");
        shell.unsent.keep(&left);
    }
    let code = match shell.context.directory.next {
        Some(_) => 0,
        None => shell.rounds(opening.prompt, left)?,
    };
    shell.end_services();
    answering_decoder::drain(answering_decoder::PATIENCE);
    drop(base);
    Ok(ShellEnd { code, next: shell.context.directory.next.take() })
}

/// Where no session can be stored, the shell runs all the same.
fn open_store(state: &Path, notes: &mut Vec<String>) -> Option<SessionStore> {
    match SessionStore::open(state) {
        Ok((store, told)) => {
            notes.extend(told);
            Some(store)
        }
        Err(e) => {
            notes.push(format!("conversations are not saved: {e}"));
            None
        }
    }
}

impl Shell<'_> {
    /// Ends what runs beside the conversation.
    fn end_services(&self) {
        jobs::stop(&self.context);
        let runtime = self.context.runtime;
        let (mut said, mut servers) = (Vec::new(), self.context.app.tools.servers);
        if let Some(agent) = &self.context.conversation.agent {
            said = runtime.block_on(agent.end_session("prompt_input_exit"));
            servers = &agent.env().servers;
        }
        said.extend(runtime.block_on(servers.end_logins()));
        said.iter().for_each(|words| self.context.output.note(words));
    }

    /// Takes up what the command line asked for, and what an earlier session left.
    fn begin(&mut self, resume: &ResumeTarget) -> Result<(), ReplError> {
        let context = &mut self.context;
        if let Some(store) = context.conversation.store.clone() {
            if !matches!(resume, ResumeTarget::No) {
                // A session can be read while another program has the database locked; nothing waits for that program now.
                store.can_write();
            }
            match resume {
                ResumeTarget::No => {}
                ResumeTarget::Last => sessions::resume_last(context)?,
                ResumeTarget::Named(prefix) => {
                    let row = store.find(prefix)?;
                    match context.directory.previous.clone() {
                        Some(from) => {
                            sessions::resume_session(context, &row)?;
                            directory::arrived(context, &from);
                        }
                        None => sessions::resume_and_show(context, &row)?,
                    }
                }
                ResumeTarget::Choose => sessions::choose(context)?,
                ResumeTarget::Try(name) => tries::begin(context, name)?,
            }
            // The session that was chosen is resumed by the placet that starts there.
            if context.directory.next.is_some() {
                return Ok(());
            }
            // After that: the session that was resumed is open now, and an open session is never removed.
            if let Some(note) = context.app.builder.prune_sessions(&store) {
                context.output.note(&note);
            }
        }
        if !matches!(resume, ResumeTarget::No) {
            sessions::say_pending(context);
        }
        // Pending changes of an earlier session are not forgotten.
        let (elsewhere, unread) = pending_elsewhere(context);
        unread.iter().for_each(|line| context.output.error(line, None));
        if let Some(elsewhere) = elsewhere {
            context.output.note(&elsewhere.line);
            let is_in_try = context.conversation.try_name().is_some();
            if !elsewhere.is_of_try && !is_in_try && context.conversation.pending().total() == 0 {
                context.conversation.earlier = Some(elsewhere.workspace);
            }
        }
        Ok(())
    }

    fn rounds(&mut self, mut first: Option<String>, mut draft: String) -> Result<u8, ReplError> {
        let mut interrupted: Option<Instant> = None;
        let mut is_next_step = true;
        loop {
            if let Some(tour) = self.tour.as_mut().filter(|_| is_next_step && draft.is_empty()) {
                draft = tour.next_line(&self.context.output);
            }
            is_next_step = false;
            let conversation = &self.context.conversation;
            if draft.is_empty()
                && self.unanswered.is_some()
                && !conversation.lacks_model()
                && conversation.missing_key().is_none()
            {
                draft = self.unanswered.take().unwrap_or_default();
            }
            let text = match first.take().or_else(|| self.unsent.queue.next()) {
                // The other text that was typed in the meantime stays in the pane.
                Some(text) => {
                    self.context.finish_resume()?;
                    self.context.output.echo_line(&text);
                    text
                }
                None => match self.ask(&std::mem::take(&mut draft))? {
                    PromptOutcome::Line(text) => {
                        if let Some(why) = self.unsent.pastes.placeholder_error(&text) {
                            self.context.output.error(&why, Some("nothing was sent"));
                            draft = text;
                            continue;
                        }
                        self.signals.sent();
                        if let Some(tour) = &mut self.tour {
                            tour.sent(&text);
                            let keys = self.context.output.keymap("review", crate::ui::review::TABLE);
                            self.context.in_review = tour.in_review(&keys);
                        }
                        is_next_step = true;
                        text
                    }
                    PromptOutcome::Interrupted => {
                        self.unsent.keep_rest("");
                        if interrupted.is_some_and(|at| at.elapsed() < AGAIN) {
                            sessions::say_how_to_continue(&self.context);
                            // 128 + SIGINT, as shells report it.
                            return Ok(130);
                        }
                        interrupted = Some(Instant::now());
                        self.context.output.hint("Ctrl-C again to quit");
                        continue;
                    }
                    PromptOutcome::Again(typed) => {
                        self.prompter.restore_line(typed);
                        continue;
                    }
                    PromptOutcome::Open(screen, typed) => {
                        draft = self.open(screen, typed)?;
                        continue;
                    }
                    PromptOutcome::Closed if !jobs::may_leave(&mut self.context) => continue,
                    PromptOutcome::Closed => {
                        sessions::say_how_to_continue(&self.context);
                        return Ok(0);
                    }
                },
            };
            interrupted = None;
            let input = PromptInput::parse(&text);
            if !matches!(input, PromptInput::Blank) {
                if !self.may_do(&input) {
                    draft = self.unsent.take(Some(text), draft);
                    continue;
                }
                self.remember(&text);
                // Who goes on working after the warning is warned again.
                if !matches!(&input, PromptInput::Slash { name, .. } if sessions::is_quit(name)) {
                    self.context.conversation.told_of_jobs.clear();
                }
            }
            self.unsent.keep_rest(&draft);
            match input {
                PromptInput::Blank => {}
                PromptInput::Shell(command) => {
                    self.run_in_terminal(&self.unsent.pastes.expanded(&command));
                }
                PromptInput::Slash { name, rest } => {
                    let rest = self.unsent.pastes.expanded(&rest).into_owned();
                    match run_command(&mut self.context, &name, &rest) {
                        CommandFollowUp::Quit(code) => return Ok(code),
                        after => draft = self.follow(after, draft)?,
                    }
                }
                PromptInput::Say(text) => draft = self.send_or_run(&text, draft)?,
            }
            if directory::starts_with_proposed(&mut self.context) {
                return Ok(0);
            }
        }
    }

    /// True if what a line does can be saved. Leaving needs nothing that is saved, and does not wait for it.
    fn may_do(&self, input: &PromptInput) -> bool {
        let undone = match input {
            PromptInput::Slash { name, .. } if sessions::is_quit(name) => {
                // While another program has the database locked, no other write waits for it after this.
                if let Some(store) = &self.context.conversation.store {
                    store.can_write();
                }
                return true;
            }
            PromptInput::Slash { name, .. } => format!("/{} was not run", visible::line(name)),
            PromptInput::Shell(_) => "the command was not run".into(),
            PromptInput::Blank | PromptInput::Say(_) => "nothing was sent".into(),
        };
        self.context.can_save(&undone)
    }

    /// Asks before the list of sessions: neither the list nor the conversation that is shown after it would get other
    /// colours later. The first prompt asks as well.
    fn ask_background(&mut self) {
        term::write_all(background::QUESTION.as_bytes());
        background::asked();
        answering_decoder::drain(answering_decoder::PATIENCE);
        self.recolor();
    }

    /// Asks the terminal for its name with the first prompt: how it treats its rows depends on it.
    fn ask_terminal_name(&self) {
        let answers = self.prompter.knows_keys() && !self.context.output.is_linear();
        if answers && background::may_ask(|name| std::env::var(name).ok()) && terminal_name::ask() {
            term::write_all(terminal_name::QUESTION.as_bytes());
        }
    }

    /// Takes the colours for the background that the terminal has answered with, unless another theme was chosen.
    fn recolor(&mut self) {
        let Some(found) = background::take_answer() else { return };
        let output = &mut self.context.output;
        let (dir, depth) = (&self.context.app.dirs.config, output.theme.depth);
        let was_auto = Theme::load("auto", dir, depth, |name| std::env::var(name).ok())
            .is_ok_and(|auto| auto.name == output.theme.name);
        self.background.remember(found);
        if !was_auto {
            return;
        }
        if let Ok(theme) = Theme::load("auto", dir, depth, |name| self.background.variable(name)) {
            output.theme = theme;
            self.signals.recolor(self.context.app, &self.context.output.theme);
            self.prompter.set_theme(&self.context.output.theme);
        }
    }

    fn ask(&mut self, draft: &str) -> Result<PromptOutcome, ReplError> {
        self.recolor();
        self.ask_terminal_name();
        self.signals.prompt();
        let running = self.context.app.tools.jobs.running().len();
        let printer = self.prompter.printer();
        let renew = self.prompter.renewer();
        let watch = printer.and_then(|tell| jobs::watch(&self.context, running, tell, renew));
        let beside = [self.prewarm_connection(), watch];
        let status = PromptStatus {
            pending: self.context.conversation.pending().total(),
            jobs: running,
            level: self.context.app.level(),
            attempt: tries::mark(&self.context.conversation),
        };
        let sources = self.menu_sources();
        self.context.conversation.coming.iter_mut().for_each(ComingMessages::begin);
        let asked = self.prompter.ask(draft, status, &sources);
        beside.into_iter().flatten().for_each(|task| task.abort());
        // What follows the first line has the colours already, and all messages of the conversation.
        self.recolor();
        self.context.finish_resume()?;
        asked
    }

    /// What the menus of the prompt list.
    fn menu_sources(&self) -> MenuSources {
        let CommandContext { app, conversation, .. } = &self.context;
        let provider = conversation.answered_by().0;
        let models = catalog::of_provider(&provider).into_iter().map(|(id, _)| (id.into(), provider.clone()));
        MenuSources {
            workspace: conversation.workspace(),
            store: conversation.store.clone(),
            models: Arc::new(models.collect()),
            needed: conversation.needed_command(),
            tools: Arc::new(app.tools.registry.names()),
            guidance: Arc::clone(app.guidance),
            servers: app.tools.servers.clone(),
        }
    }

    /// Keeps a connection to the provider open while somebody may be typing, where that is wanted.
    fn prewarm_connection(&self) -> Option<JoinHandle<()>> {
        if !self.context.app.config.settings().network.warm {
            return None;
        }
        let conversation = &self.context.conversation;
        let next = conversation.answerer.as_ref().map(|answerer| &answerer.provider);
        let now = conversation.agent.as_ref().map(|agent| agent.provider());
        let provider = Arc::clone(next.or(now)?);
        Some(self.context.runtime.spawn(async move {
            for _ in 0..WARM {
                provider.warm().await;
                tokio::time::sleep(WARM_AGAIN).await;
            }
        }))
    }

    pub(super) fn remember(&mut self, line: &str) {
        let CommandContext { app, conversation, .. } = &self.context;
        self.prompter.remember(line, app.cwd(), conversation.store.as_ref());
    }

    /// Shows a screen that a key opened, then restores the line.
    fn open(&mut self, screen: PromptScreen, typed: UnfinishedLine) -> Result<UnsentText, ReplError> {
        let (typed, after) = match screen {
            PromptScreen::Transcript => (typed, run_command(&mut self.context, "transcript", "")),
            PromptScreen::Review => (typed, run_command(&mut self.context, "review", "")),
            PromptScreen::Keys => (typed, run_command(&mut self.context, "help", "?")),
            PromptScreen::Rewind => (typed, run_command(&mut self.context, "rewind", "")),
            PromptScreen::Picker => (pick_into(&self.context, typed), CommandFollowUp::Nothing),
        };
        self.prompter.restore_line(typed);
        self.follow(after, String::new())
    }

    /// Does what a command asked for.
    pub(super) fn follow(&mut self, after: CommandFollowUp, draft: String) -> Result<UnsentText, ReplError> {
        match after {
            CommandFollowUp::Nothing | CommandFollowUp::Quit(_) => {}
            CommandFollowUp::Turn(start) => return self.take_turn(start, draft),
            CommandFollowUp::Prompt(prompt) => return self.say_custom(*prompt, draft),
            CommandFollowUp::TurnWithReport(start) => return self.take_turn_with_report(start, draft),
            CommandFollowUp::ApplyQuestion if self.asks_about_all => return self.ask_about_pending(draft),
            CommandFollowUp::ApplyQuestion => return self.ask_to_apply(draft),
            CommandFollowUp::AskAboutPending => return self.ask_about_pending(draft),
            CommandFollowUp::EditLine(line) => self.prompter.restore_line(line),
            CommandFollowUp::ChangeTheme => self.prompter.set_theme(&self.context.output.theme),
        }
        Ok(draft)
    }

    /// `!command`: in the person's own terminal, as if they had typed it into their shell.
    fn run_in_terminal(&self, command: &str) {
        let cwd = self.context.app.cwd();
        // What it writes stays on the screen until placet asks something.
        reclaim::lend();
        let status = term::with_original_mode(|| {
            std::process::Command::new("sh").arg("-c").arg(command).current_dir(cwd).status()
        });
        // The prompt is readable after whatever it wrote. Colours stay until then, too.
        term::write_all(&reclaim::reset());
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => self.context.output.note(&status.to_string()),
            Err(e) => self.context.output.error(&format!("`sh` cannot be started: {e}"), None),
        }
    }
}
