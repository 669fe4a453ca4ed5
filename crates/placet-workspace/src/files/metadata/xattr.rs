//! Extended attributes of an open file.

use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;

pub(crate) fn attributes(file: &File) -> rustix::io::Result<Vec<CString>> {
    // The kernel allocates what it is offered, and nearly all files have no attributes; then XATTR_LIST_MAX of Linux.
    let mut list = Vec::new();
    for room in [256, 65_536] {
        list.reserve_exact(room);
        match rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut list)) {
            Ok(_) => break,
            Err(Errno::NOTSUP) => return Ok(Vec::new()),
            Err(Errno::RANGE) if room == 256 => {}
            Err(e) => return Err(e),
        }
    }
    let names = list.split_inclusive(|b| *b == 0).filter_map(|n| CStr::from_bytes_with_nul(n).ok());
    Ok(names.map(CStr::to_owned).collect())
}

/// The value of an attribute; `None` if it has been removed since it was listed.
pub(crate) fn attribute(file: &File, name: &CStr) -> rustix::io::Result<Option<Vec<u8>>> {
    // XATTR_SIZE_MAX of Linux.
    let mut value = Vec::with_capacity(65_536);
    match rustix::fs::fgetxattr(file, name, rustix::buffer::spare_capacity(&mut value)) {
        Ok(_) => Ok(Some(value)),
        Err(Errno::NODATA) => Ok(None),
        Err(e) => Err(e),
    }
}
