//! Stale patches: the file changed after the difference was made. git and GNU patch get the same ones.
//!
//! Where both programs refuse a patch, placet refuses it too, or a row of the table in the guide names the rule by which
//! it applies. Where both give the same result, placet gives that result, or a row says why it refuses.

use crate::support::is_full;
use crate::support::require::require;
use placet::text::patch::{FilePatch, Options, PatchLineKind, PatchedContent, StripLevels, apply, parse};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Cases in one directory: each program is started once for all of them.
const BATCH: usize = 500;

/// More than 20,000 patches with `PLACET_FULL=1`; `PLACET_SEED` chooses others, and `PLACET_BATCH` tries only one batch.
fn batches() -> (usize, u64) {
    let count = if is_full() { 44 } else { 4 };
    let seed = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok());
    (count, seed.unwrap_or(15))
}

/// The generator by Steele, Lea and Flood (SplitMix64): the same cases on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    /// True once in `of` times.
    fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

type Lines = Vec<String>;

/// A line out of so many different ones: few of them repeat often, as `}` and blank lines do.
fn line(random: &mut Random, pool: usize) -> String {
    match random.below(pool) {
        0 => "\n".into(),
        1 => "}\n".into(),
        n => format!("line {n}\n"),
    }
}

fn edited(random: &mut Random, lines: &Lines, pool: usize, edits: usize) -> Lines {
    let mut lines = lines.clone();
    for _ in 0..edits {
        let at = random.below(lines.len() + 1);
        let end = (at + random.below(4)).min(lines.len());
        let made: Lines = (0..1 + random.below(3)).map(|_| line(random, pool)).collect();
        match random.below(6) {
            0 => drop(lines.drain(at..end)),
            1 | 2 => drop(lines.splice(at..at, made)),
            3 => drop(lines.splice(at..end, made)),
            // A block that is there twice, and one that moved.
            4 => {
                let block = lines[at..end].to_vec();
                let to = random.below(lines.len() + 1);
                lines.splice(to..to, block);
            }
            _ => {
                let block: Lines = lines.drain(at..end).collect();
                let to = random.below(lines.len() + 1);
                lines.splice(to..to, block);
            }
        }
    }
    lines
}

/// Before and after the change that the patch is made of, and what the file has become since.
struct Case {
    old: String,
    new: String,
    target: String,
}

fn case(random: &mut Random) -> Case {
    let pool = [4, 9, 40, 1_000_000][random.below(4)];
    let old: Lines = (0..random.below(40)).map(|_| line(random, pool)).collect();
    let edits = 1 + random.below(4);
    let new = edited(random, &old, pool, edits);
    // Sometimes a part of the change has been made already.
    let from = if random.once_in(10) { &new } else { &old };
    let edits = 1 + random.below(3);
    let target = edited(random, from, pool, edits).concat();
    let unended = |random: &mut Random, text: String| match random.once_in(12) {
        true => text.trim_end_matches('\n').to_string(),
        false => text,
    };
    let target = unended(random, target);
    let target = if random.once_in(40) { target.replace('\n', "\r\n") } else { target };
    Case { old: unended(random, old.concat()), new: unended(random, new.concat()), target }
}

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("LC_ALL", "C").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The patches by git, with so many lines of context; none for a case that changes nothing.
fn patches(dir: &Path, cases: &[Case], context: usize) -> BTreeMap<usize, Vec<u8>> {
    for (side, text) in [("a", (|c| &c.old) as fn(&Case) -> &String), ("b", |c| &c.new)] {
        std::fs::create_dir(dir.join(side)).unwrap();
        for (n, case) in cases.iter().enumerate() {
            std::fs::write(dir.join(side).join(n.to_string()), text(case)).unwrap();
        }
    }
    let context = format!("-U{context}");
    let arguments = ["diff", "--no-index", "--no-prefix", "--no-color", "--text", &context, "a", "b"];
    let out = command("git", dir).args(arguments).stdout(Stdio::piped()).output().unwrap().stdout;
    let text = String::from_utf8(out).unwrap();
    let sections = text.split_inclusive("diff --git ").filter(|section| section.starts_with("a/"));
    let section = |text: &str| {
        let number = text[2..].split(' ').next().unwrap().parse().unwrap();
        let text = text.strip_suffix("diff --git ").unwrap_or(text);
        (number, format!("diff --git {text}").into_bytes())
    };
    sections.map(section).collect()
}

