//! `/skills`: the skills, where they come from and what they cost; and trust in those of a project.

use super::trust_question::{TrustedText, ask_trust};
use crate::guidance::{GuidanceProblem, Skill, SkillCatalog};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::{count, visible};
use crate::ui::token_counts;
use std::path::Path;

/// Bytes of a token, as everywhere in placet's estimates.
const BYTES_PER_TOKEN: usize = 4;

pub(in crate::repl::commands) fn skills(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let catalog = context.app.guidance.skills();
    match rest {
        "" => list(context, &catalog),
        "trust" => trust(context, &catalog)?,
        name => {
            let found = catalog.find(name.trim_start_matches(['$', '/']));
            let unknown =
                || CommandStop::with_hint(format!("unknown skill {name}"), "/skills lists the skills");
            show(context, found.ok_or_else(unknown)?)?;
        }
    }
    Ok(CommandFollowUp::Nothing)
}

fn list(context: &CommandContext<'_>, catalog: &SkillCatalog) {
    let output = &context.output;
    if catalog.skills.is_empty() {
        output.note("no skills");
        output.hint("a skill is a directory with a SKILL.md in .agents/skills or ~/.agents/skills");
    }
    let row = |skill: &Skill| {
        let tokens = token_counts::short((skill.bytes / BYTES_PER_TOKEN) as u64);
        let state = match (skill.is_trusted, skill.is_for_people) {
            (false, _) => ", not trusted",
            (true, true) => ", only for you",
            (true, false) => "",
        };
        let place = shown(context, &skill.dir);
        let tokens = if tokens == "1" { "1 token".into() } else { format!("{tokens} tokens") };
        (skill.name.clone(), format!("{tokens}{state}, {place}: {}", skill.description))
    };
    output.rows(&catalog.skills.iter().map(row).collect::<Vec<_>>());
    let (list, shortened) = catalog.list_for_model();
    if !list.is_empty() {
        let tokens = token_counts::short((list.len() / BYTES_PER_TOKEN) as u64);
        output.hint(&format!("their names and descriptions take about {tokens} tokens of a conversation"));
    }
    shortened.iter().for_each(|line| output.note(line));
    let commands = context.app.guidance.commands();
    for skill in &catalog.skills {
        if let Some(command) = commands.find(&skill.name) {
            let (name, path) = (&skill.name, shown(context, &command.path));
            output.note(&format!("/{name} is the command {path}; ${name} in a message uses the skill"));
        }
    }
    problems(context, &catalog.problems);
    let waiting = catalog.untrusted().count();
    if waiting > 0 {
        let skills = count::of(waiting, "skill");
        output.hint(&format!("/skills trust shows {skills} of this project and asks for your trust"));
    }
}

/// What is wrong with files of skills or commands.
pub(in crate::repl::commands) fn problems(context: &CommandContext<'_>, problems: &[GuidanceProblem]) {
    for GuidanceProblem { path, why } in problems {
        context.output.note(&format!("{}: {}", shown(context, path), visible::line(why)));
    }
}

fn show(context: &CommandContext<'_>, skill: &Skill) -> Result<(), CommandStop> {
    let body = skill.body().map_err(|e| CommandStop::error(e.to_string()))?;
    context.output.note(&format!("{}: {}", skill.name, skill.description));
    context.output.quote(&skill.for_model(&body));
    Ok(())
}

/// Shows every skill that waits, and asks once.
fn trust(context: &CommandContext<'_>, catalog: &SkillCatalog) -> Result<(), CommandStop> {
    let waiting: Vec<&Skill> = catalog.untrusted().collect();
    if waiting.is_empty() {
        return Err(CommandStop::note("no skill of this project waits for your trust"));
    }
    let mut texts = Vec::new();
    for skill in &waiting {
        let whole = skill.for_trust().map_err(|e| CommandStop::error(e.to_string()))?;
        texts.push((skill.file(), whole));
    }
    let asked: Vec<TrustedText<'_>> = waiting
        .iter()
        .zip(&texts)
        .map(|(skill, (path, text))| TrustedText {
            what: format!("the skill {}", skill.name),
            path,
            hash: &skill.hash,
            text,
        })
        .collect();
    ask_trust(context, &asked)?;
    let skills = count::of(waiting.len(), "skill");
    context.output.note(&format!("offered to the model from the next message on: {skills} of this project"));
    Ok(())
}

/// A path as a person writes it.
pub(in crate::repl::commands) fn shown(context: &CommandContext<'_>, path: &Path) -> String {
    let below = |base: &Path| path.strip_prefix(base).ok().map(Path::to_path_buf);
    let home = context.app.guidance.places().home.as_deref();
    match (below(context.app.cwd()), home.and_then(below)) {
        (Some(relative), _) => visible::path(&relative),
        (None, Some(relative)) => format!("~/{}", visible::path(&relative)),
        (None, None) => visible::path(path),
    }
}
