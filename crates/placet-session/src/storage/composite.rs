//! Several stores as one: a path belongs to the route with the longest matching prefix.

use super::{FileStore, StoreError, StoreFileMeta, StorePrecondition};
use std::sync::Arc;

pub struct CompositeStore {
    /// Prefixes end with a slash; the longest come first.
    routes: Vec<(String, Arc<dyn FileStore>)>,
    rest: Arc<dyn FileStore>,
}

impl CompositeStore {
    /// Paths that match no route's prefix are in `rest`. A prefix matches only at a `/`: `memories/` does not match
    /// `memories2/x`.
    pub fn new(routes: Vec<(String, Arc<dyn FileStore>)>, rest: Arc<dyn FileStore>) -> CompositeStore {
        let slashed =
            |(prefix, store): (String, Arc<dyn FileStore>)| (format!("{}/", prefix.trim_matches('/')), store);
        let mut routes: Vec<_> = routes.into_iter().map(slashed).collect();
        routes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        CompositeStore { routes, rest }
    }

    /// The store of a path, the path in the store, and the prefix to add to its results.
    fn route<'a>(&'a self, path: &'a str) -> (&'a dyn FileStore, &'a str, &'a str) {
        let found = self.routes.iter().find_map(|(prefix, store)| {
            path.strip_prefix(prefix.as_str()).map(|inner| (store.as_ref(), inner, prefix.as_str()))
        });
        found.unwrap_or((self.rest.as_ref(), path, ""))
    }
}

/// Errors name the path of the request.
fn named(error: StoreError, path: &str) -> StoreError {
    match error {
        StoreError::Missing(_) => StoreError::Missing(path.into()),
        StoreError::Changed(_) => StoreError::Changed(path.into()),
        StoreError::Name(_) => StoreError::Name(path.into()),
        other => other,
    }
}

impl FileStore for CompositeStore {
    /// For a prefix above a route's prefix, the files of that route are listed too.
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let put_back = |route: &str, metas: Vec<StoreFileMeta>| {
            metas
                .into_iter()
                .map(move |m| StoreFileMeta { path: format!("{route}{}", m.path), ..m })
                .collect::<Vec<_>>()
        };
        let (store, inner, route) = self.route(prefix);
        let mut found = put_back(route, store.list(inner)?);
        if route.is_empty() {
            // A file of `rest` under a route's prefix is not accessible, and so it is not listed.
            found.retain(|meta| self.routes.iter().all(|(route, _)| !meta.path.starts_with(route.as_str())));
        }
        for (below, store) in self.routes.iter().filter(|(r, _)| r.starts_with(prefix) && r.as_str() != route)
        {
            found.extend(put_back(below, store.list("")?));
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let (store, inner, _) = self.route(path);
        store.read(inner).map_err(|e| named(e, path))
    }

    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        let (store, inner, _) = self.route(path);
        store.write(inner, bytes, expect).map_err(|e| named(e, path))
    }

    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError> {
        let (store, inner, _) = self.route(path);
        store.remove(inner, expect).map_err(|e| named(e, path))
    }
}
