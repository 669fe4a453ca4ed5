//! The patch of a commit with a file that git cannot hold in memory: a new or a deleted one is read as a whole, though it is
//! not shown.

use crate::error::Result;
use crate::limit;
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::runner::{GitCall, GitOutput, GitRunner, run_all};
use crate::tree_lines::{PathChange, parse_changes};

/// The patch between commits or trees, in which large files have the section of a file that is not text. `failure` is the
/// error where there is no large file.
pub(crate) fn patch_of_small_files(
    question: &RepositoryQuestion,
    sides: [Option<ObjectId>; 2],
    failure: &GitOutput,
    runner: &dyn GitRunner,
) -> Result<Vec<u8>> {
    let nothing = question.agent.format.objects.empty_tree();
    let call = |options: &[&str]| {
        let options = ["diff-tree", "-r", "--no-ext-diff", "--no-textconv"].iter().chain(options);
        let mut call = GitCall::new(&question.quarantine.path, options);
        call.args.extend(sides.map(|id| id.map_or(nothing.into(), |id| id.to_string().into())));
        call
    };
    // The second one has names as git writes them in a patch, with quotes where they are needed.
    let listed = ["--raw", "--no-abbrev", "--no-renames"];
    let outputs = run_all(runner, &[call(&[&listed[..], &["-z"]].concat()), call(&listed)])?;
    let [paths, lines] = outputs.as_slice() else { return Err(failure.failure("diff-tree")) };
    let changes = parse_changes(&paths.stdout);
    let one_sided = |change: &PathChange| match (&change.before, &change.after) {
        (None, Some((_, id))) | (Some((_, id)), None) => Some(*id),
        _ => None,
    };
    let sizes = question.sizes(&changes.iter().filter_map(one_sided).collect::<Vec<_>>(), runner)?;
    let is_large = |change: &PathChange| {
        one_sided(change).and_then(|id| sizes.get(&id)).is_some_and(|size| *size > limit::SHOWN_FILE)
    };
    if !changes.iter().any(is_large) {
        return Err(failure.failure("diff-tree"));
    }
    let small: Vec<&PathChange> = changes.iter().filter(|change| !is_large(change)).collect();
    let calls = small.chunks(limit::ARGUMENT_PATHS).map(|changes| {
        let mut call = call(&["-p", "--full-index"]);
        call.args.push("--".into());
        call.args.extend(changes.iter().map(|change| change.path.as_os_str().to_os_string()));
        call
    });
    let calls: Vec<GitCall> = calls.collect();
    let outputs = if calls.is_empty() { Vec::new() } else { run_all(runner, &calls)? };
    let mut patch: Vec<u8> = outputs.into_iter().flat_map(|output| output.stdout).collect();
    let names =
        lines.stdout.split(|byte| *byte == b'\n').filter_map(|line| line.splitn(2, |b| *b == b'\t').nth(1));
    for (change, name) in changes.iter().zip(names).filter(|(change, _)| is_large(change)) {
        patch.extend(section(change, name));
    }
    Ok(patch)
}

/// What git writes about a file that is not text.
fn section(change: &PathChange, name: &[u8]) -> Vec<u8> {
    let name = |prefix: &str| match name.strip_prefix(b"\"") {
        Some(rest) => [b"\"", prefix.as_bytes(), rest].concat(),
        None => [prefix.as_bytes(), name].concat(),
    };
    let (a, b) = (name("a/"), name("b/"));
    let (mode, ids) = match (&change.before, &change.after) {
        (Some((mode, id)), _) => ([&b"deleted file mode "[..], mode.as_bytes()].concat(), (Some(id), None)),
        (_, Some((mode, id))) => ([&b"new file mode "[..], mode.as_bytes()].concat(), (None, Some(id))),
        (None, None) => return Vec::new(),
    };
    let one = ids.0.or(ids.1).map(ToString::to_string).unwrap_or_default();
    let hex = |id: Option<&ObjectId>| id.map_or_else(|| "0".repeat(one.len()), ToString::to_string);
    let index = format!("index {}..{}", hex(ids.0), hex(ids.1)).into_bytes();
    let nothing = b"/dev/null".to_vec();
    let (from, to) = if ids.0.is_some() { (&a, &nothing) } else { (&nothing, &b) };
    let differ = [&b"Binary files "[..], from, b" and ", to, b" differ"].concat();
    let head = [&b"diff --git "[..], &a, b" ", &b].concat();
    [head, mode, index, differ].map(|line| [&line[..], b"\n"].concat()).concat()
}
