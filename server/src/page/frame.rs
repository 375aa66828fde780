//! What every page has, signing in, and what went wrong.

use super::Html;
use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, html};

/// A page: its title, its scripts, and what stands in it.
pub(super) fn page(title: &str, scripts: &[&str], main: &Markup) -> Html {
    Html(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Countersign" }
                link rel="icon" href="/assets/seal.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
                @for script in scripts {
                    @if script.ends_with(".min.js") { script src={ "/assets/" (script) } defer {} }
                    @else { script src={ "/assets/" (script) } type="module" {} }
                }
            }
            body {
                a.skip href="#main" { "To the content" }
                (main)
            }
        }
    })
}

/// The bar at the top, for whoever is signed in.
pub(super) fn bar() -> Markup {
    html! {
        header.bar {
            a.brand href="/" { img src="/assets/seal.svg" alt="" width="24" height="24"; "Countersign" }
            form data-act="sign-out" { button.quiet type="submit" { "Sign out" } }
        }
    }
}

/// What a person sees who has no session.
pub(super) fn sign_in() -> Html {
    let main = html! {
        main.narrow #main {
            h1 { img src="/assets/seal.svg" alt="" width="32" height="32"; "Countersign" }
            form.panel data-act="sign-in" {
                label for="token" { "Token" }
                input #token name="token" type="password" autocomplete="current-password" required autofocus aria-describedby="token-where";
                p.hint #token-where { "Whoever runs the server chose it, or the server printed it when it started." }
                button.primary type="submit" { "Sign in" }
                p.trouble role="alert" hidden {}
            }
            (without_scripts("Signing in needs JavaScript."))
        }
    };
    page("Sign in", &["act.js"], &main)
}

/// What a person sees of a problem.
pub(super) fn problem(status: StatusCode, detail: &str) -> Html {
    let main = html! {
        (bar())
        main.narrow #main {
            h1 { (status.canonical_reason().unwrap_or("Error")) }
            p { (detail) }
            p { a href="/" { "All runs" } }
        }
    };
    page("Error", &["act.js"], &main)
}

/// What is said where scripts do not run.
pub(super) fn without_scripts(what: &str) -> Markup {
    html! { noscript { p.notice { (what) } } }
}
