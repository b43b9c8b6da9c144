use super::*;
use crate::chart::tests::well_formed;
use crate::stored::{RUNS, judged, results, with_texts, worn};
use hopcost_model::results::{Statistic, ThreadResult};

/// FIPS 180-4, plainly.
fn sha256(message: &[u8]) -> [u8; 32] {
    fn root_bits(n: u32, root: impl Fn(f64) -> f64) -> u32 {
        // The first 32 bits of the fraction; an f64 holds more than enough of them.
        (root(f64::from(n)).fract() * 4_294_967_296.0) as u32
    }
    let primes: Vec<u32> = (2..).filter(|n| (2..*n).all(|d| n % d != 0)).take(64).collect();
    let k: Vec<u32> = primes.iter().map(|p| root_bits(*p, f64::cbrt)).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|p| root_bits(*p, f64::sqrt)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut w: Vec<u32> =
            block.chunks(4).map(|b| u32::from_be_bytes(b.try_into().unwrap())).collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 =
                v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        for (sum, part) in h.iter_mut().zip(v) {
            *sum = sum.wrapping_add(part);
        }
    }
    let bytes: Vec<u8> = h.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |n: u32| DIGITS[(n & 63) as usize] as char;
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let mut n = [0; 4];
        n[1..=three.len()].copy_from_slice(three);
        let n = u32::from_be_bytes(n);
        let digits = [18, 12, 6, 0].map(|shift| digit(n >> shift));
        out.extend(&digits[..=three.len()]);
        out.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    out
}

fn between<'a>(page: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    page.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

#[test]
fn the_hash_here_is_sha256() {
    let hex: String = sha256(b"abc").iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(base64(b"hopco"), "aG9wY28=");
}

#[test]
fn the_policy_admits_this_style_and_this_script() {
    let page = report(&worn());
    for (element, hash) in [("style", STYLE_HASH), ("script", SCRIPT_HASH)] {
        let found = between(&page, &format!("<{element}>"), &format!("</{element}>"));
        assert_eq!(found.len(), 1, "one <{element}>");
        let now = format!("sha256-{}", base64(&sha256(found[0].as_bytes())));
        assert_eq!(now, hash, "the {element} was changed: put this hash into html/mod.rs");
    }
}

const VOID: &[&str] = &["!doctype", "meta", "br"];

fn ids(page: &str) -> Vec<&str> {
    between(page, " id=\"", "\"")
}

