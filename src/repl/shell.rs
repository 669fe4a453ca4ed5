//! The loop: a prompt, a line, what comes of it, and again.

use super::attach::{
    AttachError, attach_all, may_name_skills, mentioned, missing, named_skills, without_escapes,
};
use super::background::RememberedBackground;
use super::coming::ComingMessages;
use super::commands::review::{report_was_sent, review_from_question};
use super::commands::{COMMANDS, custom, directory, jobs, run as run_command, sessions, tries};
use super::context::{CommandContext, CommandFollowUp, CommandStop};
use super::conversation::ShellConversation;
use super::custom_prompt::CustomPrompt;
use super::custom_turn;
use super::directory_change::{DirectoryChange, ShellDirectory};
use super::error::ReplError;
use super::message_parts::{HasReport, parts_before};
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
use super::turn;
use super::user_context::UserContext;
use crate::agent::{TurnDecision, TurnEnding, TurnStart};
use crate::config::{ProjectSettings, TrustStore, is_shown_first};
use crate::conversation::Part;
use crate::provider::{OfflineProvider, catalog};
use crate::session::{SessionStore, TryName};
use crate::tools::ToolSet;
use crate::ui::ansi::ColorDepth;
use crate::ui::input::{answering_decoder, background};
use crate::ui::turn_pane::TurnPaneSettings;
use crate::ui::{Theme, term};
use ratatui::text::Line;
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
type UnsentText = String;

struct Shell<'r> {
    /// All that a command may use.
    context: CommandContext<'r>,
    prompter: PromptEditor,
    unsent: UnsentInput,
    signals: TerminalStatus,
    /// Thinking and output are shown at length.
    expanded: bool,
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
    let theme = Theme::load(named, &app.dirs.config, depth, variable)?;
    let answerer = app.builder.answerer(None, None)?;
    let base = term::BaseMode::enter()?;
    let (mut notes, of_model) = (Vec::new(), answerer.note.clone());
    let store = match SessionStore::open(&app.dirs.state) {
        Ok((store, told)) => {
            notes.extend(told);
            Some(store)
        }
        Err(e) => {
            notes.push(format!("conversations are not saved: {e}"));
            None
        }
    };
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
    if is_coloured && prompter.knows_keys() && RememberedBackground::is_wanted(named) {
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
    let mut shell = Shell { context, prompter, unsent, signals, expanded, tour, background };
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
    shell.begin(&opening.resume)?;
    // Each as its own: a short line stays to be read.
    let each = left.queued.into_iter().chain([left.typed]).map(|line| shell.unsent.pastes.collapsed(line));
    let left = each.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if !left.is_empty() {
        shell.context.output.note("restored the text that you typed before and did not send");
    }
    let code = shell.rounds(opening.prompt, left)?;
    jobs::stop(&shell.context);
    let (mut said, mut servers) = (Vec::new(), shell.context.app.tools.servers);
    if let Some(agent) = &shell.context.conversation.agent {
        said = runtime.block_on(agent.end_session("prompt_input_exit"));
        servers = &agent.env().servers;
    }
    said.extend(runtime.block_on(servers.end_logins()));
    said.iter().for_each(|words| shell.context.output.note(words));
    answering_decoder::drain(answering_decoder::PATIENCE);
    drop(base);
    Ok(ShellEnd { code, next: shell.context.directory.next.take() })
}

