//! Whether a file of the work tree has the content that git stored for it.

use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use sha2::Digest;

const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// True for the content itself, and for what git makes the content of: other line ends, a file of LFS.
pub(super) fn is_content_of(objects: &ObjectReader<'_>, id: ObjectId, content: &[u8]) -> bool {
    id.names("blob", content)
        || memchr::memmem::find(content, b"\r\n").is_some() && id.names("blob", &with_line_feeds(content))
        || is_file_of_lfs(objects, id, content)
}

fn is_file_of_lfs(objects: &ObjectReader<'_>, id: ObjectId, content: &[u8]) -> bool {
    let Some(pointer) = objects.get_of(&id, "blob").filter(|blob| blob.starts_with(LFS_POINTER)) else {
        return false;
    };
    let hash = sha2::Sha256::digest(content);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("oid sha256:{hex}");
    pointer.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes())
}

fn with_line_feeds(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => out.extend([line, b"\n"].concat()),
            None => out.extend_from_slice(line),
        }
    }
    out
}
