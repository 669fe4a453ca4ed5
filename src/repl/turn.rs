//! One turn on the screen: the pane opens, the agent works, the prompt comes back with what was typed meanwhile.

use super::cost::cost_of;
use super::prompt::PromptEditor;
use super::{ReplError, Shell, attach};
use crate::agent::{TurnDecision, TurnEnding, TurnEvent, TurnStart};
use crate::config::MotionSetting;
use crate::conversation::{Note, Part};
use crate::permission::Taint;
use crate::session::InputDraft;
use crate::tools::todos_in;
use crate::ui::review;
use crate::ui::turn_pane;
use crate::ui::turn_pane::{TurnPaneResult, TurnPaneSettings, TurnPaneStatus};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// What the next round begins with: what was typed and not sent.
type UnsentText = String;

impl Shell<'_> {
    /// Says something. What is attached goes through the same gate as a call; when it cannot be, the line comes back.
    /// `draft` is what was typed next to it already.
    pub(super) fn say(
        &mut self,
        prompter: &mut PromptEditor,
        text: &str,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        // Files are named by what was typed, and never by what a paste says.
        let mentioned = attach::mentioned(&self.pastes.expand_typed(text));
        let whole = self.pastes.expanded(text).into_owned();
        self.agent_for(&whole)?;
        let report = self.review_report();
        let noted = |report: &String| {
            let brief = review::summary(report).unwrap_or_default();
            Part::Note(Note::Review { report: report.clone(), brief })
        };
        let mut parts: Vec<Part> = report.iter().map(noted).collect();
        parts.push(Part::text(whole));
        for path in mentioned {
            match self.attach(&path) {
                Ok(attached) => parts.extend(attached),
                Err(attach::AttachError::NoFile) => {}
                Err(attach::AttachError::Because(why)) => {
                    self.error(
                        &format!("@{path}: {why}"),
                        Some("nothing was sent; change the line or remove the file"),
                    );
                    return Ok(self.unsent(Some(text.to_string()), draft));
                }
            }
        }
        parts.extend(self.take_pinned());
        let next = self.take_turn(prompter, TurnStart::Say(parts), draft)?;
        if report.is_some() {
            self.review_reported();
        }
        Ok(next)
    }

    pub(super) fn take_turn(
        &mut self,
        prompter: &mut PromptEditor,
        start: TurnStart,
        draft: String,
    ) -> Result<UnsentText, ReplError> {
        let stop = CancellationToken::new();
        (self.on_turn)(Some(stop.clone()));
        self.signals.title(&start);
        let (settled, ended) = self.run_turn(start, stop.clone(), draft)?;
        if settled == TurnDecision::Review {
            self.review = Some(String::new());
        }
        (self.on_turn)(None);
        if std::mem::replace(&mut self.expanded, ended.expanded) != ended.expanded {
            let file = self.app.config_dir().join("config.toml");
            let expanded = self.expanded;
            self.hint(&format!("to make it permanent: ui.expanded = {expanded} in {}", file.display()));
        }
        self.signals.turn_ended(&ended.ending);
        if let Some(cleared) = ended.cleared {
            prompter.remember(&cleared, self.app.cwd(), self.store.as_ref());
        }
        // Ctrl-C at the last question stops what was to follow, too.
        if ended.ending == TurnEnding::Done && !stop.is_cancelled() {
            return Ok(ended.draft);
        }
        // What was to follow a turn that did not end well is for the person to look at again.
        Ok(self.unsent(None, ended.draft))
    }

    /// Everything that was not sent, in its order, as one draft.
    fn unsent(&self, line: Option<String>, draft: String) -> String {
        InputDraft { queued: line.into_iter().chain(self.queue.drain()).collect(), typed: draft }.joined()
    }

    fn run_turn(
        &mut self,
        start: TurnStart,
        stop: CancellationToken,
        draft: String,
    ) -> Result<(TurnDecision, TurnPaneResult), ReplError> {
        let fold = self.app.config().settings().ui.fold_lines;
        let motion = self.app.config().settings().ui.motion != MotionSetting::None;
        let (expanded, linear) = (self.expanded, self.is_linear());
        let (theme, mode, modes) = (self.theme.clone(), self.app.mode().clone(), self.app.modes().to_vec());
        let grants = self.app.policy().lock().map_or(0, |policy| policy.live().count());
        let taint = self.app.policy().lock().map_or_else(
            |_| Taint::default(),
            |policy| if policy.labels().is_off() { Taint::default() } else { policy.taint().clone() },
        );
        let (notifier, links) = (self.signals.notifier.clone(), self.signals.links.clone());
        let runtime = self.runtime;
        let (queue, drafts, pastes) = (self.queue.clone(), self.drafts.clone(), self.pastes.clone());
        let agent = self.agent_for("")?;
        agent.set_queue(&queue);
        let (usage, prompt_tokens) = agent.usage();
        let (provider, name) = (agent.provider_name(), agent.model().name.clone());
        let model = if provider == name { name } else { format!("{provider} {name}") };
        let window = agent.model().window;
        let cost = cost_of(agent.costs().0);
        let todos = todos_in(agent.transcript());
        let facts = TurnPaneStatus {
            model,
            window,
            usage,
            prompt_tokens,
            fold,
            motion,
            grants,
            taint,
            expanded,
            todos,
            cost,
        };
        let settings =
            TurnPaneSettings { theme, facts, mode, modes, draft, queue, drafts, pastes, notifier, links };
        let (events, inbox) = unbounded_channel();
        Ok(runtime.block_on(async {
            let working = async {
                let ending = agent.run(start, events.clone(), stop.clone()).await;
                let settled = match ending {
                    TurnEnding::Interrupted => TurnDecision::Nothing,
                    _ => agent.ask_to_apply(&events).await,
                };
                drop(events.send(TurnEvent::Ended(ending)));
                settled
            };
            if linear {
                tokio::join!(working, turn_pane::run_linear(settings, inbox, stop.clone()))
            } else {
                tokio::join!(working, turn_pane::run(settings, inbox, stop.clone()))
            }
        }))
    }
}