/// What a program makes of each target; `None` where it refuses a hunk.
fn by(program: &str, arguments: &[&str], dir: &Path, cases: &[Case]) -> Vec<Option<Vec<u8>>> {
    let place = dir.join(program);
    std::fs::create_dir(&place).unwrap();
    let name = |n: usize| place.join(n.to_string());
    for (n, case) in cases.iter().enumerate() {
        std::fs::write(name(n), &case.target).unwrap();
    }
    command(program, &place).args(arguments).arg("../stale.diff").output().unwrap();
    let result = |n: usize| match name(n).with_extension("rej").exists() {
        true => None,
        false => Some(std::fs::read(name(n)).unwrap_or_default()),
    };
    (0..cases.len()).map(result).collect()
}

/// The runs of changed lines in the order of the patch: lines removed and added.
fn runs(patch: &FilePatch) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    for hunk in patch.hunks() {
        for run in hunk.lines.split(|line| line.sign == PatchLineKind::Context).filter(|run| !run.is_empty())
        {
            let count = |sign| run.iter().filter(|line| line.sign == sign).count();
            runs.push((count(PatchLineKind::Remove), count(PatchLineKind::Add)));
        }
    }
    runs
}

/// No two changes overlap, and they come in the order of the patch.
fn in_order(patch: &FilePatch, applied: &PatchedContent) -> bool {
    let pairs = applied.edits.windows(2);
    let ascending = pairs.into_iter().all(|pair| pair[0].old.end <= pair[1].old.start);
    let made: Vec<(usize, usize)> = applied.edits.iter().map(|edit| (edit.old.len(), edit.new)).collect();
    ascending && made == runs(patch)
}

const NO_NEWLINE: &str = "missing or wrong `\\ No newline at end of file`";

fn unended(patch: &FilePatch) -> bool {
    patch.hunks().iter().flat_map(|hunk| &hunk.lines).any(|line| !line.text().ends_with(b"\n"))
}

/// The row of the guide's table that names why placet applies what both programs refuse.
fn rule(patch: &FilePatch, applied: &PatchedContent) -> Option<&'static str> {
    let noted = |part: &str| applied.notes.iter().any(|note| note.contains(part));
    let moved_from_first = || {
        let moved =
            applied.notes.iter().any(|note| note.starts_with("hunk 1 of ") && note.contains("(offset +"));
        moved && patch.hunks()[0].old_start == Some(1)
    };
    if noted("line ends: ") {
        Some("LF patch for a CRLF file, or the reverse")
    } else if noted("line end of the file's last line") {
        Some(NO_NEWLINE)
    } else if noted("has no context: placed by its line number only") {
        Some("lines added without context (`-U0`)")
    } else if moved_from_first() {
        Some("a hunk that begins at line 1, moved down")
    } else {
        None
    }
}

const SEVERAL: &str = "lines removed without context (`-U0`), off their line, several places fit";

/// The row of the guide's table that names why placet refuses what both programs apply with the same result.
fn refusal_rule(patch: &FilePatch) -> Option<&'static str> {
    let mut lines = patch.hunks().iter().flat_map(|hunk| &hunk.lines);
    lines.all(|line| line.sign != PatchLineKind::Context).then_some(SEVERAL)
}

