//! Promises about crates: dependencies go one way, and their versions stand in one place.

use crate::assert_none;
use crate::tree::{File, files, top};
use std::collections::BTreeSet;
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

/// The crates that decide. Time, randomness, files and messages come to them as arguments.
const PURE: &[&str] = &["agon-games", "agon-stats", "agon-core", "agon-wire", "agon-engine"];

/// Crates that wait, have sockets or threads, know the time, or make random numbers.
const OUTSIDE: &[&str] = &[
    "tokio",
    "mio",
    "socket2",
    "hyper",
    "axum",
    "rustix",
    "rusqlite",
    "postgres",
    "getrandom",
    "rand",
    "chrono",
    "time",
    "tracing",
];

/// Parts of the standard library that the crates in [`PURE`] do not use.
const OUTSIDE_STD: &[&str] = &[
    "Instant",
    "SystemTime",
    "std::env",
    "std::fs",
    "std::io::std",
    "std::process",
    "std::thread",
    "TcpListener",
    "TcpStream",
    "UdpSocket",
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

/// The dependencies of a foreign package. Of our own ones Cargo.lock also has those of tests.
fn locked(packages: &[Value], name: &str) -> Vec<String> {
    let same = packages.iter().filter(|package| package["name"].as_str() == Some(name));
    let needed = same.filter_map(|package| package.get("dependencies")?.as_array()).flatten();
    needed.filter_map(|other| Some(other.as_str()?.split(' ').next()?.to_owned())).collect()
}

#[test]
fn crates_that_decide_have_no_runtime_and_no_socket_among_their_dependencies() {
    let text = std::fs::read_to_string(top().join("Cargo.lock")).expect("Cargo.lock");
    let lock: Table = text.parse().expect("Cargo.lock is TOML");
    let packages = lock["package"].as_array().expect("packages");
    let manifests = manifests();
    let mut complaints = Vec::new();
    for pure in PURE {
        let (_, _, own) = manifests.iter().find(|(_, name, _)| name == pure).expect("a manifest");
        let own = dependencies(own, "dependencies").map(|(name, _)| name.clone());
        let mut waiting: Vec<String> = own.filter(|name| !PURE.contains(&&**name)).collect();
        let mut needed = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if needed.insert(name.clone()) {
                waiting.extend(locked(packages, &name));
            }
        }
        let found = needed.iter().filter(|name| OUTSIDE.contains(&name.as_str()));
        complaints.extend(found.map(|name| format!("{pure} needs {name}")));
        assert!(*pure == "agon-stats" || needed.contains("serde"), "{pure}: {needed:?}");
    }
    assert_none(&complaints);
}

#[test]
fn crates_that_decide_use_no_clock_file_socket_or_thread() {
    let mut complaints = Vec::new();
    let folders =
        PURE.iter().map(|name| format!("crates/{}/src/", name.trim_start_matches("agon-")));
    let folders: Vec<String> = folders.collect();
    let is_pure = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    for file in files(".rs").iter().filter(|file| is_pure(&file.path) && !is_test(&file.path)) {
        let product = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (line, text) in (1..).zip(product.lines()) {
            let code = text.split("//").next().unwrap_or_default();
            let used = OUTSIDE_STD.iter().filter(|name| code.contains(*name));
            complaints.extend(used.map(|name| format!("{}:{line}: uses {name}", file.path)));
        }
    }
    assert_none(&complaints);
}
