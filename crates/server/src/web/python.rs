//! The Python client with its examples as one archive, so that somebody who has only this server's
//! address can write a bot.
//!
//! The archive is a tar file in the format ustar, compressed by gzip. Its headers are twelve lines
//! here, which is less than another dependency.

use super::Answer;
use axum::http::header;
use axum::response::IntoResponse;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::OnceLock;

pub(super) const GZIP: &str = "application/gzip";

/// Headers and contents in a tar file fill whole blocks of this size.
const BLOCK_BYTES: usize = 512;

macro_rules! files {
    ($($name:literal from $path:literal),* $(,)?) => {
        /// The files: their paths in the archive, and their texts.
        const FILES: &[(&str, &str)] = &[$((
            concat!("agon-python/", $name),
            include_str!(concat!("../../../../clients/python/", $path)),
        )),*];
    };
}

files![
    "README.md" from "README.md",
    "agon/__init__.py" from "src/agon/__init__.py",
    "agon/api.py" from "src/agon/api.py",
    "agon/bot.py" from "src/agon/bot.py",
    "agon/cli.py" from "src/agon/cli.py",
    "agon/client.py" from "src/agon/client.py",
    "agon/errors.py" from "src/agon/errors.py",
    "agon/fish.py" from "src/agon/fish.py",
    "agon/fish_wire.py" from "src/agon/fish_wire.py",
    "agon/messages.py" from "src/agon/messages.py",
    "agon/py.typed" from "src/agon/py.typed",
    "agon/receipt.py" from "src/agon/receipt.py",
    "agon/sse.py" from "src/agon/sse.py",
    "agon/stdio.py" from "src/agon/stdio.py",
    "agon/trains.py" from "src/agon/trains.py",
    "agon/transport.py" from "src/agon/transport.py",
    "agon/websocket.py" from "src/agon/websocket.py",
    "agon/yahtzee.py" from "src/agon/yahtzee.py",
    "fish.py" from "examples/fish.py",
    "fish_messages.py" from "examples/fish_messages.py",
    "trains.py" from "examples/trains.py",
    "yahtzee.py" from "examples/yahtzee.py",
];

pub(super) async fn archive() -> Answer {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = ARCHIVE.get_or_init(|| compressed(&packed(FILES)));
    let headers = [
        (header::CONTENT_TYPE, GZIP),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, bytes.as_slice()).into_response())
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes).and_then(|()| gzip.finish()).expect("memory takes every byte")
}

/// A tar file.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (path, text) in files {
        tar.extend_from_slice(&header_of(path, text.len()));
        tar.extend_from_slice(text.as_bytes());
        tar.resize(tar.len().next_multiple_of(BLOCK_BYTES), 0);
    }
    // Two empty blocks are the end.
    tar.resize(tar.len() + 2 * BLOCK_BYTES, 0);
    tar
}

/// The header of a file that everybody may read, in the format ustar.
fn header_of(path: &str, bytes: usize) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{bytes:011o}\0"));
    put(136, "00000000000\0");
    // The checksum counts its own field as spaces; `0` is a plain file.
    put(148, "        0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    fn client() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python")
    }

    #[test]
    fn archive_has_every_file_of_the_client() {
        let names = |folder: &str, within: &str| -> Vec<String> {
            let entries = std::fs::read_dir(client().join(folder)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let files = names.filter(|name| name.ends_with(".py"));
            files.map(|name| format!("agon-python/{within}{name}")).collect()
        };
        let there: BTreeSet<String> =
            [names("src/agon", "agon/"), names("examples", "")].concat().into_iter().collect();
        let packed = FILES.iter().map(|(path, _)| (*path).to_owned());
        let packed: BTreeSet<String> = packed.filter(|path| path.ends_with(".py")).collect();
        assert_eq!(packed, there);
    }

    #[test]
    fn tar_unpacks_the_archive_and_python_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("agon-python.tar.gz");
        std::fs::write(&archive, compressed(&packed(FILES))).unwrap();
        let unpacked = Command::new("tar").arg("xzf").arg(&archive).current_dir(&folder).status();
        assert!(unpacked.unwrap().success());
        for (path, text) in FILES {
            assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), *text, "{path}");
        }
        let place = folder.path().join("agon-python");
        let help = Command::new("python3")
            .args(["-S", "yahtzee.py", "--help"])
            .current_dir(place)
            .output();
        let help = String::from_utf8(help.unwrap().stdout).unwrap();
        assert!(help.contains("--queue"), "{help}");
    }
}
