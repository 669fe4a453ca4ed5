//! What the model already knows of the surroundings of the conversation: the mode, the project's instructions,
//! background commands. Only news are sent, as notes in a message, and so earlier messages never change.

use super::log::Conversation;
use super::notes::{mode_in, mode_note, newest_first};
use crate::event::TurnEvents;
use crate::instructions::{GuidanceNews, ReportedGuidance};
use crate::services::SharedServices;
use placet_permission::{Access, AccessLocation, Mode, Rule, RuleVerdict};
use placet_session::guidance::InstructionsRequest;
use placet_text::conversation::{CallFact, JobEnd, Message, Note, Part};
use placet_tools::SKILL_TOOL;
use placet_workspace::View;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Default)]
pub(crate) struct ReportedState {
    mode: Option<Mode>,
    guidance: ReportedGuidance,
    /// Jobs that ran when the conversation was left, for the next message.
    lost_jobs: Vec<u32>,
}

impl ReportedState {
    /// The transcript contains what the model was sent: sending it again would only cost tokens.
    pub(crate) fn restore(&mut self, conversation: &Conversation) {
        // The last summary contains what was sent before it and still applies.
        let summary = conversation.last_summary();
        let sent = || {
            let earlier = summary.into_iter().flat_map(|s| s.notes.iter().rev());
            newest_first(conversation.unsummarized()).chain(earlier)
        };
        self.mode = sent().find_map(mode_in);
        self.guidance.recall(sent());
    }

    /// Called after placet was closed. Returns true if jobs ended with it.
    pub(crate) fn find_lost_jobs(&mut self, conversation: &Conversation) -> bool {
        self.lost_jobs = lost_jobs(conversation.unsummarized());
        !self.lost_jobs.is_empty()
    }

    /// What the model must know in addition to the person's message.
    pub(crate) fn notes(&mut self, services: &SharedServices, events: &TurnEvents) -> Vec<Part> {
        let mut notes = Vec::new();
        let guidance = &services.env.guidance;
        let own = guidance.places().own_instructions();
        let may_read = may_read(services);
        let cwd = services.env.workspace.cwd();
        let request = InstructionsRequest { cwd, own: own.as_deref(), may_read: &may_read };
        let mut news: Vec<GuidanceNews> = self.guidance.instructions(&request).into_iter().collect();
        // A list of skills without the tool that reads them would be useless.
        if services.registry.get(SKILL_TOOL).is_ok() {
            let catalog = guidance.skills();
            news.extend(self.guidance.skills(&catalog));
            if !services.subagents.is_child {
                self.guidance.untrusted_skills(&catalog).into_iter().for_each(|line| events.notice(line));
            }
        }
        for GuidanceNews { note, notices } in news {
            notices.into_iter().for_each(|line| events.notice(line));
            notes.push(Part::Note(note));
        }
        notes.extend(self.changes(services, events));
        let jobs = std::mem::take(&mut self.lost_jobs);
        if !jobs.is_empty() {
            notes.push(Part::Note(Note::JobsLost { jobs }));
        }
        notes
    }

    /// What may have changed since the last message: the mode, and jobs that have ended.
    pub(crate) fn changes(&mut self, services: &SharedServices, events: &TurnEvents) -> Vec<Part> {
        let mode = services.policy().mode();
        let is_new = self.mode.replace(mode) != Some(mode);
        let note = is_new.then(|| Part::Note(mode_note(mode)));
        note.into_iter().chain(ended_jobs(services, events)).collect()
    }
}

/// Whether the present rules allow a file to be read.
pub(super) fn may_read(services: &SharedServices) -> impl Fn(&Path) -> bool + use<> {
    let denies = |rule: &&Rule| rule.verdict == RuleVerdict::Deny;
    let rules: Vec<Rule> = services.policy().rules().iter().filter(denies).cloned().collect();
    let roots = services.env.workspace.roots().to_vec();
    move |path| {
        let access = Access::Read { path: path.into(), place: AccessLocation::Inside };
        !rules.iter().any(|rule| rule.matches("read_file", &access, &roots))
    }
}

/// Background commands whose end was not reported to the model yet. The person sees them too.
fn ended_jobs(services: &SharedServices, events: &TurnEvents) -> Vec<Part> {
    if services.subagents.is_child {
        return Vec::new();
    }
    let env = &services.env;
    let view = env.workspace.view().map(View::dir);
    env.jobs.news_for_person(view).into_iter().for_each(|words| events.notice(words));
    let clean = |mut note: Note| {
        for text in note.foreign_texts_mut() {
            *text = services.secrets().redact(text).into_owned();
        }
        Part::Note(note)
    };
    env.jobs.news_for_model(view).into_iter().map(Note::JobEnded).map(clean).collect()
}

/// The background commands that were started in these messages and have no reported end: they ended with placet.
fn lost_jobs(messages: &[Message]) -> Vec<u32> {
    let mut running: BTreeSet<u32> = BTreeSet::new();
    for message in messages {
        if let Message::Results { results } = message {
            for fact in results.iter().flat_map(|result| &result.facts) {
                match fact {
                    CallFact::JobStarted { job } => drop(running.insert(*job)),
                    CallFact::JobEnded { job } => drop(running.remove(job)),
                    _ => {}
                }
            }
        }
        for note in newest_first(std::slice::from_ref(message)) {
            match note {
                Note::JobEnded(JobEnd { job, .. }) => drop(running.remove(job)),
                // The model already knows about these jobs.
                Note::JobsLost { jobs } => running.retain(|job| !jobs.contains(job)),
                _ => {}
            }
        }
    }
    running.into_iter().collect()
}
