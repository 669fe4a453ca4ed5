//! The group that a command could not use: without privileges the kernel lets a view have one group of the person's.

use super::ended_command::{EndedCommand, words};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the kernel says of a file whose group the view does not have.
const OVERFLOW: &str = "Value too large for defined data type";

/// The group, for a sentence, if a command failed because of it.
pub(super) fn unknown_group(ended: &EndedCommand<'_>) -> Option<String> {
    let table = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let named = match ended.prints(OVERFLOW) {
        true => group_of_file(ended).map(|gid| name_of(&table, gid)),
        false if ended.prints("changing group of") && ended.prints("Invalid argument") => {
            words(ended.line).find_map(|word| known_name(&table, word))
        }
        false => return None,
    };
    Some(named.map_or_else(|| "another group".into(), |name| format!("the group `{name}`")))
}

/// Of the file that a message names, or of the directory in which it would be.
fn group_of_file(ended: &EndedCommand<'_>) -> Option<u32> {
    let own = rustix::process::getegid().as_raw();
    let messages = ended.output.lines().filter(|line| line.contains(OVERFLOW));
    let paths = messages.flat_map(words).flat_map(|word| ended.roots.iter().map(move |root| root.join(word)));
    // What a command prints must not name files elsewhere.
    let is_below = |path: &Path| {
        !path.iter().any(|part| part == "..") && ended.roots.iter().any(|root| path.starts_with(root))
    };
    let group = |path: &Path| std::fs::symlink_metadata(path).ok().map(|known| known.gid());
    let nearest = |path: &Path| path.ancestors().filter(|path| is_below(path)).find_map(group);
    let mut groups = paths.filter_map(|path| nearest(&path));
    groups.find(|gid| *gid != own)
}

/// `name:password:number:members`
fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().filter_map(|row| {
        let mut fields = row.split(':');
        Some((fields.next()?, fields.nth(1)?))
    })
}

fn name_of(table: &str, gid: u32) -> String {
    let gid = gid.to_string();
    rows(table).find(|(_, number)| *number == gid).map_or(gid.clone(), |(name, _)| name.into())
}

/// The name of the group that `word` is the name or the number of.
fn known_name(table: &str, word: &str) -> Option<String> {
    rows(table).find(|(name, number)| *name == word || *number == word).map(|(name, _)| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_by_its_name_or_its_number() {
        let table = "root:x:0:\ndevs:x:1002:me,you\nodd\n";
        assert_eq!((name_of(table, 1002), name_of(table, 7)), ("devs".into(), "7".into()));
        assert_eq!(known_name(table, "1002"), Some("devs".into()));
        assert_eq!((known_name(table, "x"), known_name(table, "devs")), (None, Some("devs".into())));
    }
}
