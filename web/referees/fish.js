// Replays a whole game of Fish from its log, to verify it.

import { Luck } from "../lib/fair.js";
import { isFree, placements, same, slides } from "../rules/fish.js";

/**
 * @typedef {import("../rules/fish.js").Position} Position
 * @typedef {import("../rules/fish.js").View} View
 */

const FISH = 5n;
const TILES_A_WORD = 25;

/**
 * The board that follows from the seed.
 * @param {any} config @param {number} seats @param {Uint8Array} seed
 */
function layOut(config, seats, seed) {
  if (config.board)
    return /** @type {number[][]} */ (config.board.map((/** @type {any} */ r) => [...r]));
  const [rows, columns] = [config.rows ?? 5, config.columns ?? 5];
  const luck = new Luck(seed, "fish");
  const fish = (/** @type {number} */ n) => {
    const word = luck.below(Math.floor(n / TILES_A_WORD), FISH ** BigInt(TILES_A_WORD));
    return 1 + Number((word / FISH ** BigInt(n % TILES_A_WORD)) % FISH);
  };
  const tiles = Array.from({ length: rows * columns }, (_, n) => config.fish ?? fish(n));
  const spare = Math.max(0, rows * columns - seats * (6 - seats));
  const most = Math.min(spare, config.difficulty ?? 0);
  if (most > 0) {
    const holes = new Luck(seed, "holes");
    const count = Number(holes.below(0, BigInt(most + 1)));
    holes
      .shuffle(
        1,
        tiles.map((_, n) => n),
      )
      .slice(0, count)
      .forEach((n) => (tiles[n] = 0));
  }
  return Array.from({ length: rows }, (_, row) => tiles.slice(row * columns, (row + 1) * columns));
}

/** A game that is replayed from its answers. */
export class Referee {
  /** @param {any} config @param {number} seats @param {Uint8Array} seed */
  constructor(config, seats, seed) {
    this.board = layOut(config, seats, seed);
    this.players = Array.from({ length: seats }, () => ({
      places: /** @type {Position[]} */ ([]),
      placed: 0,
      score: 0,
      removed: false,
    }));
    this.quota = 6 - seats;
    /** The confirmations that are due before penguins are placed: two rounds of them. */
    this.phase = config.confirm ? "playing-as" : "place";
    this.waiting = this.players.map((_, seat) => seat);
    /** @type {number | null} */
    this.turn = null;
    if (!config.confirm) this.askToPlace(seats - 1);
    /**
     * The random draws of the latest step.
     * @type {unknown}
     */
    this.drawn = { board: this.board.map((row) => [...row]) };
  }

  /**
   * Applies an answer, or throws what is wrong with it.
   * @param {number} seat @param {any} answer
   */
  take(seat, answer) {
    this.drawn = null;
    if (answer === "ok" && this.waiting.includes(seat) && this.phase.startsWith("playing")) {
      return this.confirm(seat);
    }
    if (seat !== this.turn) throw new Error("it was not this seat's turn");
    const player = this.players[seat];
    if (this.phase === "place" && answer.place) {
      if (!isFree(this, answer.place)) throw new Error(`${answer.place} is not free`);
      player.places.push(answer.place);
      player.placed += 1;
      return this.askToPlace(seat);
    }
    if (this.phase !== "move" || !answer.move)
      throw new Error("the question asked for another kind of answer");
    const [from, to] = answer.move;
    const penguin = player.places.findIndex((place) => same(place, from));
    if (penguin < 0) throw new Error(`no penguin of this seat is at ${from}`);
    if (!slides(this, from).some((at) => same(at, to))) throw new Error(`the penguin cannot slide to ${to}`);
    player.score += this.board[from[0]][from[1]];
    this.board[from[0]][from[1]] = 0;
    player.places[penguin] = to;
    this.askToMove(seat);
  }

  /** @param {number} seat */
  remove(seat) {
    this.drawn = null;
    if (this.phase === "over" || this.players[seat].removed) return;
    const waited = this.waiting.includes(seat);
    this.evict(seat);
    if (!waited) return;
    if (this.phase.startsWith("playing")) this.confirm(seat);
    else if (this.phase === "place") this.askToPlace(seat);
    else this.askToMove(seat);
  }

  /** @param {number} seat */
  evict(seat) {
    this.players[seat].removed = true;
    this.players[seat].places = [];
  }

  /** @param {number} seat */
  confirm(seat) {
    this.waiting = this.waiting.filter((other) => other !== seat);
    if (this.waiting.length) return;
    const staying = this.players.flatMap((player, at) => (player.removed ? [] : [at]));
    if (this.phase === "playing-as" && staying.length) {
      this.phase = "playing-with";
      this.waiting = staying;
    } else {
      this.phase = "place";
      this.askToPlace(this.players.length - 1);
    }
  }

  /** @param {number} last */
  askToPlace(last) {
    for (;;) {
      const seat = this.after(last, (player) => player.placed < this.quota);
      if (seat === undefined) break;
      if (placements(this).length) return this.ask(seat);
      this.evict(seat);
      last = seat;
    }
    this.phase = "move";
    this.askToMove(last);
  }

  /** @param {number} last */
  askToMove(last) {
    const canMove = (/** @type {{places: Position[]}} */ player) =>
      player.places.some((from) => slides(this, from).length > 0);
    const seat = this.after(last, canMove);
    if (seat === undefined) this.phase = "over";
    this.ask(seat);
  }

  /** @param {number | undefined} seat */
  ask(seat) {
    this.turn = seat ?? null;
    this.waiting = seat === undefined ? [] : [seat];
  }

  /**
   * The first seat after `last` that is in the game and wanted.
   * @param {number} last
   * @param {(player: {places: Position[], placed: number}) => boolean} wanted
   */
  after(last, wanted) {
    const count = this.players.length;
    const order = this.players.map((_, step) => (last + 1 + step) % count);
    return order.find((seat) => !this.players[seat].removed && wanted(this.players[seat]));
  }

  over() {
    return this.phase === "over";
  }

  scores() {
    return this.players.map((player) => player.score);
  }

  /**
   * Gives the part of this state that a full view shows, for a comparison.
   * @param {View} view
   */
  shown(view) {
    const player = (/** @type {{places: Position[], score: number}} */ { places, score }) => ({
      places,
      score,
    });
    return {
      view: { board: view.board, turn: view.turn, players: view.players.map(player) },
      here: { board: this.board, turn: this.turn, players: this.players.map(player) },
    };
  }
}
