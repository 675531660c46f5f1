//! What `verify` says, of every form: what was looked at, rule by rule, what is wrong, and whether the promise holds.

use super::audited::actual_parts;
use super::{SHOWN, numbers, text};
use crate::release::Promise;
use crate::release::claim::Body;
use crate::release::noisy::{Accounting, NoisyClaim, Rows};
use crate::report::page::{Page, Part, count, number};
use crate::report::run::{AnyClaim, Proof, Unchecked};
use crate::verify::{NoisyVerdict, RecodedVerdict, SetsVerdict, TableVerdict, Verdict};

/// Whether a release keeps its promise; the claim is that of the release, and what was `unchecked` is told beside.
pub fn proof_page(proof: &Proof, claim: &AnyClaim, unchecked: &[Unchecked]) -> Page {
    let (mut parts, end) = match (proof, claim) {
        (Proof::Disassociated(verdict), AnyClaim::Disassociated(claim)) => disassociated(verdict, &claim.provable()),
        (Proof::Classes { holds, table, sets, actual }, AnyClaim::Classes(claim)) => {
            let (mut parts, end) = classes(table, sets.as_ref(), *holds, &claim.provable(), "class", "classes");
            parts.extend(actual_parts(actual));
            (parts, end)
        }
        (Proof::Split(table), AnyClaim::Split(claim)) => {
            classes(table, None, table.holds, &claim.provable(), "group", "groups")
        }
        (Proof::Recoded(verdict), AnyClaim::Recoded(claim)) => recoded(verdict, &claim.provable()),
        (Proof::Noisy(verdict), AnyClaim::Noisy(claim)) => noisy(verdict, claim),
        // A proof and its claim are always of one form.
        _ => return Page::default(),
    };
    if !unchecked.is_empty() {
        parts.push(Part::Heading("Not checked:".into()));
        parts.push(Part::Points(unchecked.iter().map(|it| (it.what.clone(), it.why.clone())).collect()));
    }
    Page::answer(parts, end)
}

/// Rules with how often they were checked and violated, and the first violations.
fn rules(checks: Vec<(String, u64, u64)>, findings: Vec<String>, violations: u64) -> Vec<Part> {
    let row = |(rule, checked, violated): (String, u64, u64)| vec![rule, number(checked), number(violated)];
    let mut parts = vec![numbers(&["rule", "checked", "violated"], checks.into_iter().map(row).collect())];
    let hidden = violations.saturating_sub(findings.len().min(SHOWN) as u64);
    let mut lines: Vec<String> = findings.into_iter().take(SHOWN).collect();
    lines.extend((hidden > 0).then(|| format!("and {} more", number(hidden))));
    parts.push(text(lines.join("\n")));
    parts
}

fn not(violations: u64) -> String {
    format!("The promise does NOT hold: {}.", count(violations, "violation", "violations"))
}

fn disassociated(verdict: &Verdict, promised: &str) -> (Vec<Part>, String) {
    let mut parts = vec![text(format!(
        "{} in {}, {} of them joint",
        count(verdict.records, "record", "records"),
        count(verdict.clusters, "cluster", "clusters"),
        number(verdict.joint_clusters)
    ))];
    let checks = verdict.checks.iter().map(|check| (check.rule.to_string(), check.checked, check.violated));
    let findings = verdict.findings.iter().map(|f| format!("line {}: {}: {}", f.line, f.rule, f.detail));
    parts.extend(rules(checks.collect(), findings.collect(), verdict.violations));
    let (k, m) = (verdict.k, verdict.m);
    let end = match (verdict.holds, verdict.promise) {
        (true, _) => format!("The promise holds (k = {k}, m = {m}). {promised}"),
        (false, Promise::None) => format!("Nothing is promised: {}", Promise::None.text(k, m)),
        (false, _) => not(verdict.violations),
    };
    (parts, end)
}

