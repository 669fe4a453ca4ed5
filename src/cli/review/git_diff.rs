//! Asks git for a difference without running anything that the repository names.
//!
//! Anyone who wrote a repository also wrote its configuration, and `git diff` runs programs from it: filters, the file system
//! monitor, external diffs, text conversions, and a remote's transport when objects are missing. Each of them is
//! switched off here by name. The person's own filters (global and system configuration, such as git-lfs) stay on.

use super::git_special_files;
use crate::cli::report::{CliError, warn};
use crate::text::visible;
use crate::ui::review::IndexDirection;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

/// The largest difference that is read, in bytes.
pub(in crate::cli) const MOST: u64 = 64 << 20;
/// The largest list of settings, and the most of what git says on standard error.
const MOST_TEXT: u64 = 8 << 20;
/// How long git may be silent: a pipe in the place of a file that it reads makes it wait for ever.
const SILENCE: Duration = Duration::from_secs(20);
/// How long git may take in all.
const DEADLINE: Duration = Duration::from_secs(120);
/// When the person is told what placet waits for, from the first start of git.
const SLOW: Duration = Duration::from_millis(800);
/// How often the wait looks whether git has written something.
const LOOK: Duration = Duration::from_millis(50);

/// Settings of a repository that make `git diff` run or wait for something, and what they are set to instead.
const OFF: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=",
    "diff.external=",
    "diff.orderFile=/dev/null",
];

/// What is compared for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum IndexSide {
    /// The work tree with the index.
    WorkTree,
    /// The index with the last commit.
    Staged,
}

/// What `git diff OF...` prints in `cwd`. Changes nothing: git takes no lock.
pub(in crate::cli) fn difference(cwd: &Path, of: &[&str]) -> Result<Vec<u8>, CliError> {
    run(cwd, &[&["-M"], of].concat())
}

/// The difference that `git apply --cached` takes. Files in conflict have no part in it that could be applied.
pub(in crate::cli) fn of_index(cwd: &Path, side: IndexSide) -> Result<Vec<u8>, CliError> {
    let of: &[&str] = match side {
        IndexSide::WorkTree => &[],
        IndexSide::Staged => &["--cached", "--diff-filter=u"],
    };
    run(cwd, &[&["--no-renames"], of].concat())
}

/// The paths in conflict.
pub(in crate::cli) fn conflicted(cwd: &Path) -> Result<Vec<PathBuf>, CliError> {
    let listed = run(cwd, &["--cached", "--name-only", "-z", "--diff-filter=U"])?;
    Ok(paths(&listed))
}

/// The paths of [`of_index`] in the same order; of the work tree, also those in conflict.
pub(in crate::cli) fn changed(cwd: &Path, side: IndexSide) -> Result<Vec<PathBuf>, CliError> {
    let of: &[&str] = match side {
        IndexSide::WorkTree => &[],
        IndexSide::Staged => &["--cached", "--diff-filter=u"],
    };
    Ok(paths(&run(cwd, &[&["--no-renames", "--name-only", "-z"], of].concat())?))
}

fn paths(listed: &[u8]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = PathBuf::from(OsStr::from_bytes(name));
        // A path in conflict is listed for each comparison.
        if found.last() != Some(&name) {
            found.push(name);
        }
    }
    found
}

/// Of these paths, from the top of the work tree, those with a filter that is switched off here.
pub(in crate::cli) fn switched_off_filters(
    cwd: &Path,
    paths: &[PathBuf],
) -> Result<BTreeMap<PathBuf, String>, CliError> {
    let off = configured_filters(cwd)?;
    if off.is_empty() || paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut names = Vec::new();
    for path in paths {
        names.extend_from_slice(path.as_os_str().as_bytes());
        names.push(0);
    }
    let mut command = git(cwd);
    at_top(&mut command, cwd)?;
    command.args(["check-attr", "-z", "--stdin", "filter"]);
    let done = DiffOutput::with_input(&mut command, names, MOST_TEXT)?;
    if !done.success {
        return Err(CliError::new(first_line(&done.errors)));
    }
    let words: Vec<&[u8]> = done.output.split(|byte| *byte == 0).collect();
    let found = words.chunks_exact(3).filter_map(|row| match row {
        [path, _, filter] if off.contains(*filter) => {
            Some((PathBuf::from(OsStr::from_bytes(path)), String::from_utf8_lossy(filter).into_owned()))
        }
        _ => None,
    });
    Ok(found.collect())
}

