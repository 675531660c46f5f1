//! The way of a steward who types no flag: a file as a spreadsheet writes it, with several rows a person, is looked at, asked about on a
//! terminal, and run.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::{Bench, text};

/// As a spreadsheet of the last century writes it: a byte for each character.
fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn mixed(row: u64) -> u64 {
    let x = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) >> 33
}

/// A hundred people with up to four visits each, semicolons, decimal commas, German dates, umlauts, a sentence each. Some weights are
/// missing, some sentences have line breaks, quotes and semicolons, some cells blanks at their end, and some lines are empty.
fn visits() -> String {
    let mut text = String::from("Patient;Name;Geburtsdatum;Geschlecht;PLZ;Gewicht;Station;Diagnose;Notiz\r\n");
    for person in 0..100_u64 {
        let of = |salt: u64, most: u64| mixed(person * 31 + salt) % most;
        let name = format!("{} M\u{fc}ller{person}", ["J\u{f6}rg", "Zo\u{eb}", "Ann"][of(1, 3) as usize]);
        let born = format!("{:02}.{:02}.{}", 1 + of(2, 28), 1 + of(3, 12), 1940 + of(4, 60));
        let (sex, place) = (["w", "m"][of(5, 2) as usize], format!("0{:04}", 1000 + of(6, 40) * 7));
        for visit in 0..=of(7, 4) {
            let row = person * 10 + visit;
            let weight = format!("{},{}", 50 + mixed(row) % 50, mixed(row + 3) % 10);
            let ill = ["Grippe", "Gicht", "Masern", "R\u{f6}teln", "Asthma"][mixed(row + 5) as usize % 5];
            let note: Vec<&str> = (0..5)
                .map(|i| ["m\u{fc}de", "seit", "Montag", "kam", "wieder"][mixed(row * 5 + i) as usize % 5])
                .collect();
            let note = match row % 7 {
                0 => note.join(" ").replacen(' ', "\r\n", 1) + " (\"\"sic\"\"; nochmal)",
                _ => note.join(" "),
            };
            let weight = if row % 11 == 0 { String::new() } else { weight };
            let sex = format!("{sex}{}", if row % 13 == 0 { " " } else { "" });
            let ward = ["Nord", "S\u{fc}d"][mixed(row + 8) as usize % 2];
            text += &format!("P{person:04};{name};{born};{sex};{place};{weight};{ward};{ill};\"{note}\"\r\n");
        }
        if person % 40 == 39 {
            text += "\r\n";
        }
    }
    text
}

/// A program on a terminal of its own.
struct Terminal {
    child: Child,
    master: File,
    seen: Arc<Mutex<String>>,
    read: usize,
}

