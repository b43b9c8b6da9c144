//! Prints the text of made-up results: `cargo run -p hopcost-view --example text
//! --features fixture -- wakeup 80`.

use hopcost_view::fixture;
use hopcost_view::text::{TextStyle, report};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let results = fixture::example(&arguments.next().unwrap_or_default());
    let width = arguments.next().and_then(|width| width.parse().ok()).unwrap_or(100);
    print!("{}", report(&results, None, &TextStyle::plain(width)));
}
