//! The conversation of a shell: who answers in it, where it is stored, and which changes wait in it.

use super::coming::ComingMessages;
use super::error::ReplError;
use super::output::ShellOutput;
use super::titles::title_of;
use super::user_context::UserContext;
use crate::agent::{Agent, SelectedModel};
use crate::conversation::{Message, Note, Part};
use crate::provider::{OfflineProvider, ServerFacts};
use crate::session::{OpenSession, SessionStore, TryName};
use crate::workspace::{ChangeCount, LayerKind, View, Workspace};
use std::collections::BTreeSet;

/// The conversation of the shell. It begins with the first message.
pub(super) struct ShellConversation<'r> {
    app: &'r UserContext<'r>,
    pub(super) agent: Option<Agent>,
    /// The messages of the agent's session, where they are read while the person types.
    pub(super) coming: Option<ComingMessages>,
    pub(super) store: Option<SessionStore>,
    /// Who answers next; the agent takes it over when it begins.
    pub(super) answerer: Option<SelectedModel>,
    /// What goes along with the next message.
    pub(super) pinned: Vec<PinnedScratchpad>,
    /// What the agent is to know with the next message.
    pub(super) notes: Vec<Note>,
    /// What an earlier session of this directory left pending.
    pub(super) earlier: Option<Workspace>,
    /// A command began it, and no message has given it a title yet.
    is_untitled: bool,
    /// The running jobs of which the person who wanted to leave was told.
    pub(super) told_of_jobs: BTreeSet<u32>,
    /// It is removed with its directory when the shell ends: the tour.
    pub(super) is_temporary: bool,
}

/// A scratchpad that goes along with the next message.
pub(super) struct PinnedScratchpad {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

impl<'r> ShellConversation<'r> {
    pub(super) fn new(
        app: &'r UserContext<'r>,
        answerer: SelectedModel,
        store: Option<SessionStore>,
    ) -> ShellConversation<'r> {
        let (agent, answerer, earlier) = (None, Some(answerer), None);
        ShellConversation {
            app,
            agent,
            coming: None,
            store,
            answerer,
            pinned: Vec::new(),
            notes: Vec::new(),
            earlier,
            is_untitled: false,
            told_of_jobs: BTreeSet::new(),
            is_temporary: false,
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        self.agent.as_ref().map_or(&[], |agent| agent.transcript().messages())
    }

    /// The session of this conversation, where there is one.
    pub(super) fn session(&self) -> Option<&OpenSession> {
        self.agent.as_ref().and_then(Agent::session)
    }

    /// The name of the try that this conversation is.
    pub(super) fn try_name(&self) -> Option<TryName> {
        self.session()?.try_name().ok().flatten()
    }

    /// Names of the provider and of the model.
    pub(super) fn answered_by(&self) -> (String, String) {
        match (&self.agent, &self.answerer) {
            (Some(agent), _) => (agent.provider_name().to_string(), agent.model().name.clone()),
            (None, Some(answerer)) => (answerer.provider.name().to_string(), answerer.model.name.clone()),
            (None, None) => ("none".into(), "none".into()),
        }
    }

    /// What the server said of the model, if anything.
    pub(super) fn server_facts(&self) -> Option<&ServerFacts> {
        self.agent.as_ref().and_then(Agent::server_facts).filter(|facts| !facts.is_empty())
    }

    /// True where the offline provider answers because nobody named another one: there is no model.
    pub(super) fn lacks_model(&self) -> bool {
        self.answered_by().0 == OfflineProvider::NAME && !self.app.builder.has_provider()
    }

    /// The provider that wants a key, and the variable to set, where there is no key.
    pub(super) fn missing_key(&self) -> Option<(String, String)> {
        let (provider, _) = self.answered_by();
        let variable = self.app.builder.missing_key(&provider)?;
        Some((provider, variable))
    }

    /// The command without which nothing can be sent.
    pub(super) fn needed_command(&self) -> Option<&'static str> {
        self.lacks_model().then_some("setup")
    }

    /// The workspace of the agent's tools.
    pub(super) fn own_workspace(&self) -> Option<&Workspace> {
        self.agent.as_ref().map(|agent| &agent.env().workspace)
    }