impl Terminal {
    fn open(bench: &Bench, args: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || -> Stdio {
            let path = std::ffi::OsStr::from_bytes(name.to_bytes());
            OpenOptions::new().read(true).write(true).open(path).unwrap().into()
        };
        let child = bench.command(args).stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        let master = File::from(master);
        let seen = Arc::new(Mutex::new(String::new()));
        let (mut from, to) = (master.try_clone().unwrap(), seen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // It ends with an error when the program has closed its side.
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().push_str(&text(&bytes[..n]));
            }
        });
        Terminal { child, master, seen, read: 0 }
    }

    /// Waits for a text after what was waited for before.
    fn expect(&mut self, what: &str) {
        let start = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap().clone();
            if let Some(at) = seen[self.read..].find(what) {
                self.read += at + what.len();
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{what} is not asked for in\n{}", &seen[self.read..]);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a question, and types an answer.
    fn answer(&mut self, question: &str, answer: &str) {
        self.expect(question);
        self.expect("? ");
        self.master.write_all(format!("{answer}\n").as_bytes()).unwrap();
    }

    fn ends(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        std::thread::sleep(Duration::from_millis(50));
        let seen = self.seen.lock().unwrap().clone();
        (code, seen)
    }
}

/// Answers every question, some of them wrongly first.
fn answer_all(terminal: &mut Terminal) {
    terminal.answer("Which file holds the data", "besuche.csv");
    terminal.answer("role of Patient", "");
    terminal.answer("role of Name", "");
    terminal.answer("role of Geburtsdatum", "quasy");
    terminal.expect("write one of quasi, sensitive");
    terminal.answer("role of Geburtsdatum", "q");
    terminal.answer("role of Geschlecht", "?");
    terminal.expect("a quasi-identifier: others may know it");
    terminal.answer("role of Geschlecht", "");
    terminal.answer("role of PLZ", "");
    terminal.answer("role of Gewicht", "");
    terminal.expect("nothing is suggested");
    // No answer is none where nothing is suggested; then one too many is taken back.
    terminal.answer("role of Station", "");
    terminal.expect("write one of");
    terminal.answer("role of Station", "insensitive");
    terminal.answer("role of Diagnose", "<");
    terminal.answer("role of Station", "quasi");
    terminal.answer("role of Diagnose", "");
    terminal.answer("role of Notiz", "insensitive");
    terminal.answer("Notiz would be published as it is", "no");
    terminal.answer("role of Notiz", "identifier");
    terminal.answer("(k)", "five");
    terminal.expect("write a whole number");
    terminal.answer("(k)", "4");
    terminal.answer("Which folder", "");
}

#[test]
fn a_steward_gets_from_a_spreadsheet_to_a_report_without_a_flag() {
    let bench = Bench::new();
    bench.file("besuche.csv", latin_1(&visits()));
    let (looked, _) = bench.good(&["inspect", "besuche.csv"]);
    for told in
        ["Patient numbers people who have several rows: 100 people", "day before month", "decimal comma", "free text"]
    {
        assert!(looked.contains(told), "{told}: {looked}");
    }
    assert!(!looked.contains("P00") && !looked.contains("ller"), "{looked}");

    let mut terminal = Terminal::open(&bench, &["recipe", "new"]);
    answer_all(&mut terminal);
    let (code, seen) = terminal.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("next: disjoin run recipe.toml"), "{seen}");

    let recipe = std::fs::read_to_string(bench.at("recipe.toml")).unwrap();
    for line in [
        "quasi = [\"Geburtsdatum\", \"Geschlecht\", \"PLZ\", \"Gewicht\", \"Station\"]",
        "sensitive = [\"Diagnose\"]",
        "dates = [\"Geburtsdatum\"]",
        "numeric = [\"Gewicht\"]",
        "prefixes = [\"PLZ\"]",
        "k = 4",
    ] {
        assert!(recipe.contains(line), "{line}:\n{recipe}");
    }
    let ran = bench.run(&["run"]);
    let (out, said) = (text(&ran.stdout), text(&ran.stderr));
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{out}\n{said}\n{recipe}");
    let report = std::fs::read_to_string(bench.at("out/custody/report.md")).unwrap();
    assert!(report.contains("day before month") && report.contains("decimal comma"), "{report}");
    let data = std::fs::read_to_string(bench.at("out/release/data.csv")).unwrap();
    assert!(!data.contains("P00") && !data.contains("ller") && !data.contains("Montag"), "{data}");
    // Umlauts are umlauts, and blanks at the end of a cell make no other value.
    assert!(data.contains("R\u{f6}teln") && !data.contains("m |") && !data.contains("w |"), "{data}");
}

#[test]
fn answers_that_end_early_are_an_error_and_write_nothing() {
    let bench = Bench::new();
    bench.file("people.csv", "age,sex\n30,f\n40,m\n");
    let mut terminal = Terminal::open(&bench, &["recipe", "new", "people.csv"]);
    terminal.expect("role of age");
    // Ctrl-D.
    terminal.master.write_all(&[4]).unwrap();
    let (code, seen) = terminal.ends();
    assert!(code == Some(2) && seen.contains("--accept-suggestions"), "{seen}");
    assert_eq!(bench.names(), ["people.csv"]);
}

#[test]
fn without_a_terminal_a_table_is_not_guessed() {
    let bench = Bench::new();
    bench.file("people.csv", "age,sex,x7\n30,f,1\n40,m,2\n");
    assert!(bench.bad(&["recipe", "new", "people.csv"]).contains("--accept-suggestions"));
    let (_, said) = bench.good(&["recipe", "new", "people.csv", "--accept-suggestions"]);
    assert!(said.contains("What is x7?") && said.contains("answer 1 question in it"), "{said}");
    let stopped = text(&bench.run(&["run"]).stderr);
    assert!(stopped.contains("recipe.toml:") && stopped.contains("no role yet: x7"), "{stopped}");
}
