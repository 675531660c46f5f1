//! Packages of version 1, as disjoin wrote them before claims of all forms had one head: they are opened, proved and measured as
//! those of today.

use std::fs;
use std::path::{Path, PathBuf};

use disjoin::Memory;
use disjoin::Unobserved;
use disjoin::publish::Kept;
use disjoin::read::{Files, Options};
use disjoin::recipe::written;
use disjoin::release::Form;
use disjoin::release::claim::VERSION;
use disjoin::report::AnyClaim;
use disjoin::run::{MeasureOptions, Originally, measure, open, verify};

/// What was protected.
const SETS: &str = "flu asthma\nflu asthma\nflu hiv\nflu asthma gout\ngout flu\ngout asthma\nflu asthma\ngout flu\n";
const PEOPLE: &str = "name,age,city,ill,pay\nA,20,Oslo,flu,1\nB,21,Oslo,gout,2\nC,22,Rome,flu,1\nD,23,Rome,gout,2\n\
                      E,40,Oslo,flu,2\nF,41,Oslo,gout,1\nG,42,Rome,flu,2\nH,43,Rome,gout,1\n";

/// The files of each package, each below a line with its name.
const PACKAGES: [(Form, &str, &str); 5] = [
    (Form::Disassociated, "sets.dat", include_str!("version_1/disassociated.txt")),
    (Form::Classes, "people.csv", include_str!("version_1/generalized.txt")),
    (Form::Split, "people.csv", include_str!("version_1/split.txt")),
    (Form::Recoded, "sets.dat", include_str!("version_1/recoded.txt")),
    (Form::Noisy, "sets.dat", include_str!("version_1/noisy.txt")),
];

/// Writes the files of a package, and what it was made from.
fn unpack(package: &str, folder: &Path) -> PathBuf {
    fs::write(folder.join("sets.dat"), SETS).unwrap();
    fs::write(folder.join("people.csv"), PEOPLE).unwrap();
    let out = folder.join("out");
    for file in package.split("== ").skip(1) {
        let (name, text) = file.split_once('\n').unwrap();
        fs::create_dir_all(out.join(name).parent().unwrap()).unwrap();
        fs::write(out.join(name), text).unwrap();
    }
    out
}

/// Version and number of records of a claim.
fn told(claim: &AnyClaim) -> (u64, Option<u64>) {
    match claim {
        AnyClaim::Disassociated(claim) => (claim.version, Some(claim.records)),
        AnyClaim::Classes(claim) => (claim.version, Some(claim.records)),
        AnyClaim::Split(claim) => (claim.version, Some(claim.records)),
        AnyClaim::Recoded(claim) => (claim.version, Some(claim.records)),
        AnyClaim::Noisy(claim) => (claim.version, None),
    }
}

#[test]
fn packages_of_version_1_are_opened_proved_and_measured() {
    for (form, original, package) in PACKAGES {
        let folder = tempfile::tempdir().unwrap();
        let out = unpack(package, folder.path());
        let opened = open(&out, None, Memory::default()).unwrap();
        assert_eq!(opened.form(), form);
        let is_noisy = form == Form::Noisy;
        assert_eq!(told(&opened.claim()), (1, (!is_noisy).then_some(8)), "{form:?}");
        let kept = opened.kept().unwrap().unwrap();
        assert_eq!(kept.map.len(), if is_noisy { 0 } else { 8 }, "{form:?}");
        if matches!(form, Form::Classes | Form::Split) {
            assert_eq!((kept.k(), kept.declared.roles.len(), kept.partition().len()), (2, 5, 4));
        }

        let file = folder.path().join(original);
        let nothing = Originally::default();
        let original = Originally { location: Some(&file), options: Options::default() };
        let answer = verify(&out, None, &nothing, &Files, &Unobserved).unwrap();
        assert!(answer.judged.holds && answer.judged.proved == Some(true), "{form:?}");
        if !is_noisy {
            let answer = verify(&out, None, &original, &Files, &Unobserved).unwrap();
            assert!(answer.judged.holds, "{form:?}: {}", answer.json);
        }
        let asked = MeasureOptions::new(&written::Measure { queries: Some(5), ..Default::default() }).unwrap();
        measure(&out, None, &original, &asked, &Files, &Unobserved).unwrap();
        // Another file is still found out.
        fs::write(&file, format!("{}x\n", fs::read_to_string(&file).unwrap())).unwrap();
        assert!(measure(&out, None, &original, &asked, &Files, &Unobserved).is_err(), "{form:?}");
    }
}

#[test]
fn versions_to_come_are_refused_by_their_number() {
    for (form, _, package) in PACKAGES {
        let folder = tempfile::tempdir().unwrap();
        let out = unpack(package, folder.path());
        for file in ["release/claim.json", "custody/custody.json"] {
            let text = fs::read_to_string(out.join(file)).unwrap();
            let later = text.replacen("\"version\": 1", &format!("\"version\": {}", VERSION + 1), 1);
            assert_ne!(later, text);
            fs::write(out.join(file), later).unwrap();
        }
        let errors =
            [open(&out, None, Memory::default()).err().unwrap(), Kept::read(&out.join("custody"), form).unwrap_err()];
        for error in errors {
            assert!(error.to_string().contains(&format!("version {}", VERSION + 1)), "{form:?}: {error}");
            assert!(error.hint().is_some_and(|hint| hint.contains("version of disjoin")), "{error}");
        }
    }
}
