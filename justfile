# The commands that people need. `just` is optional: each line works without it.

# Format and lints, as the gate checks them
check:
    cargo fmt --all --check && cargo clippy --all-targets -- -D warnings

# All tests, or those whose name contains one of the words: `just test sandbox:: jobs::`
test *WORDS:
    cargo test -- {{ WORDS }}

# Everything a change must pass; installs missing tools
gate:
    .ci/run

# The guide as a book in target/book; installs mdbook if it is missing
guide:
    (command -v mdbook >/dev/null || cargo install --locked mdbook --version 0.5.4 --no-default-features --features search) && mdbook build --dest-dir target/book

# Reference pages and snapshot files, written again from the code; read the difference in git
update:
    INSTA_UPDATE=always cargo test -p placet-ui -p placet-permission --lib
    PLACET_UPDATE=1 INSTA_UPDATE=always cargo test --lib --test main -- reference screens outputs snapshot

# Packages in target/packages: tarball, .deb, .rpm, npm, formulas, SBOM; `just dist --test` installs each in a clean root
dist *FLAGS:
    .ci/dist {{ FLAGS }}

# Packs every crate, and builds each from the packages of the others
packed:
    .ci/packed --build

# The pictures of the guide, from the real program; names the packages that are missing. `just pictures tour` makes some
pictures *SCENES:
    cargo build --bin placet && .ci/pictures/make {{ SCENES }}
