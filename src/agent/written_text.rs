//! The parts of a message that names a text which a person wrote before: a command's file or a skill. A note says which,
//! so that the transcript shows what was typed and not the whole text.

use crate::conversation::{Note, Part};
use crate::guidance::Skill;

/// The text of a command, where the person typed `line`.
pub fn command_parts(line: &str, text: &str) -> Vec<Part> {
    vec![Part::Note(Note::CustomCommand { line: line.into() }), Part::text(text)]
}

/// The text of a skill; `body` is that of its file.
pub fn skill_parts(skill: &Skill, body: &str) -> Vec<Part> {
    let dir = skill.dir.to_string_lossy().into_owned();
    let note = Note::ChosenSkill { name: skill.name.clone(), dir };
    vec![Part::Note(note), Part::text(skill.for_model(body))]
}
