//! Edmonds' blossom algorithm: a perfect matching of largest total weight in a complete graph.
//!
//! The solver keeps a dual value for each node and each blossom (an odd set of nodes that is
//! contracted to one). The slack of an edge is the sum of the duals of its ends minus twice its
//! weight; it is never negative. The matching uses only tight edges, which have no slack.
//!
//! For each free node the solver grows a tree of alternating paths over tight edges:
//!
//! - The root and every second node on a path are *outer*, the others *inner*.
//! - A tight edge to a node outside the tree extends the tree by that node and its partner.
//! - A tight edge between two outer nodes closes an odd cycle, which becomes an outer blossom.
//! - A tight edge to another free node ends the search: the path to it is flipped.
//! - If no tight edge is left, the duals change until one becomes tight, or until an inner blossom
//!   has a dual of zero and is expanded.
//!
//! All duals stay integers. The nodes of one tree have duals of the same parity, because tight edges
//! connect them, so the slack between two outer nodes is even.

use super::Cost;

/// The role of a blossom or a single node in the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Outside,
    Outer,
    Inner,
}

const NONE: usize = usize::MAX;

/// The state of one run. A *block* is a single node, numbered as the node, or a blossom, numbered
/// from `nodes` on.
pub(super) struct Solver {
    nodes: usize,
    /// The weights of all pairs, row by row.
    weights: Vec<Cost>,
    /// The partner of each node, or `NONE`.
    partner: Vec<usize>,
    /// The dual of each block.
    dual: Vec<Cost>,
    /// The block directly around each block, or `NONE`.
    parent: Vec<usize>,
    /// The outermost block around each node.
    outermost: Vec<usize>,
    /// The blocks of each blossom along its cycle; the first holds the base.
    cycle: Vec<Vec<usize>>,
    /// The edges along the cycle: edge i leads from block i to block i + 1.
    links: Vec<Vec<[usize; 2]>>,
    /// The node of each block whose partner is outside the block.
    base: Vec<usize>,
    role: Vec<Role>,
    /// The edge by which an inner block was reached: from an outer node to a node of the block.
    reached: Vec<[usize; 2]>,
    /// Unused numbers of blossoms.
    unused: Vec<usize>,
    /// Outer nodes whose edges have to be looked at.
    queue: Vec<usize>,
}

impl Solver {
    pub(super) fn new(nodes: usize, weight: impl Fn(usize, usize) -> Cost) -> Solver {
        let blocks = nodes + nodes / 2 + 1;
        let mut weights = vec![0; nodes * nodes];
        for one in 0..nodes {
            for other in one + 1..nodes {
                let weight = weight(one, other);
                weights[one * nodes + other] = weight;
                weights[other * nodes + one] = weight;
            }
        }
        let best = |node: usize| {
            let others = (0..nodes).filter(|other| *other != node);
            others.map(|other| weights[node * nodes + other]).max().unwrap_or(0)
        };
        let mut dual: Vec<Cost> = (0..nodes).map(best).collect();
        dual.resize(blocks, 0);
        Solver {
            nodes,
            weights,
            partner: vec![NONE; nodes],
            dual,
            parent: vec![NONE; blocks],
            outermost: (0..nodes).collect(),
            cycle: vec![Vec::new(); blocks],
            links: vec![Vec::new(); blocks],
            base: (0..blocks).collect(),
            role: vec![Role::Outside; blocks],
            reached: vec![[NONE; 2]; blocks],
            unused: (nodes..blocks).rev().collect(),
            queue: Vec::new(),
        }
    }

    /// Finds a perfect matching of largest weight.
    pub(super) fn solve(&mut self, preferred: impl IntoIterator<Item = (usize, usize)>) {
        preferred.into_iter().for_each(|(one, other)| self.match_if_tight(one, other));
        for one in 0..self.nodes {
            (one + 1..self.nodes).for_each(|other| self.match_if_tight(one, other));
        }
        for root in 0..self.nodes {
            if self.partner[root] == NONE {
                self.augment_from(root);
            }
        }
    }

    /// The partner of each node.
    pub(super) fn partners(&self) -> &[usize] {
        &self.partner
    }

