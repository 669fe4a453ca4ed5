//! Checks a log against its key and its anchor, and reports exactly where it first differs.

use super::chain::AuditKey;
use super::entry::AuditLine;
use super::log::AuditHead;
use super::{AuditEntry, AuditError, AuditKind, AuditPaths};
use placet_text::text::regular_file;
use std::fmt;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// How many lines were checked.
    pub entries: u64,
    /// The first error.
    pub broken: Option<AuditBreak>,
    /// A crash left the beginning of a line; the next entry removes it.
    pub unfinished: bool,
}

/// Numbers are those that an entry should have at its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditBreak {
    /// The entry is genuine, but another entry must be here.
    Chain { seq: u64, expected: String, got: String },
    /// The entry was changed, or placet never wrote it.
    Tampered { seq: u64 },
    /// Entries were cut off the end.
    Missing { count: u64 },
    /// The anchor has fewer entries than the log, by more than a crash explains.
    Behind { entries: u64, anchor: u64 },
    /// placet itself found the log changed when it continued the log.
    Alarm { seq: u64, why: String },
}

impl fmt::Display for AuditBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditBreak::Chain { seq, expected, got } => {
                write!(f, "the chain is broken at entry {seq}: expected {expected}, found {got}")
            }
            AuditBreak::Tampered { seq } => write!(f, "entry {seq} was changed"),
            AuditBreak::Missing { count: 1 } => f.write_str("1 entry is missing at the end"),
            AuditBreak::Missing { count } => write!(f, "{count} entries are missing at the end"),
            AuditBreak::Behind { entries, anchor } => {
                write!(f, "the anchor lists {anchor} entries, the log has {entries}")
            }
            AuditBreak::Alarm { seq, why } => write!(f, "alarm at entry {seq}: {why}"),
        }
    }
}

/// Checks the whole log. A log that was never started is valid.
pub fn verify(places: &AuditPaths) -> Result<AuditReport, AuditError> {
    let text = read(places)?;
    let anchor = AuditHead::parse(
        &regular_file::read_to_string(&places.anchor, regular_file::SETTINGS).unwrap_or_default(),
    );
    let mut report =
        AuditReport { entries: 0, broken: None, unfinished: !text.is_empty() && !text.ends_with('\n') };
    let key = match AuditKey::read(&places.key)? {
        Some(key) => key,
        None if text.is_empty() && anchor == AuditHead::none() => return Ok(report),
        None => return Err(AuditError::KeyGone { key: places.key.clone(), log: places.log.clone() }),
    };
    let mut head = AuditHead::none();
    for line in whole_lines(&text) {
        report.entries += 1;
        let checked = check(line, &head, &key);
        match checked {
            Ok(next) => head = next,
            Err(broken) => {
                report.broken = Some(broken);
                return Ok(report);
            }
        }
    }
    report.broken = against(&head, &anchor, &text, &key);
    Ok(report)
}

fn check(line: &str, before: &AuditHead, key: &AuditKey) -> Result<AuditHead, AuditBreak> {
    let seq = before.seq + 1;
    let line =
        AuditLine::read(line).filter(|line| line.is_genuine(key)).ok_or(AuditBreak::Tampered { seq })?;
    if line.entry.prev != before.mac || line.entry.seq != seq {
        return Err(AuditBreak::Chain { seq, expected: before.mac.clone(), got: line.entry.prev });
    }
    if line.entry.note.kind == AuditKind::Alarm {
        return Err(AuditBreak::Alarm { seq, why: line.entry.note.why.unwrap_or_default() });
    }
    Ok(AuditHead { seq, mac: line.mac })
}

/// Compares the end of a valid chain with the anchor: after a crash, one entry may be missing in the anchor.
fn against(head: &AuditHead, anchor: &AuditHead, text: &str, key: &AuditKey) -> Option<AuditBreak> {
    if head == anchor {
        return None;
    }
    if head.seq < anchor.seq {
        return Some(AuditBreak::Missing { count: anchor.seq - head.seq });
    }
    let last = whole_lines(text).last().and_then(AuditLine::read).filter(|line| line.is_genuine(key));
    let one_more = head.seq == anchor.seq + 1 && last.is_some_and(|line| line.entry.prev == anchor.mac);
    (!one_more).then_some(AuditBreak::Behind { entries: head.seq, anchor: anchor.seq })
}

/// Every entry that can be parsed, unchecked.
pub fn entries(places: &AuditPaths) -> Result<Vec<AuditEntry>, AuditError> {
    let text = read(places)?;
    Ok(whole_lines(&text).filter_map(|line| Some(AuditLine::read(line)?.entry)).collect())
}

fn read(places: &AuditPaths) -> Result<String, AuditError> {
    match regular_file::read(&places.log, u64::MAX) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(AuditError::File { path: places.log.clone(), reason: e.to_string() }),
    }
}

fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

#[cfg(test)]
mod tests {
    use super::super::chain::GENESIS;
    use super::*;

    #[test]
    fn the_first_entry_follows_nothing() {
        assert_eq!(AuditHead::none(), AuditHead { seq: 0, mac: GENESIS.into() });
        assert_eq!(AuditHead::parse("nonsense"), AuditHead::none());
    }
}
