//! Tests of all logs alike, through the port that everything else uses.

mod child;
mod conformance;
mod crash;
mod damage;
mod full;
mod model;
mod place;
mod postgres;
mod proxy;
