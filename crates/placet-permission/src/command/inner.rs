//! Parses the command or the script that a command runs, and adds it to the command.

use super::parse_state::ShellParseState;
use super::parser::ShellParser;
use super::{CommandSegment, RedirectKind, ShellParseError, ShellWord, WrapperKind};

pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| super::lexer::is_name(name))
}

impl ShellParser {
    /// `words` are a command that `segment` runs.
    pub(super) fn run_words(
        &mut self,
        segment: &mut CommandSegment,
        words: Vec<ShellWord>,
        carrier: WrapperKind,
    ) -> Result<(), ShellParseError> {
        if words.is_empty() {
            return Ok(());
        }
        let mut inner = CommandSegment { words, assignments: segment.assignments.clone(), ..self.blank() };
        inner.redirects =
            segment.redirects.iter().filter(|r| r.kind == RedirectKind::Text).cloned().collect();
        self.nested(|parser| parser.unwrap(&mut inner))?;
        segment.inner.push(inner);
        segment.carrier = carrier;
        Ok(())
    }

    /// `words` joined and parsed as a script. `None` if the script is unknown: then the policy decides about the
    /// segment itself.
    pub(super) fn script_of(
        &mut self,
        segment: &mut CommandSegment,
        words: &[ShellWord],
        state: ShellParseState,
    ) -> Result<Option<ShellParseState>, ShellParseError> {
        let known: Option<Vec<&str>> = words.iter().map(|w| w.text.as_deref().filter(|_| !w.glob)).collect();
        let Some(known) = known else { return Ok(None) };
        let (found, state) = self.read_script(&known.join(" "), state)?;
        segment.inner.extend(found);
        segment.carrier = WrapperKind::Transparent;
        Ok(Some(state))
    }
}
