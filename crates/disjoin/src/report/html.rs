//! A report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.
//!
//! Made to be read by a board: on paper, on a phone, in the dark, and by ear. Tables that are wider than the page scroll in
//! a region of their own, which the keyboard reaches; nothing is told by colour alone.

use std::fmt::Write;

use super::page::{Kind, NOT_KEPT, Page, Part, Table, plain};
use crate::report::plot;

/// All styles. Pictures are drawn for white paper: in the dark their colours, named as `plot.rs` names them, are exchanged.
const STYLE: &str = include_str!("style.css");

/// A page, dressed.
pub(super) fn dressed(page: &Page) -> String {
    let Page { title, notice, holds, verdict, because, facts, sections, made_by } = page;
    let title = escaped(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
    );
    // Writing to a String cannot fail.
    if let Some(notice) = notice {
        let _ = writeln!(
            out,
            "<aside class=\"notice\" aria-label=\"Who may read this\"><p>{}</p></aside>",
            escaped(notice)
        );
    }
    let because: String = because.iter().map(|sentence| format!(" {}", escaped(sentence))).collect();
    let _ = writeln!(
        out,
        "<main id=\"main\" tabindex=\"-1\">\n<h1>{title}</h1>\n\
         <p class=\"verdict {}\"><strong>{}</strong>{because}</p>",
        if *holds { "good" } else { "bad" },
        escaped(verdict),
    );
    out.push_str("<dl class=\"facts\">\n");
    for (name, fact) in facts {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(fact));
    }
    out.push_str("</dl>\n<nav aria-label=\"Contents\">\n<ol>\n");
    for section in sections {
        let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", section.id, section.heading);
    }
    out.push_str("</ol>\n</nav>\n");
    let mut n_tables = 0;
    for section in sections {
        let id = section.id;
        let _ = writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>", section.heading);
        section.parts.iter().for_each(|part| add(&mut out, part, &mut n_tables));
        out.push_str("</section>\n");
    }
    let _ = writeln!(out, "</main>\n<footer><p>Made by {}.</p></footer>\n</body>\n</html>", escaped(made_by));
    out
}

fn add(out: &mut String, part: &Part, n_tables: &mut u32) {
    let _ = match part {
        Part::Heading(heading) => writeln!(out, "<h3>{}</h3>", escaped(heading)),
        Part::Text(text) => writeln!(out, "<p>{}</p>", escaped(text)),
        Part::Points(points) => {
            let point = |(name, text): &(String, String)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(text))
            };
            writeln!(out, "<dl>\n{}</dl>", points.iter().map(point).collect::<String>())
        }
        Part::Table(table) => {
            *n_tables += 1;
            out.push_str(&rendered(table, *n_tables));
            Ok(())
        }
        Part::Figure(figure) => writeln!(
            out,
            "<figure>\n<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"Picture, scrolls if it is wide\">\
             {}</div>\n<figcaption>{}</figcaption>\n</figure>",
            plot::inline(figure.svg.trim_end(), &figure.description),
            escaped(&figure.caption)
        ),
    };
}

fn rendered(table: &Table, number: u32) -> String {
    let class_of = |kind: Kind| match kind {
        Kind::Number => " class=\"n\"",
        Kind::Sentence => " class=\"s\"",
        Kind::Words | Kind::Code | Kind::Kept => "",
    };
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"table-{number}\">\n<table>\n\
         <caption id=\"table-{number}\"><span>{}</span></caption>\n<thead><tr>",
        escaped(&table.caption)
    );
    for (name, kind) in &table.columns {
        let _ = write!(out, "<th scope=\"col\"{}>{name}</th>", class_of(*kind));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, (cell, (_, kind))) in row.iter().zip(&table.columns).enumerate() {
            let shown = match kind {
                Kind::Code => format!("<code>{}</code>", escaped(cell)),
                Kind::Kept if cell == NOT_KEPT => format!("<strong class=\"bad\">{cell}</strong>"),
                _ => escaped(cell),
            };
            let class = class_of(*kind);
            let _ = match i {
                0 => write!(out, "<th scope=\"row\"{class}>{shown}</th>"),
                _ => write!(out, "<td{class}>{shown}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out
}

/// Text for HTML and SVG, between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    plain(text).fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{Point, Scale};

    /// A colour that the pictures no longer use would stay dark on dark.
    #[test]
    fn the_colours_that_are_exchanged_in_the_dark_are_those_of_pictures() {
        let point = Point { x: 1.0, y: 1.0, low: 0.0, high: 2.0 };
        let pictures = plot::scatter("t", "x", "y", &[point], Scale::Log)
            + &plot::by_rank("t", "x", "y", &[0.5, 0.7], Scale::Log)
            + &plot::bars("t", "y", &["a".into()], &[("s".into(), vec![1.0])]);
        let mut exchanged = 0;
        for selector in STYLE.split("path[").skip(1).map(|rest| rest.split(']').next().unwrap()) {
            exchanged += 1;
            assert!(pictures.contains(selector), "{selector}");
        }
        let colours = pictures.split("<path ").skip(1).flat_map(|path| {
            ["fill=\"#", "stroke=\"#"].into_iter().filter_map(move |name| {
                let rest = path.split('>').next()?.split_once(name)?.1;
                Some(format!("{name}{}\"", rest.split('"').next()?))
            })
        });
        for colour in colours {
            assert!(STYLE.contains(&format!("path[{colour}]")), "{colour} stays as it is in the dark");
        }
        assert!(exchanged > 4);
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<a href='x'>\"&\u{7}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\\u{7}");
    }
}
