//! Writes the log: one entry at a time, under a lock that all placet processes of this person share.
//!
//! An append is a write to the log and a write to the anchor, without a sync to the disk: entries survive every kind of
//! end of placet. If the machine loses power, entries may be lost, and the check then reports them as missing.

use super::chain::{AuditKey, GENESIS};
use super::entry::AuditLine;
use super::{AuditEntry, AuditError, AuditEvent, AuditKind};
use placet_text::text::regular_file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The paths of the log and of the files that protect it.
#[derive(Clone, Debug)]
pub struct AuditPaths {
    /// `audit/log.jsonl` in the state directory.
    pub log: PathBuf,
    /// `audit.key` in the configuration directory.
    pub key: PathBuf,
    /// `audit.head` next to the key.
    pub anchor: PathBuf,
}

/// The log. Opened at the first entry; nothing is written before.
pub struct AuditLog {
    places: AuditPaths,
    open: Mutex<Option<OpenAuditLog>>,
}

struct OpenAuditLog {
    key: AuditKey,
    log: File,
    anchor: File,
    /// The end as this process wrote it: while the file has the same length, nothing needs to be read again.
    end: Option<(u64, AuditHead)>,
}

/// The last entry: its number and code. The anchor contains these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuditHead {
    pub(super) seq: u64,
    pub(super) mac: String,
}

/// The content of the end of the log.
struct AuditTail {
    head: AuditHead,
    /// The number of bytes up to the last line end.
    whole: u64,
    alarm: Option<String>,
}

impl AuditHead {
    pub(super) fn none() -> AuditHead {
        AuditHead { seq: 0, mac: GENESIS.into() }
    }

    /// A missing or unreadable anchor counts as an empty log's anchor.
    pub(super) fn parse(text: &str) -> AuditHead {
        let parsed = text.trim().split_once(' ').and_then(|(seq, mac)| {
            let is_code = mac.len() == 64 && mac.bytes().all(|b| b.is_ascii_hexdigit());
            Some(AuditHead { seq: seq.parse().ok().filter(|_| is_code)?, mac: mac.into() })
        });
        parsed.unwrap_or_else(AuditHead::none)
    }

    /// Always has the same length, so that it can be overwritten in one write.
    fn line(&self) -> String {
        format!("{:020} {}\n", self.seq, self.mac)
    }
}

impl AuditLog {
    pub fn at(places: AuditPaths) -> AuditLog {
        AuditLog { places, open: Mutex::default() }
    }

    pub fn places(&self) -> &AuditPaths {
        &self.places
    }

    /// True where the log has an entry about this transaction.
    pub fn has_transaction(&self, transaction: &str) -> Result<bool, AuditError> {
        let at = |e: io::Error| AuditError::File { path: self.places.log.clone(), reason: e.to_string() };
        let Some(key) = AuditKey::read(&self.places.key)? else { return Ok(false) };
        let log = match regular_file::open(&self.places.log) {
            Ok(log) => log,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(at(e)),
        };
        for line in BufReader::new(log).split(b'\n') {
            let line = line.map_err(at)?;
            // Most lines do not name it, and are not parsed.
            if memchr::memmem::find(&line, transaction.as_bytes()).is_some()
                && let Some(found) = AuditLine::read(&String::from_utf8_lossy(&line))
                && found.entry.note.transactions.iter().any(|one| one == transaction)
                && found.is_genuine(&key)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds an entry and returns its number. If this fails, the caller must not act: the entry may not exist.
    pub fn append(&self, note: AuditEvent) -> Result<u64, AuditError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|o| !o.is_at(&self.places.log)) {
            *open = None;
        }
        let open = match &mut *open {
            Some(open) => open,
            none => none.insert(OpenAuditLog::new(&self.places)?),
        };
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |e: io::Error| AuditError::File { path, reason: e.to_string() }
        };
        flock(&open.log, FlockOperation::LockExclusive).map_err(|e| at(&self.places.log)(e.into()))?;
        let done = open.append(note).map_err(at(&self.places.log));
        flock(&open.log, FlockOperation::Unlock).map_err(|e| at(&self.places.log)(e.into()))?;
        done
    }
}

