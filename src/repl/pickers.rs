//! Lists to choose from: files, commands, sessions, models, earlier lines.
//!
//! The list itself is `ui::picker`; here is what goes in and what becomes of what is taken.

use super::Shell;
use super::command_table::COMMANDS;
use super::path_completion::PathCompletions;
use super::prompt::UnfinishedLine;
use super::session::when;
use crate::provider::ProviderPreset;
use crate::session::{BranchTree, SessionBranch, SessionHit};
use crate::text::{sanitize, visible};
use crate::ui::picker::{KEYS, Picker, PickerFeed, PickerItem, PickerPreview, PickerSender};
use crate::ui::viewer;
use crate::workspace::{LayerKind, OpenConsent, Workspace};
use ignore::WalkBuilder;
use ratatui::text::Line;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files that go into the list together: few at first, so that there is something to see at once.
const FEW: usize = 64;
const BATCH: usize = 2000;
const MOMENT: Duration = Duration::from_millis(20);
/// Files listed at most, and lines of the history.
const FILES: usize = 500_000;
const LINES: usize = 20_000;
/// Bytes of a file that are previewed.
const PREVIEW: u64 = 32 << 10;
/// Entries of a typed directory found beyond the list.
const BEYOND: usize = 500;

/// True where a screen can be shown and keys can be read.
pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

