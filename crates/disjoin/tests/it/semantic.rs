//! Semantic attacks on generalised sets: against the loops as the paper prints them, and where they must win or lose.
//!
//! The literal versions weigh all cells and sort all groups anew after each elimination. They are slow, and meant to be
//! easy to hold against the paper.

use disjoin::Unobserved;
use disjoin::attack::semantic::calibrated::{calibrated, learn};
use disjoin::attack::semantic::judge::{Original, Score, Truth, judge};
use disjoin::attack::semantic::summary::Summary;
use disjoin::attack::semantic::{
    Coverage, METHODS, Method, Options, Table, Trace, View, attack_release, eliminate, group, redistribution, tables,
    threshold, weighted,
};
use disjoin::data::{Dataset, Recoding, TermId};
use disjoin::knowledge::relatedness::corpus::Builder;
use disjoin::knowledge::relatedness::{Corpus, Known, by_corpus};
use disjoin::protect::recoding::{Params, coat};
use disjoin::read::Files;
use disjoin::read::policy::{Policy, one_utility_set, random_singletons};
use disjoin::recipe::read_recipe;
use disjoin::recipe::recoding::{Method as Recoder, Recoding as Asked};
use disjoin::release::recoded::{Draft, Recoded};
use disjoin::report::{Attacked, Audience, Run};
use disjoin::run::forms::recoded::make;
use disjoin::run::meaning::{Words, attack_words};
use disjoin::run::{Input, run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Row and column of each elimination, the threshold, and the best score that was not enough.
#[derive(Debug, PartialEq)]
struct Walk {
    threshold: f64,
    cells: Vec<(usize, usize, f64)>,
    next: Option<f64>,
}

impl From<Trace> for Walk {
    fn from(trace: Trace) -> Self {
        let cells = trace.steps.iter().map(|step| (step.row, step.column, step.score)).collect();
        Walk { threshold: trace.threshold, cells, next: trace.next }
    }
}

/// A table with what is left of it and the weights of every cell.
struct Literal<'a> {
    table: &'a Table,
    is_left: Vec<Vec<bool>>,
    row_weight: Vec<Vec<f64>>,
    column_weight: Vec<Vec<f64>>,
}

#[derive(Clone, Copy)]
enum Group {
    Row(usize),
    Column(usize),
}

impl<'a> Literal<'a> {
    fn new(table: &'a Table) -> Self {
        let (rows, columns) = (table.n_rows(), table.n_columns());
        Literal {
            table,
            is_left: vec![vec![true; columns]; rows],
            row_weight: vec![vec![1.0 / columns as f64; columns]; rows],
            column_weight: vec![vec![1.0 / rows as f64; columns]; rows],
        }
    }

    fn weighted(&self, row: usize, column: usize) -> f64 {
        let (of_row, of_column) = (self.row_weight[row][column], self.column_weight[row][column]);
        self.table.get(row, column) * (1.0 - of_row) * (1.0 - of_column)
    }

    fn left_in_row(&self, row: usize) -> usize {
        self.is_left[row].iter().filter(|&&left| left).count()
    }

    fn left_in_column(&self, column: usize) -> usize {
        self.is_left.iter().filter(|row| row[column]).count()
    }

    fn groups(&self) -> Vec<Group> {
        let rows = (0..self.table.n_rows()).map(Group::Row);
        rows.chain((0..self.table.n_columns()).map(Group::Column)).collect()
    }

    /// Weighted distances and places of what is left and known, ascending, ties by place.
    fn sorted(&self, group: Group) -> Vec<(f64, usize, usize)> {
        let places: Vec<(usize, usize)> = match group {
            Group::Row(row) => (0..self.table.n_columns()).map(|column| (row, column)).collect(),
            Group::Column(column) => (0..self.table.n_rows()).map(|row| (row, column)).collect(),
        };
        let known =
            |&(row, column): &(usize, usize)| self.is_left[row][column] && !self.table.get(row, column).is_nan();
        let mut cells: Vec<(f64, usize, usize)> =
            places.into_iter().filter(known).map(|(row, column)| (self.weighted(row, column), row, column)).collect();
        cells.sort_by(|a, b| a.partial_cmp(b).unwrap());
        cells
    }

