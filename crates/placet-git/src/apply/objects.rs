//! Puts the objects of a quarantine into the person's store. Objects are added and never replaced.

use crate::error::{GitError, Result};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) fn store(from: &Path, to: &Path) -> Result<()> {
    for entry in list(from)? {
        let name = entry.file_name();
        if name.len() == 2 && name.as_bytes().iter().all(u8::is_ascii_hexdigit) {
            let target = to.join(&name);
            make_like(&target, to)?;
            for object in list(&entry.path())? {
                add(&object.path(), &target.join(object.file_name()))?;
            }
        }
    }
    let mut packs = list(&from.join("pack"))?;
    // git finds a pack by its index, which comes last.
    packs.sort_by_key(|entry| entry.path().extension().is_some_and(|ending| ending == "idx"));
    for file in packs {
        let path = file.path();
        if path.extension().is_some_and(|ending| ending == "pack" || ending == "idx" || ending == "rev") {
            let there = to.join("pack").join(file.file_name());
            add(&path, &there)?;
            sync(&there)?;
        }
    }
    Ok(())
}

fn list(directory: &Path) -> Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.collect::<io::Result<_>>().map_err(GitError::io("list", directory)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(GitError::io("list", directory)(error)),
    }
}

/// A directory with the permissions of the store, which several users may share.
fn make_like(directory: &Path, store: &Path) -> Result<()> {
    match fs::create_dir(directory) {
        Ok(()) => {
            let permissions = fs::metadata(store).map_err(GitError::io("read", store))?.permissions();
            fs::set_permissions(directory, permissions).map_err(GitError::io("create", directory))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(GitError::io("create", directory)(error)),
    }
}

/// A quarantine needs no sync, and a pack that a ref leads to does, as git itself syncs packs.
fn sync(file: &Path) -> Result<()> {
    fs::File::open(file).and_then(|file| file.sync_all()).map_err(GitError::io("write", file))
}

/// Linked, or copied where the quarantine is on another file system.
fn add(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(_) => {}
    }
    let Some(name) = to.file_name() else { return Ok(()) };
    // git prunes files with this beginning if a copy was interrupted.
    let mut temporary = std::ffi::OsString::from("tmp_obj_placet_");
    temporary.push(name);
    let temporary = to.with_file_name(temporary);
    fs::copy(from, &temporary).map_err(GitError::io("write", &temporary))?;
    fs::rename(&temporary, to).map_err(GitError::io("write", to))
}