fn classes(
    verdict: &TableVerdict,
    sets: Option<&SetsVerdict>,
    holds: bool,
    promised: &str,
    one: &str,
    many: &str,
) -> (Vec<Part>, String) {
    let mut parts = vec![text(format!(
        "{} in {}, the smallest of {}",
        count(verdict.records, "record", "records"),
        count(verdict.classes, one, many),
        count(verdict.smallest_class, "record", "records"),
    ))];
    let mut lines: Vec<String> = Vec::new();
    for line in &verdict.criteria {
        let told = match (line.checkable, line.worst) {
            (false, _) => String::from("cannot be seen in a release"),
            (true, None) => format!("no {one}"),
            (true, Some(worst)) => format!(
                "{} ({:.4}, limit {:.4})",
                if line.violated == 0 { "holds" } else { "VIOLATED" },
                worst.value,
                worst.limit
            ),
        };
        lines.push(format!("  {}: {told}", line.text));
    }
    if let Some(sets) = sets {
        let told = if sets.holds { "hold" } else { "do NOT hold" };
        lines.push(format!(
            "  sets: {} in {}; they {told}, inside every class",
            count(sets.clusters.records, "record", "records"),
            count(sets.clusters.clusters, "cluster", "clusters"),
        ));
    }
    parts.push(text(lines.join("\n")));
    let finding = |finding: &crate::verify::TableFinding| {
        let line = finding.line.map_or(String::new(), |line| format!("line {line}: "));
        format!("{line}{}", finding.problem)
    };
    let mut found: Vec<String> = verdict.findings.iter().take(SHOWN).map(finding).collect();
    let hidden = verdict.violations.saturating_sub(found.len() as u64);
    found.extend((hidden > 0).then(|| format!("and {} more", number(hidden))));
    parts.push(text(found.join("\n")));
    let end = match holds {
        true => format!("The promise holds: {promised}"),
        false => String::from("The promise does NOT hold."),
    };
    (parts, end)
}

fn recoded(verdict: &RecodedVerdict, promised: &str) -> (Vec<Part>, String) {
    let blocks = if verdict.blocks > 1 { format!(" in {} blocks", number(verdict.blocks)) } else { String::new() };
    let mut parts = vec![text(format!(
        "{} of {}, {} of them in groups{blocks}; {}",
        count(verdict.records, "record", "records"),
        count(verdict.terms, "term", "terms"),
        number(verdict.generalized_terms),
        count(verdict.empty_records, "record is empty", "records are empty"),
    ))];
    let checks = verdict.checks.iter().map(|check| (check.rule.to_string(), check.checked, check.violated));
    let findings = verdict.findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.detail));
    parts.extend(rules(checks.collect(), findings.collect(), verdict.violations));
    if verdict.against_original && !verdict.against_records {
        parts.push(text("Single records were not compared with the original: that needs its custody."));
    }
    let end = if verdict.holds { format!("The promise holds. {promised}") } else { not(verdict.violations) };
    (parts, end)
}

fn noisy(verdict: &NoisyVerdict, claim: &NoisyClaim) -> (Vec<Part>, String) {
    let rows = count(verdict.rows, "row", "rows");
    let mut parts = vec![text(format!("{}, {rows}, {}", verdict.method, noise_promise(claim)))];
    let mut spent: Vec<Vec<String>> =
        claim.ledger.iter().map(|entry| vec![entry.step.clone(), entry.cost.to_string()]).collect();
    spent.push(vec!["nothing".into(), claim.unspent.to_string()]);
    spent.push(vec!["may be spent".into(), verdict.budget.to_string()]);
    let measure = if claim.accounting == Accounting::Pure { "epsilon" } else { "rho" };
    parts.push(numbers(&["spent on", measure], spent));
    let checks = verdict.checks.iter().map(|check| (check.rule.to_string(), check.checked, check.violated));
    let findings = verdict.findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.detail));
    parts.extend(rules(checks.collect(), findings.collect(), verdict.violations));
    let end = match (verdict.holds, verdict.demonstration) {
        (true, _) => format!(
            "The promise holds, if noise was drawn as in the ledger: that cannot be seen in a release. {}",
            claim.provable()
        ),
        (false, true) if verdict.violations == 0 => format!("Nothing is promised: {}", claim.provable()),
        (false, _) => not(verdict.violations),
    };
    (parts, end)
}

/// The budget of a noisy release.
pub fn noise_promise(claim: &NoisyClaim) -> String {
    match claim.delta.units() {
        0 => format!("epsilon = {}", claim.epsilon),
        _ => format!("epsilon = {}, delta = {}", claim.epsilon, claim.delta),
    }
}

/// What a noisy release lists.
pub fn noisy_rows(kind: Rows, n: u64) -> String {
    match kind {
        Rows::Records => count(n, "different record", "different records"),
        Rows::Itemsets => count(n, "itemset", "itemsets"),
    }
}
