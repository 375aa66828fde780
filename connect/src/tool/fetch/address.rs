//! Which addresses may be talked to.

use ipnet::IpNet;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Ranges that are not public: IANA's special-purpose registries, and what embeds an address of version 4.
const PRIVATE: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/9",
    "ff00::/8",
];

/// Private ranges that may be talked to all the same; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    allowed: Vec<IpNet>,
}

/// A range that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of addresses; write it as `127.0.0.0/8`")]
pub struct NetsError(String);

impl Address {
    /// Public addresses, and these ranges.
    pub fn and(ranges: &[&str]) -> Result<Self, NetsError> {
        let read = |range: &&str| range.parse().map_err(|_| NetsError((*range).to_owned()));
        Ok(Self { allowed: ranges.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether it may be talked to.
    pub fn admits(&self, ip: IpAddr) -> bool {
        let ip = plain(ip);
        let inside = |range: &&str| range.parse::<IpNet>().is_ok_and(|net| net.contains(&ip));
        self.allowed.iter().any(|net| net.contains(&ip)) || !PRIVATE.iter().any(inside)
    }
}

/// An address of version 4 that is written as one of version 6, or translated to one, is what it stands for.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = ip else { return ip };
    match (six.to_ipv4_mapped(), six.octets()) {
        (Some(four), _) => four.into(),
        (None, [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]) => Ipv4Addr::new(a, b, c, d).into(),
        _ => ip,
    }
}

/// Why an address that is written as numbers is refused. Names are looked at when they are resolved.
pub(super) fn is_literal_refused(url: &Url, allowed: &Address) -> Option<String> {
    let host = url.host_str()?;
    let ip: IpAddr = host.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    (!allowed.admits(ip)).then(|| private(host))
}

fn private(host: &str) -> String {
    format!("`{host}` is a private address, and none of those that are allowed")
}

/// Resolves names, to addresses that may be talked to. What is connected to is what was looked at.
pub(super) struct PublicOnly(pub(super) Arc<Address>);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.0.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|at| allowed.admits(at.ip())).collect();
            if public.is_empty() {
                return Err(private(name.as_str()).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
