//! The page of formats in the book, made from the code and from packages of small examples.

use std::fmt::Write as _;
use std::fs;

use crate::book::{GENERATED, TEN, disjoin, fields, variants};
use crate::sources::root;

/// What each file of a package is. A file that is not here fails the test.
const FILES: [(&str, &str); 20] = [
    ("release/claim.json", "what is promised, against whom, with which parameters"),
    ("release/data.jsonl", "the data, if they are sets; or `data.parquet`"),
    ("release/data.csv", "the data, if they are a table in equivalence classes"),
    ("release/sets.jsonl", "the sets of a table with a set-valued column"),
    ("release/quasi.csv", "the quasi-identifiers of a split table"),
    ("release/sensitive_COLUMN.csv", "the values of one sensitive column of a split table"),
    ("release/transactions.jsonl", "the data, if terms were recoded"),
    ("release/universe.txt", "all items that a noisy release is about, if they are listed"),
    ("release/report.html", "what readers of the release should know; written by `run`"),
    ("custody/custody.json", "how the release was made, with the digest of the input"),
    (
        "custody/files.sha256",
        "which files disjoin wrote, with their digests: nothing else is removed when the package is replaced",
    ),
    ("custody/leaf_of.csv", "which record went to which cluster: with it a release is undone"),
    (
        "custody/class_of.csv",
        "which row of a table went to which class, or to which group of a split table; empty if it was suppressed",
    ),
    (
        "custody/people.csv",
        "whose row each was, by number, and which record it became, if a column names people (`--person`)",
    ),
    (
        "custody/part_of.csv",
        "which part of its class each row of a table is in, if rows of a person stay apart (`--keep-visits`)",
    ),
    ("custody/line_of.csv", "which line of transactions.jsonl shows which record"),
    ("custody/mapping.csv", "what each class of a table shows in each column"),
    ("custody/report.html", "everything about the run; written by `run`"),
    ("custody/report.json", "the same for programs"),
    ("custody/report.md", "the same as text"),
];

const SIX: &str =
    "age,sex,disease,drugs\n31,f,flu,a;b\n34,f,gout,a;b\n38,m,flu,a\n52,m,asthma,a;c\n55,f,gout,b;c\n59,m,flu,a;c\n";

const VISITS: &str = "patient,age,disease\n1,31,flu\n2,34,gout\n3,52,asthma\n4,55,flu\n1,32,gout\n2,35,flu\n";

const SPLIT: &str = "age,sex,disease,income\n31,f,flu,low\n34,f,gout,high\n38,m,flu,low\n52,m,asthma,high\n55,f,gout,low\n59,m,flu,high\n";

/// Packages of every form.
struct Examples {
    folder: tempfile::TempDir,
}

impl Examples {
    fn read(&self, package: &str, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(package).join(name)).unwrap()
    }

    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("web.txt"), TEN).unwrap();
        let recipe = "[input]\nfile = \"web.txt\"\n[protect]\nk = 3\nm = 2\nmax_cluster = 6\n";
        fs::write(folder.path().join("recipe.toml"), recipe).unwrap();
        disjoin(folder.path(), &["run", "--quiet"]);
        fs::write(folder.path().join("six.csv"), SIX).unwrap();
        let roles = ["--quasi", "age,sex", "--sensitive", "disease", "--set", "drugs", "--numeric", "age"];
        let protect = ["protect", "six.csv", "-k", "2", "--max-cluster", "4", "-o", "table", "--quiet"];
        disjoin(folder.path(), &[&protect[..], &roles].concat());
        fs::write(folder.path().join("items.txt"), "a\nb\nc\n").unwrap();
        let noise =
            ["--method", "privbasis", "--epsilon", "1", "--universe", "items.txt", "--seed", "1", "--demonstration"];
        fs::write(folder.path().join("drugs.txt"), "a,b\na,b\na\na,c\nb,c\na,c\n".repeat(20)).unwrap();
        disjoin(
            folder.path(),
            &[&["protect", "drugs.txt", "-o", "noisy", "--quiet", "--top", "3"][..], &noise].concat(),
        );

        fs::write(folder.path().join("hide.txt"), "viagra\nplayboy,madonna\n").unwrap();
        let protect = ["protect", "web.txt", "-k", "3", "--method", "coat", "--privacy", "hide.txt", "-o", "recoded"];
        disjoin(folder.path(), &[&protect[..], &["--quiet"]].concat());

        fs::write(folder.path().join("split.csv"), SPLIT).unwrap();
        let roles = ["--quasi", "age,sex", "--sensitive", "disease,income", "--numeric", "age"];
        let protect =
            ["protect", "split.csv", "-k", "2", "--l-diversity", "2", "--method", "break-merge", "-o", "split"];
        disjoin(folder.path(), &[&protect[..], &roles, &["--quiet"]].concat());

        fs::write(folder.path().join("visits.csv"), VISITS).unwrap();
        let roles = ["--quasi", "age", "--sensitive", "disease", "--numeric", "age"];
        let protect = ["protect", "visits.csv", "-k", "2", "--person", "patient", "--keep-visits", "-o", "visits"];
        disjoin(folder.path(), &[&protect[..], &roles, &["--quiet"]].concat());
        Examples { folder }
    }
}