    /// The largest gap and how many cells are below it: the lowest of equal gaps.
    fn gap(cells: &[(f64, usize, usize)]) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for at in 1..cells.len() {
            let gap = cells[at].0 - cells[at - 1].0;
            if best.is_none_or(|best| gap > best.0) {
                best = Some((gap, at));
            }
        }
        best
    }

    fn mean_gap(&self) -> f64 {
        let groups = self.groups();
        let gap = |&group: &Group| Self::gap(&self.sorted(group)).map_or(0.0, |gap| gap.0);
        if groups.is_empty() { 0.0 } else { groups.iter().map(gap).sum::<f64>() / groups.len() as f64 }
    }

    /// Step 4 of algorithm 1.
    fn most_vulnerable(&self) -> Option<(f64, usize, usize)> {
        let mut best: Option<(f64, usize, usize)> = None;
        for group in self.groups() {
            let cells = self.sorted(group);
            let Some((gap, _)) = Self::gap(&cells) else { continue };
            let largest = cells.last().unwrap().0;
            let &(_, row, column) = cells.iter().find(|cell| cell.0 == largest).unwrap();
            let may_go = self.left_in_row(row) >= 2 && self.left_in_column(column) >= 2;
            if may_go && best.is_none_or(|best| gap > best.0) {
                best = Some((gap, row, column));
            }
        }
        best
    }

    /// Definition 5.3, for what is left.
    fn weigh_equally(&mut self) {
        for row in 0..self.table.n_rows() {
            for column in 0..self.table.n_columns() {
                self.row_weight[row][column] = 1.0 / self.left_in_row(row) as f64;
                self.column_weight[row][column] = 1.0 / self.left_in_column(column) as f64;
            }
        }
    }

    /// Algorithm 2, before the cell is eliminated.
    fn redistribute(&mut self, row: usize, column: usize) {
        let heirs = |group: Group| -> Vec<(usize, usize)> {
            let cells = self.sorted(group);
            let n_lower = Self::gap(&cells).map_or(0, |gap| gap.1);
            let lower: Vec<(usize, usize)> =
                cells[..n_lower].iter().map(|&(_, r, c)| (r, c)).filter(|&place| place != (row, column)).collect();
            if !lower.is_empty() {
                return lower;
            }
            let all: Vec<(usize, usize)> = match group {
                Group::Row(row) => (0..self.table.n_columns()).map(|column| (row, column)).collect(),
                Group::Column(column) => (0..self.table.n_rows()).map(|row| (row, column)).collect(),
            };
            all.into_iter().filter(|&(r, c)| self.is_left[r][c] && (r, c) != (row, column)).collect()
        };
        let (in_row, in_column) = (heirs(Group::Row(row)), heirs(Group::Column(column)));
        for &(r, c) in &in_row {
            self.row_weight[r][c] += self.row_weight[row][column] / in_row.len() as f64;
        }
        for &(r, c) in &in_column {
            self.column_weight[r][c] += self.column_weight[row][column] / in_column.len() as f64;
        }
    }
}

fn literal_gaps(table: &Table, redistributes: bool) -> Walk {
    let mut state = Literal::new(table);
    let mut walk = Walk { threshold: state.mean_gap(), cells: Vec::new(), next: None };
    loop {
        match state.most_vulnerable() {
            Some((gap, row, column)) if gap > walk.threshold => {
                walk.cells.push((row, column, gap));
                if redistributes {
                    state.redistribute(row, column);
                }
                state.is_left[row][column] = false;
                if !redistributes {
                    state.weigh_equally();
                }
            }
            next => {
                walk.next = next.map(|next| next.0);
                return walk;
            }
        }
    }
}

