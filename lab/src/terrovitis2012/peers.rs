//! Figures 11a to 11c: disassociation next to Apriori and DiffPart.

use std::rc::Rc;

use disjoin::Unobserved;
use disjoin::data::Hierarchy;
use disjoin::measure::{NoisyReport, Options, RecodedOptions, RecodedReport, measure_noisy, measure_recoded};
use disjoin::protect::noise::{Known, Source as Noise, diffpart};
use disjoin::recipe::recoding::{Method, Recoding};
use disjoin::run::forms::recoded::make;
use disjoin::{Error, Result};

use super::real::each;
use super::{K, Lab, M, NAMES, RE, REAL, Source, TKD, error_at, utility};
use crate::judge::{claim, least, most};
use crate::page::{Page, Table, number};

/// Children of a node in the taxonomy of Apriori, and for tKd-ML2.
const FANOUT: usize = 10;

/// Budgets of DiffPart: the paper takes 0.5 to 1.25 and tells its best.
const EPSILONS: [&str; 2] = ["0.5", "1.25"];

/// Noise is drawn from a seed here, so that a page can be made again: it protects nobody.
const SEED: u64 = 1;

pub(super) fn figure_11a(lab: &Lab) -> Result<Page> {
    let noisy = lab.diffpart()?;
    let lost = |report: &NoisyReport| report.tkd.map_or(f64::NAN, |deviation| deviation.all);
    let mut table = Table::named("data", &NAMES).metrics(&lab.reports(REAL)?, &[TKD]);
    for (epsilon, reports) in EPSILONS.iter().zip(&noisy) {
        table = table.column(format!("DiffPart, epsilon {epsilon}"), reports.iter().map(lost).collect());
    }
    let ours = table.get("tKd").to_vec();
    let theirs: Vec<f64> = noisy.iter().flatten().map(lost).collect();
    let best = least(&theirs);
    let gaps: Vec<f64> = theirs.iter().zip(ours.iter().cycle()).map(|(theirs, ours)| theirs - ours).collect();
    // The data on which DiffPart is best, at whichever budget.
    let where_best = theirs.iter().position(|&tkd| tkd <= best).unwrap_or(0) % REAL.len();
    let claims = vec![
        claim("where DiffPart is best, disassociation loses few of the top itemsets", "0.05")
            .judged(
                "tKd of disassociation is at most 0.055 on that data",
                format!("{} on {}", number(ours[where_best]), NAMES[where_best]),
                ours[where_best] <= 0.055,
            )
            .because("DiffPart is best on WV1 here; on POS-275k disassociation loses as little as printed"),
        claim("DiffPart loses most of the top itemsets", "0.75 at best")
            .judged(
                "tKd of DiffPart is at least 0.7 on all data, at all budgets",
                format!("{} at best", number(best)),
                best >= 0.7,
            )
            .because("by WV1 at the largest budget; the paper tells neither its thresholds nor its taxonomy"),
        claim("the order: disassociation, then DiffPart", "-").judged(
            "tKd of DiffPart is at least 0.3 higher on all data, at all budgets",
            each(&gaps),
            least(&gaps) >= 0.3,
        ),
    ];
    Ok(Page {
        title: "tKd next to DiffPart",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2. DiffPart with a taxonomy of fan-out 10 over the sorted terms and the \
               thresholds of its authors' program; one run a budget."
            .into(),
        svg: table.bars("Figure 11a (k = 5, m = 2)", "tKd"),
        table,
        claims,
    })
}

pub(super) fn figure_11b(lab: &Lab) -> Result<Page> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for source in REAL {
        let dataset = lab.load(source)?;
        let hierarchy = Hierarchy::uniform(&dataset.dictionary, FANOUT)?;
        let report = utility(&dataset, K, Options { hierarchy: Some(&hierarchy), ..Options::default() })?;
        ours.push(report.top_k.tkd_ml2.map_or(f64::NAN, |deviation| deviation.all));
        theirs.push(lab.apriori(source)?.top_k.tkd_ml2.map_or(f64::NAN, |deviation| deviation.all));
    }
    let table = Table::named("data", &NAMES).column("disassociation", ours).column("Apriori", theirs);
    let (ours, theirs) = (table.get("disassociation"), table.get("Apriori"));
    let gaps: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| theirs - ours).collect();
    let claims = vec![
        claim("disassociation keeps itemsets at several levels significantly better than Apriori", "-").judged(
            "tKd-ML2 of Apriori is at least 0.1 higher on all data",
            each(&gaps),
            least(&gaps) >= 0.1,
        ),
        claim("especially for POS", "-")
            .judged("the difference is greatest for POS-275k", each(&gaps), gaps[0] >= gaps[1] && gaps[0] >= gaps[2])
            .because("more for WV1; why was not examined, and the paper does not tell its taxonomy"),
    ];
    Ok(Page {
        title: "tKd-ML2 next to Apriori",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2, with a balanced taxonomy of fan-out 10 over the sorted terms (the paper \
               does not tell its own). Apriori generalises along the same taxonomy; an itemset with an item below what it \
               publishes is lost."
            .into(),
        svg: table.bars("Figure 11b (k = 5, m = 2, fan-out 10)", "tKd-ML2"),
        table,
        claims,
    })
}