    /// The blossoms with a dual around a node, from the inside.
    pub(super) fn blossoms(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = |block: usize| Some(self.parent[block]).filter(|parent| *parent != NONE);
        let all = std::iter::successors(parent(node), move |block| parent(*block));
        all.filter(|block| self.dual[*block] > 0)
    }

    fn weight(&self, one: usize, other: usize) -> Cost {
        self.weights[one * self.nodes + other]
    }

    /// The slack of a pair of nodes if it had this weight.
    pub(super) fn slack(&self, one: usize, other: usize, weight: Cost) -> Cost {
        let slack = self.dual[one] + self.dual[other] - 2 * weight;
        // Blossoms that hold both nodes add their duals.
        let common = self.blossoms(one).filter(|block| self.blossoms(other).any(|b| b == *block));
        slack + common.map(|block| self.dual[block]).sum::<Cost>()
    }

    /// Matches two free nodes if they are tight at the start.
    fn match_if_tight(&mut self, one: usize, other: usize) {
        let is_free = self.partner[one] == NONE && self.partner[other] == NONE;
        if is_free && self.dual[one] + self.dual[other] == 2 * self.weight(one, other) {
            (self.partner[one], self.partner[other]) = (other, one);
        }
    }

    /// Grows a tree from a free node until it reaches another, and flips the path between them.
    fn augment_from(&mut self, root: usize) {
        self.role.fill(Role::Outside);
        self.queue.clear();
        self.make_outer(self.outermost[root]);
        loop {
            while let Some(node) = self.queue.pop() {
                if self.scan(node) {
                    return self.dissolve_outer();
                }
            }
            self.change_duals();
        }
    }

    fn make_outer(&mut self, block: usize) {
        self.role[block] = Role::Outer;
        let mut nodes = std::mem::take(&mut self.queue);
        self.each_node(block, &mut |node| nodes.push(node));
        self.queue = nodes;
    }

    fn each_node(&self, block: usize, take: &mut impl FnMut(usize)) {
        match block < self.nodes {
            true => take(block),
            false => self.cycle[block].iter().for_each(|child| self.each_node(*child, take)),
        }
    }

    /// Looks at the tight edges of an outer node; `true` if the tree reached a free node.
    fn scan(&mut self, node: usize) -> bool {
        for other in 0..self.nodes {
            let block = self.outermost[other];
            let is_tight = self.dual[node] + self.dual[other] == 2 * self.weight(node, other);
            if self.outermost[node] == block || !is_tight {
                continue;
            }
            match self.role[block] {
                Role::Inner => {}
                Role::Outer => self.contract(node, other),
                Role::Outside => {
                    let across = self.partner[self.base[block]];
                    if across == NONE {
                        self.flip(node, other);
                        return true;
                    }
                    self.role[block] = Role::Inner;
                    self.reached[block] = [node, other];
                    self.make_outer(self.outermost[across]);
                }
            }
        }
        false
    }

    /// The outer block above an outer block, over the inner one between; `None` for the root.
    fn above(&self, outer: usize) -> Option<(usize, usize)> {
        let across = self.partner[self.base[outer]];
        if across == NONE {
            return None;
        }
        let inner = self.outermost[across];
        Some((inner, self.outermost[self.reached[inner][0]]))
    }

    /// The outer block at which the paths from two outer blocks to the root meet.
    fn meeting(&self, one: usize, other: usize) -> usize {
        let path = |from: usize| {
            std::iter::successors(Some(from), |block| self.above(*block).map(|(_, outer)| outer))
        };
        let mut seen = vec![false; self.role.len()];
        let (mut left, mut right) = (path(one), path(other));
        // Both sides take turns, so that a short cycle deep in the tree is found quickly.
        loop {
            for step in [left.next(), right.next()].into_iter().flatten() {
                if std::mem::replace(&mut seen[step], true) {
                    return step;
                }
            }
        }
    }

