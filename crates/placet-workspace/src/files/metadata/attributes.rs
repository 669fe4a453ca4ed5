//! What a change does to mode, owner, extended attributes and access lists, each named: the bytes of a file are not all
//! that is applied.

use super::access_list;
use super::path_state::{FileAttrs, PathState};
use placet_text::text::visible;
use std::collections::BTreeSet;

/// A new file that only its owner and group may write and nobody may execute; bits that the umask removes are not
/// reported.
const MOST_OF_FILES: u32 = 0o664;
const MOST_OF_DIRECTORIES: u32 = 0o775;
/// What its owner cannot read is a surprise. git stores objects with mode 444.
const LEAST_OF_FILES: u32 = 0o400;
const LEAST_OF_DIRECTORIES: u32 = 0o500;
const SET_OWNER: u32 = 0o4000;
pub(crate) const SET_GROUP: u32 = 0o2000;
/// Bytes of an attribute's value that are shown; of a longer one the length and the hash.
const SHOWN: usize = 60;

/// The differences between `before` and `after`, a few words each. A new file or directory is compared with an ordinary
/// one of the person who runs placet. Rendered.
pub(crate) fn words(before: &PathState, after: &PathState) -> Vec<String> {
    let mut words: Vec<String> = becomes(before, after).into_iter().collect();
    let Some(new) = after.attrs() else { return words };
    let old = before.attrs().filter(|_| before.is_directory() == after.is_directory());
    match old {
        Some(old) if old.mode != new.mode => {
            words.push(format!("mode {:o} to {:o}{}", old.mode, new.mode, gains(old.mode, new.mode, after)));
        }
        None if !is_usual(new.mode, after) => {
            words.push(format!("mode {:o}{}", new.mode, gains(0, new.mode, after)));
        }
        _ => {}
    }
    let usual = (rustix::process::geteuid().as_raw(), own_group());
    let (uid, gid) = old.map_or(usual, |old| (old.uid, old.gid));
    for (what, was, is) in [("owner", uid, new.uid), ("group", gid, new.gid)] {
        match old {
            Some(_) if was != is => words.push(format!("{what} {was} to {is}")),
            // Nobody changed it: a directory gives its group to what is made in it.
            None if was != is => words.push(format!("{what} {is}")),
            _ => {}
        }
    }
    words.extend(attributes(old, new));
    words
}

/// What is at a path may become of another kind.
fn becomes(before: &PathState, after: &PathState) -> Option<String> {
    let kind = |node: &PathState| match node {
        PathState::File { .. } => Some("a file"),
        PathState::Directory { .. } => Some("a directory"),
        PathState::Link { .. } => Some("a link"),
        PathState::Absent | PathState::Special { .. } => None,
    };
    let (old, new) = (kind(before)?, kind(after)?);
    (old != new).then(|| format!("({old} becomes {new})"))
}

fn own_group() -> u32 {
    rustix::process::getegid().as_raw()
}

/// The person who runs placet is in this group.
pub(crate) fn is_own_group(gid: u32) -> bool {
    let others = rustix::process::getgroups().unwrap_or_default();
    gid == own_group() || others.iter().any(|group| group.as_raw() == gid)
}

fn is_usual(mode: u32, node: &PathState) -> bool {
    let (least, most) = match node.is_directory() {
        true => (LEAST_OF_DIRECTORIES, MOST_OF_DIRECTORIES),
        false => (LEAST_OF_FILES, MOST_OF_FILES),
    };
    mode & !most == 0 && mode & least == least
}

/// Whose rights a file has from now on, no matter who starts it.
fn gains(old: u32, new: u32, node: &PathState) -> &'static str {
    match new & !old & (SET_OWNER | SET_GROUP) {
        0 => "",
        _ if node.is_directory() => "",
        SET_GROUP => " (anyone who runs it gets the rights of its group)",
        _ => " (anyone who runs it gets the rights of its owner)",
    }
}

/// What a file becomes that gives its rights to anyone who runs it, and did not before.
pub(crate) fn gained_rights(before: &PathState, after: &PathState) -> Option<&'static str> {
    const CAPABILITIES: &str = "security.capability";
    const EXECUTABLE: u32 = 0o111;
    let PathState::File { attrs: new, .. } = after else { return None };
    let old = before.attrs().filter(|_| matches!(before, PathState::File { .. }));
    let runs_with = |attrs: &FileAttrs, bit: u32| attrs.mode & bit != 0 && attrs.mode & EXECUTABLE != 0;
    let gains = |bit: u32| runs_with(new, bit) && !old.is_some_and(|old| runs_with(old, bit));
    let capabilities = new.xattrs.get(CAPABILITIES);
    if gains(SET_OWNER) {
        Some("a setuid program")
    } else if gains(SET_GROUP) {
        Some("a setgid program")
    } else if capabilities.is_some() && capabilities != old.and_then(|old| old.xattrs.get(CAPABILITIES)) {
        Some("a program with capabilities")
    } else {
        None
    }
}

fn attributes(old: Option<&FileAttrs>, new: &FileAttrs) -> Vec<String> {
    let none = FileAttrs::default();
    let old = old.unwrap_or(&none);
    let names: BTreeSet<&String> = old.xattrs.keys().chain(new.xattrs.keys()).collect();
    let differing = names.into_iter().filter(|name| old.xattrs.get(name) != new.xattrs.get(name));
    differing.map(|name| attribute(name, new.xattrs.get(name))).collect()
}

