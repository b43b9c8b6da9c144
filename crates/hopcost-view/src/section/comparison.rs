//! Cases beside a baseline, live or of stored runs: each in a sentence, and a line per case below.

use std::cmp::Ordering;

use hopcost_model::Case;
use hopcost_model::group::distinct;
use hopcost_model::text::{count, some};
use hopcost_read::results::{
    Compared, ComparedRun, Comparison, Contrast, Ratio, Results, RunComparison, Verdict,
};

use super::along;
use super::contrasts::{self, beside, difference, margin, name, verdict};
use super::headline::{Headline, disturbed};
use super::model::{
    Block, Cell, Document, Medium, Rows, Section, Unit as Digits, drawn, notes, numbers, words,
};
use super::words::keys;
use crate::chart::model::Chart;
use crate::names::{Place, capitalised};
use crate::number;

/// Cases that an answer begins with.
const SAID_MAX: usize = 3;
/// Names that a line lists.
const NAMED_MAX: usize = 4;

/// What a live comparison says first.
pub(super) fn live(found: &Comparison, results: &Results) -> Headline {
    let rests = format!("{}{}", in_common(found), disturbed(results));
    let said = headline(&found.compared, "the baseline", SAID_MAX, &rests);
    let Some(why) = &found.invalid else { return said };
    let says = std::iter::once(said.title).chain(said.says).collect();
    Headline { title: format!("Invalid: {why}."), says, ..said }
}

/// A live comparison, below what it says first.
pub(super) fn blocks(found: &Comparison) -> Vec<Block> {
    let itself = found.copy.contrast.map(|of| difference(of).shown);
    let itself = itself.map_or(String::new(), |of| format!(" The baseline against itself: {of}."));
    let block_s = found.took_s / f64::from(found.blocks.max(1));
    let more =
        |blocks| format!("{blocks} blocks (--budget {}s)", (f64::from(blocks) * block_s).ceil());
    let said = [
        Some(format!("Baseline: {}.{itself}", found.copy.baseline)),
        Some("A difference is of neighbours in a block, a median of all trials.".to_owned()),
        undecided(&found.compared, found.margin, more),
    ];
    let table = table(&found.compared, "blocks");
    std::iter::once(table).chain(notes(said.into_iter().flatten())).collect()
}

/// What a comparison of stored runs, or along an axis, says first.
fn of_runs(found: &RunComparison, most: usize) -> Headline {
    if let Some(along) = &found.along {
        return along::headline(found, along);
    }
    let (baseline, other) = (found.baseline.len(), found.other.len());
    let sides = match &found.hosts {
        Some(hosts) => format!("{} before and after", count(hosts.n_hosts as usize, "host")),
        None => format!("{} against {baseline}", count(other, "run")),
    };
    let rests = format!("{sides}, {}", margin(found.margin));
    match ranked(found) {
        Some(title) => Headline { title, says: vec![format!("{rests}.")], ..Headline::default() },
        None => headline(&all(found), "in the baseline", most, &rests),
    }
}

/// What is compared: each side's geometric mean, where it is asked for, and every case.
fn all(found: &RunComparison) -> Vec<Compared> {
    found.summary.iter().chain(&found.compared).cloned().collect()
}

/// How several sides lie to their baseline, the slowest first.
fn ranked(found: &RunComparison) -> Option<String> {
    let all = all(found);
    let sides = distinct(all.iter().filter_map(|of| of.side.clone()));
    let side = |name: &String| {
        let own: Vec<&Compared> = all.iter().filter(|of| of.side.as_ref() == Some(name)).collect();
        let are = |side: Ordering| {
            let is_it = |of: &&&Compared| of.contrast.and_then(|of| of.side()) == Some(side);
            own.iter().filter(is_it).count()
        };
        let said = match own.as_slice() {
            [one] => verdict(one),
            [mean, ..] if !found.summary.is_empty() => {
                format!("{} ({})", verdict(mean), mean.case)
            }
            _ => {
                let (slower, faster) = (are(Ordering::Greater), are(Ordering::Less));
                format!("{slower} of {} slower, {faster} faster", count(own.len(), "case"))
            }
        };
        (own.first().and_then(|of| of.contrast).map_or(0.0, |of| of.ratio), name.clone(), said)
    };
    let mut sides: Vec<(f64, String, String)> = sides.iter().map(side).collect();
    sides.sort_by(|a, b| b.0.total_cmp(&a.0));
    let sides: Vec<String> =
        sides.iter().map(|(_, name, said)| format!("{name}: {said}")).collect();
    let baseline = runs("run", &found.baseline);
    (!sides.is_empty()).then(|| format!("Beside {baseline}: {}.", sides.join("; ")))
}

