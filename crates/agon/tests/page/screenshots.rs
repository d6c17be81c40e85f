//! Pictures of every view for people to look at: `scripts/screenshots`.

use crate::checks::{furnished, look};
use base64ct::{Base64, Encoding};
use serde_json::json;
use std::path::{Path, PathBuf};

const LOOKS: [(&str, u32, u32, bool); 5] = [
    ("light-1366", 1366, 768, false),
    ("dark-1366", 1366, 768, true),
    ("light-360", 360, 740, false),
    ("dark-360", 360, 740, true),
    ("light-1920", 1920, 1080, false),
];

#[test]
#[ignore = "makes pictures; scripts/screenshots runs it"]
fn every_view_in_every_look() {
    let keep = |file: PathBuf, picture: &str| {
        std::fs::write(file, Base64::decode_vec(picture).unwrap()).unwrap();
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let (world, mut views) = furnished();
    world.house_cup("pond", "fish", &["house:greedy", "house:random", "house:search"]);
    world.until_over("pond");
    views.extend([
        ("#/game/hall/r1m1", "h1"),
        ("#/replay/cup/r1m2/1", "agon-yahtzee *"),
        ("#/replay/pond/r1m1/1", "agon-fish *"),
        ("#/replay/rails/r1m1/1", "agon-trains *"),
        ("#/play", "h1"),
    ]);
    for (who, token) in [("", None), ("operator-", Some(world.operator.as_str()))] {
        let mut browser = match token {
            None => world.browser("#/docs"),
            Some(token) => world.browser_of(token, "#/docs"),
        };
        for (view, sign) in &views {
            for (name, width, height, dark) in LOOKS {
                look(&mut browser, width, height, dark);
                browser.go(view);
                let sign = format!("document.querySelector({}) !== null", json!(sign));
                browser.until_true(&format!("{view} is there"), &sign);
                let shown = view.trim_start_matches("#/").replace(['/', ':'], "-");
                let shown = if shown.is_empty() { "lobby" } else { &shown };
                keep(folder.join(format!("{who}{shown}-{name}.png")), &browser.picture());
                // Those of the README are of this sort.
                if who.is_empty() && width == 1366 {
                    look(&mut browser, 1000, 640, dark);
                    browser.eval("scrollTo(0, 0)");
                    let scheme = if dark { "dark" } else { "light" };
                    keep(folder.join(format!("{shown}-{scheme}.webp")), &browser.small_picture());
                }
            }
        }
    }
}
