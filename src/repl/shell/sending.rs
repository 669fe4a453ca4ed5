//! What is sent: a message with all that goes along with it, and the turn that answers it.

use super::{Shell, UnsentText};
use crate::agent::{MessageQueue, TurnDecision, TurnEnding, TurnStart};
use crate::conversation::Part;
use crate::provider::OfflineProvider;
use crate::repl::attach::{
    AttachError, attach_all, may_name_skills, mentioned, named_skills, unsendable, without_escapes,
};
use crate::repl::commands::check_env;
use crate::repl::commands::extensions::custom;
use crate::repl::commands::review::{report_was_sent, review_from_question};
use crate::repl::context::{CommandContext, CommandStop};
use crate::repl::error::ReplError;
use crate::repl::message::custom_prompt::CustomPrompt;
use crate::repl::message::custom_turn;
use crate::repl::message::message_parts::{HasReport, parts_before};
use crate::repl::prompt::UnsentInput;
use crate::repl::{start_card, turn};
use crate::text::visible;
use crate::tools::ToolSet;
use crate::ui::turn_pane::{TurnDisplay, TurnPaneSettings, TurnPaneStatus};
use ratatui::text::Line;
use tokio_util::sync::CancellationToken;

impl Shell<'_> {
    /// Runs operations if the tool set allows them in a line. Sends all other text as a message.
    pub(super) fn send_or_run(&mut self, text: &str, draft: String) -> Result<UnsentText, ReplError> {
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
            self.unanswered = Some(text.to_string());
            return Ok(draft);
        }
        // Before a session is made of a message that is not sent.
        if let Some((mention, why)) = unsendable(&self.context, &mentioned) {
            let hint = match why {
                AttachError::NoValue { .. } => {
                    "nothing was sent; type the value at its place in the address".into()
                }
                _ => format!("nothing was sent; to send it as text, write \\@{mention}"),
            };
            self.context.output.error(&format!("@{mention}: {why}"), Some(&hint));
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
                let hint = "nothing was sent; change the line, or remove this mention";
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
    pub(super) fn say_custom(
        &mut self,
        prompt: CustomPrompt,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        if self.has_nobody_to_answer(&prompt.text) {
            self.unanswered = Some(prompt.line);
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

    /// Returns true when there is no model for the first message, or no key for the provider, and reports that.
    fn has_nobody_to_answer(&self, text: &str) -> bool {
        let CommandContext { conversation, output, .. } = &self.context;
        let line = if let Some((provider, variable)) = conversation.missing_key() {
            let back = "/setup adds a key and brings your text back";
            let provider = visible::name(&provider).into_owned();
            format!("no key for `{provider}`, so nothing was sent: set {variable}, or {back}")
        } else if conversation.lacks_model()
            // The messages last: asking for them reads the beginning of a long conversation.
            && conversation.messages().is_empty()
            && !OfflineProvider::understands(text)
        {
            let words = "and brings your text back, `help` lists what works without one";
            format!("no model yet, so nothing was sent: {} {words}", start_card::ADD_A_MODEL)
        } else {
            return false;
        };
        output.paragraphs(&[(&line, "warning")]);
        true
    }

    pub(super) fn take_turn(&mut self, start: TurnStart, draft: String) -> Result<UnsentText, ReplError> {
        let has_report = self.keeps_report && matches!(start, TurnStart::Retry);
        self.take_turn_of(start, has_report, draft)
    }

    /// A turn that brings the agent the report of a review, which is forgotten then.
    pub(super) fn take_turn_with_report(
        &mut self,
        start: TurnStart,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        self.take_turn_of(start, true, draft)
    }

    fn take_turn_of(
        &mut self,
        start: TurnStart,
        has_report: bool,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        let (decision, is_unsaved, draft) = self.run_turn(start, draft)?;
        if has_report {
            // A message that is not stored ends with this process: then its report goes with another one.
            self.keeps_report = is_unsaved;
            if !is_unsaved {
                report_was_sent(&self.context);
            }
        }
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
    pub(super) fn ask_to_apply(&mut self, draft: String) -> Result<UnsentText, ReplError> {
        let mut settings = self.pane_settings(draft)?;
        settings.facts.is_asked_again = true;
        let (decision, ended) = turn::ask_again(&mut self.context, settings)?;
        if let Some(cleared) = ended.cleared {
            self.remember(&cleared);
        }
        self.review_if(decision, ended.draft)
    }

    /// The apply question about everything that is pending: no turn is above it, and no line is typed below it.
    pub(super) fn ask_about_pending(&mut self, draft: UnsentText) -> Result<UnsentText, ReplError> {
        self.asks_about_all = true;
        let Some((workspace, view)) = self.context.conversation.viewed() else { return Ok(draft) };
        let env = check_env(&mut self.context, &workspace, &view);
        let checks = env.as_ref().map(|env| env.checks.clone()).unwrap_or_default();
        let ui = &self.context.app.config.settings().ui;
        let facts = TurnPaneStatus {
            questions_only: true,
            display: TurnDisplay { motion: false, ..TurnDisplay::of(ui) },
            expanded: self.expanded,
            ..TurnPaneStatus::default()
        };
        let settings = TurnPaneSettings {
            theme: self.context.output.theme.clone(),
            facts,
            mode: self.context.app.mode.clone(),
            modes: self.context.app.modes.to_vec(),
            draft: String::new(),
            queue: MessageQueue::default(),
            drafts: None,
            pastes: self.unsent.pastes.clone(),
            notifier: self.signals.notifier.clone(),
            links: self.signals.links.clone(),
            jobs: self.context.app.tools.jobs.clone(),
            check_output: self.context.output.check_output(&workspace, &checks),
        };
        let (decision, _) = turn::ask_about_all(&self.context, (&workspace, env.as_ref()), settings);
        self.review_if(decision, draft)
    }

    /// One turn; what the person decided about its changes, whether the session could not be saved, and what was typed
    /// meanwhile and not sent.
    fn run_turn(
        &mut self,
        start: TurnStart,
        draft: String,
    ) -> Result<(TurnDecision, bool, UnsentText), ReplError> {
        self.asks_about_all = false;
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
        let is_unsaved = matches!(ended.ending, TurnEnding::Unsaved(_));
        if let Some(cleared) = ended.cleared {
            self.remember(&cleared);
        }
        // Ctrl-C at the last question stops what was to follow, too.
        if ended.ending == TurnEnding::Done && !stop.is_cancelled() {
            return Ok((decision, is_unsaved, ended.draft));
        }
        // What was to follow a turn that did not end well is for the person to look at again.
        Ok((decision, is_unsaved, self.unsent.take(None, ended.draft)))
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
