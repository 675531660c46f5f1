//! Is every page as the sources draw it? What needs no data is drawn again and compared.
//!
//! Promises:   a page is stale if the figure that draws it gives other numbers, criteria or verdicts on small generated data than when it was
//!             drawn, if it was not drawn at all, or, where it needs no other data, if it says anything else than what is drawn now;
//!             lists of verdicts are those of the pages
//! Assumes:    what changes a page changes its figure on small data: these are drawn by the same functions
//! Departs:    times are left out, and so is prose
//! Checked by: tests in this file

use std::fs;
use std::path::Path;

use disjoin::Result;

use crate::page::{Page, claims_of, fingerprint_of};
use crate::papers::{PAPERS, Paper, with_verdicts};

/// What is stale of the pages in a folder, in sentences.
pub(crate) fn stale(out: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for paper in PAPERS {
        problems.extend(stale_of(&paper, out)?);
    }
    let readme = out.parent().unwrap_or(out).join("README.md");
    let text = fs::read_to_string(&readme).unwrap_or_default();
    if with_verdicts(&text, out).is_ok_and(|now| now != text) {
        problems.push("README.md: its table of verdicts is not that of the pages".into());
    }
    Ok(problems)
}

/// The same of one paper.
fn stale_of(paper: &Paper, out: &Path) -> Result<Vec<String>> {
    let names: Vec<&str> = (paper.figures)().iter().map(|named| named.0).collect();
    let mut problems = Vec::new();
    paper.on_small_data(&names, &mut |name, drawn| {
        problems.extend(stale_page(paper, out, name, &drawn));
        Ok(())
    })?;
    problems.extend(stale_index(paper, out));
    Ok(problems)
}

/// A page without a fingerprint; the list of verdicts says so, and has none of it.
const NOT_DRAWN: &str = "was not drawn by this code";

/// What is wrong with a page beside the same figure on small data.
fn stale_page(paper: &Paper, out: &Path, name: &str, drawn: &Page) -> Option<String> {
    let text = fs::read_to_string(out.join(paper.key).join(format!("{name}.md"))).unwrap_or_default();
    let needs_nothing = (paper.figures)().iter().any(|named| named.0 == name && named.1.is_empty());
    let problem = match fingerprint_of(&text) {
        None => NOT_DRAWN,
        Some(fingerprint) if fingerprint != drawn.fingerprint() => "is stale: this code draws other numbers",
        Some(_) if needs_nothing && !paper.is_scaled() && !says(&text, drawn) => {
            "says something else than what is drawn"
        }
        Some(_) => return None,
    };
    Some(format!("{}/{name}: {problem}", paper.key))
}

fn stale_index(paper: &Paper, out: &Path) -> Option<String> {
    let folder = out.join(paper.key);
    let text = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    (text != paper.index(&folder)).then(|| format!("{}/README.md: is not the list of its pages", paper.key))
}

/// Whether a page has the table and the verdicts that were drawn; those of times are not compared.
fn says(text: &str, drawn: &Page) -> bool {
    if drawn.claims.iter().any(crate::judge::Claim::is_timed) {
        return true;
    }
    let claims: Vec<String> = drawn.claims.iter().map(|claim| format!("| {} |", claim.cells().join(" | "))).collect();
    text.contains(&drawn.table.markdown()) && claims_of(text) == claims
}

impl Paper {
    /// Whether generated data of its pages have another size than small ones.
    fn is_scaled(&self) -> bool {
        self.key == crate::terrovitis2012::PAPER.key
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every figure of a paper can be drawn, and its committed page is as this code draws it.
    fn check(paper: &Paper) {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers");
        let figures = (paper.figures)();
        let names: Vec<&str> = figures.iter().map(|named| named.0).collect();
        let (mut drawn, mut problems) = (0, Vec::new());
        paper
            .on_small_data(&names, &mut |name, page| {
                assert!(page.svg.trim_end().ends_with("</svg>") && page.svg.len() < 60_000, "{name}");
                assert!(!page.svg.contains("no data") && !page.claims.is_empty(), "{name}");
                problems.extend(stale_page(paper, &committed, name, &page));
                drawn += 1;
                Ok(())
            })
            .unwrap();
        // A page that was not drawn claims nothing: `lab check` asks for it, and README.md names it.
        problems.retain(|problem| !problem.ends_with(NOT_DRAWN));
        problems.extend(stale_index(paper, &committed));
        assert_eq!(drawn, figures.len());
        let hint = "draw them again: cargo run --release -p disjoin-lab -- all --data DIR --corpus FILE";
        assert_eq!(problems, Vec::<String>::new(), "{hint}");
    }

    #[test]
    fn pages_that_other_code_drew_and_pages_that_were_touched_are_found() {
        let (paper, figure) = (&crate::nadimpalli2014::PAPER, "example");
        let folder = tempfile::tempdir().unwrap();
        let (data, out) = (folder.path().join("data"), folder.path().join("papers"));
        fs::create_dir_all(&data).unwrap();
        let given = (paper.small)(&data).unwrap();
        paper.run(figure, &given, &out).unwrap();
        assert!(paper.run("99", &given, &out).is_err());
        let found = |text: &str| {
            fs::write(out.join(paper.key).join("example.md"), text).unwrap();
            let mut found = None;
            let put = &mut |name: &'static str, page: Page| {
                found = stale_page(paper, &out, name, &page);
                Ok(())
            };
            paper.on_small_data(&[figure], put).unwrap();
            found
        };
        let page = fs::read_to_string(out.join(paper.key).join("example.md")).unwrap();
        assert!(!page.contains(&*folder.path().to_string_lossy()), "it tells a path");
        assert_eq!(found(&page), None);
        let fingerprint = fingerprint_of(&page).unwrap().to_owned();
        assert!(found(&page.replace(&fingerprint, "0123456789abcdef")).unwrap().contains("is stale"));
        assert!(found(&page.replace("8.000", "9.000")).unwrap().contains("says something else"));
        assert!(found("").unwrap().contains("was not drawn"));
    }

    #[test]
    fn terrovitis2012_is_drawn_and_fresh() {
        check(&crate::terrovitis2012::PAPER);
    }

    #[test]
    fn barakat2016_is_drawn_and_fresh() {
        check(&crate::barakat2016::PAPER);
    }

    #[test]
    fn amiri2016_is_drawn_and_fresh() {
        check(&crate::amiri2016::PAPER);
    }

    #[test]
    fn nadimpalli2014_is_drawn_and_fresh() {
        check(&crate::nadimpalli2014::PAPER);
    }

    #[test]
    fn shao2017_is_drawn_and_fresh() {
        check(&crate::shao2017::PAPER);
    }

    #[test]
    fn the_table_of_verdicts_is_that_of_the_pages() {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(lab.join("README.md")).unwrap();
        assert!(with_verdicts(&text, &lab.join("papers")).unwrap() == text, "run: lab verdicts");
    }
}
