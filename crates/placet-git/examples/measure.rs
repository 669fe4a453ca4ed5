//! Times of a question and of an apply: `measure BASE AGENT PERSON SCRATCH`, the first three git directories.

use placet_git::{
    ApplyPlace, GitName, PersonIdentity, PlainRunner, PlainSource, QuestionSides, RepositoryQuestion,
    RepositoryRows, RepositoryState, Unwatched,
};
use std::path::PathBuf;
use std::time::Instant;

#[allow(clippy::print_stdout, reason = "an example prints its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [base, agent, person, scratch] = paths.as_slice() else { return Err("four paths".into()) };
    let (agent, person_source) = (PlainSource::new(agent), PlainSource::new(person));
    let base_source = PlainSource::new(base);
    let mut last = Instant::now();
    let mut lap = |what: &str| {
        println!("{what}: {} ms", last.elapsed().as_millis());
        last = Instant::now();
    };
    let base = RepositoryState::read(&base_source, &scratch.join("base"), &PlainRunner)?;
    lap("base");
    let sides = QuestionSides { base: &base, person: &person_source, agent: &agent };
    let question =
        RepositoryQuestion::read(sides, &scratch.join("question"), &PlainRunner)?.ok_or("no change")?;
    lap("question");
    let rows = RepositoryRows::read(&question, &PlainRunner)?;
    lap("rows");
    println!("{} refs, {} commits", rows.refs.len(), rows.commits.len());
    let change = question.comparison.selected(&question.groups)?;
    let identity = PersonIdentity { name: "P".into(), email: "p@x".into() };
    let (title, journal) = (GitName::from("measured"), scratch.join("journal"));
    let place = ApplyPlace {
        git_dir: person,
        journal: &journal,
        identity: &identity,
        title: &title,
        watch: &Unwatched,
    };
    placet_git::prepare(&question, &change, place)?.commit(place)?;
    lap("apply");
    Ok(())
}
