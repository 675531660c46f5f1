//! A person of whom something is known, in `attack` on tables: what somebody wrote, as columns and values of the release.

use crate::attack::surviving::{BeliefTold, Published, Surviving, ValueBelief, Valued, beliefs_about};
use crate::attack::{PersonBreach, person_breach};
use crate::error::{Error, Result};
use crate::release::split::SplitTables;
use crate::report::Believed;

/// A person, by columns and codes.
pub(super) struct Person {
    target: Vec<(usize, u32)>,
    known: Vec<(usize, u32)>,
}

impl Person {
    /// Looks up what was written: `age=30-50,sex=F`.
    pub(super) fn find(target: &[String], known: &[String], published: &Published) -> Result<Option<Person>> {
        let target = values_of("attack.target", target, published)?;
        let known = values_of("attack.known", known, published)?;
        if let Some(&(column, _)) = known.iter().find(|(column, _)| target.iter().any(|(other, _)| other == column)) {
            let problem = format!("names {} again, which the target has", published.names[column]);
            return Err(Error::recipe("attack.known", problem, "name each column once"));
        }
        if target.is_empty() && !known.is_empty() {
            return Err(Error::recipe("attack.known", "is about a person, and none is named", "name a target"));
        }
        Ok((!target.is_empty()).then_some(Person { target, known }))
    }

    /// What follows for the person. Of a split table, over all assignments that are consistent with it.
    pub(super) fn believed(
        &self,
        published: &Published,
        found: &Surviving,
        split: Option<&SplitTables>,
    ) -> Result<Believed> {
        let mut beliefs: Vec<BeliefTold> = beliefs_about(published, found, &self.target, &self.known)?;
        let has: Vec<(usize, u32)> = self.target.iter().chain(&self.known).copied().collect();
        let breach = split.map(|tables| person_breach(tables, &has));
        if let Some(breach) = &breach {
            beliefs.iter_mut().for_each(|belief| by_assignments(belief, published, breach));
        }
        let named = |pairs: &[(usize, u32)]| pairs.iter().map(|pair| valued(published, *pair)).collect();
        Ok(Believed { target: named(&self.target), known: named(&self.known), beliefs, breach })
    }
}

/// Puts the probabilities of all assignments in the place of those that one of them suggests.
fn by_assignments(belief: &mut BeliefTold, published: &Published, breach: &PersonBreach) {
    let Some(column) = published.names.iter().position(|name| *name == belief.column) else { return };
    let shares = &breach.columns[column - published.n_quasi];
    for value in &mut belief.values {
        let code = published.texts[column].iter().position(|text| *text == value.value);
        value.after = code.filter(|_| breach.known > 0.0).map(|code| shares.get(code).copied().unwrap_or(0.0));
    }
    let key = |value: &ValueBelief| value.after.unwrap_or(value.before);
    belief.values.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.value.cmp(&b.value)));
}

fn valued(published: &Published, (column, code): (usize, u32)) -> Valued {
    Valued { column: published.names[column].clone(), value: published.texts[column][code as usize].clone() }
}

/// Columns and codes from what was written.
fn values_of(key: &'static str, written: &[String], published: &Published) -> Result<Vec<(usize, u32)>> {
    let mut values: Vec<(usize, u32)> = Vec::new();
    for (name, text) in written.iter().flat_map(|text| pairs(text)) {
        let Some(text) = text else {
            let hint = "for example age=30-50,sex=F";
            return Err(Error::recipe(key, "expected COLUMN=VALUE, with commas between", hint));
        };
        let Some(column) = published.names.iter().position(|other| *other == name) else {
            let hint = match nearest(&name, &published.names) {
                Some(meant) => format!("did you mean {meant}? The release has {}", published.names.join(", ")),
                None => format!("the release has {}", published.names.join(", ")),
            };
            return Err(Error::recipe(key, format!("there is no column {name} in the release"), hint));
        };
        if values.iter().any(|(other, _)| *other == column) {
            return Err(Error::recipe(key, format!("names {name} twice"), "name each column once"));
        }
        let texts = &published.texts[column][..published.data.size(column) as usize];
        let Some(code) = texts.iter().position(|other| *other == text) else {
            let hint = match nearest(&text, texts) {
                Some(meant) => format!("did you mean {meant}? Values are written as the release shows them"),
                None => match texts.len() {
                    0..=12 => format!("the release has {}", texts.join(", ")),
                    n => format!("the release has {n} values of it, and none is like that"),
                },
            };
            return Err(Error::recipe(key, format!("{name} has no such value in the release"), hint));
        };
        values.push((column, code as u32));
    }
    Ok(values)
}

/// `a=1,b=2` in pairs. A piece without `=` belongs to the value before: values may have commas.
fn pairs(text: &str) -> Vec<(String, Option<String>)> {
    let mut pairs: Vec<(String, Option<String>)> = Vec::new();
    for piece in text.split(',') {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.trim().to_owned(), Some(value.trim().to_owned()))),
            (None, Some((_, Some(value)))) => {
                value.push(',');
                value.push_str(piece.trim_end());
            }
            (None, _) => pairs.push((piece.trim().to_owned(), None)),
        }
    }
    pairs
}

/// What was meant, if something is like it.
fn nearest<'t>(text: &str, known: &'t [String]) -> Option<&'t str> {
    let far = |other: &&String| strsim::damerau_levenshtein(&text.to_lowercase(), &other.to_lowercase());
    known.iter().min_by_key(far).filter(|other| far(other) <= 1 + text.chars().count() / 3).map(String::as_str)
}