/// Lines of a file's header, from one that begins so.
fn head(file: &str, from: &str) -> String {
    let text = fs::read_to_string(root().join("crates/disjoin/src").join(file)).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!").map(str::trim_start)).map(str::to_owned);
    lines.skip_while(|line| !line.starts_with(from)).map(|line| line + "\n").collect()
}

/// The page.
pub(crate) fn formats() -> String {
    let examples = Examples::make();
    let mut out = String::new();
    let parts = [files, claim_of_sets, data_of_sets, custody_of_sets, tables, custody_of_tables, split, recoded, noisy];
    parts.iter().for_each(|part| part(&mut out, &examples));
    out
}

/// Which files there are.
fn files(out: &mut String, examples: &Examples) {
    *out = format!(
        "# Formats of a package\n\n{GENERATED}A package is a folder with two parts. `release/` may leave the building, \
         `custody/` must not. The examples are\nthe ten records of [Disassociation](../concepts/disassociation.md) with k = 3, \
         m = 2 and `max_cluster = 6`.\nReaders refuse a `version` that they do not know. The key `form` of claim.json states \
         which form a release has:\n\n| `form` | data | sections |\n|---|---|---|\n\
         | `disassociated` | sets in chunks | [claim.json](#claimjson), [data.jsonl](#datajsonl), [data.parquet](#dataparquet) |\n\
         | `generalized` | a table in equivalence classes | [claim](#the-claim-of-a-table), [data.csv](#datacsv), [sets.jsonl](#setsjsonl) |\n\
         | `split` | a split table | [claim](#the-claim-of-a-split-table), [quasi.csv](#quasicsv), [sensitive_COLUMN.csv](#sensitive_columncsv) |\n\
         | `recoded` | recoded transactions | [claim](#the-claim-of-recoded-transactions), [transactions.jsonl](#transactionsjsonl) |\n\
         | `noisy` | counts or records with noise | [claim](#the-claim-of-a-noisy-release), [data.jsonl](#datajsonl-of-a-noisy-release) |\n\n\
         | file | what it is |\n|---|---|\n"
    );
    let mut written = Vec::new();
    let parts = |package| [(package, "release"), (package, "custody")];
    for (package, part) in
        ["out", "table", "split", "recoded", "visits"].into_iter().flat_map(parts).chain([("noisy", "release")])
    {
        for entry in fs::read_dir(examples.folder.path().join(package).join(part)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let is_sensitive = name.starts_with("sensitive_");
            written.push(format!("{part}/{}", if is_sensitive { "sensitive_COLUMN.csv" } else { name.as_str() }));
        }
    }
    for file in &written {
        assert!(FILES.iter().any(|(name, _)| name == file), "the book does not know the file {file}");
    }
    for (file, meaning) in FILES {
        assert!(written.iter().any(|name| name == file), "no package has the file {file} of the book");
        writeln!(out, "| `{file}` | {meaning} |").unwrap();
    }
}

/// claim.json.
fn claim_of_sets(out: &mut String, examples: &Examples) {
    write!(out, "\n## claim.json\n\n{}", fields("release/claim.rs", "Claim<B = Disassociation>")).unwrap();
    out.push_str("\nThe claims of all forms begin so; what follows depends on the form. Of disassociated data:\n\n");
    out.push_str(&fields("release/claim.rs", "Disassociation"));
    write!(out, "\n`parameters`:\n\n{}", fields("release/claim.rs", "Parameters")).unwrap();
    write!(out, "\n`parameters.sensitive`:\n\n{}", fields("release/claim.rs", "Sensitive")).unwrap();
    write!(out, "\n```json\n{}```\n", examples.read("out", "release/claim.json")).unwrap();
}

