//! The skills that a message names with `$`.

use crate::guidance::{Skill, SkillCatalog};

/// The skills named with `$` at the start of a word, each once: `$pdf`. Other words with `$` are text.
pub(crate) fn named_skills(text: &str, catalog: &SkillCatalog) -> Vec<Skill> {
    let mut out: Vec<Skill> = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c == '(');
    for name in words.filter_map(|word| word.strip_prefix('$')) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name = name.split(|c: char| !is_part(c)).next().unwrap_or("");
        let found = catalog.find(name).filter(|skill| out.iter().all(|known| known.name != skill.name));
        out.extend(found.cloned());
    }
    out
}

/// True for a text that may name a skill: without a sign no file is read.
pub(crate) fn may_name_skills(text: &str) -> bool {
    text.contains('$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guidance::{Guidance, GuidancePlaces};

    #[test]
    fn a_skill_is_named_at_the_start_of_a_word_and_other_variables_are_text() {
        let home = tempfile::tempdir().unwrap();
        for name in ["pdf", "a-b"] {
            let dir = home.path().join("skills").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("SKILL.md"), "---\ndescription: x\n---\nx").unwrap();
        }
        let places = GuidancePlaces { config: home.path().into(), ..GuidancePlaces::default() };
        let catalog = Guidance::new(places, Box::new(|_| true)).skills();
        let names =
            |text: &str| named_skills(text, &catalog).into_iter().map(|skill| skill.name).collect::<Vec<_>>();
        assert_eq!(names("use $pdf, then ($a-b) and $pdf: $HOME costs $5"), ["pdf", "a-b"]);
        assert_eq!(names("x$pdf $pdfs \\$pdf"), [] as [&str; 0]);
    }
}
