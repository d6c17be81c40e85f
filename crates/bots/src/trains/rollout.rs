//! A game of Trains that is played on by models of the players, many times over, to value a choice.
//!
//! Everything public is known; the colours of other players' cards and their destinations are not,
//! and every rollout draws them anew from the `beliefs` about each opponent: what [`Kind`] of player
//! it is, its cards and its destinations.

use super::graph::{CLOSED, Goal, Graph, Paths, Scratch};
use crate::SplitMix64;
use agon_games::trains::{RAILS, View};

/// The most players of a game.
pub(super) const SEATS_MAX: usize = 8;

pub(super) const FREE: u8 = u8::MAX;
pub(super) const COLORS: usize = 4;
const RAILS_LAST: u8 = 2;
pub(super) const DRAW: u16 = 2;
const LENGTH_MIN: u8 = 3;

/// The cards that a player begins with.
pub(super) const HAND: u16 = 4;

/// The value of one more segment of the longest path when a planner extends its network.
const PATH_GAIN: u32 = 6;

/// How a modelled player chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Acquires the first connection it can pay for, in the map's order, once it holds more than
    /// `hold` cards.
    First { hold: u8 },
    /// Acquires a random connection it can pay for.
    Any,
    /// Joins each destination on the shortest way, then acquires long connections that touch its
    /// own.
    Greedy,
    /// Joins its destinations on the cheapest ways, then extends its longest path.
    Planner,
    /// The champion in its own rollouts: joins the destinations that it can still join, and takes
    /// into account which connections others are about to acquire.
    Builder,
}

/// The choice of a player on its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    Draw,
    Acquire(u16),
}

/// The most connections that 45 rails pay for.
const OWN_MAX: usize = 15;

/// A few connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Few {
    all: [u16; OWN_MAX],
    len: u8,
}

impl Few {
    pub(super) fn as_slice(&self) -> &[u16] {
        &self.all[..usize::from(self.len)]
    }

    /// Removes a connection; returns whether it was there.
    fn remove(&mut self, connection: u16) -> bool {
        let found = self.as_slice().iter().position(|one| *one == connection);
        if let Some(at) = found {
            self.all.copy_within(at + 1..usize::from(self.len), at);
            self.len -= 1;
        }
        found.is_some()
    }

    pub(super) fn push(&mut self, connection: u16) {
        self.all[usize::from(self.len)] = connection;
        self.len += 1;
    }
}

impl FromIterator<u16> for Few {
    fn from_iter<I: IntoIterator<Item = u16>>(all: I) -> Few {
        let mut few = Few::default();
        all.into_iter().take(OWN_MAX).for_each(|one| few.push(one));
        few
    }
}

/// One player in a rollout.
#[derive(Clone, Debug)]
pub(super) struct Seated {
    pub(super) remains: bool,
    pub(super) kind: Kind,
    pub(super) hand: [u8; COLORS],
    pub(super) rails: u8,
    pub(super) own: Few,
    /// Its destinations; `None` for those that are not known.
    pub(super) goals: [Option<Goal>; 2],
    /// The cards that it will draw. Every player has its own, so that choices of one player do not
    /// change the luck of the others.
    pub(super) luck: SplitMix64,
    /// The connections it plans to acquire; valid unless `stale`.
    pub(super) wanted: Few,
    pub(super) stale: bool,
    /// The paths over its connections, if they are computed.
    pub(super) paths: Option<Paths>,
}

impl Seated {
    pub(super) fn new(rails: u8, own: Few, remains: bool) -> Seated {
        Seated {
            remains,
            kind: Kind::Planner,
            hand: [0; COLORS],
            rails,
            own,
            goals: [None; 2],
            luck: SplitMix64::new(0),
            wanted: Few::default(),
            paths: None,
            stale: true,
        }
    }

    /// Draws some cards.
    pub(super) fn draw(&mut self, count: u16) {
        for _ in 0..count {
            self.hand[self.luck.index(COLORS)] += 1;
        }
    }

    pub(super) fn cards(&self) -> u32 {
        self.hand.iter().map(|count| u32::from(*count)).sum()
    }
}

