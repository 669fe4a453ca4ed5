//! Files in `.git` that git obeys, takes for a ref, or copies into the work tree: each that placet does not understand waits,
//! whatever its name is. The rest of what git and its tools leave there every day does not ask.

use crate::support::binary::Out;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::some_of;
use crate::support::txn::Txn;

/// A repository with two commits on main, the branch `old` with another workflow, all in one pack, and a worktree `wt`.
const BEFORE: &str = r#"git init -q -b main . && mkdir -p .github/workflows && echo one > a.txt &&
    echo "on: push # good" > .github/workflows/ci.yml && git add . && git commit -qm First && git switch -q -c old &&
    echo "on: push # old" > .github/workflows/ci.yml && git commit -qam Old && git switch -q main && echo two > a.txt &&
    git commit -qam Second && git gc -q"#;

/// What every script may use. `evil` prints the name of a commit that changes the workflow and that no ref has. `index NAME MODE
/// OBJECT` adds an entry to the index that git itself would refuse.
const FUNCTIONS: &str = r#"export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A
export GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=init.defaultBranch GIT_CONFIG_VALUE_0=main
blob() { git hash-object -w --stdin; }
evil() {
    export GIT_INDEX_FILE=../evil-index; git read-tree HEAD
    git update-index --add --cacheinfo 100644,$(echo "on: push # EVIL" | blob),.github/workflows/ci.yml
    t=$(git write-tree); unset GIT_INDEX_FILE; git commit-tree $t -p HEAD -m evil
}

logged() { h=$(git rev-parse HEAD); printf "$h $1 A <a@x> 1700000000 +0000\tcommit: x\n$1 $h A <a@x> 1700000001 +0000\tcommit: y\n"; }
moved() { h=$(git rev-parse HEAD); printf "$h $h A <a@x> 1700000000 +0000\tcheckout: moving from $1 to main\n" >> .git/logs/HEAD; }
rebase() {
    d=.git/rebase-merge; mkdir $d; echo refs/heads/main > $d/head-name; git rev-parse HEAD | tee $d/orig-head > $d/onto
    : > $d/interactive; : > $d/done; git checkout -q --detach; echo "$1" > $d/git-rebase-todo
}
am() {
    git switch -q -c am HEAD~1; echo 3 > a.txt; git commit -qam 3; git format-patch -q --stdout HEAD~1 > ../mail; git switch -q main
    git am -q ../mail > ../said 2>&1 || test -e .git/rebase-apply/0001
}
pick() { d=.git/sequencer; mkdir $d; git rev-parse HEAD~1 | tee $d/head > $d/abort-safety; echo "pick $(git rev-parse HEAD) x" > $d/todo; }
index() {
    perl -0777 -e 'use Digest::SHA "sha1"; my ($name, $mode, $id, $flags) = @ARGV; open F, "<", ".git/index"; my $old = <F>; close F;
        my @entries = map { [split /[ \t]/, $_, 4] } grep { length } split /\0/, `git ls-files -s -z`;
        my @all = map { [$_->[3], oct $_->[0], $_->[1], 0] } @entries; push @all, [$name, oct $mode, $id, $flags];
        my $out = "DIRC" . pack "NN", $flags ? 3 : 2, scalar @all;
        for (sort { $a->[0] cmp $b->[0] } @all) {
            my $e = pack "N10", 0, 0, 0, 0, 0, 0, $_->[1], 0, 0, 0; $e .= pack "H*", $_->[2];
            $e .= pack "n", length($_->[0]) | ($_->[3] ? 0x4000 : 0); $e .= pack "n", $_->[3] if $_->[3]; $e .= $_->[0];
            $e .= "\0" x (8 - length($e) % 8); $out .= $e }
        open F, ">", ".git/index"; print F $out . sha1($out)' "$@"
}
"#;

