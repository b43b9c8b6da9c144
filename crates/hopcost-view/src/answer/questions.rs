//! The tables of each question.

use std::iter::once;

use hopcost_model::{CaseParts, Document, Field, RunAbout};
use hopcost_read::advice::Advice;
use hopcost_read::results::{
    CaseResult, Checkup, Compared, Comparison, Estimate, ExplainedCase, Explanation, Judged,
    JudgedClaim, PlanBrief, PublishedRow, PublishedTable, RankedCase, Results, RunComparison,
    RuntimeCell, RuntimeMatrix,
};
use serde_json::{Value, json};

use super::table::Answer;
use crate::names::case_at;
use crate::rows::value;
use crate::section;

/// Columns that no type has: what a row belongs to, and its key, and what the column holds.
const KEYS: &str = include_str!("keys.txt");

/// The columns of rows that belong to such a thing.
fn keys(of: &str) -> Vec<Field> {
    let own = KEYS.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix('.'));
    let field = |(key, help)| Field { key, kind: "String", help };
    own.filter_map(|line| line.split_once(": ")).map(field).collect()
}

/// The answers to all questions, without a row.
pub fn all() -> [Answer; 4] {
    let results = Results {
        comparison: Some(Comparison::default()),
        explanation: Some(Explanation::default()),
        judged: Some(Judged::default()),
        ..Results::default()
    };
    let mut of_run = Answer::new("estimates", Vec::new());
    of_run.run(&results);
    [
        of_run,
        Answer::of_comparison(&RunComparison::default()),
        Answer::of_advice(&Advice::default()),
        Answer::of_checkup(&Checkup::default()),
    ]
}

impl Answer {
    /// What a run says.
    pub fn of_run(results: &Results) -> Self {
        let main = match results {
            Results { judged: Some(_), .. } => "claims",
            Results { explanation: Some(_), .. } => "segments",
            Results { comparison: Some(_), .. } => "contrasts",
            _ => "estimates",
        };
        let mut answer = Answer::new(main, section::headline(results).sentences());
        answer.run(results);
        answer
    }

    /// What a comparison of stored runs says.
    pub fn of_comparison(found: &RunComparison) -> Self {
        let says = section::comparison::sentences(found);
        let mut answer = Answer::new("contrasts", says);
        answer.list("run_comparison", [found]);
        answer.list("comparison", found.baseline.iter().chain(&found.other));
        answer.list("differences", &found.differences);
        let compared = found.compared.iter().map(|of| ("first", of));
        answer.contrasts(compared.chain(found.summary.iter().map(|of| ("geomean", of))));
        answer.list("crossings", found.along.iter().flat_map(|along| &along.crossings));
        answer
    }

    /// A recommendation.
    pub fn of_advice(found: &Advice) -> Self {
        let says = found.says.iter().chain(&found.notes).cloned().collect();
        let mut answer = Answer::new("candidates", says);
        answer.list("advice", [found]);
        answer.list("candidates", &found.candidates);
        answer
    }

    /// What was found of a machine.
    pub fn of_checkup(found: &Checkup) -> Self {
        let mut answer = Answer::new("cpu_gaps", vec![found.first.clone()]);
        answer.list("checkup", [found]);
        answer.list("host", &found.host.readings);
        answer.list("clocks", &found.clocks);
        answer.list("cpu_gaps", &found.gaps);
        answer.list("cpu_pairs", &found.lines);
        answer.list("handovers", &found.handovers);
        answer.list("rights", &found.rights);
        answer.list("findings", &found.findings);
        answer
    }

    fn run(&mut self, results: &Results) {
        let run = json!({
            "disturbed": results.disturbed,
            "remarks": results.remarks,
            "command": results.command,
        });
        let run = vec![value(&results.about), value(&results.plan), run];
        self.add("runs", "The run.", &[RunAbout::FIELDS, PlanBrief::FIELDS, &keys("run")], [run]);
        self.cases(results);
        self.rankings(results);
        self.runtimes(results);
        if let Some(found) = &results.comparison {
            self.list("comparison", [found]);
            let compared = found.compared.iter().map(|of| ("first", of));
            self.contrasts(once(("copy", &found.copy)).chain(compared));
        }
        if let Some(found) = &results.explanation {
            self.explanation(found);
        }
        self.claims(results);
        self.published(&results.published);
        self.list("idle_knobs", &results.knobs);
        self.list("libraries", &results.libraries);
        self.list("findings", &results.findings);
        self.list("speed_probes", &results.yardsticks);
        self.list("adjustments", &results.adjustments);
        self.list("clocks", &results.clocks);
        self.list("workers", &results.workers);
        self.list("host", &results.host.readings);
    }

