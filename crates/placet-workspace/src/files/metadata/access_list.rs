//! Access lists in Linux's form: a version, then entries of tag, rights and id, all little endian
//! (include/uapi/linux/posix_acl_xattr.h).

/// The attribute with the list of a file.
pub(in crate::files) const ACCESS: &str = "system.posix_acl_access";

const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const OWNING_GROUP: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

#[derive(Clone, Copy)]
struct AccessEntry {
    tag: u16,
    rights: u16,
    id: u32,
}

fn entries(bytes: &[u8]) -> Option<Vec<AccessEntry>> {
    let (version, entries) = bytes.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*version) != 2 || entries.len() % 8 != 0 {
        return None;
    }
    let entry = |entry: &[u8]| {
        let [t0, t1, p0, p1, i0, i1, i2, i3] = entry.try_into().ok()?;
        let (tag, rights) = (u16::from_le_bytes([t0, t1]), u16::from_le_bytes([p0, p1]));
        (rights <= 7).then_some(AccessEntry { tag, rights, id: u32::from_le_bytes([i0, i1, i2, i3]) })
    };
    entries.chunks_exact(8).map(entry).collect()
}

/// `user:65534:rw-,mask:rw-`; `None` for what is no such list.
pub(in crate::files) fn words(bytes: &[u8]) -> Option<String> {
    let word = |AccessEntry { tag, rights, id }: AccessEntry| {
        let who = match tag {
            OWNER => "user:".into(),
            USER => format!("user:{id}"),
            OWNING_GROUP => "group:".into(),
            GROUP => format!("group:{id}"),
            MASK => "mask:".into(),
            OTHER => "other:".into(),
            _ => return None,
        };
        let may = |bit: u16, sign: char| if rights & bit != 0 { sign } else { '-' };
        Some(format!("{who}:{}{}{}", may(4, 'r'), may(2, 'w'), may(1, 'x')))
    };
    let all: Option<Vec<String>> = entries(bytes)?.into_iter().map(word).collect();
    Some(all?.join(","))
}

/// The list after `chmod` of its file to `mode`: the owner, everybody else, and the mask (without a mask, the group) have
/// the bits of the mode.
pub(in crate::files) fn after_chmod(bytes: &[u8], mode: u32) -> Option<Vec<u8>> {
    let entries = entries(bytes)?;
    let group = if entries.iter().any(|entry| entry.tag == MASK) { MASK } else { OWNING_GROUP };
    let bits = |shift: u32| u16::try_from(mode >> shift & 7).unwrap_or_default();
    let mut list = 2_u32.to_le_bytes().to_vec();
    for AccessEntry { tag, rights, id } in entries {
        let rights = match tag {
            OWNER => bits(6),
            OTHER => bits(0),
            tag if tag == group => bits(3),
            _ => rights,
        };
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(all: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in all {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(rights.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_list_follows_the_mode_as_the_kernel_lets_it() {
        const NOBODY: u32 = u32::MAX;
        let with_mask = [(OWNER, 6, NOBODY), (USER, 4, 1234), (OWNING_GROUP, 4, NOBODY), (MASK, 4, NOBODY)];
        let before = list(&[&with_mask[..], &[(OTHER, 4, NOBODY)]].concat());
        let after = after_chmod(&before, 0o755).unwrap();
        assert_eq!(words(&after).unwrap(), "user::rwx,user:1234:r--,group::r--,mask::r-x,other::r-x");
        let plain = list(&[(OWNER, 6, NOBODY), (OWNING_GROUP, 4, NOBODY), (OTHER, 4, NOBODY)]);
        assert_eq!(words(&after_chmod(&plain, 0o750).unwrap()).unwrap(), "user::rwx,group::r-x,other::---");
        assert_eq!(after_chmod(&before, 0o644).unwrap(), before);
    }

    #[test]
    fn what_is_no_list_is_none() {
        assert!(words(&[2, 0, 0, 0, 1]).is_none() && words(b"abc").is_none());
        assert!(words(&list(&[(0x40, 4, 0)])).is_none() && words(&list(&[(OWNER, 8, 0)])).is_none());
        assert!(after_chmod(b"abc", 0o644).is_none());
    }
}