    /// The blocks from an outer block up to, and without, `top`, with the edge behind each.
    fn path_up(&self, from: usize, top: usize) -> (Vec<usize>, Vec<[usize; 2]>) {
        let (mut blocks, mut links) = (Vec::new(), Vec::new());
        let mut outer = from;
        while outer != top {
            let (inner, next) = self.above(outer).expect("the paths meet before the root");
            let base = self.base[outer];
            let [from, to] = self.reached[inner];
            blocks.extend([outer, inner]);
            links.extend([[base, self.partner[base]], [to, from]]);
            outer = next;
        }
        (blocks, links)
    }

    /// Makes a blossom of the cycle that a tight edge between two outer nodes closes.
    fn contract(&mut self, one: usize, other: usize) {
        let (left, right) = (self.outermost[one], self.outermost[other]);
        let top = self.meeting(left, right);
        let (mut blocks, mut links) = self.path_up(left, top);
        blocks.push(top);
        blocks.reverse();
        links.reverse();
        links.iter_mut().for_each(|link| link.reverse());
        links.push([one, other]);
        let (down, down_links) = self.path_up(right, top);
        blocks.extend(down);
        links.extend(down_links);
        let blossom = self.unused.pop().expect("at most half as many blossoms as nodes");
        for child in &blocks {
            self.parent[*child] = blossom;
            if self.role[*child] == Role::Inner {
                self.make_outer(*child);
            }
        }
        self.base[blossom] = self.base[top];
        (self.parent[blossom], self.dual[blossom]) = (NONE, 0);
        (self.cycle[blossom], self.links[blossom]) = (blocks, links);
        self.role[blossom] = Role::Outer;
        self.set_outermost(blossom, blossom);
    }

    fn set_outermost(&mut self, block: usize, outermost: usize) {
        let mut places = std::mem::take(&mut self.outermost);
        self.each_node(block, &mut |node| places[node] = outermost);
        self.outermost = places;
    }

    /// Matches an outer node with a node of a free block, and flips the path up to the root.
    fn flip(&mut self, outer: usize, free: usize) {
        self.rebase(self.outermost[free], free);
        self.partner[free] = outer;
        let (mut node, mut new) = (outer, free);
        loop {
            let block = self.outermost[node];
            let old = self.partner[self.base[block]];
            self.rebase(block, node);
            self.partner[node] = new;
            if old == NONE {
                return;
            }
            let inner = self.outermost[old];
            let [above, entry] = self.reached[inner];
            self.rebase(inner, entry);
            self.partner[entry] = above;
            (node, new) = (above, entry);
        }
    }

    /// Rearranges the partners inside a block such that `node` becomes its base.
    fn rebase(&mut self, block: usize, node: usize) {
        if block < self.nodes {
            return;
        }
        let child = self.child_with(block, node);
        self.rebase(child, node);
        let length = self.cycle[block].len();
        let place = self.place_in_cycle(block, child);
        // The blocks on the even way from the new base to the old one change their partners.
        let first = if place.is_multiple_of(2) { 0 } else { place + 1 };
        let end = if place.is_multiple_of(2) { place } else { length };
        for at in (first..end).step_by(2) {
            let [from, to] = self.links[block][at];
            self.rebase(self.cycle[block][at], from);
            self.rebase(self.cycle[block][(at + 1) % length], to);
            (self.partner[from], self.partner[to]) = (to, from);
        }
        self.cycle[block].rotate_left(place);
        self.links[block].rotate_left(place);
        self.base[block] = node;
    }

    fn child_with(&self, block: usize, node: usize) -> usize {
        let mut child = node;
        while self.parent[child] != block {
            child = self.parent[child];
        }
        child
    }

    fn place_in_cycle(&self, block: usize, child: usize) -> usize {
        let place = self.cycle[block].iter().position(|one| *one == child);
        place.expect("a block is in the cycle of its parent")
    }

