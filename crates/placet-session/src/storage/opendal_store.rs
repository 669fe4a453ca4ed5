//! Object stores through OpenDAL: S3 and compatible servers, and for tests its memory and file services.

use super::{FileStore, StoreError, StoreFileMeta, StorePrecondition, check_path, version_of};
use opendal::{ErrorKind, Operator};
use std::time::Duration;

/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// Where the objects are. Keys come from the environment, never from the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectStoreSettings {
    pub bucket: String,
    pub prefix: String,
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub access_key: Option<String>,
    pub secret_key: Option<String>,
}

pub struct OpendalStore {
    operator: Operator,
    runtime: tokio::runtime::Runtime,
}

fn backend(error: opendal::Error) -> StoreError {
    StoreError::Backend(error.to_string())
}

impl OpendalStore {
    pub fn s3(settings: &ObjectStoreSettings) -> Result<OpendalStore, StoreError> {
        // Every signature needs a region, even if the server has none; us-east-1 is the usual value.
        let mut service = opendal::services::S3::default()
            .bucket(&settings.bucket)
            .root(&settings.prefix)
            .region(settings.region.as_deref().unwrap_or("us-east-1"));
        if let Some(endpoint) = &settings.endpoint {
            service = service.endpoint(endpoint);
        }
        if let (Some(access), Some(secret)) = (&settings.access_key, &settings.secret_key) {
            service = service.access_key_id(access).secret_access_key(secret);
        }
        OpendalStore::of(Operator::new(service).map_err(backend)?)
    }

    pub fn memory() -> Result<OpendalStore, StoreError> {
        OpendalStore::of(Operator::new(opendal::services::Memory::default()).map_err(backend)?)
    }

    pub fn fs(dir: &str) -> Result<OpendalStore, StoreError> {
        OpendalStore::of(Operator::new(opendal::services::Fs::default().root(dir)).map_err(backend)?)
    }

    fn of(operator: Operator) -> Result<OpendalStore, StoreError> {
        // Its client uses the same rustls as ours, which needs an installed crypto provider first.
        placet_http::install_tls();
        opendal_http_transport_reqwest::install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| StoreError::Backend(e.to_string()))?;
        Ok(OpendalStore { operator, runtime })
    }

    /// Runs one call to its end or its deadline, from any thread: on the store's own runtime, with the result through a
    /// channel.
    fn wait<T: Send + 'static>(
        &self,
        call: impl Future<Output = opendal::Result<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (send, done) = std::sync::mpsc::channel();
        self.runtime.spawn(async move {
            drop(send.send(tokio::time::timeout(DEADLINE, call).await));
        });
        match done.recv() {
            Ok(Ok(result)) => result.map_err(backend),
            Ok(Err(_)) => Err(StoreError::Backend(format!("no answer within {} s", DEADLINE.as_secs()))),
            // A panic in the call: its sender was dropped without an answer.
            Err(_) => Err(StoreError::Backend("the call was lost".into())),
        }
    }

    fn there(&self, path: &str) -> Result<Option<StoreFileMeta>, StoreError> {
        let (operator, name) = (self.operator.clone(), path.to_string());
        let stat = self.wait(async move {
            match operator.stat(&name).await {
                Ok(meta) => Ok(Some(meta)),
                Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            }
        })?;
        let Some(meta) = stat else { return Ok(None) };
        let mut found = meta_of(path, &meta);
        if found.version.is_empty() {
            // Only the content identifies the version.
            found.version = version_of(&self.read(path)?);
        }
        Ok(Some(found))
    }
}

/// Without an etag the version is empty.
fn meta_of(path: &str, meta: &opendal::Metadata) -> StoreFileMeta {
    let modified = meta.last_modified().map_or(jiff::Timestamp::UNIX_EPOCH, |time| {
        time.to_string().parse().unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    });
    let size = meta.content_length();
    let version = meta.etag().map(String::from).unwrap_or_default();
    StoreFileMeta { path: path.into(), size, created: modified, modified, version }
}

impl FileStore for OpendalStore {
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let (operator, wanted) = (self.operator.clone(), prefix.to_string());
        let names = self.wait(async move {
            // Listed by directory; a prefix within a name is then matched there.
            let dir = wanted.rfind('/').and_then(|at| wanted.get(..=at)).unwrap_or("").to_string();
            let entries = operator.list_with(&dir).recursive(true).await?;
            let files = entries.into_iter().filter(|e| e.metadata().is_file());
            Ok(files.map(|e| e.path().to_string()).filter(|p| p.starts_with(&wanted)).collect::<Vec<_>>())
        })?;
        let mut found = Vec::new();
        for name in names {
            found.extend(self.there(&name)?);
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        check_path(path)?;
        let (operator, name) = (self.operator.clone(), path.to_string());
        let read = self.wait(async move {
            match operator.read(&name).await {
                Ok(bytes) => Ok(Some(bytes.to_vec())),
                Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            }
        })?;
        read.ok_or_else(|| StoreError::Missing(path.into()))
    }

    /// Checks and then writes: not every store can do both in one step, so another writer within a round trip is not
    /// noticed.
    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        check_path(path)?;
        let there = self.there(path)?;
        super::memory::expected(path, there.as_ref().map(|m| m.version.as_str()), expect)?;
        let (operator, name, content) = (self.operator.clone(), path.to_string(), bytes.to_vec());
        self.wait(async move { operator.write(&name, content).await })?;
        Ok(self.there(path)?.map_or_else(|| version_of(bytes), |meta| meta.version))
    }

    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError> {
        let Some(there) = self.there(path)? else { return Ok(()) };
        super::memory::expected(path, Some(&there.version), expect)?;
        let (operator, name) = (self.operator.clone(), path.to_string());
        self.wait(async move { operator.delete(&name).await })
    }
}
