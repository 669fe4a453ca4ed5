//! What the menu lists: commands, the words of an argument, files, pending changes, sessions.
//!
//! A list that needs the disk fills itself from a thread; what is short and known is there at once.

use crate::guidance::Guidance;
use crate::permission::Mode;
use crate::repl::commands::extensions::server_prompts::own_names;
use crate::repl::commands::{COMMANDS, menu_order};
use crate::repl::context::SlashCommand;
use crate::repl::prompt::file_list::file_list;
use crate::repl::titles::{short_id, when};
use crate::session::{SessionRow, SessionStore};
use crate::tools::ServerPool;
use crate::ui::picker::{PickerFeed, PickerItem, PickerSender};
use crate::workspace::{LayerKind, Workspace};
use std::sync::Arc;

/// Sessions that are listed.
const SESSIONS: usize = 1000;

/// Where the rows of a menu come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSource {
    Commands,
    /// The words of a command's row in the table.
    Words(&'static str),
    Files,
    /// Files, and resources of servers.
    Mentions,
    Pending,
    Sessions,
    Models,
    Tools,
}

impl ListSource {
    pub(super) fn of_argument(row: &SlashCommand) -> Option<ListSource> {
        match row.name {
            "help" => Some(ListSource::Commands),
            "view" => Some(ListSource::Files),
            "changes" | "apply" | "discard" | "review" => Some(ListSource::Pending),
            "resume" => Some(ListSource::Sessions),
            "model" => Some(ListSource::Models),
            "tools" => Some(ListSource::Tools),
            _ => (!(row.words)().is_empty()).then_some(ListSource::Words(row.name)),
        }
    }
}

/// What the lists are made of while a line is typed.
#[derive(Clone)]
pub(in crate::repl) struct MenuSources {
    pub(in crate::repl) workspace: Workspace,
    pub(in crate::repl) store: Option<SessionStore>,
    /// Names of models, and of whom they are.
    pub(in crate::repl) models: Arc<Vec<(String, String)>>,
    /// The command that the conversation cannot do without.
    pub(in crate::repl) needed: Option<&'static str>,
    pub(in crate::repl) tools: Arc<Vec<String>>,
    /// Commands and skills, read when a list of commands is opened.
    pub(in crate::repl) guidance: Arc<Guidance>,
    /// Servers, whose stored lists name prompts and resources.
    pub(in crate::repl) servers: ServerPool,
}

/// The rows of a menu.
pub(super) enum MenuRows {
    Known(Vec<Arc<PickerItem>>),
    Filling(PickerFeed),
}

impl MenuSources {
    pub(super) fn rows(&self, source: ListSource) -> MenuRows {
        match source {
            ListSource::Commands => {
                let own = own_names(&self.guidance, &self.servers).into_iter();
                let own = own.filter(|custom| !COMMANDS.iter().any(|row| row.name == custom.name));
                let own = own.map(|custom| PickerItem::new(custom.name, custom.about));
                let item = |item: PickerItem| {
                    let order = menu_order(&item.text, self.needed);
                    item.with_order(order)
                };
                let rows = COMMANDS.iter().map(|row| PickerItem::new(row.name, row.help));
                known(rows.chain(own).map(item))
            }
            ListSource::Words("mode") => {
                known(Mode::ALL.into_iter().map(|mode| PickerItem::new(mode.name(), mode.meaning())))
            }
            ListSource::Words(name) => {
                let row = COMMANDS.iter().find(|row| row.name == name);
                known(row.map(|row| (row.words)()).unwrap_or_default().into_iter().map(plain))
            }
            ListSource::Models => {
                let models = self.models.iter().map(|(model, of)| PickerItem::new(model, of));
                known(models.chain([PickerItem::new("pick", "choose from a list of all providers")]))
            }
            ListSource::Tools => known(self.tools.iter().map(|name| plain(name.clone()))),
            ListSource::Files => MenuRows::Filling(file_list(&self.workspace, &ServerPool::default())),
            ListSource::Mentions => MenuRows::Filling(file_list(&self.workspace, &self.servers)),
            ListSource::Pending => {
                let workspace = self.workspace.clone();
                filled(move |sender| sender.push(pending(&workspace)))
            }
            ListSource::Sessions => {
                let store = self.store.clone();
                filled(move |sender| sender.push(sessions(store.as_ref())))
            }
        }
    }
}

fn known(items: impl Iterator<Item = PickerItem>) -> MenuRows {
    MenuRows::Known(items.map(Arc::new).collect())
}

fn plain(word: String) -> PickerItem {
    PickerItem::new(word, "")
}

/// A list that a thread fills. Where no thread can be started, it is empty.
fn filled(fill: impl FnOnce(PickerSender) + Send + 'static) -> MenuRows {
    let feed = PickerFeed::default();
    let sender = feed.sender();
    drop(std::thread::Builder::new().name("menu".into()).spawn(move || fill(sender)));
    MenuRows::Filling(feed)
}

fn pending(workspace: &Workspace) -> Vec<PickerItem> {
    let changes = workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok()).unwrap_or_default();
    let names = changes.changes.iter().map(|change| workspace.shortened(&change.path));
    // A name that is no text cannot be typed.
    names.filter_map(|name| name.to_str().map(|name| plain(name.into()))).collect()
}

fn sessions(store: Option<&SessionStore>) -> Vec<PickerItem> {
    let rows = store.and_then(|store| store.list(SESSIONS).ok()).unwrap_or_default();
    let item = |(at, row): (usize, &SessionRow)| {
        let note = format!("{}  {}", when(row.updated), short_id(&row.id));
        PickerItem::new(&row.title, note).with_value(row.id.to_string()).with_order(at)
    };
    rows.iter().enumerate().map(item).collect()
}
