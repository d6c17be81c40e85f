//! One owner per stream: a server that lost a stream to another never writes it again, unless it
//! has read all that the others wrote. Tournaments move between nodes, also back.

use super::Streams;
use crate::world::World;

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    for (name, entries) in streams {
        let mut owners: Vec<u32> = Vec::new();
        for (entry, seq) in entries.iter().zip(1..) {
            if entry.line.seq != seq || *entry.line.stream != **name {
                return Err(format!("{name}: event {seq} is numbered {}", entry.line.seq));
            }
            match owners.iter().position(|owner| *owner == entry.writer) {
                None => owners.push(entry.writer),
                Some(at) if at + 1 == owners.len() => {}
                Some(at) if entry.knows_all => {
                    owners.remove(at);
                    owners.push(entry.writer);
                }
                Some(_) => {
                    let writer = entry.writer;
                    return Err(format!(
                        "{name}: server {writer} writes event {seq} after {owners:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}
