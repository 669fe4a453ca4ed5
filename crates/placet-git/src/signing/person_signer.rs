//! The person's own program for signatures, with the person's own key, as git would call it.
//!
//! Settings of the repository do not count, because the agent can change them: each of them is refused.

use crate::apply::of_person;
use crate::error::GitError;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SETTINGS: &str = r"^(user\.signingkey|gpg\.format|gpg\.program|gpg\.(openpgp|x509|ssh)\.program)$";

/// The object in the directory of the call, and what `ssh-keygen` writes next to it.
const OBJECT: &str = "object";
const SSH_SIGNATURE: &str = "object.sig";

#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the repository sets `{0}`, and only settings outside of it count (`git config --global {0}`)")]
    InRepository(String),
    #[error("`user.signingkey` is not set (`git config --global user.signingkey`)")]
    NoKey,
    #[error("`gpg.format` is `{0}`, which is unknown")]
    UnknownFormat(String),
    #[error("cannot run `{0}`: {1}")]
    NotStarted(String, #[source] io::Error),
    #[error("`{0}` failed: {1}")]
    Failed(String, String),
}

/// How the person signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonSigner {
    is_ssh: bool,
    pub program: String,
    pub key: String,
}

impl PersonSigner {
    /// From the settings that git reads in `work_tree`, outside of any view.
    pub fn of(work_tree: &Path) -> Result<PersonSigner, SigningError> {
        let args = ["config", "-z", "--show-scope", "--type=path", "--get-regexp", SETTINGS];
        PersonSigner::from_settings(&String::from_utf8_lossy(&of_person(work_tree, &args)?))
    }

    /// `text` is a scope and a setting in turn, each with a NUL at its end.
    fn from_settings(text: &str) -> Result<PersonSigner, SigningError> {
        let mut settings = BTreeMap::new();
        let mut words = text.split('\0');
        while let (Some(scope), Some(setting)) = (words.next(), words.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
            if !matches!(scope, "system" | "global" | "command") {
                return Err(SigningError::InRepository(name.into()));
            }
            // Two names of one setting, of which the last one counts.
            let name = if name == "gpg.program" { "gpg.openpgp.program" } else { name };
            settings.insert(name.to_string(), value.to_string());
        }
        let format = settings.remove("gpg.format").unwrap_or_else(|| "openpgp".into());
        let usual = match format.as_str() {
            "openpgp" => "gpg",
            "x509" => "gpgsm",
            "ssh" => "ssh-keygen",
            _ => return Err(SigningError::UnknownFormat(format)),
        };
        let program = settings.remove(&format!("gpg.{format}.program")).unwrap_or_else(|| usual.into());
        // Without a key git takes the one of the committer, who is the agent's choice.
        let key = settings.remove("user.signingkey").filter(|key| !key.is_empty());
        Ok(PersonSigner { is_ssh: format == "ssh", program, key: key.ok_or(SigningError::NoKey)? })
    }

    /// The call that signs `object`. It starts in `dir`, an empty directory of the caller's that no view shows, so that a
    /// relative name leads nowhere. It gets no terminal to ask at: the screen is placet's.
    pub fn command(&self, object: &[u8], dir: &Path) -> io::Result<Command> {
        let path = dir.join(OBJECT);
        fs::write(&path, object)?;
        let mut command = Command::new(&self.program);
        if self.is_ssh {
            command.args(["-Y", "sign", "-n", "git", "-f"]);
            match self.key.strip_prefix("key::").or(self.key.starts_with("ssh-").then_some(&*self.key)) {
                Some(literal) => {
                    let file = dir.join("key");
                    fs::write(&file, literal)?;
                    command.arg(file).arg("-U");
                }
                None => drop(command.arg(&self.key)),
            }
            command.arg(&path).stdin(Stdio::null()).env("SSH_ASKPASS_REQUIRE", "force");
        } else {
            command.args(["--status-fd=2", "-bsau", &self.key]).stdin(File::open(&path)?);
        }
        command.current_dir(dir).env_remove("GPG_TTY").process_group(0);
        Ok(command)
    }

    /// The signature of a call that has ended.
    pub fn signature(&self, output: &Output, dir: &Path) -> Result<Vec<u8>, SigningError> {
        let text = String::from_utf8_lossy(&output.stderr);
        let status = |line: &str| line.strip_prefix("[GNUPG:] ").map(str::to_string);
        let is_created = text.lines().filter_map(status).any(|word| word.starts_with("SIG_CREATED "));
        let mut signature = match self.is_ssh {
            true => fs::read(dir.join(SSH_SIGNATURE)).unwrap_or_default(),
            false if is_created => output.stdout.clone(),
            false => Vec::new(),
        };
        if !output.status.success() || signature.is_empty() {
            let last = text.lines().rfind(|line| status(line).is_none() && !line.trim().is_empty());
            let plain = |c: char| if c.is_control() { '?' } else { c };
            let why = last.unwrap_or("no reason was given").chars().take(300).map(plain).collect();
            return Err(SigningError::Failed(self.program.clone(), why));
        }
        signature.retain(|byte| *byte != b'\r');
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_persons_own_settings_choose_program_and_key() {
        let read = |settings: &[&str]| {
            let text: String = settings.iter().map(|setting| format!("{setting}\0")).collect();
            let signer = PersonSigner::from_settings(&text);
            signer.map_or_else(
                |error| error.to_string(),
                |one| format!("{} {} {}", one.is_ssh, one.program, one.key),
            )
        };
        let key = ["global", "user.signingkey\nK"];
        let with = |more: &[&'static str]| read(&[&key[..], more].concat());
        assert_eq!(with(&[]), "false gpg K");
        assert_eq!(with(&["global", "gpg.program\n/p", "command", "gpg.openpgp.program\n/q"]), "false /q K");
        assert_eq!(with(&["system", "gpg.format\nx509", "global", "gpg.program\n/p"]), "false gpgsm K");
        assert_eq!(
            with(&["global", "gpg.format\nssh", "global", "user.signingkey\n/k"]),
            "true ssh-keygen /k"
        );
        assert_eq!(with(&["global", "gpg.format\nssh", "global", "gpg.ssh.program\n/p"]), "true /p K");
        for refused in ["user.signingkey\nX", "gpg.program\n/x", "gpg.format\nssh"] {
            for scope in ["local", "worktree", ""] {
                assert!(with(&[scope, refused]).starts_with("the repository sets `"), "{scope} {refused}");
            }
        }
        assert!(with(&["global", "gpg.format\nnew"]).contains("unknown"));
        assert!(read(&[]).starts_with("`user.signingkey` is not set"));
    }
}
