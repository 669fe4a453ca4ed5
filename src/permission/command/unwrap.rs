//! Commands that run other commands: what is behind them is reached too.
//!
//! A wrapper that is not known here is judged as a command of its own, and a rule or a person answers for it.

use super::inner::options;
use super::parser::ShellParser;
use super::wrappers;
use super::wrappers::WrapperTable;
use super::{CommandSegment, RedirectKind, ShellParseError, ShellWord, WrapperKind};

impl ShellParser {
    /// Adds to `segment` what it runs.
    pub(super) fn unwrap(&mut self, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
        see_through(self, segment)
    }
}

fn see_through(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let Some(program) = segment.program().map(String::from) else { return Ok(()) };
    let table = wrappers::table()?;
    match program.as_str() {
        "env" => env(parser, segment),
        "command" => {
            let lookup = |w: &ShellWord| {
                w.text.as_deref().is_some_and(|t| t.starts_with('-') && t.contains(['v', 'V']))
            };
            if segment.arguments().first().is_some_and(lookup) {
                return Ok(());
            }
            let at = options::<&str>(segment.arguments(), &[], &[]);
            run_from(parser, segment, at, WrapperKind::Transparent)
        }
        "xargs" => xargs(parser, segment, table),
        "find" | "fd" | "fdfind" => find(parser, segment, table),
        "eval" => {
            let words = segment.arguments().to_vec();
            let state = parser.state.clone();
            if let Some(state) = parser.script_of(segment, &words, state)? {
                parser.state = state;
            } else {
                parser.state.forget_vars();
                parser.state.change_dir(None);
            }
            Ok(())
        }
        "watch" => {
            let valued = ["-n", "--interval", "-q", "--equexit"];
            let at = options(segment.arguments(), &valued, &[]);
            let words = segment.arguments().get(at..).unwrap_or_default().to_vec();
            let state = parser.state.for_new_shell();
            parser.script_of(segment, &words, state).map(drop)
        }
        "git" => git(parser, segment),
        "trap" => own_script(parser, segment, 0),
        "alias" => alias(parser, segment),
        name if wrappers::is_shell(name) => shell(parser, segment),
        name => match table.find(name) {
            Some(wrapper) => wrapper.unwrap(parser, segment),
            None => Ok(()),
        },
    }
}

/// The command that starts at argument `at`.
fn run_from(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    at: usize,
    carrier: WrapperKind,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().get(at..).unwrap_or_default().to_vec();
    parser.run_words(segment, words, carrier)
}

/// Argument `at` is a script, and the segment needs consent of its own.
fn own_script(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    at: usize,
) -> Result<(), ShellParseError> {
    let words: Vec<ShellWord> = segment.arguments().get(at).cloned().into_iter().collect();
    if words.iter().any(|w| w.is("-") || w.is("")) {
        return Ok(());
    }
    let state = parser.state.for_new_shell();
    parser.script_of(segment, &words, state)?;
    segment.carrier = WrapperKind::Itself;
    Ok(())
}

fn alias(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    for word in segment.arguments().to_vec() {
        let Some((_, value)) = word.text.as_deref().and_then(|t| t.split_once('=')) else { continue };
        let state = parser.state.for_new_shell();
        let (found, _) = parser.read_script(value, state)?;
        segment.inner.extend(found);
        segment.carrier = WrapperKind::Itself;
    }
    Ok(())
}

/// `sh -c SCRIPT`, `sh <<EOF`, `sh <<< TEXT`. A script file or a pipe is for the danger list to judge.
fn shell(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let (mut at, mut takes_script) = (0, false);
    while let Some(text) = words.get(at).and_then(|w| w.text.as_deref()) {
        if matches!(text, "--rcfile" | "--init-file") {
            at += 2;
            continue;
        }
        if !text.starts_with(['-', '+']) || text == "-" || text == "--" {
            break;
        }
        let cluster = !text.starts_with("--");
        takes_script |= text.starts_with('-') && cluster && text.contains('c');
        // `-euo pipefail`: a cluster that ends so takes a word.
        at += if cluster && text.ends_with(['o', 'O']) { 2 } else { 1 };
    }
    let state = parser.state.for_new_shell();
    if takes_script {
        let script: Vec<ShellWord> = words.get(at).cloned().into_iter().collect();
        if !script.is_empty() {
            parser.script_of(segment, &script, state)?;
        }
        return Ok(());
    }
    let text = segment.redirects.iter().find(|r| r.kind == RedirectKind::Text).map(|r| r.target.clone());
    match (words.get(at), text) {
        (None, Some(text)) => parser.script_of(segment, &[text], state).map(drop),
        _ => Ok(()),
    }
}

