//! Prints the HTML report of the made-up results: something to look at while
//! working on the page (`cargo run -p hopcost-view --example html --features fixture`).

fn main() {
    print!("{}", hopcost_view::html::report(&hopcost_view::fixture::example_results()));
}
