//! `attack`: what could an adversary learn from a release?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::meaning::{Files as WordFiles, Words};
use super::open::{Opened, Originally};
use super::person::Person;
use super::{Answer, forms, opened, refuse_idle};
use crate::attack::attackers::Class;
use crate::attack::dependency::{self, Structure};
use crate::attack::rerun::{Looked, Reran};
use crate::attack::semantic::{self, METHODS, ROWS};
use crate::attack::stronger::{Adversary, MOST_ABSENT};
use crate::attack::summary::Choice;
use crate::attack::surviving::{Of, Published};
use crate::attack::worlds::Worlds;
use crate::data::Dictionary;
use crate::error::{Error, Result};
use crate::knowledge::background::Knowledge;
use crate::observer::{Observer, observed};
use crate::publish::{Readers, Results, check_file, write_file};
use crate::read::{Options, Sources};
use crate::recipe::{Limits, Recipe, written};
use crate::release::{Claim, CutRule, Form, Promise};
use crate::report::{Attacked, attack_page, dependencies_html, network_picture};

/// What an adversary is asked to do. What is missing has its default; a key that the form of the release does not know is refused.
#[derive(Default, Serialize)]
pub struct AttackOptions {
    /// Disassociation: the attacks.
    pub run: Option<Vec<Choice>>,
    /// Disassociation: how long worlds searches for each set of terms.
    pub steps: Option<u64>,
    /// Disassociation: how many sets rerun makes witnesses for.
    pub witnesses: Option<u64>,
    /// Disassociation: the adversary believes that clusters were cut by the paper's rule.
    pub assume_greedy: bool,
    /// Disassociation: whose cover problems are counted.
    pub attackers: Option<Vec<Class>>,
    /// Disassociation: how many terms of a person an adversary knows who knows more than is promised.
    pub knows: Option<u32>,
    /// Disassociation: terms of which such an adversary knows all holders.
    pub knows_all: Vec<String>,
    /// Disassociation: terms that such an adversary knows to be absent; an empty text is a random one.
    pub knows_absent: Vec<String>,
    /// Show the terms of findings, not just how many there are.
    pub show_terms: bool,
    /// Write findings to the custody folder.
    pub keep: bool,
    /// The meaning of terms: a corpus.
    pub corpus: Option<PathBuf>,
    /// The meaning of terms: a table of counts.
    pub counts: Option<PathBuf>,
    /// The meaning of terms: vectors.
    pub vectors: Option<PathBuf>,
    /// How words are cut into pieces, for vectors.
    pub tokenizer: Option<PathBuf>,
    /// The meaning of terms, by a model that the shell brings.
    #[serde(skip)]
    pub sentences: Option<super::meaning::Embed>,
    /// Recoded sets: the attacks.
    pub eliminate: Option<Vec<semantic::Method>>,
    /// Recoded sets: how many items beside a generalised one count.
    pub context: Option<usize>,
    /// Recoded sets: how many records of a generalised item are looked at.
    pub rows: Option<usize>,
    /// Where the randomness of attacks starts.
    pub seed: Option<u64>,
    /// Other people's data, from which the adversary learns what goes together.
    pub outside: Option<PathBuf>,
    /// Tables: what is known of how sensitive values go with quasi-identifiers.
    pub knowledge: Option<Knowledge>,
    /// Tables: only look for dependencies.
    pub dependencies: bool,
    /// Tables: how dependencies are looked for.
    pub dependency: DependencyOptions,
    /// Tables: a person, by published values.
    pub target: Vec<String>,
    /// Tables: what else is known of that person.
    pub known: Vec<String>,
    /// Tables: where to draw the network of all columns.
    pub network_svg: Option<PathBuf>,
    /// Replace that drawing if it exists.
    pub force: bool,
    /// How other people's data are read.
    #[serde(skip)]
    pub input: Options,
    /// The limits.
    #[serde(skip)]
    pub limits: written::Limits,
}

