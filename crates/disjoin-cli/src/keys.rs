//! Errors name keys of recipes; here they are spelled as flags.

use disjoin::Error;

/// Keys whose flag is not their last word.
const FLAGS: [(&str, &str); 28] = [
    ("protect.k", "-k"),
    ("protect.m", "-m"),
    ("protect.refine", "--no-refine"),
    ("input.file", "FILE"),
    ("input.visits", "--keep-visits"),
    ("output.folder", "--out"),
    ("output.format", "--output-format"),
    ("table.criteria.l", "--l-diversity"),
    ("table.criteria.recursive", "--recursive-l"),
    ("table.criteria.t", "--t-closeness"),
    ("table.criteria.enhanced", "--basic"),
    ("table.hierarchies", "--hierarchy"),
    ("table.knowledge", "--knowledge"),
    ("table.knowledge.estimator", "--knowledge"),
    ("table.knowledge.bandwidth", "--bandwidth"),
    ("attack.run", "--attack"),
    ("attack.assume_greedy", "--assume"),
    ("attack.dependency", "--alpha"),
    ("limits.certain_disclosures", "--max-certain-disclosures"),
    ("limits.reidentification_risk", "--max-reidentification-risk"),
    ("limits.advantage", "--max-advantage"),
    ("limits.inference_gain", "--max-inference-gain"),
    ("limits.belief_change", "--max-belief-change"),
    ("limits.dependency_rules", "--max-dependency-rules"),
    ("limits.knowledge_breach", "--max-knowledge-breach"),
    ("repair.limit", "--limit"),
    ("to_format", "--to"),
    ("to", "TO"),
];

/// Words of the command line that are no flags.
const WORDS: [&str; 4] = ["itemset", "predicate", "term", "FILE"];

/// The same error, spelled for the command line.
pub(crate) fn as_flag(error: Error) -> Error {
    match error {
        Error::Recipe { key, problem, hint } => Error::Recipe { key: flag_of(&key).into(), problem, hint },
        other => other,
    }
}

/// How the command line spells a key.
pub(crate) fn flag_of(key: &str) -> String {
    if key.starts_with('-') {
        return key.to_owned();
    }
    if WORDS.contains(&key) {
        return key.to_uppercase();
    }
    // Limits of an attack are limits, not its own keys.
    let limit = key.strip_prefix("attack.").map(|name| format!("limits.{name}"));
    match FLAGS.iter().find(|(known, _)| *known == key || limit.as_deref() == Some(*known)) {
        Some((_, flag)) => (*flag).to_owned(),
        None => format!("--{}", key.rsplit('.').next().unwrap_or(key).replace('_', "-")),
    }
}
