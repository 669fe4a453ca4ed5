//! The policy: mode, rules and grants against one call's reach.

use super::{
    Decision, Denial, Grant, Mode, ModeCell, Permit, Place, Question, Reach, Rule, Verdict, Why, danger_of,
    is_protected,
};
use crate::conversation::CallId;
use std::path::PathBuf;

/// Everything consent depends on. `decide` is a pure function of it.
#[derive(Clone, Debug)]
pub struct Policy {
    mode: ModeCell,
    rules: Vec<Rule>,
    grants: Vec<Grant>,
    forbidden: Vec<Reach>,
    roots: Vec<PathBuf>,
}

/// What one reach comes to, before the call's reaches are joined: the strictest wins.
enum Opinion {
    Allow(Why),
    Ask { reason: String, always: Option<Grant>, flag: Option<String> },
    Deny { reason: String, hint: String },
}

impl Policy {
    pub fn new(mode: ModeCell, rules: Vec<Rule>, roots: Vec<PathBuf>) -> Policy {
        Policy { mode, rules, grants: Vec::new(), forbidden: Vec::new(), roots }
    }

    pub fn mode(&self) -> Mode {
        self.mode.load()
    }

    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Remembers an "always" for the rest of the session.
    pub fn remember(&mut self, grant: Grant) {
        if !self.grants.contains(&grant) {
            self.grants.push(grant);
        }
    }

    /// Remembers a "never": exactly this is refused for the rest of the session.
    pub fn forbid(&mut self, reach: Vec<Reach>) {
        self.forbidden.extend(reach.into_iter().filter(|r| !matches!(r, Reach::Session)));
    }

    /// Judges `reach`, which is what the call's plan says it will touch and nothing else.
    pub fn decide(&self, call: &CallId, tool: &str, reach: Vec<Reach>) -> Decision {
        let mut why = Why::Mode(self.mode().name());
        let mut question: Option<(String, Option<Grant>, Option<String>)> = None;
        for one in &reach {
            match self.judge(tool, one) {
                Opinion::Deny { reason, hint } => return Decision::Deny(Denial { reason, hint }),
                Opinion::Allow(because) => {
                    if !matches!(because, Why::Mode(_)) {
                        why = because;
                    }
                }
                Opinion::Ask { reason, always, flag } => match &mut question {
                    None => question = Some((reason, always, flag)),
                    // Two reasons to ask: one remembered answer could not cover both.
                    Some((first, always, _)) => {
                        if !first.contains(&reason) {
                            *first = format!("{first}; {reason}");
                        }
                        *always = None;
                    }
                },
            }
        }
        match question {
            None => Decision::Allow(Permit::new(call.clone(), reach, why, self.mode().landing())),
            Some((reason, always, flag)) => {
                let (call, tool, landing) = (call.clone(), tool.into(), self.mode().landing());
                Decision::Ask(Question { call, tool, reach, reason, always, flag, landing })
            }
        }
    }

    fn judge(&self, tool: &str, reach: &Reach) -> Opinion {
        let mode = self.mode();
        let rule =
            self.rules.iter().filter(|r| r.matches(tool, reach, &self.roots)).max_by_key(|r| r.verdict);
        if let Some(rule) = rule.filter(|r| r.verdict == Verdict::Deny) {
            return Opinion::Deny {
                reason: format!("the rule `{}` ({}) forbids it", rule.text, rule.origin),
                hint: "this path or command is off limits in this session".into(),
            };
        }
        if self.forbidden.contains(reach) {
            return Opinion::Deny {
                reason: "the person said never, in this session".into(),
                hint: "do not ask again; find out what they want instead".into(),
            };
        }
        if let Some(denial) = refused_by_mode(mode, reach) {
            return denial;
        }
        if let Some(rule) = rule.filter(|r| r.verdict == Verdict::Ask) {
            let reason = format!("the rule `{}` ({}) asks", rule.text, rule.origin);
            return Opinion::Ask { reason, always: None, flag: None };
        }
        let opinion = by_mode(mode, tool, reach);
        let Opinion::Ask { always, .. } = &opinion else { return opinion };
        // Protected files and destroyers ask every time: neither a rule nor a grant answers for them.
        let fresh = always.is_none();
        if fresh && !names_a_rule_would_do(&opinion) {
            return opinion;
        }
        if let Some(rule) = rule.filter(|r| r.verdict == Verdict::Allow) {
            return Opinion::Allow(Why::Rule { rule: rule.text.clone(), origin: rule.origin.clone() });
        }
        match self.grants.iter().find(|g| g.covers(reach)) {
            Some(grant) => Opinion::Allow(Why::Grant(grant.describe())),
            None => opinion,
        }
    }
}