/// How dependencies are looked for, where it is said.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DependencyOptions {
    /// A sensitive value with a probability above it is at risk.
    pub alpha: Option<f64>,
    /// How likely it may be that anything is reported where there is nothing.
    pub level: Option<f64>,
    /// Rules from fewer rows are left out.
    pub min_support: Option<u32>,
    /// What is added to the counts that Algorithm 1 looks at.
    pub smoothing: Option<f64>,
    /// How networks are learned.
    pub structure: Option<Structure>,
    /// The most columns that lead to one in a network.
    pub max_parents: Option<usize>,
    /// Report what all rows suggest, chance or not.
    pub unconfirmed: bool,
}

/// Whom true findings are about, in custody.
const FINDINGS: &str = "findings.csv";

/// Dependencies with their pictures, in custody.
const DEPENDENCIES: &str = "dependencies.html";

/// Which options each form knows.
const OF_FORMS: [(Form, &[&str]); 4] = [
    (
        Form::Disassociated,
        &[
            "run",
            "steps",
            "witnesses",
            "assume_greedy",
            "attackers",
            "knows",
            "knows_all",
            "knows_absent",
            "seed",
            "show_terms",
            "keep",
            "corpus",
            "counts",
            "vectors",
            "tokenizer",
            "sentences",
            "certain_disclosures",
            "reidentification_risk",
        ],
    ),
    (
        Form::Classes,
        &[
            "keep",
            "knowledge",
            "dependencies",
            "dependency",
            "target",
            "known",
            "network_svg",
            "force",
            "inference_gain",
            "belief_change",
            "dependency_rules",
        ],
    ),
    (
        Form::Split,
        &[
            "keep",
            "outside",
            "dependencies",
            "dependency",
            "target",
            "known",
            "network_svg",
            "force",
            "certain_disclosures",
            "knowledge_breach",
            "dependency_rules",
        ],
    ),
    (
        Form::Recoded,
        &[
            "show_terms",
            "corpus",
            "counts",
            "vectors",
            "tokenizer",
            "sentences",
            "eliminate",
            "context",
            "rows",
            "seed",
            "outside",
            "advantage",
        ],
    ),
];

/// Attacks a release as an adversary would; with the original, what was found is compared with the truth.
pub fn attack(
    path: &Path,
    custody: Option<&Path>,
    original: &Originally<'_>,
    asked: &AttackOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        refuse_idle(custody.filter(|_| !asked.keep), original)?;
        let (opened, original) = opened(path, custody, original, sources, observer)?;
        asked.check(&opened, original.is_some())?;
        let kept = asked.places(&opened)?;
        let attacked = forms::attack(&opened, original.as_ref(), asked, sources, observer)?;
        let limits = Limits::resolve(&asked.limits, opened.k())?;
        let judged = limits.judge(None, &attacked.found());
        let page = attack_page(&attacked, &judged, asked.show_terms);
        let mut answer = Answer::new(page, &attacked)?.judged(judged)?;
        answer.warnings = warnings(&opened, asked, &attacked);
        answer.wrote = asked.write(&opened, kept, &attacked)?;
        Ok(answer)
    })
}

fn warnings(opened: &Opened, asked: &AttackOptions, attacked: &Attacked) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |is: bool, text: &str| warnings.extend(is.then(|| text.to_owned()));
    if let super::open::Release::Disassociated(stored) = &opened.release {
        let parameters = &stored.claim.parameters;
        warn(
            parameters.sensitive.is_some() && asked.chosen(stored.claim.promise).contains(&Choice::Worlds),
            "sensitive terms may be frequent; worlds takes them for rare, and may find too much",
        );
        warn(
            asked.assume_greedy && parameters.cut != CutRule::Greedy,
            "by the claim, clusters were cut by another rule: what is found does not follow, but may be true",
        );
        if let Attacked::Disassociated { summary, .. } = attacked {
            warnings_of_rerun(summary.rerun.as_ref(), &mut warn);
        }
    }
    if let Attacked::Recoded { summary, .. } = attacked {
        let coverage = &summary.coverage;
        warn(
            !summary.left_out.is_empty(),
            "too little is not generalised to learn from: the calibrated attack was left out",
        );
        warn(
            coverage.generalised > 0 && coverage.attacked == 0,
            "nothing could be attacked: no distance is known (name a corpus or vectors), or records hold nothing beside",
        );
    }
    warnings
}