/// re of pairs at two ranks: ours, that of Apriori and that of DiffPart.
fn errors_of_pairs(lab: &Lab) -> Result<Table> {
    let reports = lab.reports(REAL)?;
    let frequent: Vec<f64> = reports.iter().map(|report| error_at(report, 0, |window| window.re)).collect();
    let apriori = REAL.into_iter().map(|source| lab.apriori(source)).collect::<Result<Vec<_>>>()?;
    let at = |rank: usize| {
        let error = |report: &Rc<RecodedReport>| {
            let window = report.relative_error.iter().find(|window| window.first == rank);
            window.and_then(|window| window.re.mean).unwrap_or(f64::NAN)
        };
        apriori.iter().map(error).collect::<Vec<f64>>()
    };
    let [_, noisy] = lab.diffpart()?;
    let noisy_at = |rank: usize| {
        let error = |report: &NoisyReport| {
            let window = report.relative_error.iter().find(|window| window.first == rank);
            window.and_then(|window| window.re.mean).unwrap_or(f64::NAN)
        };
        noisy.iter().map(error).collect::<Vec<f64>>()
    };
    Ok(Table::named("data", &NAMES)
        .column("re, ranks 0-20", frequent)
        .column("re, ranks 200-220", reports.iter().map(|report| (RE.1)(report)).collect())
        .column("Apriori, ranks 0-20", at(0))
        .column("Apriori, ranks 200-220", at(200))
        .column("DiffPart, ranks 0-20", noisy_at(0))
        .column("DiffPart, ranks 200-220", noisy_at(200)))
}

pub(super) fn figure_11c(lab: &Lab) -> Result<Page> {
    let table = errors_of_pairs(lab)?;
    let of = |who: &str| [table.get(&format!("{who}, ranks 0-20")), table.get(&format!("{who}, ranks 200-220"))];
    let [ours, apriori, diffpart] = ["re", "Apriori", "DiffPart"].map(of);
    let frequent = ours[0];
    // Ranks 0-20 for POS only.
    let as_read = |[frequent, rarer]: [&[f64]; 2]| [frequent[0], rarer[1], rarer[2]];
    let [as_read, theirs, noise] = [ours, apriori, diffpart].map(as_read);
    let rises = |at: usize| {
        let rows = ours[at].iter().zip(apriori[at]).zip(diffpart[at]);
        rows.filter(|((ours, apriori), noisy)| ours < apriori && apriori < noisy).count()
    };
    let in_order = rises(0) + rises(1);
    let claims = vec![
        claim("disassociation has a low re in the worst case, read as ranks 0-20 for POS only", "0.18")
            .judged("re is at most 0.18 on all data", each(&as_read), most(&as_read) <= 0.18)
            .because("low for POS-275k only"),
        claim("the same, read as ranks 0-20 for all data", "0.18")
            .judged("re is at most 0.18 on all data", each(frequent), most(frequent) <= 0.18)
            .because("narrowly, by WV1; this reading comes much nearer to the printed number"),
        claim("re of Apriori is useless", "over 1")
            .judged(
                "re of Apriori is at least 1 on all data, ranks 0-20 for POS-275k only",
                each(&theirs),
                least(&theirs) >= 1.0,
            )
            .because("narrowly, by POS-275k; on all data disassociation is lower, at both ranks"),
        claim("the order: disassociation, Apriori, DiffPart", "-").judged(
            "re rises in this order on all data, at both ranks",
            format!("{} of {}", in_order, 2 * NAMES.len()),
            in_order == 2 * NAMES.len(),
        ),
        claim("re of DiffPart is useless", "over 1").judged(
            "re of DiffPart is at least 1 on all data, ranks 0-20 for POS-275k only",
            each(&noise),
            least(&noise) >= 1.0,
        ),
    ];
    Ok(Page {
        title: "re next to DiffPart and Apriori",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2; DiffPart keeps only frequent terms of POS, so the \
               paper turns to ranks 0-20 there; whether for all data, it does not say. Apriori with a taxonomy of fan-out 10; \
               supports of groups are spread evenly over their terms. DiffPart at epsilon 1.25."
            .into(),
        svg: table.bars("Figure 11c (k = 5, m = 2)", "relative error of pairs"),
        table,
        claims,
    })
}

impl Lab {
    /// What DiffPart leaves of each data set, for each budget.
    fn diffpart(&self) -> Result<[Vec<NoisyReport>; EPSILONS.len()]> {
        let mut reports = EPSILONS.map(|_| Vec::new());
        for source in REAL {
            let dataset = self.load(source)?;
            let known = Known::occurring(&dataset);
            for (epsilon, reports) in EPSILONS.into_iter().zip(&mut reports) {
                let epsilon = epsilon.parse().map_err(|_| Error::Internal("a budget is a number"))?;
                let params = diffpart::Params { fan_out: FANOUT as u32, ..diffpart::Params::new(epsilon) };
                let made = diffpart::diffpart(&known, &params, &mut Noise::demonstration(SEED), &Unobserved)?;
                reports.push(measure_noisy(&made.release, &dataset, Options::default().top, &Unobserved));
            }
        }
        Ok(reports)
    }

    /// What Apriori leaves, unless another figure asked already.
    fn apriori(&self, source: Source) -> Result<Rc<RecodedReport>> {
        if let Some(report) = self.recoded.borrow().get(&source) {
            return Ok(report.clone());
        }
        let dataset = self.load(source)?;
        let made = make(&Recoding::by_hierarchy(Method::Apriori, K, M, FANOUT), &dataset, &Unobserved)?;
        let hierarchy = Hierarchy::uniform(&dataset.dictionary, FANOUT)?;
        let Options { top, seed, .. } = Options::default();
        let (hierarchy, observer) = (Some(&hierarchy), &Unobserved);
        let options = RecodedOptions { top, queries: 0, seed, hierarchy, line_of: None, observer };
        let report = Rc::new(measure_recoded(&made.claim, &made.release, &dataset, &options)?);
        self.recoded.borrow_mut().insert(source, report.clone());
        Ok(report)
    }
}