/// data.jsonl and data.parquet.
fn data_of_sets(out: &mut String, examples: &Examples) {
    out.push_str("\n## data.jsonl\n\nThe first line is a header, each other line one cluster that stands alone.\n");
    write!(out, "\nThe header:\n\n{}", fields("release/disassociated.rs", "Header")).unwrap();
    out.push_str("\nIt also has `format` and `version`.\n");
    write!(out, "\nA simple cluster:\n\n{}", fields("release/disassociated.rs", "Simple")).unwrap();
    write!(out, "\nA joint cluster:\n\n{}", fields("release/disassociated.rs", "Joint")).unwrap();
    out.push_str("\nA chunk has `terms`, its domain, and `subrecords`, each with its `terms` and its `count`.\n");
    let mut data =
        examples.read("out", "release/data.jsonl").lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
    write!(out, "\n```json\n{}\n", data.next().unwrap()).unwrap();
    out.push_str("```\n\nThe cluster of the example, with line breaks that the file does not have:\n\n```json\n");
    for line in data {
        let broken = line.replace("{\"size\"", "\n{\"size\"").replace(",\"term_chunk", ",\n \"term_chunk");
        let broken = broken.replace(",\"shared_chunks", ",\n\"shared_chunks").replace(",{\"terms", ",\n  {\"terms");
        writeln!(out, "{}", broken.trim_start()).unwrap();
    }
    out.push_str("```\n\n## data.parquet\n\n");
    let parquet = fs::read_to_string(root().join("crates/disjoin/src/release/parquet.rs")).unwrap();
    let head =
        parquet.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    for line in head.skip_while(|line| !line.starts_with("Three kinds of rows")) {
        writeln!(out, "{line}").unwrap();
    }
}

/// What is kept of disassociated data.
fn custody_of_sets(out: &mut String, examples: &Examples) {
    out.push_str(
        "\n## custody.json\n\nOf every form: `format`, `version`, `form`, `made_by`, `seed` (null unless randomness started at a \
         known place) and `input`. Of disassociated data\nalso `parameters` and `promise`, as in the claim, and `stats`.\n",
    );
    write!(out, "\n`input`:\n\n{}", fields("read/mod.rs", "Intake")).unwrap();
    write!(out, "\n`reading`:\n\n{}", fields("read/reading.rs", "Reading")).unwrap();
    write!(out, "\n`joined`:\n\n{}", fields("read/reading.rs", "Joined")).unwrap();
    write!(out, "\n`stats`:\n\n{}", fields("protect/disassociation/mod.rs", "Stats")).unwrap();
    let map: String =
        examples.read("out", "custody/leaf_of.csv").lines().take(4).map(|line| format!("{line}\n")).collect();
    out.push_str(
        "\n## leaf_of.csv\n\nOne line a record, in the order of the input. `cluster` counts the simple clusters \
                  of the data from 1, members of joint\nclusters included, in the order of the file.\n",
    );
    write!(out, "\n```text\n{map}```\n").unwrap();
}

/// Tables in equivalence classes.
fn tables(out: &mut String, examples: &Examples) {
    out.push_str("\n## The claim of a table\n\n");
    out.push_str(&fields("release/generalized/claim.rs", "Classes"));
    write!(out, "\n`criteria`:\n\n{}", variants("release/privacy_models.rs", "Criterion", "is")).unwrap();
    out.push_str(
        "\nThey are explained in [What a class promises](../concepts/tables.md). `distance` is `ordered`, `equal` or \
         `hierarchical`. Only a split table\nclaims `knowledge-breach`.\n",
    );
    write!(out, "\n`columns`:\n\n{}", fields("release/generalized/claim.rs", "PublishedColumn")).unwrap();
    out.push_str(
        "\n`role` is `quasi`, `sensitive` or `other` (an insensitive attribute). Direct identifiers are not listed, and \
         the set-valued column\nis named under `sets`. `cells` is `numbers` (`20`, `20..29`), `values` (`a`, `{a|b}`), `calendar` (`2024-05-17`, \
         `2024-05`, `2024-Q2`, `2024`, `2020..2029`),\n`beginnings` (`250.01`, `250*`) or `labels` (of a hierarchy that is not published).\n",
    );
    write!(out, "\n`sets`:\n\n{}", fields("release/generalized/claim.rs", "SetsClaim")).unwrap();
    out.push_str("\nThe example, six people with k = 2:\n\n```text\n");
    write!(out, "{SIX}```\n\n```json\n{}```\n", examples.read("table", "release/claim.json")).unwrap();
    out.push_str("\n## data.csv\n\n");
    out.push_str(&head("release/generalized/mod.rs", "First come"));
    out.push_str(
        "\nA cell is a value, a range `20..29`, a set `{a|b}`, a label of the column's hierarchy, `*` for anything, \
                  or empty for\na missing value. Rows that show the same quasi-identifiers are an equivalence class. They stand next to each other, \
                  and the classes\nare sorted by what they show.\n",
    );
    write!(out, "\n```text\n{}```\n", examples.read("table", "release/data.csv")).unwrap();
    out.push_str("\n## sets.jsonl\n\n");
    out.push_str(
        "As data.jsonl, with one more key in every cluster that stands alone: `class`, the equivalence class that its \
         people are in.\n\n> **Today data.csv has no column with this number.** Count the classes of data.csv from 1, from top to \
         bottom: class 1 is the first\n> run of rows with the same quasi-identifiers, class 2 the next run.\n\nA class in \
         which nobody has a term has no line here, but keeps its number. `records` of the header counts the rows whose set is \
         not\nempty. Which set goes with which row of the class is not published.\n",
    );
    write!(out, "\n```json\n{}```\n", examples.read("table", "release/sets.jsonl")).unwrap();
}

