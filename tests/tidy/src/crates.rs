//! Promises about crates: dependencies go one way, and their versions stand in one place.

use crate::assert_none;
use crate::tree::{File, files};
use toml::{Table, Value};

/// The packages of the workspace. Each may depend on those before it only; what tests need is free.
const ORDER: &[&str] = &[
    "agon-games",
    "agon-stats",
    "agon-core",
    "agon-embed",
    "agon-wire",
    "agon-store",
    "agon-bots",
    "agon-analysis",
    "agon-engine",
    "agon-driver",
    "agon-client",
    "agon-runner",
    "agon-server",
    "agon-bench",
    "agon",
    "agon-sim",
    "agon-servers",
    "agon-chaos",
    "agon-fuzz",
    "agon-tidy",
];

/// The manifests of the workspace's packages, with their names.
fn manifests() -> Vec<(File, String, Table)> {
    let files = files("Cargo.toml").into_iter();
    let outside = |path: &str| path == "Cargo.toml" || path.starts_with("fuzz/runner/");
    let packages = files.filter(|file| !outside(&file.path)).map(|file| {
        let manifest: Table = file.text.parse().expect("a manifest");
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        (file, name, manifest)
    });
    packages.collect()
}

fn dependencies<'a>(
    manifest: &'a Table,
    sort: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    manifest.get(sort).and_then(Value::as_table).into_iter().flatten()
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let mut complaints = Vec::new();
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    for (file, name, manifest) in manifests() {
        let Some(own) = place(&name) else {
            complaints.push(format!("{}: {name} has no place in ORDER of {}", file.path, file!()));
            continue;
        };
        let needed = dependencies(&manifest, "dependencies").map(|(name, _)| name);
        let ours = needed.filter(|name| name.as_str() == "agon" || name.starts_with("agon-"));
        let upwards = ours.filter(|needed| place(needed).is_none_or(|place| place >= own));
        complaints.extend(upwards.map(|needed| format!("{}: {name} needs {needed}", file.path)));
    }
    assert_none(&complaints);
}

#[test]
fn versions_of_dependencies_stand_in_the_workspace() {
    let mut complaints = Vec::new();
    for (file, _, manifest) in manifests() {
        for sort in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let own = dependencies(&manifest, sort).filter(|(_, how)| {
                how.is_str() || how.get("version").is_some() || how.get("git").is_some()
            });
            complaints.extend(own.map(|(name, _)| {
                format!("{}: {name} has a version of its own; write `.workspace = true`", file.path)
            }));
        }
    }
    assert_none(&complaints);
}
