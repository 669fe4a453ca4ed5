//! The objects of a repository in one state: loose ones and those in packs.

use super::budget::{DEEPEST_DELTA, LARGEST_OBJECT, ReadBudget, ReadLimit};
use super::delta;
use super::object_id::ObjectId;
use super::pack::{Pack, PackEntry};
use super::repository_files::{RepositoryFiles, exists, read};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Packs that are looked at. A repository with more has not been repacked for years.
const MOST_PACKS: usize = 1_000;

/// An object by its kind, whose content has the name under which it was found.
pub(super) struct GitObject {
    pub(super) kind: &'static str,
    pub(super) content: Vec<u8>,
}

/// Size of the cache for objects of packs, in bytes. The cache helps because many objects share the bases of deltas.
const CACHED: usize = 8 << 20;

/// By the number of the pack and the place in it.
#[derive(Default)]
struct PackedObjects {
    objects: BTreeMap<(usize, u64), Rc<GitObject>>,
    bytes: usize,
}

pub(super) struct ObjectReader<'a> {
    files: &'a dyn RepositoryFiles,
    /// The directory `objects`.
    dir: PathBuf,
    packs: OnceCell<Vec<Pack>>,
    packed: RefCell<PackedObjects>,
    budget: &'a ReadBudget,
    width: usize,
}

