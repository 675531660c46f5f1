//! nadimpalli2014 again: the tables of its example as printed, and what Break-Merge does to Adult.

mod adult;
mod example;

use std::path::Path;

use disjoin::{Error, Result};

use crate::page::{Page, write_index};

type Figure = fn(&Path) -> Result<Page>;

const FIGURES: [(&str, Figure); 5] = [
    ("example", example::page),
    ("7", adult::hiding),
    ("8", adult::time),
    ("dependencies", adult::dependencies),
    ("breach", adult::breach),
];

/// Draws a figure, or all of them, and lists the verdicts again.
pub(crate) fn run(figure: &str, data: &Path, out: &Path) -> Result<()> {
    let wanted: Vec<_> = FIGURES.into_iter().filter(|(name, _)| figure == "all" || figure == *name).collect();
    if wanted.is_empty() {
        let all = FIGURES.map(|(name, _)| name).join(", ");
        return Err(Error::recipe("figure", format!("there is no figure {figure}"), format!("one of {all}, or all")));
    }
    for (name, draw) in wanted {
        eprintln!("figure {name}");
        let command = format!("cargo run --release -p disjoin-lab -- nadimpalli2014 {name} --data DIR");
        draw(data)?.write(out, name, &command)?;
        if name == "example" {
            for (figure, svg) in example::networks()? {
                let path = out.join(format!("{figure}.svg"));
                std::fs::write(&path, svg).map_err(|e| Error::io(&path, "write", e))?;
            }
        }
    }
    write_index(out, INTRODUCTION, FIGURES.iter().map(|figure| figure.0))
}

const INTRODUCTION: &str = "\
# nadimpalli2014: the example and the evaluation, drawn again

Nadimpalli, Vatsavayi: Detection and Prevention of Leaks in Anonymized Datasets, JGRCS 5(3), 2014. Made by
`cargo run --release -p disjoin-lab -- nadimpalli2014 all --data DIR`; each page tells its own command.

The example is Table II, ten people in two groups. Every printed cell of tables III to XIII is compared with ours;
networks are learned by ICS with separating sets of size 0, which gives the figures [2](2.svg), [3](3.svg) and [4](4.svg) as drawn
(`tests/it/network.rs`); Weka's default of 2 gives others.

Misprints, and how we read them: the formula of conditional probabilities has + for the count of both, and the wrong denominator;
Equation 3 is not a probability as printed, and is cited as (4). Tables III, IV and IX have 22000-58000 where Table II has 24000-58000; the
text cites Table III where IV is meant; two figures are numbered 2. Table VI mixes configurations that occur with two that do not
(0.5 and 0.5), and leaves out two that do. Table VII is smoothed by 1, as no other table is: its first two heads are swapped,
\"Widowed\" stands for Separated, and two of its rows are wrong. Table VIII leaves out three rows. The title of Table XIII
is that of XII, and its first product should be 2/5 times 4/5, as its 32 % says. Jessica is Federal-gov in Table I and State-gov in the text;
\"1/2\" for her marital status and salary follows from nothing. The highest risk level leaves out 1. The text of Algorithm 1 says \"less
than\" where the listing has >, and its `count` is never set to 0. Algorithm 2 counts one group too many, and needs sorted rows.

Figure 8 is drawn on Adult (adult14_disc.csv, repeated). Figures 5 and 6 are times of Weka on another machine, 9 and 10 are on the Disease
and Salary data, which are not at hand: they are not drawn. Figure 7 has no numbers in our copy; its claim is in the text.

On Adult (adult9_disc.csv, 30,162 rows) sex, age, race, marital status, education and country are quasi-identifiers; the work class, the
occupation and the salary class are sensitive. Classes are those of least-loss, for the table and for Break-Merge alike.
";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    /// Columns of Adult, in which the occupation goes with the education.
    fn small(head: &str) -> String {
        let columns: Vec<&str> = head.split(',').collect();
        let mut text = format!("{head}\n");
        for i in 0..400_u32 {
            let mixed = i.wrapping_mul(2_654_435_761) >> 7;
            let of = |step: u32, n: u32| mixed / step % n;
            let cells: Vec<String> = columns
                .iter()
                .map(|&column| match column {
                    "education" => format!("e{}", of(7, 4)),
                    "occupation" => format!("o{}", (of(7, 4) + u32::from(of(1_001, 5) == 0) * of(13, 5)) % 5),
                    "workclass" => format!("w{}", of(23, 3)),
                    "class" | "salary-class" => format!("s{}", of(29, 2)),
                    other => format!("v{}", of(other.len() as u32, 3)),
                })
                .collect();
            text += &(cells.join(",") + "\n");
        }
        text
    }

    #[test]
    fn every_figure_becomes_a_page_a_plot_and_rows_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let nine = "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class";
        let fourteen = "age,workclass,education,education-num,marital-status,occupation,relationship,race,sex,\
                        capital-gain,capital-loss,hours-per-week,native-country,class";
        fs::write(folder.path().join("adult9_disc.csv"), small(nine)).unwrap();
        fs::write(folder.path().join("adult14_disc.csv"), small(fourteen)).unwrap();
        let out = folder.path().join("out");
        run("all", folder.path(), &out).unwrap();
        let index = fs::read_to_string(out.join("README.md")).unwrap();
        for (name, _) in FIGURES {
            let page = fs::read_to_string(out.join(format!("{name}.md"))).unwrap();
            let svg = fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("no data"), "{name}");
            assert!(index.contains(&format!("| [{name}]({name}.md) | ")), "{name}");
            assert!(!page.contains(&*folder.path().to_string_lossy()), "{name} tells a path");
        }
        // Arrows as drawn in the paper.
        for (figure, arrows) in [("2", 3), ("3", 3), ("4", 9)] {
            let svg = fs::read_to_string(out.join(format!("{figure}.svg"))).unwrap();
            assert_eq!(svg.matches("class=\"e\"").count(), arrows, "{figure}");
        }
        let page = fs::read_to_string(out.join("example.md")).unwrap();
        let agree = |table: &str, cells: &str| page.contains(&format!("| {table} | {cells} |"));
        assert!(agree("VIII", "25.000 | 25.000") && agree("V", "8.000 | 7.000") && agree("IX", "10.000 | 5.000"));
        assert!(run("6", folder.path(), &out).is_err());
    }
}
