//! Which cases of a group are faster than which, at each place.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{
    Boundary, Case, Contrast, IdleKnob, Placement, Ratio, Verdict, WaitKind, document,
};
use hopcost_stats::sample::median;

use crate::case::Reading;
use crate::ratio;
use crate::trials::PerTrial;

document! {
    /// Rows that may be compared with each other.
    pub struct LadderGroup {
        /// Heading ("round trip, 64 bytes each way").
        pub title: String,
        /// What the number means, in a sentence.
        pub meaning: String,
        /// Whether the rows are costs in batches (no percentiles).
        pub batched: bool,
        /// Cheapest first; skipped and failed rows last.
        pub rows: Vec<LadderRow>,
        /// The measured cases of each place with at least two of them, best first.
        pub rankings: Vec<Ranking>,
    }

    /// The cases of a group at one place, best first, and which of them differ: all pairs
    /// are judged at once, paired by round, so that with 95 % no two equals differ.
    pub struct Ranking {
        /// On how many CPUs.
        pub place: Place,
        /// By which number.
        pub by: RankedBy,
        /// Best first.
        pub cases: Vec<RankedCase>,
    }

    /// What a ranking is by.
    #[derive(Copy, Eq)]
    pub enum RankedBy {
        /// The p50 or the cost: least first.
        Time,
        /// The throughput of all flows together: greatest first.
        Throughput,
    }

    /// A case in a ranking.
    pub struct RankedCase {
        /// Index into the group's rows.
        pub row: u32,
        /// Index into `results`.
        pub result: u32,
        /// How it stands to the cases before it; `null` where fewer than six rounds, or a
        /// value that is not above zero, cannot tell.
        pub step: Option<Step>,
        /// Multiple of the case that the ranking's multiples refer to, paired by round; its
        /// interval is of this pair alone.
        pub ratio: Option<Ratio>,
    }

    /// How a case stands to those before it in a ranking.
    #[derive(Copy, Eq)]
    pub enum Step {
        /// The first of all, or different from none of its group.
        Tied,
        /// The first of a group of which each differs from each of the group before.
        Apart,
        /// The first of a group that differs from some of the group before, not from all.
        Between,
    }

    /// On how many CPUs two ends run.
    #[derive(Copy, Eq)]
    pub enum Place {
        /// Both on one, or a call.
        One,
        /// Each on its own.
        Two,
        /// As the scheduler likes.
        Free,
        /// Each on a host of its own.
        Hosts,
    }

    /// One row: a mechanism with its boundary and wait, on one CPU and on two.
    pub struct LadderRow {
        /// Mechanism, with its payload or parameters where a group mixes them.
        pub label: String,
        /// Boundary.
        pub boundary: Boundary,
        /// Waits; `null` for `call`.
        pub wait: Option<String>,
        /// Whether an end keeps a CPU busy while it waits, always or before it sleeps.
        pub spins: bool,
        /// Index into `results` of the case at each place: on one CPU (or the only one, for a call),
        /// on two, left to the scheduler, between two hosts.
        pub results: [Option<u32>; 4],
    }
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 4] = [Place::One, Place::Two, Place::Free, Place::Hosts];

    /// Where a case has its ends.
    pub fn of(case: &Case) -> Self {
        match case.placement {
            _ if case.boundary == Boundary::Host => Place::Hosts,
            None | Some(Placement::SameCpu) => Place::One,
            Some(Placement::Free) => Place::Free,
            Some(_) => Place::Two,
        }
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Place::One => "one CPU",
            Place::Two => "two CPUs",
            Place::Free => "not pinned",
            Place::Hosts => "two hosts",
        }
    }
}

impl LadderRow {
    /// Index into `results` of the case at this place.
    pub const fn at(&self, place: Place) -> Option<u32> {
        self.results[place as usize]
    }
}

/// A case to rank, with its value in each round; greater is better where it is a rate.
struct Item<'a> {
    row: u32,
    result: u32,
    reading: &'a Reading<'a>,
    point: f64,
    by_round: BTreeMap<u32, f64>,
}

