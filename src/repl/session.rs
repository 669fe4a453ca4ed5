//! Beginning, resuming and leaving conversations.

use super::command_table::CommandFollowUp;
use super::{ReplError, ResumeTarget, Shell, branches, pickers};
use crate::agent::Agent;
use crate::conversation::Part;
use crate::session::{OpenSession, SessionPin, SessionRow};
use crate::text::{shell_word, visible};

/// Hits of a search that can be chosen from.
const HITS: usize = 200;

/// The conversation of this shell; it begins with the first thing said.
#[derive(Default)]
pub(super) struct ShellConversation {
    pub(super) agent: Option<Agent>,
    /// What goes along with the next message.
    pub(super) pinned: Vec<super::scratchpads::PinnedScratchpad>,
}

/// The first words of what was said, as a title.
pub fn title_of(text: &str) -> String {
    let text = &crate::text::secret::redact(text, &[]);
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    crate::text::width::cut(&crate::text::visible::prose_line(line), 60)
}

/// What a turn began with, in the person's words: what placet put before them does not count.
pub(super) fn first_words(parts: &[Part]) -> String {
    let said = parts.iter().find_map(Part::as_text).map(String::from);
    let noted = || parts.iter().find_map(Part::as_note).map(|note| note.headline().into_owned());
    said.or_else(noted).unwrap_or_default()
}

/// Milliseconds since 1970 as local date and time, to the minute.
pub fn when(millis: i64) -> String {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "-".into(),
    }
}

/// Enough of a session's name to find it again.
pub(super) fn short_id(id: &crate::conversation::SessionId) -> &str {
    id.as_str().get(..13).unwrap_or(id.as_str())
}

/// `/title TEXT`
pub(super) fn title(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some((store, id)) = branches::saved(shell) else {
        shell.note("nothing is saved yet");
        return None;
    };
    let title = title_of(rest);
    if title.is_empty() {
        match store.find(id.as_str()) {
            Ok(row) => shell.note(&format!("renamed this conversation to: {}", row.title)),
            Err(e) => shell.error(&e.to_string(), None),
        }
        return None;
    }
    match store.rename(&id, &title) {
        Ok(()) => shell.note(&format!("renamed this conversation to: {title}")),
        Err(e) => shell.error(&e.to_string(), None),
    }
    None
}

/// `/pin` and `/pin off`
pub(super) fn pin(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some((store, id)) = branches::saved(shell) else {
        shell.note("nothing is saved yet");
        return None;
    };
    let (pin, told) = match rest {
        "" | "on" => {
            (SessionPin::On, "pinned this conversation: it is listed first and never removed automatically")
        }
        "off" => (SessionPin::Off, "unpinned this conversation"),
        _ => {
            shell.error(&format!("unknown argument `{rest}` of /pin"), Some("/pin, /pin off"));
            return None;
        }
    };
    match store.pin(&id, pin) {
        Ok(()) => shell.note(told),
        Err(e) => shell.error(&e.to_string(), None),
    }
    None
}

/// `/search WORDS`: where a screen is, the hit that is chosen is gone to.
pub(super) fn search(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some(store) = shell.store.clone() else {
        shell.note("conversations are not saved");
        return None;
    };
    let hits = match store.search(rest, HITS) {
        Ok(hits) if hits.is_empty() => {
            shell.note("no matches");
            return None;
        }
        Ok(hits) => hits,
        Err(e) => {
            shell.error(&e.to_string(), None);
            return None;
        }
    };
    if shell.is_linear() || !pickers::is_interactive() {
        for hit in &hits {
            shell.text(&format!("{}  {}\n    {}", hit.session, hit.title, hit.marked("«", "»")));
        }
        shell.hint("/resume ID resumes a session");
        return None;
    }
    let chosen = shell.pick_hit(&hits)?;
    match store.find(&chosen) {
        Ok(row) => drop(shell.change_to(&row)),
        Err(e) => shell.error(&e.to_string(), None),
    }
    None
}

