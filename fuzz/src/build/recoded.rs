//! Recoded transactions: blocks of groups, and records that show some of them.

use disjoin::data::TermId;
use disjoin::release::recoded::{Draft, Promised, Suppression, write_recoded};
use disjoin::release::{Recoded, RecodedClaim};

use super::{dictionary, terms};
use crate::draw::Draw;
use crate::scratch::Files;

/// A release.
pub(crate) fn recoded(draw: &mut Draw<'_>) -> Files {
    let n = draw.number(2, 10) as usize;
    let names = terms(draw, n);
    let dictionary = dictionary(&names);
    let k = draw.number(2, 4);
    let mut id = 0;
    let drafts = (0..draw.number(1, 3)).map(|_| block(draw, k, names.len() as u32, &mut id)).collect();
    let (release, _) = Recoded::of_drafts(&dictionary, drafts).expect("every record stands once");
    let promise = match draw.chance(170) {
        true => Promised::Km { m: draw.number(1, 3) },
        false => Promised::Constraints {
            privacy: sets(draw, &names),
            subsets: draw.chance(128),
            withheld: draw.number(0, 2).into(),
        },
    };
    let suppression = draw.pick(&[Suppression::None, Suppression::Terms, Suppression::Occurrences]);
    let utility = draw.chance(60).then(|| sets(draw, &names));
    let method = draw.pick(&["apriori", "lra", "vpa", "coat", "pcta", "suppression", "x"]);
    let claim = RecodedClaim::new(&release, method, k, promise, suppression, utility);
    let mut text = Vec::new();
    write_recoded(&release, &mut text).expect("memory can be written to");
    Files::default().with("claim.json", claim.to_json().expect("a claim is JSON")).with("transactions.jsonl", text)
}

fn block(draw: &mut Draw<'_>, k: u32, n_terms: u32, id: &mut u32) -> Draft {
    let mut groups: Vec<Vec<TermId>> = Vec::new();
    for term in 0..n_terms {
        match groups.last_mut() {
            // A term that stands nowhere is suppressed.
            _ if draw.chance(16) => {}
            Some(last) if draw.chance(110) => last.push(term),
            _ => groups.push(vec![term]),
        }
    }
    let labels = groups.iter().map(|_| draw.chance(30).then(|| String::from("label"))).collect();
    let all: Vec<u32> = (0..groups.len() as u32).collect();
    let mut draft = Draft::new(groups, labels);
    for _ in 0..draw.number(1, 4) {
        let shown = draw.some(&all, 128);
        let copies = if draw.chance(24) { 1 } else { draw.number(k, k + 2) };
        for _ in 0..copies {
            draft.push(*id, &mut shown.clone());
            *id += 1;
        }
    }
    draft
}

fn sets(draw: &mut Draw<'_>, names: &[&str]) -> Vec<Vec<String>> {
    let mut one = |_| draw.some(names, 60).into_iter().map(str::to_owned).collect();
    let n = 3;
    (0..n).map(&mut one).collect()
}
