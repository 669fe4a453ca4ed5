//! The direction in which the data of a call would flow, and whether it may.

use super::Access;
use super::classification::{ClassificationLevel, ClassificationRules, FlowCheck, FlowViolation, Taint};
use super::command::CommandSegment;
use super::parsed_command::ParsedCommand;
use super::policy::Policy;
use super::tables;
use std::path::{Path, PathBuf};

impl Policy {
    pub fn labels(&self) -> &ClassificationRules {
        &self.labels
    }

    pub fn taint(&self) -> &Taint {
        &self.taint
    }

    pub fn level_of(&self, path: &Path) -> ClassificationLevel {
        self.labels.of_path(path, self.roots())
    }

    /// The flow that `reach` would cause. Changes nothing.
    pub fn flow(&self, tool: &str, reach: &[Access]) -> FlowCheck {
        if self.labels.is_off() {
            return FlowCheck::default();
        }
        let mut reads: Vec<PathBuf> = Vec::new();
        let mut writes: Vec<PathBuf> = Vec::new();
        for one in reach {
            match one {
                Access::Read { path, .. } => reads.push(path.clone()),
                Access::Write { path, .. } => writes.push(path.clone()),
                Access::Run { cwd, .. } => {
                    reads.push(cwd.clone());
                    if let Some(line) = ParsedCommand::read(tool, one, self.home()) {
                        let (read, written) = line.files();
                        reads.extend(read);
                        if line.parts().iter().any(|part| reads_repositories(part)) {
                            reads.push(cwd.join(".git"));
                        }
                        writes.extend(written);
                    }
                }
                Access::Network { .. }
                | Access::ServerNetwork { .. }
                | Access::Publish { .. }
                | Access::Fetch { .. }
                | Access::ServerTool { .. }
                | Access::Approval
                | Access::Session => {}
            }
        }
        let touched = reads.iter().chain(&writes).map(|path| self.level_of(path)).max();
        let level = touched.unwrap_or_default();
        // A write may contain what the same call reads; the content that it replaces flows nowhere.
        let read = reads.iter().map(|path| self.level_of(path)).max().unwrap_or_default();
        let taint = self.taint.load().max(read);
        let mut violations = Vec::new();
        let ceiling = self.labels.provider_ceiling();
        for path in reads.iter().chain(&writes) {
            let level = self.level_of(path);
            if level > ceiling {
                violations.push(FlowViolation::Ceiling { target: self.display_path(path), level, ceiling });
            }
        }
        for path in &writes {
            let level = self.level_of(path);
            if level < taint {
                violations.push(FlowViolation::File { taint, target: self.display_path(path), level });
            }
        }
        for one in reach {
            // A server gets the arguments: it is a place to which data flows, as a host is.
            let target = match one {
                Access::Network { host } | Access::ServerNetwork { host, .. } | Access::Fetch { host } => {
                    host.clone()
                }
                Access::ServerTool { server, .. } => format!("mcp.{server}"),
                _ => continue,
            };
            let level = self.labels.of_host(&target);
            if level < taint {
                violations.push(FlowViolation::Sink { taint, target, level });
            }
        }
        violations.dedup();
        FlowCheck { level, violations }
    }

    /// The path as people name it.
    fn display_path(&self, path: &Path) -> String {
        let relative = self.roots().iter().find_map(|root| path.strip_prefix(root).ok());
        match relative {
            Some(relative) if relative.as_os_str().is_empty() => ".".into(),
            Some(relative) => relative.display().to_string(),
            None => path.display().to_string(),
        }
    }
}

/// True for a program that reads repositories and their history without naming a file of theirs.
fn reads_repositories(part: &CommandSegment) -> bool {
    let program = part.words.first().and_then(|word| word.text.as_deref()).unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    tables::is_listed(&tables::files().repositories, name)
}
