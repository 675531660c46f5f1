//! One small package of every form, with its original and a recipe that makes it.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use crate::common::Bench;

/// A form of release: its name, the recipe that makes it, and what its original is read with.
pub struct Form {
    pub name: &'static str,
    pub recipe: String,
    pub original: &'static [&'static str],
}

/// Every form, and a table with sets.
pub fn all() -> Vec<Form> {
    let sets = "[input]\nfile = \"sets.dat\"\n[measure]\ntop = 20\nqueries = 10\n";
    let people = "[input]\nfile = \"people.csv\"\n[measure]\nqueries = 10\n";
    let table = "[table]\nquasi = [\"age\", \"sex\"]\nsensitive = [\"job\", \"ill\"]\nidentifier = [\"name\"]\nnumeric = [\"age\"]\n";
    let mixed = "[table]\nquasi = [\"age\", \"sex\"]\nsensitive = [\"ill\"]\nidentifier = [\"name\", \"job\"]\nnumeric = [\"age\"]\nset = \"items\"\n";
    let noise = "[protect]\nmethod = \"privbasis\"\n[protect.noise]\nepsilon = 5\ntop = 5\n";
    let of_sets: &[&str] = &["--original", "sets.dat"];
    let of_people: &[&str] = &["--original", "people.csv"];
    let form = |name, recipe: String, original| Form { name, recipe, original };
    vec![
        form("disassociated", format!("{sets}[protect]\nk = 3\n"), of_sets),
        form(
            "classes",
            format!(
                "{people}[protect]\nk = 3\n{}",
                table.replace("\"job\", \"ill\"", "\"ill\"").replace("\"name\"", "\"name\", \"job\", \"items\"")
            ),
            of_people,
        ),
        form("mixed", format!("{people}[protect]\nk = 3\n{mixed}"), of_people),
        form(
            "split",
            format!(
                "{people}[protect]\nk = 3\nmethod = \"break-merge\"\n{}",
                table.replace("\"name\"", "\"name\", \"items\"")
            ),
            of_people,
        ),
        form("recoded", format!("{sets}[protect]\nk = 3\nmethod = \"apriori\"\nfanout = 3\n"), of_sets),
        form("noisy", format!("{sets}{noise}"), of_sets),
    ]
}

/// A folder with the originals of all forms.
pub fn bench() -> Bench {
    let bench = Bench::new();
    let sets: String = (0..120).map(|i| format!("{} {} {}\n", i % 4, 4 + i % 3, 7 + i % 11)).collect();
    bench.file("sets.dat", sets);
    let mut people = String::from("name,age,sex,job,ill,items\n");
    for i in 0..90 {
        let (sex, job) = (["F", "M"][i % 2], ["a", "b", "c"][i % 3]);
        let ill = ["flu", "gout", "cold", "none"][(i / 2 + i / 7) % 4];
        people += &format!("p{i},{},{sex},{job},{ill},{};{}\n", 20 + i % 30, i % 4, 4 + i % 3);
    }
    bench.file("people.csv", people);
    for form in all() {
        bench.file(&format!("{}.toml", form.name), format!("{}\n[output]\nfolder = \"{}\"\n", form.recipe, form.name));
    }
    bench
}
