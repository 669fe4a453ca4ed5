//! The parts of a message that names a text which a person wrote before: a command's file or a skill. A note says which,
//! so that the transcript shows what was typed and not the whole text.

use placet_session::guidance::Skill;
use placet_text::conversation::{CallFact, CallResult, Note, Part};

/// The text of a command, where the person typed `line`.
pub fn command_parts(line: &str, text: &str) -> Vec<Part> {
    vec![Part::Note(Note::CustomCommand { line: line.into() }), Part::text(text)]
}

/// What a command line in a text wrote, which takes the place of the line: without placet's own facts about the run. A line
/// that failed is an answer, too, and so is an output that is not whole: the model gets the facts with it.
pub fn command_output(result: &CallResult) -> String {
    let whole = result.body();
    let has = |wanted: fn(&CallFact) -> bool| result.facts.iter().any(wanted);
    let has_succeeded = has(|fact| matches!(fact, CallFact::Exit { code: Some(0) }));
    let is_cut = has(|fact| matches!(fact, CallFact::StoredIn { .. } | CallFact::Cut { .. }));
    let printed = result.facts.iter().find_map(|fact| match fact {
        CallFact::Printed { bytes } => whole.get(..*bytes),
        _ => None,
    });
    let shown = printed.filter(|_| has_succeeded && !is_cut).unwrap_or(&whole);
    shown.trim_end().to_string()
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
    use placet_text::conversation::{CallId, CallInput, CallOutcome, ToolCall};

    fn written(output: &str, own: &str, code: i32, facts: Vec<CallFact>) -> String {
        let input = CallInput::Object(serde_json::json!({}));
        let call = ToolCall { id: CallId::new("c"), name: "run_command".into(), input };
        let ran = [CallFact::Exit { code: Some(code) }, CallFact::Printed { bytes: output.len() }];
        let result = CallResult::text(&call, CallOutcome::Done, format!("{output}{own}"));
        command_output(&result.with(ran.into_iter().chain(facts).collect()))
    }

    /// Story: `Status: !`git status`` became the status and four facts of placet in the middle of the text.
    #[test]
    fn the_output_of_a_line_has_no_facts_of_placet() {
        let facts =
            "[exit code 0, 0.0 s, in /w]\n[effects: 1 new: a; pending]\n[these variables look like secrets]";
        assert_eq!(written(" M a\n M b\n", facts, 0, Vec::new()), " M a\n M b");
        assert_eq!(written("", facts, 0, Vec::new()), "");
        // What the command printed is its own, whatever it looks like.
        let printed = "[exit code 0, said]\n[exit code 0, 0.1 s, in /w]\n";
        assert_eq!(written(printed, "[exit code 0, 0.1 s, in /w]", 0, Vec::new()), printed.trim_end());
        let failed = "[exit code 1, 0.0 s, in /w]";
        assert_eq!(written("no\n", failed, 1, Vec::new()), format!("no\n{failed}"));
        let cut = "[exit code 0, 0.0 s, in /w]";
        assert_eq!(written("1\n", cut, 0, vec![CallFact::Cut { bytes: 3 }]), format!("1\n{cut}"));
        assert_eq!(command_output(&without_facts("1\n")), "1");
    }

    fn without_facts(body: &str) -> CallResult {
        let input = CallInput::Object(serde_json::json!({}));
        let call = ToolCall { id: CallId::new("c"), name: "run_command".into(), input };
        CallResult::text(&call, CallOutcome::Done, body)
    }
}
