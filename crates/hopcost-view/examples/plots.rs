//! Writes the plots of made-up results as SVG and (with the feature png) PNG:
//! `cargo run -p hopcost-view --example plots --features fixture -- wakeup DIR`.

use std::path::Path;

use hopcost_view::{chart, fixture};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let results = fixture::example(&arguments.next().unwrap_or_default());
    let directory = arguments.next().ok_or("no directory given")?;
    for (name, drawn) in chart::plots(&results) {
        let file = Path::new(&directory).join(name);
        std::fs::write(file.with_extension("svg"), chart::svg(&drawn))?;
        #[cfg(feature = "png")]
        std::fs::write(file.with_extension("png"), chart::png(&drawn)?)?;
    }
    Ok(())
}
