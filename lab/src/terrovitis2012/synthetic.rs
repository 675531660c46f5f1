//! Figures 8a to 8d: how the loss depends on the number of records, the domain and the length of records.

use disjoin::Result;

use super::{Lab, RE, RE_A, RE_E, Source, TKD, TKD_A, TKD_E, TLOST};
use crate::Scale;
use crate::estimate::{change, spread};
use crate::judge::Limit::{AtMost, MoreThan};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};

/// The paper's defaults.
const ITEMS: usize = 5_000;
const MEAN_LENGTH: u32 = 10;

pub(super) const DOMAINS: [f64; 5] = [2_000.0, 4_000.0, 6_000.0, 8_000.0, 10_000.0];
const LENGTHS: [f64; 4] = [5.0, 10.0, 15.0, 20.0];

/// Five sizes up to the default, evenly.
pub(super) fn sizes(scale: Scale) -> [f64; 5] {
    [1, 2, 3, 4, 5].map(|fifths| (scale.records() * fifths / 5) as f64)
}

pub(super) fn of_size(records: f64) -> Source {
    Source::Quest { records: records as u64, items: ITEMS, mean_length: MEAN_LENGTH }
}

pub(super) fn of_domain(scale: Scale, items: f64) -> Source {
    Source::Quest { records: scale.records(), items: items as usize, mean_length: MEAN_LENGTH }
}

fn of_length(scale: Scale, mean_length: f64) -> Source {
    Source::Quest { records: scale.records(), items: ITEMS, mean_length: mean_length as u32 }
}

pub(super) fn figure_8a(lab: &Lab<'_>) -> Result<Page> {
    let sizes = sizes(lab.scale);
    let table = Table::at("records", &sizes).metrics(&lab.all(sizes.map(of_size))?, &[TKD_A, TKD, TKD_E, TLOST]);
    let claims = vec![hardly_varies(
        claim("the number of records has no significant effect on tKd-a, tKd and tlost", "-"),
        &table,
        &["tKd-a", "tKd", "tlost"],
    )];
    Ok(Page {
        title: "tKd-a, tKd and tlost as records are added",
        data: data(
            lab.scale,
            "5,000 terms, mean length 10. The paper's axis cannot be read: we take fifths of the default.",
        ),
        svg: table.lines(&title("8a", lab.scale), "loss", &["tKd-a", "tKd", "tKd-e", "tlost"]),
        table,
        claims,
    })
}

pub(super) fn figure_8b(lab: &Lab<'_>) -> Result<Page> {
    let sizes = sizes(lab.scale);
    let table = Table::at("records", &sizes).metrics(&lab.all(sizes.map(of_size))?, &[RE, RE_A, RE_E]);
    let claims = vec![
        claim("re and re-a become better with more records", "-")
            .cases(["re", "re-a"], |name| (name.into(), vec![falls(&table, name)])),
    ];
    Ok(Page {
        title: "re and re-a as records are added",
        data: data(
            lab.scale,
            "5,000 terms, mean length 10. The paper's axis cannot be read: we take fifths of the default.",
        ),
        svg: table.lines(&title("8b", lab.scale), "relative error of pairs", &["re", "re-a", "re-e"]),
        table,
        claims,
    })
}

pub(super) fn figure_8c(lab: &Lab<'_>) -> Result<Page> {
    let all = lab.all(DOMAINS.map(|items| of_domain(lab.scale, items)))?;
    let table = Table::at("terms of the domain", &DOMAINS).metrics(&all, &[TKD_A, TKD, RE_A, RE, TLOST]);
    let worse = change(table.of("re"));
    let claims = vec![
        hardly_varies(
            claim("a larger domain has no significant effect on frequent itemsets", "-"),
            &table,
            &["tKd-a", "tKd"],
        ),
        claim("re deteriorates slightly with the domain", "-").case(
            "",
            [
                check("rise of re from 2,000 to 10,000 terms", worse, MoreThan(0.0)),
                check("the same", worse, AtMost(0.3)),
            ],
        ),
    ];
    Ok(Page {
        title: "loss as the domain grows",
        data: data(lab.scale, "2,000 to 10,000 terms, mean length 10."),
        svg: table.lines(&title("8c", lab.scale), "loss", &["tKd-a", "tKd", "re-a", "re", "tlost"]),
        table,
        claims,
    })
}

