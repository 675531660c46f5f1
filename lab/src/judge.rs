//! Verdicts: the only place that has words for them.
//!
//! A claim has cases (data, settings), a case has checks, and a check holds a number with its interval against a limit that stands in the
//! source before the run. A check *holds* if the whole interval is within the limit, *fails* if the whole interval is beyond it, and is *open*
//! otherwise; a case is what the worst of its checks is. A claim is reproduced if every case holds. It is partly so if at least half of them
//! hold, or if none fails. Else it differs. A claim that is about *some* case is reproduced if one holds, and differs if all fail. Claims
//! whose numbers are all missing were not tried. What is said beside a verdict is which cases decided it, and nothing else.
//!
//! Checked by: tests in this file; tests/it.rs, which looks for verdicts elsewhere; tests of the papers, which feed false data

use crate::estimate::Estimate;

/// What a paper says, and what came of it here.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    said: &'static str,
    theirs: &'static str,
    cases: Vec<Case>,
    is_about_some: bool,
    is_timed: bool,
}

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Reproduced,
    Partly,
    Differs,
    NotTried,
}

/// A number that is held against a limit.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    what: String,
    estimate: Estimate,
    limit: Limit,
}

/// Where a number must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    MoreThan(f64),
    LessThan(f64),
    Within(f64, f64),
}

#[derive(Debug, Clone)]
struct Case {
    name: String,
    checks: Vec<Check>,
}

/// From the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Holds,
    Open,
    Fails,
    Missing,
}

/// A claim in words, with the number that is printed with it, or a dash.
pub(crate) fn claim(said: &'static str, theirs: &'static str) -> Claim {
    Claim { said, theirs, cases: Vec::new(), is_about_some: false, is_timed: false }
}

/// A number, what it is, and where it must be.
pub(crate) fn check(what: impl Into<String>, estimate: Estimate, limit: Limit) -> Check {
    Check { what: what.into(), estimate, limit }
}

impl Claim {
    /// One more case, in which all checks must hold.
    pub(crate) fn case(mut self, name: impl Into<String>, checks: impl Into<Vec<Check>>) -> Self {
        self.cases.push(Case { name: name.into(), checks: checks.into() });
        self
    }

    /// One more case for each of these.
    pub(crate) fn cases<T>(self, all: impl IntoIterator<Item = T>, case: impl Fn(T) -> (String, Vec<Check>)) -> Self {
        all.into_iter().map(case).fold(self, |claim, (name, checks)| claim.case(name, checks))
    }

    /// It says that there is such a case, not that all are.
    pub(crate) fn somewhere(mut self) -> Self {
        self.is_about_some = true;
        self
    }

    /// Its numbers are times, which differ from run to run.
    pub(crate) fn timed(mut self) -> Self {
        self.is_timed = true;
        self
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.is_timed
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let n = |outcome: Outcome| self.cases.iter().filter(|case| case.outcome() == outcome).count();
        let [holds, open, fails] = [Outcome::Holds, Outcome::Open, Outcome::Fails].map(n);
        let all = self.cases.len();
        if holds + open + fails == 0 {
            return Verdict::NotTried;
        }
        if self.is_about_some {
            return match (holds, open) {
                (0, 0) => Verdict::Differs,
                (0, _) => Verdict::Partly,
                _ => Verdict::Reproduced,
            };
        }
        match holds {
            _ if holds == all => Verdict::Reproduced,
            _ if 2 * holds >= all || holds + open == all => Verdict::Partly,
            _ => Verdict::Differs,
        }
    }

    /// The cells of a row: the claim, their number, the criterion, our number that decides, its interval, the verdict.
    pub(crate) fn cells(&self) -> [String; 6] {
        let [number, interval] = self.deciding().map_or(["-", "-"].map(String::from), |(case, check)| {
            let name = if case.name.is_empty() { String::new() } else { format!(" ({})", case.name) };
            [format!("{}{name}", told(check.estimate.value)), interval(&check.estimate)]
        });
        [self.said.into(), self.theirs.into(), self.criterion(), number, interval, self.sentence()]
    }

    /// Every check: the case, what is held against a limit, the number, its interval, the limit, what came of it.
    pub(crate) fn rows(&self) -> Vec<[String; 6]> {
        let rows = self.cases.iter().flat_map(|case| case.checks.iter().map(move |check| (case, check)));
        rows.map(|(case, check)| {
            let Check { what, estimate, limit } = check;
            let came = check.outcome().word().to_owned();
            [case.name.clone(), what.clone(), told(estimate.value), interval(estimate), limit.told(), came]
        })
        .collect()
    }

