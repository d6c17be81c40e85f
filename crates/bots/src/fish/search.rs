//! Depth-limited search: the best move of the first player of a position if every opponent plays
//! against them.
//!
//! The value of a line is the first player's score right after their last own move within the
//! depth, or when they can move no more. Own moves maximise it, and every opponent's move minimises
//! it. A player who cannot move is skipped. Of equally good actions the lowest wins, by from-row,
//! from-column, to-row, to-column.
//!
//! Three facts keep the search small, without changing its result:
//! - no line gains more than the most fish on as many tiles ([`Search::ceiling`]);
//! - an opponent's move takes away at most one free tile next to a penguin, so a penguin with more
//!   free neighbours than opponents move before it can certainly move ([`Search::certain`]);
//! - the destination of a penguin's last move does not matter.

use agon_games::fish::{Action, Ice, State, TILES_MAX, Tile};

/// The best action of the first player of `state`, looking `depth` own moves ahead (at least one);
/// `None` if they cannot move.
///
/// ```
/// use agon_bots::fish::best_action;
/// let state = r#"{"players": [{"color": "red", "score": 0, "places": [[0, 0], [0, 1]]}],
///                 "board": [[1, 3], [2, 2]]}"#;
/// let best = best_action(&serde_json::from_str(state)?, 1);
/// assert_eq!(serde_json::to_string(&best)?, "[[0,1],[1,0]]");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn best_action(state: &State, depth: u32) -> Option<Action> {
    let depth = bounded(depth);
    Search::new(state, depth, u64::MAX).best(depth).ok().flatten()
}

/// Like [`best_action`], but examines at most `positions_max` positions (and always looks one move
/// ahead). If they do not suffice, it returns the result of the deepest search that it could
/// finish.
pub fn best_action_within(state: &State, depth: u32, positions_max: u64) -> Option<Action> {
    let depth = bounded(depth);
    let mut search = Search::new(state, depth, positions_max);
    let mut best = Search::new(state, 1, u64::MAX).best(1).ok()??;
    for depth in 2..=depth {
        match search.best(depth) {
            Ok(found) => best = found?,
            Err(OutOfPositions) => break,
        }
    }
    Some(best)
}

/// No player makes more moves than there are tiles.
fn bounded(depth: u32) -> usize {
    (depth as usize).clamp(1, TILES_MAX)
}

/// The search ran out of positions before it had a result.
struct OutOfPositions;

/// A position that the search changes and restores as it tries lines.
struct Search {
    ice: Ice,
    /// Penguins by player.
    flocks: Vec<Vec<Tile>>,
    /// The first player's score.
    score: u32,
    /// By number of moves left: the most they can gain.
    ceiling: Vec<u32>,
    positions_left: u64,
}

impl Search {
    fn new(state: &State, depth: usize, positions_max: u64) -> Search {
        let (ice, mut flocks) = state.on_ice();
        flocks.iter_mut().for_each(|flock| flock.sort_unstable());
        let own = flocks.first().into_iter().flatten().copied();
        let mut fish: Vec<u32> =
            ice.free().iter().chain(own).map(|tile| ice.fish(tile).into()).collect();
        fish.sort_unstable_by(|a, b| b.cmp(a));
        let mut ceiling = vec![0];
        let moves = fish.iter().chain(std::iter::repeat(&0)).take(depth);
        moves.for_each(|fish| ceiling.push(ceiling[ceiling.len() - 1] + fish));
        let score = state.players.first().map_or(0, |player| player.score);
        Search { ice, flocks, score, ceiling, positions_left: positions_max }
    }

    /// The lowest of the best actions.
    fn best(&mut self, depth: usize) -> Result<Option<Action>, OutOfPositions> {
        let (start, mut best, mut least) = (self.score, None, 0);
        for penguin in 0..self.flocks.first().map_or(0, Vec::len) {
            let from = self.flocks[0][penguin];
            for to in self.ice.reach(from).iter() {
                // Another action replaces the best one only if it is better.
                if best.is_some() && start + self.most(from, depth) <= least {
                    break;
                }
                let value = self.own_move(penguin, to, depth, (least, u32::MAX))?;
                if best.is_none() || value > least {
                    (best, least) = (Some(self.ice.action(from, to)), value);
                }
            }
        }
        Ok(best)
    }

    /// The most that `depth` moves can gain if the first of them leaves `from`.
    fn most(&self, from: Tile, depth: usize) -> u32 {
        self.ceiling[depth].min(self.ceiling[depth - 1] + u32::from(self.ice.fish(from)))
    }

