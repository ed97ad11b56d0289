//! Times five programs on retrograd and on other crates that differentiate, in turns on one thread, and writes the page
//! docs/peers-rust.md: `make bench-peers-rust`.
//!
//!     peers-rust [--date DATE] [--python FILE] [--write FILE] [--only TEXT]
//!
//! `--python` names the rows that `benches/compare.py --json` wrote, for the statements that both have.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

mod data;
mod on_burn;
mod on_candle;
mod on_dfdx;
mod on_num_dual;
mod on_retrograd;
mod programs;
#[path = "../../../rust/retrograd/benches/face/statements.rs"]
mod statements;

use programs::{Crate, NAMES};

/// Each set-up has so many rounds, in each of which every side has one turn of about this length: shorter than what a
/// busy machine gives a program at a time, so that some turns are disturbed by nobody.
const SET_UPS: usize = 3;
const ROUNDS: usize = 40;
const TURN: Duration = Duration::from_millis(1);

const CRATES: [Crate; 6] = [
    on_retrograd::PROGRAMS,
    on_burn::ON_FLEX,
    on_burn::ON_NDARRAY,
    on_candle::PROGRAMS,
    on_dfdx::PROGRAMS,
    on_num_dual::PROGRAMS,
];

/// How many calls take about as long as a turn, after some to warm up.
fn calls_per_turn(run: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    loop {
        let taken = turn(run, calls) * f64::from(calls);
        if taken > TURN.as_secs_f64() / 5.0 {
            return (f64::from(calls) * TURN.as_secs_f64() / taken).ceil() as u32;
        }
        calls *= 2;
    }
}

/// Seconds per call.
fn turn(run: &mut dyn FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// The least time of each side, in turns: what disturbs the machine disturbs all of them.
fn race<'s>(sides: impl Fn() -> Vec<Box<dyn FnMut() + 's>>) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; sides().len()];
    for _ in 0..SET_UPS {
        let mut sides = sides();
        let calls: Vec<u32> = sides.iter_mut().map(|side| calls_per_turn(side)).collect();
        for _ in 0..ROUNDS {
            for ((side, &calls), best) in sides.iter_mut().zip(&calls).zip(&mut best) {
                *best = best.min(turn(side, calls));
            }
        }
    }
    best
}

/// Whether two crates computed the same, up to the rounding of float32.
fn check(name: &str, found: &[(&str, Vec<f64>)]) {
    let (ours, expected) = &found[0];
    let scale = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for (theirs, values) in &found[1..] {
        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-4 * scale;
        let same = values.len() == expected.len() && values.iter().zip(expected).all(near);
        assert!(same, "{name}: {theirs} has {values:?}\nand {ours} {expected:?}");
    }
}

/// The time of each crate, or what it lacks.
fn time(program: usize) -> Vec<Result<f64, &'static str>> {
    let made = || CRATES.iter().map(|c| (c.programs[program])());
    let able: Vec<_> = made().flatten().collect();
    let names = CRATES.iter().zip(made()).filter(|(_, p)| p.is_ok()).map(|(c, _)| c.name);
    let results = names.zip(able).map(|(name, mut p)| (name, p.result())).collect::<Vec<_>>();
    check(NAMES[program], &results);
    let times = race(|| made().flatten().map(|mut p| -> Box<dyn FnMut()> { Box::new(move || p.step()) }).collect());
    let mut times = times.into_iter();
    made().map(|p| p.map(|_| times.next().expect("a time for each"))).collect()
}

fn shown(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s => (s * 1e3, "ms"),
    };
    let digits = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.digits$} {unit}")
}

fn row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    writeln!(out, "| {} |", cells.into_iter().collect::<Vec<_>>().join(" | ")).expect("strings take all");
}

