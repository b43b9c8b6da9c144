use super::*;
use crate::answer::Content;
use crate::chart::tests::{python, well_formed};
use crate::stored::{RUNS, judged, results, shown, with_texts, worn};
use hopcost_read::results::{Results, Statistic};

fn report(results: &Results) -> String {
    shown(results).html()
}

/// As a policy names a text.
fn sha256(text: &str) -> String {
    let program = "import base64, hashlib, sys; sha = hashlib.sha256(sys.stdin.buffer.read()); \
                   print('sha256-' + base64.b64encode(sha.digest()).decode())";
    python(program, text).unwrap()
}

fn between<'a>(page: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    page.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

#[test]
fn the_policy_admits_this_style_and_this_script_and_nothing_from_elsewhere() {
    let page = report(&worn());
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
    for (element, hash) in [("style", STYLE_HASH), ("script", SCRIPT_HASH)] {
        let found = between(&page, &format!("<{element}>"), &format!("</{element}>"));
        assert_eq!(found.len(), 1, "one <{element}>");
        let now = sha256(found[0]);
        assert_eq!(now, hash, "the {element} was changed: put this hash into html/mod.rs");
    }
}

fn ids(page: &str) -> Vec<&str> {
    between(page, " id=\"", "\"")
}

#[test]
fn the_page_is_well_formed_and_its_links_lead_somewhere() {
    for results in [worn(), judged()].into_iter().chain(RUNS.map(results)) {
        let page = report(&results);
        well_formed(&page).unwrap();
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
fn the_answer_and_the_first_table_are_unfolded_and_the_rest_is_folded_but_there() {
    for (run, first) in [("quick", "ladder"), ("wakeup", "wake"), ("runtimes", "workers")] {
        let page = report(&results(run));
        let parts = between(&page, "<details class=\"part\"", "<section id=\"");
        let ids = between(&page, "<section id=\"", "\"");
        assert_eq!(parts.len(), ids.len());
        let sections = parts.iter().zip(&ids);
        let open: Vec<&str> =
            sections.filter(|(part, _)| part.starts_with(" open")).map(|(_, id)| *id).collect();
        let document = (run != "quick").then_some("document");
        let expected: Vec<&str> = ["answer"].into_iter().chain(document).chain([first]).collect();
        assert_eq!(open, expected, "{run}");
    }
}

#[test]
fn what_was_not_counted_is_said_and_is_no_zero() {
    let page = report(&results("quick"));
    assert!(page.contains("Not counted: cycles, instructions: no performance monitoring unit"));
    assert!(!page.contains("class=\"n\">cycles<"));
    let page = report(&worn());
    assert!(page.contains("cycles") && !page.contains("Not counted: cycles"));
}

#[test]
fn threads_of_a_case_are_in_its_details() {
    let page = report(&results("runtimes"));
    let (_, cases) = page.split_once("<section id=\"cases\"").unwrap();
    for said in [">Threads</h", ">hopcost-cpp</td>", ">worker</td>", ">callee<"] {
        assert!(cases.contains(said), "{said}");
    }
}

#[test]
fn every_chart_finding_and_case_is_on_the_page() {
    for results in [worn()].into_iter().chain(RUNS.map(results)) {
        all_is_on_the_page(&results);
    }
}

fn all_is_on_the_page(results: &Results) {
    let page = report(results);
    for chart in crate::section::charts(results) {
        assert!(page.contains(&format!("id=\"{}\"", chart.id)), "{}", chart.id);
    }
    let escaped = |text: &str| Esc(text).to_string();
    for finding in &results.findings {
        assert!(page.contains(&escaped(&finding.evidence)), "{}", finding.evidence);
        assert!(page.contains(&escaped(&finding.remedy)), "{}", finding.remedy);
    }
    for case in &results.results {
        assert!(page.contains(&escaped(&case.id)), "{}", case.id);
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
                 label wait error evidence remedy";
    let mut results = with_texts(&worn(), texts, evil);
    results.remarks.push(evil.to_owned());
    results.plan.baseline = Some(evil.to_owned());
    results.about.build.slow.push(evil.to_owned());
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
    well_formed(&page).unwrap();
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img") && !page.contains('\u{202e}') && !page.contains('\u{0}'));
    let charts = crate::section::plots::of_run(&results);
    let charts: String = charts.iter().map(crate::chart::svg).collect();
    well_formed(&format!("<all>{charts}</all>")).unwrap();
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
    results.host.readings.clear();
    well_formed(&report(&results)).unwrap();
}

#[test]
fn the_page_of_a_ladder_is_small_and_begins_with_its_conclusion() {
    let page = report(&results("ladder"));
    assert!(page.len() <= 300_000, "{} bytes", page.len());
    let banner = between(&page, "<div class=\"banner\">", "</div>\n<")[0];
    assert!(banner.contains("Fastest round trip") && banner.contains("one CPU"), "{banner}");
    let (chart, table) = (page.find("<svg").unwrap(), page.find("<table").unwrap());
    assert!(page.find(banner).unwrap() < chart && chart < table, "charts before tables");
    let budget = "the budget of 60 s was spent";
    let mut ended = results("ladder");
    ended.plan.ended_early = Some(budget.to_owned());
    assert_eq!(report(&ended).matches(budget).count(), 1, "once");
}
