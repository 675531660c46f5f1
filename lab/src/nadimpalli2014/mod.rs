//! nadimpalli2014 again: the tables of its example as printed, and what Break-Merge does to Adult.

mod adult;
mod example;
mod time;

use std::path::Path;

use disjoin::Result;

use crate::page::{Page, write};
use crate::papers::{Given, Named, Paper, Put};

pub(crate) const PAPER: Paper = Paper { key: "nadimpalli2014", introduction: INTRODUCTION, figures, draw, small };

type Figure = fn(&Given) -> Result<Page>;

const NINE: &str = "adult9_disc.csv";
const FOURTEEN: &str = "adult14_disc.csv";

const FIGURES: [(&str, Figure, &[&str]); 12] = [
    ("example", example::page, &[]),
    ("2", example::figure_2, &[]),
    ("3", example::figure_3, &[]),
    ("4", example::figure_4, &[]),
    ("5", time::figure_5, &[FOURTEEN]),
    ("6", time::figure_6, &[FOURTEEN]),
    ("7", adult::hiding, &[NINE]),
    ("8", time::figure_8, &[FOURTEEN]),
    ("9", time::figure_9, &[]),
    ("10", time::figure_10, &[]),
    ("dependencies", adult::dependencies, &[NINE]),
    ("breach", adult::breach, &[NINE]),
];

fn figures() -> Vec<Named> {
    FIGURES.iter().map(|&(name, _, files)| (name, files)).collect()
}

fn draw(given: &Given, wanted: &[&str], put: Put<'_>) -> Result<()> {
    for (name, draw, _) in FIGURES.into_iter().filter(|figure| wanted.contains(&figure.0)) {
        eprintln!("figure {name}");
        put(name, draw(given)?)?;
    }
    Ok(())
}

/// Small files with the columns of Adult.
fn small(folder: &Path) -> Result<Given> {
    let nine = "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class";
    let fourteen = "age,workclass,education,education-num,marital-status,occupation,relationship,race,sex,\
                    capital-gain,capital-loss,hours-per-week,native-country,class";
    write(&folder.join(NINE), &people(nine))?;
    write(&folder.join(FOURTEEN), &people(fourteen))?;
    Ok(Given::small(folder))
}

/// People in whose rows the occupation goes with the education.
fn people(head: &str) -> String {
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

const INTRODUCTION: &str = "\
# nadimpalli2014: the example and the evaluation, drawn again

Nadimpalli, Vatsavayi: Detection and Prevention of Leaks in Anonymized Datasets, JGRCS 5(3), 2014. Made by
`cargo run --release -p disjoin-lab -- nadimpalli2014 all --data DIR`; each page tells its own command.

The example is Table II, ten people in two groups. Every printed cell of tables III to XIII is compared with ours, those of IX to XIII with
what Break-Merge publishes. Networks are learned by ICS with separating sets of size 0; Weka's default of 2 gives others
(`tests/it/network.rs`). What ICS finds depends on the order of columns: figure 2 of the paper has the zip code before the gender, figure 4
has the order of Table II. The page on figure 2 has both orders.

Misprints, and how we read them: the formula of conditional probabilities has + for the count of both, and the wrong denominator;
Equation 3 is not a probability as printed, and is cited as (4). Tables III, IV and IX have 22000-58000 where Table II has 24000-58000; the
text cites Table III where IV is meant; two figures are numbered 2. Table VI mixes configurations that occur with two that do not
(0.5 and 0.5), and leaves out two that do. Table VII is smoothed by 1, as no other table is: its first two heads are swapped,
\"Widowed\" stands for Separated, and two of its rows are wrong. Table VIII leaves out three rows. The title of Table XIII
is that of XII, and its first product should be 2/5 times 4/5, as its 32 % says. Jessica is Federal-gov in Table I and State-gov in the text;
\"1/2\" for her marital status and salary follows from nothing. The highest risk level leaves out 1. The text of Algorithm 1 says \"less
than\" where the listing has >, and its `count` is never set to 0. Algorithm 2 counts one group too many, and needs sorted rows.

Figures 5, 6 and 8 are drawn on Adult (adult14_disc.csv, repeated); the paper's times are those of Weka, and of its own program, on another
machine. The Disease and Salary data of figures 9 and 10 are not at hand, and nothing is said of them: people are generated instead, with a
disease, or with a salary besides. Figure 7 has no numbers in our copy; its claim is in the text.

On Adult (adult9_disc.csv, 30,162 rows) sex, age, race, marital status, education and country are quasi-identifiers; the work class, the
occupation and the salary class are sensitive. Classes are those of least-loss, for the table and for Break-Merge alike.
";
