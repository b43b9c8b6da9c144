use hopcost_model::results::Results;

use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Scale, Series, Style, Table, Vertical,
};
use super::unit::Unit;
use super::{charts, element, svg};
use crate::chart::Heading;
use crate::stored::{self, RUNS, worn};
use hopcost_model::results::Statistic;

/// Complains where markup is not well formed: tags that do not nest, attributes
/// that are not quoted or come twice, raw `&` and `<`. `void` elements have no end.
pub(crate) fn well_formed(markup: &str, void: &[&str]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        text(&rest[..at])?;
        let end =
            tag_end(&rest[at..]).ok_or_else(|| format!("unclosed tag: {:.60}", &rest[at..]))?;
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (body, closed) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let name = body.split_whitespace().next().unwrap_or("");
        attributes(body[name.len()..].trim())?;
        if matches!(name, "style" | "script") && !closed {
            // Raw text: as far as its end tag.
            let end = format!("</{name}>");
            let at = rest.find(&end).ok_or_else(|| format!("{end} is missing"))?;
            rest = &rest[at + end.len()..];
        } else if !closed && !void.contains(&name) {
            open.push(name);
        }
    }
    text(rest)?;
    if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
}

fn tag_end(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (i, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '<' if i > 0 => return None,
            '>' if !quoted => return Some(i),
            _ => {}
        }
    }
    None
}

fn text(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    for entity in text.split('&').skip(1) {
        if !known.iter().any(|name| entity.starts_with(name)) {
            return Err(format!("raw & before {entity:.20}"));
        }
    }
    if text.contains('>') { Err(format!("raw > in {text:.60}")) } else { Ok(()) }
}

fn attributes(mut rest: &str) -> Result<(), String> {
    let mut seen = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let name = &rest[..end];
        if seen.contains(&name)
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-:".contains(c))
        {
            return Err(format!("attribute `{name}` is odd or comes twice"));
        }
        seen.push(name);
        rest = &rest[end..];
        if let Some(value) = rest.strip_prefix('=') {
            let value = value.strip_prefix('"').ok_or(format!("`{name}` is not quoted"))?;
            let end = value.find('"').ok_or(format!("`{name}` is not closed"))?;
            text(&value[..end])?;
            rest = &value[end + 1..];
        }
        rest = rest.trim_start();
    }
    Ok(())
}

fn small() -> Chart {
    let axis = |label: &str, scale, unit| Axis::new(label, scale, unit);
    let row = |name: &str, note: Option<&str>| Row {
        cells: vec![name.to_owned(), "block".to_owned()],
        note: note.map(str::to_owned),
        end: String::new(),
    };
    let mark = Mark {
        interval: Some((900.0, 1_200.0)),
        tail: Some(3_000.0),
        ..Mark::at(1_000.0, 0.5, "pipe\np50 1.0 µs")
    };
    Chart {
        id: "small".to_owned(),
        title: "Two rows".to_owned(),
        description: "A dot and a note.".to_owned(),
        width: 400.0,
        x: axis("time", Scale::Log, Unit::Ns),
        y: Vertical::Rows(Rows {
            columns: vec!["mechanism".to_owned(), "wait".to_owned()],
            end: String::new(),
            rows: vec![row("pipe", None), row("mq <&>", Some("skipped: none \"here\""))],
            height: 20.0,
            ..Rows::default()
        }),
        series: vec![Series {
            marks: vec![mark],
            ..Series::new("one CPU", Style::of(Colour::BLUE, Marker::CIRCLE, Dash::SOLID))
        }],
        notes: Vec::new(),
        table: Table::default(),
    }
}

#[test]
fn a_small_chart_is_drawn_like_this() {
    insta::assert_snapshot!(element(&small(), Heading::Drawn).replace("><", ">\n<"));
}

#[test]
fn every_drawing_is_well_formed_xml() {
    let mut empty = worn();
    empty.ladder.clear();
    empty.results.clear();
    for results in [worn(), empty].into_iter().chain(RUNS.map(stored::results)) {
        for chart in charts(&results) {
            for drawing in [svg(&chart), element(&chart, Heading::Elsewhere)] {
                well_formed(&drawing, &[]).unwrap_or_else(|e| panic!("{}: {e}", chart.id));
                assert!(drawing.contains("role=\"img\" aria-label=\""));
                assert!(drawing.contains("<title>") && drawing.contains("<desc "));
                assert!(!drawing.contains("NaN") && !drawing.contains("inf\""), "{}", chart.id);
            }
        }
    }
}

