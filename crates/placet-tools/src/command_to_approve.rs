//! A command as the permission question shows it: the whole command, and how it runs.

use placet_permission::network_reason;
use placet_text::text::visible;
use std::path::PathBuf;
use std::time::Duration;

/// What the permission question about a command shows.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandToApprove {
    /// Present if it is not the directory that placet works in.
    pub cwd: Option<PathBuf>,
    pub background: bool,
    /// Present if it is not the usual limit.
    pub limit: Option<Duration>,
    pub hosts: Vec<String>,
    /// Ports of the command that programs of this machine reach.
    pub published: Vec<u16>,
    pub line: String,
    pub stdin: Vec<u8>,
}

impl CommandToApprove {
    /// The whole command and how it runs: what the person approves is what runs. How it runs comes first, where the
    /// command cannot imitate it: the command begins with `$ `.
    pub fn words(&self) -> String {
        self.words_with(&self.hosts)
    }

    /// The same below the reason of the question: a host that the reason names is not named again.
    pub fn words_below(&self, reason: &str) -> String {
        let is_named = |host: &str| reason == network_reason(host);
        match self.hosts.as_slice() {
            [host] if is_named(host) => self.words_with(&[]),
            hosts => self.words_with(hosts),
        }
    }

    fn words_with(&self, hosts: &[String]) -> String {
        let mut how = Vec::new();
        how.extend(self.cwd.as_deref().map(|cwd| format!("in {}", visible::path(cwd))));
        if self.background {
            how.push("in the background".into());
        }
        how.extend(self.limit.map(|limit| format!("for at most {} s", limit.as_secs_f64())));
        if !hosts.is_empty() {
            how.push(format!("with the network, to {}", hosts.join(" and ")));
        }
        let ports: Vec<String> = self.published.iter().map(u16::to_string).collect();
        if !ports.is_empty() {
            how.push(format!("with its port {} at 127.0.0.1", ports.join(" and ")));
        }
        let command = |how: &[String]| match how {
            [] => format!("$ {}", self.line),
            how => format!("{}:\n$ {}", how.join(", "), self.line),
        };
        if self.stdin.is_empty() {
            return command(&how);
        }
        let (size, s) = (self.stdin.len(), if self.stdin.len() == 1 { "" } else { "s" });
        how.push(format!("with {size} byte{s} of standard input, which follow the command"));
        let input = match std::str::from_utf8(&self.stdin) {
            Ok(text) => text.into(),
            Err(_) => visible::visible(&self.stdin, visible::LineBreaks::Kept),
        };
        format!("{}\nstandard input:\n{input}", command(&how))
    }
}