impl<'a> ObjectReader<'a> {
    /// `width`: bytes of a name.
    pub(super) fn new(
        files: &'a dyn RepositoryFiles,
        git_dir: &Path,
        width: usize,
        budget: &'a ReadBudget,
    ) -> ObjectReader<'a> {
        ObjectReader {
            files,
            dir: git_dir.join("objects"),
            packs: OnceCell::new(),
            packed: RefCell::default(),
            budget,
            width,
        }
    }

    fn loose(&self, id: &ObjectId) -> PathBuf {
        let hex = id.to_hex();
        let (dir, name) = hex.split_at_checked(2).unwrap_or_default();
        self.dir.join(dir).join(name)
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| {
            let dir = self.dir.join("pack");
            let mut names = self.files.names(&dir);
            names.retain(|name| Path::new(name).extension() == Some("idx".as_ref()));
            if names.len() > MOST_PACKS {
                self.budget.reach(ReadLimit::Packs);
            }
            let names = names.into_iter().take(MOST_PACKS).take_while(|_| self.budget.has_time());
            names.filter_map(|name| Pack::open(self.files, &dir.join(name), self.width)).collect()
        })
    }

    /// True where this state has the object.
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        exists(self.files, &self.loose(id)) || self.packs().iter().any(|pack| pack.find(id).is_some())
    }

    /// True where this state has the object in another place than in the pack with the index at `index`.
    pub(super) fn has_elsewhere(&self, id: &ObjectId, index: &Path) -> bool {
        let others = || self.packs().iter().filter(|pack| !pack.is_of(index));
        exists(self.files, &self.loose(id)) || others().any(|pack| pack.find(id).is_some())
    }

    /// True where the repository does not have all of its objects: it borrows some, or gets them when they are needed.
    pub(super) fn lacks_objects(&self) -> bool {
        let is_promise = |name: &OsString| Path::new(name).extension() == Some("promisor".as_ref());
        exists(self.files, &self.dir.join("info/alternates"))
            || self.files.names(&self.dir.join("pack")).iter().any(is_promise)
    }

    /// True where the pack with the index at `index` has under each name that `counts` the object of that name.
    pub(super) fn holds_what_it_names(&self, index: &Path, counts: &dyn Fn(&ObjectId) -> bool) -> bool {
        let found = self.packs().iter().enumerate().find(|(_, pack)| pack.is_of(index));
        found.is_some_and(|(number, pack)| {
            (0..pack.count()).all(|at| {
                let Some(id) = pack.name(at) else { return false };
                let holds = || {
                    let object = self.read_packed(number, pack.place(at)?, 0)?;
                    Some(id.names(object.kind, &object.content))
                };
                self.budget.has_time() && (!counts(&id) || holds() == Some(true))
            })
        })
    }

    /// The objects whose names begin with `short`, in hexadecimal.
    pub(super) fn of_short_name(&self, short: &[u8]) -> Vec<ObjectId> {
        let Ok(short) = std::str::from_utf8(short) else { return Vec::new() };
        let short = short.to_ascii_lowercase();
        let (dir, rest) = short.split_at_checked(2).unwrap_or_default();
        let names = self.files.names(&self.dir.join(dir)).into_iter();
        let loose = names.filter_map(|name| {
            let name = name.to_str().filter(|name| name.starts_with(rest))?;
            ObjectId::from_hex(format!("{dir}{name}").as_bytes())
        });
        let packed = self.packs().iter().flat_map(|pack| pack.names_after(&short));
        loose.chain(packed).collect()
    }

    /// The object of that name. `None`: it is missing, damaged, no object of that name, or over a bound.
    pub(super) fn get(&self, id: &ObjectId) -> Option<GitObject> {
        // git has the empty tree without storing it.
        if *id == ObjectId::of("tree", b"", id.width()) {
            return Some(GitObject { kind: "tree", content: Vec::new() });
        }
        let object = self.read_loose(id).or_else(|| {
            let packs = self.packs().iter().enumerate();
            let (number, at) = packs.filter_map(|(number, pack)| Some((number, pack.find(id)?))).next()?;
            let object = self.read_packed(number, at, 0)?;
            Some(GitObject { kind: object.kind, content: object.content.clone() })
        })?;
        id.names(object.kind, &object.content).then_some(object)
    }

    /// The object, if it is of that kind.
    pub(super) fn get_of(&self, id: &ObjectId, kind: &str) -> Option<Vec<u8>> {
        self.get(id).filter(|object| object.kind == kind).map(|object| object.content)
    }

    fn read_loose(&self, id: &ObjectId) -> Option<GitObject> {
        let packed = read(self.files, &self.loose(id), LARGEST_OBJECT as u64)?;
        let mut bytes = decompress_to_vec_zlib_with_limit(&packed, LARGEST_OBJECT).ok()?;
        if !self.budget.take_bytes(bytes.len()) {
            return None;
        }
        // Kind, blank, size, zero.
        let end = memchr::memchr(0, bytes.get(..32.min(bytes.len()))?)?;
        let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
        let (kind, size) = head.split_once(' ')?;
        let kind = ["commit", "tree", "blob", "tag"].into_iter().find(|known| *known == kind)?;
        let size = size.parse::<usize>().ok();
        let content = bytes.split_off(end + 1);
        (size == Some(content.len())).then_some(GitObject { kind, content })
    }

    fn read_packed(&self, number: usize, at: u64, depth: usize) -> Option<Rc<GitObject>> {
        if let Some(known) = self.packed.borrow().objects.get(&(number, at)) {
            return Some(Rc::clone(known));
        }
        if depth > DEEPEST_DELTA {
            return None;
        }
        let pack = self.packs().get(number)?;
        let (base, change) = match pack.entry(self.files, at, self.budget)? {
            PackEntry::Whole(kind, content) => {
                return Some(self.keep((number, at), GitObject { kind, content }));
            }
            _ if !self.budget.take_delta() => return None,
            PackEntry::DeltaAt(base, change) => (base, change),
            PackEntry::DeltaTo(id, change) => (pack.find(&id)?, change),
        };
        let base = self.read_packed(number, base, depth + 1)?;
        let content = delta::apply(&base.content, &change)?;
        let fits = self.budget.take_bytes(content.len());
        fits.then(|| self.keep((number, at), GitObject { kind: base.kind, content }))
    }

    fn keep(&self, place: (usize, u64), object: GitObject) -> Rc<GitObject> {
        let object = Rc::new(object);
        let mut packed = self.packed.borrow_mut();
        let bytes = packed.bytes + object.content.len();
        if bytes <= CACHED {
            packed.bytes = bytes;
            packed.objects.insert(place, Rc::clone(&object));
        }
        object
    }
}
