//! Styles and scripts, as they stand in `assets/`: no build step, and nothing from elsewhere.

use crate::problem::Problem;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::sync::LazyLock;

/// A file, and how it is sent.
struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    small: Option<Bytes>,
    tag: HeaderValue,
}

/// A file of `assets/`, under the last part of its path.
macro_rules! asset {
    ($path:literal, $kind:literal) => {
        Asset::new($path, $kind, include_bytes!(concat!("../../assets/", $path)))
    };
}

static ASSETS: LazyLock<[Asset; 9]> = LazyLock::new(|| {
    [
        asset!("page.css", "text/css; charset=utf-8"),
        asset!("seal.svg", "image/svg+xml"),
        asset!("act.js", "text/javascript; charset=utf-8"),
        asset!("list.js", "text/javascript; charset=utf-8"),
        asset!("run.js", "text/javascript; charset=utf-8"),
        asset!("parts.js", "text/javascript; charset=utf-8"),
        asset!("timeline.js", "text/javascript; charset=utf-8"),
        asset!("graph.js", "text/javascript; charset=utf-8"),
        asset!("dagre/dagre.min.js", "text/javascript; charset=utf-8"),
    ]
});

impl Asset {
    fn new(path: &'static str, kind: &'static str, plain: &'static [u8]) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let digest = Sha256::digest(plain);
        let tag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        let tag = HeaderValue::try_from(format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Self { name, kind, plain, small: compressed(plain), tag }
    }
}

/// Nothing where it could not be compressed: then it is sent as it is.
fn compressed(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// `GET /assets/{file}`. A browser asks each time whether its copy is still right, so that a new server brings a new page.
pub(super) async fn show(Path(file): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let found = ASSETS.iter().find(|asset| asset.name == file);
    let asset = found.ok_or_else(|| Problem::NoPath(format!("/assets/{file}")))?;
    let says = |name, what: &str| headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(what));
    let unchanged = headers.get(header::IF_NONE_MATCH) == Some(&asset.tag);
    let small = asset.small.clone().filter(|_| says(header::ACCEPT_ENCODING, "gzip"));
    let mut response = match (unchanged, &small) {
        (true, _) => StatusCode::NOT_MODIFIED.into_response(),
        (false, Some(small)) => Body::from(small.clone()).into_response(),
        (false, None) => Body::from(asset.plain).into_response(),
    };
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    sent.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    sent.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    sent.insert(header::ETAG, asset.tag.clone());
    if !unchanged && small.is_some() {
        sent.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
