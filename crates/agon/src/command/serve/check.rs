//! `agon serve --check`: checks and prints the settings of a server without starting it.

use crate::command::print;
use crate::config::serve::Serve;
use crate::exit::{Exit, Misuse};
use agon_server::Tls;
use anyhow::Result;
use std::net::{SocketAddr, ToSocketAddrs};

/// Checks everything that can be checked without starting, and prints all settings.
pub(super) fn check(settings: &Serve, json: bool) -> Result<Exit> {
    let ports = settings.ports.iter().map(|port| (port.system, &port.listen));
    let erlang = settings.erlang.iter().map(|node| ("erlang.listen", &node.listen));
    let own = [("tcp", &settings.tcp), ("http", &settings.http)];
    let mut listens: Vec<(&str, SocketAddr)> = Vec::new();
    for (name, address) in own.into_iter().chain(ports).chain(erlang) {
        let none = |why: String| Misuse(format!("{name}: {address:?} is not an address: {why}"));
        let mut places = address.to_socket_addrs().map_err(|error| none(error.to_string()))?;
        let place = places.next().ok_or_else(|| none("the host name is unknown".into()))?;
        let taken = listens.iter().find(|(_, other)| *other == place && place.port() != 0);
        if let Some((other, _)) = taken {
            let why = format!("{name} and {other} are both {place}; change one of the ports");
            return Err(Misuse(why).into());
        }
        listens.push((name, place));
    }
    if settings.data.exists() && !settings.data.is_dir() {
        let data = settings.data.display();
        return Err(Misuse(format!("data: {data} is not a folder; name another")).into());
    }
    if let Some((cert, key)) = &settings.tls {
        Tls::load(cert, key).map_err(|error| Misuse(error.to_string()))?;
    }
    let effective = settings.effective();
    if json {
        print(&format!("{effective}\n"))?;
        return Ok(Exit::Success);
    }
    let mut text = settings.layers.describe(&effective);
    for port in &settings.ports {
        text.push_str(&format!("# [{}] {}\n", port.system, port.effective()));
    }
    for announcement in &settings.tournaments {
        text.push_str(&format!("# tournament {} waits for its players\n", announcement.id));
    }
    for name in &settings.layers.unknown {
        text.push_str(&format!("# {name} is set, but it is not a setting of the server\n"));
    }
    print(&text)?;
    Ok(Exit::Success)
}