#[test]
fn a_drawing_that_stands_alone_needs_nothing() {
    let drawing = svg(&small());
    assert!(drawing.contains("<style>") && !drawing.contains("var(--"));
    assert!(drawing.contains("prefers-color-scheme:dark"));
    assert!(
        !drawing.contains("http://") || drawing.matches("http").count() == 1,
        "only the namespace"
    );
}

#[test]
fn odd_values_do_not_break_a_drawing() {
    let mut results = worn();
    for (i, value) in [0.0, -1.0, 1e18, 1e-9].into_iter().enumerate() {
        for case in &mut results.results {
            if let Some(p50) = case.estimates.as_mut().and_then(|e| e.get_mut(Statistic::P50)) {
                p50.point = Some(value);
                p50.low = Some(value);
            }
            if let Some(trial) = case.trials.get_mut(i) {
                trial.value_ns = Some(value);
            }
            if let Some(point) = case.curve.get_mut(i) {
                point.ns = value;
                point.q = value.clamp(0.0, 1.0);
            }
        }
        for chart in charts(&results) {
            let drawing = svg(&chart);
            well_formed(&drawing, &[]).unwrap();
            assert!(!drawing.contains("NaN"), "{}", chart.id);
        }
    }
}

#[test]
fn every_measured_case_of_the_ladder_is_on_the_charts() {
    let results = worn();
    let all = charts(&results);
    let marks: usize = all
        .iter()
        .filter(|c| c.id.starts_with("ladder-"))
        .flat_map(|c| &c.series)
        .filter(|s| !s.name.contains("p99"))
        .map(|s| s.marks.len())
        .sum();
    let measured = results.results.iter().filter(|c| c.estimates.is_some()).count();
    assert_eq!(marks, measured);
    let curves = results.results.iter().filter(|c| !c.curve.is_empty()).count();
    let drawn: usize =
        all.iter().filter(|c| c.id.starts_with("curve-")).map(|c| c.series.len()).sum();
    assert_eq!(drawn, curves);
}

/// A plot with more series than there are looks, in units of its own.
fn crowded() -> Results {
    use hopcost_model::results::{PlotPoint, PlotSeries};
    let mut results = stored::results("copies");
    results.plots.truncate(1);
    let plot = &mut results.plots[0];
    plot.y.unit = "furlongs".to_owned();
    (plot.x.logarithmic, plot.y.logarithmic) = (true, false);
    plot.crossings.clear();
    let point = |x: f64, y: f64| PlotPoint {
        x,
        y,
        low: Some(y * 0.9),
        high: Some(f64::NAN),
        stalled: None,
    };
    plot.series = (0..20)
        .map(|i| PlotSeries {
            name: format!("series {i}"),
            published: Vec::new(),
            points: vec![point(64.0, f64::from(i)), point(0.0, 3.0), point(4096.0, f64::INFINITY)],
        })
        .collect();
    results
}

#[test]
fn plots_have_a_look_for_each_series_and_say_what_they_leave_out() {
    let results = crowded();
    let plots = super::plots(&results);
    let names: Vec<&str> = plots.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["throughput-size-1", "throughput-size-2"]);
    let (_, first) = &plots[0];
    assert_eq!(first.series.len(), 10);
    // A logarithmic axis has no 0, no axis has infinity, and half a band is none.
    assert!(first.series.iter().all(|s| s.line.len() == 1 && s.band.is_empty()));
    let [.., left_out, origin] = first.notes.as_slice() else { panic!("{:?}", first.notes) };
    assert_eq!(left_out, "Not drawn: 20 of 30 points, for which an axis has no place.");
    let host = |key: &str| results.host.get(key).unwrap();
    assert_eq!(
        *origin,
        format!(
            "Run {}: {}; Linux {}; {}; not pinned to any CPU.",
            results.about.id,
            host("cpu.model"),
            host("kernel.release"),
            host("virt.hypervisor")
        )
    );
    assert!(svg(first).contains("Not drawn: 20 of 30 points"), "notes stand under the drawing");
    assert!(!element(first, Heading::Drawn).contains("Not drawn"), "the page says them itself");
    assert_eq!(
        first.table.rows,
        [[&["64 B".to_owned()][..], &(0..10).map(|i| format!("{i} furlongs")).collect::<Vec<_>>()]
            .concat()]
    );
}

