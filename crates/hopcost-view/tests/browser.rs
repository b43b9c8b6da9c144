//! The HTML report in headless Chromium, at the width of a telephone and of a laptop, in light
//! and in dark: nothing sticks out, charts are legible, links lead to what they name. The pages
//! stay in `target/tmp/pages` to be looked at.

mod stored;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hopcost_view::answer::Content;
use serde_json::Value;

const TELEPHONE: u64 = 390;
const WIDTHS: [u64; 2] = [TELEPHONE, 1280];
/// Of the texts of charts, in pixels as they are shown.
const FONT_MIN_PX: f64 = 10.9;

/// Chromium's settings, by what `prefers-color-scheme` becomes.
const DARK: &str = "preferredColorScheme=0";
const LIGHT: &str = "preferredColorScheme=1";

/// A folder of pages.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn browser() -> Command {
    let browser = ["chromium", "chromium-headless-shell"].into_iter().find(|name| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    });
    Command::new(browser.expect("no chromium: scripts/setup test"))
}

/// What the browser finds in pages (and anchors in them) of a folder, each at several widths.
fn measured(folder: &Path, pages: &[String], widths: &[u64], scheme: &str) -> Vec<Value> {
    let mut frames = String::new();
    for page in pages {
        for width in widths {
            frames +=
                &format!("<iframe src=\"{page}\" width=\"{width}\" height=\"800\"></iframe>\n");
        }
    }
    let script = include_str!("browser.js");
    let harness = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<style>iframe{{border:0}}</style>\n\
         <pre id=\"found\"></pre>\n{frames}<script>{script}</script>\n"
    );
    let path = folder.join(format!("frames-{scheme}.html"));
    std::fs::write(&path, harness).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let output = browser()
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        // So that the script may look into the frames.
        .args(["--allow-file-access-from-files", "--enable-logging=stderr", "--v=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings={scheme}"))
        .args(["--window-size=1400,900", "--dump-dom"])
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("chromium starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let is_complaint = |line: &&str| ["CONSOLE", "Uncaught"].iter().any(|word| line.contains(word));
    // Among other things: the policy admits the style and the script.
    assert_eq!(complaints.lines().find(is_complaint), None);
    let page = String::from_utf8(output.stdout).unwrap();
    let found =
        page.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let found = found.expect("what was found").0;
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).expect("JSON")
}

/// What is wrong with a page, in words.
fn faults(found: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let number = |key: &str| found[key].as_u64().unwrap();
    let narrow = number("width") == TELEPHONE;
    if number("scroll") > number("client") {
        faults.push(format!("is {} pixels wide in {}", found["scroll"], found["client"]));
    }
    let mut none = |key: &str, what: &str| {
        let list = found[key].as_array().unwrap();
        faults.extend((!list.is_empty()).then(|| format!("{what}: {:?}", found[key])));
    };
    none("wide", "sticks out");
    none("dead", "links that lead nowhere");
    none("cut", "texts that leave their chart");
    none("scrolled", "scrolls sideways");
    if narrow && found["least"].as_f64().is_some_and(|least| least < FONT_MIN_PX) {
        faults.push(format!("texts of charts of {} pixels", found["least"]));
    }
    if number("links") < 3 {
        faults.push("has no contents".to_owned());
    }
    if found["reached"] == false {
        faults.push("a link leads to what is folded".to_owned());
    }
    if found["sorted"] == false {
        faults.push("does not sort".to_owned());
    }
    if found["pointed"] == false {
        faults.push("says nothing of a mark".to_owned());
    }
    faults
}

fn pages() -> (PathBuf, Vec<String>) {
    let folder = folder("pages");
    let write = |(name, page): (&str, String)| {
        std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
        format!("{name}.html")
    };
    let stored = stored::RUNS.map(|run| (run, stored::shown(&stored::results(run)).html()));
    let worn = ("worn", stored::shown(&stored::worn()).html());
    let judged = ("judged", stored::shown(&stored::judged()).html());
    let pages = stored.into_iter().chain([worn, judged]).map(write).collect();
    (folder, pages)
}

#[test]
fn every_page_fits_a_telephone_and_a_laptop_in_light_and_in_dark() {
    let (folder, mut pages) = pages();
    // Something folded, within something folded.
    pages.push("quick.html#case-1".to_owned());
    let measured = |scheme| measured(&folder, &pages, &WIDTHS, scheme);
    let (light, dark) = std::thread::scope(|scope| {
        let dark = scope.spawn(|| measured(DARK));
        (measured(LIGHT), dark.join().unwrap())
    });
    for (scheme, found) in [(LIGHT, light), (DARK, dark)] {
        assert_eq!(found.len(), pages.len() * WIDTHS.len());
        let mut wrong = Vec::new();
        for page in &found {
            assert_eq!(page["dark"], scheme == DARK);
            let name = format!("{} at {}", page["page"].as_str().unwrap(), page["width"]);
            println!("{name}: {} px high, {} unfolded", page["height"], page["unfolded"]);
            wrong.extend(faults(page).into_iter().map(|fault| format!("{name} {fault}")));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let some = |key: &str| found.iter().any(|page| !page[key].is_null());
        assert!(["sorted", "pointed", "least"].into_iter().all(some));
        assert!(found.iter().any(|page| page["folded"] != 0));
    }
}
