use super::model::{Axis, Chart, Mark, Row, Rows, Scale, Series, Style, Vertical};
use super::{Unit, element, svg};
use std::io::Write;
use std::process::{Command, Stdio};

/// What a program in Python prints that reads this.
///
/// # Errors
/// What it complains of.
pub(crate) fn python(program: &str, input: &str) -> Result<String, String> {
    let mut python = Command::new("python3");
    let pipes = python.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = pipes.stderr(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Complains where markup is no XML, but for what only HTML may: a declaration, elements without an end,
/// scripts and styles, attributes without a value.
pub(crate) fn well_formed(markup: &str) -> Result<(), String> {
    python(include_str!("well_formed.py"), markup).map(drop)
}

fn small() -> Chart {
    let axis = |label: &str, scale, unit| Axis::new(label, scale, unit);
    let row = |name: &str, end: &str| Row {
        cells: vec![name.to_owned(), "block".to_owned()],
        end: end.to_owned(),
    };
    let mark =
        Mark { interval: Some((900.0, 1_200.0)), ..Mark::at(1_000.0, 0.5, "pipe\np50 1.0 µs") };
    Chart {
        id: "small".to_owned(),
        title: "Two rows".to_owned(),
        description: "A dot and no dot.".to_owned(),
        x: axis("time", Scale::Log, Unit::Ns),
        y: Vertical::Rows(Rows {
            columns: vec!["mechanism".to_owned(), "wait".to_owned()],
            rows: vec![row("pipe", "1.0 µs"), row("mq <&>", "none \"here\"")],
        }),
        series: vec![Series { marks: vec![mark], ..Series::new("one CPU", Style::DISTINCT[0]) }],
        notes: Vec::new(),
    }
}

#[test]
fn a_small_chart_is_drawn_like_this() {
    insta::assert_snapshot!(element(&small()).replace("><", ">\n<"));
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