fn literal_weighted(table: &Table) -> Walk {
    let mut state = Literal::new(table);
    let places: Vec<(usize, usize)> = table.known().map(|(row, column, _)| (row, column)).collect();
    let sum: f64 = places.iter().map(|&(row, column)| state.weighted(row, column)).sum();
    let threshold = if places.is_empty() { 0.0 } else { sum / places.len() as f64 };
    let mut walk = Walk { threshold, cells: Vec::new(), next: None };
    loop {
        let mut best: Option<(usize, usize, f64)> = None;
        for &(row, column) in &places {
            let may_go = state.left_in_row(row) > 1 && state.left_in_column(column) > 1;
            let distance = state.weighted(row, column);
            if state.is_left[row][column] && may_go && best.is_none_or(|best| distance > best.2) {
                best = Some((row, column, distance));
            }
        }
        match best {
            Some(best) if best.2 > threshold => {
                walk.cells.push(best);
                state.is_left[best.0][best.1] = false;
                state.weigh_equally();
            }
            best => {
                walk.next = best.map(|best| best.2);
                return walk;
            }
        }
    }
}

/// Tables of all shapes, empty ones too: with smooth distances, with many ties, with unknown ones, and
/// huge or tiny.
fn random_table(rng: &mut ChaCha8Rng, most: usize) -> Table {
    let (rows, columns) = (rng.random_range(0..=most), rng.random_range(1..=most));
    let kind = rng.random_range(0..4);
    let unknown = if rng.random_bool(0.3) { 0.2 } else { 0.0 };
    let unit = [1.0, 1.0, 1.0, 1e12, 1e-12][rng.random_range(0..5)];
    let cell = |_| {
        let distance = match kind {
            0 => rng.random_range(0.0..3.0),
            1 => f64::from(rng.random_range(0..4)) * 0.5,
            2 => f64::from(rng.random_range(0..20)) * 0.1,
            _ => {
                if rng.random_bool(0.3) {
                    rng.random_range(0.2..0.9)
                } else {
                    rng.random_range(0.8..2.5)
                }
            }
        };
        if rng.random_bool(unknown) { f64::NAN } else { distance * unit }
    };
    Table::new(columns, (0..rows * columns).map(cell).collect())
}

#[test]
fn incremental_attacks_are_the_literal_ones_on_random_tables() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut steps = 0;
    for round in 0..10_000 {
        // The literal loops are slow on large ones.
        let most = match round {
            _ if round % 200 == 0 => 40,
            _ if round % 50 == 0 => 16,
            _ => 7,
        };
        let table = random_table(&mut rng, most);
        assert_eq!(Walk::from(group(&table)), literal_gaps(&table, false), "group, {round}: {table:?}");
        let walk = Walk::from(redistribution(&table));
        assert_eq!(walk, literal_gaps(&table, true), "redistribution, {round}: {table:?}");
        assert_eq!(Walk::from(weighted(&table)), literal_weighted(&table), "weighted, {round}: {table:?}");
        steps += walk.cells.len();
    }
    assert!(steps > 50_000, "{steps}");
}

#[test]
fn thresholds_are_means_of_what_is_known() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..2_000 {
        let table = random_table(&mut rng, 7);
        let known: Vec<(usize, usize, f64)> = table.known().collect();
        let mean = known.iter().map(|cell| cell.2).sum::<f64>() / known.len().max(1) as f64;
        let trace = threshold(&table);
        assert!((trace.threshold - mean).abs() < 1e-12);
        let gone = |row: usize, column: usize| trace.steps.iter().any(|step| (step.row, step.column) == (row, column));
        for &(row, column, distance) in &known {
            if distance <= mean {
                assert!(!gone(row, column));
            } else if !gone(row, column) {
                // Kept, because nothing else is left of the row and nothing in it is nearer.
                let others = (0..table.n_columns()).filter(|&other| other != column);
                assert!(others.clone().all(|other| gone(row, other)));
                assert!(others.into_iter().all(|other| table.get(row, other) >= distance));
            }
        }
    }
}

/// The paper sorts all rows and columns for each elimination. Of 400 that come into question, 2 have to be: those of the
/// cell that goes. How long it takes is for the lab to tell (figure 16).
#[test]
fn few_rows_and_columns_are_sorted_for_an_elimination() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for n in [50, 200] {
        let table = Table::new(n, (0..n * n).map(|_| rng.random_range(0.0..3.0)).collect());
        for (name, trace) in [("group", group(&table)), ("redistribution", redistribution(&table))] {
            let each = trace.sorted as f64 / trace.steps.len() as f64;
            assert!(trace.steps.len() > n * n / 3, "{name}: too few eliminations to tell");
            assert!(each < 2.5, "{name}, {n} rows and columns: {each}");
        }
    }
}

