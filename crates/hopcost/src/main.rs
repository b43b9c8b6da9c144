#![forbid(unsafe_code)]
mod run;
fn main() -> std::process::ExitCode {
    if std::env::args().nth(1).as_deref() == Some("worker") {
        return hopcost_probe::worker::main();
    }
    std::process::ExitCode::SUCCESS
}