fn attribute(name: &str, value: Option<&String>) -> String {
    let what = match name {
        access_list::ACCESS => "access list".into(),
        "system.posix_acl_default" => "access list for new files in it".into(),
        other => format!("attribute {}", visible::line(other)),
    };
    let Some(value) = value else { return format!("{what} removed") };
    let bytes = super::path_state::from_hex(value).unwrap_or_default();
    if let Some(list) = name.starts_with("system.posix_acl_").then(|| access_list::words(&bytes)).flatten() {
        return format!("{what} {list}");
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.len() <= SHOWN => format!("{what} \"{}\"", visible::line(text)),
        _ => {
            let hash = blake3::hash(&bytes).to_hex();
            format!("{what} of {} bytes, hash {}", bytes.len(), hash.get(..16).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(attrs: FileAttrs) -> PathState {
        PathState::File { hash: blake3::hash(b"x"), size: 1, attrs }
    }

    fn mine(mode: u32) -> FileAttrs {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        FileAttrs { mode, uid, gid, ..FileAttrs::default() }
    }

    fn with(name: &str, value: &[u8]) -> FileAttrs {
        let xattrs = [(name.to_string(), super::super::path_state::to_hex(value))].into_iter().collect();
        FileAttrs { xattrs, ..mine(0o644) }
    }

    #[test]
    fn what_a_person_would_not_expect_of_a_new_file_is_named() {
        let new = |mode| words(&PathState::Absent, &file(mine(mode)));
        assert_eq!([new(0o644), new(0o600), new(0o664)].concat(), Vec::<String>::new());
        assert_eq!(new(0o666), ["mode 666"]);
        assert_eq!(new(0o755), ["mode 755"]);
        assert_eq!(new(0o4755), ["mode 4755 (anyone who runs it gets the rights of its owner)"]);
        assert_eq!(new(0o2755), ["mode 2755 (anyone who runs it gets the rights of its group)"]);
        let dir = |mode| words(&PathState::Absent, &PathState::Directory { attrs: mine(mode) });
        assert_eq!((dir(0o755), dir(0o2777)), (vec![], vec!["mode 2777".to_string()]));
        let other = FileAttrs { uid: 4321, ..mine(0o644) };
        let me = rustix::process::geteuid().as_raw();
        assert_eq!(words(&PathState::Absent, &file(other.clone())), ["owner 4321"]);
        assert_eq!(words(&file(mine(0o644)), &file(other)), [format!("owner {me} to 4321")]);
    }

    #[test]
    fn rights_are_gained_where_a_program_did_not_have_them() {
        let owner = Some("a setuid program");
        let group = Some("a setgid program");
        for (before, after, gained) in [
            (None, 0o4755, owner),
            (None, 0o6711, owner),
            (None, 0o2755, group),
            (None, 0o755, None),
            // Nobody can run it.
            (None, 0o6644, None),
            (Some(0o755), 0o4755, owner),
            (Some(0o4644), 0o4755, owner),
            (Some(0o4755), 0o4755, None),
            (Some(0o4755), 0o6755, group),
            (Some(0o6755), 0o755, None),
        ] {
            let before = before.map_or(PathState::Absent, |mode| file(mine(mode)));
            assert_eq!(gained_rights(&before, &file(mine(after))), gained, "{before:?} {after:o}");
        }
        let capable = with("security.capability", b"x");
        assert!(gained_rights(&PathState::Absent, &file(capable.clone())).is_some());
        assert_eq!(gained_rights(&file(capable.clone()), &file(capable)), None);
        let directory = PathState::Directory { attrs: mine(0o2755) };
        assert_eq!(gained_rights(&PathState::Absent, &directory), None);
    }

    #[test]
    fn a_kind_that_changes_and_a_mode_that_nobody_may_read_are_named() {
        let dir = |mode| PathState::Directory { attrs: mine(mode) };
        assert_eq!(words(&dir(0o755), &file(mine(0o000))), ["(a directory becomes a file)", "mode 0"]);
        assert_eq!(words(&file(mine(0o644)), &dir(0o755)), ["(a file becomes a directory)"]);
        let link = PathState::Link { target: "x".into() };
        assert_eq!(words(&dir(0o755), &link), ["(a directory becomes a link)"]);
        assert_eq!(words(&PathState::Absent, &dir(0o000)), ["mode 0"]);
        for usual in [file(mine(0o444)), file(mine(0o600)), dir(0o700)] {
            assert_eq!(words(&PathState::Absent, &usual), Vec::<String>::new());
        }
    }

    /// Two changes whose attributes differ in anything are described differently.
    #[test]
    fn every_attribute_is_told_by_its_value() {
        let list = |id: u32, rights: u16| {
            let mut bytes = 2_u32.to_le_bytes().to_vec();
            bytes.extend(2_u16.to_le_bytes());
            bytes.extend(rights.to_le_bytes());
            bytes.extend(id.to_le_bytes());
            with("system.posix_acl_access", &bytes)
        };
        let told = |attrs: FileAttrs| words(&file(mine(0o644)), &file(attrs)).join("; ");
        assert_eq!(told(list(65534, 6)), "access list user:65534:rw-");
        assert_eq!(told(with("user.a", b"v\x1b")), "attribute user.a \"v\u{241b}\"");
        assert_eq!(words(&file(with("user.a", b"v")), &file(mine(0o644))), ["attribute user.a removed"]);
        let long = |last: u8| told(with("user.a", &[vec![b'x'; 200], vec![last]].concat()));
        assert_ne!(long(1), long(2));
        let all = [list(65534, 6), list(65534, 4), list(1, 6), with("user.a", b"v"), with("user.a", b"w")];
        // A value that is not an access list is shown like any other value.
        assert_eq!(told(with("system.posix_acl_access", b"abc")), "access list \"abc\"");
        let told: BTreeSet<String> = all.into_iter().map(told).collect();
        assert_eq!(told.len(), 5, "{told:?}");
    }
}