fn programs_table(wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    row(&mut out, ["".to_owned()].into_iter().chain(CRATES.iter().map(|c| c.name.to_owned())));
    row(&mut out, ["---".to_owned()].into_iter().chain(CRATES.iter().map(|_| "---:".to_owned())));
    let mut lacks = String::new();
    for (i, name) in NAMES.iter().enumerate().filter(|(_, name)| wanted(name)) {
        eprintln!("{name}");
        let times = time(i);
        let ours = *times[0].as_ref().expect("retrograd has them all");
        let cell = |(k, time): (usize, &Result<f64, &str>)| match time {
            Ok(time) if k == 0 => shown(*time),
            Ok(time) => format!("{} ({:.1}x)", shown(*time), time / ours),
            Err(_) => "-".to_owned(),
        };
        row(&mut out, [(*name).to_owned()].into_iter().chain(times.iter().enumerate().map(cell)));
        for (c, lack) in CRATES.iter().zip(&times).filter_map(|(c, time)| Some((c, time.err()?))) {
            writeln!(lacks, "- {}: {name}: {lack}.", c.name).expect("strings take all");
        }
    }
    format!("{out}\nWhat a crate cannot express:\n\n{lacks}")
}

fn statements_table(python: &HashMap<String, f64>, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    row(&mut out, ["", "Rust", "Python", "Rust's share"].map(str::to_owned));
    row(&mut out, ["---", "---:", "---:", "---:"].map(str::to_owned));
    for (name, setup) in statements::STATEMENTS.iter().filter(|(name, _)| wanted(name)) {
        // Of this one the others report a hundredth.
        let parts = if *name == "backward, per node of a chain" { 100.0 } else { 1.0 };
        let ours = race(|| vec![setup()])[0] / parts;
        let theirs = python.get(*name).or_else(|| python.get(&format!("statement: {name}")));
        let share = theirs.map_or("-".into(), |theirs| format!("{:.0} %", 100.0 * ours / theirs));
        row(&mut out, [(*name).to_owned(), shown(ours), theirs.map_or("-".into(), |&t| shown(t)), share]);
    }
    out
}

/// Seconds by the names of the rows.
fn pythons(path: &str) -> Result<HashMap<String, f64>, Box<dyn Error>> {
    let table: serde_json::Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let rows = table["rows"].as_array().ok_or("no rows")?;
    let time = |row: &serde_json::Value| Some((row["name"].as_str()?.to_owned(), row["ours"].as_f64()?));
    Ok(rows.iter().filter_map(time).collect())
}

/// What the machine calls its processor, where it says so.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!("{}, {cores} cores", name.unwrap_or(env::consts::ARCH))
}

/// The compiler, and the versions of the crates that were compiled in.
fn versions() -> String {
    let lock = include_str!("../Cargo.lock");
    let version = |name: &str| {
        let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
        Some(format!("{name} {}", rest.split_once('"')?.0))
    };
    let crates = ["retrograd", "burn", "candle-core", "dfdx", "num-dual"].into_iter().filter_map(version);
    let compiler = Command::new("rustc").arg("--version").output().ok().and_then(|o| String::from_utf8(o.stdout).ok());
    let compiler = compiler.map(|text| text.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    crates.chain(compiler).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: no other thread is there yet. The pools of the other crates are to have one thread, too.
    unsafe { env::set_var("RAYON_NUM_THREADS", "1") };
    retrograd::set_num_threads(1);
    let (mut python, mut target, mut only, mut date) = (HashMap::new(), None, String::new(), "unknown".to_owned());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} wants a value"))?;
        match argument.as_str() {
            "--python" => python = pythons(&value)?,
            "--write" => target = Some(value),
            "--only" => only = value,
            "--date" => date = value,
            _ => return Err(format!("{argument} is no option").into()),
        }
    }
    let wanted = |name: &str| name.contains(&only);
    let text = format!(
        include_str!("page.md"),
        processor = processor(),
        date = date,
        versions = versions(),
        set_ups = SET_UPS,
        rounds = ROUNDS,
        programs = programs_table(wanted),
        statements = statements_table(&python, wanted),
    );
    match target {
        Some(path) => fs::write(path, text)?,
        None => print!("{text}"),
    }
    Ok(())
}
