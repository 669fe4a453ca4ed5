//! Why a command failed, where the view is the cause and the command's own message does not say so.
//!
//! Each hint is one row: a cause that is looked for in what the command printed, and one sentence with a way out. A
//! conversation gets each hint once. A hint never changes what a command may do.

use super::ended_command::{EndedCommand, words};
use super::unknown_group;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Directories whose content is not that of the machine, so that programs there are missing.
const OWN_TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What programs print that do not name the device which they miss, one file of it, and the pattern of the setting.
const UNNAMED_DEVICES: [(&str, &str, &str); 4] = [
    ("Could not access KVM kernel module: No such file", "/dev/kvm", "/dev/kvm"),
    ("communicate with the NVIDIA driver", "/dev/nvidiactl", "/dev/nvidia*"),
    ("no CUDA-capable device", "/dev/nvidiactl", "/dev/nvidia*"),
    ("fuse: device not found", "/dev/fuse", "/dev/fuse"),
];

/// The hints that a conversation already got.
#[derive(Debug, Default)]
pub struct SaidHints(Mutex<BTreeSet<&'static str>>);

impl SaidHints {
    /// True at the first call with this name.
    pub(super) fn is_first(&self, name: &'static str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name)
    }
}

/// The directories that commands see wherever they are: a home directory may be below `/tmp`.
pub(crate) fn shown_dirs(roots: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    roots.iter().map(PathBuf::as_path).chain(home).map(Path::to_path_buf).collect()
}

/// A cause, and the sentence about it. The sentence gets what the cause found, such as a path.
struct CommandHint {
    name: &'static str,
    cause: fn(&EndedCommand<'_>) -> Option<String>,
    sentence: fn(&str) -> String,
}

static HINTS: [CommandHint; 9] = [
    CommandHint {
        name: "hidden program",
        cause: hidden_program,
        sentence: |path| {
            let dir = Path::new(path).parent().unwrap_or(Path::new("/tmp")).display();
            format!(
                "`{path}` is hidden: commands have a /tmp and /var/tmp of their own; `--add-dir {dir}` shows it"
            )
        },
    },
    CommandHint {
        name: "read-only remote",
        cause: |ended| {
            let refused = ended.prints("unable to create temporary object directory")
                || ended.prints("Read-only file system") && ended.prints("remote");
            said(ended.runs("push") && refused)
        },
        sentence: |_| {
            "this remote is a directory outside of the workspace, which is read-only here; \
             push after the commits are applied"
                .into()
        },
    },
    CommandHint {
        name: "signature",
        cause: |ended| {
            let failed =
                ended.prints("failed to sign the data") || ended.prints("failed to write commit object");
            said(failed && !ended.prints("placet: not signed"))
        },
        sentence: |_| {
            "signing keys and their agents are not in the view; with `git.sign = \"ask\"` the person signs, \
             without it commits without `-S` are not signed here"
                .into()
        },
    },
    CommandHint {
        name: "copies without secrets",
        cause: |ended| {
            let words = ["401", "403", "ENEEDAUTH", "nauthorized", "uthentication", "access denied"];
            let is_refused = words.iter().any(|text| ended.prints(text));
            Some((ended.missing)().join(", ")).filter(|missing| is_refused && !missing.is_empty())
        },
        sentence: |missing| {
            format!(
                "commands see these files without their secrets: {missing}; `sandbox.keep_files` shows one whole"
            )
        },
    },
    CommandHint {
        name: "rename of a directory",
        cause: |ended| said(ended.prints("cross-device link") || ended.prints("EXDEV")),
        sentence: |_| {
            "nothing is renamed from one of workspace, home and /tmp to another, and a directory from before this command \
             only up to 1 GB and 100,000 files; `mv` copies and removes it"
                .into()
        },
    },
    CommandHint {
        name: "device",
        cause: |ended| missing_device(ended).or_else(|| unnamed_device(ended, Path::exists)),
        sentence: |path| {
            format!("commands get a device of this machine with `sandbox.devices = [\"{path}\"]`")
        },
    },
    CommandHint {
        name: "containers",
        cause: |ended| {
            said(
                ended.prints("docker daemon running")
                    || ended.prints("connect to the Docker daemon")
                    || ended.prints("Cannot connect to Podman"),
            )
        },
        sentence: |_| {
            "commands do not get the socket of a container engine, because it gives all rights of the machine"
                .into()
        },
    },
    CommandHint {
        name: "cache of uv",
        cause: |ended| said(ended.prints("because the network was disabled")),
        sentence: |_| {
            "uv has only its cache here: start the program once outside, or allow pypi.org and files.pythonhosted.org"
                .into()
        },
    },
    CommandHint {
        name: "unknown group",
        cause: unknown_group::unknown_group,
        sentence: |group| {
            format!(
                "commands have your main group alone, not {group}, and cannot change its files; \
                 use file tools, or `chgrp` them outside"
            )
        },
    },
];

/// The sentences about a command that `said` does not have yet; it has them afterwards.
pub(crate) fn new_hints(ended: &EndedCommand<'_>, said: &SaidHints) -> Vec<String> {
    let found = HINTS.iter().filter_map(|hint| Some((hint, (hint.cause)(ended)?)));
    found
        .filter(|(hint, _)| said.is_first(hint.name))
        .map(|(hint, subject)| (hint.sentence)(&subject))
        .collect()
}

/// A cause without a subject.
fn said(is_cause: bool) -> Option<String> {
    is_cause.then(String::new)
}

/// A program that the command named, by its path or by a name in PATH, and that exists only outside of the view.
fn hidden_program(ended: &EndedCommand<'_>) -> Option<String> {
    let is_missing = matches!(ended.code, 126 | 127)
        || ["not found", "No such file or directory", "ENOENT"].iter().any(|text| ended.prints(text));
    if !is_missing {
        return None;
    }
    let is_hidden = |path: &Path| {
        // `/tmp/../usr/bin/make` is not there, and what a command prints must not name files elsewhere.
        let is_below = !path.iter().any(|part| part == "..");
        let is_own = is_below && OWN_TEMPORARY.iter().any(|dir| path.starts_with(dir));
        is_own && !ended.roots.iter().any(|root| path.starts_with(root)) && is_program(path)
    };
    let by_path = words(ended.line).chain(words(ended.output)).map(PathBuf::from);
    let variable = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&variable).collect();
    let names = words(ended.line).filter(|word| !word.contains('/'));
    let by_name = names.flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    let found = by_path.chain(by_name).find(|path| is_hidden(path))?;
    found.to_str().map(|path| placet_text::text::sanitize::name(path).into_owned())
}

/// A device of the machine that a message calls missing.
fn missing_device(ended: &EndedCommand<'_>) -> Option<String> {
    use std::os::unix::fs::FileTypeExt;
    let is_device = |path: &Path| {
        // What a command prints must not name files elsewhere.
        path.starts_with("/dev")
            && !path.iter().any(|part| part == "..")
            && std::fs::symlink_metadata(path).is_ok_and(|known| known.file_type().is_char_device())
    };
    let missing =
        ended.output.lines().filter(|line| line.contains("No such file") || line.contains("ENOENT"));
    let found = missing.flat_map(words).find(|word| is_device(Path::new(word)))?;
    Some(placet_text::text::sanitize::name(found).into_owned())
}

/// A device of the machine that a program means without naming it.
fn unnamed_device(ended: &EndedCommand<'_>, exists: impl Fn(&Path) -> bool) -> Option<String> {
    let mut known = UNNAMED_DEVICES.iter();
    let found = known.find(|(text, file, _)| ended.prints(text) && exists(Path::new(file)))?;
    Some(found.2.into())
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Each hint with what a real program printed, and the same program's other failures.
    #[test]
    fn each_hint_has_its_cause_and_is_given_once() {
        let causes = [
            (
                "git push ../bare",
                1,
                "error: remote unpack failed: unable to create temporary object directory\n",
                "read-only here",
            ),
            (
                "git commit -S -m x",
                128,
                "error: gpg failed to sign the data\nfatal: failed to write commit object\n",
                "signing keys",
            ),
            (
                "git mv lib lib2",
                128,
                "fatal: renaming 'lib' failed: Invalid cross-device link\n",
                "up to 1 GB",
            ),
            (
                "node -e '...'",
                1,
                "Error: EXDEV: cross-device link not permitted, rename 'a' -> 'b'\n",
                "up to 1 GB",
            ),
            ("./vm", 1, "open: cannot open /dev/null: No such file or directory\n", "sandbox.devices"),
            (
                "docker ps",
                1,
                "failed to connect to the docker API: Is the docker daemon running?\n",
                "container engine",
            ),
            (
                "uvx server",
                1,
                "hint: Packages were unavailable because the network was disabled. When the network is disabled, ...\n",
                "allow pypi.org",
            ),
            (
                "touch x",
                1,
                "touch: cannot touch 'x': Value too large for defined data type\n",
                "another group",
            ),
            ("chgrp 0 x", 1, "chgrp: changing group of 'x': Invalid argument\n", "the group `root`"),
        ];
        for (line, code, output, words) in causes {
            let said = SaidHints::default();
            let ended = EndedCommand { line, output, code, roots: &[], missing: &Vec::new };
            let hints = new_hints(&ended, &said);
            assert!(matches!(hints.as_slice(), [one] if one.contains(words)), "{line}: {hints:?}");
            assert!(hints.iter().all(|one| !one.contains('\n')));
            assert!(new_hints(&ended, &said).is_empty(), "{line} twice");
        }
        let others = [
            ("git push origin", 1, "fatal: unable to access 'https://a.example/': Could not resolve host\n"),
            ("git commit -m x", 1, "nothing to commit, working tree clean\n"),
            ("git mv lib lib2", 128, "fatal: bad source, source=lib, destination=lib2\n"),
            ("docker ps", 127, "sh: 1: docker: not found\n"),
            ("cat x >/dev/null", 1, "cat: x: No such file or directory\n/dev/null\n"),
            ("cat /dev/nosuch", 1, "cat: /dev/nosuch: No such file or directory\n"),
            ("cat /tmp/missing", 1, "cat: /tmp/missing: No such file or directory\n"),
        ];
        for (line, code, output) in others {
            let ended = EndedCommand { line, output, code, roots: &[], missing: &Vec::new };
            assert_eq!(new_hints(&ended, &SaidHints::default()), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_device_that_a_program_does_not_name_is_named_where_the_machine_has_it() {
        let device = |output, is_there: bool| {
            let ended = EndedCommand { line: "x", output, code: 1, roots: &[], missing: &Vec::new };
            unnamed_device(&ended, |_| is_there)
        };
        let nvidia = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n";
        assert_eq!(device(nvidia, true).as_deref(), Some("/dev/nvidia*"));
        assert_eq!(device(nvidia, false), None);
        let kvm = "Could not access KVM kernel module: No such file or directory\n";
        assert_eq!(device(kvm, true).as_deref(), Some("/dev/kvm"));
        assert_eq!(device("Could not access KVM kernel module: Permission denied\n", true), None);
    }

    #[test]
    fn a_refused_login_names_what_the_copies_of_settings_lack() {
        let hints = |output, missing: &dyn Fn() -> Vec<String>| {
            new_hints(
                &EndedCommand { line: "npm publish", output, code: 1, roots: &[], missing },
                &SaidHints::default(),
            )
        };
        let missing = || vec!["~/.npmrc (_authToken)".to_string()];
        assert!(
            matches!(hints("npm error code E401\n", &missing).as_slice(), [one] if one.contains("~/.npmrc (_auth"))
        );
        assert!(hints("npm error code E404\n", &missing).is_empty());
        assert!(hints("npm error code E401\n", &Vec::new).is_empty());
    }

    #[test]
    fn a_program_in_the_temporary_directory_of_the_machine_is_named_where_it_is_missing() {
        let Ok(dir) = tempfile::tempdir_in("/var/tmp") else { return };
        let (program, data) = (dir.path().join("tool"), dir.path().join("data"));
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::write(&data, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let hints = |line: &str, code: i32, output: &str, roots: &[PathBuf]| {
            new_hints(&EndedCommand { line, output, code, roots, missing: &Vec::new }, &SaidHints::default())
        };
        let path = program.display().to_string();
        let missing = format!("sh: 1: {path}: not found\n");
        let [hint] = <[String; 1]>::try_from(hints(&path, 127, &missing, &[])).unwrap();
        assert!(hint.contains(&path) && hint.contains("--add-dir"), "{hint}");
        assert_eq!(hints("make", 2, &missing, &[]).len(), 1);
        assert!(hints(&path, 1, "some failure\n", &[]).is_empty());
        assert!(hints("make", 127, "sh: 1: /var/tmp/../../bin/sh: not found\n", &[]).is_empty());
        assert!(hints(&path, 127, &missing, &[dir.path().to_path_buf()]).is_empty());
        let data = data.display().to_string();
        assert!(hints(&format!("cat {data}"), 1, "No such file or directory", &[]).is_empty());
    }
}