#[test]
fn twelve_looks_differ_in_colour_and_dash_or_marker() {
    for (i, a) in Style::DISTINCT.iter().enumerate() {
        let others = &Style::DISTINCT[i + 1..];
        assert!(others.iter().all(|b| a.colour != b.colour && a.dash != b.dash));
    }
    let looks: Vec<Style> = Style::twelve().collect();
    assert_eq!(looks.len(), 12);
    for (i, a) in looks.iter().enumerate() {
        for b in &looks[i + 1..] {
            assert!(a.dash != b.dash || a.colour != b.colour);
            assert!((a.marker, a.fill) != (b.marker, b.fill));
        }
    }
}

#[test]
fn a_plot_is_drawn_like_this() {
    let plots = super::plots(&stored::results("copies"));
    insta::assert_snapshot!(element(&plots[0].1, Heading::Drawn).replace("><", ">\n<"));
}

#[test]
fn a_bar_begins_at_zero_and_what_was_published_stands_on_its_row() {
    use hopcost_model::results::PublishedPoint;
    let mut results = stored::results("threads-udp-websocket");
    results.plots.retain(|plot| !plot.x.names.is_empty());
    results.plots.truncate(1);
    let one = &mut results.plots[0].series[0];
    let greatest = one.points.iter().map(|p| p.high.unwrap_or(p.y)).fold(0.0, f64::max);
    let far = 2.0 * greatest;
    one.published.clear();
    one.published.push(PublishedPoint {
        source: "a report".to_owned(),
        machine: "Some CPU".to_owned(),
        x: 1.0,
        y: far,
    });
    let count = one.points.len();
    let (_, chart) = super::plots(&results).swap_remove(0);
    assert_eq!(chart.x.domain.unwrap().0, 0.0);
    assert!(chart.x.domain.unwrap().1 > far, "the axis holds it");
    assert_eq!(chart.series[0].marks.len(), count);
    let of_edge = |chart: &Chart| chart.notes.iter().any(|note| note.contains("right edge"));
    assert!(!of_edge(&chart));
    let mut wide = results.clone();
    wide.plots[0].series[0].points[0].high = Some(100.0 * far);
    let (_, wide) = super::plots(&wide).swap_remove(0);
    assert!(wide.x.domain.unwrap().1 <= 2.0 * far, "an interval without an end hides no bar");
    assert!(of_edge(&wide));
    let published = &chart.series[1].marks;
    assert_eq!((published[0].x, published[0].y), (far, 1.5));
    assert_eq!(chart.series[2].name, "published: Some CPU");
    let Vertical::Rows(rows) = &chart.y else { panic!("bars have rows") };
    assert!(rows.rows.iter().all(|row| !row.end.is_empty()), "each says its value");
    assert!(svg(&chart).contains("v12h-"), "a bar goes back to zero");
}

#[test]
fn texts_of_near_ticks_stand_below_each_other() {
    let chart = |at: &[f64]| Chart {
        x: Axis { at: at.to_vec(), ..Axis::new("payload", Scale::Log, Unit::Bytes) },
        y: Vertical::Value(Axis::new("cost", Scale::Log, Unit::Ns), 300.0),
        series: vec![Series {
            line: at.iter().map(|x| (*x, 10.0)).collect(),
            ..Series::new("ring", Style::DISTINCT[0])
        }],
        ..small()
    };
    let drawn = |at: &[f64]| svg(&chart(at));
    let near = drawn(&[8.0, 32.0, 44.0, 4096.0]);
    for text in [">8 B<", ">32 B<", ">44 B<", ">4 KiB<"] {
        assert!(near.contains(text), "{text}: {near}");
    }
    let height = |drawing: &str| drawing.split(" height=\"").nth(1).map(str::to_owned);
    assert_ne!(height(&near), height(&drawn(&[8.0, 4096.0])), "a second line needs room");
}

#[test]
fn a_point_from_which_on_a_way_is_faster_is_boxed_and_in_the_legend() {
    use hopcost_model::results::PlotCrossing;
    let mut results = stored::results("copies");
    results.plots.truncate(1);
    let plot = &mut results.plots[0];
    let point = plot.series[0].points[1];
    let says = "A2 is faster than A1".to_owned();
    plot.crossings = vec![PlotCrossing { x: point.x, y: point.y, says: says.clone() }];
    let (_, chart) = super::plots(&results).swap_remove(0);
    let boxes = |chart: &Chart| -> Vec<(bool, usize)> {
        let of = chart.series.iter().filter(|one| one.style.marker == Marker::BOX);
        of.map(|one| (one.name.is_empty(), one.marks.len())).collect()
    };
    assert_eq!(boxes(&chart), [(true, 1), (false, 0)]);
    assert!(chart.series[0].marks[0].tip == says, "below the lines");
}
