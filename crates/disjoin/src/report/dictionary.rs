//! A data dictionary: what the columns of tables mean that are written for other programs, and what is promised of them.
//!
//! Promises:   nothing but what the release and its claim say

use serde::Serialize;

use super::run::AnyClaim;
use crate::error::{Error, Result};

/// What is said of tables.
#[derive(Debug, Clone, Serialize)]
pub struct DataDictionary {
    format: &'static str,
    version: u32,
    /// The form of the release, in words.
    release: String,
    method: String,
    /// What is promised, and against whom.
    promised: String,
    adversary: String,
    /// The tables, that of the records first.
    pub tables: Vec<DescribedTable>,
}

/// What is said of a table.
#[derive(Debug, Clone, Serialize)]
pub struct DescribedTable {
    /// Its file.
    pub file: String,
    /// What a row is.
    pub meaning: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<DescribedColumn>,
}

/// What is said of a column.
#[derive(Debug, Clone, Serialize)]
pub struct DescribedColumn {
    /// Its name.
    pub name: String,
    /// Text, number, integer or list of texts.
    #[serde(rename = "type")]
    pub type_name: &'static str,
    /// What it is for, if it was a column of the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// What its values mean.
    pub meaning: String,
}

impl DataDictionary {
    /// The dictionary of tables of a release.
    pub fn new(claim: &AnyClaim, tables: Vec<DescribedTable>) -> Self {
        let (form, method, promised, adversary) = match claim {
            AnyClaim::Disassociated(claim) => (claim.form, &claim.method, &claim.promised, &claim.adversary),
            AnyClaim::Classes(claim) => (claim.form, &claim.method, &claim.promised, &claim.adversary),
            AnyClaim::Split(claim) => (claim.form, &claim.method, &claim.promised, &claim.adversary),
            AnyClaim::Recoded(claim) => (claim.form, &claim.method, &claim.promised, &claim.adversary),
            AnyClaim::Noisy(claim) => (claim.form, &claim.method, &claim.promised, &claim.adversary),
        };
        DataDictionary {
            format: "disjoin/dictionary",
            version: 1,
            release: form.text().to_owned(),
            method: method.clone(),
            promised: promised.clone(),
            adversary: adversary.clone(),
            tables,
        }
    }

    /// For programs.
    pub fn json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(|_| Error::Internal("a dictionary is always JSON"))?;
        Ok(text + "\n")
    }

    /// For people.
    pub fn markdown(&self) -> String {
        let cell = |text: &str| super::visible(text).replace('|', "\\|");
        let mut text = format!(
            "# Data dictionary\n\nThis is {}, made with the method {}.\n\n**Promised:** {}\n\n**Against:** {}\n",
            self.release, self.method, self.promised, self.adversary
        );
        for table in &self.tables {
            text += &format!(
                "\n## {}\n\n{} {} rows.\n\n| column | type | role | meaning |\n|---|---|---|---|\n",
                cell(&table.file),
                table.meaning,
                table.rows
            );
            for column in &table.columns {
                text += &format!(
                    "| {} | {} | {} | {} |\n",
                    cell(&column.name),
                    column.type_name,
                    column.role.unwrap_or_default(),
                    cell(&column.meaning)
                );
            }
        }
        text
    }
}
