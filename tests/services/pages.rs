//! Pages: what is fetched, cut and refused.

use countersign_connect::tool::Fetch;
use countersign_connect::tool::fetch::Address;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers every request with these words, for as long as the test runs.
async fn serving(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it has an address").to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

fn fetch(allowed: Address) -> Fetch {
    Fetch::new(allowed, Duration::from_secs(5), 20).expect("there is a client")
}

/// A page of this machine, whole.
pub async fn get(url: &str) -> String {
    let fetch = Fetch::new(loopback(), Duration::from_secs(5), 1 << 24).expect("there is a client");
    fetch.get(url).await.expect("it is there")
}

fn loopback() -> Address {
    Address::and(&["127.0.0.0/8"]).expect("it is a range")
}

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
const LONG: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello, and a great deal more than is wanted";
const GONE: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngone";

#[tokio::test]
async fn a_page_is_fetched_where_it_may_be() {
    let at = serving(PAGE).await;
    assert_eq!(fetch(loopback()).get(&format!("http://{at}/")).await.as_deref(), Ok("hello"));
    let why = fetch(Address::default()).get(&format!("http://{at}/")).await.expect_err("it is private").to_string();
    assert!(why.contains("is a private address"), "{why}");
}

#[tokio::test]
async fn a_page_is_cut_and_an_error_is_one() {
    let long = serving(LONG).await;
    let text = fetch(loopback()).get(&format!("http://{long}/")).await.expect("it is there");
    assert_eq!(text, "hello, and a great d\n[cut: more than 20 bytes]");
    let gone = serving(GONE).await;
    let why = fetch(loopback()).get(&format!("http://{gone}/")).await.expect_err("it is gone").to_string();
    assert!(why.contains("404") && why.ends_with("gone"), "{why}");
}

/// Names and redirects that lead to private addresses are refused like the addresses.
#[tokio::test]
async fn no_detour_leads_to_a_private_address() {
    let at = serving(PAGE).await;
    let port = at.rsplit(':').next().expect("it has a port");
    let closed = fetch(Address::default());
    for url in [format!("http://localhost:{port}/"), format!("http://[::1]:{port}/"), format!("http://[::ffff:127.0.0.1]:{port}/")] {
        let why = closed.get(&url).await.expect_err("it is private").to_string();
        assert!(why.contains("is a private address"), "{url}: {why}");
    }
    for url in [format!("http://2130706433:{port}/"), format!("http://0x7f.1:{port}/"), "http://169.254.169.254/latest/meta-data".to_owned()] {
        let why = closed.get(&url).await.expect_err("it is private").to_string();
        assert!(why.contains("is a private address"), "{url}: {why}");
    }
    let away = serving("HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/secret\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
    let why = fetch(loopback()).get(&format!("http://{away}/")).await.expect_err("it leads on").to_string();
    assert!(why.contains("`10.0.0.1` is a private address"), "{why}");
    let loops = serving("HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
    let why = fetch(loopback()).get(&format!("http://{loops}/")).await.expect_err("it leads on").to_string();
    assert!(why.contains("leads on too often"), "{why}");
}

#[tokio::test]
async fn what_is_no_page_is_refused() {
    let closed = fetch(Address::default());
    for (url, wanted) in [
        ("file:///etc/hostname", "`file` is not HTTP"),
        ("http://user:password@example.org/", "it carries a name or a password"),
        ("front door", "is no address"),
    ] {
        let why = closed.get(url).await.expect_err("it is refused").to_string();
        assert!(why.contains(wanted), "{url}: {why}");
    }
    assert!(Address::and(&["localhost"]).is_err());
}

#[test]
fn ranges_are_what_they_say() {
    let public = Address::default();
    for (ip, admitted) in [
        ("1.1.1.1", true),
        ("172.32.0.1", true),
        ("2606:4700::1111", true),
        ("172.31.0.1", false),
        ("100.64.0.1", false),
        ("0.0.0.0", false),
        ("255.255.255.255", false),
        ("::", false),
        ("fd00::1", false),
        ("fe80::1", false),
        ("64:ff9b::7f00:1", false),
        ("64:ff9b::101:101", true),
        ("2002:7f00:1::", false),
    ] {
        assert_eq!(public.admits(ip.parse().expect("it is an address")), admitted, "{ip}");
    }
}