/// The same with all cases, as a document.
pub fn document(found: &RunComparison, medium: Medium) -> Document {
    let blocks = match &found.along {
        Some(along) => along::blocks(found, along),
        None => {
            let unit = if found.hosts.is_some() { "hosts" } else { "runs" };
            let table = table(&all(found), unit);
            std::iter::once(table).chain(notes(said(found))).collect()
        }
    };
    let charts = drawn(charts(found)).filter(|_| medium == Medium::Page);
    let charts = charts.and_then(|of| Section::of("along", [of]));
    of_runs(found, SAID_MAX).document(blocks, charts.into_iter().collect())
}

/// Each case in a sentence to paste, then what they rest on.
pub(crate) fn sentences(found: &RunComparison) -> Vec<String> {
    let against = format!("{}.", capitalised(&against(found)));
    of_runs(found, usize::MAX).sentences().into_iter().chain([against]).collect()
}

/// The ratio along an axis.
pub(crate) fn charts(found: &RunComparison) -> Vec<Chart> {
    found.along.iter().flat_map(|along| along::charts(found, along)).collect()
}

/// The first cases in a sentence each, then what they rest on.
fn headline(compared: &[Compared], itself: &str, most: usize, rests: &str) -> Headline {
    let all = ordered(compared);
    let said = all.iter().take(most).map(|of| sentence(of, compared, itself));
    let mut said = said.collect::<Vec<_>>().into_iter();
    let title = said.next().unwrap_or("No case was measured on both sides.".to_owned());
    let more = all.len().saturating_sub(most);
    let more = if more > 0 { format!("{more} more below. ") } else { String::new() };
    let ids = compared.iter().flat_map(|of| [of.case.as_str(), of.baseline.as_str()]);
    let says = said.chain([more + &placed(ids, &format!("{rests}."))]).collect();
    Headline { title, says, ..Headline::default() }
}

/// A sentence with the place at which all of these cases were measured, if that is one.
pub(super) fn placed<'a>(ids: impl Iterator<Item = &'a str>, said: &str) -> String {
    let of = |id: &str| {
        let place = Place::of(&id.parse::<Case>().ok()?);
        matches!(place, Place::One | Place::Two).then_some(place)
    };
    match distinct(ids.map(of)).as_slice() {
        [Some(place)] => format!("On {}: {said}", place.name()),
        _ => said.to_owned(),
    }
}

/// What changed first, then what is open.
fn ordered(compared: &[Compared]) -> Vec<&Compared> {
    let mut all: Vec<&Compared> = compared.iter().collect();
    all.sort_by_key(|of| match of.contrast.map(|of| of.verdict) {
        Some(Verdict::Outside) => u8::from(!of.looks_slower()),
        Some(Verdict::Open) | None => 2,
        Some(Verdict::Inside) => 3,
    });
    all
}

/// A line per case without the keys in which it is like the others.
fn table(compared: &[Compared], unit: &str) -> Block {
    let like = match compared {
        [first, ..] if first.case != first.baseline => first.baseline.clone(),
        all => format!("?{}", shared(all).join("&")),
    };
    let n = |of: &Compared| of.contrast.map(|of| of.n);
    let is_even = compared.iter().all(|of| n(of) == n(&compared[0]));
    let percent = |ratio: f64| Cell::text(format!("{:+.1} %", (ratio - 1.0) * 100.0));
    let median = |head: &str| numbers(head).over("median");
    Rows::of(&ordered(compared))
        .column(words("verdict"), |of| Cell::text(verdict(of)))
        .column(numbers("difference [interval]"), |of| difference(of.contrast))
        .column(numbers("measured again"), |of| {
            of.again.as_ref().map_or(Cell::none(), |again| difference(again.contrast))
        })
        .column(numbers("raw"), move |of| of.met_ratio.map_or(Cell::none(), percent))
        .column(words("side"), |of| of.side.as_ref().map_or(Cell::none(), Cell::text))
        .column(words("of"), |of| Cell::code(beside(&of.case, &like)))
        .column(median("baseline").fold(2), |of| Cell::maybe(of.baseline_ns, Digits::Time(3)))
        .column(median("case").fold(1), |of| Cell::maybe(of.value_ns, Digits::Time(3)))
        .column(numbers(unit).fold(3), |of| {
            Cell::maybe(n(of).filter(|_| !is_even).map(f64::from), Digits::Whole)
        })
        .table()
}

