//! Which file of a crate uses which, through the re-exports of the folders' façades: what `use` says, and every path in
//! the code. Tests are left out.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use syn::visit::{self, Visit};

type Segments = Vec<String>;

/// One file as a module.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    /// Name, what it means from the crate's root on, and whether others may see it here.
    imports: Vec<(String, Segments, bool)>,
    globs: Vec<(Segments, bool)>,
    /// Paths in the code, as written.
    paths: BTreeSet<Segments>,
}

/// What the tests ask about one file.
pub struct SourceFacts {
    /// Below the crate's `src/`, with the crate's name without `placet-` in front of it.
    pub file: String,
    pub types_with_methods: Vec<String>,
    pub string_errors: usize,
    /// `None` for tests and for the program's `main`.
    module: Option<(Segments, Module)>,
}

/// The `src/` of each crate with the crate's name without `placet-`; the root's has none.
pub fn roots() -> Vec<(String, PathBuf)> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut roots = vec![(String::new(), project.join("src"))];
    for entry in std::fs::read_dir(project.join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().replace("placet-", "");
        roots.push((name, path.join("src")));
    }
    roots.sort();
    roots
}

pub fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    files
}

/// Names of the crates below `crates/`: in them, `crate` is the name.
static CRATES: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| roots().into_iter().map(|(name, _)| name).filter(|name| !name.is_empty()).collect());

