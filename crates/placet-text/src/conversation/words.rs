//! The sentences that a model reads for placet's own notes: the only place where they are made.
//!
//! They are made again each time a request is encoded, from the note alone: the same note has the same bytes in every
//! request, and provider caches remain valid. No code parses a sentence. Names and commands in them are foreign text:
//! they remain on one line, whatever they contain.

use super::{
    BlockedWrite, CallInterruption, FailedCheck, HistoryScope, InstructionsVersion, JobEnd, Note,
    TextCallFault,
};
use std::borrow::Cow;
use std::fmt::Write;

/// The most characters of a command or a name within a sentence.
const LONGEST: usize = 400;

impl Note {
    /// The text that the model reads.
    pub fn words(&self) -> Cow<'_, str> {
        let words = match self {
            Note::Mode { mode, meaning } => format!("[placet: the mode is {mode}: {meaning}]"),
            Note::Instructions { text, edition: InstructionsVersion::First, .. } => {
                format!("[placet: the project's instructions]\n{text}")
            }
            Note::Instructions { text, edition: InstructionsVersion::Changed, .. } => {
                format!(
                    "[placet: the project's instructions, changed; this replaces the earlier text]\n{text}"
                )
            }
            Note::InstructionsGone => return Cow::Borrowed(INSTRUCTIONS_GONE),
            Note::DirectoryInstructions { dir, text, .. } => {
                format!("[placet: instructions for files in {}]\n{text}", on_one_line(dir))
            }
            Note::Skills { text, .. } if text.is_empty() => return Cow::Borrowed(SKILLS_GONE),
            Note::Skills { text, edition } => {
                let head = match edition {
                    InstructionsVersion::First => SKILLS,
                    InstructionsVersion::Changed => SKILLS_CHANGED,
                };
                format!("{head}{text}")
            }
            Note::ChosenSkill { name, dir } => format!(
                "[placet: the person chose the skill {}; its files are in {}]",
                on_one_line(name),
                on_one_line(dir)
            ),
            Note::CustomCommand { line } => {
                format!("[placet: the person typed {}, a command with this text]", on_one_line(line))
            }
            Note::Summary { text } => format!("{SUMMARY}{text}"),
            Note::BeginningLeftOut => return Cow::Borrowed(BEGINNING_LEFT_OUT),
            Note::WorkLeftOut => return Cow::Borrowed(WORK_LEFT_OUT),
            Note::JobEnded(JobEnd { job, how, command, effects }) => {
                format!(
                    "[placet: job {job} has ended: {}: {}]{effects}",
                    on_one_line(how),
                    on_one_line(command)
                )
            }
            Note::JobsLost { jobs } => {
                let jobs = jobs.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                format!("[placet: the background commands {jobs} ended when placet was closed]")
            }
            Note::AttachedFile { path } => format!("[placet: the person attached {}]", on_one_line(path)),
            Note::AttachedScratchpad { name } => {
                format!("[placet: the person attached the scratchpad `{}`]", on_one_line(name))
            }
            Note::Review { report, .. } => return Cow::Borrowed(report),
            Note::Repeated { times } => format!(
                "note: this is the same call with the same result, {times} times in a row; try something else"
            ),
            Note::FailsAlike { times } => format!(
                "note: calls of this tool have failed in the same way {times} times; read what the error says, or do it in another way"
            ),
            Note::EmptyAnswer => return Cow::Borrowed(EMPTY_ANSWER),
            Note::TextCall { fault } => format!("{TEXT_CALL}{fault}. {TEXT_CALL_FORM}"),
            Note::Interrupted { at } => return Cow::Borrowed(interrupted(*at)),
            Note::ResultLeftOut { tool, arguments, scratchpad } => {
                result_left_out(tool, arguments, scratchpad.as_deref())
            }
            Note::PictureLeftOut => return Cow::Borrowed(PICTURE_LEFT_OUT),
            Note::PictureHidden { kind, name, reason } => {
                format!("[{kind} {} is not shown: {}]", on_one_line(name), on_one_line(reason))
            }
            Note::PictureMissing { name } => {
                format!("[picture {}: its bytes were not in the file]", on_one_line(name))
            }
            Note::ResultRefused { tool } => {
                format!("[the provider refused this result of {}]", on_one_line(tool))
            }
            Note::PlainHistory { text, scope: HistoryScope::Whole } => format!("{PLAIN_HISTORY}{text}"),
            Note::PlainHistory { text, scope: HistoryScope::End } => format!("{PLAIN_END}{text}"),
            Note::DirectoryChanged { from, to } => format!(
                "[placet: the working directory is now {}, before this message it was {}; relative paths and permissions are those of the new directory]",
                on_one_line(to),
                on_one_line(from)
            ),
            Note::GoesOn => return Cow::Borrowed("[placet: the conversation continues]"),
            Note::SumUp { focus } => sum_up(focus),
            Note::AnswerWithheld { reason } => {
                format!("[placet: the answer is withheld: {}]", on_one_line(reason))
            }
            Note::HookSays { hook, text } => {
                format!("[placet: the person's hook `{}` says]\n{text}", on_one_line(hook))
            }
            Note::ChecksFailed { failed, round, most } => checks_failed(failed, *round, *most),
            Note::NewDiagnostics { found } => with_checks(NEW_DIAGNOSTICS.into(), found),
            Note::MessageLost => return Cow::Borrowed(MESSAGE_LOST),
            Note::ArgumentsChanged { changes } => format!("note: {}", on_one_line(changes)),
            Note::ResultIncomplete { missing } => format!("[{}]", on_one_line(missing)),
            Note::NotStored { reason } => format!("[not saved to the store: {}]", on_one_line(reason)),
            Note::WriteDownBlocked { level, files, more } => write_down_blocked(level, files, *more),
            Note::Earlier { text } => return Cow::Borrowed(text),
        };
        Cow::Owned(words)
    }

    /// The note in a few words, for a list that a person reads.
    pub fn headline(&self) -> Cow<'_, str> {
        let short = match self {
            Note::Mode { mode, .. } => return Cow::Owned(format!("the mode is {mode}")),
            Note::Instructions { .. } => "the project's instructions",
            Note::InstructionsGone => "the project's instructions are gone",
            Note::DirectoryInstructions { dir, .. } => {
                return Cow::Owned(format!("the instructions of {}", on_one_line(dir)));
            }
            Note::Skills { .. } => "the list of skills",
            Note::ChosenSkill { name, .. } => return Cow::Owned(format!("the skill {}", on_one_line(name))),
            Note::CustomCommand { line } => return Cow::Owned(on_one_line(line).into_owned()),
            Note::Summary { .. } => "summary of what came before",
            Note::Review { brief, .. } => brief,
            Note::JobEnded(JobEnd { job, how, .. }) => {
                return Cow::Owned(format!("job {job} has ended: {}", on_one_line(how)));
            }
            Note::DirectoryChanged { to, .. } => {
                return Cow::Owned(format!("the working directory is {}", on_one_line(to)));
            }
            Note::JobsLost { .. } => "background commands ended",
            Note::AttachedFile { path } => return Cow::Owned(format!("attached {}", on_one_line(path))),
            Note::AttachedScratchpad { name } => {
                return Cow::Owned(format!("attached the scratchpad `{}`", on_one_line(name)));
            }
            Note::HookSays { hook, text } => {
                return Cow::Owned(format!("the hook `{}`: {}", on_one_line(hook), on_one_line(text)));
            }
            Note::ChecksFailed { failed, .. } => {
                let names: Vec<&str> = failed.iter().map(|failed| failed.check.as_str()).collect();
                return Cow::Owned(format!("checks failed: {}", on_one_line(&names.join(", "))));
            }
            Note::NewDiagnostics { found } => {
                let names: Vec<&str> = found.iter().map(|found| found.check.as_str()).collect();
                return Cow::Owned(format!("checks found more: {}", on_one_line(&names.join(", "))));
            }
            Note::EmptyAnswer => "the answer was empty",
            Note::TextCall { .. } => "a tool call came as text",
            Note::Earlier { text } => return on_one_line(text.lines().next().unwrap_or_default()),
            other => return other.words(),
        };
        Cow::Borrowed(short)
    }
}

