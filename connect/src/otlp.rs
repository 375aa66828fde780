//! Spans, told to an OpenTelemetry collector as protobuf over HTTP: runs, agents, calls of models and of tools, by the
//! names of the GenAI conventions.
//!
//! No text of models, tools or people is part of any. Where it is sent to, the variables `OTEL_EXPORTER_OTLP_*` say, as
//! they do for every program that speaks OpenTelemetry.

use crate::http;
use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The variables that say where spans are sent to. None of them is set where nobody wants any.
const WHERE: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Spans that cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// What the variables say cannot be used.
    #[error("spans cannot be sent: {0}; look at the variables `OTEL_EXPORTER_OTLP_*`")]
    Exporter(String),
}

/// Whoever sends spans. Needs the async runtime in which it was opened.
pub struct Spans {
    provider: SdkTracerProvider,
}

impl Spans {
    /// To an address, or to where the environment says; `None` where neither is there. An address is that of a collector,
    /// to which `/v1/traces` is added.
    pub fn open(collector: Option<&str>) -> Result<Option<Self>, OtlpError> {
        if collector.is_none() && WHERE.iter().all(|name| std::env::var_os(name).is_none()) {
            return Ok(None);
        }
        let wrong = |why: &dyn std::error::Error| OtlpError::Exporter(why.to_string());
        let client = http::client().build().map_err(|why| wrong(&why))?;
        let mut exporter = SpanExporter::builder().with_http().with_http_client(Client { client, runtime: Handle::current() });
        if let Some(collector) = collector {
            exporter = exporter.with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')));
        }
        let exporter = exporter.build().map_err(|why| wrong(&why))?;
        let named = std::env::var_os("OTEL_SERVICE_NAME").is_some();
        let resource = if named { Resource::builder() } else { Resource::builder().with_service_name("countersign") };
        Ok(Some(Self { provider: SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build() }))
    }

    /// What takes spans of Countersign, and no others.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(&self) -> impl Layer<S> + Send + Sync + use<S> {
        // Whether anybody listens is asked as well, of neither a span nor an event: to deny it would deny the next span.
        let ours = |metadata: &Metadata<'_>| !metadata.is_event() && metadata.target().starts_with("countersign");
        let layer = tracing_opentelemetry::layer().with_tracer(self.provider.tracer("countersign"));
        layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false).with_filter(filter_fn(ours))
    }

    /// Sends what is left. Blocks until it is sent, or cannot be.
    pub fn close(self) -> Result<(), OtlpError> {
        self.provider.shutdown().map_err(|why| OtlpError::Exporter(why.to_string()))
    }
}

/// Sends on the async runtime. Spans are handed over by a thread that has none.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let answer = client.execute(reqwest::Request::try_from(request)?).await?;
            let mut response = Response::builder().status(answer.status());
            for (name, value) in answer.headers() {
                response = response.header(name, value);
            }
            Ok::<_, HttpError>(response.body(answer.bytes().await?)?)
        });
        sent.await?
    }
}
