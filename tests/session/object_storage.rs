//! Object stores: a real S3 server on loopback, and OpenDAL's memory and file services.

use super::storage::behaves;
use crate::support::binary::Place;
use crate::support::program::has_feature;
use crate::support::require::require;
use crate::support::wait;
use placet::storage::{FileStore, ObjectStoreSettings, OpendalStore, StoreMirror, StorePrecondition};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// `s3s-fs`, serving a directory under one bucket until it is dropped.
struct Server {
    child: Child,
    endpoint: String,
    dir: tempfile::TempDir,
}

impl Server {
    fn start() -> Option<Server> {
        if !require("s3s-fs") {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("team")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("s3s-fs");
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--access-key", "AK", "--secret-key", "SK"]).arg(dir.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait::until("the server to listen", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Server { child, endpoint: format!("http://127.0.0.1:{port}"), dir })
    }

    fn store(&self, prefix: &str) -> OpendalStore {
        let settings = ObjectStoreSettings {
            bucket: "team".into(),
            prefix: prefix.into(),
            endpoint: Some(self.endpoint.clone()),
            region: None,
            access_key: Some("AK".into()),
            secret_key: Some("SK".into()),
        };
        OpendalStore::s3(&settings).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_memory_and_file_services_behave_as_every_store_must() {
    behaves("opendal memory", &OpendalStore::memory().unwrap());
    let dir = tempfile::tempdir().unwrap();
    behaves("opendal fs", &OpendalStore::fs(dir.path().to_str().unwrap()).unwrap());
}

#[test]
fn a_real_s3_server_behaves_as_every_store_must() {
    let Some(server) = Server::start() else { return };
    behaves("s3", &server.store("shared/notes"));
    assert!(server.dir.path().join("team/shared/notes").is_dir(), "below the prefix");
}

#[test]
fn a_server_that_is_not_there_is_an_error_and_no_wait() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = Some(format!("http://127.0.0.1:{port}"));
    let settings = ObjectStoreSettings {
        bucket: "team".into(),
        endpoint,
        access_key: Some("AK".into()),
        secret_key: Some("SK".into()),
        ..ObjectStoreSettings::default()
    };
    let error = OpendalStore::s3(&settings).unwrap().list("").unwrap_err().to_string();
    assert!(error.starts_with("the store cannot be reached, or refuses the request: "), "{error}");
}

#[test]
fn what_a_tool_wrote_under_a_mount_is_an_object_and_another_session_reads_it() {
    if !has_feature(true) {
        return;
    }
    let Some(server) = Server::start() else { return };
    let call = |place: &Place, tool: &str, input: &str| {
        let sets = [
            "mounts.team.path=/team/".to_string(),
            "mounts.team.store=s3://team/notes".into(),
            format!("mounts.team.endpoint={}", server.endpoint),
        ];
        let mut args: Vec<&str> = vec!["--mode", "write"];
        sets.iter().for_each(|set| args.extend(["--set", set.as_str()]));
        args.extend(["tool", "call", tool, input]);
        let run = place.placet(args).env("AWS_ACCESS_KEY_ID", "AK").env("AWS_SECRET_ACCESS_KEY", "SK");
        run.go().code(0).stdout
    };
    call(&Place::new(), "write_file", r#"{"path":"/team/plan.md","content":"ship it\n"}"#);
    let object = std::fs::read(server.dir.path().join("team/notes/plan.md")).unwrap();
    assert_eq!(object, b"ship it\n");
    let read = call(&Place::new(), "read_file", r#"{"path":"/team/plan.md"}"#);
    assert!(read.contains("1│ship it"), "{read}");
}

#[test]
fn a_mirror_of_a_bucket_tells_a_conflict_and_overwrites_nothing() {
    let Some(server) = Server::start() else { return };
    let store = Arc::new(server.store(""));
    let first = store.write("a", b"base", &StorePrecondition::Absent).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mirror = StoreMirror::new(store.clone(), dir.path()).unwrap();
    mirror.pull().unwrap();
    store.write("a", b"theirs", &StorePrecondition::Version(first)).unwrap();
    std::fs::write(mirror.files().join("a"), "mine").unwrap();
    assert_eq!(mirror.push().unwrap().left, ["`a` changed in the store in the meantime"]);
    assert_eq!(store.read("a").unwrap(), b"theirs");
}