    /// What must hold, as the checks have it; in which cases, if not in all.
    fn criterion(&self) -> String {
        let mut all: Vec<(String, Vec<&str>)> = Vec::new();
        for case in &self.cases {
            for check in &case.checks {
                let text = format!("{} {}", check.what, check.limit.told());
                match all.iter_mut().find(|(other, _)| *other == text) {
                    Some((_, cases)) => cases.push(&case.name),
                    None => all.push((text, vec![&case.name])),
                }
            }
        }
        let of = |(text, cases): &(String, Vec<&str>)| match cases.len() == self.cases.len() {
            true => text.clone(),
            false => format!("{text} ({})", some_of(cases)),
        };
        let text = all.iter().map(of).collect::<Vec<_>>().join("; ");
        match self.cases.len() {
            0 => "-".into(),
            1 => text,
            n if self.is_about_some => format!("{text}; in one of {n} cases"),
            n => format!("{text}; in all of {n} cases"),
        }
    }

    /// The check that is farthest from holding.
    fn deciding(&self) -> Option<(&Case, &Check)> {
        let rows = self.cases.iter().flat_map(|case| case.checks.iter().map(move |check| (case, check)));
        let rank = |(_, check): &(&Case, &Check)| (check.outcome() != Outcome::Missing, check.outcome());
        let shown = |a: &(&Case, &Check), b: &(&Case, &Check)| {
            rank(a).cmp(&rank(b)).then(b.1.margin().total_cmp(&a.1.margin()))
        };
        match self.is_about_some {
            // The case that comes nearest, by its worst check.
            true => {
                let best = self.cases.iter().min_by(|a, b| {
                    let margin = |case: &Case| case.checks.iter().map(Check::margin).fold(f64::INFINITY, f64::min);
                    a.outcome().cmp(&b.outcome()).then(margin(b).total_cmp(&margin(a)))
                })?;
                best.checks.iter().map(|check| (best, check)).max_by(shown)
            }
            false => rows.max_by(shown),
        }
    }

    fn sentence(&self) -> String {
        let word = self.verdict().word();
        let n = self.cases.len();
        let holds = self.cases.iter().filter(|case| case.outcome() == Outcome::Holds).count();
        if n < 2 || self.verdict() == Verdict::NotTried {
            let is_open = self.cases.iter().any(|case| case.outcome() == Outcome::Open);
            return if is_open { format!("{word}: open") } else { word.into() };
        }
        if holds == n {
            return word.into();
        }
        let others: Vec<&str> =
            self.cases.iter().filter(|case| case.outcome() != Outcome::Holds).map(|case| &case.name[..]).collect();
        format!("{word}: holds in {holds} of {n}; not in {}", some_of(&others))
    }
}

/// The first of some names, and how many more.
fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    match names.len() {
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join("; "), n - SHOWN),
        _ => names.join("; "),
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::Differs => "differs",
            Verdict::NotTried => "not tried",
        }
    }

    /// All of them, in the order of the summary.
    pub(crate) const ALL: [Verdict; 4] = [Verdict::Reproduced, Verdict::Partly, Verdict::Differs, Verdict::NotTried];
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Open => "open",
            Outcome::Fails => "fails",
            Outcome::Missing => "missing",
        }
    }
}

impl Case {
    fn outcome(&self) -> Outcome {
        self.checks.iter().map(Check::outcome).max().unwrap_or(Outcome::Missing)
    }
}

impl Check {
    fn outcome(&self) -> Outcome {
        let Estimate { value, low, high } = self.estimate;
        if value.is_nan() || low.is_nan() || high.is_nan() {
            return Outcome::Missing;
        }
        let [in_low, in_high] = [low, high].map(|end| self.limit.has(end));
        let is_beyond = match self.limit {
            Limit::AtLeast(_) | Limit::MoreThan(_) => !in_high,
            Limit::AtMost(_) | Limit::LessThan(_) => !in_low,
            Limit::Within(from, to) => high < from || low > to,
        };
        match (in_low && in_high, is_beyond) {
            (true, _) => Outcome::Holds,
            (_, true) => Outcome::Fails,
            _ => Outcome::Open,
        }
    }

    /// How far the number is within its limit, in units of both.
    fn margin(&self) -> f64 {
        let value = self.estimate.value;
        let (by, limit) = match self.limit {
            Limit::AtLeast(limit) | Limit::MoreThan(limit) => (value - limit, limit),
            Limit::AtMost(limit) | Limit::LessThan(limit) => (limit - value, limit),
            Limit::Within(from, to) if value - from < to - value => (value - from, from),
            Limit::Within(_, to) => (to - value, to),
        };
        by / (value.abs() + limit.abs() + f64::MIN_POSITIVE)
    }
}

impl Limit {
    fn has(self, value: f64) -> bool {
        match self {
            Limit::AtLeast(limit) => value >= limit,
            Limit::AtMost(limit) => value <= limit,
            Limit::MoreThan(limit) => value > limit,
            Limit::LessThan(limit) => value < limit,
            Limit::Within(from, to) => value >= from && value <= to,
        }
    }

    fn told(self) -> String {
        match self {
            Limit::AtLeast(limit) => format!("at least {limit}"),
            Limit::AtMost(limit) => format!("at most {limit}"),
            Limit::MoreThan(limit) => format!("more than {limit}"),
            Limit::LessThan(limit) => format!("less than {limit}"),
            Limit::Within(from, to) => format!("from {from} to {to}"),
        }
    }
}

