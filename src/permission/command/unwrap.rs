//! Commands that run other commands: what is behind them is reached too.
//!
//! A wrapper that is not known here stands for itself, and a rule or a person answers for it.

use super::grammar::ShellParser;
use super::wrappers;
use super::{CommandSegment, RedirectKind, ShellParseError, ShellWord, WrapperKind};

pub(in crate::permission) const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"];

pub(super) fn unwrap(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let Some(program) = segment.program().map(String::from) else { return Ok(()) };
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
        "xargs" => xargs(parser, segment),
        "find" | "fd" | "fdfind" => find(parser, segment),
        "eval" => {
            let words = segment.arguments().to_vec();
            let state = parser.state.clone();
            if let Some(state) = script_of(parser, segment, &words, state)? {
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
            script_of(parser, segment, &words, state).map(drop)
        }
        "git" => git(parser, segment),
        "trap" => own_script(parser, segment, 0),
        "alias" => alias(parser, segment),
        name if SHELLS.contains(&name) => shell(parser, segment),
        name => match wrappers::find(name) {
            Some(wrapper) => wrapper.unwrap(parser, segment),
            None => Ok(()),
        },
    }
}

pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| super::lexer::is_name(name))
}

/// How many of `words` are options, with the words of those in `valued` and the two of those in `twice`.
pub(super) fn options<T: AsRef<str>>(words: &[ShellWord], valued: &[T], twice: &[T]) -> usize {
    let has = |list: &[T], text: &str| list.iter().any(|option| option.as_ref() == text);
    let mut at = 0;
    while let Some(text) = words.get(at).and_then(|w| w.text.as_deref()) {
        match text {
            "--" => return at + 1,
            text if has(valued, text) => at += 2,
            text if has(twice, text) => at += 3,
            text if text.starts_with('-') && text.len() > 1 => at += 1,
            _ => break,
        }
    }
    at.min(words.len())
}

/// The command that starts at argument `at`.
fn run_from(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    at: usize,
    carrier: WrapperKind,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().get(at..).unwrap_or_default().to_vec();
    run_words(parser, segment, words, carrier)
}

pub(super) fn run_words(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    words: Vec<ShellWord>,
    carrier: WrapperKind,
) -> Result<(), ShellParseError> {
    if words.is_empty() {
        return Ok(());
    }
    let mut inner = CommandSegment { words, assignments: segment.assignments.clone(), ..parser.blank() };
    inner.redirects = segment.redirects.iter().filter(|r| r.kind == RedirectKind::Text).cloned().collect();
    parser.nested(|parser| unwrap(parser, &mut inner))?;
    segment.inner.push(inner);
    segment.carrier = carrier;
    Ok(())
}

/// `words` joined and read as a script. `None` when it cannot be known: then the segment stands for itself.
pub(super) fn script_of(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    words: &[ShellWord],
    state: super::parse_state::ShellParseState,
) -> Result<Option<super::parse_state::ShellParseState>, ShellParseError> {
    let known: Option<Vec<&str>> = words.iter().map(|w| w.text.as_deref().filter(|_| !w.glob)).collect();
    let Some(known) = known else { return Ok(None) };
    let (found, state) = parser.read_script(&known.join(" "), state)?;
    segment.inner.extend(found);
    segment.carrier = WrapperKind::Transparent;
    Ok(Some(state))
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
    script_of(parser, segment, &words, state)?;
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
            script_of(parser, segment, &script, state)?;
        }
        return Ok(());
    }
    let text = segment.redirects.iter().find(|r| r.kind == RedirectKind::Text).map(|r| r.target.clone());
    match (words.get(at), text) {
        (None, Some(text)) => script_of(parser, segment, &[text], state).map(drop),
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
                return script_of(parser, segment, &script, state).map(drop);
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

fn xargs(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    const VALUED: &[&str] = &[
        "-I",
        "-n",
        "-P",
        "-L",
        "-d",
        "-a",
        "-s",
        "-E",
        "--max-args",
        "--max-procs",
        "--max-lines",
        "--delimiter",
        "--arg-file",
        "--replace",
        "--max-chars",
    ];
    let words = segment.arguments().to_vec();
    let at = options(&words, VALUED, &[]);
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
    run_words(parser, segment, command, WrapperKind::Transparent)
}

/// `find ... -exec CMD ;`, `fd ... -x CMD`. The search itself needs consent of its own.
fn find(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    const RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let words = segment.arguments().to_vec();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !RUNS.iter().any(|run| word.is(run)) {
            continue;
        }
        let ends = |w: &ShellWord| w.is(";") || w.is("+");
        let rest = words.get(at..).unwrap_or_default();
        let command: Vec<ShellWord> = rest.iter().take_while(|w| !ends(w)).map(found).collect();
        at += command.len();
        run_words(parser, segment, command, WrapperKind::Itself)?;
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