/// A multiple as what words are chosen for: which side of 1 it lies on.
pub(super) fn contrast_of(ratio: &Ratio) -> Contrast {
    let is_apart = ratio.low.is_some_and(|low| low > 1.0) || ratio.high.is_some_and(|of| of < 1.0);
    Contrast {
        ratio: ratio.point,
        low: ratio.low,
        high: ratio.high,
        coverage: 0.95,
        n: ratio.n_rounds,
        verdict: if is_apart { Verdict::Outside } else { Verdict::Open },
        more: None,
    }
}

/// A case beside its baseline. `itself` is what a case is called beside itself.
fn sentence(of: &Compared, all: &[Compared], itself: &str) -> String {
    let (name, base) = names(of, all, itself);
    let name = of.side.as_ref().map_or(name.clone(), |side| format!("{side}: {name}"));
    match () {
        () if !of.is_measured() => format!("{name} was not measured beside {base}."),
        () if of.looks_slower() && !of.is_slower() => {
            format!("{name} is slower than {base} at first, which a second measurement denies.")
        }
        () => format!("{}.", contrasts::sentence(&name, &base, of.contrast.as_ref())),
    }
}

/// What a sentence calls a case, and what it is compared with.
fn names(of: &Compared, all: &[Compared], itself: &str) -> (String, String) {
    if of.case == of.baseline {
        let shared = format!("?{}", shared(all).join("&"));
        let like = if all.len() == 1 { &of.case } else { &shared };
        return (name(&of.case, like), itself.to_owned());
    }
    let (own, base) = (name(&of.case, &of.baseline), name(&of.baseline, &of.case));
    let base = if base == own { "the baseline".to_owned() } else { base };
    (own, base)
}

/// The keys that all cases have in common, where there are several.
fn shared(compared: &[Compared]) -> Vec<&str> {
    // A mean of cases has none.
    let cases: Vec<&Compared> = compared.iter().filter(|of| of.case.contains('?')).collect();
    let [first, rest @ ..] = cases.as_slice() else { return Vec::new() };
    let in_all = |key: &&str| rest.iter().all(|of| keys(&of.case).any(|own| own == *key));
    keys(&first.case).filter(|key| !rest.is_empty() && in_all(key)).collect()
}

/// What the cases of a live comparison have in common.
fn in_common(found: &Comparison) -> String {
    let took = number::expected((found.took_s * 1e9) as u64);
    let blocks = count(found.blocks as usize, "block");
    let is_on_one = found.compared.iter().all(|of| of.case.contains("place=same-cpu"));
    let elsewhere = if is_on_one { "; --place cross compares on two" } else { "" };
    format!("{blocks} of adjacent trials in {took}, {}{elsewhere}", margin(found.margin))
}

/// What would decide the cases that the margin leaves open.
fn undecided(compared: &[Compared], within: f64, enough: impl Fn(u32) -> String) -> Option<String> {
    let open = compared.iter().filter_map(|of| of.contrast);
    let open: Vec<Option<u32>> =
        open.filter(|of| of.verdict == Verdict::Open).map(|of| of.more).collect();
    let what = format!("{} undecided at the {}", count(open.len(), "case"), margin(within));
    let most = open.iter().flatten().max();
    match most {
        Some(most) => Some(format!("{what}: {} would probably decide.", enough(*most))),
        None if open.is_empty() => None,
        None => Some(format!(
            "{what}: the difference is too close to it. A quieter machine or another --margin decides."
        )),
    }
}

/// What else is known of stored runs.
fn said(found: &RunComparison) -> Vec<String> {
    let mut said = vec![format!("{}.", capitalised(&against(found)))];
    let shared = shared(&found.compared);
    if !shared.is_empty() {
        said.push(format!("All cases: {}.", shared.join(", ")));
    }
    said.extend(found.differences.iter().map(|one| {
        let (a, b) = (one.baseline.join(", "), one.other.join(", "));
        format!("Across {}: {} was {a} and is {b}.", one.across.word(), one.what)
    }));
    let unit = if found.hosts.is_some() { "hosts" } else { "runs a side" };
    said.extend(undecided(&found.compared, found.margin, |more| format!("{more} {unit}")));
    let hosts = found.hosts.as_ref();
    for (side, cases, hosts) in [
        ("the baseline", &found.only_baseline, hosts.map(|of| &of.only_baseline)),
        ("the other side", &found.only_other, hosts.map(|of| &of.only_other)),
    ] {
        if !cases.is_empty() {
            said.push(format!("Only in {side}: {}.", some(cases, NAMED_MAX)));
        }
        if let Some(hosts) = hosts.filter(|hosts| !hosts.is_empty()) {
            let n = count(hosts.len(), "host");
            said.push(format!("{n} measured only in {side}: {}.", some(hosts, NAMED_MAX)));
        }
    }
    said.extend(found.remarks.iter().cloned());
    said
}

