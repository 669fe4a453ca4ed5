//! `placet provider` with nothing configured, and with a provider that the user added.

use crate::support::output::{Project, snapshots};

const GROUP: &str = "providers";

#[test]
fn nothing_is_configured() {
    let cases = [
        ("list", "provider list"),
        ("test", "provider test"),
        ("test_unknown", "provider test nope"),
        ("test_without_key", "provider test anthropic"),
        ("test_without_key_json", "provider test anthropic --json"),
        ("models", "provider models"),
        ("models_without_key", "provider models anthropic"),
        ("remove_unknown", "provider remove nope"),
        ("add_without_address", "provider add mine"),
        ("add_unknown_preset", "provider add mine --preset nope --base-url http://localhost:9/v1 --model m"),
    ];
    snapshots(GROUP, &Project::new(), &cases);
}

#[test]
fn addresses_that_are_not_as_they_should_be() {
    let wrong = [("add_wrong_address", "provider add mine --base-url nowhere --model m")];
    snapshots(GROUP, &Project::new(), &wrong);
    let plain = [("add_plain_http", "provider add mine --base-url http://example.invalid/v1 --model m")];
    snapshots(GROUP, &Project::new(), &plain);
}

#[test]
fn a_provider_is_added_and_removed() {
    let cases = [
        ("add", "provider add mine --base-url http://localhost:9/v1 --model m --default"),
        ("add_again", "provider add mine --base-url http://localhost:9/v1 --model m"),
        ("list_own", "provider list"),
        ("remove", "provider remove mine"),
        ("remove_again", "provider remove mine"),
    ];
    snapshots(GROUP, &Project::new(), &cases);
}