/// What came of a case, by the three programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    AllRefuse,
    /// Both programs refuse, or one of them applies something else, and a row of the table says why placet does not.
    ByRule(&'static str),
    AllAgree,
    /// They differ from each other; placet does as one of them.
    AsOne,
    /// They differ from each other, and placet refuses.
    Refused,
    Wrong(&'static str),
}

fn outcome(patch: &[u8], case: &Case, git: Option<&[u8]>, gnu: Option<&[u8]>) -> (Outcome, String) {
    let patch = parse(patch, StripLevels::Auto).unwrap();
    let [file] = patch.files.as_slice() else { panic!("{patch:?}") };
    let ours = apply(file, case.target.as_bytes(), Options::default());
    let shown = match &ours {
        Ok(applied) => format!("{:?}\n{}", applied.notes, String::from_utf8_lossy(&applied.bytes)),
        Err(error) => error.to_string(),
    };
    let outcome = match (&ours, git, gnu) {
        (Ok(applied), _, _) if !in_order(file, applied) => Outcome::Wrong("hunks overlap or change order"),
        (Err(_), None, None) => Outcome::AllRefuse,
        (Ok(applied), None, None) => {
            rule(file, applied).map_or(Outcome::Wrong("both refuse"), Outcome::ByRule)
        }
        (Ok(applied), Some(git), Some(gnu)) if git == gnu => match applied.bytes == git {
            true => Outcome::AllAgree,
            false => Outcome::Wrong("both agree on another result"),
        },
        (Err(_), Some(git), Some(gnu)) if git == gnu => match refusal_rule(file) {
            Some(rule) if shown.contains(") matches at ") => Outcome::ByRule(rule),
            _ => Outcome::Wrong("both agree on a result"),
        },
        (Ok(applied), _, _) => match Some(&applied.bytes[..]) == git || Some(&applied.bytes[..]) == gnu {
            true => Outcome::AsOne,
            // GNU patch runs a last line without its end and the line below it together.
            false if unended(file) => Outcome::ByRule(NO_NEWLINE),
            false => rule(file, applied)
                .map_or(Outcome::Wrong("only one applies, and with another result"), Outcome::ByRule),
        },
        (Err(_), _, _) => Outcome::Refused,
    };
    (outcome, shown)
}

fn batch(cases: &[Case], number: usize, counts: &mut BTreeMap<Outcome, usize>, wrong: &mut Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let context = [3, 3, 3, 1, 2, 3, 3, 0][number % 8];
    let patches = patches(dir.path(), cases, context);
    std::fs::write(dir.path().join("stale.diff"), patches.values().flatten().copied().collect::<Vec<u8>>())
        .unwrap();
    let git = by("git", &["apply", "--whitespace=nowarn", "--reject"], dir.path(), cases);
    let gnu_arguments = ["-p1", "--binary", "-F0", "-s", "-f", "--no-backup-if-mismatch", "-i"];
    let gnu = by("patch", &gnu_arguments, dir.path(), cases);
    let text = |bytes: Option<&[u8]>| bytes.map_or("refused".into(), String::from_utf8_lossy).into_owned();
    for (n, patch) in &patches {
        let (git, gnu) = (git[*n].as_deref(), gnu[*n].as_deref());
        let (outcome, ours) = outcome(patch, &cases[*n], git, gnu);
        *counts.entry(outcome).or_default() += 1;
        if let Outcome::Wrong(why) = outcome {
            let (target, patch) = (&cases[*n].target, String::from_utf8_lossy(patch));
            wrong.push(format!(
                "batch {number}, case {n}: {why}\n{patch}--- target\n{target}--- git\n{}--- patch\n{}--- placet\n{ours}\n",
                text(git),
                text(gnu)
            ));
        }
    }
}

#[test]
fn a_stale_patch_is_refused_where_git_and_gnu_patch_refuse_it_and_applied_as_they_apply_it() {
    if !(require("git") && require("patch")) {
        return;
    }
    let (count, seed) = batches();
    let (mut random, mut counts, mut wrong) = (Random(seed), BTreeMap::new(), Vec::new());
    let only: Option<usize> = std::env::var("PLACET_BATCH").ok().and_then(|batch| batch.parse().ok());
    for number in 0..count {
        // The cases of a batch depend on the batches before it.
        let cases: Vec<Case> = (0..BATCH).map(|_| case(&mut random)).collect();
        if only.is_none_or(|only| only == number) {
            batch(&cases, number, &mut counts, &mut wrong);
        }
    }
    eprintln!("{} patches: {counts:#?}", counts.values().sum::<usize>());
    let first: Vec<String> = wrong.iter().take(5).cloned().collect();
    assert!(wrong.is_empty(), "{} wrong, of {count} batches:\n{}", wrong.len(), first.join("\n"));
    // The cases are of all kinds; ties are rare.
    for seen in [Outcome::AllRefuse, Outcome::AllAgree].into_iter().filter(|_| only.is_none()) {
        assert!(counts.get(&seen).is_some_and(|n| *n > 20), "{counts:?}");
    }
}
