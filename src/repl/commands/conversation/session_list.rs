//! The list of sessions as a picker: its lists and orders, and what becomes of a new name and of a deletion.

use crate::repl::context::CommandContext;
use crate::repl::session_rows::{SessionListRow, SessionListing};
use crate::repl::titles::{now, short_id, title_of};
use crate::session::{OpenSession, SessionStore};
use crate::text::{count, visible};
use crate::ui::picker::{PickerItem, PickerOwner, PickerRefusal, PickerScope};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

const ORDERS: [&str; 3] = ["newest first", "by title", "pending first"];

/// The sessions that a list shows, which its preview looks at as well.
pub(in crate::repl::commands) type SharedListing = Rc<RefCell<SessionListing>>;

/// The sessions of a picker.
pub(in crate::repl::commands) struct SessionList<'c> {
    pub(in crate::repl::commands) context: &'c CommandContext<'c>,
    pub(in crate::repl::commands) store: SessionStore,
    pub(in crate::repl::commands) listing: SharedListing,
    /// Reads the sessions again.
    pub(in crate::repl::commands) read: Box<dyn Fn() -> SessionListing + 'c>,
    /// Columns that a row has.
    pub(in crate::repl::commands) room: usize,
}

/// The lists that a person can go through, without those that show nothing more than the one before.
pub(in crate::repl::commands) fn scopes_of(
    listing: &SessionListing,
    order: usize,
    room: usize,
) -> Vec<PickerScope> {
    let now = now();
    let item = |one: &SessionListRow| {
        PickerItem::new(one.title(), one.picker_columns(now, room))
            .with_value(one.row.id.to_string())
            .rendered()
    };
    let with_place = |one: &SessionListRow| {
        let here = if one.is_here { String::new() } else { format!("  {}", visible::path(&one.row.cwd)) };
        let title = item(one);
        PickerItem { note: format!("{}{here}", title.note), ..title }
    };
    let scope = |name: &str, short_name: &str, items: Vec<PickerItem>| {
        let items = items.into_iter().enumerate().map(|(at, item)| item.with_order(at)).collect();
        PickerScope { name: name.into(), short_name: short_name.into(), items }
    };
    let sorted = |rows: Vec<&SessionListRow>, item: &dyn Fn(&SessionListRow) -> PickerItem| {
        let mut rows = rows;
        match order {
            1 => rows.sort_by_cached_key(|one| one.row.title.to_lowercase()),
            2 => rows.sort_by_key(|one| Reverse(one.pending)),
            _ => {}
        }
        rows.into_iter().map(item).collect()
    };
    let mut scopes = vec![
        scope("only this directory", "here", sorted(listing.here.iter().collect(), &item)),
        scope("all directories", "all", sorted(listing.conversations().collect(), &with_place)),
        scope("also -p runs", "-p runs", sorted(listing.all().collect(), &with_place)),
    ];
    scopes.dedup_by_key(|scope| scope.items.len());
    if scopes.len() > 1 {
        scopes.retain(|scope| !scope.items.is_empty());
    }
    scopes
}

impl SessionList<'_> {
    fn row(&self, value: &str) -> Option<SessionListRow> {
        self.listing.borrow().all().find(|one| one.row.id.as_str() == value).cloned()
    }

    fn found(&self, value: &str) -> Result<SessionListRow, PickerRefusal> {
        self.row(value).ok_or_else(|| PickerRefusal(format!("the session {value} is not there any more")))
    }
}

impl PickerOwner for SessionList<'_> {
    fn name_of(&self, value: &str) -> String {
        // A stored title is visible text already: rendered again, it would get longer with each renaming.
        self.row(value).map(|one| visible::guard_line(&one.row.title).into_owned()).unwrap_or_default()
    }

    fn rename(&self, value: &str, name: &str) -> Result<(), PickerRefusal> {
        if name == self.name_of(value) {
            return Ok(());
        }
        let title = title_of(name);
        if title.is_empty() {
            return Err(PickerRefusal("the title is empty: the name stays".into()));
        }
        let renamed = self.store.rename(&self.found(value)?.row.id, &title);
        renamed.map_err(|e| PickerRefusal(format!("not renamed: {e}")))
    }

    fn delete_question(&self, value: &str) -> Result<String, PickerRefusal> {
        let SessionListRow { row, overview, pending, .. } = self.found(value)?;
        if self.context.conversation.session().map(OpenSession::id) == Some(&row.id) {
            return Err(PickerRefusal("this conversation is open: /new first, then delete it".into()));
        }
        let turns = count::of(overview.turns, "turn");
        let pending = match pending {
            0 => String::new(),
            pending => format!(
                " Not deleted with it: {} (`placet changes --session {}`).",
                count::of(pending, "pending change"),
                short_id(&row.id)
            ),
        };
        let title = visible::guard_line(&row.title);
        Ok(format!("Delete `{title}` ({turns}) for good?{pending} y deletes it, any other key keeps it"))
    }

    fn delete(&self, value: &str) -> Result<(), PickerRefusal> {
        let deleted = self.store.delete(&self.found(value)?.row.id);
        deleted.map_err(|e| PickerRefusal(format!("not deleted: {e}")))
    }

    fn orders(&self) -> &'static [&'static str] {
        &ORDERS
    }

    fn scopes(&self, order: usize) -> Vec<PickerScope> {
        *self.listing.borrow_mut() = (self.read)();
        scopes_of(&self.listing.borrow(), order, self.room)
    }
}
