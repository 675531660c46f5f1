//! Data, recipes, hierarchies and other files of a user that were made by somebody else.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::{Case, link, pipe, words};

/// What is run on data.
fn verbs(file: &str, more: &str) -> Vec<Vec<String>> {
    [
        format!("inspect {file} {more}"),
        format!("protect {file} -k 3 -o out {more}"),
        format!("protect {file} -k 3 -o out --method apriori {more}"),
        format!("convert {file} out {more} --to jsonl"),
        format!("protect {file} --quasi a --sensitive b -k 2 -o out"),
        format!("protect {file} --quasi a --sensitive b -k 2 --method anatomy --as-is -o out"),
        format!("recipe new {file} --yes -o out"),
        format!("hierarchy build {file} {more} -o out"),
        format!("policy all {file} -o out"),
        format!("extract {file} -o out"),
        format!("corpus build {file} -o out"),
    ]
    .iter()
    .map(|line| words(line))
    .collect()
}

fn file(name: &str, content: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Case {
    named(name, name, content)
}

fn named(case: &str, name: &str, content: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Case {
    let own = name.to_owned();
    Case::new(case, move |folder| fs::write(folder.join(&own), content()).unwrap(), verbs(name, ""))
}

/// A small file that unpacks to much.
pub(crate) fn bomb(name: &'static str) -> Case {
    let content = move || {
        let line = "a b c d\n".repeat(1 << 17);
        match name.ends_with(".gz") {
            true => {
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                (0..400).for_each(|_| packed.write_all(line.as_bytes()).unwrap());
                packed.finish().unwrap()
            }
            false => {
                let mut packed = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
                (0..1500).for_each(|_| packed.write_all(line.as_bytes()).unwrap());
                packed.finish().unwrap()
            }
        }
    };
    named(&format!("a bomb: {name}"), name, content)
}

/// A column of terms as Parquet, made by the program itself.
fn parquet() -> Vec<u8> {
    let bench = crate::forms::bench();
    bench.good(&["convert", "sets.dat", "sets.parquet", "--separator", "space"]);
    fs::read(bench.at("sets.parquet")).unwrap()
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = texts();
    cases.extend(packed());
    cases.extend(odd());
    cases.extend(broken_parquet());
    cases.extend(recipes());
    cases.extend(hierarchies());
    cases
}

fn texts() -> Vec<Case> {
    let json = |line: &'static str, n: usize| move || line.repeat(n).into_bytes();
    vec![
        file("empty.dat", Vec::new),
        file("bom.csv", || b"\xef\xbb\xbf".to_vec()),
        file("zeros.dat", || vec![0; 100_000]),
        file("noise.dat", || (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
        file("latin.csv", || b"a,b\n\xe9,\xff\n".to_vec()),
        named("a long line", "long.dat", || vec![b'a'; 4 << 20]),
        named("a long line of numbers", "longer.dat", || "1 ".repeat(1 << 20).into_bytes()),
        named("a million terms", "wide.dat", || {
            (0..1_000_000).map(|i| format!("{i} ")).collect::<String>().into_bytes()
        }),
        named("as many terms as a record may have", "wider.dat", || {
            (0..90_000).map(|i| format!("{i} ")).collect::<String>().into_bytes()
        }),
        named("a million columns", "columns.csv", || {
            let header: String = (0..1_000_000).map(|i| format!("c{i},")).collect();
            format!("{header}a,b\n1,2\n").into_bytes()
        }),
        named("columns of one name", "twins.csv", || {
            format!("{}b\n{}2\n", "a,".repeat(10_000), "1,".repeat(10_000)).into()
        }),
        named("a quote that is never closed", "quote.csv", || format!("a,b\n\"{}", "x\n".repeat(1 << 20)).into_bytes()),
        named("many quotes", "quotes.csv", || format!("a,b\n{}", "\"\"\"\"".repeat(1 << 18)).into_bytes()),
        named("only separators", "commas.csv", || format!("a,b\n{}\n", ",".repeat(1 << 20)).into_bytes()),
        named("only line feeds", "blank.dat", || vec![b'\n'; 2 << 20]),
        named("only carriage returns", "returns.dat", || vec![b'\r'; 1 << 20]),
        named("numbers that are none", "numbers.csv", || b"a,b\nNaN,inf\n-inf,1e999\n1e-999,-0\n".to_vec()),
        named("numbers of a million digits", "digits.csv", || format!("a,b\n{},1\n", "9".repeat(1 << 20)).into_bytes()),
        named("deep arrays", "deep.jsonl", json("[", 1 << 20)),
        named("deep objects", "deeper.jsonl", json("{\"items\":", 1 << 18)),
        named("a key twice", "twice.jsonl", || b"{\"items\":[\"a\"],\"items\":[\"b\"]}\n".repeat(9)),
        named("wrong types", "types.jsonl", || b"{\"items\":7}\n{\"items\":[null,{},[[]]]}\n[1e400,-0]\n".to_vec()),
        named("half a surrogate", "surrogate.jsonl", || b"[\"\\ud800\"]\n".to_vec()),
        named("one id for all", "long.csv", || {
            format!("id,item\n{}", (0..300_000).map(|i| format!("1,{i}\n")).collect::<String>()).into_bytes()
        }),
        named("markers of SPMF", "x.spmf", || {
            b"@CONVERTED_FROM_TEXT\n@ITEM=4294967295=x\n1 -1 -2 -2 -1\n99999999999999999999 -1 -2\n".to_vec()
        }),
        named("a database of nothing", "x.db", || [b"SQLite format 3\0", &[0xff; 4000][..]].concat()),
        named("an archive", "x.zip", || b"PK\x03\x04\xff\xff\xff\xff".to_vec()),
        named("a query with many rows alike", "rows.csv", || format!("a,b\n{}", "1,2\n".repeat(200_000)).into_bytes()),
    ]
}

fn packed() -> Vec<Case> {
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let (whole, small) = (gzip(&b"a b\n".repeat(50_000)), zstd::encode_all(&b"a b\n".repeat(50_000)[..], 3).unwrap());
    let (half, some) = (whole[..whole.len() / 2].to_vec(), small[..small.len() / 2].to_vec());
    let twice = gzip(&whole);
    vec![
        bomb("x.zst"),
        bomb("x.gz"),
        bomb("x.csv.zst"),
        bomb("x.csv.gz"),
        named("half of a gzip file", "half.gz", move || half.clone()),
        named("half of a Zstandard file", "half.zst", move || some.clone()),
        named("packed twice", "twice.gz", move || twice.clone()),
        // A frame with a window of 2^41 bytes.
        named("a giant window", "window.zst", || {
            [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8][..], &[0x01, 0x00, 0x00]].concat()
        }),
        // A frame that says that it unpacks to 2^63 bytes.
        named("a giant size", "size.zst", || {
            [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 63).to_le_bytes(), &[0x01, 0x00, 0x00]].concat()
        }),
        named("many empty members", "members.gz", move || gzip(b"").repeat(20_000)),
    ]
}

fn odd() -> Vec<Case> {
    let of = |name: &str, make: fn(&Path)| Case::new(format!("{name} for data"), make, verbs("x.csv", ""));
    vec![
        of("a folder", |folder| fs::create_dir(folder.join("x.csv")).unwrap()),
        of("an endless device", |folder| link(&folder.join("x.csv"), "/dev/zero")),
        of("a pipe", |folder| pipe(&folder.join("x.csv"))),
        of("a link to itself", |folder| link(&folder.join("x.csv"), "x.csv")),
        of("a link to nothing", |folder| link(&folder.join("x.csv"), "nothing")),
        of("a file of a terabyte of nothing", |folder| {
            fs::File::create(folder.join("x.csv")).unwrap().set_len(1 << 40).unwrap();
        }),
    ]
}

fn broken_parquet() -> Vec<Case> {
    let whole = parquet();
    let mut cases = Vec::new();
    let mut push = |name: String, bytes: Vec<u8>| {
        cases.push(named(&name, "x.parquet", move || bytes.clone()));
    };
    for at in 0..24 {
        let place = (at + 1) * (whole.len() - 1) / 24;
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (at % 8) | 0x80;
        push(format!("Parquet with another byte {place}"), bytes);
    }
    for part in 1..6 {
        push(format!("{part} sixths of a Parquet file"), whole[..part * whole.len() / 6].to_vec());
    }
    // Footers of our own: a list of 2^31 - 1 row groups, a text of 2^60 bytes, structures in each other.
    let row_groups = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00].to_vec();
    let text = [0x68, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00].to_vec();
    // A schema of 100 000 groups in each other: a name, and one child.
    let element: &[u8] = &[0x48, 0x01, b'a', 0x15, 0x02, 0x00];
    let schema = [&[0x15, 0x02, 0x19, 0xfc, 0xa0, 0x8d, 0x06][..], &element.repeat(100_000), &[0x00]].concat();
    for (name, footer) in
        [("row groups", row_groups), ("a text", text), ("structures", vec![0x1c; 200_000]), ("a schema", schema)]
    {
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        push(format!("Parquet with a footer that claims {name}"), [b"PAR1", &footer[..], &length, b"PAR1"].concat());
    }
    cases
}

fn recipes() -> Vec<Case> {
    let runs = || ["run r.toml -o out", "sweep r.toml -o out -k 3,5", "recipe check r.toml"].map(words);
    let of = |name: &str, recipe: String| {
        let make = move |folder: &Path| {
            fs::write(folder.join("x.dat"), "a b\na b\na b\nb c\nb c\nb c\n".repeat(5)).unwrap();
            fs::write(folder.join("r.toml"), &recipe).unwrap();
        };
        Case::new(format!("a recipe: {name}"), make, runs())
    };
    let input = "[input]\nfile = \"x.dat\"\nseparator = \"space\"\n";
    let key = |table: &str, line: &str| of(line, format!("{input}[{table}]\n{line}\n"));
    let max = u64::from(u32::MAX);
    vec![
        of("empty", String::new()),
        of("no text", "\0\0\0".into()),
        of("deep", format!("x = {}", "[".repeat(100_000))),
        of("deep tables", format!("[{}]\n", "a.".repeat(100_000) + "a")),
        of("a key twice", format!("{input}{input}")),
        of("long", format!("{input}[protect]\nk = {}\n", "9".repeat(1 << 20))),
        key("protect", &format!("k = {max}")),
        key("protect", &format!("m = {max}\nk = 3")),
        key("protect", &format!("max_cluster = {max}\nk = 3")),
        key("protect", "k = -1"),
        key("protect", "k = nan"),
        key("protect", "k = 1e300"),
        key("measure", &format!("top = {max}")),
        key("measure", "reconstructions = 99999999999999999999"),
        key("measure", "queries = -5"),
        of("itself as data", "[input]\nfile = \"r.toml\"\n".into()),
        of("an endless device", "[input]\nfile = \"/dev/zero\"\n".into()),
    ]
}

fn hierarchies() -> Vec<Case> {
    let of = |name: &str, text: fn() -> String| {
        let make = move |folder: &Path| {
            fs::write(folder.join("x.dat"), "a b\na b\na b\nb c\nb c\nb c\n".repeat(5)).unwrap();
            fs::write(folder.join("h.csv"), text()).unwrap();
        };
        let runs = [
            "protect x.dat --separator space -k 3 --method apriori --hierarchy h.csv -o out",
            "protect x.dat --separator space -k 3 --method coat --constraints h.csv -o out",
            "protect x.dat --separator space -k 3 --sensitive h.csv --l-diversity 2 -o out",
            "protect x.dat --separator space --method privbasis --epsilon 1 --top 5 --universe h.csv -o out",
            "protect x.dat --separator space -k 3 --utility h.csv -o out",
            "hierarchy check h.csv",
            "hierarchy convert h.csv out --style arx",
        ];
        Case::new(format!("a hierarchy: {name}"), make, runs.map(words))
    };
    vec![
        of("a cycle", || "a;b\nb;c\nc;a\n".into()),
        of("a cycle as Amnesia writes it", || "distinct\nstring\na\nbranch:\na has:b\nb has:a\n".into()),
        of("itself", || "a;a\nb;b\nc;c\n".into()),
        of("deep", || format!("a;{}*\n", (0..50_000).map(|i| format!("g{i};")).collect::<String>())),
        of("wide", || (0..200_000).map(|i| format!("{i};*\n")).collect()),
        of("deep and wide", || format!("{}*\n", (0..2_000).map(|i| format!("g{i};")).collect::<String>()).repeat(500)),
        of("empty", String::new),
        of("separators", || ";".repeat(1 << 20)),
        of("no text", || "\0".repeat(5_000)),
        of("two roots", || "a;x\nb;y\nc;*\n".into()),
    ]
}