fn names_a_rule_would_do(opinion: &Opinion) -> bool {
    matches!(opinion, Opinion::Ask { flag: Some(flag), .. } if flag.starts_with("--allow"))
}

/// What the mode forbids outright: no rule and no grant opens it.
fn refused_by_mode(mode: Mode, reach: &Reach) -> Option<Opinion> {
    let deny = |reason: &str, hint: &str| Some(Opinion::Deny { reason: reason.into(), hint: hint.into() });
    match (mode, reach) {
        (Mode::None, _) => deny(
            "mode none: no tool may run",
            "answer from what is already here, or ask the person to switch modes",
        ),
        (Mode::Read, Reach::Write { .. }) => deny(
            "read mode: nothing may be written",
            "show the change as text instead, or try it in a command, whose effects are thrown away; the person can switch with Shift+Tab, /mode ask or --mode ask",
        ),
        (Mode::Read, Reach::Run { confined: false, .. }) => deny(
            "read mode: commands run only in the copy-on-write view, which this machine does not offer",
            "use the file tools; `placet doctor` tells the person what is missing",
        ),
        (Mode::Read, Reach::Network { .. }) => deny(
            "read mode: commands have no network",
            "do without it; the person can switch with Shift+Tab, /mode ask or --mode ask",
        ),
        _ => None,
    }
}

fn by_mode(mode: Mode, tool: &str, reach: &Reach) -> Opinion {
    let allow = Opinion::Allow(Why::Mode(mode.name()));
    match reach {
        Reach::Session => allow,
        Reach::Network { host } => Opinion::Ask {
            reason: format!("the command wants to reach `{host}`"),
            always: None,
            flag: Some(format!("--allow 'network({host})'")),
        },
        Reach::Read { place: Place::Inside | Place::Protected, .. } => allow,
        Reach::Read { .. } if mode == Mode::Unrestricted => allow,
        Reach::Read { path, .. } => Opinion::Ask {
            reason: format!("`{}` is outside the workspace", path.display()),
            flag: Some(format!("--allow '{tool}({})'", path.display())),
            always: Some(Grant::ReadBelow(path.clone())),
        },
        // In ask mode a change inside lands only when the person applies it: that is the question.
        Reach::Write { place: Place::Inside | Place::Protected, .. } if mode == Mode::Ask => allow,
        Reach::Write { path, place } if *place == Place::Protected || is_protected(path) => Opinion::Ask {
            reason: format!(
                "`{}` is protected: something on this machine runs or obeys it later",
                path.display()
            ),
            always: None,
            flag: None,
        },
        Reach::Write { place: Place::Inside, .. } => allow,
        Reach::Write { .. } if mode == Mode::Unrestricted => allow,
        Reach::Write { path, .. } => Opinion::Ask {
            reason: format!("`{}` is outside the workspace", path.display()),
            always: None,
            flag: Some(format!("--allow '{tool}({})'", path.display())),
        },
        // In the view it changes nothing for good: its effects are what is judged.
        Reach::Run { confined: true, .. } if mode != Mode::Unrestricted => allow,
        Reach::Run { command, cwd, .. } => match (danger_of(command), mode) {
            (Some(danger), _) => Opinion::Ask { reason: danger, always: None, flag: None },
            (None, Mode::Unrestricted) => allow,
            (None, _) => Opinion::Ask {
                reason: format!(
                    "a command whose changes are real at once: no copy-on-write view here ({mode} mode)"
                ),
                always: Some(Grant::Command { command: command.clone(), cwd: cwd.clone() }),
                flag: Some(format!("--allow {tool}")),
            },
        },
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
