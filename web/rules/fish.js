// The rules of Fish, as far as a page needs them: where penguins may be placed and slide to.

/**
 * @typedef {[number, number]} Position row and column
 * @typedef {{color: string, score: number, places: Position[], removed: boolean}} Player
 * @typedef {{you?: number, phase: string, turn: number | null, penguins: number,
 *   board: number[][], players: Player[], since: [Position, Position][]}} View
 */

/** @param {Position} a @param {Position} b */
export const same = (a, b) => a[0] === b[0] && a[1] === b[1];

/**
 * The next position in one of six directions.
 * @param {Position} at @param {number} direction
 */
function next([row, column], direction) {
  const odd = row % 2;
  const steps = [
    [-2, 0],
    [-1, odd],
    [1, odd],
    [2, 0],
    [1, odd - 1],
    [-1, odd - 1],
  ];
  const [rows, columns] = steps[direction];
  return /** @type {Position} */ ([row + rows, column + columns]);
}

/**
 * Tells whether there is a tile without a penguin.
 * @param {{board: number[][], players: {places: Position[]}[]}} view @param {Position} at
 */
export function isFree(view, at) {
  if (!(view.board[at[0]]?.[at[1]] > 0)) return false;
  return !view.players.some((player) => player.places.some((place) => same(place, at)));
}

/**
 * Every free tile.
 * @param {{board: number[][], players: {places: Position[]}[]}} view
 */
export function placements(view) {
  return view.board
    .flatMap((tiles, row) => tiles.map((_, column) => /** @type {Position} */ ([row, column])))
    .filter((at) => isFree(view, at));
}

/**
 * Where the penguin at `from` may slide to.
 * @param {{board: number[][], players: {places: Position[]}[]}} view @param {Position} from
 */
export function slides(view, from) {
  const found = /** @type {Position[]} */ ([]);
  for (let direction = 0; direction < 6; direction++) {
    for (let at = next(from, direction); isFree(view, at); at = next(at, direction)) found.push(at);
  }
  return found;
}
