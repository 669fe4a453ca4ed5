//! The policy: applies mode, rules and grants to one call's accesses.

use super::decision::BY_PERSON;
use super::parsed_command::ParsedCommand;
use super::{
    Access, AccessLocation, ActiveGrant, CommandDanger, Decision, Denial, Grant, GrantId, GrantLimit, Mode,
    ModeCell, Permit, PermitReason, PlanModeState, PolicyQuestion, ProtectedPaths, Rule, RuleVerdict,
    danger_of, grant_pattern,
};
use super::{ClassificationLevel, ClassificationRules, FlowCheck, Taint, WritePolicy};
use jiff::Timestamp;
use placet_text::conversation::CallId;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// All inputs of a decision. `decide` is a pure function of it: [`Policy::at`] sets the time, so that a test can repeat
/// a decision. A decision only changes the counters of rules and grants.
#[derive(Clone, Debug)]
pub struct Policy {
    mode: ModeCell,
    rules: Vec<Rule>,
    /// How many permits each rule made, by its position in `rules`.
    rule_hits: Vec<Cell<u32>>,
    grants: Vec<ActiveGrant>,
    next_grant: u32,
    forbidden: Vec<Access>,
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    now: Cell<Timestamp>,
    protected: ProtectedPaths,
    pub(super) labels: ClassificationRules,
    pub(super) taint: Taint,
}

/// The verdict about one access, before the call's accesses are combined: the strictest verdict wins.
pub(super) enum AccessVerdict {
    Allow(PermitReason),
    Ask {
        reason: String,
        always: Option<Grant>,
        flag: Option<String>,
    },
    /// It destroys something: placet asks each time, whatever rules and grants say.
    Danger(CommandDanger),
    Deny {
        reason: String,
        hint: String,
        /// The mode that refuses it, if another mode would help.
        refused_by: Option<Mode>,
    },
}

/// Nothing covers a line; with a more specific reason if there is one.
pub(super) struct NotCovered(pub(super) Option<String>);

/// The parts of a question while a call's accesses are combined.
#[derive(Default)]
struct QuestionBuilder {
    reasons: Vec<String>,
    always: Option<Grant>,
    flag: Option<String>,
    typed: Option<String>,
    needs_care: bool,
}

impl Policy {
    pub fn new(mode: ModeCell, rules: Vec<Rule>, roots: Vec<PathBuf>) -> Policy {
        let rule_hits = vec![Cell::new(0); rules.len()];
        Policy {
            mode,
            rules,
            rule_hits,
            grants: Vec::new(),
            next_grant: 1,
            forbidden: Vec::new(),
            roots,
            home: None,
            now: Cell::new(Timestamp::UNIX_EPOCH),
            protected: ProtectedPaths::default(),
            labels: ClassificationRules::default(),
            taint: Taint::default(),
        }
    }

    /// Adds what the settings classify; `taint` is the session's level, shared with the parts that show it.
    pub fn classified(self, labels: ClassificationRules, taint: Taint) -> Policy {
        Policy { labels, taint, ..self }
    }

    /// Adds the person's home directory, so that `~` and `$HOME` in commands have a meaning.
    pub fn at_home(self, home: Option<PathBuf>) -> Policy {
        Policy { home, ..self }
    }

    /// Adds the person's own protected paths.
    pub fn protecting(self, protected: ProtectedPaths) -> Policy {
        Policy { protected, ..self }
    }

    pub(super) fn protected(&self) -> &ProtectedPaths {
        &self.protected
    }

    /// Sets the present time. It is a field, and not an argument of `decide`, because most callers have no grants with
    /// a time limit, and the only place that asks sets it.
    pub fn at(&self, now: Timestamp) {
        self.now.set(now);
    }