pub(super) fn figure_8d(lab: &Lab<'_>) -> Result<Page> {
    let all = lab.all(LENGTHS.map(|length| of_length(lab.scale, length)))?;
    let table = Table::at("mean length of records", &LENGTHS).metrics(&all, &[TKD_A, TKD, RE_A, RE, TLOST]);
    let claims = claims_8d(&table);
    Ok(Page {
        title: "loss as records become longer",
        data: data(lab.scale, "5,000 terms, mean length 5 to 20."),
        svg: table.lines(&title("8d", lab.scale), "loss", &["tKd-a", "tKd", "re-a", "re", "tlost"]),
        table,
        claims,
    })
}

fn claims_8d(table: &Table) -> Vec<Claim> {
    vec![
        claim("tKd-a and tlost increase with the length of records", "-").cases(["tKd-a", "tlost"], |name| {
            (name.into(), vec![check("change from length 5 to 20", change(table.of(name)), MoreThan(0.0))])
        }),
        claim("re benefits from longer records", "-").case("", [falls(table, "re")]),
        claim("tKd remains close to 0 for all lengths", "close to 0").cases(0..LENGTHS.len(), |at| {
            (format!("length {}", LENGTHS[at]), vec![check("tKd", table.cell(at, "tKd"), AtMost(0.1))])
        }),
    ]
}

fn hardly_varies(claim: Claim, table: &Table, names: &[&str]) -> Claim {
    claim
        .cases(names, |&name| (name.into(), vec![check("from least to greatest", spread(table.of(name)), AtMost(0.1))]))
}

/// From the first row to the last a number falls by a twentieth of it at least.
fn falls(table: &Table, name: &str) -> crate::judge::Check {
    let share = change(table.of(name)).times(1.0 / table.cell(0, name).value);
    check("change from first to last, as a share of the first", share, AtMost(-0.05))
}

pub(super) fn data(scale: Scale, rest: &str) -> String {
    format!(
        "Quest, up to {} records (the paper: 1,000,000): {rest} The paper does not tell the other parameters; ours are \
         those of the program of 1995 (10,000 patterns of 4 items). k = 5, m = 2.",
        thousands(scale)
    )
}

fn title(figure: &str, scale: Scale) -> String {
    format!("Figure {figure}: Quest, up to {} records, k = 5, m = 2", thousands(scale))
}

fn thousands(scale: Scale) -> String {
    match scale.records() / 1_000 {
        millions if millions % 1_000 == 0 => format!("{},000,000", millions / 1_000),
        thousands => format!("{thousands},000"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn false_data_make_claims_differ() {
        let table = |values: [f64; 4]| {
            let names = ["tKd-a", "tKd", "re", "tlost"];
            names.iter().fold(Table::at("length", &LENGTHS), |table, name| table.column(*name, values.into()))
        };
        let verdicts = |values| claims_8d(&table(values)).iter().map(Claim::verdict).collect::<Vec<_>>();
        // Everything falls, and everything rises.
        assert_eq!(verdicts([0.9, 0.8, 0.7, 0.6]), [Verdict::Differs, Verdict::Reproduced, Verdict::Differs]);
        assert_eq!(verdicts([0.6, 0.7, 0.8, 0.9]), [Verdict::Reproduced, Verdict::Differs, Verdict::Differs]);
        // By less than a twentieth.
        assert_eq!(verdicts([0.50, 0.5, 0.5, 0.49])[1], Verdict::Differs);
        let far = hardly_varies(claim("said", "-"), &table([0.1, 0.2, 0.3, 0.4]), &["tKd-a", "tKd"]);
        assert_eq!(far.verdict(), Verdict::Differs);
    }
}