    /// The value of one move of the first player; `depth` includes it.
    fn own_move(
        &mut self,
        penguin: usize,
        to: Tile,
        depth: usize,
        window: (u32, u32),
    ) -> Result<u32, OutOfPositions> {
        let from = self.step(0, penguin, to);
        let fish = u32::from(self.ice.fish(from));
        self.score += fish;
        let value = if depth == 1 { Ok(self.score) } else { self.opponents(1, depth - 1, window) };
        self.score -= fish;
        self.step_back(0, penguin, from);
        value
    }

    /// The value with the first player to move and `depth` of their moves left. Outside the window
    /// the value is only a bound.
    fn own(&mut self, depth: usize, window: (u32, u32)) -> Result<u32, OutOfPositions> {
        let mut penguins: Vec<(u32, usize)> = Vec::with_capacity(self.flocks[0].len());
        for (penguin, tile) in self.flocks[0].iter().enumerate() {
            if self.ice.can_leave(*tile) {
                penguins.push((self.ice.fish(*tile).into(), penguin));
            }
        }
        penguins.sort_unstable_by(|a, b| b.cmp(a));
        let (mut least, most) = window;
        let Some((fish, _)) = penguins.first() else { return Ok(self.score) };
        if depth == 1 {
            return Ok(self.score + fish);
        }
        let mut best = self.score;
        for (_, penguin) in penguins {
            let from = self.flocks[0][penguin];
            let limit = self.score + self.most(from, depth);
            for to in self.ice.reach(from).iter() {
                if limit <= least.max(best) {
                    break;
                }
                best = best.max(self.own_move(penguin, to, depth, (least, most))?);
                if best >= most {
                    return Ok(best);
                }
                least = least.max(best);
            }
        }
        Ok(best)
    }

    /// The value with `player` to move: an opponent, unless all of them have moved.
    fn opponents(
        &mut self,
        player: usize,
        depth: usize,
        window: (u32, u32),
    ) -> Result<u32, OutOfPositions> {
        let Some(left) = self.positions_left.checked_sub(1) else { return Err(OutOfPositions) };
        self.positions_left = left;
        let Some(player) = self.next_to_move(player) else { return self.own(depth, window) };
        let (least, mut most) = window;
        let (certain, highest) = self.certain(self.flocks.len() - player, depth);
        if certain >= most || certain == highest || highest <= least {
            return Ok(if highest <= least { highest } else { certain });
        }
        let mut worst = highest;
        for penguin in 0..self.flocks[player].len() {
            let from = self.flocks[player][penguin];
            for to in self.ice.reach(from).iter() {
                self.step(player, penguin, to);
                let value = self.opponents(player + 1, depth, (least, most));
                self.step_back(player, penguin, from);
                worst = worst.min(value?);
                if worst <= least.max(certain) {
                    return Ok(worst);
                }
                most = most.min(worst);
            }
        }
        Ok(worst)
    }

    /// The first opponent from `player` on that can move.
    fn next_to_move(&self, player: usize) -> Option<usize> {
        let moves = |at: &usize| self.flocks[*at].iter().any(|tile| self.ice.can_leave(*tile));
        (player..self.flocks.len()).find(moves)
    }

    /// The bounds of the value if `opponents` may move before the first player, who has `depth`
    /// moves left.
    fn certain(&self, opponents: usize, depth: usize) -> (u32, u32) {
        let (mut certain, mut possible) = (0, 0);
        for tile in &self.flocks[0] {
            let (fish, exits) = (u32::from(self.ice.fish(*tile)), self.ice.exits(*tile));
            if exits > opponents {
                certain = certain.max(fish);
            }
            if exits > 0 {
                possible = possible.max(fish);
            }
        }
        let limit = self.ceiling[depth].min(possible + self.ceiling[depth - 1]);
        let highest = if possible == 0 { 0 } else { limit };
        (self.score + certain, self.score + highest)
    }

    /// Moves a penguin, and returns where it stood.
    fn step(&mut self, player: usize, penguin: usize, to: Tile) -> Tile {
        self.ice.occupy(to);
        std::mem::replace(&mut self.flocks[player][penguin], to)
    }

    fn step_back(&mut self, player: usize, penguin: usize, from: Tile) {
        let to = std::mem::replace(&mut self.flocks[player][penguin], from);
        self.ice.vacate(to);
    }
}
