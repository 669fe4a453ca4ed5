//! Paths: what they resolve to, and that nothing else is opened.

use crate::support::is_full;
use crate::support::permit::permit;
use placet::permission::AccessLocation;
use placet::workspace::{ExpectedContent, OpenConsent, SpecialFile, Workspace, WorkspaceError};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

struct Ground {
    _dir: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    workspace: Workspace,
}

fn ground() -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let base = std::fs::canonicalize(dir.path()).unwrap();
    let (root, outside) = (base.join("work"), base.join("outside"));
    for path in [&root, &outside, &root.join("d"), &root.join(".git/hooks"), &outside.join("sub")] {
        std::fs::create_dir_all(path).unwrap();
    }
    std::fs::write(root.join("d/f"), "inside").unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    let workspace = Workspace::new(root.clone(), Vec::new()).unwrap();
    Ground { _dir: dir, root, outside, workspace }
}

#[test]
fn every_spelling_is_resolved_to_what_the_kernel_would_open() {
    let g = ground();
    let (root, outside) = (&g.root, &g.outside);
    symlink("d/f", root.join("l")).unwrap();
    symlink(root.join("d"), root.join("absolute")).unwrap();
    symlink(outside, root.join("out")).unwrap();
    symlink("missing/deep", root.join("dangling")).unwrap();
    symlink(outside.join("new"), root.join("dangling-out")).unwrap();
    symlink("loop-b", root.join("loop-a")).unwrap();
    symlink("loop-a", root.join("loop-b")).unwrap();
    let rooted = |name: &str| root.join(name);
    for (written, path, place, exists) in [
        ("d/f", rooted("d/f"), AccessLocation::Inside, true),
        ("./d//./f", rooted("d/f"), AccessLocation::Inside, true),
        ("d/../d/f", rooted("d/f"), AccessLocation::Inside, true),
        (root.join("d/f").to_str().unwrap(), rooted("d/f"), AccessLocation::Inside, true),
        ("l", rooted("d/f"), AccessLocation::Inside, true),
        ("absolute/f", rooted("d/f"), AccessLocation::Inside, true),
        ("absolute/../d/f", rooted("d/f"), AccessLocation::Inside, true),
        ("new/deep/file", rooted("new/deep/file"), AccessLocation::Inside, false),
        ("dangling", rooted("missing/deep"), AccessLocation::Inside, false),
        ("..foo", rooted("..foo"), AccessLocation::Inside, false),
        (".git/hooks/pre-commit", rooted(".git/hooks/pre-commit"), AccessLocation::Protected, false),
        (".envrc", rooted(".envrc"), AccessLocation::Protected, false),
        ("..", root.parent().unwrap().to_path_buf(), AccessLocation::Outside, true),
        ("../outside/secret", outside.join("secret"), AccessLocation::Outside, true),
        ("out/secret", outside.join("secret"), AccessLocation::Outside, true),
        ("out/new/file", outside.join("new/file"), AccessLocation::Outside, false),
        ("out/../work/d/f", rooted("d/f"), AccessLocation::Inside, true),
        ("dangling-out", outside.join("new"), AccessLocation::Outside, false),
        (
            "/proc/self/root/etc/hostname",
            PathBuf::from("/etc/hostname"),
            AccessLocation::Outside,
            Path::new("/etc/hostname").exists(),
        ),
        (".", root.clone(), AccessLocation::Inside, true),
    ] {
        let resolved = g.workspace.resolve(written).unwrap();
        assert_eq!((resolved.path, resolved.place, resolved.exists), (path, place, exists), "{written}");
    }
    assert!(matches!(g.workspace.resolve("loop-a/x"), Err(WorkspaceError::Loop(_))));
    assert!(matches!(g.workspace.resolve("d/f/x"), Err(WorkspaceError::NotDirectory(_))));
    assert!(matches!(g.workspace.resolve("nowhere/../d/f"), Err(WorkspaceError::Missing(_))));
    assert!(matches!(g.workspace.resolve(""), Err(WorkspaceError::Empty)));
    assert!(matches!(g.workspace.resolve("~somebody/x"), Err(WorkspaceError::Tilde { .. })));
}

