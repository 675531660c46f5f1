//! Words of a text: lower case, plural folded into singular.
//!
//! English, by rules: a word that the rules fold wrongly is folded wrongly everywhere, so that it still meets itself.
//!
//! Checked by: tests in this file

/// Irregular plurals that are common.
const IRREGULAR: [(&str, &str); 12] = [
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("mice", "mouse"),
    ("geese", "goose"),
    ("people", "person"),
    ("lives", "life"),
    ("wives", "wife"),
    ("knives", "knife"),
    ("leaves", "leaf"),
];

/// The words of a text in order: runs of letters and digits, in lower case and singular.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    as_written(text).map(|word| singular(&word))
}

/// The words of a text in order, in lower case, plurals as they are.
pub fn as_written(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|run| !run.is_empty());
    runs.map(|run| {
        let run = run.trim_matches(['\'', '’']);
        run.strip_suffix("'s").or_else(|| run.strip_suffix("’s")).unwrap_or(run).to_lowercase()
    })
    .filter(|word| !word.is_empty())
}

/// The singular of a word in lower case, by the rules of English spelling.
pub fn singular(word: &str) -> String {
    if let Some((_, singular)) = IRREGULAR.iter().find(|(plural, _)| *plural == word) {
        return (*singular).to_owned();
    }
    let is_short = word.len() <= 3 || !word.is_ascii();
    if is_short || ["ss", "us", "is", "ous"].iter().any(|end| word.ends_with(end)) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for end in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(end) {
            return word[..word.len() - 2].to_owned();
        }
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// Words that carry no meaning of their own.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Ascending.
const STOP_WORDS: [&str; 175] = [
    "a",
    "about",
    "above",
    "according",
    "after",
    "again",
    "against",
    "all",
    "almost",
    "also",
    "although",
    "always",
    "am",
    "among",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "did",
    "do",
    "doe",
    "does",
    "doing",
    "done",
    "down",
    "due",
    "during",
    "each",
    "either",
    "et",
    "etc",
    "even",
    "ever",
    "every",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "however",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "least",
    "less",
    "like",
    "many",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "myself",
    "near",
    "neither",
    "no",
    "non",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "often",
    "on",
    "once",
    "one",
    "only",
    "onto",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "per",
    "rather",
    "same",
    "several",
    "shall",
    "she",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "three",
    "through",
    "thus",
    "to",
    "too",
    "toward",
    "towards",
    "two",
    "under",
    "until",
    "up",
    "upon",
    "use",
    "used",
    "using",
    "very",
    "was",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yet",
    "you",
    "your",
    "yours",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_singular() {
        let folded: Vec<String> =
            words("The patients' diseases; HIV-positive woman’s biopsies, 63-year-old feet").collect();
        assert_eq!(folded.join(" "), "the patient disease hiv positive woman biopsy 63 year old foot");
    }

    #[test]
    fn singulars_follow_spelling() {
        for (plural, expected) in [
            ("classes", "class"),
            ("boxes", "box"),
            ("therapies", "therapy"),
            ("gas", "gas"),
            ("virus", "virus"),
            ("diagnosis", "diagnosis"),
            ("stress", "stress"),
            ("nerves", "nerve"),
            ("children", "child"),
            ("é", "é"),
            ("ties", "tie"),
            ("s", "s"),
        ] {
            assert_eq!(singular(plural), expected, "{plural}");
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("asthma"));
    }
}