impl std::fmt::Display for TextCallFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TextCallFault::UnknownTool { name } => write!(f, "there is no tool `{}`", on_one_line(name)),
            TextCallFault::Unreadable { reason } => f.write_str(&on_one_line(reason)),
            TextCallFault::NotLast => f.write_str("it is not the end of the answer"),
        }
    }
}

const SUMMARY: &str = "[placet: what came before, summed up; the person still has all of it]\n";
const INSTRUCTIONS_GONE: &str = "[placet: the project's AGENTS.md is gone; its instructions no longer hold]";
const SKILLS: &str = "[placet: skills; before you do what one describes, read it with the tool `skill`]\n";
const SKILLS_CHANGED: &str =
    "[placet: the skills, changed; this replaces the earlier list; read one with the tool `skill`]\n";
const SKILLS_GONE: &str = "[placet: there are no skills any more]";
const BEGINNING_LEFT_OUT: &str =
    "[placet: the beginning of this conversation was left out to fit the context window]";
const WORK_LEFT_OUT: &str = "[placet: the beginning of this work was left out to fit the context window]";
const PICTURE_LEFT_OUT: &str = "[a picture was left out to fit the context window]";
const EMPTY_ANSWER: &str =
    "[placet: your last answer had no text and no call; go on with the task, or say why you cannot]";