/// What is kept of tables.
fn custody_of_tables(out: &mut String, examples: &Examples) {
    write!(
        out,
        "\n## class_of.csv\n\nOne line a row, in the order of the input. `class` counts as in sets.jsonl, and is empty for a \
         suppressed row.\n\n```text\n{}```\n",
        examples.read("table", "custody/class_of.csv")
    )
    .unwrap();
    write!(
        out,
        "\n## mapping.csv\n\nWhat each class shows of each quasi-identifier, and its number of rows. Split tables do not have \
         this file.\n\n```text\n{}```\n",
        examples.read("table", "custody/mapping.csv")
    )
    .unwrap();
    write!(
        out,
        "\n## people.csv\n\nIf a column names people: one line a row of the input, with the number of its person and of its \
         record. `record` is empty for a row\nthat is not used. Here the patients 1 and 2 have two rows each, which stay \
         apart.\n\n```text\n{}```\n",
        examples.read("visits", "custody/people.csv")
    )
    .unwrap();
    write!(
        out,
        "\n## part_of.csv\n\nOf a table whose rows of a person stay apart: the part of its class that each row is in. In a part \
         nobody has two rows.\n\n```text\n{}```\n",
        examples.read("visits", "custody/part_of.csv")
    )
    .unwrap();
    out.push_str(
        "\n## custody.json of a table\n\nAs [custody.json](#custodyjson), with `declared`, `parameters` (method, criteria, \
         suppression_limit, seed, split, as_is, hide), `suppressed` (records that are\nnot published), `classes`, `levels` (of \
         methods that recode by levels), `hidden` (what hiding rules cost) and `seconds`.\n",
    );
    write!(out, "\n`input`:\n\n{}", fields("read/rows/mod.rs", "TableIntake")).unwrap();
    let declared: String = fields("read/rows/mod.rs", "Declared")
        .lines()
        .filter(|line| !line.starts_with("| `rest`"))
        .map(|line| format!("{line}\n"))
        .collect();
    write!(out, "\n`declared`:\n\n{declared}").unwrap();
}

/// Split tables.
fn split(out: &mut String, examples: &Examples) {
    out.push_str("\n## The claim of a split table\n\n");
    out.push_str(&fields("release/split/claim.rs", "SplitTable"));
    out.push_str("\n`criteria` and `columns` are those of [the claim of a table](#the-claim-of-a-table).\n");
    write!(out, "\n`files`:\n\n{}", fields("release/split/claim.rs", "SensitiveFile")).unwrap();
    out.push_str("\nThe example, six people with k = 2 and l = 2, split by `break-merge`:\n\n```text\n");
    write!(out, "{SPLIT}```\n\n```json\n{}```\n", examples.read("split", "release/claim.json")).unwrap();
    out.push_str(
        "\n## quasi.csv\n\nThe quasi-identifiers in the order of the input, then the number of the group, one line a \
         person. The last column is called `group`; if a\nquasi-identifier has that name, underscores are added \
         (`group_column` of the claim). By `break-merge` all lines of a group show the same\ncells, as in \
         [data.csv](#datacsv); by `anatomy` they show the original values, and `exact` is true.\n",
    );
    write!(out, "\n```text\n{}```\n", examples.read("split", "release/quasi.csv")).unwrap();
    out.push_str(
        "\n## sensitive_COLUMN.csv\n\nOne file for each sensitive column: how often each value occurs in each group. \
         The value is empty where it is missing. The counts of\na group add up to its lines in quasi.csv. `files` of the \
         claim names the file of each column: a column whose name is not safe as\na file name has its number instead, \
         as in `sensitive_2.csv`.\n",
    );
    for column in ["disease", "income"] {
        let name = format!("sensitive_{column}.csv");
        write!(out, "\n`{name}`:\n\n```text\n{}```\n", examples.read("split", &format!("release/{name}"))).unwrap();
    }
}