/// Ranks every group of the ladder at every place. Multiples refer to the case that is the
/// plan's baseline but for what the group's cases have in common, or else to the best.
pub fn rank(groups: &mut [LadderGroup], readings: &[Reading], baseline: Option<&str>) {
    let base = readings.iter().find(|reading| Some(reading.result.id.as_str()) == baseline);
    let base = base.map(|reading| reading.case);
    for group in groups {
        let both = [RankedBy::Time, RankedBy::Throughput];
        let places = Place::ALL.into_iter().flat_map(|place| both.map(|by| (place, by)));
        group.rankings = places
            .filter_map(|(place, by)| {
                let items = items(group, readings, place, by);
                (items.len() > 1).then(|| Ranking { place, by, cases: ranked(&items, base) })
            })
            .collect();
    }
}

/// The multiple of each case's time, by its index.
pub fn multiples(groups: &[LadderGroup]) -> BTreeMap<u32, Ratio> {
    let rankings = groups.iter().flat_map(|group| &group.rankings);
    let ranked = rankings.filter(|of| of.by == RankedBy::Time).flat_map(|of| &of.cases);
    ranked.filter_map(|case| Some((case.result, case.ratio.clone()?))).collect()
}

fn items<'a>(
    group: &LadderGroup,
    readings: &'a [Reading<'a>],
    place: Place,
    by: RankedBy,
) -> Vec<Item<'a>> {
    let rows = (0..).zip(&group.rows);
    let found = rows.filter_map(|(row, of)| {
        let result = of.at(place)?;
        let reading = readings.get(result as usize).filter(|reading| reading.is_measured())?;
        // An idle knob is another condition, not another mechanism.
        if reading.case.idle_knob != IdleKnob::None {
            return None;
        }
        let (point, by_round) = match by {
            RankedBy::Time => (median(reading.values())?, reading.headline_by_round()),
            RankedBy::Throughput => {
                let stream = reading.result.stream.as_ref()?;
                let rate = |trial: &PerTrial| Some(trial.rates?.aggregate_gbps * trial.slower);
                (stream.aggregate_gbps.as_ref()?.point?, reading.by_round(rate))
            }
        };
        Some(Item { row, result, reading, point, by_round })
    });
    let mut items: Vec<Item> = found.collect();
    // Stable: equals keep the ladder's order.
    items.sort_by(|a, b| match by {
        RankedBy::Time => a.point.total_cmp(&b.point),
        RankedBy::Throughput => b.point.total_cmp(&a.point),
    });
    items
}

fn ranked(items: &[Item], base: Option<&Case>) -> Vec<RankedCase> {
    let steps = differing(items).map_or_else(Vec::new, |differing| {
        steps(items.len(), |better, worse| differing.contains(&(better, worse)))
    });
    let base = items.iter().position(|item| is_base(item, base)).unwrap_or_else(|| first(items));
    let case = |(at, item): (usize, &Item)| RankedCase {
        row: item.row,
        result: item.result,
        step: steps.get(at).copied(),
        ratio: multiple(item, &items[base]),
    };
    items.iter().enumerate().map(case).collect()
}

/// The pairs of places that differ, the better first; `None` where a pair has too few rounds.
fn differing(items: &[Item]) -> Option<BTreeSet<(usize, usize)>> {
    let places: Vec<(usize, usize)> =
        (0..items.len()).flat_map(|worse| (0..worse).map(move |better| (better, worse))).collect();
    let pair = |(a, b): &(usize, usize)| (&items[*a].by_round, &items[*b].by_round);
    let pairs: Vec<_> = places.iter().map(pair).collect();
    let found = ratio::contrasts(&pairs, items.len() - 1);
    let found: Vec<Contrast> =
        found.into_iter().map(|of| of.filter(|of| of.low.is_some())).collect::<Option<_>>()?;
    let found = places.into_iter().zip(found).filter(|(_, of)| of.verdict == Verdict::Outside);
    Some(found.map(|(places, _)| places).collect())
}

