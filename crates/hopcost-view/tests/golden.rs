//! Every output format on the fixture, as stored snapshots.

use hopcost_view::fixture;
use hopcost_view::text::{self, Charset, Color, Stored, TextStyle};

const STORED: Stored<'static> = Stored {
    path: "/home/ada/.local/share/hopcost/runs/20250314-092653-7f3a.hopcost",
    report_command: "hopcost report 20250314-092653-7f3a --format html > report.html",
};

#[test]
fn ladder() {
    let results = fixture::example_results();
    for width in [80, 100, 140] {
        for (charset, name) in [(Charset::Unicode, "unicode"), (Charset::Ascii, "ascii")] {
            let style = TextStyle { width, color: Color::Plain, charset };
            let out = text::ladder(&results, Some(STORED), &style);
            insta::assert_snapshot!(format!("ladder_{width}_{name}"), out);
        }
    }
}