/// That nothing was found means nothing where nothing could be looked at.
fn warnings_of_rerun(reran: Option<&Reran>, warn: &mut dyn FnMut(bool, &str)) {
    let looked = reran.map(|reran| reran.looked);
    warn(
        looked == Some(Looked::TooLarge),
        "rerun decided nothing: there are too many possible originals; name the original to draw sets from it",
    );
    warn(
        looked == Some(Looked::NotReproduced),
        "rerun decided nothing: with the parameters of the claim, this version of the program makes another release (it was repaired, or \
         made by another version, with weights or utility sets, or by layers of people)",
    );
}

impl AttackOptions {
    /// What a recipe asks for.
    pub(super) fn of(recipe: &Recipe) -> Result<Self> {
        let mut asked = AttackOptions {
            run: Some(recipe.attack.run.clone()),
            steps: Some(recipe.attack.steps),
            witnesses: Some(recipe.attack.witnesses),
            attackers: recipe.attack.attackers.clone(),
            knows: recipe.attack.knows,
            knows_all: recipe.attack.knows_all.clone(),
            knows_absent: recipe.attack.knows_absent.clone(),
            ..AttackOptions::default()
        };
        asked.limits.knowledge_breach = recipe.limits.written.knowledge_breach;
        if let Some(meaning) = &recipe.attack.meaning {
            asked.corpus.clone_from(&meaning.corpus);
            asked.counts.clone_from(&meaning.counts);
            asked.vectors.clone_from(&meaning.vectors);
            asked.tokenizer.clone_from(&meaning.tokenizer);
            asked.eliminate = Some(meaning.eliminate.clone());
            asked.context = meaning.context;
            asked.rows = Some(meaning.rows);
            asked.seed = Some(meaning.seed);
            // Read once now, so that what is missing is said before the work.
            asked.words()?;
        }
        if let Some(table) = &recipe.table {
            asked.knowledge = Some(table.knowledge.clone());
            asked.dependency.alpha = Some(table.dependencies.alpha);
            asked.dependency.level = Some(table.dependencies.level);
        }
        Ok(asked)
    }

    /// Refuses what the form of the release does not know, and what needs the original.
    fn check(&self, opened: &Opened, has_original: bool) -> Result<()> {
        let form = opened.form();
        let Some((_, known)) = OF_FORMS.iter().find(|(other, _)| *other == form) else {
            let forms: Vec<Form> = OF_FORMS.iter().map(|(form, _)| *form).collect();
            let hint =
                "its promise covers every attack: disjoin verify adds up the budget, disjoin measure compares it";
            return opened.refuse("attack", &forms, hint);
        };
        let internal = |_| Error::Internal("options are always JSON");
        let asked =
            [serde_json::to_value(self).map_err(internal)?, serde_json::to_value(self.limits).map_err(internal)?];
        for (key, value) in asked.iter().filter_map(serde_json::Value::as_object).flatten() {
            if !is_empty(value) && !known.contains(&key.as_str()) {
                let others: Vec<&str> = OF_FORMS
                    .iter()
                    .filter(|(_, known)| known.contains(&key.as_str()))
                    .map(|(form, _)| form.text())
                    .collect();
                let problem = format!("is for {}, and this is {}", others.join(" or "), form.text());
                return Err(Error::recipe(format!("attack.{key}"), problem, "leave it out"));
            }
        }
        if let Some(key) = self.needs_original().filter(|_| !has_original) {
            let hint = "name the data that the release was made from: what is known of people is drawn from them";
            return Err(Error::recipe(key, "needs the original", hint));
        }
        if self.keep && form == Form::Disassociated && !has_original {
            let hint = "name the data that the release was made from";
            return Err(Error::recipe("attack.keep", "needs the original", hint));
        }
        if self.keep && !opened.custody.as_ref().is_some_and(|custody| custody.is_dir()) {
            let hint = "name the custody folder that disjoin protect wrote";
            return Err(Error::recipe("attack.keep", "there is no custody folder beside the release", hint));
        }
        Ok(())
    }

