//! A position as players outside Agon write it: the players in playing order, the one to act
//! first, and the board. It may be any position, also one that no game leads to.

use super::{Action, Board, Color, DIRECTIONS, Ice, Position, Tile};
use serde::{Deserialize, Serialize};

/// One player of a [`State`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Player {
    /// Its colour.
    pub color: Color,
    /// Its fish so far.
    pub score: u32,
    /// Its penguins.
    pub places: Vec<Position>,
}

/// A position: `{"players":[…],"board":…}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// In playing order, from the one to act.
    pub players: Vec<Player>,
    /// The tiles, also those under penguins.
    pub board: Board,
}

impl State {
    /// The ice, and where each player's penguins stand on it; those off the board are left out.
    pub fn on_ice(&self) -> (Ice, Vec<Vec<Tile>>) {
        let mut ice = Ice::new(self.board.clone());
        let tiles = |player: &Player| -> Vec<Tile> {
            player.places.iter().filter_map(|place| ice.tile(*place)).collect()
        };
        let flocks: Vec<Vec<Tile>> = self.players.iter().map(tiles).collect();
        flocks.iter().flatten().for_each(|tile| ice.occupy(*tile));
        (ice, flocks)
    }

    /// Where a penguin can be placed, in order.
    pub fn placements(&self) -> Vec<Position> {
        let (ice, _) = self.on_ice();
        ice.free().iter().map(|tile| ice.shape().position(tile)).collect()
    }

    /// What the first player can do, in order.
    pub fn actions(&self) -> Vec<Action> {
        let (ice, flocks) = self.on_ice();
        let mut penguins = flocks.into_iter().next().unwrap_or_default();
        penguins.sort_unstable();
        let slides = |from: &Tile| {
            let (ice, from) = (&ice, *from);
            ice.reach(from).iter().map(move |to| ice.action(from, to))
        };
        penguins.iter().flat_map(slides).collect()
    }

    /// The position after the first player moved and became the last; `None` if it may not move
    /// like that.
    pub fn after(&self, action: Action) -> Option<State> {
        let (ice, _) = self.on_ice();
        let mover = self.players.first()?;
        let penguin = mover.places.iter().position(|place| *place == action.from)?;
        let (from, to) = (ice.tile(action.from)?, ice.tile(action.to)?);
        if !ice.reaches(from, to) {
            return None;
        }
        let mut next = self.clone();
        next.board.cut(from);
        next.players[0].score += u32::from(ice.fish(from));
        next.players[0].places[penguin] = action.to;
        next.players.rotate_left(1);
        Some(next)
    }

    /// The position after the first player's first penguin took one step in the first possible
    /// direction of N, NE, SE, S, SW, NW; `None` if it cannot.
    pub fn after_first_step(&self) -> Option<State> {
        let (ice, _) = self.on_ice();
        let from = *self.players.first()?.places.first()?;
        let start = ice.tile(from)?;
        let steps = (0..DIRECTIONS).map(|direction| ice.shape().next(start, direction));
        let to = steps.into_iter().find(|tile| ice.is_free(*tile))?;
        self.after(Action { from, to: ice.shape().position(to) })
    }

    /// What the first player does if it wants to stand next to `goal`: the first neighbour (N, NE,
    /// SE, S, SW, NW) that one of its penguins can slide to, with the lowest such penguin.
    pub fn approach(&self, goal: Position) -> Option<Action> {
        let (ice, flocks) = self.on_ice();
        let goal = ice.tile(goal)?;
        let mut penguins = flocks.into_iter().next()?;
        penguins.sort_unstable();
        (0..DIRECTIONS).find_map(|direction| {
            let to = ice.shape().next(goal, direction);
            let from = penguins.iter().find(|from| ice.reaches(**from, to))?;
            Some(ice.action(*from, to))
        })
    }
}

impl Board {
    /// How many tiles can be reached from a position in straight lines, with nobody on the board;
    /// none from off the board.
    pub fn reachable(&self, position: Position) -> usize {
        let ice = Ice::new(self.clone());
        ice.tile(position).map_or(0, |tile| ice.reach_count(tile))
    }
}
