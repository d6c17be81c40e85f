//! `agon demo cluster`.

use crate::support::Place;

#[test]
fn demonstration_kills_a_node_verifies_the_cup_and_leaves_nothing() {
    let place = Place::new("");
    let child = place.command(&["demo", "cluster"]).spawn().expect("agon starts");
    let folder = std::env::temp_dir().join(format!("agon-demo-{}", child.id()));
    let ended = child.wait_with_output().expect("agon ends");
    assert!(ended.status.success(), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stdout);
    let parts = ["one PostgreSQL and one NATS", "Killed node 1", "took over after", "Verified: "];
    for part in parts {
        assert!(said.contains(part), "{part} is missing: {ended:?}");
    }
    assert!(!folder.exists(), "{} is left", folder.display());
}