/// Each makes the person's next command of git run a program or write other contents, and has no commit that a ref leads to.
const HOSTILE: [(&str, &str); 86] = [
    ("index: a hook", "index .git/info/../hooks/post-checkout 100755 $(echo x | blob)"),
    ("index: a workflow", "index .github/xx/../workflows/new.yml 100644 $(echo x | blob)"),
    ("index: an absolute path", "index /tmp/outside.txt 100644 $(echo x | blob)"),
    ("index: a path above", "index ../other/Makefile 100644 $(echo x | blob)"),
    ("index: a path with a dot", "index ./.envrc 100644 $(echo x | blob)"),
    ("index: an empty name", "index a//b 100644 $(echo x | blob)"),
    ("index: git in capitals", "index x/.GIT/config 100644 $(echo x | blob)"),
    ("index: git as Windows shortens it", "index git~1/config 100644 $(echo x | blob)"),
    ("index: an announced path with a content", "index .envrc 100644 $(echo x | blob) 8192"),
    (
        "tree with a path above",
        r#"t=$(printf "100644 blob %s\tx\n" $(echo x | blob) | git mktree)
            { printf '40000 ..\0'; printf %s $t | perl -pe 's/(..)/chr hex $1/ge'; } > tree
            git tag t $(git commit-tree -m x -p HEAD $(git hash-object -w -t tree --literally tree)); rm tree"#,
    ),
    ("strategy of a pick", r"pick; printf '[options]\n\tstrategy = x/y\n' > .git/sequencer/opts"),
    ("an unknown setting of a pick", r"pick; printf '[options]\n\tanother = x\n' > .git/sequencer/opts"),
    ("strategy of a rebase", "rebase \"pick $(git rev-parse HEAD)\"; echo x/y > .git/rebase-merge/strategy"),
    ("options of a strategy", "rebase noop; echo '\"--x;id\"' > .git/rebase-merge/strategy_opts"),
    ("signing of a rebase", "rebase noop; echo -S--x > .git/rebase-merge/gpg_sign_opt"),
    ("author of a rebase", "rebase noop; echo 'id' > .git/rebase-merge/author-script"),
    ("an unknown file of a rebase", "rebase noop; echo x > .git/rebase-merge/new"),
    ("a step by a ref in capitals", "rebase 'pick EVIL x'"),
    ("a step by the reflog", "rebase 'pick main@{1} x'"),
    ("a step by a text", "rebase 'pick :/Old x'"),
    ("an unknown step", "rebase 'run id'"),
    ("a step with the evil commit", "e=$(evil); rebase \"pick $e x\""),
    ("a short step", "e=$(evil); rebase \"pick $(echo $e | cut -c1-9) x\""),
    ("a step to merge", "e=$(evil); rebase \"merge $e # x\""),
    ("a label that comes later", r#"e=$(evil); rebase "$(printf "reset $e\nbreak\nlabel $e")""#),
    ("a described label that comes later", r#"e=$(evil); rebase "$(printf "reset x-1-g$e\nlabel x-1-g$e")""#),
    ("a branch that a step moves", "rebase 'update-ref refs/heads/old'"),
    (
        "a branch that a rebase is said to be of",
        "rebase noop; echo refs/heads/old > .git/rebase-merge/head-name",
    ),
    ("onto by a name", "rebase noop; echo 'old' > .git/rebase-merge/onto"),
    ("onto", "e=$(evil); rebase noop; echo $e > .git/rebase-merge/onto"),
    ("a commit in orig-head", "e=$(evil); rebase noop; echo $e > .git/rebase-merge/orig-head"),
    ("a file in capitals", "e=$(evil); echo $e > .git/EVIL; moved EVIL"),
    ("a file in capitals with more", "e=$(evil); echo $e junk > .git/EVIL"),
    ("a file in small letters", "e=$(evil); echo $e > .git/evil; moved evil"),
    (
        "a temporary index that is a ref",
        "e=$(evil); echo $e > .git/index.stash.77; echo index.stash.77 > .git/BISECT_START",
    ),
    ("a lock that is a ref", "e=$(evil); echo $e > .git/next-index-77; moved next-index-77"),
    ("a temporary file that is a link", "ln -s refs/heads/old .git/index.stash.77"),
    (
        "a temporary object that is a ref",
        "e=$(evil); mkdir .git/objects/tmp_objdir-1; echo $e > .git/objects/tmp_objdir-1/x",
    ),
    (
        "a commit that only a message of the log had",
        "e=$(evil); h=$(git rev-parse HEAD); printf \"$h $h A <a@x> 1 +0000\\t$e\\n\" >> .git/logs/HEAD; logged $e >> .git/logs/HEAD",
    ),
    ("a file below another", "e=$(evil); mkdir .git/some; echo $e > .git/some/evil"),
    ("a message that is a ref", "e=$(evil); echo $e > .git/COMMIT_EDITMSG; moved COMMIT_EDITMSG"),
    ("a description that is a ref", "e=$(evil); echo $e > .git/description"),
    ("a list of git LFS that is a ref", "e=$(evil); mkdir .git/lfs; echo $e > .git/lfs/x"),
    ("a mark of a pack that is a ref", "e=$(evil); echo $e > .git/objects/pack/pack-x.keep"),
    ("a ref to a file in capitals", "e=$(evil); echo $e > .git/EVIL; echo ref: EVIL > .git/ORIG_HEAD"),
    (
        "a tag of the commit",
        r#"e=$(evil); printf "object $e\ntype commit\ntag t\ntagger A <a@x> 1 +0000\n\nx\n" > ../tag
            git hash-object -w -t tag ../tag > .git/ORIG_HEAD"#,
    ),
    ("an object that comes later", "echo 1234567812345678123456781234567812345678 > .git/ORIG_HEAD"),
    ("a commit in the log of HEAD", "e=$(evil); logged $e >> .git/logs/HEAD"),
    ("a commit in the log of a branch", "e=$(evil); logged $e >> .git/logs/refs/heads/main"),
    ("a commit in a new log", "e=$(evil); mkdir -p .git/logs/refs/x; logged $e > .git/logs/refs/x/y"),
    (
        "a commit of another branch in the log of a branch",
        "logged $(git rev-parse old) >> .git/logs/refs/heads/main",
    ),
    (
        "a commit of another branch in the place of a line",
        "sed -i '$d' .git/logs/refs/heads/main; logged $(git rev-parse old) >> .git/logs/refs/heads/main",
    ),
    (
        "a commit of another branch in the log of a ref that is not there",
        "mkdir -p .git/logs/refs/remotes/origin; logged $(git rev-parse old) > .git/logs/refs/remotes/origin/main",
    ),
    ("a branch that goes to another and back", "git reset -q --hard old; git reset -q --hard ORIG_HEAD"),
    ("a line that is none", "echo x >> .git/logs/HEAD"),
    ("back to a commit", "e=$(evil); moved $e"),
    ("back to a short name", "e=$(evil); moved $(echo $e | cut -c1-8)"),
    ("back to a described name", "e=$(evil); moved v1-3-g$(echo $e | cut -c1-8)"),
    ("back to a conflict", "moved MERGE_RR"),
    ("back to a revision", "moved 'main@{1}'"),
    ("bisect from a short name", "e=$(evil); echo $e | cut -c1-9 > .git/BISECT_START"),
    ("bisect from a revision", "echo old~1 > .git/BISECT_START"),
    (
        "a resolved conflict",
        "d=.git/rr-cache/0123456789012345678901234567890123456789; mkdir -p $d; echo a > $d/preimage; echo b > $d/postimage",
    ),
    ("an unknown file of rerere", "d=.git/rr-cache/0123; mkdir -p $d; echo a > $d/x"),
    ("paths of rerere", r"printf '0123\t../x\0' > .git/MERGE_RR"),
    ("a rebase by patches", "mkdir .git/rebase-apply; : > .git/rebase-apply/rebasing"),
    (
        "options of patches",
        "mkdir .git/rebase-apply; echo \"'--unsafe-paths'\" > .git/rebase-apply/apply-opt",
    ),
    ("an unknown file of patches", "mkdir .git/rebase-apply; echo x > .git/rebase-apply/hook"),
    (
        "a patch that comes later",
        "am; git diff main old -- .github > .git/rebase-apply/0002; echo 2 > .git/rebase-apply/last",
    ),
    (
        "a patch with more directories before the name",
        "am; sed -i 's/a.txt/x\\/y\\/.github\\/workflows\\/ci.yml/' .git/rebase-apply/0001",
    ),
    ("the present patch", "am; echo '+++ b/.envrc' >> .git/rebase-apply/patch"),
    (
        "an encoded patch",
        "am; (echo From; echo Content-transfer-encoding: BASE64; echo; base64 .git/rebase-apply/patch) > .git/rebase-apply/0001",
    ),
    (
        "a patch with a quoted name",
        "am; echo '+++ \"b/.github/workflows/\\143i.yml\"' >> .git/rebase-apply/0001",
    ),
    ("objects elsewhere over HTTP", "mkdir -p .git/objects/info; echo x > .git/objects/info/http-alternates"),
    ("an unknown file among objects", "mkdir -p .git/objects/ab; echo x > .git/objects/ab/x.py"),
    (
        "a wrong object in place of one in the pack",
        r#"y=$(git rev-parse old:.github/workflows/ci.yml); mv .git/objects/pack ../pk; mkdir .git/objects/pack
            for p in ../pk/*.pack; do git unpack-objects -q < $p; done; f=.git/objects/${y%${y#??}}/${y#??}; rm -f $f
            perl -MCompress::Zlib -e 'print compress "blob 16\0on: push # EVIL\n"' > $f"#,
    ),
    (
        "a wrong object next to the pack",
        r#"y=$(git rev-parse old:.github/workflows/ci.yml); f=.git/objects/${y%${y#??}}/${y#??}; mkdir -p ${f%/*}
            perl -MCompress::Zlib -e 'print compress "blob 16\0on: push # EVIL\n"' > $f"#,
    ),
    (
        "a wrong object with a new name",
        r#"mkdir -p .git/objects/ab; perl -MCompress::Zlib -e 'print compress "blob 2\0x\n"' \
            > .git/objects/ab/00000000000000000000000000000000000000"#,
    ),
    (
        "a wrong object of git LFS",
        "d=.git/lfs/objects/ab/cd; mkdir -p $d; echo x > $d/abcd567890123456789012345678901234567890123456789012345678901234",
    ),
    (
        "a pack that changed in place",
        r#"p=$(ls .git/objects/pack/*.pack); (mkdir ../x; cd ../x; git init -q; git unpack-objects -q < $OLDPWD/$p)
            cp -rn ../x/.git/objects/?? .git/objects/; chmod u+w $p
            perl -0777 -MCompress::Zlib -pi -e 'my ($good, $evil) = ("on: push # old\n", "on: push # BAD\n"); my $done = 0;
                for my $l (0 .. 9) { my $a = compress $good, $l; my $at = index $_, $a; next if $at < 0 || $done;
                    for my $m (0 .. 9) { my $b = compress $evil, $m; next if length $b != length $a || $done;
                        substr($_, $at, length $a) = $b; $done = 1 } } die "no such object" unless $done' $p"#,
    ),
    ("a lock of a directory that is none", "mkdir .git/hooks2; echo x > .git/hooks2/pre-commit"),
    ("settings of another program", "mkdir -p .git/branchless; echo x > .git/branchless/config"),
    ("a remote of old", "mkdir -p .git/remotes; echo 'URL: build/c.bundle' > .git/remotes/origin"),
    ("a branch of old", "mkdir -p .git/branches; echo build/c.bundle > .git/branches/x"),
    ("a directory of objects that is a link", "mv .git/objects ../o; ln -s ../../o .git/objects"),
    ("a link", "mkdir .git/lfs; rmdir .git/lfs; ln -s /srv .git/lfs"),
];

/// The same in files that wait by themselves: the file.
const HOSTILE_FILES: [(&str, &str, &str); 40] = [
    ("url of a bundle", ".git/config", "git config remote.origin.url ./build/c.bundle"),
    ("url of a path", ".git/config", "git config remote.new.url ../x"),
    ("url of a file", ".git/config", "git config remote.new.url file:///srv/x"),
    ("url of a helper", ".git/config", "git config remote.new.url evil://x"),
    ("another url", ".git/config", "git config remote.origin.url https://example.com/b.git"),
    ("one more url", ".git/config", "git config --add remote.origin.url https://example.com/b.git"),
    ("address of a branch", ".git/config", "git config branch.main.remote build/c.bundle"),
    ("address of a branch on a host", ".git/config", "git config branch.main.remote host:path"),
    ("place of pushes", ".git/config", "git config remote.pushDefault https://example.com/b.git"),
    (
        "a new remote for a branch",
        ".git/config",
        "git remote add new https://example.com/b.git; git config branch.main.remote new",
    ),
    ("fetch into branches", ".git/config", "git config remote.origin.fetch '+refs/heads/*:refs/heads/*'"),
    ("fetch into a branch by its short name", ".git/config", "git config remote.up.fetch +refs/heads/x:main"),
    ("fetch into all refs", ".git/config", "git config remote.up.fetch '+refs/h*:refs/h*'"),
    ("windows of a merge tool", ".git/config", "git config mergetool.vimdiff.layout '`sh<notes.txt`'"),
    ("pushes of everything", ".git/config", "git config remote.origin.mirror true"),
    ("pushes of refs", ".git/config", "git config remote.origin.push :refs/heads/x"),
    ("tags that go", ".git/config", "git config fetch.pruneTags true"),
    ("hooks of git flow", ".git/config", "git config gitflow.path.hooks tools"),
    ("names of patches", ".git/config", "git config format.suffix /../../../x"),
    ("a setting that nobody knows", ".git/config", "git config newtool.hook x"),
    ("an option in a group of remotes", ".git/config", "git config remotes.default --upload-pack=./x.sh"),
    ("a path in a group of remotes", ".git/config", "git config remotes.default ./b.bundle"),
    (
        "an option in a list of words",
        ".git/config",
        "git config grep.patternType 'fixed --open-files-in-pager=./x.sh'",
    ),
    ("options of differences in git gui", ".git/config", "git config gui.diffopts -w"),
    ("a repository without files", ".git/config", "git config core.bare true"),
    ("cookies", ".git/config", "git config http.cookieFile ~/.bashrc"),
    ("cookies of a host", ".git/config", "git config http.https://example.org.saveCookies true"),
    ("certificates", ".git/config", "git config http.sslCAInfo x"),
    ("addresses of hosts", ".git/config", "git config http.curloptResolve example.org:443:127.0.0.1"),
    ("format of steps", ".git/config", "git config rebase.instructionFormat '%s%nexec id'"),
    ("a tool that is a file", ".git/config", "git config merge.tool ../../x"),
    ("options of merges", ".git/config", "git config branch.main.mergeoptions '-s ours'"),
    ("fewer checks", ".git/config", "git config core.protectNTFS false"),
    ("sparse checkout", ".git/config", "git config core.sparseCheckout true"),
    ("pruning", ".git/config", "git config gc.pruneExpire now"),
    ("place of large files", ".git/config", "git config lfs.url https://example.com/x"),
    ("place of bundles", ".git/config", "git config fetch.bundleURI file:///srv/x"),
    ("grafts", ".git/info/grafts", "mkdir -p .git/info; echo $(git rev-parse HEAD) > .git/info/grafts"),
    (
        "a remote that goes and is followed",
        ".git/config",
        "git config --unset remote.origin.url; git config branch.main.remote origin",
    ),
    ("settings that are a directory", ".git/config", "rm .git/config; mkdir .git/config"),
];

/// What tools of people leave in `.git`, and what git itself does there every day.
const HARMLESS: [(&str, &str); 43] = [
    ("locks of an interrupted git", "touch .git/shallow.lock .git/refs/heads/x.lock; echo x > .git/gc.pid"),
    (
        "temporary files",
        "echo x > .git/objects/pack/tmp_pack_1; mkdir -p .git/objects/ab; echo x > .git/objects/ab/tmp_obj_1",
    ),
    ("a temporary index", "cp .git/index .git/next-index-12.lock; cp .git/index .git/index.stash.12"),
    ("a description", "echo x > .git/description; mkdir -p .git/info; echo '*.o' > .git/info/exclude"),
    (
        "messages",
        "for n in COMMIT TAG NOTES PULLREQ; do echo x > .git/${n}_EDITMSG; done; echo x > .git/GITGUI_MSG",
    ),
    ("what an editor leaves", "echo x > .git/.COMMIT_EDITMSG.swp; echo x > .git/COMMIT_EDITMSG~"),
    ("an empty directory", "mkdir -p .git/branches .git/rr-cache .git/refs/jj/keep .git/some"),
    ("lost and found", "mkdir -p .git/lost-found/other; echo x > .git/lost-found/other/x"),
    ("other programs", "echo x > .git/opencode; echo x > .git/gitk.cache; echo x > .git/machete"),
    (
        "git LFS",
        "mkdir -p .git/lfs/tmp .git/lfs/cache/locks/x; echo x > .git/lfs/cache/locks/x/y; h=$(echo x | sha256sum | cut -c1-64); \
         d=.git/lfs/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4); mkdir -p $d; echo x > $d/$h",
    ),
    (
        "maintenance",
        "git config gc.auto 0; git maintenance run --task=loose-objects --task=pack-refs --quiet || git pack-refs --all",
    ),
    ("a graph", "git commit -q --allow-empty -m x; git commit-graph write --reachable"),
    ("a new remote", "git remote add fork https://example.com/b.git; git fetch -q fork 2> /dev/null || true"),
    ("a branch that follows another", "git branch -q topic; git branch -q --set-upstream-to=main topic"),
    (
        "a branch that follows a remote",
        "git config branch.main.remote origin; git config branch.main.merge refs/heads/main",
    ),
    (
        "everyday settings",
        "git config user.name B; git config user.email b@x; git config color.ui auto; git config pull.rebase true; \
         git config push.default current; git config core.autocrlf input; git config core.excludesFile ignored; \
         git config merge.conflictStyle zdiff3; git config diff.algorithm histogram; git config rerere.enabled true; \
         git config commit.gpgSign false; git config branch.main.rebase true; git config fetch.prune true; \
         git config branch.main.vscode-merge-base origin/main; git config remote.origin.gh-resolved base; \
         git config init.defaultBranch main; git config core.quotePath false; git config advice.detachedHead false",
    ),
    (
        "new repositories of all kinds",
        "git init -q --bare b.git; git init -q --object-format=sha256 c; git init -q s; git -C s commit -q --allow-empty -m s; \
         git clone -q --mirror --no-hardlinks s d.git; git clone -q --no-hardlinks s e; git clone -q --depth 1 file://$PWD/s f",
    ),
    ("a remote goes", "git remote remove origin"),
    (
        "checkouts",
        "git switch -q old; git switch -q -; git checkout -q HEAD~1; git switch -q -c t; git switch -q main; git branch -q -D t",
    ),
    ("amends", "git commit -q --amend -m x; git commit -q --amend -m y; git reset -q --hard HEAD@{1}"),
    (
        "a branch with another name and log",
        "git branch -q t; git branch -q -m t u; git reflog expire --expire=now refs/heads/u",
    ),
    (
        "a branch in the place of another",
        "git switch -q -c t HEAD~1; git commit -q --allow-empty -m x; git branch -q -M t main",
    ),
    (
        "a branch that goes back and on",
        "git switch -q -c side HEAD~1; git commit -q --allow-empty -m s; git switch -q main; \
         git reset -q --hard HEAD~1; git commit -q --allow-empty -m x; git commit -q --amend --allow-empty -m y; git reset -q --hard HEAD~1; \
         git merge -q --no-edit side; git rebase -q side; git commit -q --allow-empty -m z",
    ),
    (
        "a branch made at the wrong commit",
        "git switch -q -c new old; git reset -q --hard main; git switch -q main; git merge -q --ff-only new",
    ),
    (
        "a stash entry goes, and logs are cleaned",
        "for n in 1 2 3; do echo $n > a.txt; git stash -q; done; git stash drop -q 'stash@{1}'; git stash pop -q; \
         git reflog expire --expire=now --all; git gc -q",
    ),
    (
        "a branch that is made again",
        "git branch t HEAD~1; git branch -D t; git branch t main; git branch -c t copy; git branch -C main t",
    ),
    (
        "a conflict",
        "git switch -q -c new HEAD~1; echo 3 > a.txt; git commit -qam 3; git merge -q main || true",
    ),
    (
        "a conflict that git records",
        "git -c rerere.enabled=true switch -q -c new HEAD~1; echo 3 > a.txt; git commit -qam 3; \
         git -c rerere.enabled=true merge -q main || test -e .git/rr-cache",
    ),
    (
        "a rebase that stops",
        "git switch -q -c new HEAD~1; echo 3 > a.txt; git commit -qam 3; git commit -q --allow-empty -m 4; \
         git rebase -q --keep-empty -X theirs -s ort main || true; git reset -q --hard; git rebase -q --edit-todo || true",
    ),
    (
        "a rebase of merges that stops",
        "git switch -q -c side HEAD~1; echo s > s; git add s; git commit -qm s; git switch -q -c new HEAD~1; echo 3 > a.txt; \
         git commit -qam 3; git merge -q --no-ff -m m side; git rebase -q -r main || test -e .git/rebase-merge",
    ),
    (
        "a rebase with steps by hand",
        "export GIT_SEQUENCE_EDITOR=\"sed -i -e s/^pick/edit/\"; git commit -q --allow-empty -m x; git rebase -q -i HEAD~2",
    ),
    (
        "a rebase with squashes",
        "for n in 1 2; do echo $n > f; git add f; git commit -qm \"fixup! x\"; done; echo 9 > f; git commit -qam y; \
         export GIT_SEQUENCE_EDITOR=\"sed -i -e '2s/pick/squash/;3s/pick/edit/'\"; git rebase -q -i HEAD~3",
    ),
    (
        "picks that stop",
        "git switch -q -c new HEAD~1; echo 3 > a.txt; git commit -qam 3; git commit -q --allow-empty -m 4; \
         git cherry-pick -x -X patience --strategy ort main new || test -e .git/sequencer/opts",
    ),
    (
        "a rebase that moves other branches and stops",
        "git switch -q -c low HEAD~1; git commit -q --allow-empty -m l; git switch -q -c top; echo 3 > a.txt; git commit -qam 3; \
         git rebase -q --update-refs main || test -e .git/rebase-merge/update-refs",
    ),
    ("patches that stop", "am; git am --show-current-patch > ../shown"),
    (
        "patches that stop in a merge",
        "git switch -q -c am HEAD~1; echo 3 > a.txt; git commit -qam 3; echo é > é; git add é; git commit -qm é; \
         git format-patch -q --stdout HEAD~2 > ../mail; git switch -q main; git am -q -3 --whitespace=fix ../mail || test -e .git/rebase-apply/0002",
    ),
    ("a revert that stops", "echo 3 > a.txt; git commit -qam 3; git revert --no-edit HEAD~1 HEAD || true"),
    ("bisect", "git bisect start -q; git bisect bad HEAD; git bisect good HEAD~1; git bisect log"),
    ("bisect from a commit", "git checkout -q --detach; git bisect start -q; git bisect bad"),
    (
        "fetch",
        "git clone -q . ../c; cd ../c; echo n > n; git add n; git commit -qm n; cd - > /dev/null; git fetch -q ../c",
    ),
    (
        "a worktree",
        "git worktree add -q ../wt2 -b linked 2> /dev/null; cd ../wt2; echo w > w; git add w; git commit -qm w; cd - > /dev/null; \
         git worktree lock ../wt2; git worktree unlock ../wt2; git worktree remove ../wt2",
    ),
    (
        "a repository in the repository",
        "git init -q sub; cd sub; echo x > x; git add .; git commit -qm x; git gc -q",
    ),
    ("many objects", "for n in $(seq 60); do echo $n > f$n; done; git add .; git commit -qm many"),
];

pub(super) fn script(line: &str) -> String {
    format!("{FUNCTIONS}set -e\n{}\n", line.replace("\n            ", "\n"))
}

/// With a remote on a server.
pub(super) fn begun() -> Txn {
    let txn = Txn::on_disk();
    let remote = "git config remote.origin.url https://example.org/a.git; \
        git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'";
    assert_eq!(txn.sh(&txn.tree, &script(&format!("{}; {remote}", BEFORE.replace('\n', " ")))), 0);
    txn
}

fn after_turn(title: &str, agent: &str) -> Txn {
    let txn = begun();
    let turn = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
    let out = txn.placet(turn).env("AGENT_SCRIPT", script(agent)).go();
    // A turn that leaves changes pending ends with 3.
    assert!([0, 3].contains(&out.code), "{title}: {out:#?}");
    assert!(!out.stderr.contains("exit code"), "{title}: {out:#?}");
    txn
}

fn row<'o>(out: &'o Out, begin: &str) -> Option<&'o str> {
    out.stdout.lines().find(|row| row.starts_with(begin))
}

/// What git says of the repository, and what is in its files.
pub(super) fn state(txn: &Txn) -> String {
    const STATE: &str = "export GIT_OPTIONAL_LOCKS=0; (git for-each-ref; find .git -type f -exec md5sum {} + | sort) > ../state";
    txn.sh(&txn.tree, STATE);
    std::fs::read_to_string(txn.base.join("state")).unwrap()
}

#[test]
fn nothing_hostile_is_applied_without_an_answer() {
    if !has_view() || !require("git") {
        return;
    }
    let mut wrong = Vec::new();
    for (title, agent) in some_of(&HOSTILE, 4) {
        let txn = after_turn(title, agent);
        let listed = txn.run(["changes"]);
        // Nothing is pending where git alone keeps such files: they are not applied.
        let is_held = row(&listed, "! M .git (").or(row(&listed, ".git: not applied: ")).is_some();
        let before = state(&txn);
        let out = txn.run(["apply"]);
        let is_refused = is_held && out.code != 0 || listed.stdout.is_empty();
        if !is_refused || before != state(&txn) {
            wrong.push(format!("{title}: {}{out:#?}", listed.stdout));
        }
    }
    assert!(wrong.is_empty(), "{} are not asked for:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn settings_and_links_that_lead_git_elsewhere_wait_by_themselves() {
    if !has_view() || !require("git") {
        return;
    }
    let mut wrong = Vec::new();
    for (title, file, agent) in some_of(&HOSTILE_FILES, 3) {
        let txn = after_turn(title, agent);
        let listed = txn.run(["changes"]);
        let is_it = |word: &str| word.trim_end_matches('/') == *file;
        let is_marked = |row: &str| row.starts_with("! ") && row.split_whitespace().any(is_it);
        let out = txn.run(["apply"]);
        let is_left = txn.run(["changes"]).stdout.lines().any(is_marked);
        if !listed.stdout.lines().any(is_marked) || out.code == 0 || !is_left {
            wrong.push(format!("{title}: {}{out:#?}", listed.stdout));
        }
    }
    assert!(wrong.is_empty(), "{} are not asked for:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_git_and_its_tools_leave_every_day_is_applied_with_the_rest() {
    if !has_view() || !require("git") {
        return;
    }
    let mut wrong = Vec::new();
    for (title, agent) in some_of(&HARMLESS, 3) {
        let txn = after_turn(title, agent);
        let listed = txn.run(["changes"]).stdout;
        // An operation in progress waits for an answer of its own.
        let waits = listed.contains(" in progress");
        let args = ["apply", "--apply-protected", ".git"];
        let out = txn.run(if waits { &args[..] } else { &args[..1] });
        if out.code != 0 || listed.lines().any(|row| row.starts_with('!')) != waits {
            wrong.push(format!("{title}: {listed}{out:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} ask:\n{}", wrong.len(), wrong.join("\n"));
}
