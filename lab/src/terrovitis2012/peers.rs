//! Figures 11a to 11c: disassociation next to DiffPart and Apriori, as far as they exist here: not yet.

use disjoin::Result;
use disjoin::data::Hierarchy;
use disjoin::measure::Options;

use super::real::each;
use super::{K, Lab, NAMES, RE, REAL, TKD, error_at, utility};
use crate::judge::{claim, least, most};
use crate::page::{Page, Table, number};

const ABSENT: &str = "the other methods do not exist here yet";

/// Children of a node in the taxonomy for tKd-ML2.
const FANOUT: usize = 10;

pub(super) fn figure_11a(lab: &Lab) -> Result<Page> {
    let table = Table::named("data", &NAMES).metrics(&lab.reports(REAL)?, &[TKD]);
    let tkd = least(table.get("tKd"));
    let claims = vec![
        claim("where DiffPart is best, disassociation loses few of the top itemsets", "0.05")
            .judged("tKd is at most 0.055 on some data", format!("{} at best", number(tkd)), tkd <= 0.055)
            .partly(ABSENT),
        claim("DiffPart loses most of the top itemsets", "0.75 at best").partly(ABSENT),
    ];
    Ok(Page {
        title: "tKd next to DiffPart",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2; disassociation alone.".into(),
        svg: table.bars("Figure 11a: disassociation alone (k = 5, m = 2)", "tKd"),
        table,
        claims,
    })
}

pub(super) fn figure_11b(lab: &Lab) -> Result<Page> {
    let mut values = Vec::new();
    for source in REAL {
        let dataset = lab.load(source)?;
        let hierarchy = Hierarchy::uniform(&dataset.dictionary, FANOUT)?;
        let report = utility(&dataset, K, Options { hierarchy: Some(&hierarchy), ..Options::default() })?;
        values.push(report.top_k.tkd_ml2.map_or(f64::NAN, |deviation| deviation.all));
    }
    let table = Table::named("data", &NAMES).column("tKd-ML2", values);
    let tkd = table.get("tKd-ML2");
    let claims = vec![
        claim(
            "disassociation keeps itemsets at several levels significantly better than Apriori, especially for POS",
            "-",
        )
        .judged("tKd-ML2 is lowest for POS-275k", each(tkd), tkd[0] < tkd[1] && tkd[0] < tkd[2])
        .partly(ABSENT),
    ];
    Ok(Page {
        title: "tKd-ML2 next to Apriori",
        data:
            "POS-275k, WV1 and WV2 at k = 5, m = 2, with a balanced taxonomy of fan-out 10 over the sorted terms (the \
               paper does not tell its own); disassociation alone."
                .into(),
        svg: table.bars("Figure 11b: disassociation alone (k = 5, m = 2, fan-out 10)", "tKd-ML2"),
        table,
        claims,
    })
}

pub(super) fn figure_11c(lab: &Lab) -> Result<Page> {
    let reports = lab.reports(REAL)?;
    let frequent: Vec<f64> = reports.iter().map(|report| error_at(report, 0, |window| window.re)).collect();
    let table = Table::named("data", &NAMES)
        .column("re, ranks 0-20", frequent)
        .column("re, ranks 200-220", reports.iter().map(|report| (RE.1)(report)).collect());
    let (frequent, rarer) = (table.get("re, ranks 0-20"), table.get("re, ranks 200-220"));
    let as_read = [frequent[0], rarer[1], rarer[2]];
    let claims = vec![
        claim("disassociation has a low re in the worst case, read as ranks 0-20 for POS only", "0.18")
            .judged("re is at most 0.18 on all data", each(&as_read), most(&as_read) <= 0.18)
            .because("low for POS-275k only")
            .partly(ABSENT),
        claim("the same, read as ranks 0-20 for all data", "0.18")
            .judged("re is at most 0.18 on all data", each(frequent), most(frequent) <= 0.18)
            .because("narrowly, by WV1; this reading comes much nearer to the printed number")
            .partly(ABSENT),
        claim("re of DiffPart and of Apriori is useless", "over 1").partly(ABSENT),
    ];
    Ok(Page {
        title: "re next to DiffPart and Apriori",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2; DiffPart keeps only frequent terms of POS, so the \
               paper turns to ranks 0-20 there; whether for all data, it does not say. Disassociation alone."
            .into(),
        svg: table.bars("Figure 11c: disassociation alone (k = 5, m = 2)", "relative error of pairs"),
        table,
        claims,
    })
}