/// The memory of planning.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub(super) scratch: Scratch,
    pub(super) prices: Vec<u32>,
    pub(super) one: Vec<u16>,
    both: Vec<u16>,
    pub(super) payable: Vec<u16>,
    /// By connection, how often of a thousand somebody else acquires it in a round.
    pub(super) risks: Vec<u32>,
}

/// A game in progress, as far as it is known or assumed.
#[derive(Clone, Debug)]
pub(super) struct Rollout {
    pub(super) seats: Vec<Seated>,
    pub(super) owner: Vec<u8>,
    pub(super) deck: u16,
    pub(super) turn: usize,
    /// The seats that have one more turn.
    pub(super) last_turns: Option<[bool; SEATS_MAX]>,
    pub(super) idle: u8,
    pub(super) over: bool,
    /// How many connections nobody holds.
    free: u16,
}

impl Rollout {
    /// A game before the turn of `turn` with these players.
    pub(super) fn new(graph: &Graph, seats: Vec<Seated>, deck: u16, turn: usize) -> Rollout {
        let mut owner = vec![FREE; graph.length.len()];
        for (seat, seated) in seats.iter().enumerate() {
            seated.own.as_slice().iter().for_each(|at| owner[usize::from(*at)] = seat as u8);
        }
        let free = owner.iter().filter(|owner| **owner == FREE).count() as u16;
        Rollout { seats, owner, deck, turn, last_turns: None, idle: 0, over: false, free }
    }

    /// The public part of a game on the turn of `seat`, with its own hand and destinations.
    pub(super) fn known(view: &View, graph: &Graph, seat: usize) -> Rollout {
        // While destinations are picked, later seats have not been dealt their cards.
        let picking = view.players[seat].destinations.is_none();
        let mut deck = u16::from(view.deck);
        let mut seats = Vec::new();
        for player in &view.players {
            let own = player.acquired.iter().filter_map(|held| view.map.find(held));
            let own: Few = own.map(|at| at as u16).collect();
            let mut seated = Seated::new(player.rails, own, !player.out);
            seated.hand = player.hand.unwrap_or_default().counts();
            let goal = |pair| Graph::goal(&view.map, &pair);
            seated.goals = player.destinations.map_or([None; 2], |kept| kept.map(goal));
            let dealt = !picking || player.rails > 0 || player.out;
            if !dealt {
                seated.rails = RAILS;
                deck = deck.saturating_sub(HAND);
            }
            seats.push(seated);
        }
        let first = seats.iter().position(|seat| seat.remains).unwrap_or(0);
        let mut game = Rollout::new(graph, seats, deck, if picking { first } else { seat });
        if let Some(last) = &view.last_turns {
            let mut set = [false; SEATS_MAX];
            last.iter().for_each(|seat| set[seat.index()] = true);
            game.last_turns = Some(set);
        }
        game
    }

    /// How many connections nobody holds.
    pub(super) fn free(&self) -> u16 {
        self.free
    }

    pub(super) fn is_payable(&self, graph: &Graph, at: usize) -> bool {
        let (seat, length) = (&self.seats[self.turn], graph.length[at]);
        self.owner[at] == FREE
            && seat.hand[usize::from(graph.color[at])] >= length
            && seat.rails >= length
    }