    /// Adds a table with a row for each of these, behind what it belongs to.
    fn keyed<'a, T: Document + 'a>(
        &mut self,
        name: &'static str,
        of: &str,
        rows: impl IntoIterator<Item = (Value, &'a T)>,
    ) {
        let rows = rows.into_iter().map(|(key, row)| vec![key, value(row)]);
        self.add(name, T::ABOUT, &[&keys(of), T::FIELDS], rows);
    }

    /// Adds a table with a row for each of these of a case.
    fn of_cases<'a, T: Document + 'a>(
        &mut self,
        name: &'static str,
        results: &'a Results,
        rows: impl Fn(&'a CaseResult) -> &'a [T],
    ) {
        self.keyed(name, "case", of_each(&results.results, |case| of_case(&case.id), rows));
    }

    fn cases(&mut self, results: &Results) {
        let case = |case: &CaseResult| {
            let mut codes: Vec<&str> = case.findings.iter().map(|of| of.code.word()).collect();
            codes.sort_unstable();
            codes.dedup();
            let (run, disturbed) = (&results.about.id, &results.disturbed);
            let of_run = json!({ "findings": codes, "run": run, "disturbed": disturbed });
            vec![json!({ "case": case.id }), value(&case.case), value(case), of_run]
        };
        // Its first field is its spelling.
        let (spelling, of_run) = (keys("case"), keys("of-run"));
        let kinds = [&spelling, CaseParts::FIELDS, &CaseResult::FIELDS[1..], &of_run];
        self.add("cases", CaseResult::ABOUT, &kinds, results.results.iter().map(case));
        let estimates = results.results.iter().flat_map(|case| {
            case.all_estimates().into_iter().map(|(statistic, unit, estimate)| {
                let key = json!({ "case": case.id, "statistic": statistic, "unit": unit });
                vec![key, value(&estimate)]
            })
        });
        self.add("estimates", Estimate::ABOUT, &[&keys("statistic"), Estimate::FIELDS], estimates);
        self.of_cases("wakes", results, |case| case.wake.as_slice());
        self.of_cases("streams", results, |case| case.stream.as_slice());
        self.of_cases("loads", results, |case| case.load.as_slice());
        self.of_cases("trials", results, |case| &case.trials);
        self.of_cases("curves", results, |case| &case.curve);
        self.of_cases("modes", results, |case| &case.modes);
        self.of_cases("counters", results, |case| &case.counters);
        self.of_cases("tcp", results, |case| &case.tcp);
        self.of_cases("threads", results, |case| &case.threads);
    }

    fn rankings(&mut self, results: &Results) {
        let mut rows = Vec::new();
        for group in &results.ladder {
            for ranking in &group.rankings {
                for (at, of) in ranking.cases.iter().enumerate() {
                    let named = group.rows.get(of.row as usize);
                    let key = json!({
                        "group": group.title,
                        "place": ranking.place.name(),
                        "by": ranking.by,
                        "position": at + 1,
                        "case": spelling(results, Some(of.result)),
                        "label": named.map(|row| &row.label),
                        "spins": named.map(|row| row.spins),
                    });
                    rows.push(vec![key, value(of)]);
                }
            }
        }
        // Its first two fields are indices of ours.
        self.add("rankings", RankedCase::ABOUT, &[&keys("ranked"), &RankedCase::FIELDS[2..]], rows);
    }

    fn runtimes(&mut self, results: &Results) {
        let mut rows = Vec::new();
        for matrix in &results.runtimes {
            for row in &matrix.rows {
                for (runtime, of) in matrix.runtimes.iter().zip(&row.cells) {
                    let key = json!({
                        "group": matrix.title,
                        "mechanism": row.label,
                        "runtime": runtime,
                        "case": spelling(results, of.result),
                    });
                    rows.push(vec![key, value(of)]);
                }
            }
        }
        // Its first field is an index of ours.
        let kinds = [&keys("runtime"), &RuntimeCell::FIELDS[1..]];
        self.add("runtimes", RuntimeMatrix::ABOUT, &kinds, rows);
    }

    fn contrasts<'a>(&mut self, compared: impl Iterator<Item = (&'static str, &'a Compared)>) {
        let again = |of: &'a Compared| of.again.as_deref().map(|again| ("again", again));
        let all = compared.flat_map(|(which, of)| once((which, of)).chain(again(of)));
        let rows = all.map(|(which, of)| (json!({ "measurement": which }), of));
        self.keyed("contrasts", "measurement", rows);
    }

    fn explanation(&mut self, found: &Explanation) {
        self.list("explanation", [found]);
        self.list("hops", &found.cases);
        let case = |of: &ExplainedCase| of_case(&of.case);
        self.keyed("segments", "case", of_each(&found.cases, case, |of| &of.segments));
        self.keyed("hops_left_out", "case", of_each(&found.cases, case, |of| &of.left_out));
        self.list("segment_contrasts", &found.compared);
    }

    fn claims(&mut self, results: &Results) {
        let judged = results.judged.as_ref();
        let claims = || judged.iter().flat_map(|of| &of.claims);
        self.list("claims", claims());
        let claim = |of: &JudgedClaim| json!({ "file": of.file, "claim": of.id });
        self.keyed("claim_parts", "claim", of_each(claims(), claim, |of| &of.parts));
        self.list("claim_files", judged.iter().flat_map(|of| &of.files));
        self.list("questions", judged.iter().flat_map(|of| &of.questions));
    }

    fn published(&mut self, tables: &[PublishedTable]) {
        let rows = tables.iter().flat_map(|table| {
            let of_table = value(&PublishedTable { rows: Vec::new(), ..table.clone() });
            table.rows.iter().map(move |row| vec![of_table.clone(), value(row)])
        });
        let kinds = [PublishedTable::FIELDS, PublishedRow::FIELDS];
        self.add("published", PublishedTable::ABOUT, &kinds, rows);
    }
}

/// The spelling of the case at an index of the results.
fn spelling(results: &Results, index: Option<u32>) -> Option<&str> {
    case_at(results, index?).map(|(_, case)| case.id.as_str())
}

/// The key of a row that belongs to a case.
fn of_case(case: &str) -> Value {
    json!({ "case": case })
}

/// The rows that belong to each of these, behind its key.
fn of_each<'a, P: 'a, T: 'a>(
    all: impl IntoIterator<Item = &'a P>,
    key: impl Fn(&P) -> Value,
    rows: impl Fn(&'a P) -> &'a [T],
) -> impl Iterator<Item = (Value, &'a T)> {
    let of = move |one: &'a P| rows(one).iter().map(|row| (key(one), row)).collect::<Vec<_>>();
    all.into_iter().flat_map(of)
}