#[test]
fn a_root_may_be_a_link_and_the_deepest_of_several_counts_for_protection() {
    let g = ground();
    let link = g.outside.join("link");
    symlink(&g.root, &link).unwrap();
    let workspace = Workspace::new(link, vec![g.root.join(".git/hooks")]).unwrap();
    assert_eq!(workspace.cwd(), g.root);
    assert_eq!(workspace.resolve("d/f").unwrap().place, AccessLocation::Inside);
    assert_eq!(workspace.resolve(".git/hooks/x").unwrap().place, AccessLocation::Protected);
    assert!(Workspace::new(g.root.join("d/f"), Vec::new()).is_err());
    assert!(Workspace::new(g.root.join("gone"), Vec::new()).is_err());
}

#[test]
fn outside_opens_only_with_consent_to_exactly_that() {
    let g = ground();
    let secret = g.workspace.resolve("../outside/secret").unwrap();
    assert!(matches!(g.workspace.open(&secret, OpenConsent::Inside), Err(WorkspaceError::Outside(_))));
    let other = g.workspace.resolve("../outside/sub").unwrap();
    let wrong = permit(vec![other.read()]);
    assert!(matches!(
        g.workspace.open(&secret, OpenConsent::Permit(&wrong)),
        Err(WorkspaceError::Outside(_))
    ));
    assert!(g.workspace.open(&secret, OpenConsent::Permit(&permit(vec![secret.read()]))).is_ok());
    // Consent to read is none to write.
    let write = g.workspace.write(&secret, &permit(vec![secret.read()]), b"x", ExpectedContent::Absent);
    assert!(matches!(write, Err(WorkspaceError::Outside(_))));
}

#[test]
fn what_is_no_file_is_never_waited_for() {
    let g = ground();
    crate::support::special::fifo(&g.root.join("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(g.root.join("socket")).unwrap();
    let kind = |path: &str| {
        let at = g.workspace.resolve(path).unwrap();
        match g.workspace.open(&at, OpenConsent::Prepared) {
            Err(WorkspaceError::Special { kind, .. }) => Some(kind),
            Err(WorkspaceError::Directory(_)) => None,
            other => panic!("{path}: {other:?}"),
        }
    };
    assert_eq!(kind("fifo"), Some(SpecialFile::Fifo));
    assert_eq!(kind("socket"), Some(SpecialFile::Socket));
    assert_eq!(kind("/dev/zero"), Some(SpecialFile::CharacterDevice));
    assert_eq!(kind("d"), None);
}

/// A directory swapped for a link between the check and the use.
#[test]
fn a_swapped_directory_never_leads_outside() {
    let g = ground();
    let rounds = if is_full() { 100_000 } else { 3_000 };
    std::fs::create_dir(g.root.join("x")).unwrap();
    std::fs::write(g.root.join("x/secret"), "harmless").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (x, y, link) = (g.root.join("x"), g.root.join("y"), g.root.join("z"));
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&x, &y).unwrap();
                symlink(&g.outside, &link).unwrap();
                if std::fs::rename(&link, &x).is_ok() {
                    std::fs::remove_file(&x).unwrap();
                } else {
                    std::fs::remove_file(&link).unwrap();
                }
                // We may have made the directory anew in the meantime: that is inside, and allowed.
                while std::fs::rename(&y, &x).is_err() {
                    let _ = std::fs::remove_dir_all(&x);
                }
            }
        });
        for round in 0..rounds {
            let Ok(at) = g.workspace.resolve("x/secret") else { continue };
            if at.place == AccessLocation::Outside {
                continue;
            }
            if let Ok((bytes, hash)) = g.workspace.load(&at, OpenConsent::Inside, 100) {
                assert_ne!(bytes.as_slice(), b"secret");
                if round % 10 == 0 {
                    let permit = permit(vec![at.write()]);
                    let _ = g.workspace.write(&at, &permit, b"written", ExpectedContent::Content(hash));
                }
            }
            let Ok(at) = g.workspace.resolve("x/new/file") else { continue };
            if at.place == AccessLocation::Inside && round % 10 == 5 {
                let _ = g.workspace.write(&at, &permit(vec![at.write()]), b"made", ExpectedContent::Absent);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // How many reads found the directory in place is the scheduler's affair; with the swapper gone the next one does.
    let at = g.workspace.resolve("x/secret").unwrap();
    let (bytes, _) = g.workspace.load(&at, OpenConsent::Inside, 100).unwrap();
    assert!(matches!(bytes.as_slice(), b"harmless" | b"written"), "{bytes:?}");
    assert_eq!(std::fs::read(g.outside.join("secret")).unwrap(), b"secret");
    assert!(!g.outside.join("new").exists());
}