impl OpenAuditLog {
    fn new(places: &AuditPaths) -> Result<OpenAuditLog, AuditError> {
        let bad = |path: &Path, e: io::Error| AuditError::File { path: path.into(), reason: e.to_string() };
        let key = match AuditKey::read(&places.key)? {
            Some(key) => key,
            None if places.log.metadata().is_ok_and(|m| m.len() > 0) => {
                return Err(AuditError::KeyGone { key: places.key.clone(), log: places.log.clone() });
            }
            None => AuditKey::create(&places.key)?,
        };
        let dir = places.log.parent().unwrap_or(Path::new("."));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|e| bad(dir, e))?;
        for path in [&places.log, &places.anchor] {
            regular_file::check(path).map_err(|e| bad(path, e))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).create(true).mode(0o600);
        let log = options.clone().append(true).open(&places.log).map_err(|e| bad(&places.log, e))?;
        let anchor = options.write(true).truncate(false).open(&places.anchor);
        Ok(OpenAuditLog { key, log, anchor: anchor.map_err(|e| bad(&places.anchor, e))?, end: None })
    }

    /// True while `path` is still the open file: a log that was moved away is started again.
    fn is_at(&self, path: &Path) -> bool {
        match (std::fs::metadata(path), self.log.metadata()) {
            (Ok(there), Ok(here)) => there.ino() == here.ino() && there.dev() == here.dev(),
            _ => false,
        }
    }

    fn append(&mut self, note: AuditEvent) -> io::Result<u64> {
        let length = self.log.metadata()?.len();
        let tail = match &self.end {
            Some((known, head)) if *known == length => {
                AuditTail { head: head.clone(), whole: length, alarm: None }
            }
            _ => self.tail(length)?,
        };
        if tail.whole < length {
            // The beginning of a line that a crash cut: no action was ever based on it.
            self.log.set_len(tail.whole)?;
        }
        let mut head = tail.head;
        let mut text = String::new();
        if let Some(why) = tail.alarm {
            head = self.add(
                &mut text,
                AuditEvent { why: Some(why), ..AuditEvent::of(AuditKind::Alarm) },
                &head,
            )?;
        }
        head = self.add(&mut text, note, &head)?;
        if let Err(e) = (&self.log).write_all(text.as_bytes()) {
            // Half a line would look like a crash; it is removed again while the lock is held.
            drop(self.log.set_len(tail.whole));
            self.end = None;
            return Err(e);
        }
        self.end = Some((tail.whole + text.len() as u64, head.clone()));
        // The anchor comes second: a crash in between leaves one entry too many, which `tail` recognizes as a crash. In
        // the other order an entry would seem to be cut off.
        self.anchor.write_all_at(head.line().as_bytes(), 0)?;
        Ok(head.seq)
    }

    fn add(&self, text: &mut String, note: AuditEvent, before: &AuditHead) -> io::Result<AuditHead> {
        let time = jiff::Timestamp::now().to_string();
        let entry = AuditEntry { seq: before.seq + 1, time, note, prev: before.mac.clone() };
        let (line, mac) = entry.sealed(&self.key).map_err(io::Error::other)?;
        text.push_str(&line);
        text.push('\n');
        Ok(AuditHead { seq: entry.seq, mac: mac.to_string() })
    }

    /// Reads the end of the log and compares it with the anchor.
    fn tail(&self, length: u64) -> io::Result<AuditTail> {
        let mut anchor = String::new();
        // Room for an anchor: a number of up to 20 digits, a space and a code of 64.
        let mut bytes = [0; 128];
        let count = self.anchor.read_at(&mut bytes, 0)?;
        anchor.push_str(&String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()));
        let anchor = AuditHead::parse(&anchor);
        let (last, whole) = self.last_line(length)?;
        let last = match last.as_deref().map(AuditLine::read) {
            None => AuditHead::none(),
            Some(Some(line)) => {
                // A crash between the two writes leaves one entry without its anchor.
                let crashed = line.entry.seq == anchor.seq + 1 && line.entry.prev == anchor.mac;
                let head = AuditHead { seq: line.entry.seq, mac: line.mac.clone() };
                if crashed && line.is_genuine(&self.key) {
                    return Ok(AuditTail { head, whole, alarm: None });
                }
                head
            }
            Some(None) => {
                let alarm = Some("the last line of the log could not be read".to_string());
                return Ok(AuditTail { head: anchor, whole, alarm });
            }
        };
        let alarm = (last != anchor).then(|| match anchor.seq.saturating_sub(last.seq) {
            0 => format!("the log ended at entry {}, the anchor at {}", last.seq, anchor.seq),
            missing => format!("{missing} entries were missing at the end, after entry {}", last.seq),
        });
        Ok(AuditTail { head: last, whole, alarm })
    }

    /// The last whole line, and how many bytes the whole lines take.
    fn last_line(&self, length: u64) -> io::Result<(Option<String>, u64)> {
        const PIECE: u64 = 16 << 10;
        let mut bytes: Vec<u8> = Vec::new();
        let mut start = length;
        while start > 0 {
            let from = start.saturating_sub(PIECE);
            let mut piece = vec![0; usize::try_from(start - from).unwrap_or_default()];
            self.log.read_exact_at(&mut piece, from)?;
            piece.extend(bytes);
            (bytes, start) = (piece, from);
            if let Some(end) = bytes.iter().rposition(|b| *b == b'\n') {
                let lines = bytes.get(..end).unwrap_or_default();
                let begin = lines.iter().rposition(|b| *b == b'\n');
                if begin.is_some() || start == 0 {
                    let line = lines.get(begin.map_or(0, |at| at + 1)..).unwrap_or_default();
                    let line = String::from_utf8_lossy(line).into_owned();
                    return Ok((Some(line), start + end as u64 + 1));
                }
            }
        }
        Ok((None, 0))
    }
}