#[test]
fn the_page_is_well_formed_and_its_links_lead_somewhere() {
    for results in [worn(), judged()].into_iter().chain(RUNS.map(results)) {
        let page = report(&results);
        well_formed(&page, VOID).unwrap();
        let mut ids = ids(&page);
        for link in between(&page, " href=\"", "\"") {
            let target = link.strip_prefix('#').expect("no link leaves the page");
            assert!(ids.contains(&target), "{link}");
        }
        for described in between(&page, " aria-describedby=\"", "\"") {
            assert!(ids.contains(&described), "{described}");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id comes twice");
    }
}

#[test]
fn sections_are_there_where_there_is_something() {
    let ids = |run| {
        let page = report(&results(run));
        let all = between(&page, "<section id=\"", "\"");
        let every =
            ["answer", "remarks", "percentiles", "trials", "findings", "host", "cases", "reading"];
        let own = all.iter().filter(|id| !every.contains(id)).map(|id| (*id).to_owned());
        own.collect::<Vec<_>>()
    };
    assert_eq!(ids("wakeup"), ["document", "wake", "idling", "spread", "plots"]);
    assert_eq!(ids("copies"), ["document", "streams", "models", "plots"]);
    assert_eq!(ids("threads-udp-websocket"), ["document", "ladder", "counted", "plots"]);
    assert_eq!(ids("microkernel"), ["document", "ladder", "models", "plots"]);
    let of_runtimes = ["runtimes", "contrasts", "added", "pairs", "search", "threads", "stamps"];
    assert_eq!(
        ids("runtimes"),
        [&["document"], &of_runtimes[..], &["workers", "ladder", "published", "plots"]].concat()
    );
}

#[test]
fn the_answer_and_the_first_table_are_unfolded_and_the_rest_is_folded_but_there() {
    for (run, first) in [("quick", "ladder"), ("wakeup", "wake"), ("runtimes", "runtimes")] {
        let page = report(&results(run));
        let parts = between(&page, "<details class=\"part\"", "<section id=\"");
        let ids = between(&page, "<section id=\"", "\"");
        assert_eq!(parts.len(), ids.len());
        let sections = parts.iter().zip(&ids);
        let open: Vec<&str> =
            sections.filter(|(part, _)| part.starts_with(" open")).map(|(_, id)| *id).collect();
        let document = (run != "quick").then_some("document");
        let expected: Vec<&str> = document.into_iter().chain(["answer", first]).collect();
        assert_eq!(open, expected, "{run}");
    }
}

#[test]
fn what_was_not_counted_is_said_and_is_no_zero() {
    let page = report(&results("quick"));
    assert!(page.contains("Not counted: cycles, instructions: no performance monitoring unit"));
    assert!(!page.contains("class=\"n\">cycles<") && page.contains("class=\"n\">ticks<"));
    let page = report(&worn());
    assert!(page.contains("class=\"n\">cycles<") && !page.contains("Not counted: cycles"));
    let page = report(&results("copies"));
    assert!(page.contains(">not counted: no performance monitoring unit"));
}

#[test]
fn plots_have_their_notes_and_numbers() {
    let results = results("copies");
    let page = report(&results);
    for plot in &results.plots {
        for note in &plot.notes {
            assert!(page.contains(&format!("<p class=\"note\">{}</p>", Esc(note))), "{note}");
        }
    }
    assert!(page.contains("<td>1 KiB</td>"), "the table under a plot");
}

#[test]
fn what_a_band_spans_is_noted_once_below_its_plot() {
    let mut kinds = Vec::new();
    for plot in ["wakeup", "copies", "microkernel"].map(|run| results(run).plots).concat() {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let banded = points().any(|point| point.low.is_some());
        let of_band = plot.notes.iter().filter(|note| note.starts_with("Band: "));
        let of_band: Vec<String> = of_band.cloned().collect();
        assert_eq!(of_band.len(), usize::from(banded), "{}: {:?}", plot.id, plot.notes);
        kinds.extend(of_band);
    }
    // Samples, and intervals for the next run or of this one.
    for kind in ["p5 to p95", "interval of each point"] {
        assert!(kinds.iter().any(|note| note.contains(kind)), "{kinds:?}");
    }
}

#[test]
fn threads_and_the_replay_of_a_case_are_in_its_details() {
    let results = results("runtimes");
    let page = report(&results);
    let (_, cases) = page.split_once("<section id=\"cases\"").unwrap();
    let details = between(cases, "<details class=\"one\"", "</details>");
    for (case, details) in results.results.iter().zip(details) {
        let replay = case.replay.as_ref().map(|replay| Esc(replay).to_string());
        assert!(replay.is_none_or(|replay| details.contains(&replay)), "{}", case.id);
        let tied = |t: &ThreadResult| {
            case.threads.iter().any(|other| other.process == t.process && other.seat.is_some())
        };
        let of = |t: &ThreadResult| t.seat.is_none() && tied(t);
        let hidden = details.contains(">hidden</td>");
        assert_eq!(hidden, case.threads.iter().any(of), "{}", case.id);
    }
    assert!(page.contains("<th scope=\"row\">worker (2 threads)</th>"));
}

#[test]
fn every_chart_finding_and_case_is_on_the_page() {
    for results in [worn()].into_iter().chain(RUNS.map(results)) {
        all_is_on_the_page(&results);
    }
}

fn all_is_on_the_page(results: &hopcost_model::results::Results) {
    let page = report(results);
    for chart in crate::chart::charts(results) {
        assert!(page.contains(&format!("id=\"{}\"", chart.id)), "{}", chart.id);
    }
    let escaped = |text: &str| Esc(text).to_string();
    for finding in &results.findings {
        assert!(page.contains(&escaped(&finding.evidence)), "{}", finding.evidence);
        assert!(page.contains(&escaped(&finding.remedy)), "{}", finding.remedy);
    }
    for case in &results.results {
        assert!(page.contains(&escaped(&case.command)), "{}", case.command);
        assert!(case.reason.as_deref().is_none_or(|reason| page.contains(&escaped(reason))));
    }
    for reading in &results.host.readings {
        assert!(page.contains(&escaped(reading.reason.as_deref().unwrap_or(&reading.key))));
    }
}

#[test]
fn hostile_texts_stay_texts() {
    let evil = "replay:\"'><script>alert(1)</script><img src=x onerror=alert(2)>&\u{202e}\u{0}";
    let texts = "command suite id started version source section key value reason title meaning \
                 label wait error estimand evidence remedy";
    let mut results = with_texts(&worn(), texts, evil);
    results.remarks.push(evil.to_owned());
    results.plan.baseline = Some(evil.to_owned());
    results.about.build.slow.push(evil.to_owned());
    results.host_changes[0].before = Some(evil.to_owned());
    for case in &mut results.results {
        for statistic in [Statistic::P50, Statistic::P99] {
            let estimates = case.estimates.as_mut();
            let Some(estimate) = estimates.and_then(|e| e.get_mut(statistic)) else { continue };
            estimate.insufficient = Some(evil.to_owned());
        }
    }
    for finding in &mut results.findings {
        finding.case = Some(evil.to_owned());
    }
    let page = report(&results);
    well_formed(&page, VOID).unwrap();
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img") && !page.contains('\u{202e}') && !page.contains('\u{0}'));
    for chart in crate::chart::charts(&results) {
        well_formed(&crate::chart::svg(&chart), &[]).unwrap();
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut results = results("interrupted");
    let page = report(&results);
    assert!(page.contains("This run was cut off: 1 of 6 rounds"));
    assert!(page.contains("not available: no cpufreq driver"));
    results.results.clear();
    results.ladder.clear();
    results.findings.clear();
    results.host_changes.clear();
    results.host.readings.clear();
    well_formed(&report(&results), VOID).unwrap();
}

#[test]
fn the_script_stays_small_and_asks_for_nothing() {
    assert!(SCRIPT.len() < 9_000, "{} bytes", SCRIPT.len());
    for word in ["fetch", "XMLHttpRequest", "import", "eval", "innerHTML", "http"] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
}