impl Shell<'_> {
    fn picker<'h>(&self, title: &str, feed: PickerFeed) -> Picker<'h> {
        Picker::new(title, feed, &self.theme, self.keymap("picker", KEYS))
    }

    fn pick(&self, mut picker: Picker<'_>) -> Vec<String> {
        self.show(&mut picker);
        picker.taken()
    }

    /// Ctrl-P: a command where one is being typed, else files.
    pub(super) fn pick_into(&self, typed: UnfinishedLine) -> UnfinishedLine {
        match typed.before.strip_prefix('/') {
            Some(name) if !name.contains(char::is_whitespace) => self.pick_command(&typed, name),
            _ => self.pick_files(typed),
        }
    }

    fn pick_command(&self, typed: &UnfinishedLine, name: &str) -> UnfinishedLine {
        let item = |row: &super::SlashCommand| {
            let note = format!("{}  {}", row.arguments, row.help);
            PickerItem::new(format!("/{}", row.name), note.trim()).with_value(row.name)
        };
        let feed = PickerFeed::of(COMMANDS.iter().map(item).collect());
        match self.pick(self.picker("Commands", feed).with_query(name)).first() {
            Some(name) => UnfinishedLine { before: format!("/{name} "), after: typed.after.clone() },
            None => typed.clone(),
        }
    }

    fn pick_files(&self, typed: UnfinishedLine) -> UnfinishedLine {
        let workspace = self.seen_through();
        let feed = PickerFeed::default();
        walk(&workspace, feed.sender());
        let word = typed.before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let (lead, word) = typed.before.split_at(word);
        let mention = word.strip_prefix('@').map(|path| path.trim_start_matches('"'));
        let (beyond, root) = (PathCompletions::new(workspace.cwd()), workspace.clone());
        let hidden = move |path: &str| root.is_hidden(&root.cwd().join(path));
        let picker = self
            .picker("Files", feed)
            .several()
            .with_query(mention.unwrap_or(""))
            .with_preview(move |item| preview(&workspace, item))
            .with_beyond(move |query| {
                let found = beyond.typed_out(query).into_iter().filter(|path| !hidden(path));
                found
                    .take(BEYOND)
                    .map(|path| PickerItem::new(path, "ignored, or hidden by its name"))
                    .collect()
            });
        let taken = self.pick(picker);
        if taken.is_empty() {
            return typed;
        }
        // A command takes a path as it is; in what is said, `@` makes it a file.
        let sign = if typed.before.starts_with('/') { "" } else { "@" };
        let quoted = |path: &String| match path.contains(char::is_whitespace) {
            true => format!("{sign}\"{path}\""),
            false => format!("{sign}{path}"),
        };
        let words = taken.iter().map(quoted).collect::<Vec<_>>().join(" ");
        let before = match mention {
            Some(_) => lead.to_string(),
            None if word.is_empty() || word.ends_with('(') => typed.before.clone(),
            None => format!("{} ", typed.before),
        };
        let gap = if typed.after.starts_with(char::is_whitespace) { "" } else { " " };
        UnfinishedLine { before: format!("{before}{words}{gap}"), after: typed.after }
    }

    /// A session's name.
    pub(super) fn pick_session(&self) -> Option<String> {
        let rows = self.store.as_ref().and_then(|store| store.list(LINES).ok()).unwrap_or_default();
        let item = |row: &crate::session::SessionRow| {
            let note = format!("{}  {}", when(row.updated), super::session::short_id(&row.id));
            let pin = if row.pinned { "pinned: " } else { "" };
            PickerItem::new(format!("{pin}{}", row.title), note).with_value(row.id.to_string())
        };
        let feed = PickerFeed::of(rows.iter().map(item).collect());
        let about = |item: &PickerItem| {
            let Some(row) = rows.iter().find(|row| row.id.as_str() == item.value()) else {
                return PickerPreview::default();
            };
            let text = format!(
                "{}\n\nstarted    {}\nlast used  {}\nentries    {}\ndirectory  {}\nname       {}",
                visible::line(&row.title),
                when(row.created),
                when(row.updated),
                row.entries,
                visible::path(&row.cwd),
                row.id
            );
            let drawn = text.lines().map(|line| Line::raw(visible::guard_line(line).into_owned())).collect();
            PickerPreview { drawn, ..PickerPreview::default() }
        };
        let picker = self.picker("Sessions", feed).with_preview(about);
        self.pick(picker).into_iter().next()
    }

    /// A branch's number.
    pub(super) fn pick_branch(&self, tree: &BranchTree) -> Option<String> {
        let item = |branch: &SessionBranch| {
            let note = if branch.here.is_some() { "* you are here" } else { "" };
            PickerItem::new(super::branches::words(branch), note).with_value(branch.number.to_string())
        };
        let feed = PickerFeed::of(tree.branches.iter().map(item).collect());
        self.pick(self.picker("Branches", feed)).into_iter().next()
    }

    /// The session that a hit of a search is in.
    pub(super) fn pick_hit(&self, hits: &[SessionHit]) -> Option<String> {
        let item = |hit: &SessionHit| {
            PickerItem::new(hit.marked("«", "»"), hit.title.clone()).with_value(hit.session.clone())
        };
        let feed = PickerFeed::of(hits.iter().map(item).collect());
        let about = |item: &PickerItem| PickerPreview { text: item.text.clone(), ..PickerPreview::default() };
        self.pick(self.picker("Found", feed).with_preview(about)).into_iter().next()
    }

    /// A provider and a model that are known by name; who answers now is first.
    pub(super) fn pick_model(&self) -> Option<(String, String)> {
        let config = self.app.config();
        let own = config.provider_names();
        let own_model = |name: &str| config.provider(name).model;
        let mut pairs: Vec<(String, Option<String>, &str)> =
            own.iter().map(|name| (name.clone(), own_model(name), "from your settings")).collect();
        for preset in ProviderPreset::all().iter().filter(|preset| !own.contains(&preset.name)) {
            let note = match std::env::var_os(&preset.key_variable) {
                Some(_) => "its key is set",
                None if preset.key == crate::provider::ApiKeyRequirement::Required => "no key yet",
                None => "needs no key",
            };
            pairs.push((preset.name.clone(), preset.default_model.clone(), note));
        }
        pairs.push(("offline".into(), Some("offline".into()), "built in"));
        // Who answers now is first, with the model that does.
        let (provider, model) = super::commands::current(self);
        if let Some(at) = pairs.iter().position(|(name, ..)| *name == provider) {
            pairs.remove(at);
            pairs.insert(0, (provider, Some(model), "in use"));
        }
        let item = |(provider, model, note): &(String, Option<String>, &str)| {
            let model = model.as_deref().unwrap_or("");
            PickerItem::new(format!("{provider} {model}").trim_end(), *note)
                .with_value(format!("{provider} {model}"))
        };
        let feed = PickerFeed::of(pairs.iter().map(item).collect());
        let taken = self.pick(self.picker("Models", feed)).into_iter().next()?;
        taken.split_once(' ').map(|(provider, model)| (provider.to_string(), model.to_string()))
    }

    /// A line of the history, all sessions together, the newest first.
    pub(super) fn pick_line(&self) -> Option<String> {
        let lines = self.store.as_ref().and_then(|store| store.history(LINES).ok()).unwrap_or_default();
        let mut seen = std::collections::HashSet::new();
        let lines = lines.into_iter().rev().filter(|line| line.line.trim() != "/history");
        let items = lines.filter(|line| seen.insert(line.line.clone())).map(|line| {
            let place = Path::new(&line.cwd).file_name().unwrap_or_default().to_string_lossy().into_owned();
            PickerItem::new(line.line.replace('\n', " ⏎ "), place).with_value(line.line)
        });
        let feed = PickerFeed::of(items.collect());
        let picker = self.picker("History", feed).with_preview(|item| PickerPreview {
            text: item.value().to_string(),
            ..PickerPreview::default()
        });
        self.pick(picker).into_iter().next()
    }
}