/// All files. Each is parsed once for all tests: without optimization that takes seconds.
pub static FACTS: LazyLock<Vec<SourceFacts>> = LazyLock::new(|| {
    let of_root = |(name, root): (String, PathBuf)| {
        files_below(&root).into_iter().map(move |path| (name.clone(), root.clone(), path))
    };
    let files: Vec<(String, PathBuf, PathBuf)> = roots().into_iter().flat_map(of_root).collect();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(threads));
        let parts: Vec<_> = parts
            .map(|part| {
                scope.spawn(|| {
                    part.iter().map(|(name, root, path)| facts(path, name, root)).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
});

/// All modules.
pub struct Sources {
    modules: BTreeMap<&'static Segments, &'static Module>,
}

impl Sources {
    pub fn read() -> Sources {
        let modules = FACTS.iter().filter_map(|facts| facts.module.as_ref());
        Sources { modules: modules.map(|(name, module)| (name, module)).collect() }
    }

    /// The file in which what `path` leads to is defined. `None`: outside of the crate, or an item of no file.
    fn file_of(&self, path: &[String], depth: usize) -> Option<&str> {
        if depth > 20 {
            return None;
        }
        let mut at: Segments = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let mut below = at.clone();
            below.push(name.clone());
            if self.modules.contains_key(&below) {
                at = below;
                continue;
            }
            let module = self.modules.get(&at)?;
            if module.items.contains(name) {
                return Some(&module.file);
            }
            let rest = &path[index + 1..];
            if let Some((_, target, _)) = module.imports.iter().find(|(n, ..)| n == name) {
                let target: Segments = target.iter().chain(rest).cloned().collect();
                return self.file_of(&target, depth + 1);
            }
            return module.globs.iter().find_map(|(glob, _)| {
                let target: Segments = glob.iter().cloned().chain(path[index..].iter().cloned()).collect();
                let found = self.file_of(&target, depth + 1)?;
                let own = self.modules.get(glob).is_some_and(|m| m.file == found);
                (!own || self.modules.get(glob).is_some_and(|m| m.items.contains(name))).then_some(found)
            });
        }
        Some(&self.modules.get(&at)?.file)
    }

    /// From each file to the files of the same room that it uses.
    fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (own, module) in &self.modules {
            let mut used: Vec<Segments> = Vec::new();
            for (_, target, is_public) in &module.imports {
                // A façade's re-export is a line of its table of contents.
                if !is_public {
                    used.push(target.clone());
                }
            }
            for path in &module.paths {
                if let Some(path) = absolute(own, path, self, module) {
                    used.push(path);
                }
            }
            for target in used {
                // A module that is only passed through is not used.
                if self.modules.contains_key(&target) {
                    continue;
                }
                let Some(file) = self.file_of(&target, 0) else { continue };
                if file != module.file && room(file) == room(&module.file) {
                    edges.entry(&module.file).or_default().insert(file);
                }
            }
        }
        edges
    }

    /// Files that use each other in a ring, the largest first.
    pub fn rings(&self) -> Vec<Vec<String>> {
        let edges = self.edges();
        let reach = |from: &str| -> BTreeSet<String> {
            let mut seen = BTreeSet::new();
            let mut open = vec![from];
            while let Some(file) = open.pop() {
                for to in edges.get(file).into_iter().flatten() {
                    if seen.insert((*to).to_string()) {
                        open.push(to);
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&str, BTreeSet<String>> =
            edges.keys().map(|file| (*file, reach(file))).collect();
        let mut done = BTreeSet::new();
        let mut rings = Vec::new();
        for (file, to) in &reached {
            if done.contains(*file) || !to.contains(*file) {
                continue;
            }
            let ring: Vec<String> = reached
                .iter()
                .filter(|(other, back)| to.contains(**other) && back.contains(*file))
                .map(|(other, _)| (*other).to_string())
                .collect();
            done.extend(ring.iter().cloned());
            rings.push(ring);
        }
        rings.sort_by_key(|ring| std::cmp::Reverse(ring.len()));
        rings
    }
}

/// The types that get methods of their own in a file, tests left out.
fn types_with_methods(parsed: &syn::File) -> Vec<String> {
    let of_item = |item: &syn::Item| match item {
        syn::Item::Impl(block) if block.trait_.is_none() && !is_test(item) => match block.self_ty.as_ref() {
            syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            _ => None,
        },
        _ => None,
    };
    parsed.items.iter().filter_map(of_item).collect()
}

pub fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn facts(path: &Path, name: &str, root: &Path) -> SourceFacts {
    let below = Path::new(name).join(path.strip_prefix(root).unwrap());
    let file = below.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let is_test = stem == "tests" || stem.ends_with("_tests");
    let module = (!is_test && stem != "main").then(|| {
        let dirs = below.parent().unwrap().components();
        let mut name: Segments = dirs.map(|dir| dir.as_os_str().to_string_lossy().into_owned()).collect();
        if !matches!(stem.as_str(), "mod" | "lib") {
            name.push(stem);
        }
        let module = read(file.clone(), &name, &parsed);
        (name, module)
    });
    SourceFacts {
        types_with_methods: types_with_methods(&parsed),
        string_errors: super::string_errors::count(&parsed),
        file,
        module,
    }
}

fn read(file: String, own: &Segments, parsed: &syn::File) -> Module {
    let mut reader = Reader { module: Module { file, ..Module::default() }, own: own.clone() };
    for item in &parsed.items {
        if is_test(item) {
            continue;
        }
        if let Some(name) = name_of(item) {
            reader.module.items.insert(name);
        }
        reader.visit_item(item);
    }
    reader.module
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Const(i) => &i.attrs,
        _ => &[],
    }
}

pub fn is_test(item: &syn::Item) -> bool {
    attributes(item).iter().any(|a| {
        a.path().is_ident("cfg") && a.meta.require_list().is_ok_and(|l| l.tokens.to_string().contains("test"))
    })
}

fn name_of(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Struct(i) => i.ident.to_string(),
        syn::Item::Enum(i) => i.ident.to_string(),
        syn::Item::Trait(i) => i.ident.to_string(),
        syn::Item::Type(i) => i.ident.to_string(),
        syn::Item::Union(i) => i.ident.to_string(),
        syn::Item::Fn(i) => i.sig.ident.to_string(),
        syn::Item::Const(i) => i.ident.to_string(),
        syn::Item::Static(i) => i.ident.to_string(),
        syn::Item::Macro(i) => i.ident.as_ref()?.to_string(),
        _ => return None,
    })
}

struct Reader {
    module: Module,
    own: Segments,
}

impl Reader {
    fn import(&mut self, tree: &syn::UseTree, prefix: &mut Segments, is_public: bool) {
        match tree {
            syn::UseTree::Path(p) => {
                prefix.push(p.ident.to_string());
                self.import(&p.tree, prefix, is_public);
                prefix.pop();
            }
            syn::UseTree::Name(n) => {
                let mut path = prefix.clone();
                let name = n.ident.to_string();
                if name != "self" {
                    path.push(name.clone());
                }
                let name = if name == "self" { prefix.last().cloned().unwrap_or_default() } else { name };
                self.import_path(name, path, is_public);
            }
            syn::UseTree::Rename(r) => {
                let mut path = prefix.clone();
                if r.ident != "self" {
                    path.push(r.ident.to_string());
                }
                self.import_path(r.rename.to_string(), path, is_public);
            }
            syn::UseTree::Glob(_) => {
                if let Some(path) = anchored(&self.own, prefix) {
                    self.module.globs.push((path, is_public));
                }
            }
            syn::UseTree::Group(g) => {
                for tree in &g.items {
                    self.import(tree, prefix, is_public);
                }
            }
        }
    }

    fn import_path(&mut self, name: String, path: Segments, is_public: bool) {
        let path = anchored(&self.own, &path).unwrap_or_else(|| {
            // A child's name, or another crate: looked up from here.
            self.own.iter().cloned().chain(path).collect()
        });
        self.module.imports.push((name, path, is_public));
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Segments = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.module.paths.insert(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(p) if p.as_char() == ':' => colons += 1,
                other => {
                    if !path.is_empty() {
                        self.module.paths.insert(std::mem::take(&mut path));
                    }
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        if !path.is_empty() {
            self.module.paths.insert(path);
        }
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &mut Vec::new(), is_public);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.module.paths.insert(path.segments.iter().map(|s| s.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'a syn::Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }
}

/// A path that begins with `crate`, `self` or `super`, from the crate's root on.
fn anchored(own: &[String], path: &[String]) -> Option<Segments> {
    let first = path.first()?;
    let (mut at, mut rest) = match first.as_str() {
        "crate" => (own.iter().take(1).filter(|name| CRATES.contains(*name)).cloned().collect(), &path[1..]),
        "self" => (own.to_vec(), &path[1..]),
        "super" => (own.to_vec(), path),
        _ => return None,
    };
    while rest.first().is_some_and(|s| s == "super") {
        at.pop();
        rest = &rest[1..];
    }
    at.extend(rest.iter().cloned());
    Some(at)
}

fn absolute(own: &Segments, path: &Segments, all: &Sources, module: &Module) -> Option<Segments> {
    if let Some(path) = anchored(own, path) {
        return Some(path);
    }
    let first = path.first()?;
    let mut child = own.clone();
    child.push(first.clone());
    let is_known = all.modules.contains_key(&child)
        || module.imports.iter().any(|(n, ..)| n == first)
        || !module.globs.is_empty();
    is_known.then(|| own.iter().cloned().chain(path.iter().cloned()).collect())
}