impl Shell<'_> {
    /// Takes up what the command line asked for, and what an earlier session left.
    fn begin(&mut self, resume: &ResumeTarget) -> Result<(), ReplError> {
        let context = &mut self.context;
        if let Some(store) = context.conversation.store.clone() {
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
            // After that: the session that was resumed is open now, and an open session is never removed.
            if let Some(note) = context.app.builder.prune_sessions(&store) {
                context.output.note(&note);
            }
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
                            self.context.in_review = tour.in_review();
                        }
                        is_next_step = true;
                        text
                    }
                    PromptOutcome::Interrupted => {
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
            if !text.trim().is_empty() {
                if !self.context.can_save() {
                    draft = self.unsent.take(Some(text), draft);
                    continue;
                }
                self.remember(&text);
            }
            self.unsent.keep(&draft);
            match PromptInput::parse(&text) {
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
        self.signals.prompt();
        let printer = self.prompter.printer();
        let renew = self.prompter.renewer();
        let watch = printer.and_then(|tell| jobs::watch(&self.context, tell, renew));
        let beside = [self.prewarm_connection(), watch];
        let status = PromptStatus {
            pending: self.context.conversation.pending().total(),
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

    fn remember(&mut self, line: &str) {
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
    fn follow(&mut self, after: CommandFollowUp, draft: String) -> Result<UnsentText, ReplError> {
        match after {
            CommandFollowUp::Nothing | CommandFollowUp::Quit(_) => {}
            CommandFollowUp::Turn(start) => return self.take_turn(start, draft),
            CommandFollowUp::Prompt(prompt) => return self.say_custom(*prompt, draft),
            CommandFollowUp::TurnWithReport(start) => return self.take_turn_with_report(start, draft),
            CommandFollowUp::ApplyQuestion => return self.ask_to_apply(draft),
            CommandFollowUp::EditLine(line) => self.prompter.restore_line(line),
            CommandFollowUp::ChangeTheme => self.prompter.set_theme(&self.context.output.theme),
        }
        Ok(draft)
    }

    /// `!command`: in the person's own terminal, as if they had typed it into their shell.
    fn run_in_terminal(&self, command: &str) {
        let cwd = self.context.app.cwd();
        let status = term::with_original_mode(|| {
            std::process::Command::new("sh").arg("-c").arg(command).current_dir(cwd).status()
        });
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => self.context.output.note(&status.to_string()),
            Err(e) => self.context.output.error(&format!("`sh` cannot be started: {e}"), None),
        }
    }

    /// Runs operations if the tool set allows them in a line. Sends all other text as a message.
    fn send_or_run(&mut self, text: &str, draft: String) -> Result<UnsentText, ReplError> {
        let tool_set = self.context.app.tools.tool_set;
        if tool_set == ToolSet::Typestack
            && let Some(start) = TurnStart::of_operations(&self.unsent.pastes.expanded(text), tool_set)
        {
            self.context.conversation.agent_for(text, &self.context.output)?;
            return self.take_turn(start, draft);
        }
        self.say(text, draft)
    }

    /// Says something. What is attached goes through the same gate as a call; when it cannot be, the line comes back.
    /// `draft` is what was typed next to it already.
    fn say(&mut self, text: &str, draft: String) -> Result<UnsentText, ReplError> {
        // Files are named by what was typed, and never by what a paste says.
        let mentioned = mentioned(&self.unsent.pastes.expand_typed(text));
        let whole = self.unsent.pastes.expanded(&without_escapes(text)).into_owned();
        if self.has_nobody_to_answer(&whole) {
            return Ok(draft);
        }
        // Before a session is made of a message that is not sent.
        if let Some(missing) = missing(&self.context, &mentioned) {
            let hint = format!("nothing was sent; to send it as text, write \\@{missing}");
            self.context.output.error(&format!("@{missing}: {}", AttachError::NoFile), Some(&hint));
            return Ok(self.unsent.take(Some(text.to_string()), draft));
        }
        let skills = match self.chosen_skills(&self.unsent.pastes.expand_typed(text)) {
            Ok(parts) => parts,
            Err(stop) => {
                stop.tell(&self.context.output);
                return Ok(self.unsent.take(Some(text.to_string()), draft));
            }
        };
        let context = &mut self.context;
        context.conversation.agent_for(&whole, &context.output)?;
        let (mut parts, has_report) = parts_before(context);
        parts.push(Part::text(whole));
        parts.extend(skills);
        match attach_all(context, &mentioned) {
            Ok(attached) => parts.extend(attached),
            Err((path, why)) => {
                let hint = "nothing was sent; change the line or remove the file";
                context.output.error(&format!("@{path}: {why}"), Some(hint));
                return Ok(self.unsent.take(Some(text.to_string()), draft));
            }
        }
        self.send(parts, has_report, draft)
    }

    /// Sends a message, with what goes along with the next one.
    fn send(
        &mut self,
        mut parts: Vec<Part>,
        has_report: HasReport,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        let conversation = &mut self.context.conversation;
        conversation.notes.clear();
        let pinned = std::mem::take(&mut conversation.pinned);
        parts.extend(pinned.into_iter().flat_map(|pinned| pinned.parts));
        match has_report {
            HasReport::Yes => self.take_turn_with_report(TurnStart::Say(parts), draft),
            HasReport::No => self.take_turn(TurnStart::Say(parts), draft),
        }
    }

    /// The text of the skills that a message names. Nothing is read for a message without a sign.
    fn chosen_skills(&self, text: &str) -> Result<Vec<Part>, CommandStop> {
        if !may_name_skills(text) {
            return Ok(Vec::new());
        }
        let catalog = self.context.app.guidance.skills();
        let named = named_skills(text, &catalog);
        let parts = named.iter().map(|skill| custom::parts_of(&self.context, skill));
        Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Sends the message of a command, whose model and permissions hold for its turn.
    fn say_custom(&mut self, prompt: CustomPrompt, draft: String) -> Result<UnsentText, ReplError> {
        if self.has_nobody_to_answer(&prompt.text) {
            return Ok(draft);
        }
        let context = &mut self.context;
        context.conversation.agent_for(&prompt.line, &context.output)?;
        let (mut parts, has_report) = parts_before(context);
        parts.extend(prompt.parts);
        let before = prompt.model.and_then(|model| custom_turn::switch_model(context, &model));
        let grants = custom_turn::grant(context, &prompt.allowed);
        let sent = self.send(parts, has_report, draft);
        custom_turn::end(&mut self.context, grants, before);
        sent
    }

    /// Returns true when no model is configured and the first message needs a model, and reports that.
    fn has_nobody_to_answer(&self, text: &str) -> bool {
        let CommandContext { conversation, output, .. } = &self.context;
        // The messages last: asking for them reads the beginning of a long conversation.
        let nobody = conversation.lacks_model()
            && conversation.messages().is_empty()
            && !OfflineProvider::understands(text);
        if nobody {
            let words = "`help` lists what works without one";
            let line = format!("no model yet, so nothing was sent: {}, {words}", start_card::ADD_A_MODEL);
            output.paragraphs(&[(&line, "warning")]);
        }
        nobody
    }

    fn take_turn(&mut self, start: TurnStart, draft: String) -> Result<UnsentText, ReplError> {
        let (decision, draft) = self.run_turn(start, draft)?;
        self.review_if(decision, draft)
    }

    /// A turn that brings the agent the report of a review, which is forgotten then.
    fn take_turn_with_report(&mut self, start: TurnStart, draft: String) -> Result<UnsentText, ReplError> {
        let (decision, draft) = self.run_turn(start, draft)?;
        report_was_sent(&self.context);
        self.review_if(decision, draft)
    }

    fn review_if(&mut self, decision: TurnDecision, draft: String) -> Result<UnsentText, ReplError> {
        if decision != TurnDecision::Review {
            return Ok(draft);
        }
        let after = review_from_question(&mut self.context);
        self.follow(after, draft)
    }

    /// The apply question again, after a review of the same changes.
    fn ask_to_apply(&mut self, draft: String) -> Result<UnsentText, ReplError> {
        let settings = self.pane_settings(draft)?;
        let (decision, ended) = turn::ask_again(&mut self.context, settings)?;
        if let Some(cleared) = ended.cleared {
            self.remember(&cleared);
        }
        self.review_if(decision, ended.draft)
    }

    /// One turn; what the person decided about its changes, and what was typed meanwhile and not sent.
    fn run_turn(&mut self, start: TurnStart, draft: String) -> Result<(TurnDecision, UnsentText), ReplError> {
        let stop = CancellationToken::new();
        (self.context.on_turn)(Some(stop.clone()));
        self.signals.title(&start);
        if !self.context.output.is_linear() {
            self.context.output.print(&[Line::default()]);
        }
        let settings = self.pane_settings(draft)?;
        let (decision, ended) = turn::run(&mut self.context, settings, start, stop.clone())?;
        (self.context.on_turn)(None);
        if std::mem::replace(&mut self.expanded, ended.expanded) != ended.expanded {
            let (file, expanded) = (self.context.app.settings_file(), self.expanded);
            let hint = format!("to make it permanent: ui.expanded = {expanded} in {}", file.display());
            self.context.output.hint(&hint);
        }
        self.signals.turn_ended(&ended.ending);
        if let Some(cleared) = ended.cleared {
            self.remember(&cleared);
        }
        // Ctrl-C at the last question stops what was to follow, too.
        if ended.ending == TurnEnding::Done && !stop.is_cancelled() {
            return Ok((decision, ended.draft));
        }
        // What was to follow a turn that did not end well is for the person to look at again.
        Ok((decision, self.unsent.take(None, ended.draft)))
    }

    fn pane_settings(&mut self, draft: String) -> Result<TurnPaneSettings, ReplError> {
        let context = &mut self.context;
        let agent = context.conversation.agent_for("", &context.output)?;
        let UnsentInput { queue, drafts, pastes } = self.unsent.clone();
        Ok(TurnPaneSettings {
            theme: context.output.theme.clone(),
            facts: turn::status(context.app, agent, self.expanded),
            mode: context.app.mode.clone(),
            modes: context.app.modes.to_vec(),
            draft,
            queue,
            drafts,
            pastes,
            notifier: self.signals.notifier.clone(),
            links: self.signals.links.clone(),
            jobs: context.app.tools.jobs.clone(),
            check_output: context.output.check_output(&agent.env().workspace, &agent.env().checks),
        })
    }
}
