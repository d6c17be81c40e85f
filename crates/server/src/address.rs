//! The address that limits are counted for.

use std::net::{IpAddr, Ipv6Addr};

/// The address that limits are counted for. An IPv4 address mapped into IPv6 counts as itself. A
/// household has a whole network of IPv6 addresses, so all addresses of a /64 network count as one.
pub(crate) fn counted(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            match address.is_loopback() {
                true => IpAddr::V6(address),
                false => IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)),
            }
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_household_count_as_one() {
        let of = |text: &str| counted(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::5"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::5"), of("2001:db8:1:3::5"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("::ffff:10.0.0.1"), of("::ffff:10.0.0.2"));
        assert_eq!(of("::1"), "::1".parse::<IpAddr>().unwrap());
    }
}
