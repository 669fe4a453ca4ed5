//! Masked files and directories: no byte of them by any way, and never an empty file in their place.

use super::sandbox::{needs_a_sandbox, upper};
use crate::support::den::{Den, tree};
use crate::support::require::require;
use placet::sandbox::{OverlaySpec, SandboxSpec};
use std::os::unix::fs::symlink;

#[test]
fn a_masked_file_gives_no_byte_by_any_way() {
    needs_a_sandbox!();
    let den = Den::new();
    let secret = den.write("dir/secret.env", "KEY=canary\n");
    den.write("open.txt", "open\n");
    std::fs::create_dir(den.root.join("vault")).unwrap();
    den.write("vault/key", "canary\n");
    symlink("dir/secret.env", den.root.join("by-link")).unwrap();
    std::fs::hard_link(&secret, den.base.join("other-name")).unwrap();
    let masked =
        vec![secret.clone(), den.root.join("vault"), den.root.join("missing"), den.base.join("other-name")];
    for line in [
        "cat dir/secret.env",
        "cat by-link",
        "cat ../other-name",
        "grep -r canary .",
        "cp dir/secret.env copy && cat copy",
        "ln dir/secret.env hard && cat hard",
        "mv dir/secret.env moved && cat moved",
        "mv dir moved && cat moved/secret.env",
        "rm -f dir/secret.env && cat dir/secret.env",
        "chmod 777 dir/secret.env; cat dir/secret.env",
        "chmod 777 vault; cat vault/key",
        "cat vault/key",
        "tar cf - . | cat",
        "dd if=dir/secret.env",
        "cat < dir/secret.env",
        "cat /proc/self/cwd/dir/secret.env",
        "cat /proc/1/root/$PWD/dir/secret.env",
        "find . -exec cat {} +",
        "python3 -c 'import os; print(os.read(os.open(\"dir/secret.env\", os.O_RDONLY), 99))'",
        "python3 -c 'import mmap,os; f=os.open(\"dir/secret.env\", os.O_RDWR); print(mmap.mmap(f,0)[:])'",
        "git init -q . && git add -A; git show :dir/secret.env; cat .git/index; git hash-object dir/secret.env",
        "umount dir/secret.env; cat dir/secret.env",
        "mount --bind dir other; cat dir/secret.env",
        "unshare -Urm sh -c 'umount -l dir/secret.env; cat dir/secret.env'",
    ] {
        let spec = SandboxSpec { masked: masked.clone(), ..den.spec() };
        let ran = den.run(&spec, &format!("({line}) 2>&1; cat open.txt"));
        assert!(!ran.text.contains("canary"), "{line}: {}", ran.text);
        assert!(ran.text.ends_with("open\n"), "{line}: {}", ran.text);
        for (path, bytes) in tree(upper(&spec)) {
            assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "{line}: {}", path.display());
        }
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "KEY=canary\n");
}

#[test]
fn a_masked_file_is_never_staged_as_an_empty_one() {
    needs_a_sandbox!();
    if !require("git") {
        return;
    }
    let den = Den::new();
    den.write("tracked.env", "");
    let git = |line: &str| {
        let out =
            std::process::Command::new("sh").args(["-c", line]).current_dir(&den.root).output().unwrap();
        assert!(out.status.success(), "{out:?}");
    };
    git(
        "git init -q . && git add -A && git -c user.name=x -c user.email=x commit -qm x && echo canary > tracked.env",
    );
    let masked = vec![den.root.join("tracked.env"), den.write("new.env", "canary")];
    let spec = SandboxSpec { masked, ..den.spec() };
    let line = "git add -A 2>&1; git commit -qam x 2>&1; git diff --cached --stat; git ls-files; test ! -e .git/index.lock";
    let text = den.run(&spec, line).done();
    assert!(text.contains("fatal") && text.ends_with("\ntracked.env\n"), "{text}");
}

#[test]
fn a_mask_on_a_link_hides_what_it_leads_to_but_never_blinds_the_command() {
    needs_a_sandbox!();
    let den = Den::new();
    std::fs::create_dir(den.base.join("real")).unwrap();
    std::fs::write(den.base.join("real/key"), "canary").unwrap();
    symlink(den.base.join("real"), den.root.join("keys")).unwrap();
    symlink("/usr", den.root.join("planted")).unwrap();
    symlink(".", den.root.join("self")).unwrap();
    let masked = ["keys", "planted", "self"].map(|name| den.root.join(name)).to_vec();
    let ran = den.run(
        &SandboxSpec { masked, ..den.spec() },
        "cat keys/key; ls /usr/bin >/dev/null && echo sees > file && cat file",
    );
    assert!(!ran.text.contains("canary") && ran.text.ends_with("sees\n"), "{ran:?}");
}

#[test]
fn a_mask_covers_what_is_in_any_layer_or_behind_a_linked_directory() {
    needs_a_sandbox!();
    let den = Den::new();
    den.write("real/secret", "canary");
    den.write("deleted", "old");
    den.write("kept/secret", "canary");
    symlink("real", den.root.join("alias")).unwrap();
    let first = den.spec();
    den.run(
        &first,
        "echo canary > made; rm deleted; mkdir fresh; echo canary > fresh/secret; ln -s kept turned",
    )
    .done();
    let masked = ["alias/secret", "made", "deleted", "fresh/secret", "turned/secret", "none", "none/at/all"];
    let spec = SandboxSpec {
        overlays: vec![OverlaySpec {
            lowers: vec![upper(&first).into(), den.root.clone()],
            ..den.layer(&den.root)
        }],
        masked: masked.map(|name| den.root.join(name)).to_vec(),
        ..den.spec()
    };
    let line = "cat alias/secret real/secret made fresh/secret turned/secret kept/secret; ls -d none deleted; echo end";
    let text = den.run(&spec, line).text;
    assert!(!text.contains("canary") && text.ends_with("end\n"), "{text}");
    assert_eq!(text.matches("No such file").count(), 2, "{text}");
}
