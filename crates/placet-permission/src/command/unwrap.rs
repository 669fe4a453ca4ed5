//! Commands that run other commands: the inner commands are parsed as well.
//!
//! An unknown wrapper counts as an ordinary command, and a rule or the person decides about it.

use super::options::OptionValue;
use super::parser::ShellParser;
use super::wrappers;
use super::wrappers::WrapperTable;
use super::{CommandSegment, RedirectKind, ShellParseError, ShellWord, WrapperKind};

impl ShellParser {
    /// Adds to `segment` the commands that it runs.
    pub(super) fn unwrap(&mut self, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
        see_through(self, segment)
    }
}

fn see_through(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let Some(program) = segment.program().map(String::from) else { return Ok(()) };
    let table = wrappers::table()?;
    match program.as_str() {
        "env" => env(parser, segment, table),
        "command" => {
            let words = segment.arguments().to_vec();
            let read = table.options_of("command").read(&words, 0);
            if read.found.iter().any(|option| matches!(option.name.as_str(), "-v" | "-V")) {
                return Ok(());
            }
            let carrier = consent(read.certain);
            parser.fork(read.ends.len())?;
            read.ends.into_iter().try_for_each(|at| run_from(parser, segment, at, carrier))
        }
        "xargs" => xargs(parser, segment, table),
        "find" | "fd" | "fdfind" => find(parser, segment, table),
        "eval" => {
            let mut words = segment.arguments().to_vec();
            if words.first().is_some_and(|w| w.is("--")) {
                words.remove(0);
            }
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
            let words = segment.arguments().to_vec();
            let read = table.options_of("watch").read(&words, 0);
            parser.fork(read.ends.len())?;
            for at in read.ends {
                let state = parser.state.for_new_shell();
                parser.script_of(segment, words.get(at..).unwrap_or_default(), state)?;
            }
            if !read.certain {
                segment.carrier = WrapperKind::Itself;
            }
            Ok(())
        }
        "git" => git(parser, segment),
        "trap" => {
            let ended = segment.arguments().first().is_some_and(|w| w.is("--"));
            own_script(parser, segment, usize::from(ended))
        }
        "alias" => alias(parser, segment),
        name if wrappers::is_shell(name) => shell(parser, segment),
        name => match table.find(name) {
            Some(wrapper) => wrapper.unwrap(parser, segment),
            None => Ok(()),
        },
    }
}

