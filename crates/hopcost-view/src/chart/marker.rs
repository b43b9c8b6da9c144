//! The shapes of markers.

use super::model::{Fill, Mark, Marker, Style};
use crate::markup::{Esc, Px, put};

/// A marker; one that is an upper bound has an arrow to the left.
pub(super) fn marker(out: &mut String, style: Style, x: f64, y: f64, mark: &Mark) {
    let shape = match style.marker {
        Marker::Circle => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
        Marker::Square => "M-3.5-3.5h7v7h-7Z",
        Marker::Triangle => "M0-4.6L4.4 3.2H-4.4Z",
        Marker::TriangleDown => "M0 4.6L4.4-3.2H-4.4Z",
        Marker::Diamond => "M0-5L5 0L0 5L-5 0Z",
        Marker::Cross => "M-4-4L4 4M-4 4L4-4",
    };
    let open = if style.fill == Fill::Open { " o" } else { "" };
    let arrow = if mark.at_most { "M-6 0H-16M-12-3L-16 0L-12 3" } else { "" };
    put!(
        out,
        r#"<path class="m{open}" transform="translate({} {})" d="{shape}{arrow}""#,
        Px(x),
        Px(y)
    );
    if mark.tip.is_empty() {
        out.push_str("/>");
    } else {
        put!(out, "><title>{}</title></path>", Esc(&mark.tip));
    }
}