    /// The attacks on disassociated data.
    pub(super) fn chosen(&self, promise: Promise) -> Vec<Choice> {
        self.run.clone().unwrap_or_else(|| Choice::usual(promise))
    }

    /// How worlds looks at a release of this claim.
    pub(super) fn worlds(&self, claim: &Claim) -> Worlds {
        let usual = Worlds::default();
        let is_repaired = claim.promise == Promise::AlgorithmAware && claim.parameters.cut == CutRule::Greedy;
        let is_refined = claim.promise != Promise::ProgramAware && !is_repaired && !self.assume_greedy;
        Worlds { steps: self.steps.unwrap_or(usual.steps), is_refined }
    }

    /// What is asked that only the original can tell.
    fn needs_original(&self) -> Option<&'static str> {
        let of_people = |class: &Class| *class != Class::Strong;
        [
            ("attack.attackers", self.attackers.iter().flatten().any(of_people)),
            ("attack.knows", self.knows.is_some()),
            ("attack.knows_all", !self.knows_all.is_empty()),
            ("attack.knows_absent", !self.knows_absent.is_empty()),
        ]
        .into_iter()
        .find_map(|(key, is_asked)| is_asked.then_some(key))
    }

    /// Whose cover problems are counted: all, where nothing is said.
    pub(super) fn attackers(&self) -> Vec<Class> {
        self.attackers.clone().unwrap_or_else(|| Class::ALL.to_vec())
    }

    /// The adversary who knows more than is promised, if one is asked for.
    pub(super) fn adversary(&self, m: u32, dictionary: &Dictionary) -> Result<Option<Adversary>> {
        if self.knows.is_none() && self.knows_all.is_empty() && self.knows_absent.is_empty() {
            return Ok(None);
        }
        let find = |key: &'static str, texts: &[String]| {
            let of = |text: &String| {
                let hint = "spell it as the release does: disjoin query finds terms";
                dictionary.get(text).ok_or_else(|| Error::recipe(key, "is no term of the release", hint))
            };
            texts.iter().filter(|text| !text.is_empty()).map(of).collect::<Result<Vec<_>>>()
        };
        let adversary = Adversary {
            terms: self.knows.unwrap_or(m) as usize,
            all_holders: find("attack.knows_all", &self.knows_all)?,
            absent: find("attack.knows_absent", &self.knows_absent)?,
            random_absent: self.knows_absent.iter().filter(|text| text.is_empty()).count(),
        };
        if adversary.all_holders.len() + self.knows_absent.len() > MOST_ABSENT {
            let problem = format!("and attack.knows_all name more than {MOST_ABSENT} terms together");
            return Err(Error::recipe("attack.knows_absent", problem, "name fewer: the work doubles with each"));
        }
        Ok(Some(adversary))
    }

    /// How semantic attacks are made.
    pub(super) fn semantic_options(&self) -> semantic::Options {
        semantic::Options {
            methods: self.eliminate.clone().unwrap_or_else(|| METHODS.to_vec()),
            context: self.context,
            rows: self.rows.unwrap_or(ROWS),
            seed: self.seed.unwrap_or(0),
        }
    }

    /// How dependencies are looked for.
    pub(super) fn dependency_options(&self) -> Result<dependency::Options> {
        let (asked, usual) = (&self.dependency, dependency::Options::default());
        let options = dependency::Options {
            alpha: asked.alpha.unwrap_or(usual.alpha),
            level: asked.level.unwrap_or(usual.level),
            min_support: asked.min_support.unwrap_or(usual.min_support),
            max_parents: asked.max_parents.unwrap_or(usual.max_parents),
            smoothing: asked.smoothing.unwrap_or(usual.smoothing),
            confirm: !asked.unconfirmed,
            structure: asked.structure.unwrap_or(usual.structure),
            ..usual
        };
        for (key, share) in [("attack.alpha", options.alpha), ("attack.level", options.level)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::recipe(key, "must be from 0 to 1", "for example 0.5"));
            }
        }
        if !(options.smoothing >= 0.0 && options.smoothing.is_finite()) {
            return Err(Error::recipe("attack.smoothing", "must be 0 or more", "0 counts, 1 is Laplace's rule"));
        }
        Ok(options)
    }

    /// The person that is asked about, if one is.
    pub(super) fn person(&self, published: &Published) -> Result<Option<Person>> {
        Person::find(&self.target, &self.known, published)
    }

    /// What words mean to the adversary, by one source; if none is named, only a release can tell.
    pub fn words(&self) -> Result<Words> {
        let named = [
            ("attack.corpus", self.corpus.is_some()),
            ("attack.counts", self.counts.is_some()),
            ("attack.vectors", self.vectors.is_some()),
            ("attack.sentences", self.sentences.is_some()),
        ];
        let named: Vec<&str> = named.into_iter().filter(|(_, is_named)| *is_named).map(|(key, _)| key).collect();
        if let [first, second, ..] = named[..] {
            let problem = format!("is knowledge for semantic attacks, and so is {first}");
            return Err(Error::recipe(second.to_owned(), problem, "name one of them"));
        }
        Ok(self.all_words()?.pop().unwrap_or(Words::Release))
    }

    /// The meaning of terms, by all sources that are named.
    pub(super) fn all_words(&self) -> Result<Vec<Words>> {
        let files = [
            WordFiles { corpus: self.corpus.as_deref(), ..WordFiles::default() },
            WordFiles { counts: self.counts.as_deref(), ..WordFiles::default() },
            WordFiles {
                vectors: self.vectors.as_deref(),
                tokenizer: self.tokenizer.as_deref(),
                ..WordFiles::default()
            },
        ];
        let mut words: Vec<Words> =
            files.iter().filter(|files| files.is_named()).map(Words::read).collect::<Result<_>>()?;
        words.extend(self.sentences.clone().map(Words::Embedded));
        Ok(words)
    }

    /// Looks, before the work, whether what is to be kept can be written; the custody folder, if something goes there.
    fn places(&self, opened: &Opened) -> Result<Option<Results>> {
        if let Some(file) = &self.network_svg {
            check_file(file, self.force)?;
        }
        let name = if opened.form() == Form::Disassociated { FINDINGS } else { DEPENDENCIES };
        opened.custody.as_ref().filter(|_| self.keep).map(|custody| Results::open(custody, &[name])).transpose()
    }

    /// Writes what is to be kept: whom findings are about, dependencies with their pictures.
    fn write(&self, opened: &Opened, kept: Option<Results>, attacked: &Attacked) -> Result<Vec<PathBuf>> {
        let mut wrote = Vec::new();
        if let (Some(file), Some(found)) = (&self.network_svg, attacked.dependencies())
            && let Some(network) = found.found.networks.iter().find(|network| network.of == Of::Both)
        {
            write_file(file, self.force, Readers::Owner, |out| {
                let picture = network_picture(network);
                std::io::Write::write_all(out, picture.as_bytes()).map_err(|e| Error::io(file, "write", e))
            })?;
            wrote.push(file.clone());
        }
        if let Some(mut kept) = kept {
            let mut write = |name: &str, text: &str| {
                wrote.push(kept.place(name));
                kept.write(&[(name, text.as_bytes())])
            };
            if let Attacked::Disassociated { people, .. } = attacked {
                let mut csv = String::from("record,attack,cluster\n");
                for (record, attack, cluster) in people {
                    // Writing to a String cannot fail.
                    let _ = writeln!(csv, "{record},{attack},{cluster}");
                }
                write(FINDINGS, &csv)?;
            }
            if let Some(found) = attacked.dependencies() {
                write(DEPENDENCIES, &dependencies_html(&found.found, opened.made_by()))?;
            }
        }
        Ok(wrote)
    }
}

fn is_empty(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(false) => true,
        serde_json::Value::Array(all) => all.is_empty(),
        serde_json::Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}