/// Refuses a repository in which staging would write to another place: git follows a link in the place of the index or of
/// a directory of objects. What the environment names (`GIT_INDEX_FILE`, `GIT_OBJECT_DIRECTORY`) is the person's own
/// choice, and alternates are only read.
pub(in crate::cli) fn refuse_links_out(cwd: &Path) -> Result<(), CliError> {
    let own = |what: &str| {
        let dir = cwd.join(rev_parse(cwd, what)?);
        dir.canonicalize().map_err(|e| CliError::new(format!("cannot read `{}`: {e}", visible::path(&dir))))
    };
    // A linked worktree has its index in a directory of its own, and its objects with the others.
    let (own_dir, common) = (own("--git-dir")?, own("--git-common-dir")?);
    let is_named = |variable: &str| std::env::var_os(variable).is_some();
    let mut written = Vec::new();
    if !is_named("GIT_INDEX_FILE") {
        written.push(own_dir.join("index"));
    }
    let objects = common.join("objects");
    if !is_named("GIT_OBJECT_DIRECTORY") {
        written.push(objects.clone());
        let entries = std::fs::read_dir(&objects).into_iter().flatten().flatten();
        written.extend(entries.map(|entry| entry.path()));
    }
    for path in written.iter().filter(|path| path.is_symlink()) {
        // A link to what is not there yet would be followed, too.
        let to = path.canonicalize().or_else(|_| std::fs::read_link(path)).map_err(CliError::new)?;
        if !to.starts_with(&own_dir) && !to.starts_with(&common) {
            let (path, to) = (visible::path(path), visible::path(&to));
            return Err(CliError::new(format!(
                "`{path}` is a link that leads out of the repository, to `{to}`; placet does not stage through it"
            ))
            .hint("put the file or directory itself in the place of the link, or stage with git"));
        }
    }
    Ok(())
}

/// Gives a patch to the index, all of it or nothing. The work tree does not change.
pub(in crate::cli) fn apply_to_index(
    cwd: &Path,
    patch: Vec<u8>,
    direction: IndexDirection,
) -> Result<(), CliError> {
    refuse_links_out(cwd)?;
    let mut command = without_filters(cwd)?;
    at_top(&mut command, cwd)?;
    command.args(["-c", "apply.ignoreWhitespace=no", "apply", "--cached", "--whitespace=nowarn"]);
    command.args((direction == IndexDirection::Unstage).then_some("-R")).arg("-");
    let done = DiffOutput::with_input(&mut command, patch, MOST_TEXT)?;
    if done.success {
        return Ok(());
    }
    let error = CliError::new(format!("the index was not changed: {}", first_line(&done.errors)));
    Err(match done.errors.contains(".lock'") {
        true => error.hint("another git is running in this repository, or one ended early and left its lock"),
        false => error.hint("the index changed during the review; start the review again"),
    })
}

/// Runs `command` at the top of the work tree, because `git apply` takes no path outside of its directory, and with the
/// repository of `cwd`: with `core.worktree` the top may be in another repository, whose filters are not switched off.
fn at_top(command: &mut Command, cwd: &Path) -> Result<(), CliError> {
    let (repository, top) = (rev_parse(cwd, "--absolute-git-dir")?, rev_parse(cwd, "--show-toplevel")?);
    command.current_dir(&top).arg("--git-dir").arg(repository).arg("--work-tree").arg(top);
    Ok(())
}

fn rev_parse(cwd: &Path, what: &str) -> Result<PathBuf, CliError> {
    let done = DiffOutput::of(git(cwd).args(["rev-parse", what]), MOST_TEXT)?;
    match done.output.strip_suffix(b"\n") {
        Some(path) if done.success => Ok(PathBuf::from(OsStr::from_bytes(path))),
        _ => Err(CliError::new(first_line(&done.errors))),
    }
}

fn first_line(errors: &str) -> String {
    let line = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("git failed");
    let line = line.strip_prefix("error: ").or(line.strip_prefix("fatal: ")).unwrap_or(line);
    crate::text::sanitize::line(line).into_owned()
}

