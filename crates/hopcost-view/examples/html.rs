//! Prints the HTML report of made-up results: something to look at while working
//! on the page (`cargo run -p hopcost-view --example html --features fixture -- wakeup`).

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    print!("{}", hopcost_view::html::report(&hopcost_view::fixture::example(&name)));
}
