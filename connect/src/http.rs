//! One way to make HTTP clients, for models, tools and MCP.

/// A client that speaks TLS by `ring`, and trusts whom this machine trusts.
pub(crate) fn client() -> reqwest::ClientBuilder {
    // Whoever installed another provider first is right to have it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
}
