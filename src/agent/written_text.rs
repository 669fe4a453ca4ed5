//! The parts of a message that names a text which a person wrote before: a command's file or a skill. A note says which,
//! so that the transcript shows what was typed and not the whole text.

use crate::conversation::{CallFact, CallResult, Note, Part};
use crate::guidance::Skill;
use crate::tools::{CallSummary, CommandEnd};

/// How the facts about a command that succeeded begin.
const ENDED: &str = "[exit code 0, ";

/// The text of a command, where the person typed `line`.
pub fn command_parts(line: &str, text: &str) -> Vec<Part> {
    vec![Part::Note(Note::CustomCommand { line: line.into() }), Part::text(text)]
}

/// What a command line in a text wrote, which takes the place of the line: without placet's own facts about the run. A line
/// that failed is an answer, too, and so is an output that is not whole: the model gets the facts with it.
pub fn command_output(result: &CallResult, shown: Option<&CallSummary>) -> String {
    let whole = result.body();
    let has_failed = shown.and_then(|shown| shown.command.as_ref()).is_none_or(CommandEnd::has_failed);
    let is_cut =
        result.facts.iter().any(|fact| matches!(fact, CallFact::StoredIn { .. } | CallFact::Cut { .. }));
    if has_failed || is_cut {
        return whole.trim_end().to_string();
    }
    // The facts are below the output, and the first of them is how the command ended.
    let below = whole.rfind(&format!("\n{ENDED}"));
    let facts = below.or_else(|| whole.starts_with(ENDED).then_some(0));
    whole.get(..facts.unwrap_or(whole.len())).unwrap_or_default().trim_end().to_string()
}

/// The text of a skill; `body` is that of its file.
pub fn skill_parts(skill: &Skill, body: &str) -> Vec<Part> {
    let dir = skill.dir.to_string_lossy().into_owned();
    let note = Note::ChosenSkill { name: skill.name.clone(), dir };
    vec![Part::Note(note), Part::text(skill.for_model(body))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{CallId, CallInput, CallOutcome, ToolCall};

    fn written(body: &str, code: i32, facts: Vec<CallFact>) -> String {
        let input = CallInput::Object(serde_json::json!({}));
        let call = ToolCall { id: CallId::new("c"), name: "run_command".into(), input };
        let result = CallResult::text(&call, CallOutcome::Done, body).with(facts);
        let command = Some(CommandEnd { code, lines: 1 });
        let shown = CallSummary { command, ..CallSummary::text("run", "") };
        command_output(&result, Some(&shown))
    }

    /// Story: `Status: !`git status`` became the status and four facts of placet in the middle of the text.
    #[test]
    fn the_output_of_a_line_has_no_facts_of_placet() {
        let facts =
            "[exit code 0, 0.0 s, in /w]\n[effects: 1 new: a; pending]\n[these variables look like secrets]";
        assert_eq!(written(&format!(" M a\n M b\n{facts}"), 0, Vec::new()), " M a\n M b");
        assert_eq!(written(facts, 0, Vec::new()), "");
        assert_eq!(
            written("[exit code 0, said]\n[exit code 0, 0.1 s, in /w]", 0, Vec::new()),
            "[exit code 0, said]"
        );
        let failed = "no\n[exit code 1, 0.0 s, in /w]";
        assert_eq!(written(failed, 1, Vec::new()), failed);
        let cut = "1\n[exit code 0, 0.0 s, in /w]";
        assert_eq!(written(cut, 0, vec![CallFact::Cut { bytes: 3 }]), cut);
    }
}