fn env(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let mut at = 0;
    let mut set = Vec::new();
    let mut carrier = WrapperKind::Transparent;
    while let Some(word) = words.get(at) {
        let Some(text) = word.text.as_deref() else {
            // `env $X cmd`: what comes first is not known.
            match word.source.split_once('=') {
                Some((name, _)) if super::lexer::is_name(name) => {
                    set.push((name.to_string(), ShellWord::unknown(&word.source)));
                    at += 1;
                    continue;
                }
                _ => break,
            }
        };
        match text {
            "-u" | "--unset" => at += 2,
            "-C" | "--chdir" => {
                // The command runs elsewhere; its paths are not followed there.
                carrier = WrapperKind::Itself;
                at += 2;
            }
            "-S" | "--split-string" => {
                let state = parser.state.for_new_shell();
                let script: Vec<ShellWord> = words.get(at + 1..).unwrap_or_default().to_vec();
                return parser.script_of(segment, &script, state).map(drop);
            }
            "--" => {
                at += 1;
                break;
            }
            text if text.starts_with("-S") || text.starts_with("--split-string=") => {
                return Err(ShellParseError::Unsupported("`env -S` in one word"));
            }
            text if text.starts_with('-') => at += 1,
            text => match text.split_once('=') {
                Some((name, value)) => {
                    set.push((name.to_string(), ShellWord::literal(value)));
                    at += 1;
                }
                None => break,
            },
        }
    }
    run_from(parser, segment, at, carrier)?;
    for inner in &mut segment.inner {
        assign(inner, &set);
        if carrier == WrapperKind::Itself {
            inner.dirs = None;
        }
    }
    Ok(())
}

fn assign(segment: &mut CommandSegment, set: &[(String, ShellWord)]) {
    segment.assignments.extend(set.iter().cloned());
    for inner in &mut segment.inner {
        assign(inner, set);
    }
}

fn xargs(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    table: &WrapperTable,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let at = options(&words, &table.xargs_valued, &[]);
    let replaces: Option<String> = words.iter().take(at).enumerate().find_map(|(i, w)| {
        let text = w.text.as_deref()?;
        match text {
            "-I" | "--replace" => words.get(i + 1).and_then(|w| w.text.clone()),
            "-i" => Some("{}".into()),
            text => text.strip_prefix("-I").map(String::from),
        }
    });
    let mut command: Vec<ShellWord> = words.get(at..).unwrap_or_default().to_vec();
    if command.is_empty() {
        command.push(ShellWord::literal("echo"));
    }
    match replaces {
        Some(mark) => {
            for word in command.iter_mut().filter(|w| w.source.contains(&mark)) {
                *word = ShellWord::unknown(&word.source.replace(&mark, "(standard input)"));
            }
        }
        None => command.push(ShellWord::unknown("(standard input)")),
    }
    parser.run_words(segment, command, WrapperKind::Transparent)
}

/// `find ... -exec CMD ;`, `fd ... -x CMD`. The search itself needs consent of its own.
fn find(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    table: &WrapperTable,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !table.find_runs.iter().any(|run| word.is(run)) {
            continue;
        }
        let ends = |w: &ShellWord| w.is(";") || w.is("+");
        let rest = words.get(at..).unwrap_or_default();
        let command: Vec<ShellWord> = rest.iter().take_while(|w| !ends(w)).map(found).collect();
        at += command.len();
        parser.run_words(segment, command, WrapperKind::Itself)?;
    }
    Ok(())
}

/// `{}` stands for a name that only the search knows.
fn found(word: &ShellWord) -> ShellWord {
    if word.source.contains("{}") { ShellWord::unknown(&word.source) } else { word.clone() }
}

fn git(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    for (at, word) in words.iter().enumerate() {
        let Some(text) = word.text.as_deref() else { continue };
        let next = || words.get(at + 1).and_then(|w| w.text.clone());
        let script = match text {
            "foreach" | "--exec" | "-x" => next(),
            "-c" => next().and_then(|t| t.split_once("=!").map(|(_, script)| script.to_string())),
            "run" if at > 0 && words.get(at - 1).is_some_and(|w| w.is("bisect")) => {
                let rest: Vec<&str> = words.iter().skip(at + 1).map(ShellWord::shown).collect();
                Some(rest.join(" "))
            }
            text => text.strip_prefix("--exec=").map(String::from),
        };
        if let Some(script) = script {
            let state = parser.state.for_new_shell();
            // Not every `-x` is a script; what is none adds nothing.
            if let Ok((found, _)) = parser.read_script(&script, state) {
                segment.inner.extend(found);
                segment.carrier = WrapperKind::Itself;
            }
        }
    }
    Ok(())
}
