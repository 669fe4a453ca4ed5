//! The files of the workspace as a list to choose from: for `@` while it is typed, and for Ctrl-P.

use super::path_completion::PathCompletions;
use crate::mcp::ServerDefinition;
use crate::tools::ServerPool;
use crate::ui::picker::{PickerFeed, PickerItem, PickerSender};
use crate::workspace::{FileChange, LayerKind, Workspace};
use ignore::WalkBuilder;
use std::time::{Duration, Instant};

/// Files that go into the list together: few at first, so that there is something to see at once.
const FEW: usize = 64;
const BATCH: usize = 2000;
const MOMENT: Duration = Duration::from_millis(20);
/// Files listed at most.
const FILES: usize = 500_000;
/// Where resources of servers are in the list: after files that are near.
const RESOURCE: usize = 20;
/// Entries of a typed directory found beyond the list.
const BEYOND: usize = 500;

/// A list that fills itself. What is ignored is found when it is typed out.
pub(super) fn file_list(workspace: &Workspace, servers: &ServerPool) -> PickerFeed {
    let feed = PickerFeed::default();
    walk(workspace, servers.clone(), feed.sender());
    let (beyond, root) = (PathCompletions::new(workspace.cwd()), workspace.clone());
    let hidden = move |path: &str| root.is_hidden(&root.cwd().join(path));
    let servers = servers.clone();
    feed.with_beyond(Box::new(move |query| {
        let completed =
            completions(&servers, query).into_iter().map(|text| PickerItem::new(text, "resource"));
        let found = beyond.typed_out(query).into_iter().filter(|path| !hidden(path));
        let found = found.take(BEYOND).map(|path| PickerItem::new(path, "ignored, or hidden by its name"));
        completed.chain(found).collect()
    }));
    feed
}

/// The resources of servers as a mention names them, with a description. Stored lists are read, and no server is started.
pub(super) fn resources(servers: &ServerPool) -> Vec<(String, String)> {
    let enabled = servers.definitions().filter(|definition| definition.is_enabled);
    let of_server = |definition: &ServerDefinition| {
        let known = servers.status(&definition.name).known.unwrap_or_default();
        let name = definition.name.clone();
        let offers = known.offers;
        let templates = offers.templates.into_iter().map(|one| {
            let about = format!("{} ({})", one.about, one.uri);
            (one.beginning().to_string(), about)
        });
        let all = offers.resources.into_iter().map(|one| (one.uri, one.about)).chain(templates);
        all.map(move |(uri, about)| (format!("{name}:{uri}"), about))
    };
    enabled.flat_map(of_server).collect()
}

/// What a mention of a resource could become, by the server itself.
fn completions(servers: &ServerPool, typed: &str) -> Vec<String> {
    let Some((server, uri)) = typed.split_once(':') else { return Vec::new() };
    servers.completions(server, uri).into_iter().map(|uri| format!("{server}:{uri}")).collect()
}

/// Lists the files below the working directory from a thread of its own, until the list is closed.
fn walk(workspace: &Workspace, servers: ServerPool, feed: PickerSender) {
    let workspace = workspace.clone();
    let work = move || {
        // Hidden files are listed, except `.git`; a `.gitignore` counts outside of a repository, too.
        let root = workspace.cwd().to_path_buf();
        let walk = WalkBuilder::new(&root)
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        let (mut batch, mut told, mut count) = (Vec::new(), Instant::now(), 0);
        // What is pending is there for the model already: new files are listed, those that go are not.
        let pending =
            workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok()).unwrap_or_default();
        // What git stores is nothing to mention: an object has a hash for a name, and compressed bytes.
        let is_new = |c: &&FileChange| {
            c.before.is_absent() && c.after.is_file() && pending.repository_of(&c.path).is_none()
        };
        for change in pending.changes.iter().filter(is_new) {
            if let Some(text) = change.path.strip_prefix(&root).ok().and_then(|path| path.to_str()) {
                batch.push(PickerItem::new(text, "pending").with_order(text.matches('/').count()));
            }
        }
        let of_server = |(named, about): (String, String)| PickerItem::new(named, about).with_order(RESOURCE);
        batch.extend(resources(&servers).into_iter().map(of_server));
        for entry in walk.flatten() {
            if pending.get(entry.path()).is_some_and(|change| change.after.is_absent()) {
                continue;
            }
            if count >= FILES || feed.is_closed() {
                break;
            }
            let Ok(relative) = entry.path().strip_prefix(&root) else { continue };
            // A name that is no text cannot be typed.
            let Some(text) = relative.to_str().filter(|text| !text.is_empty()) else { continue };
            if workspace.is_hidden(entry.path()) {
                continue;
            }
            let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
            // What is near comes first, what is hidden by its name last.
            let dotted = if text.split('/').any(|part| part.starts_with('.')) { 100 } else { 0 };
            let order = text.matches('/').count() + dotted;
            batch.push(PickerItem::new(format!("{text}{slash}"), "").with_order(order));
            count += 1;
            if batch.len() >= BATCH || count < FEW * 4 && batch.len() >= FEW || told.elapsed() > MOMENT {
                feed.push(std::mem::take(&mut batch));
                told = Instant::now();
            }
        }
        feed.push(batch);
    };
    // Where no thread can be started, the list ends with `feed`, which is dropped.
    drop(std::thread::Builder::new().name("files".into()).spawn(work));
}
