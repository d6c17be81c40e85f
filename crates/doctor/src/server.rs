//! todo
use crate::report::Report;
use crate::settings::{Progress, Settings};
use agon_runner::Stop;
/// todo
pub async fn examine_guest(
    _settings: &Settings,
    _address: &str,
    _stop: Stop,
    _tell: &(dyn Fn(Progress) + Sync),
    _say: &(dyn Fn(&std::net::SocketAddr) + Sync),
) -> std::io::Result<Report> {
    Err(std::io::Error::other("todo"))
}