fn against(found: &RunComparison) -> String {
    let what = if found.hosts.is_some() { "fleet" } else { "run" };
    let [baseline, other] = [&found.baseline, &found.other].map(|side| runs(what, side));
    format!("baseline: {baseline}; against it: {other}")
}

fn runs(what: &str, runs: &[ComparedRun]) -> String {
    match runs {
        [one] => format!("{what} {}", one.id),
        [first, .., last] => format!("{}, {} to {}", count(runs.len(), "run"), first.id, last.id),
        [] => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "roundtrip/tcp?payload=64&place=same-cpu";

    fn compared(verdict: Verdict, ratio: f64, ends: Option<(f64, f64)>) -> Compared {
        let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        let contrast =
            Some(Contrast { ratio, low, high, coverage: 0.97, n: 24, verdict, more: Some(80) });
        let baseline = CASE.replace("tcp", "pipe");
        Compared { baseline, contrast, ..Compared::unmeasured(CASE) }
    }

    #[test]
    fn differences_have_as_many_digits_as_they_deserve_and_verdicts_are_bounds() {
        use Verdict::{Inside, Open, Outside};
        for (of, ratio, ends, shown, said) in [
            (Outside, 1.051, (1.042, 1.06), "+5.1 % [+4.2, +6.0]", "slower, by at least 4.2 %"),
            (Outside, 0.897, (0.83, 0.972), "-10.3 % [-17.0, -2.8]", "faster, by at least 2.8 %"),
            (Inside, 0.9912, (0.9904, 0.9921), "-0.88 % [-0.96, -0.79]", "as fast, within 0.96 %"),
            (Open, 1.005, (0.985, 1.045), "+0.5 % [-1.5, +4.5]", "not slower by more than 4.5 %"),
            (Open, 1.04, (1.01, 1.07), "+4.0 % [+1.0, +7.0]", "slower, by at least 1.0 %"),
            (Outside, 3.21, (3.1, 3.3), "×3.21 [3.10, 3.30]", "slower, by at least 3.10 ×"),
            (Outside, 0.3, (0.2, 0.4), "×0.300 [0.200, 0.400]", "faster, by at least 2.50 ×"),
        ] {
            let of = compared(of, ratio, Some(ends));
            let difference = difference(of.contrast).shown.to_string();
            assert_eq!((difference.as_str(), verdict(&of).as_str()), (shown, said));
        }
        let none = compared(Open, 1.05, None);
        assert_eq!(verdict(&none), "no interval");
        assert_eq!(verdict(&Compared::unmeasured(CASE)), "not measured");
    }

    #[test]
    fn an_answer_begins_with_sentences_that_name_both_cases() {
        let of = compared(Verdict::Outside, 1.051, Some((1.042, 1.06)));
        let spinning = Compared { case: format!("{CASE}&wait=spin"), ..of.clone() };
        let said = headline(&[of.clone(), spinning.clone()], "", 3, "24 blocks").sentences();
        let first = "tcp is slower than pipe, by at least 4.2 % (+5.1 % [+4.2, +6.0]).";
        let second = first.replace("tcp is", "tcp with wait spin is");
        assert_eq!(said, [first, &second, "24 blocks."]);
        let itself = Compared { baseline: CASE.to_owned(), ..spinning };
        let (name, base) = names(&itself, &[], "");
        assert_eq!((name.as_str(), base.as_str()), ("tcp with wait spin", "tcp"));
        let again = |again: Compared| {
            let of = Compared { again: Some(Box::new(again)), ..of.clone() };
            sentence(&of, &[], "")
        };
        let said = again(Compared::unmeasured(CASE));
        assert_eq!(said, "tcp was not measured beside pipe.");
        let equal = compared(Verdict::Inside, 1.0, Some((0.99, 1.01)));
        assert!(again(equal).contains("a second measurement denies"));
    }
}
