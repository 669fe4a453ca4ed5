//! Permissions of other programs become rules.

use super::servers::{escaped, server_rule};
use super::skip_reason::SkipReason;
use crate::permission::RuleVerdict;
use std::path::Path;

/// Where the relative paths of a file's rules begin, for a path that starts with one slash.
pub(super) struct RulePaths<'p> {
    pub(super) home: &'p Path,
    /// The directory of the settings file, for a person's own; `None` for a project, whose root it is.
    pub(super) base: Option<&'p Path>,
}

/// `Tool` or `Tool(specifier)`.
pub(super) fn split(text: &str) -> Result<(&str, Option<&str>), SkipReason> {
    match text.trim().split_once('(') {
        None => Ok((text.trim(), None)),
        Some((tool, rest)) => {
            let inner = rest.trim_end().strip_suffix(')').ok_or(SkipReason::RuleShape)?;
            Ok((tool.trim(), Some(inner.trim()).filter(|inner| !inner.is_empty() && *inner != "*")))
        }
    }
}

/// A rule of Claude Code.
pub(super) fn of_claude(
    text: &str,
    verdict: RuleVerdict,
    paths: &RulePaths<'_>,
) -> Result<String, SkipReason> {
    if let Some(server) = text.trim().strip_prefix("mcp__") {
        return Ok(match server.split_once("__") {
            None => server_rule(server, "*"),
            Some((server, tool)) => server_rule(server, tool),
        });
    }
    let (tool, inner) = split(text)?;
    match (tool, inner) {
        ("Bash", None) => Ok("run".into()),
        ("Bash", Some(inner)) => Ok(command_rule(inner)),
        ("Read", inner) => path_rule("read", inner, verdict, paths),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", inner) => path_rule("write", inner, verdict, paths),
        ("WebFetch", None) => Ok("fetch".into()),
        ("WebFetch", Some(inner)) => {
            let host = inner.strip_prefix("domain:").ok_or(SkipReason::NoRule)?;
            Ok(format!("fetch({})", escaped(host)))
        }
        ("WebSearch", None) => Ok("search_web".into()),
        (_, None) => {
            let own = match tool {
                "Glob" => "find_files",
                "Grep" => "search_contents",
                "LS" => "list_directory",
                "Task" | "Agent" => "agent",
                "Skill" => "skill",
                "TodoWrite" => "todo",
                _ => return Err(SkipReason::NoTool),
            };
            if verdict == RuleVerdict::Allow { Err(SkipReason::not_needed(own)) } else { Ok(own.into()) }
        }
        ("Skill" | "Task" | "Agent" | "Glob" | "Grep", Some(_)) => Err(SkipReason::NoRule),
        _ => Err(SkipReason::NoTool),
    }
}

/// `git diff:*` means `git diff`, alone or with arguments.
pub(super) fn command_rule(pattern: &str) -> String {
    let pattern =
        pattern.strip_suffix(":*").map_or_else(|| pattern.to_string(), |start| format!("{start} *"));
    match pattern.trim_matches(['*', ' ']).is_empty() {
        true => "run".into(),
        false => format!("run({})", escaped(&pattern)),
    }
}

/// A command by its first words, alone or with more.
pub(super) fn prefix_rule(prefix: &str) -> String {
    format!("run({} *)", escaped(prefix.trim()))
}

/// A pattern in the manner of `.gitignore`: `//x` is a path of the machine, `~/x` is below the home directory, `/x` is
/// below the directory of the settings, and the others are relative.
pub(super) fn path_rule(
    head: &str,
    pattern: Option<&str>,
    verdict: RuleVerdict,
    paths: &RulePaths<'_>,
) -> Result<String, SkipReason> {
    let Some(pattern) = pattern else {
        return if verdict == RuleVerdict::Allow {
            Err(SkipReason::not_needed(head))
        } else {
            Ok(head.into())
        };
    };
    let below = |dir: &Path, rest: &str| format!("{}/{rest}", dir.display());
    let whole = if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{rest}")
    } else if let Some(rest) = pattern.strip_prefix("~/").or_else(|| pattern.strip_prefix("$HOME/")) {
        below(paths.home, rest)
    } else if let (Some(base), Some(rest)) = (paths.base, pattern.strip_prefix('/')) {
        below(base, rest)
    } else if verdict == RuleVerdict::Allow {
        return Err(SkipReason::not_needed(head));
    } else {
        pattern.trim_start_matches('/').trim_start_matches("./").to_string()
    };
    // A directory means all that is in it.
    let whole = if whole.ends_with('/') { format!("{whole}**") } else { whole };
    Ok(format!("{head}({whole})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::Rule;

    #[test]
    fn rules_of_claude_code_become_rules_that_placet_reads() {
        let of = |text: &str, verdict| {
            let paths = RulePaths { home: Path::new("/home/me"), base: Some(Path::new("/home/me/.claude")) };
            let rule = of_claude(text, verdict, &paths);
            let known = ["agent", "search_web", "find_files"].map(String::from);
            if let Ok(rule) = &rule {
                assert!(Rule::parse(rule, verdict, "", &known).is_ok(), "{rule}");
            }
            rule.map_err(|why| why.to_string())
        };
        use RuleVerdict::{Allow, Deny};
        for (text, verdict, rule) in [
            ("Bash", Allow, "run"),
            ("Bash(*)", Allow, "run"),
            ("Bash(npm run test:*)", Allow, "run(npm run test *)"),
            ("Bash(git diff *)", Allow, "run(git diff *)"),
            ("Bash(grep [a-z] x{1})", Deny, "run(grep \\[a-z\\] x\\{1\\})"),
            ("Read(./.env)", Deny, "read(.env)"),
            ("Read(secrets/)", Deny, "read(secrets/**)"),
            ("Read(~/.ssh/**)", Deny, "read(/home/me/.ssh/**)"),
            ("Read(//etc/hosts)", Allow, "read(/etc/hosts)"),
            ("Edit(/agents/x)", Deny, "write(/home/me/.claude/agents/x)"),
            ("WebFetch(domain:docs.rs)", Allow, "fetch(docs.rs)"),
            ("mcp__github", Allow, "mcp(github.*)"),
            ("mcp__github__get_issue", Allow, "mcp(github.get_issue)"),
            ("mcp__github__*", Deny, "mcp(github.*)"),
            ("Task", Deny, "agent"),
        ] {
            assert_eq!(of(text, verdict), Ok(rule.to_string()), "{text}");
        }
        for (text, verdict) in [
            ("Read(src/**)", Allow),
            ("Bash(ls", Allow),
            ("Mystery", Deny),
            ("Skill(x)", Deny),
            ("Glob", Allow),
        ] {
            assert!(of(text, verdict).is_err(), "{text}");
        }
    }
}