/// Words of all topics together; the first of each are the commonest.
const WORDS: usize = 2_000;

/// Documents that are each about one of some topics, or about nothing.
fn texts(n: usize, topics: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<String>> {
    let document = |_| {
        let topic = rng.random_range(0..topics);
        let length = rng.random_range(8..16);
        (0..length)
            .map(|_| {
                let word = ((WORDS / topics) as f64 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
                format!("topic{topic}word{word}")
            })
            .collect()
    };
    (0..n).map(document).collect()
}

/// What each method makes of a release of such documents, in which some terms were protected.
fn scores(topics: usize, k: u32, seed: u64) -> Vec<(Method, Score)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut builder = Builder::default();
    texts(4_000, topics, &mut rng).iter().for_each(|document| builder.add(&document.join(" ")));
    let corpus: Corpus = builder.finish(Vec::new()).unwrap();
    let data = Dataset::from_texts(texts(600, topics, &mut rng));
    let privacy = random_singletons(data.n_terms(), 0.3, seed).unwrap();
    let policy = Policy { privacy, utility: one_utility_set(data.n_terms()) };
    let recoding = coat(&data.records, data.n_terms(), &policy, &Params::new(k), &Unobserved).unwrap().recoding;
    let records = recoding.apply(&data.records);
    let view = View { groups: recoding.groups(), records: &records };
    let (distance, known) = by_corpus(&corpus, &data.dictionary);
    assert_eq!(known.unknown, 0);
    let laid = tables(&view, &distance, None);
    let truth = Truth::new(&data.records, None);
    let of_method = |method: Method| {
        let learned = || calibrated(&laid.tables, &learn(&view, &laid.tables, &distance, None, seed).unwrap());
        let traces = eliminate(&laid.tables, method, seed).unwrap_or_else(learned);
        (method, judge(&laid.tables, &traces, &truth))
    };
    METHODS.map(of_method).to_vec()
}

fn of(scores: &[(Method, Score)], method: Method) -> &Score {
    &scores.iter().find(|of| of.0 == method).unwrap().1
}

/// How often somebody is right who eliminates blindly.
fn blind(score: &Score) -> f64 {
    score.added as f64 / (score.added + score.original) as f64
}

#[test]
fn unrelated_topics_that_were_mixed_give_the_added_away() {
    for k in 3..=5 {
        let scores = scores(20, k, u64::from(k));
        for method in [Method::Largest, Method::Threshold, Method::Weighted, Method::Group, Method::Redistribution] {
            let score = of(&scores, method);
            let (low, blind) = (score.precision.low, blind(score));
            println!("{k} {method:?}: {low:.3} {blind:.3} {:.3}", score.f);
            assert!(low > blind + 0.05, "{k} {method:?}: {low} {blind}");
        }
        let (ours, theirs) = (of(&scores, Method::Calibrated), of(&scores, Method::Redistribution));
        println!("{k} ours: {:.3} {:.3}", ours.precision.low, ours.f);
        assert!(theirs.f > 0.75 && ours.f > theirs.f - 0.02 && ours.f > 0.8, "{k}: {} {}", ours.f, theirs.f);
    }
}

#[test]
fn added_members_of_the_same_context_are_not_found() {
    for k in 3..=5 {
        let scores = scores(1, k, 10 + u64::from(k));
        for (method, score) in &scores {
            let beyond_chance = score.precision.low - blind(score);
            println!("{k} {method:?}: {beyond_chance:.3} {:.3} {:.3}", score.precision.share, blind(score));
            assert!(beyond_chance < 0.05, "{k} {method:?}: {beyond_chance}");
        }
    }
}

// ---- Several recodings --------------------------------------------------------------------------------------------------

/// The threshold attack on all generalised items of all recodings and what it is worth, by definition: the original record by
/// record, as custody says which recoding each got.
fn by_definition(
    release: &Recoded,
    line_of: &[u32],
    data: &Dataset,
    distance: &dyn Fn(TermId, TermId) -> f64,
) -> (Coverage, [u64; 4]) {
    let (mut coverage, mut counts) = (Coverage::default(), [0; 4]);
    let mut first = 0;
    for block in &release.blocks {
        let lines = first..first + block.bag.len() as u32;
        first = lines.end;
        let people: Vec<Vec<TermId>> = data
            .records
            .iter()
            .zip(line_of)
            .filter(|(_, line)| lines.contains(line))
            .map(|(record, _)| record.iter().filter_map(|&t| release.dictionary.get(data.dictionary.text(t))).collect())
            .collect();
        let is_alone = |term: &TermId| block.groups.contains(&vec![*term]);
        for group in block.groups.iter().filter(|group| group.len() > 1) {
            let holders = people.iter().filter(|person| person.iter().any(|term| group.contains(term)));
            let (mut rows, mut n_holders) = (Vec::new(), 0);
            for person in holders {
                n_holders += 1;
                let context: Vec<TermId> = person.iter().copied().filter(is_alone).collect();
                if context.is_empty() {
                    coverage.rows_without_context += 1;
                    continue;
                }
                let cell = |&member: &TermId| {
                    let known: Vec<f64> =
                        context.iter().map(|&term| distance(term, member)).filter(|d| !d.is_nan()).collect();
                    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
                };
                rows.push((person, group.iter().map(cell).collect::<Vec<Option<f64>>>()));
            }
            if n_holders > 0 {
                threshold_by_definition(group, &rows, &mut coverage, &mut counts);
            }
        }
    }
    (coverage, counts)
}

/// A generalised item: for everybody who has it and some context, the distance of each member, where it is known. Counts members
/// that were added and that were not, those that are eliminated, and how many of these rightly.
fn threshold_by_definition(
    group: &[TermId],
    rows: &[(&Vec<TermId>, Vec<Option<f64>>)],
    coverage: &mut Coverage,
    [added, original, eliminated, right]: &mut [u64; 4],
) {
    coverage.generalised += 1;
    let known: Vec<f64> = rows.iter().flat_map(|row| row.1.iter().flatten()).copied().collect();
    if known.is_empty() {
        coverage.unknown += 1;
        return;
    }
    if rows.len() < 2 {
        coverage.single_row += 1;
        return;
    }
    coverage.attacked += 1;
    coverage.cells += (rows.len() * group.len()) as u64;
    coverage.unknown_cells += (rows.len() * group.len() - known.len()) as u64;
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    for (person, cells) in rows {
        let far: Vec<usize> = (0..group.len()).filter(|&at| cells[at].is_some_and(|d| d > mean)).collect();
        let nearest = far.iter().copied().min_by(|&a, &b| cells[a].unwrap().total_cmp(&cells[b].unwrap()));
        for (at, member) in group.iter().enumerate() {
            let was_there = person.contains(member);
            *added += u64::from(!was_there);
            *original += u64::from(was_there);
            let stays = far.len() == group.len() && nearest == Some(at);
            if far.contains(&at) && !stays {
                *eliminated += 1;
                *right += u64::from(!was_there);
            }
        }
    }
}

/// Distances that add up without rounding; one in eight is known to nobody.
fn some_distance(a: TermId, b: TermId) -> f64 {
    let mixed =
        (u64::from(a.min(b)) * 1_000_003 + u64::from(a.max(b)) * 7_919 + 12_345).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if mixed >> 61 == 0 { f64::NAN } else { ((mixed >> 20) % 640) as f64 / 64.0 }
}

fn counts_of(score: &Score) -> [u64; 4] {
    [score.added, score.original, score.precision.of, score.precision.hits]
}

/// Records of letters in parts, each with groups of its own, and terms that no group has.
fn random_release(rng: &mut ChaCha8Rng) -> (Dataset, Recoded, Vec<u32>) {
    let n_terms = rng.random_range(3..14_u8);
    let density = rng.random_range(0.1..0.6);
    let record = |rng: &mut ChaCha8Rng| -> Vec<String> {
        let some = (0..n_terms).filter(|_| rng.random_bool(density)).map(|at| char::from(b'a' + at).to_string());
        let mut some: Vec<String> = some.collect();
        if some.is_empty() {
            some.push("a".into());
        }
        some
    };
    let n = rng.random_range(4..40);
    let data = Dataset::from_texts((0..n).map(|_| record(rng)).collect::<Vec<_>>());
    let parts = rng.random_range(1..4);
    let part_of: Vec<usize> = (0..data.records.len()).map(|_| rng.random_range(0..parts)).collect();
    let draft = |part: usize| {
        let mut groups: Vec<Vec<TermId>> = vec![Vec::new(); data.n_terms()];
        for term in 0..data.n_terms() as TermId {
            // Half the terms stand alone; a few are suppressed.
            let at = if rng.random_bool(0.5) { term as usize } else { rng.random_range(0..=data.n_terms() / 4) };
            if rng.random_bool(0.95) {
                groups[at].push(term);
            }
        }
        groups.retain(|group| !group.is_empty());
        let recoding = Recoding::from_groups(data.n_terms(), groups).unwrap();
        let ids = (0..data.records.len() as u32).filter(|&id| part_of[id as usize] == part);
        Draft::of_recoding(&data.records, ids, &recoding, Vec::new())
    };
    let drafts: Vec<Draft> = (0..parts).map(draft).collect();
    let (release, line_of) = Recoded::of_drafts(&data.dictionary, drafts).unwrap();
    (data, release, line_of)
}

#[test]
fn several_recodings_are_attacked_and_judged_as_by_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let options = Options { methods: vec![Method::Threshold], ..Options::default() };
    let (mut several, mut eliminated) = (0, 0);
    for round in 0..600 {
        let (data, release, line_of) = random_release(&mut rng);
        let attacked = attack_release(&release, &some_distance, &options, &Unobserved);
        let original = Original::new(&release, &data, Some(&line_of)).unwrap();
        let summary = Summary::new(&attacked, "letters", Known::default(), Some(&original.truth()));
        let (coverage, counts) = by_definition(&release, &line_of, &data, &some_distance);
        assert_eq!(summary.coverage, coverage, "{round}");
        let score = summary.attacks[0].score.as_ref().unwrap();
        assert_eq!(counts_of(score), counts, "{round}");
        assert_eq!(attacked.tables.len(), attacked.recoding_of.len());
        for (table, &recoding) in attacked.tables.iter().zip(&attacked.recoding_of) {
            assert_eq!(table.members, release.blocks[recoding as usize].groups[table.group as usize], "{round}");
        }
        several += usize::from(release.blocks.len() > 1);
        eliminated += counts[2];
        // Blind guesses: as many, drawn by lot.
        let blind = summary.attacks[0].blind.unwrap();
        let cells = (counts[0] + counts[1]).max(1) as f64;
        assert!((blind.precision - counts[0] as f64 / cells).abs() < 1e-12);
        if counts[0] > 0 {
            assert!((blind.recall - counts[2] as f64 / cells).abs() < 1e-12, "{round}");
        }
        // Nobody can tell whose record is in which part but by custody.
        let without = Original::new(&release, &data, None);
        assert_eq!(without.is_err(), release.blocks.len() != 1, "{round}");
        // Another order, another number of records: not the custody of these.
        let mut other = line_of.clone();
        other.pop();
        assert!(Original::new(&release, &data, Some(&other)).is_err());
    }
    assert!(several > 200 && eliminated > 5_000, "{several} {eliminated}");
}