    /// Changes the duals until an edge becomes tight or an inner blossom can be expanded. There is
    /// always such a limit, because a complete graph with an even number of nodes has a perfect
    /// matching.
    fn change_duals(&mut self) {
        let outer: Vec<usize> = (0..self.nodes)
            .filter(|node| self.role[self.outermost[*node]] == Role::Outer)
            .collect();
        let limits: Vec<Option<Cost>> = outer.iter().map(|node| self.limit(*node)).collect();
        let blossoms: Vec<usize> = (self.nodes..self.role.len())
            .filter(|block| !self.cycle[*block].is_empty() && self.parent[*block] == NONE)
            .collect();
        let inner = blossoms.iter().filter(|block| self.role[**block] == Role::Inner);
        let inner = inner.map(|block| self.dual[*block] / 2);
        let least = limits.iter().copied().flatten().chain(inner).min();
        let by = least.expect("a complete graph has a perfect matching");
        for node in 0..self.nodes {
            match self.role[self.outermost[node]] {
                Role::Outer => self.dual[node] -= by,
                Role::Inner => self.dual[node] += by,
                Role::Outside => {}
            }
        }
        // Only nodes with an edge that has become tight have to be looked at again.
        let tight = outer.iter().zip(limits).filter(|(_, limit)| *limit == Some(by));
        self.queue = tight.map(|(node, _)| *node).collect();
        for block in blossoms {
            match self.role[block] {
                Role::Outer => self.dual[block] += 2 * by,
                Role::Inner => self.dual[block] -= 2 * by,
                Role::Outside => {}
            }
            if self.role[block] == Role::Inner && self.dual[block] == 0 {
                self.expand_inner(block);
                self.queue = (0..self.nodes)
                    .filter(|node| self.role[self.outermost[*node]] == Role::Outer)
                    .collect();
            }
        }
    }

    /// How far the duals can change until an edge of an outer node becomes tight.
    fn limit(&self, node: usize) -> Option<Cost> {
        let own = self.outermost[node];
        let row = &self.weights[node * self.nodes..][..self.nodes];
        let limits = row.iter().enumerate().filter_map(|(other, weight)| {
            let block = self.outermost[other];
            let slack = self.dual[node] + self.dual[other] - 2 * weight;
            match self.role[block] {
                Role::Outside => Some(slack),
                Role::Outer if block != own => Some(slack / 2),
                Role::Outer | Role::Inner => None,
            }
        });
        limits.min()
    }

    /// Replaces an inner blossom by its blocks. Those on the even way from the entry to the base
    /// stay in the tree.
    fn expand_inner(&mut self, blossom: usize) {
        let [above, entry] = self.reached[blossom];
        let child = self.child_with(blossom, entry);
        let place = self.place_in_cycle(blossom, child);
        let (cycle, links) = self.dissolve(blossom);
        let length = cycle.len();
        cycle.iter().for_each(|child| self.role[*child] = Role::Outside);
        let mut edge = [above, entry];
        let mut at = place;
        loop {
            self.role[cycle[at]] = Role::Inner;
            self.reached[cycle[at]] = edge;
            if at == 0 {
                return;
            }
            // The partner of the inner block is the next one on the way; it is outer.
            let (outer, next, link) = match place.is_multiple_of(2) {
                true => (at - 1, at - 2, [links[at - 2][1], links[at - 2][0]]),
                false => (at + 1, (at + 2) % length, links[at + 1]),
            };
            self.role[cycle[outer]] = Role::Outer;
            edge = link;
            at = next;
        }
    }

    /// Removes a blossom, and returns its cycle.
    fn dissolve(&mut self, blossom: usize) -> (Vec<usize>, Vec<[usize; 2]>) {
        let cycle = std::mem::take(&mut self.cycle[blossom]);
        for child in &cycle {
            self.parent[*child] = NONE;
            self.set_outermost(*child, *child);
        }
        self.unused.push(blossom);
        (cycle, std::mem::take(&mut self.links[blossom]))
    }

    /// Removes the blossoms without a dual at the end of a search, except inner ones: they are
    /// expanded when they get in the way.
    fn dissolve_outer(&mut self) {
        for blossom in self.nodes..self.role.len() {
            let is_outermost = !self.cycle[blossom].is_empty() && self.parent[blossom] == NONE;
            if is_outermost && self.role[blossom] == Role::Outer && self.dual[blossom] == 0 {
                let (cycle, _) = self.dissolve(blossom);
                cycle.iter().for_each(|child| self.role[*child] = Role::Outer);
            }
        }
    }
}