    pub fn mode(&self) -> Mode {
        self.mode.load()
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules with the number of permits that each made.
    /// True if commands can have a network without a person: in unrestricted mode, or by a rule.
    pub fn permits_network(&self) -> bool {
        let network = Access::Network { host: String::new() };
        let allows =
            |rule: &Rule| rule.verdict == RuleVerdict::Allow && rule.applies_to("run_command", &network);
        self.mode() == Mode::Unrestricted || self.rules.iter().any(allows)
    }

    pub fn rules_and_hits(&self) -> impl Iterator<Item = (&Rule, u32)> {
        self.rules.iter().zip(self.rule_hits.iter().map(Cell::get))
    }

    pub(super) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Every grant of this session, including those that are used up.
    pub fn grants(&self) -> &[ActiveGrant] {
        &self.grants
    }

    /// The grants that are still valid.
    pub fn live(&self) -> impl Iterator<Item = &ActiveGrant> {
        let now = self.now.get();
        self.grants.iter().filter(move |given| given.is_live(now))
    }

    /// Remembers an "always" for the rest of the session.
    pub fn remember(&mut self, grant: Grant) {
        self.give(grant, GrantLimit::Session);
    }

    /// Stores a grant with a `limit`. A valid grant is not stored twice.
    pub fn give(&mut self, grant: Grant, limit: GrantLimit) -> GrantId {
        if let Some(known) = self.live().find(|given| given.grant == grant && given.limit == limit) {
            return known.id;
        }
        let id = GrantId(self.next_grant);
        self.next_grant += 1;
        self.grants.push(ActiveGrant::new(id, grant, limit, self.now.get()));
        id
    }

    /// Revokes a grant from the next call on. False if there is no grant with this number.
    pub fn revoke(&mut self, id: GrantId) -> bool {
        let before = self.grants.len();
        self.grants.retain(|given| given.id != id);
        self.grants.len() < before
    }

    /// Remembers a "never": exactly these accesses are refused for the rest of the session.
    pub fn forbid(&mut self, reach: Vec<Access>) {
        self.forbidden.extend(reach.into_iter().filter(|r| !matches!(r, Access::Session)));
    }

    /// Decides about `reach`: the accesses that the call's plan declares, and nothing else.
    pub fn decide(&self, call: &CallId, tool: &str, reach: Vec<Access>) -> Decision {
        let flowing = self.flow(tool, &reach);
        if let Some(violation) = flowing.violations.first() {
            return Decision::Deny(violation.denial());
        }
        let mut reasons = vec![PermitReason::Mode(self.mode().name())];
        let mut asking: Option<QuestionBuilder> = None;
        for one in &reach {
            match self.judge(tool, &self.as_it_runs(one)) {
                AccessVerdict::Deny { reason, hint, refused_by } => {
                    return Decision::Deny(Denial { reason, hint, refused_by });
                }
                AccessVerdict::Allow(because) => reasons.push(because),
                AccessVerdict::Ask { reason, always, flag } => {
                    let first = asking.is_none();
                    let asking = asking.get_or_insert_default();
                    asking.add(reason);
                    asking.needs_care |= is_protected_write(one, &self.protected);
                    // With two reasons to ask, one remembered answer covers both only where both can be one grant.
                    asking.always = match (asking.always.take(), always) {
                        (None, always) => always.filter(|_| first),
                        (Some(known), Some(more)) => known.joined(more),
                        (Some(_), None) => None,
                    };
                    if first {
                        asking.flag = flag;
                    }
                }
                AccessVerdict::Danger(danger) => {
                    let asking = asking.get_or_insert_default();
                    asking.add(danger.describe());
                    (asking.always, asking.flag) = (None, None);
                    asking.typed = asking.typed.take().or(danger.typed);
                    asking.needs_care = true;
                }
            }
        }
        let (call, landing) = (call.clone(), self.write_policy(&reach, &flowing));
        let Some(asking) = asking else {
            let why = PermitReason::all(reasons).unwrap_or(PermitReason::Mode(self.mode().name()));
            self.count(&why);
            return Decision::Allow(Permit::new(call, reach, why, landing));
        };
        let pattern = asking.always.as_ref().and_then(|_| self.pattern_for(tool, &reach));
        let why = self.why_asked(tool, &reach);
        let QuestionBuilder { reasons, always, flag, typed, needs_care } = asking;
        // A grant that will not match again is not offered; the person gets a pattern, or a yes for this call only.
        let always = always
            .filter(|g| !matches!(g, Grant::Command { command, .. } if grant_pattern::is_passing(command)));
        let (tool, reason) = (tool.into(), reasons.join("; "));
        Decision::Ask(PolicyQuestion {
            call,
            tool,
            reach,
            reason,
            always,
            pattern,
            typed,
            needs_care,
            why,
            flag,
            landing,
        })
    }

    /// In a classified session a command's writes are checked before they are applied: no mode applies them at once.
    fn write_policy(&self, reach: &[Access], flowing: &FlowCheck) -> WritePolicy {
        let runs = reach.iter().any(|one| matches!(one, Access::Run { .. } | Access::ServerTool { .. }));
        let classified = self.taint.load().max(flowing.level) > ClassificationLevel::Public;
        match self.mode().write_policy() {
            WritePolicy::Apply if runs && classified && !self.labels.is_off() => WritePolicy::Hold,
            landing => landing,
        }
    }

    fn pattern_for(&self, tool: &str, reach: &[Access]) -> Option<Grant> {
        let [only] = reach else { return None };
        self.family(&ParsedCommand::read(tool, only, self.home())?)
    }

    fn count(&self, why: &PermitReason) {
        for part in why.parts() {
            match part {
                PermitReason::Grant { id, .. } => {
                    self.grants.iter().filter(|g| g.id == *id).for_each(ActiveGrant::count)
                }
                PermitReason::Rule { rule, origin } => {
                    for (known, hits) in self.rules.iter().zip(&self.rule_hits) {
                        if known.text == *rule && known.origin == *origin {
                            hits.set(hits.get().saturating_add(1));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn by_rule(&self, rule: &Rule) -> PermitReason {
        PermitReason::Rule { rule: rule.text.clone(), origin: rule.origin.clone() }
    }

    /// True if a rule of the person or the project hides files inside the workspace.
    pub(super) fn has_denied_reads(&self) -> bool {
        let outside = |pattern: &str| {
            pattern.starts_with('/') && !self.roots.iter().any(|r| Path::new(pattern).starts_with(r))
        };
        self.rules.iter().filter_map(Rule::denied_read_pattern).any(|pattern| !outside(pattern))
    }

    /// Unrestricted mode runs commands outside the view, whether there is a view or not.
    pub(super) fn as_it_runs<'a>(&self, reach: &'a Access) -> std::borrow::Cow<'a, Access> {
        match reach {
            Access::Run { command, cwd, confined: true } if self.mode() == Mode::Unrestricted => {
                let (command, cwd) = (command.clone(), cwd.clone());
                std::borrow::Cow::Owned(Access::Run { command, cwd, confined: false })
            }
            other => std::borrow::Cow::Borrowed(other),
        }
    }

    pub(super) fn judge(&self, tool: &str, reach: &Access) -> AccessVerdict {
        let mode = self.mode();
        let line = ParsedCommand::read(tool, reach, self.home());
        let rule = |verdict| self.rule_of(verdict, tool, reach, line.as_ref());
        if let Some(rule) = rule(RuleVerdict::Deny) {
            return AccessVerdict::Deny {
                reason: format!("the rule `{}` ({}) denies it{}", rule.text, rule.origin, because(rule)),
                hint: "do not try this path or command again in this session".into(),
                refused_by: None,
            };
        }
        if self.forbidden.contains(reach) {
            return AccessVerdict::Deny {
                reason: format!("{BY_PERSON}denied it for this session"),
                hint: "do not ask again; find out what they want instead".into(),
                refused_by: None,
            };
        }
        if let Some(denial) = refused_by_mode(mode, reach).map(|denial| self.in_plan(denial)) {
            return denial;
        }
        if let Some(danger) = self.danger(reach) {
            return AccessVerdict::Danger(danger);
        }
        if let Some(rule) = rule(RuleVerdict::Ask) {
            let reason = format!("the rule `{}` ({}) asks{}", rule.text, rule.origin, because(rule));
            return AccessVerdict::Ask { reason, always: None, flag: None };
        }
        let opinion = by_mode(mode, tool, reach, &self.protected);
        let AccessVerdict::Ask { always, .. } = &opinion else { return opinion };
        // Protected files need an answer every time: rules and grants do not apply to them.
        let fresh = always.is_none();
        if fresh && !names_a_rule_would_do(&opinion) {
            return opinion;
        }
        if let Some(line) = &line {
            return match (self.consent(line), opinion) {
                (Ok(why), _) => AccessVerdict::Allow(why),
                (Err(NotCovered(Some(more))), AccessVerdict::Ask { reason, always, flag }) => {
                    AccessVerdict::Ask { reason: format!("{reason}; {more}"), always, flag }
                }
                (Err(_), opinion) => opinion,
            };
        }
        if let Some(rule) = rule(RuleVerdict::Allow) {
            return AccessVerdict::Allow(self.by_rule(rule));
        }
        match self.live().find(|g| g.grant.covers(reach)) {
            Some(given) => {
                AccessVerdict::Allow(PermitReason::Grant { id: given.id, words: given.grant.describe() })
            }
            None => opinion,
        }
    }

    /// The first rule with this verdict that matches.
    pub(super) fn rule_of(
        &self,
        verdict: RuleVerdict,
        tool: &str,
        reach: &Access,
        line: Option<&ParsedCommand<'_>>,
    ) -> Option<&Rule> {
        match line {
            Some(line) if verdict != RuleVerdict::Allow => self.catching(line, verdict),
            _ => self.rules.iter().find(|r| r.verdict == verdict && r.matches(tool, reach, &self.roots)),
        }
    }

    /// While a plan is being made, plan mode refuses the call, and no other mode would help.
    fn in_plan(&self, denial: AccessVerdict) -> AccessVerdict {
        match denial {
            AccessVerdict::Deny { reason, .. } if self.mode.planning() != PlanModeState::No => {
                AccessVerdict::Deny {
                    reason: reason.replacen("read mode", "plan mode", 1),
                    hint: "describe the plan; the person approves it with /plan approve".into(),
                    refused_by: None,
                }
            }
            denial => denial,
        }
    }

    /// What an unconfined command would destroy. In the view it would destroy nothing permanently.
    fn danger(&self, reach: &Access) -> Option<CommandDanger> {
        match reach {
            Access::Run { command, cwd, confined: false } => {
                danger_of(command, cwd, self.home(), &self.roots, &self.protected)
            }
            _ => None,
        }
    }
}

impl QuestionBuilder {
    fn add(&mut self, reason: String) {
        if !self.reasons.iter().any(|known| known.contains(&reason)) {
            self.reasons.push(reason);
        }
    }
}

fn because(rule: &Rule) -> String {
    rule.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"))
}

fn names_a_rule_would_do(opinion: &AccessVerdict) -> bool {
    matches!(opinion, AccessVerdict::Ask { flag: Some(flag), .. } if flag.starts_with("--allow"))
}

/// What the mode always forbids: no rule and no grant can allow it.
fn refused_by_mode(mode: Mode, reach: &Access) -> Option<AccessVerdict> {
    let deny = |reason: &str, hint: &str| {
        Some(AccessVerdict::Deny { reason: reason.into(), hint: hint.into(), refused_by: Some(mode) })
    };
    match (mode, reach) {
        (Mode::None, _) => {
            deny("the mode `none` allows no tools", "answer without tools, or ask the person to switch modes")
        }
        (Mode::Read, Access::Write { .. }) => deny(
            "read mode does not allow writing",
            "describe the change instead, or try it in a command (its changes are discarded)",
        ),
        (Mode::Read, Access::Run { confined: false, .. }) => deny(
            "in read mode commands run only in the copy-on-write view, and this command would run outside of it",
            "use the file tools; `placet doctor` shows the person what is missing",
        ),
        (Mode::Read, Access::Network { .. }) => {
            deny("in read mode commands have no network", "continue without it")
        }
        (Mode::Read, Access::ServerNetwork { .. }) => {
            deny("in read mode servers have no network", "continue without it")
        }
        (Mode::Read, Access::ServerTool { confined: false, vouched: false, .. }) => deny(
            "in read mode a server is used only in the copy-on-write view and without hosts",
            "continue without it",
        ),
        _ => None,
    }
}

/// Why placet asks about a command that wants the network.
pub fn network_reason(host: &str) -> String {
    format!("the command wants to connect to `{host}`")
}

/// Why placet asks about a command whose port is published.
fn publish_reason(port: u16) -> String {
    format!("programs of this machine, such as your browser, would reach port {port} of the command")
}

/// A write of a file that a program on this machine runs or reads later.
fn is_protected_write(reach: &Access, protected: &ProtectedPaths) -> bool {
    match reach {
        Access::Write { place: AccessLocation::Protected, .. } => true,
        Access::Write { path, place: AccessLocation::Outside } => protected.class_of(path).asks(),
        _ => false,
    }
}

fn by_mode(mode: Mode, tool: &str, reach: &Access, protected: &ProtectedPaths) -> AccessVerdict {
    let allow = AccessVerdict::Allow(PermitReason::Mode(mode.name()));
    match reach {
        Access::Session => allow,
        Access::Approval => {
            AccessVerdict::Ask { reason: "the plan needs your approval".into(), always: None, flag: None }
        }
        // Without a sandbox nothing separates a command from the network.
        Access::Network { .. } if mode == Mode::Unrestricted => allow,
        Access::Network { host } => AccessVerdict::Ask {
            reason: network_reason(host),
            always: Some(Grant::Network(vec![host.clone()])),
            flag: Some(format!("--allow 'network({host})'")),
        },
        Access::ServerNetwork { .. } if mode == Mode::Unrestricted => allow,
        Access::ServerNetwork { server, host } => AccessVerdict::Ask {
            reason: format!("the MCP server `{server}` wants to connect to `{host}`"),
            always: Some(Grant::ServerNetwork { server: server.clone(), host: host.clone() }),
            flag: Some(format!("--allow 'network({host})'")),
        },
        // Without a sandbox the ports of a command are those of the machine.
        Access::Publish { .. } if mode == Mode::Unrestricted => allow,
        Access::Publish { port } => AccessVerdict::Ask {
            reason: publish_reason(*port),
            always: Some(Grant::Publish(vec![*port])),
            flag: Some(format!("--allow 'publish({port})'")),
        },
        Access::Fetch { .. } if mode == Mode::Unrestricted => allow,
        Access::Fetch { host } => AccessVerdict::Ask {
            reason: format!("placet would get a page from `{host}`"),
            always: Some(Grant::Fetch(host.clone())),
            flag: Some(format!("--allow 'fetch({host})'")),
        },
        // No rule and no grant knows the new description.
        Access::ServerTool { server, tool, changed: true, .. } => AccessVerdict::Ask {
            reason: format!("`{server}` describes `{tool}` in another way than before"),
            always: None,
            flag: None,
        },
        Access::ServerTool { vouched: true, .. } => allow,
        Access::ServerTool { .. } if mode == Mode::Unrestricted => allow,
        Access::ServerTool { server, tool, .. } => AccessVerdict::Ask {
            reason: format!("the MCP server `{server}` would run its tool `{tool}`"),
            always: Some(Grant::ServerTool { server: server.clone(), tool: tool.clone() }),
            flag: Some(format!("--allow 'mcp({server}.{tool})'")),
        },
        Access::Read { place, .. } if *place != AccessLocation::Outside => allow,
        Access::Read { .. } if mode == Mode::Unrestricted => allow,
        Access::Read { path, .. } => AccessVerdict::Ask {
            reason: format!("`{}` is outside the workspace", path.display()),
            flag: Some(format!("--allow '{tool}({})'", path.display())),
            always: Some(Grant::ReadBelow(path.clone())),
        },
        // In ask mode a change inside is applied only when the person applies it: that is the question.
        Access::Write { place, .. } if *place != AccessLocation::Outside && mode == Mode::Ask => allow,
        // Outside there is no root: every component of the path counts.
        Access::Write { path, .. } if is_protected_write(reach, protected) => AccessVerdict::Ask {
            reason: format!("`{}` is protected: programs run commands from it", path.display()),
            always: None,
            flag: None,
        },
        Access::Write { place: AccessLocation::Inside, .. } => allow,
        Access::Write { .. } if mode == Mode::Unrestricted => allow,
        Access::Write { path, place } => AccessVerdict::Ask {
            reason: match place {
                AccessLocation::ReadOnly => format!("`{}` is read-only", path.display()),
                _ => format!("`{}` is outside the workspace", path.display()),
            },
            always: None,
            flag: Some(format!("--allow '{tool}({})'", path.display())),
        },
        Access::Run { .. } if mode == Mode::Unrestricted => allow,
        // In the view it changes nothing permanently: the policy decides about its effects.
        Access::Run { confined: true, .. } => allow,
        Access::Run { command, cwd, .. } => AccessVerdict::Ask {
            reason: format!(
                "outside the copy-on-write view the command would change files at once ({mode} mode)"
            ),
            always: Some(Grant::Command { command: command.clone(), cwd: cwd.clone() }),
            flag: Some(format!("--allow {tool}")),
        },
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
