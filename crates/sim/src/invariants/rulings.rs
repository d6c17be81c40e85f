//! The server obeys an operator's order once or not at all, and its answer to the operator is true.

use super::Streams;
use crate::world::{World, leaves_a_trace};

pub(super) fn check(world: &World, _streams: &Streams) -> Result<(), String> {
    for given in &world.operator.given {
        let count = world.disk.look(|index| index.rulings.get(&given.why).copied().unwrap_or(0));
        let (why, order) = (&given.why, &given.order);
        match &given.answer {
            _ if count > 1 => return Err(format!("{why} was obeyed {count} times: {order:?}")),
            Some(Ok(())) if count == 0 && leaves_a_trace(order) => {
                return Err(format!("{why} was obeyed and is not in the log: {order:?}"));
            }
            Some(Err(refusal)) if count > 0 => {
                return Err(format!("{why} was refused ({refusal}) and obeyed: {order:?}"));
            }
            _ => {}
        }
    }
    let known = |why: &str| world.operator.given.iter().any(|given| given.why == why);
    let unknown = world.disk.look(|index| index.rulings.keys().find(|why| !known(why)).cloned());
    match unknown {
        Some(why) => Err(format!("nobody ordered {why:?}")),
        None => Ok(()),
    }
}
