//! Markdown of an answer, as HTML in which nothing runs and nothing is loaded.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// Schemes of addresses to which an answer may lead.
const SCHEMES: &[&str] = &["https://", "http://", "mailto:"];

/// An answer's Markdown, laid out. HTML in it is shown as the text that it is; a picture is its words; a link that leads to
/// anything but a page or a letter is its words as well.
pub(super) fn laid_out(markdown: &str) -> Markup {
    let mut dead_links = 0_usize;
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).filter_map(move |event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Image { .. } | Tag::HtmlBlock) | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => None,
        Event::Start(Tag::Link { dest_url, .. }) if !is_safe(&dest_url) => {
            dead_links += 1;
            None
        }
        // Links do not stand within links.
        Event::End(TagEnd::Link) if dead_links > 0 => {
            dead_links -= 1;
            None
        }
        event => Some(event),
    });
    let mut laid_out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut laid_out, events);
    PreEscaped(laid_out)
}

fn is_safe(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| address.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::laid_out;

    #[test]
    fn what_people_write_is_laid_out() {
        assert_eq!(laid_out("The shop is **open**.").0, "<p>The shop is <strong>open</strong>.</p>\n");
        assert_eq!(laid_out("[more](https://example.org/a)").0, "<p><a href=\"https://example.org/a\">more</a></p>\n");
        assert!(laid_out("| a | b |\n|---|---|\n| 1 | 2 |").0.contains("<td>1</td>"));
    }

    #[test]
    fn nothing_in_it_runs_or_is_loaded() {
        let evil = [
            "<script>owned()</script>",
            "a <img src=x onerror=owned()> b",
            "<div onclick=\"owned()\">\n\ntext\n\n</div>",
            "[x](javascript:owned())",
            "[x](JaVaScRiPt:owned())",
            "[x](\u{1}javascript:owned())",
            "[x](java\nscript:owned())",
            "[x](data:text/html,owned)",
            "[x]: javascript:owned()\n\n[x]",
            "<javascript:owned()>",
            "![a picture](https://example.org/a.png)",
            "[![x](javascript:owned())](javascript:owned())",
            "[x](https://example.org/\"onclick=\"owned())",
            "```\"><script>owned()</script>\ntext\n```",
            "`<b>`",
        ];
        for markdown in evil {
            let html = laid_out(markdown).0;
            for way in ["<script", "<img", "<div", "<b>", "href=\"javascript", "href=\"data", "\"onclick"] {
                assert!(!html.to_ascii_lowercase().contains(way), "{markdown}: {html}");
            }
        }
        assert_eq!(laid_out("![a picture](https://example.org/a.png)").0, "<p>a picture</p>\n");
    }
}