const TEXT_CALL: &str = "[placet: your last answer had a tool call as text, and it was not run: ";
const TEXT_CALL_FORM: &str = "Call tools through the interface for tools, or as your instructions show. If you have neither, end the answer with <tool_call>{\"name\": \"TOOL\", \"arguments\": {...}}</tool_call> and write nothing behind it]";
const PLAIN_HISTORY: &str =
    "[placet: the conversation so far, as text, because the provider refused it as it was]";
const PLAIN_END: &str = "[placet: the provider refused the conversation before this; it is left out]";
const NEW_DIAGNOSTICS: &str =
    "[placet: checks find something after this edit that they did not find before the turn]";
const MESSAGE_LOST: &str = "[placet: a message here cannot be read any more]";

fn checks_failed(failed: &[FailedCheck], round: u32, most: u32) -> String {
    let words = match round {
        0 => "[placet: these checks fail; make them pass]".to_string(),
        round => {
            format!("[placet: checks failed on your changes, round {round} of {most}; correct the changes]")
        }
    };
    with_checks(words, failed)
}

/// Each line of the checks is behind two blanks: none of them can look like a line of placet's.
fn with_checks(mut words: String, checks: &[FailedCheck]) -> String {
    for FailedCheck { outcome, lines, .. } in checks {
        let _ = write!(words, "\n{}", on_one_line(outcome));
        for line in lines {
            let _ = write!(words, "\n  {}", on_one_line(line.trim_start()));
        }
    }
    words
}

fn interrupted(at: CallInterruption) -> &'static str {
    match at {
        CallInterruption::BeforeItRan => "interrupted by the person before it ran",
        CallInterruption::Abandoned => "interrupted; it did not stop in time and was abandoned",
        CallInterruption::AbandonedCommand => {
            "interrupted; it did not stop in time and was abandoned (its changes are discarded)"
        }
        CallInterruption::AbandonedCollection => {
            "interrupted; its changes are still being collected, and will be pending"
        }
        CallInterruption::PlacetStopped => "placet was stopped before this call ended",
    }
}

fn result_left_out(tool: &str, arguments: &str, scratchpad: Option<&str>) -> String {
    let tool = on_one_line(tool);
    match scratchpad {
        Some(name) => format!(
            "[this result of {tool} was left out to fit the context window; all of it is in the scratchpad `{}`]",
            on_one_line(name)
        ),
        None => format!(
            "[this result of {tool} {} was left out to fit the context window; call it again if you need it]",
            on_one_line(arguments)
        ),
    }
}

fn write_down_blocked(level: &str, files: &[BlockedWrite], more: usize) -> String {
    let line = |file: &BlockedWrite| {
        format!(
            "[Write-down blocked — your session taint is {level}, but the target resource \"{}\" is classified {}; this change was discarded]",
            on_one_line(&file.path),
            file.level
        )
    };
    let mut lines: Vec<String> = files.iter().map(line).collect();
    if more > 0 {
        lines.push(format!("[{more} more changes at a lower level were discarded]"));
    }
    lines.join("\n")
}

fn sum_up(focus: &str) -> String {
    let mut words = include_str!("../../prompts/compact.md").trim_end().to_string();
    if !focus.is_empty() {
        let _ = write!(words, "\n\nThe person wants the summary to focus on: {focus}");
    }
    words
}

/// Foreign text within a sentence of placet: no line break, no control character, no character that some program treats
/// as a line end, and at most a fixed length.
fn on_one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) && text.chars().nth(LONGEST).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(LONGEST * 4));
    for (at, c) in text.chars().enumerate() {
        if at == LONGEST {
            out.push('…');
            break;
        }
        if breaks(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