/// Recoded transactions.
fn recoded(out: &mut String, examples: &Examples) {
    out.push_str("\n## The claim of recoded transactions\n\n");
    out.push_str(&fields("release/recoded/claim.rs", "Recodings"));
    write!(out, "\n`promise`:\n\n{}", variants("release/recoded/claim.rs", "Promised", "kind")).unwrap();
    let suppression = variants("release/recoded/claim.rs", "Suppression", "suppression");
    write!(out, "\nWhat may be missing:\n\n{suppression}").unwrap();
    out.push_str("\nThe ten records again, with k = 3, where `viagra` and `playboy,madonna` are to be protected:\n");
    write!(out, "\n```json\n{}```\n", examples.read("recoded", "release/claim.json")).unwrap();
    out.push_str("\n## transactions.jsonl\n\n");
    let told = head("release/recoded/mod.rs", "transactions.jsonl has");
    out.push_str(
        &told.replacen("each different record:\n", "each different record.\n", 1).replace("```text\n", "```json\n"),
    );
    out.push_str("\nOf the example:\n\n");
    write!(out, "```json\n{}```\n", examples.read("recoded", "release/transactions.jsonl")).unwrap();
    let map: String =
        examples.read("recoded", "custody/line_of.csv").lines().take(4).map(|line| format!("{line}\n")).collect();
    out.push_str(
        "\n## line_of.csv\n\nOne line a record, in the order of the input. `line` counts the lines with `items` from 1, \
         through all blocks: the header and the\nlines of blocks do not count.\n",
    );
    write!(out, "\n```text\n{map}```\n").unwrap();
    out.push_str(
        "\n## custody.json of recoded transactions\n\nAs [custody.json](#custodyjson), with `parameters`, `stats`, \
         `suppressed` (terms that are not published) and `seconds`.\n",
    );
}

/// Noisy releases.
fn noisy(out: &mut String, examples: &Examples) {
    out.push_str("\n## The claim of a noisy release\n\n");
    out.push_str(&fields("release/noisy/claim.rs", "Noise"));
    write!(out, "\n`parameters`:\n\n{}", fields("release/noisy/claim.rs", "NoiseParameters")).unwrap();
    write!(out, "\nWhere items come from:\n\n{}", variants("release/noisy/claim.rs", "Universe", "universe")).unwrap();
    write!(out, "\n`accounting`:\n\n{}", variants("release/noisy/claim.rs", "Accounting", "measure")).unwrap();
    write!(out, "\nAn entry of `ledger`:\n\n{}", fields("release/noisy/claim.rs", "Entry")).unwrap();
    write!(out, "\nIts mechanism:\n\n{}", variants("release/noisy/claim.rs", "Mechanism", "mechanism")).unwrap();
    out.push_str(
        "\nAmounts are strings, so that nothing is rounded. Fields that are not listed are refused by `verify`.\n",
    );
    write!(out, "\n```json\n{}```\n", examples.read("noisy", "release/claim.json")).unwrap();
    out.push_str(
        "\n## data.jsonl of a noisy release\n\nThe header states what `rows` are: `itemsets` (PrivBasis) or `records` \
         (DiffPart). Each other line has `terms` and a noisy `count`: of an\nitemset the estimated support, of a record how \
         often it occurs. Counts are at least 1. The number of\nrecords is not published.\n",
    );
    write!(out, "\n```json\n{}```\n", examples.read("noisy", "release/data.jsonl")).unwrap();
    out.push_str(
        "\n## universe.txt\n\nOne item a line, if `universe` is `listed`.\n\n## custody.json of a noisy release\n\n\
         `format`, `version`, `form`, `made_by`, `input` (as in [custody.json](#custodyjson)), `method` and `parameters` \
         (those of the claim), and\n`seed`: null, unless the release is a demonstration. There is no map from records: no \
         line of the release is anybody's.\n",
    );
}
