//! Reports: what each audience is told, that no term and for the public no count of the original is, and that pages are sound.
//!
//! With `REPORT_FOLDER` set, the pages are written there, to be looked at: `scripts/check-report` checks them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use disjoin::attack::summary::{Choice, Summary, find, likeliest};
use disjoin::attack::{Knowledge, View, Worlds, judge};
use disjoin::data::Dataset;
use disjoin::generate::hospital;
use disjoin::inspect::risk;
use disjoin::measure::{self, measure};
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::read::{Options, read_bytes};
use disjoin::recipe::{Written, resolve};
use disjoin::reconstruct::Model;
use disjoin::release::claim::{Parameters, Sensitive};
use disjoin::release::open::InMemory;
use disjoin::release::{Claim, Disassociated, Promise};
use disjoin::repair::set_aside;
use disjoin::report::{AnyClaim, AsRead, Attacked, Audience, Before, Proof, Repaired, Round, Run, Utility};
use disjoin::verify::{Truth, verify};
use disjoin::{Result, Unobserved};

const K: u32 = 4;
const M: u32 = 2;

/// What every term of the data holds, and no English text does.
const MARK: &str = "Qzx";

/// Somebody's diagnoses, under names that nothing else has.
fn register() -> Dataset {
    let register = hospital::hospital(&hospital::Params { patients: 900, seed: 3 }).unwrap();
    let mut csv = Vec::new();
    register.write_csv(&mut csv).unwrap();
    let options = Options { column: Some("diagnoses".into()), ..Options::default() };
    let (data, _) = read_bytes("original.csv", &csv, &options).unwrap();
    Dataset::from_texts(data.records.iter().map(|record| record.iter().map(|term| format!("{MARK}{term}{MARK}"))))
}

fn round(data: &Dataset, claim: &Claim, release: &Disassociated, leaf_of: &[u32]) -> Result<Round> {
    let verdict = verify(claim, InMemory::new(release), Some(Truth { original: data, leaf_of: Some(leaf_of) }))?;
    let view = View { release, cut: claim.parameters.cut, knowledge: &Knowledge::Anything, observer: &Unobserved };
    let found = find(&view, &Choice::ALL, &Worlds { steps: 1000, ..Worlds::default() });
    let truth = judge::Truth::new(data, Some(leaf_of), release)?;
    let identity = likeliest(&Model::new(release)?);
    let summary = Summary::new(&found, Some(identity), Some(&truth), release);
    let attacked = Attacked::Disassociated { summary, people: Vec::new() };
    Ok(Round { repaired: None, proof: Proof::Disassociated(verdict), attacked })
}

/// A run as the pipeline would do it; `repairs` if what attacks find is mended once.
fn run(promise: Promise, repairs: bool) -> Result<Run> {
    let data = register();
    let sensitive = vec![data.dictionary.text(7).to_owned()];
    let mut recipe = resolve(&written(), std::path::Path::new(""))?;
    recipe.protect.promise = promise;
    recipe.protect.sensitive = sensitive.clone();
    let params = Params { max_cluster: 30, ..recipe.protect.params_for(&data)? };
    let made = disassociate(&data, &params)?;
    let parameters = Parameters {
        k: K,
        m: M,
        max_cluster: params.max_cluster,
        refine: params.refine,
        cut: params.cut_rule(),
        sensitive: Some(Sensitive { terms: sensitive, l: None, rule: None }),
    };
    let claim = Claim::disassociation(parameters.clone(), promise, made.release.header.records);
    let mut rounds = vec![round(&data, &claim, &made.release, &made.leaf_of)?];
    let mut release = made.release;
    if repairs {
        let mended = set_aside(&release, &parameters, &Unobserved);
        // The groups stand in another order now.
        let mut place = vec![0; mended.leaves.len()];
        mended.leaves.iter().zip(0..).for_each(|(&before, now)| place[before as usize] = now);
        let leaf_of: Vec<u32> = made.leaf_of.iter().map(|&leaf| place[leaf as usize]).collect();
        release = mended.release;
        let repaired = Some(Repaired::Chunks(mended.stats));
        rounds.push(Round { repaired, ..round(&data, &claim, &release, &leaf_of)? });
    }
    let options = measure::Options { reconstructions: 2, queries: 100, top: 300, ..measure::Options::default() };
    let utility = Utility::Disassociated(measure(&mut InMemory::new(&release), &data, &options)?);
    let last = &rounds[rounds.len() - 1];
    let judgement = recipe.limits.judge(Some(last.proof.holds()), &last.attacked.found().and(utility.found()));
    Ok(Run {
        records: data.records.len() as u64,
        terms: data.n_terms() as u64,
        input: AsRead::default(),
        before: Before::Sets(risk(&data, K, M, &Unobserved)),
        claim: AnyClaim::Disassociated(claim),
        rounds,
        utility,
        judgement,
        seconds: [("read", 0.1), ("protect", 0.52), ("verify", 0.21), ("attack", 3.3), ("measure", 1.04)]
            .map(|(stage, seconds)| (stage.to_owned(), seconds))
            .into(),
        readings: Vec::new(),
        recipe,
        people: None,
        warnings: Vec::new(),
    })
}

