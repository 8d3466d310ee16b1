//! The frame of all pages that are drawn here: complete in themselves, with one style and one
//! script, which handles the pointer on figures.

use goodqueue_figure::{Figure, Font, Theme, palette};
use goodqueue_lab::results::report::font_face;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The text of a page.
#[must_use]
pub fn page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(font_face())) "\n" (PreEscaped(palette::variables())) "\n" (PreEscaped(STYLE)) }
            }
            body {
                main { (content) }
                div #tip hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// A figure as a part of a page.
#[must_use]
pub fn drawing(figure: &Figure) -> Markup {
    PreEscaped(figure.to_svg(Theme::Page, Font::Sans))
}

/// A table as wide as it needs to be.
#[must_use]
pub fn table(class: &str, heads: &Markup, rows: &Markup) -> Markup {
    html! {
        div.wide { table class=(class) { thead { tr { (heads) } } tbody { (rows) } } }
    }
}
