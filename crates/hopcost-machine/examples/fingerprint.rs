//! Prints what hopcost knows of this machine: `cargo run -p hopcost-machine
//! --example fingerprint [CPUS]`, where CPUS is a list such as 0-1 (by default
//! the pair that would be measured on).

use hopcost_machine::{Root, allowed_cpus, fingerprint, idle_summary, parse_cpu_list, topology};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Root::default();
    let allowed = allowed_cpus(&root)?;
    let topology = topology(&root, &allowed);
    let pair = topology.choose_pair(&allowed);
    let cpus = match (std::env::args().nth(1), pair) {
        (Some(list), _) => parse_cpu_list(&list)?,
        (None, Some((a, b, _))) => vec![a, b],
        (None, None) => allowed.clone(),
    };
    let mut section = String::new();
    for reading in fingerprint(&root, &cpus).readings {
        if reading.section != section {
            println!("\n{}", reading.section);
            section = reading.section;
        }
        match (reading.value, reading.reason) {
            (Some(value), _) => println!("  {:<28} {value}", reading.key),
            (None, reason) => {
                println!("  {:<28} - ({})", reading.key, reason.unwrap_or_default());
            }
        }
    }
    println!("\npairs");
    for (relation, (a, b)) in topology.pairs_by_relation(&allowed) {
        println!("  {relation:<28} {a} and {b}");
    }
    if let Some((a, b, relation)) = pair {
        println!("  chosen: {a} and {b}, {relation}");
    }
    for cpu in cpus {
        println!("  cpu{cpu}: {}", idle_summary(&root, cpu));
    }
    Ok(())
}
