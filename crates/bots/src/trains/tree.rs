//! The next few choices of one seat, compared while rollouts are played.
//!
//! A node stands for some choices of the seat, whatever cards it drew and whatever the others did
//! between them. Choices with good results are played more often, first of all the usual one. So a
//! rollout shows what a choice is worth to a player that goes on well.

use super::graph::Graph;
use super::rollout::{Choice, Rollout};

/// A node is opened after this many rollouts through it.
const OPEN_AFTER: u32 = 4;

/// How likely the usual choice is the best one; the others share the rest.
const USUAL: f64 = 0.6;

/// The results of the rollouts through one node.
#[derive(Clone, Debug, Default)]
struct Node {
    count: u32,
    sum: f64,
    next: Vec<(Choice, usize)>,
}

/// The choices after a first one.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The nodes that the current rollout went through.
    line: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { nodes: vec![Node::default()], line: Vec::new() }
    }
}

impl Tree {
    /// Begins a rollout.
    pub(super) fn begin(&mut self) {
        self.line.clear();
        self.line.push(0);
    }

    /// The next choice of the player to act, or `None` if too few rollouts came here. `usual` is
    /// what it does without a tree.
    pub(super) fn choose(
        &mut self,
        graph: &Graph,
        game: &Rollout,
        usual: Choice,
    ) -> Option<Choice> {
        let at = *self.line.last()?;
        let node = &self.nodes[at];
        if node.count < OPEN_AFTER {
            return None;
        }
        let effort = f64::from(node.count).sqrt();
        let mean = node.sum / f64::from(node.count);
        let others = game.payable(graph).count().max(1) as f64;
        let mut best = (f64::MIN, Choice::Draw, None);
        let acquire = game.payable(graph).map(Choice::Acquire);
        for choice in std::iter::once(Choice::Draw).chain(acquire) {
            let found = node.next.iter().find(|(other, _)| *other == choice);
            let found = found.map(|(_, next)| *next);
            let likely = if choice == usual { USUAL } else { (1.0 - USUAL) / others };
            // A new node begins with the mean of its parent.
            let (count, sum) =
                found.map_or((0, 0.0), |next| (self.nodes[next].count, self.nodes[next].sum));
            let visits = f64::from(count + 1);
            let score = (sum + mean) / visits + likely * effort / visits;
            if score > best.0 {
                best = (score, choice, found);
            }
        }
        let (_, choice, found) = best;
        let next = found.unwrap_or_else(|| {
            self.nodes.push(Node::default());
            let next = self.nodes.len() - 1;
            self.nodes[at].next.push((choice, next));
            next
        });
        self.line.push(next);
        Some(choice)
    }

    /// Adds the value of the current rollout.
    pub(super) fn add(&mut self, value: f64) {
        for at in &self.line {
            let node = &mut self.nodes[*at];
            node.count += 1;
            node.sum += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rollout::{COLORS, Few, Seated};
    use super::*;
    use agon_games::trains::{Config, RAILS};

    #[test]
    fn tree_follows_the_usual_choice_until_another_one_has_better_results() {
        let graph = Graph::new(&Config::default().map);
        let mut player = Seated::new(RAILS, Few::default(), true);
        player.hand = [3; COLORS];
        let game = Rollout::new(&graph, vec![player], 100, 0);
        let usual = game.payable(&graph).next().map(Choice::Acquire).unwrap();
        let better = game.payable(&graph).nth(3).map(Choice::Acquire).unwrap();
        let mut tree = Tree::default();
        let mut choices = Vec::new();
        for _ in 0..400 {
            tree.begin();
            let choice = tree.choose(&graph, &game, usual);
            tree.add(if choice == Some(better) { 0.5 } else { -0.5 });
            choices.push(choice);
        }
        let opens = OPEN_AFTER as usize;
        assert_eq!(choices[..opens], vec![None; opens]);
        assert_eq!(choices[opens], Some(usual));
        let late = choices[200..].iter().filter(|choice| **choice == Some(better)).count();
        assert!(late > 150, "{late} of 200");
    }
}