impl Shell<'_> {
    /// Takes up what the command line asked for.
    pub(super) fn begin(&mut self, resume: &ResumeTarget) -> Result<(), ReplError> {
        let Some(store) = self.store.clone() else { return Ok(()) };
        match resume {
            ResumeTarget::No => {}
            ResumeTarget::Last => match store.latest(self.app.cwd())? {
                Some(id) => self.resume_session(&store.find(id.as_str())?)?,
                None => self.note("no earlier session in this directory; started a new one"),
            },
            ResumeTarget::Named(prefix) => self.resume_session(&store.find(prefix)?)?,
            ResumeTarget::Choose => self.list_sessions(),
        }
        Ok(())
    }

    /// Goes on with a session: its conversation, its scratchpads, what the model has seen.
    pub(super) fn resume_session(&mut self, row: &SessionRow) -> Result<(), ReplError> {
        let Some(store) = self.store.clone() else { return Ok(()) };
        // The lock comes first: what is read after it cannot change any more.
        let open = store.resume(&row.id)?;
        let loaded = store.load_for_resume(&row.id)?;
        let messages = loaded.transcript.len();
        let mut agent = self.build(Some(open))?;
        for note in agent.resume(loaded)? {
            self.note(&note);
        }
        self.conversation.agent = Some(agent);
        self.conversation.pinned.clear();
        self.note(&format!("resumed {}: {} ({messages} messages)", row.id, row.title));
        Ok(())
    }

    /// The same, or this conversation goes on. True when it was done.
    pub(super) fn change_to(&mut self, row: &SessionRow) -> bool {
        let now = self.conversation.agent.as_ref().and_then(Agent::session).map(OpenSession::id);
        if now == Some(&row.id) {
            self.note("this is the current conversation");
            return true;
        }
        let before = self.conversation.agent.take();
        match self.resume_session(row) {
            Ok(()) => true,
            Err(e) => {
                self.error(&e.to_string(), None);
                // The failed attempt may have set its own level in the policy, which all conversations
                // share.
                before.iter().for_each(Agent::reclaim);
                self.conversation.agent = before;
                false
            }
        }
    }

    pub(super) fn list_sessions(&self) {
        let Some(store) = &self.store else {
            self.note("conversations are not saved");
            return;
        };
        let rows = match store.list(15) {
            Ok(rows) => rows,
            Err(e) => return self.error(&e.to_string(), None),
        };
        if rows.is_empty() {
            return self.note("no sessions yet");
        }
        let line = |(at, row): (usize, &SessionRow)| {
            let pin = if row.pinned { "pinned: " } else { "" };
            let text = format!("{:>3}  {}  {}  {pin}{}", at + 1, when(row.updated), row.id, row.title);
            ratatui::text::Line::raw(crate::text::sanitize::line(&text).into_owned())
        };
        self.say_lines(rows.iter().enumerate().map(line));
        self.hint("/resume NUMBER or /resume ID resumes a session");
    }

    /// The agent of this conversation, begun with `first` if there is none yet.
    pub(super) fn agent_for(&mut self, first: &str) -> Result<&mut Agent, ReplError> {
        if self.conversation.agent.is_none() {
            let created = self.store.as_ref().map(|store| store.create(self.app.cwd(), &title_of(first)));
            let open = match created {
                Some(Ok(open)) => Some(open),
                // A full disk is no reason to lose what was typed: the conversation is held, and said not to be kept.
                Some(Err(e)) => {
                    self.error(
                        &format!("this conversation is not saved: {e}"),
                        Some("free some space, then /new"),
                    );
                    None
                }
                None => None,
            };
            self.conversation.agent = Some(self.build(open)?);
        }
        match &mut self.conversation.agent {
            Some(agent) => Ok(agent),
            None => Err(ReplError::Terminal(std::io::Error::other("no conversation"))),
        }
    }

    fn build(&mut self, open: Option<OpenSession>) -> Result<Agent, ReplError> {
        let answerer = match self.answerer.take() {
            Some(answerer) => answerer,
            None => self.app.answerer(None, None)?,
        };
        Ok(self.app.agent(answerer, open)?)
    }
}

/// `/cd`: a conversation keeps its working directory, because what is pending and what can be undone belong to it.
pub(super) fn cd(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let here = visible::path(shell.app.workspace().cwd());
    if rest.is_empty() {
        shell.note(&format!("this conversation works in {here}"));
        return None;
    }
    let home = shell.app.workspace().home();
    let there = match (rest.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        (None, Some(home)) if rest == "~" => home.to_path_buf(),
        _ => shell.app.workspace().cwd().join(rest),
    };
    if !there.is_dir() {
        shell.error(&format!("`{}` is not a directory", visible::name(rest)), None);
        return None;
    }
    // The shell does not expand a quoted `~`.
    let there = if rest.starts_with('~') { there } else { rest.into() };
    let there = shell_word::quoted(&there.to_string_lossy());
    let hint = format!(
        "start placet there: `placet --cwd {}`; -c resumes the last session of that directory",
        visible::name(&there)
    );
    shell.error(&format!("a conversation cannot change its directory ({here})"), Some(&hint));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_cut_to_fit() {
        assert_eq!(title_of("\n\n  fix the\tbug \nplease"), "fix the bug");
        assert_eq!(crate::text::width::of(&title_of(&"long ".repeat(50))), 60);
        assert_eq!(title_of("\u{1b}[31mred"), "␛[31mred");
    }
}