    /// The connections that the player to act can acquire.
    pub(super) fn payable<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = u16> + 'a {
        (0..self.owner.len()).filter(|at| self.is_payable(graph, *at)).map(|at| at as u16)
    }

    /// Carries out a choice of the player to act, and passes the turn.
    pub(super) fn act(&mut self, graph: &Graph, choice: Choice) {
        let turn = self.turn;
        match choice {
            Choice::Acquire(at) => {
                let place = usize::from(at);
                let (color, length) = (usize::from(graph.color[place]), graph.length[place]);
                let seat = &mut self.seats[turn];
                seat.hand[color] -= length;
                seat.rails -= length;
                seat.own.push(at);
                seat.paths = None;
                seat.stale |= seat.kind == Kind::Greedy || !seat.wanted.remove(at);
                self.owner[place] = turn as u8;
                self.idle = 0;
                for seated in &mut self.seats {
                    seated.stale |= seated.wanted.as_slice().contains(&at);
                }
                self.free -= 1;
            }
            Choice::Draw if self.deck >= DRAW => {
                self.deck -= DRAW;
                self.seats[turn].draw(DRAW);
                self.idle = 0;
            }
            Choice::Draw => self.idle += 1,
        }
        self.end_turn();
    }

    fn end_turn(&mut self) {
        let turn = self.turn;
        match &mut self.last_turns {
            Some(seats) => seats[turn] = false,
            None if self.seats[turn].rails <= RAILS_LAST => {
                let mut others = [false; SEATS_MAX];
                for (seat, seated) in self.seats.iter().enumerate() {
                    others[seat] = seated.remains && seat != turn;
                }
                self.last_turns = Some(others);
            }
            None => {}
        }
        let remaining = self.seats.iter().filter(|seat| seat.remains).count();
        let last = self.last_turns.is_some_and(|seats| seats == [false; SEATS_MAX]);
        // Nothing changes the points once all connections are held.
        if last || self.free == 0 || usize::from(self.idle) >= remaining {
            self.over = true;
            return;
        }
        loop {
            self.turn = (self.turn + 1) % self.seats.len();
            if self.seats[self.turn].remains {
                return;
            }
        }
    }

    /// Plays the game to its end.
    pub(super) fn finish(&mut self, graph: &Graph, work: &mut Workspace, random: &mut SplitMix64) {
        while !self.over {
            let choice = self.choose(graph, work, random);
            self.act(graph, choice);
        }
    }

    /// The choice of the player to act, according to its kind.
    pub(super) fn choose(
        &mut self,
        graph: &Graph,
        work: &mut Workspace,
        random: &mut SplitMix64,
    ) -> Choice {
        let seat = &self.seats[self.turn];
        if seat.hand.iter().all(|count| *count < LENGTH_MIN) {
            return Choice::Draw;
        }
        let found = match seat.kind {
            Kind::First { hold } if seat.cards() <= u32::from(hold) => None,
            Kind::First { .. } => self.payable(graph).next(),
            Kind::Any => {
                let count = self.payable(graph).count();
                self.payable(graph).nth(random.index(count))
            }
            Kind::Greedy => self.greedy(graph, work),
            Kind::Planner => self.planned(graph, work),
            Kind::Builder => self.built(graph, work),
        };
        found.map_or(Choice::Draw, Choice::Acquire)
    }

    /// The connection that a planner acquires now: part of its plan, or one that lengthens its path.
    fn planned(&mut self, graph: &Graph, work: &mut Workspace) -> Option<u16> {
        if self.seats[self.turn].stale {
            self.plan(graph, work);
        }
        let seat = &self.seats[self.turn];
        // The connection with the fewest alternatives first: somebody may take it.
        let wanted = seat.wanted.as_slice().iter().copied();
        let payable = wanted.filter(|at| self.is_payable(graph, usize::from(*at)));
        let first = payable.min_by_key(|at| self.alternatives(graph, *at));
        if first.is_some() {
            return first;
        }
        // Everything else waits: a turn and cards that go elsewhere put the plan at risk.
        let hurry = self.last_turns.is_some() || self.deck < DRAW;
        if !hurry && seat.wanted.len > 0 {
            return None;
        }
        let paths = seat.paths.unwrap_or_else(|| graph.paths(seat.own.as_slice()));
        self.seats[self.turn].paths = Some(paths);
        let mut best = None;
        for at in self.payable(graph) {
            let worth = self.worth(graph, &paths, at);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// The connection that a greedy player acquires now. It waits while it wants any.
    fn greedy(&mut self, graph: &Graph, work: &mut Workspace) -> Option<u16> {
        if self.seats[self.turn].stale {
            self.plan_shortest(graph, work);
        }
        let seat = &self.seats[self.turn];
        if seat.wanted.len > 0 {
            let mut wanted = seat.wanted.as_slice().iter().copied();
            return wanted.find(|at| self.is_payable(graph, usize::from(*at)));
        }
        let own = || seat.own.as_slice().iter().map(|at| graph.ends[usize::from(*at)]);
        let touches = |at: &u16| {
            let ends = graph.ends[usize::from(*at)];
            own().any(|other| other.iter().any(|city| ends.contains(city)))
                && own().all(|other| other != ends)
        };
        self.payable(graph).max_by_key(|at| (touches(at), graph.length[usize::from(*at)]))
    }

    /// The segments of the shortest way for the player to act, whose connections it leaves in
    /// `work.one`.
    pub(super) fn shortest(&self, graph: &Graph, goal: Goal, work: &mut Workspace) -> Option<u32> {
        work.one.clear();
        work.prices.clear();
        work.prices.extend(self.owner.iter().zip(&graph.length).map(
            |(owner, length)| match *owner {
                FREE => u32::from(*length),
                owner if usize::from(owner) == self.turn => 0,
                _ => CLOSED,
            },
        ));
        graph.way(goal, &mut work.scratch, &work.prices, &mut work.one)
    }

    /// Plans the shortest way for each destination of the player to act, the shorter one first.
    fn plan_shortest(&mut self, graph: &Graph, work: &mut Workspace) {
        let turn = self.turn;
        let mut ways: [Option<(u32, Few)>; 2] = [None; 2];
        for (way, goal) in ways.iter_mut().zip(self.seats[turn].goals) {
            let Some(goal) = goal else { continue };
            let found = self.shortest(graph, goal, work);
            *way = found
                .filter(|segments| *segments <= u32::from(self.seats[turn].rails))
                .map(|segments| (segments, work.one.iter().copied().collect()));
        }
        ways.sort_by_key(|way| way.as_ref().map_or(u32::MAX, |(segments, _)| *segments));
        let seat = &mut self.seats[turn];
        let all = ways.iter().flatten().flat_map(|(_, way)| way.as_slice());
        seat.wanted = all.copied().collect();
        seat.stale = false;
    }

    /// How many free connections join the same cities.
    pub(super) fn alternatives(&self, graph: &Graph, at: u16) -> usize {
        let ends = graph.ends[usize::from(at)];
        let steps = &graph.steps[usize::from(ends[0])];
        let parallel = steps.iter().filter(|step| step.city == ends[1]);
        parallel.filter(|step| self.owner[usize::from(step.connection)] == FREE).count()
    }

    /// How much a connection helps the player to act: by its length, and by what it does for the
    /// longest path now and later.
    fn worth(&self, graph: &Graph, paths: &Paths, at: u16) -> u32 {
        let seat = &self.seats[self.turn];
        let ends = graph.ends[usize::from(at)];
        let length = graph.length[usize::from(at)];
        let longest = paths.longest_with(ends, length).unwrap_or_else(|| {
            let mut own = seat.own;
            own.push(at);
            graph.paths(own.as_slice()).longest
        });
        let [one, other] = ends;
        let extends = |end: u16, far: u16| paths.ends_in(end) && !paths.contains(far);
        let place = if extends(one, other) || extends(other, one) {
            6
        } else if paths.contains(one) != paths.contains(other) {
            2
        } else {
            0
        };
        PATH_GAIN * (longest - paths.longest) + 4 * u32::from(length) + place
    }

    /// Plans the cheapest connections that join both destinations of the player to act, or the
    /// cheaper one if the rails do not suffice for both. Returns the cost of the plan, first by the
    /// number of destinations that it does not join.
    pub(super) fn plan(&mut self, graph: &Graph, work: &mut Workspace) -> (usize, u32) {
        let turn = self.turn;
        let goals = self.seats[turn].goals;
        let mut best: Option<(usize, u32)> = None;
        let mut wanted = Few::default();
        self.set_prices(graph, &mut work.prices);
        for order in [goals, [goals[1], goals[0]]] {
            work.both.clear();
            let (mut cost, mut open, mut segments) = (0, goals.len(), 0);
            let mut was = [0; OWN_MAX];
            for goal in order.into_iter().flatten() {
                work.one.clear();
                let prices = &work.prices;
                let Some(more) = graph.way(goal, &mut work.scratch, prices, &mut work.one) else {
                    continue;
                };
                let one = work.one.iter();
                let length: u32 = one.map(|at| u32::from(graph.length[usize::from(*at)])).sum();
                if segments + length <= u32::from(self.seats[turn].rails) {
                    for at in &work.one {
                        was[work.both.len()] = work.prices[usize::from(*at)];
                        work.prices[usize::from(*at)] = 0;
                        work.both.push(*at);
                    }
                    segments += length;
                    cost += more;
                    open -= 1;
                }
            }
            for (at, was) in work.both.iter().zip(was) {
                work.prices[usize::from(*at)] = was;
            }
            if best.is_none_or(|best| (open, cost) < best) {
                best = Some((open, cost));
                wanted = work.both.iter().copied().collect();
            }
        }
        let seat = &mut self.seats[turn];
        seat.wanted = wanted;
        seat.stale = false;
        best.unwrap_or((0, 0))
    }

    /// The cost of every connection for the player to act, in parts of a turn.
    fn set_prices(&self, graph: &Graph, prices: &mut Vec<u32>) {
        let hand = &self.seats[self.turn].hand;
        prices.clear();
        prices.extend(self.owner.iter().enumerate().map(|(at, owner)| {
            if usize::from(*owner) == self.turn {
                return 0;
            }
            if *owner != FREE {
                return CLOSED;
            }
            let missing = graph.length[at].saturating_sub(hand[usize::from(graph.color[at])]);
            8 + 3 * u32::from(missing) + u32::from(graph.length[at])
        }));
    }

    /// The points of every player, as the rules count them at the end.
    pub(super) fn points(&self, graph: &Graph) -> [i32; SEATS_MAX] {
        let mut points = [0; SEATS_MAX];
        let mut longest = [0; SEATS_MAX];
        for (seat, seated) in self.seats.iter().enumerate().filter(|(_, seat)| seat.remains) {
            let own = seated.own.as_slice();
            points[seat] = own.iter().map(|at| i32::from(graph.length[usize::from(*at)])).sum();
            let paths = graph.paths(own);
            for goal in seated.goals.into_iter().flatten() {
                points[seat] += if Graph::joins(&paths, goal) { 10 } else { -10 };
            }
            longest[seat] = paths.longest;
        }
        let most = longest.into_iter().max().unwrap_or(0);
        for seat in 0..self.seats.len() {
            points[seat] += if most > 0 && longest[seat] == most { 20 } else { 0 };
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::trains::{Config, Trains};
    use agon_games::{Game, Seed, Viewer};

    #[test]
    fn points_of_finished_games_are_those_of_the_rules() {
        for number in 0..40u64 {
            let seats = 2 + (number % 7) as usize;
            let mut game =
                Trains::new(&Config::default(), seats, &Seed::from_number(number)).unwrap();
            let mut random = SplitMix64::new(number);
            while let Some(seat) = game.awaiting().first() {
                let answer = game.playout_answer(seat, random.next_word());
                game.apply(seat, &answer).unwrap();
            }
            let view = game.view(Viewer::Full);
            let graph = Graph::new(&view.map);
            let players = view.players.iter().map(|player| {
                let own = player.acquired.iter().filter_map(|held| view.map.find(held));
                let own: Few = own.map(|at| at as u16).collect();
                let mut seated = Seated::new(player.rails, own, !player.out);
                let goal = |pair| Graph::goal(&view.map, &pair);
                seated.goals = player.destinations.unwrap().map(goal);
                seated
            });
            let rollout = Rollout::new(&graph, players.collect(), 0, 0);
            let points = rollout.points(&graph).map(i64::from);
            assert_eq!(points[..seats], game.outcome().unwrap().scores);
        }
    }

    #[test]
    fn rollouts_end_with_all_connections_held_once() {
        let config = Config::default();
        let graph = Graph::new(&config.map);
        let kinds = [Kind::Planner, Kind::Any, Kind::First { hold: 10 }];
        for number in 0..20 {
            let mut random = SplitMix64::new(number);
            let all = config.map.destinations();
            let players = (0..6).map(|seat| {
                let mut seated = Seated::new(45, Few::default(), true);
                seated.kind = kinds[seat % kinds.len()];
                seated.hand = [1; COLORS];
                seated.goals = std::array::from_fn(|_| Some(all[random.index(all.len())]));
                seated
            });
            let mut game = Rollout::new(&graph, players.collect(), 226, 0);
            game.finish(&graph, &mut Workspace::default(), &mut random);
            for (at, owner) in game.owner.iter().enumerate() {
                let held =
                    game.seats.iter().filter(|seat| seat.own.as_slice().contains(&(at as u16)));
                assert_eq!(held.count(), usize::from(*owner != FREE));
            }
            for seat in &game.seats {
                let used: u8 =
                    seat.own.as_slice().iter().map(|at| graph.length[usize::from(*at)]).sum();
                assert_eq!(seat.rails + used, 45);
            }
        }
    }
}