    /// The same; before the first message, the one in which something waits.
    pub(super) fn workspace(&self) -> Workspace {
        let own = self.own_workspace().cloned();
        own.or_else(|| self.viewed().map(|(workspace, _)| workspace))
            .unwrap_or_else(|| self.app.workspace.clone())
    }

    /// The conversation's workspace and view; before the first message there is none.
    pub(super) fn viewed(&self) -> Option<(Workspace, View)> {
        let waits =
            |workspace: &&Workspace| workspace.view().is_some_and(|v| !v.is_empty(LayerKind::Pending));
        let own = self.own_workspace();
        // What an earlier session left comes into sight again when this one has nothing of its own.
        let workspace = match own.filter(waits).or(self.earlier.as_ref().filter(waits)).or(own) {
            Some(workspace) => workspace.clone(),
            None => self.app.builder.empty_view(),
        };
        let view = workspace.view()?.clone();
        Some((workspace, view))
    }

    /// Every view in which something may have been discarded.
    pub(super) fn views(&self) -> Vec<View> {
        let all = self.own_workspace().into_iter().chain(&self.earlier);
        all.filter_map(|workspace| workspace.view().cloned()).collect()
    }

    /// Changes that wait for the person.
    pub(super) fn pending(&self) -> ChangeCount {
        let view = self.viewed().map(|(_, view)| view).filter(|view| !view.is_empty(LayerKind::Pending));
        let counted = view.and_then(|view| view.pending_count().ok());
        counted.unwrap_or_default()
    }

    /// The same, without what an earlier session left.
    pub(super) fn own_pending(&self) -> ChangeCount {
        let view = self.own_workspace().and_then(Workspace::view);
        let view = view.filter(|view| !view.is_empty(LayerKind::Pending));
        let counted = view.and_then(|view| view.pending_count().ok());
        counted.unwrap_or_default()
    }

    /// The agent of this conversation, begun with `first` if there is none yet.
    pub(super) fn agent_for(
        &mut self,
        first: &str,
        output: &ShellOutput<'_>,
    ) -> Result<&mut Agent, ReplError> {
        if self.agent.is_some() && std::mem::take(&mut self.is_untitled) {
            self.give_title(first);
        }
        if self.agent.is_none() {
            self.is_untitled = title_of(first).is_empty();
            let created = self.store.as_ref().map(|store| store.create(self.app.cwd(), &title_of(first)));
            let open = match created {
                Some(Ok(open)) => Some(open),
                // A full disk is not a reason to lose the message: the conversation continues, and placet reports that
                // it is not saved.
                Some(Err(e)) => {
                    output.error(
                        &format!("this conversation is not saved: {e}"),
                        Some("free some space, then /new"),
                    );
                    None
                }
                None => None,
            };
            self.agent = Some(self.build(open)?);
        }
        match &mut self.agent {
            Some(agent) => Ok(agent),
            None => Err(ReplError::Terminal(std::io::Error::other("no conversation"))),
        }
    }

    /// Names a conversation that a command began before its first message.
    fn give_title(&mut self, first: &str) {
        let title = title_of(first);
        self.is_untitled = title.is_empty();
        let id = self.session().map(|session| session.id().clone());
        let (Some(store), Some(id), false) = (&self.store, id, title.is_empty()) else { return };
        if let Err(e) = store.rename(&id, &title) {
            // It can be given later: `/title`.
            tracing::warn!("the conversation has no title: {e}");
        }
    }

    pub(super) fn build(&mut self, open: Option<OpenSession>) -> Result<Agent, ReplError> {
        let answerer = match self.answerer.take() {
            Some(answerer) => answerer,
            None => self.app.builder.answerer(None, None)?,
        };
        Ok(self.app.builder.agent(answerer, open)?)
    }
}

/// Stores a line that the screen showed below the conversation.
pub(super) fn add_closing_line(agent: &Agent, line: &str) {
    let Some(session) = agent.session() else { return };
    if let Err(e) = session.add_closing_line(agent.transcript().len(), line) {
        // Without it a resumed conversation lacks the line, and nothing else.
        tracing::warn!("a line below the conversation was not saved: {e}");
    }
}
