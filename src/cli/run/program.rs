//! Where a program and its interpreter are. A program below `/tmp` would not be found in the view, where that directory is
//! new and empty, so its directory is made visible there.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The longest chain of interpreters that is followed.
const MOST: usize = 4;

/// The executable of this name, as the shell finds it: by its path, or in the directories of `PATH`.
pub(super) fn find(program: &str, cwd: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(cwd.join(program)).filter(|path| is_executable(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| cwd.join(dir).join(program)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The directories that the program at `path` needs: its own, that of the file it leads to, and those of its interpreters.
pub(super) fn needed(path: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = Some(path.to_path_buf());
    for _ in 0..MOST {
        let Some(path) = next.take() else { break };
        found.push(whole(&path));
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        found.push(whole(&real));
        next = interpreter(&real, cwd);
    }
    found.sort();
    found.dedup();
    found
}

/// What a program is a part of: its `node_modules`, the prefix of its `bin`, or its directory. In a directory that all
/// users share, the file alone.
fn whole(path: &Path) -> PathBuf {
    let is_shared = |dir: &Path| {
        dir.parent().is_none()
            || ["/tmp", "/var/tmp", "/run", "/var/run"].iter().any(|shared| dir == Path::new(shared))
    };
    let modules = path.ancestors().filter(|dir| dir.file_name() == Some(OsStr::new("node_modules"))).last();
    let dir = path.parent().unwrap_or(path);
    let is_bin = dir.file_name() == Some(OsStr::new("bin"));
    let prefix = dir.parent().filter(|prefix| is_bin && !is_shared(prefix));
    match modules.or(prefix) {
        Some(dir) => dir.to_path_buf(),
        None if is_shared(dir) => path.to_path_buf(),
        None => dir.to_path_buf(),
    }
}

/// The interpreter that the first line of a script names; with `env`, the program that `env` starts.
fn interpreter(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let first = PathBuf::from(OsStr::from_bytes(words.next()?));
    if first.file_name() != Some(OsStr::new("env")) {
        return Some(first);
    }
    let is_program = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
    find(&OsStr::from_bytes(words.find(is_program)?).to_string_lossy(), cwd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_a_part_of() {
        for (path, expected) in [
            ("/tmp/x/venv/bin/aider", "/tmp/x/venv"),
            ("/tmp/x/node_modules/.bin/codex", "/tmp/x/node_modules"),
            ("/tmp/x/node_modules/a/node_modules/b/cli.js", "/tmp/x/node_modules"),
            ("/tmp/agent", "/tmp/agent"),
            ("/tmp/bin/agent", "/tmp/bin"),
            ("/home/me/agent/run.sh", "/home/me/agent"),
        ] {
            assert_eq!(whole(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn interpreters_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            path
        };
        let shell = make("tools/bin/mysh", "#!/bin/sh\n");
        let script = make("app/run", &format!("#!{}\n", shell.display()));
        let all = needed(&script, dir.path());
        assert!(all.contains(&dir.path().join("tools")) && all.contains(&dir.path().join("app")), "{all:?}");
        assert_eq!(find("./app/run", dir.path()), Some(dir.path().join("./app/run")));
        assert_eq!(find("no-such-program-at-all", dir.path()), None);
    }
}