#[test]
fn one_recoding_is_attacked_as_its_tables_are() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let methods: Vec<Method> = METHODS.into_iter().filter(|&method| method != Method::Calibrated).collect();
    let options = Options { methods, seed: 9, context: Some(2), ..Options::default() };
    let mut compared = 0;
    for _ in 0..300 {
        let (data, release, line_of) = random_release(&mut rng);
        let [block] = &release.blocks[..] else { continue };
        let records = block.bag.transactions();
        let laid = tables(&View { groups: &block.groups, records: &records }, &some_distance, Some(2));
        let attacked = attack_release(&release, &some_distance, &options, &Unobserved);
        assert_eq!(
            (&attacked.coverage[..], format!("{:?}", attacked.tables)),
            (&[laid.coverage][..], format!("{:?}", laid.tables))
        );
        // What is told by custody, and what equal records tell, is the same.
        let [told, found] = [Some(&line_of[..]), None].map(|line_of| Original::new(&release, &data, line_of).unwrap());
        for of in &attacked.found {
            let traces = eliminate(&laid.tables, of.method, 9).unwrap();
            assert_eq!(
                of.traces.iter().map(|t| &t.steps).collect::<Vec<_>>(),
                traces.iter().map(|t| &t.steps).collect::<Vec<_>>()
            );
            assert_eq!(judge(&attacked.tables, &traces, &told.truth()), judge(&laid.tables, &traces, &found.truth()));
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn of_items_in_many_records_a_sample_is_attacked() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..100 {
        let (_, release, _) = random_release(&mut rng);
        let of = |rows: usize| {
            let options = Options { methods: vec![Method::Largest], rows, ..Options::default() };
            attack_release(&release, &some_distance, &options, &Unobserved)
        };
        let (all, few) = (of(usize::MAX), of(3));
        let rows = |of: &[Coverage]| of.iter().map(|of| of.rows_left_out).sum::<u64>();
        assert_eq!(rows(&all.coverage), 0);
        assert!(few.tables.iter().all(|table| table.records.len() <= 3));
        for table in &few.tables {
            let same = |other: &&disjoin::attack::semantic::GroupTable| {
                other.members == table.members && table.records.iter().all(|r| other.records.contains(r))
            };
            assert!(all.tables.iter().any(|other| same(&other)));
        }
        let mut left_out = 0;
        for block in &release.blocks {
            let records = block.bag.transactions();
            let size = |item: u32| block.groups[item as usize].len();
            for group in (0..block.groups.len() as u32).filter(|&group| size(group) > 1) {
                let is_row = |record: &&[u32]| record.contains(&group) && record.iter().any(|&item| size(item) == 1);
                left_out += records.iter().filter(is_row).count().saturating_sub(3) as u64;
            }
        }
        assert_eq!(rows(&few.coverage), left_out);
        let without = |of: &[Coverage]| of.iter().map(|of| of.rows_without_context).sum::<u64>();
        assert_eq!(without(&few.coverage), without(&all.coverage));
    }
}

/// Documents of which each is about one subject, with words that are common and words that are rare.
fn notes(n: usize, subjects: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<String>> {
    let note = |_| {
        let subject = rng.random_range(0..subjects);
        let length = rng.random_range(8..16);
        let mut word = || (150.0 * rng.random_range(0.0_f64..1.0).powi(3)) as usize;
        (0..length).map(|_| format!("word{:03}of{subject}", word())).collect()
    };
    (0..n).map(note).collect()
}

/// Local recoding leaves terms alone in one block that it generalises in another: the release itself tells what they go with.
#[test]
fn local_recoding_gives_away_by_itself_what_it_generalises() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let data = Dataset::from_texts(notes(700, 6, &mut rng));
    let asked = Asked { block: Some(100), ..Asked::by_hierarchy(Recoder::Lra, 4, 1, 5) };
    let made = make(&asked, &data, &Unobserved).unwrap();
    assert!(made.release.blocks.len() > 5, "{}", made.release.blocks.len());
    let options = Options { seed: 1, ..Options::default() };
    let beside = Some((&data, Some(&made.line_of[..])));
    let told_by_release = Words::Release.distances(&made.release).unwrap();
    let (_, told) = attack_words(&made.release, &told_by_release, &options, beside, &Unobserved).unwrap();
    println!("{:?}", told.coverage);
    for of in &told.attacks {
        let score = of.score.as_ref().unwrap();
        println!(
            "{:?}: {} {:.3} {:.3} {:.3}",
            of.attack,
            of.eliminated,
            score.precision.share,
            of.blind.unwrap().precision,
            score.f
        );
    }
    assert!(told.terms.words > 0 && told.coverage.attacked > 20, "{:?}", told.coverage);
    assert_eq!(told.recodings.len(), made.release.blocks.len());
    assert!(told.beyond_blind() > 0.03, "{}", told.beyond_blind());
    let threshold = told.attacks.iter().find(|of| of.attack == Method::Threshold).unwrap();
    let all = Options { methods: vec![Method::Threshold], rows: usize::MAX, ..options };
    let (_, told_all) = attack_words(&made.release, &told_by_release, &all, beside, &Unobserved).unwrap();
    let (coverage, counts) = by_definition(&made.release, &made.line_of, &data, &*told_by_release.distance);
    assert_eq!(told_all.coverage, coverage);
    assert_eq!(counts_of(told_all.attacks[0].score.as_ref().unwrap())[..2], counts[..2]);
    assert_eq!(threshold.eliminated, counts[2]);
}

/// A run of a recipe, and its public page whatever the original says.
#[test]
fn the_public_page_tells_nothing_that_was_judged() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let write = |texts: Vec<Vec<String>>| texts.iter().map(|t| t.join(" ") + "\n").collect::<String>();
    std::fs::write(at("data.dat"), write(notes(600, 6, &mut rng))).unwrap();
    let mut builder = Builder::default();
    notes(2_000, 6, &mut rng).iter().for_each(|document| builder.add(&document.join(" ")));
    let corpus = builder.finish(Vec::new()).unwrap();
    corpus.write(&mut std::fs::File::create(at("words.corpus")).unwrap(), &at("words.corpus")).unwrap();
    for (corpus, method) in [("corpus = \"words.corpus\"", "apriori"), ("", "lra")] {
        let block = if method == "lra" { "block = 80" } else { "" };
        let recipe = format!(
            "[input]\nfile = \"data.dat\"\nformat = \"basket\"\n[protect]\nmethod = \"{method}\"\nk = 4\nm = 1\nfanout = 5\n{block}\n\
             [attack]\n{corpus}\n[limits]\nadvantage = 1\n[output]\nfolder = \"{method}\"\n"
        );
        std::fs::write(at("recipe.toml"), recipe).unwrap();
        let recipe = read_recipe(&at("recipe.toml")).unwrap();
        let mut ran = run(&recipe, Input::Named(&Files), &Unobserved).unwrap();
        let found = attacks_of(&mut ran).clone();
        assert!(found.coverage.attacked > 5 && found.attacks.iter().all(|of| of.score.is_some()), "{found:?}");
        assert!(ran.judgement.limits.iter().any(|limit| limit.key == "limits.advantage" && limit.holds));
        let read = |name: &str| std::fs::read_to_string(at(method).join(name)).unwrap();
        let public = ran.page(Audience::Public).html();
        assert_eq!(read("release/report.html"), public);
        assert!(public.contains("Semantic attacks") && !public.contains("baseline"));
        let inside = read("custody/report.html");
        assert!(inside.contains("F of the baseline") && inside.contains("<svg"), "{method}");
        assert!(
            read("custody/report.md").contains("| redistribution")
                || read("custody/report.md").contains("`redistribution`")
        );
        let json: serde_json::Value = serde_json::from_str(&read("custody/report.json")).unwrap();
        assert_eq!(json["attacks"]["attacks"].as_array().unwrap().len(), found.attacks.len());
        for file in std::fs::read_dir(at(method).join("release")).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("\"score\"") && !text.contains("precision"), "{method}");
        }
        let mut other = ran.clone();
        let attacks = attacks_of(&mut other);
        for of in &mut attacks.attacks {
            (of.score, of.blind) = (None, None);
            if !corpus.is_empty() {
                // What a file says about words may come from anywhere.
                of.eliminated += 12_345;
            }
        }
        if !corpus.is_empty() {
            (attacks.coverage, attacks.terms) = (Coverage { generalised: 1, ..Coverage::default() }, Known::default());
        }
        other.judgement.limits[0].value = 0.999;
        assert_eq!(other.page(Audience::Public).html(), public);
        assert_eq!(other.page(Audience::Public).markdown(), ran.page(Audience::Public).markdown());
        assert_ne!(other.page(Audience::Inside).html(), inside);
    }
}

/// What attacks by words found in the last round.
fn attacks_of(ran: &mut Run) -> &mut Summary {
    match ran.rounds.last_mut().map(|round| &mut round.attacked) {
        Some(Attacked::Recoded { summary, .. }) => summary,
        other => panic!("recoded transactions are attacked by words: {other:?}"),
    }
}
