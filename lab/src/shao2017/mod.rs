//! shao2017 again: semantic attacks on generalised sets, on medical abstracts, groceries and generated texts.

mod data;
mod figures;
mod mended;
mod ours;

use std::path::Path;

use disjoin::{Error, Result};

use crate::page::{Page, write_index};
pub(crate) use data::Sources;

type Figure = fn(&Sources) -> Result<Page>;

const FIGURES: [(&str, Figure); 11] = [
    ("13", figures::abstracts),
    ("13b", figures::groceries),
    ("13c", figures::dense),
    ("14", figures::density),
    ("15", figures::constraints),
    ("16", figures::time),
    ("ours", ours::paired),
    ("context", ours::context),
    ("corpora", ours::corpora),
    ("controls", ours::controls),
    ("mended", mended::mended),
];

/// Draws a figure, or all of them, and lists the verdicts again.
pub(crate) fn run(figure: &str, sources: &Sources, out: &Path) -> Result<()> {
    let wanted: Vec<_> = FIGURES.into_iter().filter(|(name, _)| figure == "all" || figure == *name).collect();
    if wanted.is_empty() {
        let all = FIGURES.map(|(name, _)| name).join(", ");
        return Err(Error::recipe("figure", format!("there is no figure {figure}"), format!("one of {all}, or all")));
    }
    for (name, draw) in wanted {
        eprintln!("figure {name}");
        let command = format!(
            "cargo run --release -p disjoin-cli -- corpus build /usr/share/wordnet /usr/share/dictd -o words.corpus\n\
             cargo run --release -p disjoin-lab -- shao2017 {name} --data DIR --corpus words.corpus{}",
            if matches!(name, "corpora" | "mended") && sources.vectors.is_some() {
                " --vectors wordllama.whl"
            } else {
                ""
            }
        );
        draw(sources)?.write(out, name, &command)?;
    }
    write_index(out, INTRODUCTION, FIGURES.iter().map(|figure| figure.0))
}

const INTRODUCTION: &str = "\
# shao2017: the evaluation, drawn again

Shao, Ong: Exploiting Contextual Information in Attacking Set-Generalized Transactions, ACM TOIT 17(4), 2017. Made by
`cargo run --release -p disjoin-lab -- shao2017 all --data DIR --corpus words.corpus`; each page tells its own command.

The paper's data are AOL's queries, I2B2's discharge reports and articles of goarticles.com, none of which is at hand. In their place
stand the noun phrases of medical abstracts (as I2B2: one domain, low density), groceries, and generated texts that share many words (as
GoArticle: high density). The paper asks Google how often words are met; here entries of three free dictionaries are the pages
(WordNet, GCIDE, FOLDOC: rank correlation 0.61 with people's ratings in WordSim-353). Numbers of our copy's figures are not readable: claims are
those of the text.

A share of the terms, drawn at random, must be in k records or none; COAT generalises them with any others unless said otherwise. The
paper prints neither this share nor the number of contextual items: 3 % of the abstracts' terms (about 300 generalised items, the paper
has 112), 30 % elsewhere, and all items.

Read as follows: the weights of a row use the number of columns (the paper's letters are right for square tables); the lower cluster of RBA is
that of weighted distances with the eliminated cell among them, the only reading that ends in figure 9; the vulnerabilities 0.95 and
0.82 in the text are of raw distances, the threshold 0.45 of weighted ones.
";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use disjoin::knowledge::relatedness::corpus::Builder;

    use super::*;

    #[test]
    fn every_figure_becomes_a_page_a_plot_and_rows_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let texts = data::topics(260, 8, 300, 5);
        let mut csv = String::from("condition_label,medical_abstract\n");
        let mut builder = Builder::default();
        for text in &texts {
            writeln!(csv, "1,{}", text.join("; ")).unwrap();
            builder.add(&text.join(" "));
        }
        fs::write(folder.path().join("medical-abstracts.csv"), csv).unwrap();
        let baskets: String = texts.iter().map(|text| text.join(",") + "\n").collect();
        fs::write(folder.path().join("groceries.csv"), baskets).unwrap();
        let tree = "1 03 n 01 entity 0 000 | all\n2 03 n 02 topic 0 word 0 001 @ 1 n 0000 | x\n";
        fs::write(folder.path().join("data.noun"), tree).unwrap();
        let corpus = folder.path().join("words.corpus");
        let mut file = fs::File::create(&corpus).unwrap();
        builder.finish(Vec::new()).unwrap().write(&mut file, &corpus).unwrap();
        let out = folder.path().join("out");
        let sources = Sources::read(folder.path(), &corpus, None, folder.path()).unwrap();
        run("all", &sources, &out).unwrap();
        let index = fs::read_to_string(out.join("README.md")).unwrap();
        for (name, _) in FIGURES {
            let page = fs::read_to_string(out.join(format!("{name}.md"))).unwrap();
            let svg = fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("no data"), "{name}");
            assert!(index.contains(&format!("| [{name}]({name}.md) | ")), "{name}");
            assert!(!page.contains(&*folder.path().to_string_lossy()), "{name} tells a path");
        }
        assert!(run("99", &sources, &out).is_err());
    }
}