fn run(cwd: &Path, of: &[&str]) -> Result<Vec<u8>, CliError> {
    let mut command = without_filters(cwd)?;
    command.args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--binary"]);
    // Settings can change these, and a patch is read with them.
    command.args(["--src-prefix=a/", "--dst-prefix=b/", "--no-relative"]);
    // To see whether a submodule has changes, git would run another git there, with that repository's configuration.
    command.args(["-U1000000", "--ignore-submodules=dirty", "--submodule=short"]).args(of).arg("--");
    let done = DiffOutput::of(&mut command, MOST)?;
    if !done.success {
        if done.errors.to_ascii_lowercase().contains("not a git repository") {
            return Err(
                CliError::new("not a git repository").hint("pass a patch file, or `-` for standard input")
            );
        }
        return Err(CliError::new(first_line(&done.errors))
            .hint("`placet review` accepts revisions as `git diff` does, a patch file, or -"));
    }
    Ok(done.output)
}

fn git(cwd: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-pager", "--no-optional-locks"]).current_dir(cwd);
    for setting in OFF {
        command.args(["-c", setting]);
    }
    // Missing objects of a partial clone would be fetched, through whatever transport the remote names.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command.env("GIT_TERMINAL_PROMPT", "0").env_remove("GIT_EXTERNAL_DIFF");
    command
}

/// git in `cwd`, with the filters of its repository switched off. Any command that looks at files of the work tree
/// may run them, also one that only writes the index: it compares files that changed in the same moment as the index.
fn without_filters(cwd: &Path) -> Result<Command, CliError> {
    let mut command = git(cwd);
    for filter in configured_filters(cwd)? {
        for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
            let mut setting = b"filter.".to_vec();
            setting.extend_from_slice(&filter);
            setting.extend_from_slice(format!(".{key}={value}").as_bytes());
            command.arg("-c").arg(OsString::from_vec(setting));
        }
    }
    Ok(command)
}

/// The names of the filters that the repository itself defines, also in files that its configuration includes.
fn configured_filters(cwd: &Path) -> Result<BTreeSet<Vec<u8>>, CliError> {
    let list = ["config", "--null", "--name-only", "--list"];
    let scoped = DiffOutput::of(git(cwd).args(list).arg("--show-scope"), MOST_TEXT)?;
    // A git before 2.26 knows no scopes: then the person's own filters are switched off as well.
    let (names, step) = match scoped.success {
        true => (scoped.output, 2),
        false => (DiffOutput::of(git(cwd).args(list), MOST_TEXT)?.output, 1),
    };
    let words: Vec<&[u8]> = names.split(|b| *b == 0).collect();
    let mut filters = BTreeSet::new();
    for setting in words.chunks_exact(step) {
        let (scope, key) = match setting {
            [scope, key] => (*scope, *key),
            [key] => (&b"local"[..], *key),
            _ => continue,
        };
        if matches!(scope, b"global" | b"system") {
            continue;
        }
        let Some(rest) = key.strip_prefix(b"filter.") else { continue };
        let Some(dot) = rest.iter().rposition(|b| *b == b'.') else { continue };
        let name = rest.get(..dot).unwrap_or_default();
        if name.contains(&b'=') {
            let name = crate::text::sanitize::line(&String::from_utf8_lossy(name)).into_owned();
            return Err(CliError::new(format!(
                "the filter `{name}` of this repository cannot be switched off"
            ))
            .hint("its name contains `=`: rename or remove it in `.git/config`"));
        }
        filters.insert(name.to_vec());
    }
    Ok(filters)
}

/// What a thread reads from git, and how many bytes of it there are so far.
struct GitStream {
    whole: mpsc::Receiver<io::Result<Vec<u8>>>,
    bytes: Arc<AtomicU64>,
}

struct DiffOutput {
    success: bool,
    output: Vec<u8>,
    errors: String,
}

impl DiffOutput {
    fn of(command: &mut Command, most: u64) -> Result<DiffOutput, CliError> {
        DiffOutput::with_input(command, Vec::new(), most)
    }

