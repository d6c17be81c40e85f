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

    /// The legal actions of the first player, in order.
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

    /// The move that brings the first player next to `goal`: to the first neighbour (N, NE, SE, S,
    /// SW, NW) that one of their penguins can slide to, with the lowest such penguin.
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
    /// How many tiles can be reached from a position in straight lines on an empty board; 0 from
    /// off the board.
    pub fn reachable(&self, position: Position) -> usize {
        let ice = Ice::new(self.clone());
        ice.tile(position).map_or(0, |tile| ice.reach_count(tile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fish::{Answer, Config, Fish};
    use crate::{Game, Seat, Seed, Viewer};

    fn at(row: i64, column: i64) -> Position {
        Position::new(row, column)
    }

    /// Three players on an open board of four rows and six columns, with a hole at 0,5.
    fn placed() -> Fish {
        let rows = "[1,2,3,4,5,0],[1,1,1,1,1,1],[2,2,2,2,2,2],[3,3,3,3,3,3]";
        let config: Config = serde_json::from_str(&format!(r#"{{"board":[{rows}]}}"#)).unwrap();
        let mut game = Fish::new(&config, 3, &Seed::from_number(0)).unwrap();
        for (row, column) in
            [(0, 0), (3, 0), (0, 2), (3, 2), (0, 1), (3, 1), (1, 5), (3, 4), (3, 5)]
        {
            let seat = game.awaiting().first().unwrap();
            game.apply(seat, &Answer::Place(at(row, column))).unwrap();
        }
        game
    }

    #[test]
    fn tiles_in_straight_lines_are_counted() {
        let rows = "[[1,2,3],[1,0,1],[1,1,1]]";
        let board: Board = serde_json::from_str(rows).unwrap();
        // From 0,1: 2,1 below; 1,0 to the left of it, and 2,0 after that; nothing at the hole.
        assert_eq!(board.reachable(at(0, 1)), 3);
        assert_eq!(board.reachable(at(9, 9)), 0);
        let one: Board = serde_json::from_str("[[1]]").unwrap();
        assert_eq!(one.reachable(at(0, 0)), 0);
    }

    #[test]
    fn position_begins_with_the_player_to_move_and_omits_removed_players() {
        let mut game = placed();
        let scores =
            |state: &State| state.players.iter().map(|player| player.color).collect::<Vec<_>>();
        let colors =
            game.view(Viewer::Public).players.iter().map(|one| one.color).collect::<Vec<_>>();
        let state = State::from(&game);
        assert_eq!(scores(&state), colors);
        assert_eq!(state.players[1].places, [at(3, 0), at(0, 1), at(3, 4)]);
        let first = state.actions()[0];
        game.apply(Seat(0), &Answer::Move(first)).unwrap();
        assert_eq!(scores(&State::from(&game)), [colors[1], colors[2], colors[0]]);
        assert_eq!(state.after(first).as_ref(), Some(&State::from(&game)));
        game.remove(Seat(2));
        assert_eq!(scores(&State::from(&game)), [colors[1], colors[0]]);
        assert_eq!(scores(&game.view(Viewer::Public).state(Seat(2))), [colors[0], colors[1]]);
    }

    #[test]
    fn a_penguin_comes_next_to_its_goal_from_the_first_side_it_can() {
        let state = State::from(&placed());
        // North of 3,3 is 1,3, two steps from the second penguin of the first player.
        let action = state.approach(at(3, 3)).unwrap();
        assert!(state.after(action).is_some());
        assert_eq!(action, Action { from: at(3, 2), to: at(1, 3) });
        assert_eq!(state.approach(at(9, 9)), None);
        let lonely = State { players: Vec::new(), ..state };
        assert_eq!(lonely.approach(at(3, 3)), None);
    }
}