/// Consent to the inner command of a wrapper is enough only if the wrapper's options are certain.
fn consent(certain: bool) -> WrapperKind {
    if certain { WrapperKind::Transparent } else { WrapperKind::Itself }
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

/// `sh -c SCRIPT`, `sh <<EOF`, `sh <<< TEXT`. The danger list decides about script files and pipes.
fn shell(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let (mut at, mut takes_script, mut unclear) = (0, false, false);
    let state = parser.state.for_new_shell();
    while let Some(text) = words.get(at).and_then(|w| w.text.as_deref()) {
        if matches!(text, "--rcfile" | "--init-file") {
            at += 2;
            continue;
        }
        if matches!(text, "-" | "--") {
            at += 1;
            break;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        let cluster = !text.starts_with("--");
        takes_script |= text.starts_with('-') && cluster && text.contains('c');
        // fish: `--command=TEXT`, `--init-command TEXT`, possibly abbreviated.
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if name.len() > 3 && ["--command", "--init-command"].iter().any(|long| long.starts_with(name)) {
            let next = || words.get(at + 1).cloned();
            let script: Vec<ShellWord> = value.map(ShellWord::literal).or_else(next).into_iter().collect();
            parser.script_of(segment, &script, state.clone())?;
            at += if value.is_some() { 1 } else { 2 };
            continue;
        }
        // `-euo pipefail`: a cluster with this end takes a word. Elsewhere in a cluster some shells take a word and
        // some do not.
        let ends = text.ends_with(['o', 'O']);
        unclear |= cluster && !ends && text.contains(['o', 'O']);
        at += if cluster && ends { 2 } else { 1 };
    }
    if takes_script && unclear {
        for word in words.get(at..).unwrap_or_default() {
            parser.script_of(segment, std::slice::from_ref(word), state.clone())?;
        }
        segment.carrier = WrapperKind::Itself;
        return Ok(());
    }
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

fn env(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    table: &WrapperTable,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let read = table.options_of("env").read(&words, 0);
    let mut carrier = consent(read.certain);
    let has = |names: [&str; 2]| read.found.iter().find(|option| names.contains(&option.name.as_str()));
    if let Some(option) = has(["-S", "--split-string"]) {
        return match &option.value {
            OptionValue::Word(text) => split(parser, segment, &words, text),
            _ => Err(ShellParseError::Unsupported("`env -S` in one word")),
        };
    }
    // The command runs in another directory, where its paths are not resolved.
    let elsewhere = has(["-C", "--chdir"]).is_some();
    if elsewhere {
        carrier = WrapperKind::Itself;
    }
    parser.fork(read.ends.len())?;
    for end in read.ends {
        let (set, at) = variables(&words, end);
        // Options in a variable: env takes them for the program, and other versions might not.
        let late = words.get(at).is_some_and(|w| w.source.starts_with('-'));
        let ends = if late { table.options_of("env").read(&words, at).ends } else { vec![at] };
        let from = segment.inner.len();
        parser.fork(ends.len())?;
        for at in ends {
            run_from(parser, segment, at, carrier)?;
        }
        for inner in segment.inner.iter_mut().skip(from) {
            assign(inner, &set);
            if elsewhere {
                inner.dirs = None;
            }
        }
    }
    Ok(())
}

/// The variables that env sets, from `at` on, and the start of the command.
fn variables(words: &[ShellWord], at: usize) -> (Vec<(String, ShellWord)>, usize) {
    let mut set = Vec::new();
    // `env - A=b make`: the same as `-i`.
    let mut at = at + usize::from(words.get(at).is_some_and(|w| w.is("-")));
    while let Some(word) = words.get(at) {
        let text = word.text.as_deref();
        let Some((name, value)) = text.unwrap_or(&word.source).split_once('=') else { break };
        match text {
            Some(text) if !text.starts_with('-') => set.push((name.to_string(), ShellWord::literal(value))),
            // `env $X cmd`: the first word is unknown.
            None if super::lexer::is_name(name) => {
                set.push((name.to_string(), ShellWord::unknown(&word.source)));
            }
            _ => break,
        }
        at += 1;
    }
    (set, at)
}

/// `env -S TEXT WORD...`: the text is split into words, which are options, variables and a command for env again.
fn split(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    words: &[ShellWord],
    text: &ShellWord,
) -> Result<(), ShellParseError> {
    // Escapes and comments follow env's own syntax and not that of a shell.
    if text.source.contains(['\\', '#']) {
        return Err(ShellParseError::Unsupported("`env -S` with an escape or a comment"));
    }
    let at = words.iter().position(|w| w == text).map_or(words.len(), |at| at);
    let mut script = vec![ShellWord::literal("env")];
    script.extend(words.get(at..).unwrap_or_default().iter().cloned());
    let state = parser.state.for_new_shell();
    parser.script_of(segment, &script, state).map(drop)
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
    let read = table.options_of("xargs").read(&words, 0);
    let replaces: Option<String> = read.found.iter().rev().find_map(|option| {
        let text = match &option.value {
            OptionValue::Here(text) => Some(text.clone()),
            OptionValue::Word(word) => word.text.clone(),
            OptionValue::None => None,
        };
        match option.name.as_str() {
            "-I" => text,
            "-i" | "--replace" => Some(text.unwrap_or_else(|| "{}".into())),
            _ => None,
        }
    });
    parser.fork(read.ends.len())?;
    for end in read.ends {
        let mut command: Vec<ShellWord> = words.get(end..).unwrap_or_default().to_vec();
        if command.is_empty() {
            command.push(ShellWord::literal("echo"));
        }
        match &replaces {
            Some(mark) => {
                for word in command.iter_mut().filter(|w| w.source.contains(mark)) {
                    *word = ShellWord::unknown(&word.source.replace(mark, "(standard input)"));
                }
            }
            None => command.push(ShellWord::unknown("(standard input)")),
        }
        parser.run_words(segment, command, consent(read.certain))?;
    }
    Ok(())
}

/// `find ... -exec CMD ;`, `fd ... -x CMD`. The search itself needs separate consent.
fn find(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    table: &WrapperTable,
) -> Result<(), ShellParseError> {
    let words = segment.arguments().to_vec();
    let is_find = segment.program() == Some("find");
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let mut command = Vec::new();
        if !table.find_runs.iter().any(|run| word.is(run)) {
            let options = table.options_of("fd").found_in(&words, at - 1);
            let runs = options.into_iter().find(|option| table.find_runs.contains(&option.name));
            match runs.filter(|_| !is_find).map(|option| option.value) {
                None => continue,
                // `-x=rm` is `-x rm`.
                Some(OptionValue::Here(text)) => {
                    command.push(ShellWord::literal(text.strip_prefix('=').unwrap_or(&text)));
                }
                Some(_) => {}
            }
        }
        let ends = |w: &ShellWord| w.is(";") || w.is("+");
        let rest = words.get(at..).unwrap_or_default();
        let given = rest.iter().take_while(|w| !ends(w));
        at += given.clone().count();
        command.extend(given.map(found));
        // fd appends the name if no placeholder marks its position.
        if !is_find && !command.is_empty() && !command.iter().any(|w| w.source.contains('{')) {
            command.push(ShellWord::unknown("{}"));
        }
        parser.run_words(segment, command, WrapperKind::Itself)?;
    }
    Ok(())
}

/// `{}` is a placeholder for a name that only the search knows.
fn found(word: &ShellWord) -> ShellWord {
    if word.source.contains("{}") { ShellWord::unknown(&word.source) } else { word.clone() }
}

fn git(parser: &mut ShellParser, segment: &mut CommandSegment) -> Result<(), ShellParseError> {
    let runs =
        |name: &str| name.len() > 3 && ["--exec", "--extcmd"].iter().any(|long| long.starts_with(name));
    let words = segment.arguments().to_vec();
    let mut is_read = false;
    for (at, word) in words.iter().enumerate() {
        let Some(text) = word.text.as_deref() else { continue };
        let next = || words.get(at + 1).and_then(|w| w.text.clone());
        // The words after this word, without options and `--`.
        let rest = || {
            let option = |w: &&ShellWord| w.source.starts_with('-');
            words.iter().skip(at + 1).skip_while(option).cloned().collect::<Vec<ShellWord>>()
        };
        let is_run = text == "run" && at > 0 && words.get(at - 1).is_some_and(|w| w.is("bisect"));
        if text == "foreach" || is_run {
            // The words after a second wrapper are parsed twice.
            parser.fork(1 + usize::from(is_read))?;
            is_read = true;
            all_words(parser, segment, rest())?;
            continue;
        }
        let script = match text {
            "-x" => next(),
            "-c" => next().and_then(|t| t.split_once("=!").map(|(_, script)| script.to_string())),
            text if text.starts_with("--") => match text.split_once('=') {
                Some((name, script)) if runs(name) => Some(script.to_string()),
                None if runs(text) => next(),
                _ => None,
            },
            // `git rebase -ix TEXT`
            text if text.starts_with('-') && words.iter().take(at).any(|w| w.is("rebase")) => {
                let script = text.split_once('x').map(|(_, script)| script.to_string());
                script.and_then(|script| if script.is_empty() { next() } else { Some(script) })
            }
            _ => None,
        };
        if let Some(script) = script {
            let state = parser.state.for_new_shell();
            // Not every `-x` is a script; other values add nothing.
            if let Ok((found, _)) = parser.read_script(&script, state) {
                segment.inner.extend(found);
                segment.carrier = WrapperKind::Itself;
            }
        }
    }
    Ok(())
}

/// git runs all `words`: a single word is a text for a shell, and of several words the first may be one.
fn all_words(
    parser: &mut ShellParser,
    segment: &mut CommandSegment,
    words: Vec<ShellWord>,
) -> Result<(), ShellParseError> {
    if words.is_empty() {
        return Ok(());
    }
    let joined = words.iter().map(ShellWord::shown).collect::<Vec<_>>().join(" ");
    let state = parser.state.for_new_shell();
    if let Ok((found, _)) = parser.read_script(&joined, state) {
        segment.inner.extend(found);
        segment.carrier = WrapperKind::Itself;
    }
    // `git bisect run sh -c TEXT`: the words remain unchanged.
    let spaced = |w: &ShellWord| w.source.contains(char::is_whitespace);
    if words.len() > 1 && words.iter().any(spaced) {
        parser.run_words(segment, words, WrapperKind::Itself)?;
    }
    Ok(())
}
