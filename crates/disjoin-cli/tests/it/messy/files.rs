//! Files that spreadsheet programs and data frames write, made by hand.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

/// A cell of a sheet.
pub(super) enum Cell {
    /// A text.
    S(&'static str),
    /// A number.
    N(f64),
    /// A day, as Excel counts them.
    Day(u32),
    /// A formula with the result that is stored, if one is.
    Formula(&'static str, Option<f64>),
    /// An error.
    Wrong,
    /// Nothing.
    No,
}

use Cell::{Day, Formula, N, No, S, Wrong};

/// A sheet of a workbook.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) name: &'static str,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Rows from 1 that are hidden.
    pub(super) hidden: Vec<usize>,
    /// Merged areas, as A2:A3.
    pub(super) merged: Vec<&'static str>,
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        // The kind of an OpenDocument file stands at its beginning as it is.
        let method =
            if *name == "mimetype" { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        zip.start_file(*name, zip::write::SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn place(row: usize, column: usize) -> String {
    format!("{}{}", char::from(b'A' + column as u8), row + 1)
}

/// The XML of a sheet.
fn content(sheet: &Sheet) -> String {
    let mut data = String::new();
    for (row, cells) in sheet.rows.iter().enumerate() {
        let hidden = if sheet.hidden.contains(&(row + 1)) { " hidden=\"1\"" } else { "" };
        data += &format!("<row r=\"{}\"{hidden}>", row + 1);
        for (column, cell) in cells.iter().enumerate() {
            let at = place(row, column);
            data += &match cell {
                S(text) => format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>"),
                N(number) => format!("<c r=\"{at}\"><v>{number}</v></c>"),
                Day(day) => format!("<c r=\"{at}\" s=\"1\"><v>{day}</v></c>"),
                Formula(formula, Some(result)) => format!("<c r=\"{at}\"><f>{formula}</f><v>{result}</v></c>"),
                Formula(formula, None) => format!("<c r=\"{at}\"><f>{formula}</f></c>"),
                Wrong => format!("<c r=\"{at}\" t=\"e\"><v>#N/A</v></c>"),
                No => String::new(),
            };
        }
        data += "</row>";
    }
    let merged: String = sheet.merged.iter().map(|area| format!("<mergeCell ref=\"{area}\"/>")).collect();
    let merged = if merged.is_empty() { merged } else { format!("<mergeCells>{merged}</mergeCells>") };
    format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{data}</sheetData>{merged}</worksheet>"
    )
}

/// A workbook as Excel writes it.
pub(super) fn xlsx(sheets: &[Sheet]) -> Vec<u8> {
    let mut parts: Vec<(String, String)> = Vec::new();
    let (mut list, mut links, mut kinds) = (String::new(), String::new(), String::new());
    for (i, sheet) in sheets.iter().enumerate() {
        let n = i + 1;
        list += &format!("<sheet name=\"{}\" sheetId=\"{n}\" r:id=\"rId{n}\"/>", sheet.name);
        links += &format!(
            "<Relationship Id=\"rId{n}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet{n}.xml\"/>"
        );
        kinds += &format!(
            "<Override PartName=\"/xl/worksheets/sheet{n}.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
        );
        parts.push((format!("xl/worksheets/sheet{n}.xml"), content(sheet)));
    }
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let fixed = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/>{kinds}</Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"rId1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!("<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{list}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{relations}\">{links}<Relationship Id=\"rIdS\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>"
            ),
        ),
    ];
    let all: Vec<(&str, &[u8])> = fixed
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .chain(parts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())))
        .collect();
    archive(&all)
}

/// A spreadsheet as LibreOffice writes it: the content of one table, and a million empty rows below.
pub(super) fn ods(tables: &[(&str, &str)]) -> Vec<u8> {
    let tables: String = tables
        .iter()
        .map(|(name, rows)| {
            format!("<table:table table:name=\"{name}\">{rows}<table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"1024\"/></table:table-row></table:table>")
        })
        .collect();
    let content = format!(
        "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.2\"><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    let kind = "application/vnd.oasis.opendocument.spreadsheet";
    let manifest = format!(
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"><manifest:file-entry manifest:full-path=\"/\" manifest:media-type=\"{kind}\"/></manifest:manifest>"
    );
    archive(&[
        ("mimetype", kind.as_bytes()),
        ("content.xml", content.as_bytes()),
        ("META-INF/manifest.xml", manifest.as_bytes()),
    ])
}

/// Texts of a row of an ods table.
pub(super) fn ods_row(cells: &[&str]) -> String {
    let cell = |text: &&str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
}

/// An archive that looks like a workbook and unpacks to far more than it has.
pub(super) fn bomb() -> Vec<u8> {
    let sheet = vec![b' '; 160 << 20];
    archive(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/workbook.xml", b"<workbook/>"),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

/// Categories, times and a list, as data frames keep them.
pub(super) fn batch() -> RecordBatch {
    let ill: DictionaryArray<Int8Type> = vec![Some("flu"), None, Some("gout"), Some("flu")].into_iter().collect();
    let mut codes = ListBuilder::new(StringBuilder::new());
    for record in [&["a", "b"][..], &["a"], &["b", "c", "b"], &["a", "c"]] {
        codes.append_value(record.iter().map(|term| Some(*term)));
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 4]))),
        ("ill", Arc::new(ill)),
        ("seen", Arc::new(TimestampMillisecondArray::from(vec![0, 1000, 86_400_000, 0]))),
        ("codes", Arc::new(codes.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// An Arrow file (Feather), packed as data frames do.
pub(super) fn arrow(batch: &RecordBatch) -> Vec<u8> {
    let packed = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), packed).unwrap();
    file.write(batch).unwrap();
    file.into_inner().unwrap()
}

/// An Arrow stream.
pub(super) fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(batch).unwrap();
    stream.into_inner().unwrap()
}

/// A text as UTF-16.
pub(super) fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// A text in which every character beyond ASCII is one byte, by its number: Latin-1.
pub(super) fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

/// Cyrillic letters as Windows-1251 has them.
pub(super) fn cyrillic(text: &str) -> Vec<u8> {
    let byte = |c: char| if c.is_ascii() { c as u8 } else { (u32::from(c) - 0x410 + 0xc0) as u8 };
    text.chars().map(byte).collect()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}