/// Three decimals, four of small numbers, none of large whole ones, a dash for none.
pub(crate) fn told(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "-".into(),
        _ if value.fract() == 0.0 && value.abs() < 1e15 => value.to_string(),
        _ if value.abs() < 0.01 => format!("{value:.4}"),
        _ => format!("{value:.3}"),
    }
}

fn interval(estimate: &Estimate) -> String {
    match estimate {
        _ if estimate.is_missing() => "-".into(),
        Estimate { low, high, .. } if low.is_infinite() || high.is_infinite() => "unknown".into(),
        Estimate { value, low, high } if low == value && high == value => "exact".into(),
        Estimate { low, high, .. } => format!("{} to {}", told(*low), told(*high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: f64, half: f64) -> Estimate {
        Estimate { value, low: value - half, high: value + half }
    }

    fn of(estimates: &[Estimate], limit: Limit) -> Claim {
        claim("said", "-")
            .cases(estimates, |&estimate| (format!("at {}", estimate.value), vec![check("x", estimate, limit)]))
    }

    #[test]
    fn a_number_decides_with_its_whole_interval() {
        use Limit::{AtLeast, AtMost, LessThan, MoreThan, Within};
        let one = |value, half, limit| of(&[at(value, half)], limit).verdict();
        for (limit, inside, outside) in [
            (AtLeast(1.0), 1.5, 0.5),
            (MoreThan(1.0), 1.5, 0.5),
            (AtMost(1.0), 0.5, 1.5),
            (LessThan(1.0), 0.5, 1.5),
            (Within(1.0, 3.0), 2.0, 4.0),
        ] {
            assert_eq!(one(inside, 0.4, limit), Verdict::Reproduced, "{limit:?}");
            assert_eq!(one(inside, 1.1, limit), Verdict::Partly, "{limit:?}: undecided");
            assert_eq!(one(outside, 0.4, limit), Verdict::Differs, "{limit:?}");
            assert_eq!(one(f64::NAN, 0.4, limit), Verdict::NotTried, "{limit:?}");
        }
        // On the limit.
        let exact = |limit| of(&[Estimate::exact(1.0)], limit).verdict();
        assert_eq!([AtLeast(1.0), AtMost(1.0)].map(exact), [Verdict::Reproduced; 2]);
        assert_eq!([MoreThan(1.0), LessThan(1.0)].map(exact), [Verdict::Differs; 2]);
    }

    #[test]
    fn cases_add_up_to_a_verdict() {
        let (good, bad, open, none) = (at(2.0, 0.1), at(0.0, 0.1), at(1.0, 1.0), Estimate::missing());
        let verdict = |all: &[Estimate]| of(all, Limit::AtLeast(1.0)).verdict();
        assert_eq!(verdict(&[good, good]), Verdict::Reproduced);
        assert_eq!(verdict(&[good, bad]), Verdict::Partly);
        assert_eq!(verdict(&[good, bad, bad]), Verdict::Differs);
        assert_eq!(verdict(&[open, open]), Verdict::Partly);
        assert_eq!(verdict(&[open, open, bad]), Verdict::Differs);
        assert_eq!(verdict(&[good, none]), Verdict::Partly, "what is missing does not hold");
        assert_eq!(verdict(&[none, none]), Verdict::NotTried);
        assert_eq!(verdict(&[]), Verdict::NotTried);
        let some = |all: &[Estimate]| of(all, Limit::AtLeast(1.0)).somewhere().verdict();
        assert_eq!(some(&[bad, bad, good]), Verdict::Reproduced);
        assert_eq!(some(&[bad, open]), Verdict::Partly);
        assert_eq!(some(&[bad, bad]), Verdict::Differs);
    }

    #[test]
    fn all_checks_of_a_case_must_hold() {
        let checks = vec![check("a", at(2.0, 0.1), Limit::AtLeast(1.0)), check("b", at(2.0, 0.1), Limit::AtMost(1.0))];
        let claim = claim("said", "-").case("", checks);
        assert_eq!(claim.verdict(), Verdict::Differs);
        let [_, _, criterion, number, interval, verdict] = claim.cells();
        assert_eq!(criterion, "a at least 1; b at most 1");
        assert_eq!((&number[..], &interval[..], &verdict[..]), ("2", "1.900 to 2.100", "differs"));
    }

    #[test]
    fn what_is_said_follows_from_the_numbers() {
        let cells = of(&[at(2.0, 0.1), at(0.0, 0.1)], Limit::AtLeast(1.0)).cells();
        assert_eq!(cells[2], "x at least 1; in all of 2 cases");
        assert_eq!(cells[3], "0 (at 0)", "the case that decides");
        assert_eq!(cells[5], "partly: holds in 1 of 2; not in at 0");
    }
}