/// The steps of a ranking whose items are in order, best first: `apart(i, j)` says whether
/// two of them differ. A group is as large as can be while no two of it differ.
fn steps(items: usize, apart: impl Fn(usize, usize) -> bool) -> Vec<Step> {
    let mut starts = vec![0];
    for item in 1..items {
        let start = *starts.last().unwrap_or(&0);
        if (start..item).any(|before| apart(before, item)) {
            starts.push(item);
        }
    }
    let mut found = vec![Step::Tied; items];
    for (group, &start) in starts.iter().enumerate().skip(1) {
        let end = starts.get(group + 1).copied().unwrap_or(items);
        let before = starts[group - 1]..start;
        let all = before.into_iter().all(|left| (start..end).all(|right| apart(left, right)));
        found[start] = if all { Step::Apart } else { Step::Between };
    }
    found
}

/// The first of the plan that sleeps while it waits: the same on every machine.
fn first(items: &[Item]) -> usize {
    let spins =
        |item: &Item| item.reading.case.waits.is_some_and(|waits| !waits.any(WaitKind::Block));
    let in_order = |(at, item): (usize, &Item)| (spins(item), item.result, at);
    items.iter().enumerate().map(in_order).min().map_or(0, |(.., at)| at)
}

/// Whether it is the baseline but for what the cases of its group and place have in common.
fn is_base(item: &Item, base: Option<&Case>) -> bool {
    let case = item.reading.case;
    base.is_some_and(|base| case.boundary == base.boundary && case.is_of_kind(base))
}

fn multiple(item: &Item, base: &Item) -> Option<Ratio> {
    let (of, to) = (item.reading, base.reading);
    let same = of.family.is_some() && of.family == to.family;
    ratio::multiple((of, &item.by_round), (to, &base.by_round)).filter(|_| same)
}

#[cfg(test)]
mod tests {
    use crate::ranking::{Place, RankedBy, Ranking, Step};

    use super::steps;
    use crate::testing::{Builder, FUTEX, PIPE, TCP};

    fn rankings(builder: Builder) -> Vec<Ranking> {
        builder.read().ladder.into_iter().flat_map(|group| group.rankings).collect()
    }

    fn told(ranking: &Ranking) -> Vec<(u32, Option<Step>)> {
        ranking.cases.iter().map(|case| (case.result, case.step)).collect()
    }

    /// Trials that all take `ns`, within a per cent.
    fn about(builder: Builder, id: &str, rounds: u32, ns: u32) -> Builder {
        let swing = move |round: u32| ns * ((round * round + ns / 10) % 5) / 400;
        builder.case(id, rounds, move |round, t| t.each(&[ns + swing(round); 50]))
    }

    #[test]
    fn equals_are_tied_and_the_slower_comes_after() {
        let udp = TCP.replace("tcp", "udp");
        let builder = about(Builder::new().baseline(PIPE), TCP, 9, 9000);
        let builder = about(about(builder, &udp, 9, 6010), PIPE, 9, 6000);
        let found = rankings(builder);
        assert_eq!((found.len(), found[0].place, found[0].by), (1, Place::One, RankedBy::Time));
        let want = [(2, Step::Tied), (1, Step::Tied), (0, Step::Apart)];
        assert_eq!(told(&found[0]), want.map(|(case, step)| (case, Some(step))));
        let ratio = found[0].cases[2].ratio.as_ref().unwrap();
        assert_eq!(ratio.baseline, PIPE);
        assert!((ratio.point - 1.5).abs() < 0.02);
    }

    #[test]
    fn too_few_rounds_rank_nothing_and_other_groups_have_their_own() {
        let builder = about(about(about(Builder::new(), PIPE, 5, 6000), TCP, 5, 9000), FUTEX, 5, 9);
        let found = rankings(builder);
        assert_eq!(found.len(), 1, "a bare notification is ranked with no message");
        assert_eq!(told(&found[0]), [(0, None), (1, None)]);
    }

    #[test]
    fn ties_need_not_be_transitive() {
        let far = |a: usize, b: usize| a.abs_diff(b) > 1;
        // 0 = 1, 1 = 2, but not 0 = 2.
        assert_eq!(steps(3, far), [Step::Tied, Step::Tied, Step::Between]);
        assert_eq!(steps(3, |_, _| true), [Step::Tied, Step::Apart, Step::Apart]);
        assert_eq!(steps(3, |_, _| false), [Step::Tied; 3]);
        assert_eq!(steps(1, |_, _| true), [Step::Tied]);
        assert_eq!(steps(0, |_, _| true), []);
    }
}
