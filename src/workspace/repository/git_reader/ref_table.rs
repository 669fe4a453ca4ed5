//! Refs of a large `packed-refs` that is not sorted, in memory: their names in one piece, and sorted places in it.

use super::object_id::ObjectId;

#[derive(Default)]
pub(super) struct RefTable {
    names: Vec<u8>,
    rows: Vec<RefTableRow>,
}

struct RefTableRow {
    /// Where the name begins in `names`, and its length.
    begin: u32,
    len: u32,
    id: ObjectId,
}

impl RefTable {
    /// `None` where the names have more than 4 GiB, or where two refs have one name.
    pub(super) fn of(refs: impl Iterator<Item = (Vec<u8>, ObjectId)>) -> Option<RefTable> {
        let mut table = RefTable::default();
        for (name, id) in refs {
            let (begin, len) = (u32::try_from(table.names.len()).ok()?, u32::try_from(name.len()).ok()?);
            table.names.extend_from_slice(&name);
            table.rows.push(RefTableRow { begin, len, id });
        }
        let RefTable { names, rows } = &mut table;
        rows.sort_unstable_by(|a, b| name_of(names, a).cmp(name_of(names, b)));
        let mut pairs = rows.iter().zip(rows.iter().skip(1));
        let is_twice = pairs.any(|(a, b)| name_of(names, a) == name_of(names, b));
        (!is_twice).then_some(table)
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<ObjectId> {
        let at = self.rows.binary_search_by(|row| name_of(&self.names, row).cmp(name)).ok()?;
        self.rows.get(at).map(|row| row.id)
    }

    /// The ref with this number, in the order of the names.
    pub(super) fn at(&self, number: usize) -> Option<(&[u8], ObjectId)> {
        self.rows.get(number).map(|row| (name_of(&self.names, row), row.id))
    }
}

fn name_of<'n>(names: &'n [u8], row: &RefTableRow) -> &'n [u8] {
    let at = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    names.get(at(row.begin)..at(row.begin).saturating_add(at(row.len))).unwrap_or_default()
}