fn written() -> Written {
    let mut written = Written::default();
    written.input.file = Some("patients.csv".into());
    (written.protect.k, written.protect.m) = (Some(K), Some(M));
    // Sensitive terms may make a row likelier: not what these tests are about.
    written.limits.reidentification_risk = Some(1.0);
    written.limits.itemsets_lost = Some(0.9);
    written
}

/// A release that holds.
fn good() -> Run {
    static STORY: OnceLock<Run> = OnceLock::new();
    STORY.get_or_init(|| run(Promise::AlgorithmAware, false).unwrap()).clone()
}

/// A release by the paper's rule, which attacks break.
fn bad() -> Run {
    static STORY: OnceLock<Run> = OnceLock::new();
    STORY.get_or_init(|| run(Promise::Published, false).unwrap()).clone()
}

/// The same, mended.
fn mended() -> Run {
    static STORY: OnceLock<Run> = OnceLock::new();
    STORY.get_or_init(|| run(Promise::Published, true).unwrap()).clone()
}

/// A run that ended before anything was verified.
fn unverified() -> Run {
    let mut story = Run { rounds: Vec::new(), ..good() };
    story.judgement.holds = true;
    story
}

fn stories() -> [(&'static str, Run); 4] {
    [("good", good()), ("bad", bad()), ("mended", mended()), ("unverified", unverified())]
}

/// All that an audience gets; programs are told inside only.
fn forms(story: &Run, audience: Audience) -> Vec<String> {
    let page = story.page(audience);
    let json = (audience == Audience::Inside).then(|| serde_json::to_string_pretty(&story.json()).unwrap());
    [page.html(), page.markdown()].into_iter().chain(json).collect()
}

fn attacks(round: &Round) -> &Summary {
    let Attacked::Disassociated { summary, .. } = &round.attacked else { panic!("sets are attacked") };
    summary
}

fn utility(story: &mut Run) -> &mut measure::Report {
    let Utility::Disassociated(report) = &mut story.utility else { panic!("sets are measured") };
    report
}

fn claim(story: &mut Run) -> &mut Claim {
    let AnyClaim::Disassociated(claim) = &mut story.claim else { panic!("sets are claimed") };
    claim
}

const AUDIENCES: [Audience; 2] = [Audience::Inside, Audience::Public];

#[test]
fn stories_are_what_they_are_for() {
    let holds = |story: Run| story.judgement.holds;
    assert!(holds(good()) && !holds(bad()) && holds(mended()));
    let mut bad = bad();
    let worst = &attacks(&bad.rounds[0]).worst;
    assert!(worst.iter().any(|cluster| cluster.people.unwrap() > 0));
    assert!(matches!(&mended().rounds[1].repaired, Some(Repaired::Chunks(stats)) if stats.terms_set_aside > 0));
    // There is something to hide.
    assert!(serde_json::to_string(&bad.rounds).unwrap().matches(MARK).count() > 10);
    assert!(!utility(&mut bad).queries.asked.is_empty());
}

#[test]
fn pages_are_written_to_be_looked_at() {
    let Some(folder) = std::env::var_os("REPORT_FOLDER").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    for (name, story) in stories() {
        for audience in AUDIENCES {
            let stem = format!("{name}-{audience:?}").to_lowercase();
            for (text, end) in forms(&story, audience).iter().zip(["html", "md", "json"]) {
                std::fs::write(folder.join(format!("{stem}.{end}")), text).unwrap();
            }
        }
    }
}

#[test]
fn no_page_shows_a_term() {
    for (name, story) in stories() {
        for audience in AUDIENCES {
            for text in forms(&story, audience) {
                assert!(!text.contains(MARK), "{name}, {audience:?}: {}", &text[text.find(MARK).unwrap() - 200..]);
            }
        }
    }
}

/// Puts a number that nobody can miss wherever something was counted in the original.
fn told_in_numbers(mut story: Run) -> Run {
    const N: u64 = 987_654_321;
    const X: f64 = 987_654_321.0;
    (story.records, story.terms) = (N, N);
    let Before::Sets(before) = &mut story.before else { panic!("sets are at risk") };
    (before.records, before.at_risk, before.rare_terms) = (N, N, N);
    before.by_size.fill(N);
    let utility = utility(&mut story);
    (utility.records, utility.terms) = (N, N as usize);
    let deviation = measure::Deviation { all: X, at_least_two_terms: X, generous: X };
    (utility.top_k.tkd, utility.top_k.tkd_a, utility.top_k.tkd_e) = (deviation, deviation, deviation);
    let of_length = measure::OfLength { itemsets: N as usize, tkd: X, tkd_a: X, tkd_e: X };
    (utility.top_k.up_to_m, utility.top_k.above_m) = (of_length, of_length);
    for window in &mut utility.relative_error {
        let error = measure::RelativeError { mean: Some(X), skipped: N as usize, existing: Some(X) };
        (window.re, window.re_a, window.re_e, window.re_u) = (error, error, error, error);
        window.re_r.clear();
    }
    let lost = &mut utility.terms_lost;
    (lost.considered, lost.tlost, lost.tlost_any) = (N as usize, X, X);
    lost.hidden_by_rank.fill(X);
    let queries = &mut utility.queries;
    (queries.queries, queries.mean, queries.median) = (N as usize, X, X);
    (queries.within_bounds, queries.within_two_deviations) = (X, X);
    queries.asked.iter_mut().for_each(|asked| asked.truth = N as u32);
    // The first two limits are those of the release: everybody who has it can find out what is held against them.
    assert_eq!(story.judgement.limits[1].key, "limits.reidentification_risk");
    for limit in &mut story.judgement.limits[2..] {
        (limit.value, limit.limit) = (X, Some(X));
    }
    story.seconds.iter_mut().for_each(|(_, seconds)| *seconds = X);
    story.recipe.measure.seed = N;
    for round in &mut story.rounds {
        let Attacked::Disassociated { summary, .. } = &mut round.attacked else { panic!("sets are attacked") };
        for of in &mut summary.attacks {
            let rate = judge::Rate { hits: N, of: N, share: X, low: X, high: X };
            let score = of.score.as_mut().unwrap();
            (score.found, score.right, score.people, score.missed) = (N, N, N, Some(N));
            (score.precision, score.recall, of.baseline) = (rate, Some(rate), Some(rate));
        }
        summary.worst.iter_mut().for_each(|cluster| cluster.people = Some(N));
        let of_original = |rule: String| rule.starts_with("original-") || rule.starts_with("custody-");
        let Proof::Disassociated(verdict) = &mut round.proof else { panic!("sets are proved") };
        let checks = verdict.checks.iter_mut().filter(|line| of_original(line.rule.to_string()));
        checks.for_each(|line| line.checked = N);
    }
    story
}

#[test]
fn the_public_is_told_nothing_that_was_counted_in_the_original() {
    for (name, story) in stories() {
        let changed = told_in_numbers(story.clone());
        let digits = |text: &str| text.replace([',', '.'], "").contains("98765432");
        assert_eq!(forms(&story, Audience::Public).len(), 2);
        for (text, other) in forms(&changed, Audience::Public).iter().zip(forms(&story, Audience::Public)) {
            assert!(!digits(text), "{name}");
            // Not even in a form that is not recognised.
            assert_eq!(*text, other, "{name}");
        }
        assert!(forms(&changed, Audience::Inside).iter().all(|text| digits(text)), "{name}");
    }
}

/// A release that was never published is nobody's business.
#[test]
fn the_public_is_told_of_the_last_release_only() {
    let mut story = mended();
    let pages = forms(&story, Audience::Public);
    story.rounds.remove(0);
    story.rounds[0].repaired = None;
    assert_eq!(forms(&story, Audience::Public), pages);
}

#[test]
fn the_public_is_not_told_names_of_files() {
    let mut story = good();
    story.recipe.input.file = "Secret-in.csv".into();
    story.recipe.input.options.column = Some("Secret-column".into());
    story.recipe.output.folder = "Secret-out".into();
    assert!(forms(&story, Audience::Public).iter().all(|text| !text.contains("Secret")));
    assert!(forms(&story, Audience::Inside).iter().all(|text| text.contains("Secret-in.csv")));
}

/// The text of the first paragraph after the main heading.
fn first_paragraph(page: &str) -> String {
    let after = page.split_once("</h1>").unwrap().1.trim_start();
    assert!(after.starts_with("<p class=\"verdict "), "{}", &after[..80]);
    without_tags(after.split_once("</p>").unwrap().0)
}

fn without_tags(html: &str) -> String {
    html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect()
}

#[test]
fn what_does_not_hold_says_so_before_anything_else() {
    let mut limited = good();
    limited.judgement.limits[2].holds = false;
    limited.judgement.holds = false;
    // Whoever filled this story made an error: it must not end well.
    let mut careless = limited.clone();
    careless.judgement.holds = true;
    let mut unproved = good();
    let Proof::Disassociated(verdict) = &mut unproved.rounds[0].proof else { panic!("sets are proved") };
    verdict.holds = false;
    let mut nothing = good();
    nothing.judgement.holds = false;
    let mut likely = good();
    likely.recipe.limits.written.reidentification_risk = Some(0.01);
    let found = likely.rounds[0].attacked.found().and(likely.utility.found());
    likely.judgement = likely.recipe.limits.judge(Some(true), &found);
    for (story, inside, public) in [
        (bad(), "found", "found"),
        (unverified(), "nothing was verified", "nothing was verified"),
        (limited, "limits.itemsets_lost", "only its makers can check"),
        (careless, "limits.itemsets_lost", "only its makers can check"),
        (unproved, "verification", "verification"),
        (nothing, "without naming", "only its makers can check"),
        (likely, "identity", "identity"),
    ] {
        for (audience, reason) in AUDIENCES.into_iter().zip([inside, public]) {
            let all = forms(&story, audience);
            let (page, text) = (&all[0], &all[1]);
            let first = first_paragraph(page);
            assert!(first.starts_with("This release must not leave the building: "), "{first}");
            assert!(first.contains(reason), "{first}");
            let after_title = text.split_once("\n\n**").unwrap().1;
            assert!(after_title.starts_with("This release must not leave the building: "), "{after_title}");
            let is_told =
                |json: &String| json.contains("\"holds\": false") && json.contains("must not leave the building");
            assert!(all[2..].iter().all(is_told) && all[2..].len() == usize::from(audience == Audience::Inside));
            assert!(!page.contains("The promise holds") && !text.contains("The promise holds"));
        }
    }
    let [page, text, json] = &forms(&good(), Audience::Inside)[..] else { panic!("page, text and JSON") };
    assert!(first_paragraph(page).starts_with("The promise holds and every limit is kept."));
    assert!(text.contains("**The promise holds and every limit is kept.**") && json.contains("\"holds\": true"));
    assert!(first_paragraph(&good().page(Audience::Public).html()).starts_with("The promise of this release holds."));
}

#[test]
fn the_inside_is_told_to_keep_it() {
    let [page, text, _] = &forms(&good(), Audience::Inside)[..] else { panic!("page, text and JSON") };
    assert!(page.split_once("<h1>").unwrap().0.contains("The report itself must not leave the building"));
    assert!(text.starts_with("> **For the inside only"));
    assert!(forms(&good(), Audience::Public).iter().all(|text| !text.contains("inside only")));
}

/// Values of an attribute, in order.
fn values<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(start.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Tags that are opened are closed, in the right order.
fn check_tags(page: &str) {
    let body = page.split_once("<body>").unwrap().1;
    let mut open = vec!["html", "body"];
    for tag in body.split('<').skip(1).map(|piece| piece.split('>').next().unwrap()) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn check_page(page: &str) {
    check_tags(page);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    for forbidden in ["http://", "https://", "<script", "<img", "<link", "url(", "@import", " style=", " src="] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let ids = values(page, "id");
    let unique: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    for name in ["aria-labelledby", "href"] {
        let targets = values(page, name);
        assert!(!targets.is_empty());
        assert!(targets.iter().all(|target| unique.contains(target.trim_start_matches('#'))), "{targets:?}");
    }
    let mut level = 0;
    let body = page.split_once("<body>").unwrap().1;
    for heading in body.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)) {
        assert!(heading <= level + 1 && (heading > 1 || level == 0), "h{heading} after h{level}");
        level = heading;
    }
    assert_eq!(body.matches("<h1>").count(), 1);
    let tables: Vec<&str> = body.split("<table>").skip(1).map(|rest| rest.split("</table>").next().unwrap()).collect();
    assert!(!tables.is_empty());
    for table in &tables {
        assert!(table.trim_start().starts_with("<caption"));
        assert!(!table.contains("<th>") && table.contains("scope=\"col\"") && table.contains("scope=\"row\""));
        let columns = table.matches("scope=\"col\"").count();
        for row in table.split("<tr>").skip(2) {
            assert_eq!(row.matches("<td").count() + row.matches("<th").count(), columns);
        }
    }
    for picture in body.split("<svg").skip(1) {
        let (tag, rest) = picture.split_once('>').unwrap();
        assert!(tag.contains("role=\"img\"") && rest.starts_with("<title>") && !rest.starts_with("<title></title>"));
        assert!(rest.split("</title>").nth(1).unwrap().starts_with("<desc>"));
    }
    assert_eq!(body.matches("class=\"scroll\"").count(), tables.len() + body.matches("<svg").count());
}

#[test]
fn pages_are_well_formed() {
    for (_, story) in stories() {
        for audience in AUDIENCES {
            let page = story.page(audience).html();
            check_page(&page);
            assert_eq!(page.matches("<svg").count(), if audience == Audience::Inside { 3 } else { 0 });
        }
    }
}

#[test]
fn names_do_no_harm() {
    let mut story = good();
    let evil = "a<script>alert(\"1\")</script>&'|`*\u{202e}\n# b.csv";
    story.recipe.input.file = evil.into();
    story.recipe.input.options.column = Some(evil.into());
    story.judgement.limits[2].meaning = evil.into();
    story.judgement.limits[2].key = evil.into();
    story.seconds[0].0 = evil.into();
    claim(&mut story).made_by = evil.into();
    claim(&mut story).promised = evil.into();
    for holds in [true, false] {
        story.judgement.limits[2].holds = holds;
        for audience in AUDIENCES {
            let (page, text) = (story.page(audience).html(), story.page(audience).markdown());
            check_page(&page);
            assert!(page.contains("a&lt;script&gt;alert(&quot;1&quot;)"));
            assert!(!text.contains("<script>") && !text.contains("\n# b.csv") && !text.contains('\u{202e}'));
            let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("script"));
            assert!(rows.into_iter().all(|row| row.ends_with(" |") && row.contains("&'\\|\\`\\*")));
        }
    }
}

#[test]
fn both_texts_say_the_same() {
    for audience in AUDIENCES {
        let (page, text) = (mended().page(audience).html(), mended().page(audience).markdown());
        let sentence = |text: &str| text.replace("&#39;", "'").replace(['\\', '`', '*'], "");
        let (page, text) = (sentence(&without_tags(page.split_once("<body>").unwrap().1)), sentence(&text));
        let lines = text.lines().filter(|line| !line.starts_with(['|', '-', '#', '>']) && line.len() > 20);
        let mut checked = 0;
        for line in lines {
            checked += 1;
            assert!(page.contains(line.trim_end_matches(':')), "{line}");
        }
        assert!(checked > 10);
    }
}
