use super::*;
use crate::chart::model::Vertical;
use crate::chart::tests::well_formed;
use crate::chart::{element, svg};
use crate::stored::{self, RUNS, worn};

#[test]
fn every_drawing_is_well_formed_xml() {
    let mut empty = worn();
    empty.ladder.clear();
    empty.results.clear();
    for results in [worn(), empty].into_iter().chain(RUNS.map(stored::results)) {
        let mut drawings = String::new();
        for chart in of_run(&results) {
            for drawing in [svg(&chart), element(&chart)] {
                drawings.push_str(&drawing);
                assert!(drawing.contains("role=\"img\" aria-label=\""));
                assert!(drawing.contains("<title>") && drawing.contains("<desc "));
                assert!(!drawing.contains("NaN") && !drawing.contains("inf\""), "{}", chart.id);
            }
            let alone = svg(&chart);
            assert!(alone.contains("<style>") && !alone.contains("var(--"));
            assert!(alone.contains("prefers-color-scheme:dark"));
            assert_eq!(alone.matches("http").count(), 1, "only the namespace");
        }
        well_formed(&format!("<all>{drawings}</all>")).unwrap();
    }
}

#[test]
fn odd_values_do_not_break_a_drawing() {
    let mut results = worn();
    for (i, value) in [0.0, -1.0, 1e18, 1e-9, f64::NAN].into_iter().enumerate() {
        for case in &mut results.results {
            if let Some(p50) = case.estimates.as_mut().and_then(|e| e.get_mut(Statistic::P50)) {
                (p50.point, p50.low) = (Some(value), Some(value));
            }
            if let Some(trial) = case.trials.get_mut(i) {
                trial.value_ns = Some(value);
            }
            if let Some(point) = case.curve.get_mut(i) {
                point.ns = value;
                point.q = value.clamp(0.0, 1.0);
            }
        }
        let drawings: String = of_run(&results).iter().map(svg).collect();
        well_formed(&format!("<all>{drawings}</all>")).unwrap();
        assert!(!drawings.contains("NaN"));
    }
}

#[test]
fn every_run_has_something_to_plot_and_a_page_the_curves_of_few_cases_alone() {
    for run in RUNS {
        assert!(!of_run(&stored::results(run)).is_empty(), "{run}");
    }
    let (few, many) = (worn(), stored::results("ladder"));
    assert!(of_few(&many, curves).is_empty() && of_few(&many, of_trials).is_empty());
    assert!(!of_few(&few, curves).is_empty() && !of_few(&few, of_trials).is_empty());
}

#[test]
fn what_differs_in_size_is_a_curve_with_its_tail() {
    let results = stored::results("copies");
    let charts = of_run(&results);
    let names: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    for name in ["stream-payload", "stream-payload-throughput", "stream-flows-aggregate"] {
        assert!(names.iter().any(|known| known.starts_with(name)), "{name}: {names:?}");
    }
    let chart = charts.iter().find(|chart| chart.id.starts_with("stream-payload")).unwrap();
    let Vertical::Value(y) = &chart.y else { panic!("lines have a value axis") };
    let (low, high) = y.domain;
    let all = charts.iter().filter(|one| one.title.starts_with("Stream by message size"));
    let points = all.flat_map(|one| &one.series).flat_map(|one| &one.points);
    let most = points.map(|point| point.value).fold(0.0, f64::max);
    assert!(low > 0.0 && high < most * 3.0, "an interval does not stretch the axis");
    assert!(chart.series.iter().all(|one| one.points.is_sorted_by(|a, b| a.at <= b.at)));
    assert!(chart.notes.last().unwrap().starts_with(&format!("Run {}: ", results.about.id)));
}

#[test]
fn the_rows_of_a_question_stand_in_the_order_of_their_ranks() {
    let results = stored::results("ladder");
    let charts = answer::charts(&results);
    assert!(charts.len() > 3, "{}", charts.len());
    for chart in charts {
        let Vertical::Rows(_, rows) = &chart.y else { panic!("rows") };
        assert_eq!(rows.len(), chart.series[0].points.len(), "{}", chart.title);
        let ranked = rows.iter().zip(&chart.series[0].points);
        let ranked = ranked.filter(|(row, _)| row.name.starts_with(|c: char| c.is_ascii_digit()));
        let values: Vec<f64> = ranked.map(|(_, point)| point.value).collect();
        assert!(values.is_sorted(), "{}: {values:?}", chart.title);
    }
}

#[test]
fn an_interval_without_an_end_is_cut_off_with_an_arrow() {
    let estimate = |ns: f64, high: f64| {
        let bare = Estimate::exact(ns, 6);
        Estimate { low: Some(0.9 * ns), high: Some(high), ..bare }
    };
    let bars = |high: f64| {
        let values = [("pipe", estimate(100.0, 110.0)), ("tcp", estimate(300.0, high))];
        let about = About { id: "bars".into(), title: "Bars".into(), says: "Two.".into() };
        let axis = Axis::new("cost", Scale::Log, Unit::Ns);
        let values: Vec<_> =
            values.iter().map(|(name, of)| ((*name).to_owned(), of, None)).collect();
        crate::section::shapes::rows(about, "case", &values, &axis).unwrap()
    };
    let (near, far) = (bars(330.0), bars(1e6));
    assert_eq!((near.x.scale, near.x.domain.0), (Scale::Linear, 0.0), "bars from zero");
    assert!(near.x.domain.1 > 330.0 && far.x.domain.1 < 700.0);
    assert!(svg(&far) != svg(&near) && svg(&far).contains("v12h-"), "from zero");
}

#[test]
fn a_plot_is_drawn_like_this() {
    let plots = of_run(&stored::results("quick"));
    insta::assert_snapshot!(element(&plots[0]).replace("><", ">\n<"));
}

#[test]
fn two_levels_are_two_marks_with_nothing_between() {
    let mut results = stored::results("ladder");
    let pipe = "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block";
    let torn = results.results.iter_mut().find(|case| case.id == pipe);
    torn.unwrap().levels = Some((880.0, 65_000.0));
    let chart = answer::charts(&results).into_iter().find(|one| one.id.ends_with("two-cpus"));
    let chart = chart.unwrap();
    let Vertical::Rows(_, rows) = &chart.y else { panic!("rows") };
    let at = rows.iter().position(|row| row.name.ends_with(": pipe")).unwrap();
    let point = chart.series[0].points.iter().find(|point| point.at == at as f64).unwrap();
    assert_eq!((point.value, point.other, point.ends), (880.0, Some(65_000.0), None));
    assert_eq!(rows[at].end, "0.88 or 65 µs");
    assert!(chart.description.ends_with("the two levels at which trials lie."));
    assert!(
        svg(&chart).contains("class=\"thin\"")
            && point.tip.as_ref().unwrap().ends_with("\n0.88 or 65 µs")
    );
}
