use super::model::{
    Axis, Chart, Colour, Dash, Mark, Marker, Row, Rows, Scale, Series, Style, Vertical,
};
use super::{Unit, element, svg};

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
            height: 20.0,
        }),
        series: vec![Series {
            marks: vec![mark],
            ..Series::new("one CPU", Style::of(Colour::BLUE, Marker::CIRCLE, Dash::SOLID))
        }],
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
