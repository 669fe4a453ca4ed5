//! The rows of the page of a running program: changed files, hosts, processes, and what keys act on in each.

use super::facts::{RunPageChange, RunPageFacts, RunPageHost, RunPageHostState, RunPageRepository};
use crate::colors::theme::Theme;
use crate::pager::{PagerPosition, PagerSource, RowFocus};
use placet_text::text::{count, visible, width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::PathBuf;
use std::rc::Rc;

/// What keys act on in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum RunPageTarget {
    #[default]
    Nothing,
    Change(PathBuf),
    /// A host, with what allows it while it is refused.
    Host(String, Option<String>),
}

/// The rows of the page.
#[derive(Default)]
pub(super) struct RunPageRows {
    lines: Vec<Rc<Vec<Line<'static>>>>,
    pub(super) targets: Vec<RunPageTarget>,
    mark: Style,
}

impl PagerSource for RunPageRows {
    fn blocks(&self) -> usize {
        self.lines.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        self.lines.get(block).cloned().unwrap_or_default()
    }

    fn gutter_width(&self) -> u16 {
        2
    }

    fn gutter(&self, _at: PagerPosition, under: RowFocus) -> Line<'static> {
        let sign = if under == RowFocus::Here { "❯ " } else { "  " };
        Line::from(Span::styled(sign, self.mark))
    }
}

impl RunPageRows {
    fn add(&mut self, line: Line<'static>, target: RunPageTarget) {
        self.lines.push(Rc::new(vec![line]));
        self.targets.push(target);
    }

    fn text(&mut self, text: impl Into<String>, style: Style) {
        self.add(Line::styled(text.into(), style), RunPageTarget::Nothing);
    }

    /// What is known so far, for a screen of this many columns.
    pub(super) fn of(facts: Option<&RunPageFacts>, columns: u16, theme: &Theme) -> RunPageRows {
        let mut rows = RunPageRows { mark: theme.style("key"), ..RunPageRows::default() };
        match facts {
            Some(facts) => rows.add_facts(facts, columns, theme),
            None => rows.text("reading the changes", theme.style("dim")),
        }
        rows
    }

    fn add_facts(&mut self, facts: &RunPageFacts, columns: u16, theme: &Theme) {
        let (title, text, dim) = (theme.style("title"), theme.style("text"), theme.style("dim"));
        let more = if facts.is_cut { "+" } else { "" };
        let counted = match facts.count.total() {
            0 => String::new(),
            _ => format!("  {}{more}", facts.count),
        };
        self.text(format!("Changes so far{counted}"), title);
        let room = usize::from(columns.saturating_sub(self.gutter_width()));
        for repository in &facts.repositories {
            let RunPageRepository { letter, path, rows } = repository;
            let style = letter_style(*letter, theme);
            let line = vec![
                Span::raw(" "),
                Span::styled(letter.to_string(), style),
                Span::styled(format!(" {}", visible::guard_line(path)), text),
            ];
            self.add(Line::from(line), RunPageTarget::Nothing);
            rows.iter().for_each(|row| self.text(format!("     {}", visible::guard_line(row)), text));
        }
        for change in &facts.changes {
            self.add(change_line(change, room, theme), RunPageTarget::Change(change.at.clone()));
        }
        if facts.changes.is_empty() && facts.repositories.is_empty() {
            self.text(" no changes", dim);
        }
        self.text("", text);
        self.text("Network", title);
        match &facts.hosts {
            None => self.text(" no network", dim),
            Some(hosts) if hosts.is_empty() => self.text(" no host was asked for", dim),
            Some(hosts) => {
                for host in hosts {
                    self.add(host_line(host, theme), RunPageTarget::Host(host.with_port(), host.entry()));
                }
            }
        }
        self.text("", text);
        self.text(format!("Processes  {}", facts.programs.len()), title);
        for name in &facts.programs {
            self.text(format!(" {}", visible::name(name)), text);
        }
        if let Some(error) = &facts.error {
            self.text("", text);
            self.text(visible::guard_line(error), theme.style("warning"));
        }
    }
}

fn letter_style(letter: char, theme: &Theme) -> Style {
    theme.sign(match letter {
        'A' => "diff.add",
        'D' => "diff.remove",
        _ => "text",
    })
}

/// `M src/a.rs  +1 -1`; where there is no room, a part of the path makes way.
fn change_line(change: &RunPageChange, room: usize, theme: &Theme) -> Line<'static> {
    let style = letter_style(change.letter, theme);
    let counts = change.counts.map(|(added, removed)| (format!("  +{added}"), format!(" -{removed}")));
    let taken = counts.as_ref().map_or(0, |(added, removed)| added.len() + removed.len());
    // The letter with its blanks, and a column for the sign of what continues.
    let path = width::cut_middle(&change.path, room.saturating_sub(taken + 4));
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(change.letter.to_string(), style),
        Span::styled(format!(" {path}"), theme.style("text")),
    ];
    if let Some((added, removed)) = counts {
        spans.push(Span::styled(added, theme.sign("diff.add")));
        spans.push(Span::styled(removed, theme.sign("diff.remove")));
    }
    Line::from(spans)
}

fn host_line(host: &RunPageHost, theme: &Theme) -> Line<'static> {
    let (word, style) = match host.state {
        RunPageHostState::Refused => ("refused", "rejected"),
        RunPageHostState::Allowed => ("allowed", "accepted"),
        RunPageHostState::Connected => ("connected", "text"),
        RunPageHostState::Failed => ("failed", "warning"),
    };
    let mut note =
        if host.count > 1 { format!("  {}", count::of(host.count, "time")) } else { String::new() };
    if let Some(program) = &host.program {
        note.push_str(&format!("  {}", visible::name(program)));
    }
    Line::from(vec![
        Span::styled(format!(" {word:<10}"), theme.style(style)),
        Span::styled(visible::name(&host.with_port()).into_owned(), theme.style("text")),
        Span::styled(note, theme.style("dim")),
    ])
}