    fn with_input(command: &mut Command, input: Vec<u8>, most: u64) -> Result<DiffOutput, CliError> {
        // Here and not by the callers: no git is started without it.
        if let Some(dir) = command.get_current_dir() {
            git_special_files::refuse(dir)?;
        }
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| {
            CliError::new(format!("`git` cannot be started: {e}"))
                .hint("pass a patch file, or - for standard input")
        })?;
        let readers = writer(child.stdin.take(), input)
            .and_then(|()| reader(child.stdout.take(), most))
            .and_then(|output| Ok((output, reader(child.stderr.take(), MOST_TEXT)?)));
        let (output, errors) = readers.map_err(|e| {
            stop(&mut child);
            CliError::new(format!("the output of `git` cannot be read: {e}"))
        })?;
        let mut wait = GitWait::new();
        let dir = command.get_current_dir().map(Path::to_path_buf);
        let mut wait = |from: &GitStream| -> Result<Vec<u8>, CliError> {
            wait.for_all_of(from).map_err(|stopped| {
                stop(&mut child);
                stopped.unwrap_or_else(|| overdue(dir.as_deref()))
            })
        };
        let output = wait(&output)?;
        if output.len() as u64 > most {
            stop(&mut child);
            return Err(CliError::new(format!("the diff has more than {most} bytes")).hint(
                "review a part of it: `git diff REV..REV -- PATH > part.diff; placet review part.diff`",
            ));
        }
        let errors = String::from_utf8_lossy(&wait(&errors)?).into_owned();
        let success = child.wait().map_err(CliError::new)?.success();
        Ok(DiffOutput { success, output, errors })
    }
}

/// A wait for what git writes, with its deadlines.
struct GitWait {
    began: Instant,
    /// When git last wrote something.
    heard: Instant,
    bytes: u64,
}

impl GitWait {
    fn new() -> GitWait {
        let now = Instant::now();
        GitWait { began: now, heard: now, bytes: 0 }
    }

    /// Everything that git writes to this stream; an error without a reason is a deadline that has passed.
    fn for_all_of(&mut self, stream: &GitStream) -> Result<Vec<u8>, Option<CliError>> {
        loop {
            match stream.whole.recv_timeout(LOOK) {
                Ok(read) => return read.map_err(|e| Some(CliError::new(e))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Some(CliError::new("the output of `git` cannot be read")));
                }
                Err(RecvTimeoutError::Timeout) => say_if_slow(),
            }
            let (now, bytes) = (Instant::now(), stream.bytes.load(Ordering::Relaxed));
            if bytes != self.bytes {
                (self.heard, self.bytes) = (now, bytes);
            }
            if now.duration_since(self.heard) > SILENCE || now.duration_since(self.began) > DEADLINE {
                return Err(None);
            }
        }
    }
}

/// Names once what placet waits for, where a person sees it: several runs of git come before a difference.
fn say_if_slow() {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    static SAID: Once = Once::new();
    let began = *FIRST.get_or_init(Instant::now);
    if began.elapsed() > SLOW && io::stderr().is_terminal() {
        SAID.call_once(|| warn("waiting for git; Ctrl-C stops"));
    }
}

fn overdue(dir: Option<&Path>) -> CliError {
    let (silence, all) = (SILENCE.as_secs(), DEADLINE.as_secs());
    let error = CliError::new(format!(
        "`git` did not answer: it may be silent for {silence} seconds and take {all} in all"
    ));
    match dir.and_then(git_special_files::search) {
        Some(pipe) => {
            error.hint(format!("`{}` is a named pipe, and git waits for it: remove it", visible::path(&pipe)))
        }
        None => {
            error.hint("git waits if a file that it reads is a pipe: search for pipes with `find . -type p`")
        }
    }
}

fn stop(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

/// Writes on a thread of its own; git may end before it has read everything.
fn writer(to: Option<impl Write + Send + 'static>, input: Vec<u8>) -> io::Result<()> {
    let Some(mut to) = to else { return Ok(()) };
    let write = move || drop(to.write_all(&input));
    std::thread::Builder::new().name("git input".into()).spawn(write).map(drop)
}

/// Reads on a thread of its own, so that neither pipe can fill while the other one is read.
fn reader(from: Option<impl Read + Send + 'static>, most: u64) -> io::Result<GitStream> {
    let (send, whole) = mpsc::channel();
    let bytes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&bytes);
    std::thread::Builder::new().name("git".into()).spawn(move || {
        let mut output = Vec::new();
        let read = from.map_or(Ok(0), |from| {
            io::copy(&mut from.take(most + 1), &mut CountedOutput { output: &mut output, count: &count })
        });
        drop(send.send(read.map(|_| output)));
    })?;
    Ok(GitStream { whole, bytes })
}

/// Counts what was read for the thread that waits.
struct CountedOutput<'a> {
    output: &'a mut Vec<u8>,
    count: &'a AtomicU64,
}

impl Write for CountedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        self.count.store(self.output.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
