//! `/permission`: what is granted, which rules there are, and how a command would be judged.

use crate::permission::{Grant, GrantId, GrantLimit, Policy, Rule, RuleVerdict};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// The tool whose calls are command lines.
const TOOL: &str = "run_command";

const GRANT_EXAMPLE: &str = "for example: /permission grant npm test * for 10 minutes";

pub(in crate::repl::commands) fn permission(
    context: &mut CommandContext<'_>,
    rest: &str,
) -> SlashCommandResult {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    match word {
        "" | "list" => list(context),
        "check" if rest.is_empty() => {
            return Err(CommandStop::with_hint(
                "/permission check needs a command",
                "for example: /permission check cargo test",
            ));
        }
        "check" => check(context, rest),
        "revoke" => revoke(context, rest)?,
        "grant" if rest.is_empty() => {
            return Err(CommandStop::with_hint("/permission grant needs a pattern", GRANT_EXAMPLE));
        }
        "grant" => grant(context, rest)?,
        _ => {
            return Err(CommandStop::with_hint(
                format!("unknown argument `{word}` of /permission"),
                "/permission, /permission check COMMAND, /permission grant PATTERN, /permission revoke N",
            ));
        }
    }
    Ok(CommandFollowUp::Nothing)
}

fn with<T>(context: &CommandContext<'_>, work: impl FnOnce(&mut Policy) -> T) -> T {
    context.app.with_policy(|policy| {
        policy.at(Timestamp::now());
        work(policy)
    })
}

fn list(context: &CommandContext<'_>) {
    let now = Timestamp::now();
    let (grants, rules) = with(context, |policy| {
        let clock = |at: Timestamp| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M").to_string();
        let grants: Vec<(String, String)> = policy
            .live()
            .map(|g| {
                let told = format!(
                    "{}  ({}; given {}; used {}x)",
                    g.grant.describe(),
                    g.left(now),
                    clock(g.given),
                    g.hits()
                );
                (format!("grant {}", g.id), told)
            })
            .collect();
        let rules: Vec<(String, String)> = policy
            .rules_and_hits()
            .map(|(rule, hits)| {
                let used = if hits > 0 { format!("; used {hits}x") } else { String::new() };
                let reason = rule.reason.as_ref().map_or_else(String::new, |r| format!("; {r}"));
                (rule.verdict.name().to_string(), format!("{}  ({}{used}{reason})", rule.text, rule.origin))
            })
            .collect();
        (grants, rules)
    });
    if grants.is_empty() {
        context.output.note("no grants in this session");
    }
    context.output.rows(&grants);
    context.output.rows(&rules);
}

fn check(context: &CommandContext<'_>, command: &str) {
    let reach = context.app.builder.command_access(command.into());
    let told = with(context, |policy| policy.explain(TOOL, &reach).to_string());
    context.output.text(&told);
}

fn revoke(context: &CommandContext<'_>, rest: &str) -> Result<(), CommandStop> {
    let number = rest.parse::<u32>().map_err(|_| {
        CommandStop::with_hint("which grant?", "/permission lists the grants with their numbers")
    })?;
    if !with(context, |policy| policy.revoke(GrantId(number))) {
        return Err(CommandStop::with_hint(format!("no grant {number}"), "/permission lists the grants"));
    }
    context.output.note(&format!("revoked grant {number}"));
    Ok(())
}

/// `PATTERN`, `PATTERN for 5 times`, `PATTERN for 10 minutes`.
fn grant(context: &CommandContext<'_>, rest: &str) -> Result<(), CommandStop> {
    let (pattern, limit) =
        read_limit(rest).map_err(|error| CommandStop::with_hint(error.to_string(), GRANT_EXAMPLE))?;
    let pattern = in_rule(&pattern).to_string();
    Rule::parse(&format!("run({pattern})"), RuleVerdict::Allow, "grant", &[]).map_err(|e| e.to_string())?;
    let (id, told) = with(context, |policy| {
        let id = policy.give(Grant::Pattern { patterns: vec![pattern.clone()] }, limit);
        let given = policy.grants().iter().find(|g| g.id == id);
        (id, given.map(|g| g.left(Timestamp::now())).unwrap_or_default())
    });
    context.output.note(&format!("grant {id}: run({pattern}), {told}"));
    Ok(())
}

/// The pattern of a whole rule, `run(npm test *)`, as /permission shows it; any other text is a pattern itself.
fn in_rule(text: &str) -> &str {
    text.strip_prefix("run(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(text)
}

/// Why the end of the line is not the limit of a grant.
#[derive(Debug, Error, PartialEq, Eq)]
enum GrantLimitError {
    #[error("the number must be 1 or more")]
    Zero,
    #[error("the time is too long")]
    TooLong,
    #[error("unknown unit `{0}`: use times or minutes")]
    UnknownUnit(String),
}

fn read_limit(text: &str) -> Result<(String, GrantLimit), GrantLimitError> {
    let Some((pattern, limit)) = text.rsplit_once(" for ") else {
        return Ok((text.into(), GrantLimit::Session));
    };
    let (number, unit) = limit.split_once(' ').unwrap_or((limit, ""));
    let Ok(number) = number.parse::<u32>() else { return Ok((text.into(), GrantLimit::Session)) };
    if number == 0 {
        return Err(GrantLimitError::Zero);
    }
    let limit = match unit {
        "times" | "time" => GrantLimit::Uses(number),
        "min" | "minutes" | "minute" => {
            let end = Timestamp::now().checked_add(SignedDuration::from_mins(i64::from(number)));
            GrantLimit::Until(end.map_err(|_| GrantLimitError::TooLong)?)
        }
        unit => return Err(GrantLimitError::UnknownUnit(unit.into())),
    };
    Ok((pattern.trim().into(), limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_rule_is_read_as_its_pattern() {
        assert_eq!(in_rule("run(npm test *)"), "npm test *");
        assert_eq!(in_rule("npm test *"), "npm test *");
        assert_eq!(in_rule("run (x)"), "run (x)");
    }

    #[test]
    fn a_limit_is_read_from_the_end_of_the_line() {
        assert_eq!(read_limit("npm test *"), Ok(("npm test *".into(), GrantLimit::Session)));
        assert_eq!(read_limit("npm test * for 3 times"), Ok(("npm test *".into(), GrantLimit::Uses(3))));
        assert!(matches!(read_limit("make for 10 minutes"), Ok((p, GrantLimit::Until(_))) if p == "make"));
        assert_eq!(read_limit("say for it"), Ok(("say for it".into(), GrantLimit::Session)));
        assert!(read_limit("make for 3 hours").is_err() && read_limit("make for 0 times").is_err());
    }
}
