//! Whatever the agent and the commands do: each path ends as the three values say.

use super::super::super::background_bench::{BackgroundFixture, JobFiles, bench};
use crate::view::command::command_view::CommandView;
use placet_text::text::sided_merge::merged;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const NAMES: [&str; 4] = ["a", "d/x", "d/y", "d/s/z"];
const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

type Files = BTreeMap<String, String>;

#[derive(Clone, Debug)]
enum ModelStep {
    Edit(usize, usize),
    Remove(usize),
    Apply,
    Undo,
    Discard,
    JobEdits(usize, usize, usize),
    JobRemoves(usize, usize),
    JobRemovesDirectory(usize),
    /// Which files get which line; the others come back as they were, or not at all.
    JobMakesDirectoryAgain(usize, [Option<usize>; 3]),
    JobEnds(usize),
}

/// The steps; after those with `true`, the running commands get what they did.
fn steps() -> impl Strategy<Value = Vec<(ModelStep, bool)>> {
    let (file, line, job) = (0..NAMES.len(), 0..9usize, 0..2usize);
    let again = proptest::array::uniform3(prop_oneof![Just(None), Just(Some(9)), (0..9usize).prop_map(Some)]);
    let step = prop_oneof![
        4 => (file.clone(), line.clone()).prop_map(|(file, line)| ModelStep::Edit(file, line)),
        1 => file.clone().prop_map(ModelStep::Remove),
        1 => Just(ModelStep::Apply),
        1 => Just(ModelStep::Undo),
        1 => Just(ModelStep::Discard),
        4 => (job.clone(), file.clone(), line).prop_map(|(job, file, line)| ModelStep::JobEdits(job, file, line)),
        1 => (job.clone(), file).prop_map(|(job, file)| ModelStep::JobRemoves(job, file)),
        1 => job.clone().prop_map(ModelStep::JobRemovesDirectory),
        2 => (job.clone(), again).prop_map(|(job, again)| ModelStep::JobMakesDirectoryAgain(job, again)),
        1 => job.prop_map(ModelStep::JobEnds),
    ];
    proptest::collection::vec((step, any::<bool>()), 1..14)
}

/// A text with one line changed; line 9 is none.
fn edited(text: Option<&String>, line: usize, by: &str) -> String {
    let text = text.map_or(TEXT, String::as_str);
    let lines = text.lines().enumerate();
    lines.map(|(at, old)| if at == line { format!("{by}{line}\n") } else { format!("{old}\n") }).collect()
}

/// A command with what it received and what it has.
struct JobModel {
    command: CommandView,
    files: JobFiles,
    suffix: String,
    received: Files,
    has: Files,
}

impl JobModel {
    fn new(bench: &BackgroundFixture, number: usize) -> JobModel {
        let command = bench.begin();
        let files = JobFiles::of(bench, &command);
        let (received, has) = (bench.files(), bench.files());
        JobModel { command, files, suffix: format!("job-{number}"), received, has }
    }

    fn write(&mut self, name: &str, text: String) {
        self.files.write(name, &text);
        self.has.insert(name.into(), text);
    }

    fn remove(&mut self, name: &str) {
        if self.has.remove(name).is_some() {
            self.files.remove(name);
        }
    }

    fn remove_directory(&mut self) {
        self.files.remove("d");
        self.has.retain(|name, _| !name.starts_with("d/"));
    }

    /// It gets what is there now, where it changed nothing itself.
    fn update(&mut self, bench: &BackgroundFixture, now: &Files) {
        let passed = &mut self.command.frozen.as_mut().unwrap().passed;
        for name in NAMES {
            let dir = Path::new(name).parent().unwrap().to_str().unwrap();
            let is_own = self.has.get(name) != self.received.get(name);
            if is_own || now.get(name) == self.received.get(name) || !self.files.has_dir(dir) {
                continue;
            }
            match now.get(name) {
                Some(text) => {
                    self.files.write(name, text);
                    passed.store(blake3::hash(text.as_bytes()), text.as_bytes()).unwrap();
                }
                None => self.files.remove(name),
            }
            for files in [&mut self.received, &mut self.has] {
                files.remove(name);
                files.extend(now.get(name).map(|text| (name.to_string(), text.clone())));
            }
            passed.set((0, name.into()), bench.view.stack(0, 1).node(Path::new(name)).unwrap());
        }
    }

