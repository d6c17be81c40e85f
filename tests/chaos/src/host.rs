//! The host of a run, which the run disturbs: one server over a file, or several nodes over a
//! database.

use crate::history::History;
use crate::log::LogPlace;
use crate::nodes::Nodes;
use crate::server::{Alive, Places, Server};
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;

/// The server or the nodes of a run.
pub(crate) enum Host {
    Server(Box<Server>),
    Nodes(Box<Nodes>),
}

impl Host {
    /// Starts a server, or so many nodes if they are more than one.
    pub(crate) async fn start(
        agon: &Path,
        dir: &Path,
        config: &str,
        nodes: usize,
        history: &Arc<History>,
    ) -> Result<Host> {
        if nodes > 1 {
            let nodes = Nodes::start(agon, dir, config, nodes, history).await?;
            return Ok(Host::Nodes(Box::new(nodes)));
        }
        let mut server = Server::new(agon, dir, config, None)?;
        server.start().await?;
        Ok(Host::Server(Box::new(server)))
    }

    pub(crate) fn places(&self) -> Places {
        match self {
            Host::Server(server) => server.places(),
            Host::Nodes(nodes) => nodes.places(),
        }
    }

    /// Where a player connects.
    pub(crate) fn places_of(&self, player: usize) -> Places {
        match self {
            Host::Server(server) => server.places(),
            Host::Nodes(nodes) => nodes.places_of(player),
        }
    }

    pub(crate) fn operator(&self) -> String {
        match self {
            Host::Server(server) => server.operator.clone(),
            Host::Nodes(nodes) => nodes.operator.clone(),
        }
    }

    /// The process that serves players.
    pub(crate) fn alive(&self) -> Alive {
        match self {
            Host::Server(server) => server.alive.clone(),
            Host::Nodes(nodes) => nodes.alive(),
        }
    }

    pub(crate) fn log(&self) -> LogPlace {
        match self {
            Host::Server(server) => LogPlace::Folder(server.data()),
            Host::Nodes(nodes) => nodes.log(),
        }
    }

    /// Its processes.
    fn servers(&mut self) -> &mut [Server] {
        match self {
            Host::Server(server) => std::slice::from_mut(server),
            Host::Nodes(nodes) => &mut nodes.all,
        }
    }

    /// Returns whether wall clocks can be set.
    pub(crate) fn has_clock(&mut self) -> bool {
        self.servers().iter().all(|server| server.has_clock())
    }

    /// Sets all wall clocks right.
    pub(crate) fn heal_clocks(&mut self) -> Result<()> {
        self.servers().iter().try_for_each(|server| server.set_clock(0))
    }

    /// Stops everything, and complains if a process does not end as it should.
    pub(crate) async fn stop(&mut self, history: &History) -> Result<()> {
        for server in self.servers() {
            let status = server.stop(history).await?;
            if status.code() != Some(0) {
                history.complain(format!("at the end the server stopped with {status}"));
            }
        }
        Ok(())
    }

    /// Restarts and reports processes that ended by themselves.
    pub(crate) async fn look(&mut self, history: &History) -> Result<()> {
        match self {
            Host::Server(server) => {
                if let Some(status) = server.has_ended()? {
                    history.complain(format!("the server ended by itself: {status}"));
                    server.goes_down(history);
                    server.start_again(history).await?;
                }
            }
            Host::Nodes(nodes) => {
                for node in &mut nodes.all {
                    let Some(status) = node.has_ended()? else { continue };
                    // A node that is started while the database is away ends and says so.
                    if !node.last_words().contains("start PostgreSQL") {
                        history.complain(format!("a node ended by itself: {status}"));
                    }
                    node.launch()?;
                }
            }
        }
        Ok(())
    }
}