/// Lists the files below the working directory from a thread of its own, until the list is closed.
fn walk(workspace: &Workspace, feed: PickerSender) {
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
        for change in pending.changes.iter().filter(|c| c.before.is_absent() && c.after.is_file()) {
            if let Some(text) = change.path.strip_prefix(&root).ok().and_then(|path| path.to_str()) {
                batch.push(PickerItem::new(text, "pending").with_order(text.matches('/').count()));
            }
        }
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

/// Without the beginning of a letter that was cut off with the rest of the file.
fn whole_letters(mut bytes: Vec<u8>, size: u64) -> Vec<u8> {
    if let Err(e) = std::str::from_utf8(&bytes)
        && e.error_len().is_none()
        && size > bytes.len() as u64
    {
        bytes.truncate(e.valid_up_to());
    }
    bytes
}

/// The beginning of a file, as the conversation has it; the names in a directory.
fn preview(workspace: &Workspace, item: &PickerItem) -> PickerPreview {
    let plain = |text: String| PickerPreview { text, ..PickerPreview::default() };
    let Ok(at) = workspace.resolve(item.value()) else { return PickerPreview::default() };
    if workspace.is_dir(&at.path) {
        let names = workspace.names_in(&at.path, 200);
        let drawn = names.iter().map(|name| Line::raw(sanitize::name(name).into_owned())).collect();
        return PickerPreview { drawn, ..PickerPreview::default() };
    }
    let mut opened = match workspace.open(&at, OpenConsent::Prepared) {
        Ok(opened) => opened,
        Err(e) => return plain(e.to_string()),
    };
    let mut bytes = Vec::new();
    if let Err(e) = (&mut opened.file).take(PREVIEW).read_to_end(&mut bytes) {
        return plain(e.to_string());
    }
    let size = opened.size;
    match memchr::memchr(0, &bytes) {
        Some(_) => {
            plain(format!("not text: {} of {size} bytes", crate::tools::data_kind(&bytes).unwrap_or("data")))
        }
        None => match String::from_utf8(whole_letters(bytes, size)) {
            Ok(text) => {
                PickerPreview { text, language: item.value().to_string(), ..PickerPreview::default() }
            }
            Err(e) => {
                let lines = e.as_bytes().split(|byte| *byte == b'\n').take(200);
                PickerPreview { drawn: lines.map(viewer::exact).collect(), ..PickerPreview::default() }
            }
        },
    }
}