    /// The view, and what is reported as kept, after the command has ended over `now`.
    fn expected(&self, now: &Files, entries: &BTreeSet<String>) -> (Files, Vec<String>) {
        let (mut after, mut kept) = (now.clone(), Vec::new());
        for name in NAMES {
            let (received, has, now) = (self.received.get(name), self.has.get(name), now.get(name));
            if has == received || now == has {
                continue;
            }
            // A directory that others removed comes back under another name.
            let missing =
                ["d", "d/s"].into_iter().find(|dir| name.starts_with(*dir) && !entries.contains(*dir));
            let Some(has) = has else {
                if now == received {
                    after.remove(name);
                } else if now.is_some() {
                    kept.push(name.to_string());
                }
                continue;
            };
            let merge = received
                .zip(now)
                .and_then(|(received, now)| merged(received.as_bytes(), now.as_bytes(), has.as_bytes()));
            let place = match (missing, merge) {
                (Some(dir), _) => format!("{dir}.{}{}", self.suffix, name.strip_prefix(dir).unwrap()),
                (None, _) if now == received => name.to_string(),
                (None, Some(merge)) => {
                    after.insert(name.into(), String::from_utf8(merge).unwrap());
                    continue;
                }
                (None, None) => format!("{name}.{}", self.suffix),
            };
            after.insert(place, has.clone());
        }
        kept.sort();
        (after, kept)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_path_ends_as_its_three_values_say(steps in steps(), is_pending in any::<bool>()) {
        let bench = bench(&NAMES.map(|name| (name, TEXT)));
        if is_pending {
            bench.hold("d/x", &TEXT.replace('5', "five"));
        }
        let mut jobs = [1, 2].map(|number| Some(JobModel::new(&bench, number)));
        let ends = [ModelStep::JobEnds(0), ModelStep::JobEnds(1)].map(|step| (step, true));
        for (number, (step, is_passed)) in steps.into_iter().chain(ends).enumerate() {
            match step {
                ModelStep::Edit(file, line) => {
                    let text = edited(bench.files().get(NAMES[file]), line, &format!("agent{number} "));
                    bench.hold(NAMES[file], &text);
                }
                ModelStep::Remove(file) => bench.remove(NAMES[file]),
                // What was undone below it is merged first.
                ModelStep::Apply => drop(bench.try_to_apply()),
                ModelStep::Undo => bench.undo(),
                ModelStep::Discard => bench.discard(),
                ModelStep::JobEdits(job, file, line) => {
                    let Some(job) = &mut jobs[job] else { continue };
                    let text = edited(job.has.get(NAMES[file]), line, &format!("job{number} "));
                    job.write(NAMES[file], text);
                }
                ModelStep::JobRemoves(job, file) => {
                    let Some(job) = &mut jobs[job] else { continue };
                    job.remove(NAMES[file]);
                }
                ModelStep::JobRemovesDirectory(job) => {
                    let Some(job) = &mut jobs[job] else { continue };
                    job.remove_directory();
                }
                ModelStep::JobMakesDirectoryAgain(job, again) => {
                    let Some(job) = &mut jobs[job] else { continue };
                    let had = job.has.clone();
                    job.remove_directory();
                    for (name, line) in NAMES[1..].iter().zip(again) {
                        let Some(line) = line else { continue };
                        let Some(text) = had.get(*name) else { continue };
                        job.write(name, edited(Some(text), line, &format!("job{number} ")));
                    }
                }
                ModelStep::JobEnds(job) => {
                    let Some(job) = jobs[job].take() else { continue };
                    let (expected, kept) = job.expected(&bench.files(), &bench.entries());
                    let effects = bench.end_as(job.command, &job.suffix);
                    prop_assert_eq!(bench.files(), expected);
                    prop_assert_eq!(bench.names(&effects.kept), kept);
                }
            }
            if is_passed {
                let now = bench.files();
                jobs.iter_mut().flatten().for_each(|job| job.update(&bench, &now));
            }
        }
    }
}
