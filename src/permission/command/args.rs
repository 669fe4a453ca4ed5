//! The words behind a program: options and operands.

use super::ShellWord;

/// The words behind a program or a subcommand.
#[derive(Clone, Copy, Debug)]
pub(in crate::permission) struct CommandArgs<'a>(pub(in crate::permission) &'a [ShellWord]);

impl<'a> CommandArgs<'a> {
    pub(in crate::permission) fn has(self, text: &str) -> bool {
        self.0.iter().any(|w| w.is(text))
    }

    /// An option before `--`: a letter (`-f`) alone or in a cluster, a long name exactly as it is.
    pub(in crate::permission) fn has_flag(self, flag: &str) -> bool {
        let letter = flag.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        self.options().any(|text| match letter {
            Some(letter) => !text.starts_with("--") && text.contains(letter),
            None => text == flag,
        })
    }

    pub(in crate::permission) fn options(self) -> impl Iterator<Item = &'a str> {
        let texts = self.0.iter().filter_map(|w| w.text.as_deref());
        texts.take_while(|t| *t != "--").filter(|t| t.starts_with('-') && t.len() > 1)
    }

    /// The words that are not options, as far as their text is known.
    pub(in crate::permission) fn operands(self) -> Vec<&'a ShellWord> {
        let mut ended = false;
        let mut out = Vec::new();
        for word in self.0 {
            match word.text.as_deref() {
                Some("--") if !ended => ended = true,
                Some(text) if !ended && text.starts_with('-') && text.len() > 1 => {}
                _ => out.push(word),
            }
        }
        out
    }
}
