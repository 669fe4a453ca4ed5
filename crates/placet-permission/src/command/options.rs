//! Options as getopt(3) reads them, for every wrapper: clusters of letters, values in the same word or the next, `--`,
//! and abbreviated long options. An option that no table knows may take a word or not: then each place where the
//! command may begin is an end, and the result is not certain.

use super::ShellWord;
use std::collections::BTreeSet;

/// The options of one program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OptionSyntax<'t> {
    /// Letters without a value.
    pub(super) letters: &'t str,
    /// Long options without a value.
    pub(super) long: &'t [String],
    /// A value is only in the same word.
    pub(super) optional: &'t [String],
    pub(super) valued: &'t [String],
    /// Two words follow.
    pub(super) twice: &'t [String],
    /// The value is a text for a shell.
    pub(super) script: &'t [String],
}

/// The result of reading the options of a command line.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadOptions {
    /// Where the words after the options may begin, the nearest first.
    pub(super) ends: Vec<usize>,
    /// Every option is known, so there is one end.
    pub(super) certain: bool,
    pub(super) found: Vec<FoundOption>,
}

#[derive(Clone, Debug)]
pub(super) struct FoundOption {
    /// The option as the table has it.
    pub(super) name: String,
    pub(super) value: OptionValue,
}

#[derive(Clone, Debug)]
pub(super) enum OptionValue {
    None,
    /// In the same word.
    Here(String),
    Word(ShellWord),
}

/// The options of one word.
struct WordOptions {
    names: Vec<(String, Option<String>)>,
    /// How many words the option takes in addition to its own.
    takes: usize,
    certain: bool,
}

impl OptionSyntax<'_> {
    /// Reads the options that begin at `from`, up to the first word that is not an option.
    pub(super) fn read(self, words: &[ShellWord], from: usize) -> ReadOptions {
        let mut out = ReadOptions { certain: true, ..ReadOptions::default() };
        let mut ends = BTreeSet::new();
        let mut places = BTreeSet::from([from]);
        while let Some(at) = places.pop_first() {
            let Some(word) = words.get(at) else {
                ends.insert(words.len());
                continue;
            };
            match word.text.as_deref() {
                Some("--") => {
                    ends.insert(at + 1);
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    let read = self.word(text);
                    places.insert(at + 1 + read.takes);
                    if !read.certain && !text.contains('=') {
                        places.extend([at + 1, at + 2]);
                    }
                    out.certain &= read.certain;
                    out.found.extend(self.found_in(words, at));
                }
                None if word.source.starts_with('-') => {
                    out.certain = false;
                    ends.insert(at);
                    places.extend([at + 1, at + 2]);
                }
                _ => {
                    ends.insert(at);
                }
            }
        }
        out.ends = ends.into_iter().collect();
        out
    }

    /// The options of the word at `at`, with their values.
    pub(super) fn found_in(self, words: &[ShellWord], at: usize) -> Vec<FoundOption> {
        let Some(text) = words.get(at).and_then(|w| w.text.as_deref()) else { return Vec::new() };
        if !text.starts_with('-') || matches!(text, "-" | "--") {
            return Vec::new();
        }
        let with_value = |(name, value): (String, Option<String>)| {
            let value = match value {
                Some(value) => OptionValue::Here(value),
                None if self.takes(&name) > 0 => {
                    words.get(at + 1).cloned().map_or(OptionValue::None, OptionValue::Word)
                }
                None => OptionValue::None,
            };
            FoundOption { name, value }
        };
        self.word(text).names.into_iter().map(with_value).collect()
    }

    fn takes(self, name: &str) -> usize {
        let has = |list: &[String]| list.iter().any(|option| option == name);
        match () {
            () if has(self.valued) || has(self.script) => 1,
            () if has(self.twice) => 2,
            () => 0,
        }
    }

    fn word(self, text: &str) -> WordOptions {
        if text.starts_with("--") { self.long_option(text) } else { self.cluster(text) }
    }

    fn long_option(self, text: &str) -> WordOptions {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        let lists = [self.long, self.optional, self.valued, self.twice, self.script];
        let all = || lists.iter().flat_map(|list| list.iter());
        let exact: Vec<&String> = all().filter(|option| *option == name).take(1).collect();
        let known = if exact.is_empty() {
            all().filter(|option| option.starts_with("--") && option.starts_with(name)).collect()
        } else {
            exact
        };
        let takes = match (known.as_slice(), &value) {
            ([only], None) => self.takes(only),
            ([only], Some(_)) => self.takes(only).saturating_sub(1),
            _ => 0,
        };
        let certain = known.len() == 1;
        let names = known.into_iter().map(|option| (option.clone(), value.clone())).collect();
        WordOptions { names, takes, certain }
    }

    fn cluster(self, text: &str) -> WordOptions {
        let mut out = WordOptions { names: Vec::new(), takes: 0, certain: true };
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
            let attached = (!rest.is_empty()).then(|| rest.to_string());
            let takes = self.takes(&name);
            let optional = self.optional.contains(&name);
            // `-d` of watch has a value in some versions and none in others.
            if optional && self.letters.contains(letter) && attached.is_some() {
                out.certain = false;
            } else if takes > 0 || optional {
                out.takes = if attached.is_some() { takes.saturating_sub(1) } else { takes };
                out.names.push((name, attached));
                return out;
            }
            out.certain &= self.letters.contains(letter);
            out.names.push((name, None));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(line: &str) -> (Vec<usize>, bool) {
        let list = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let (long, optional) = (list("--foreground --force"), list("-i --replace"));
        let (valued, twice) = (list("-k --kill-after -u"), list("--bind"));
        let syntax = OptionSyntax {
            letters: "fv",
            long: &long,
            optional: &optional,
            valued: &valued,
            twice: &twice,
            script: &[],
        };
        let words: Vec<ShellWord> = line.split(' ').map(ShellWord::literal).collect();
        let read = syntax.read(&words, 0);
        (read.ends, read.certain)
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        for (line, end) in [
            ("x", 0),
            ("-f x", 1),
            ("-fk 5 x", 2),
            ("-k5 x", 1),
            ("-fk5 x", 1),
            ("-kf x", 1),
            ("-iu x", 1),
            ("--kill 5 x", 2),
            ("--kill=5 x", 1),
            ("--kill-after 5 x", 2),
            ("--repl x", 1),
            ("--bind a b x", 3),
            ("-f -- -k x", 2),
            ("- x", 0),
            ("-vu x", 2),
        ] {
            assert_eq!(ends(line), (vec![end], true), "{line}");
        }
    }

    #[test]
    fn an_option_that_is_not_known_may_take_a_word_or_not() {
        for (line, all) in [
            ("-z x y", vec![1, 2]),
            ("-fz x y", vec![1, 2]),
            ("--other x y", vec![1, 2]),
            ("--other=a x y", vec![1]),
            ("--fo x y", vec![1, 2]),
            ("-z -f x", vec![2]),
            ("-zk x y", vec![1, 2]),
            ("-z", vec![1]),
        ] {
            assert_eq!(ends(line), (all, false), "{line}");
        }
    }
}
