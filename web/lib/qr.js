// QR codes (ISO/IEC 18004): bytes, error correction of level M, versions 1 to 10. That is enough
// for an address of 213 bytes.

import { svg } from "./dom.js";

/** Bits of level M in the format. */
const LEVEL = 0;

/**
 * By version: codewords of error correction per block, and the data codewords of every block.
 * @type {[number, number[]][]} */
const BLOCKS = [
  [10, [16]],
  [16, [28]],
  [26, [44]],
  [18, [32, 32]],
  [24, [43, 43]],
  [16, [27, 27, 27, 27]],
  [18, [31, 31, 31, 31]],
  [22, [38, 38, 39, 39]],
  [22, [36, 36, 36, 37, 37]],
  [26, [43, 43, 43, 43, 44]],
];

/** Centres of the alignment patterns, by version. */
const ALIGNED = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

/** The eight masks: whether a module at this row and column is inverted. */
const MASKS = [
  (/** @type {number} */ r, /** @type {number} */ c) => (r + c) % 2 === 0,
  (/** @type {number} */ r) => r % 2 === 0,
  (/** @type {number} */ _, /** @type {number} */ c) => c % 3 === 0,
  (/** @type {number} */ r, /** @type {number} */ c) => (r + c) % 3 === 0,
  (/** @type {number} */ r, /** @type {number} */ c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (/** @type {number} */ r, /** @type {number} */ c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (/** @type {number} */ r, /** @type {number} */ c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (/** @type {number} */ r, /** @type {number} */ c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/** A field of modules: dark or not, and whether a module belongs to the data. */
class Field {
  /** @param {number} version */
  constructor(version) {
    this.size = 17 + 4 * version;
    this.dark = Array.from({ length: this.size }, () => Array(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => Array(this.size).fill(false));
  }

  /** @param {number} row @param {number} column @param {boolean} dark */
  fix(row, column, dark) {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.dark[row][column] = dark;
    this.fixed[row][column] = true;
  }
}

/**
 * The modules of a text: rows of dark (true) and light (false).
 * @param {string} text @returns {boolean[][]}
 */
export function modules(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = versionFor(bytes.length);
  const words = interleaved(version, dataWords(version, bytes));
  const field = new Field(version);
  drawPatterns(field, version);
  drawData(field, words);
  let best = { penalty: Infinity, mask: 0 };
  for (let mask = 0; mask < 8; mask += 1) {
    applyMask(field, mask);
    drawFormat(field, mask);
    const penalty = penaltyOf(field.dark);
    if (penalty < best.penalty) best = { penalty, mask };
    applyMask(field, mask);
  }
  applyMask(field, best.mask);
  drawFormat(field, best.mask);
  return field.dark;
}

/** @param {number} length in bytes */
function versionFor(length) {
  for (const [index, [, blocks]] of BLOCKS.entries()) {
    const room = blocks.reduce((sum, words) => sum + words, 0);
    // A mode of 4 bits, and a length of 8 bits up to version 9, of 16 bits beyond.
    const head = index + 1 < 10 ? 2 : 3;
    if (length + head <= room) return index + 1;
  }
  throw new RangeError("the text is too long for a QR code");
}

/** @param {number} version @param {number[]} bytes */
function dataWords(version, bytes) {
  const room = BLOCKS[version - 1][1].reduce((sum, words) => sum + words, 0);
  /** @type {number[]} */
  const bits = [];
  const put = (/** @type {number} */ value, /** @type {number} */ length) => {
    for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, room * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  const words = [];
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((word, bit) => word * 2 + bit, 0));
  for (let filler = 0xec; words.length < room; filler ^= 0xec ^ 0x11) words.push(filler);
  return words;
}

/** Powers of 2 in the field of 256 elements, and their logarithms. */
const [EXP, LOG] = (() => {
  const exp = new Uint8Array(255);
  const log = new Uint8Array(256);
  for (let power = 0, value = 1; power < 255; power += 1) {
    exp[power] = value;
    log[value] = power;
    value = (value << 1) ^ (value & 128 ? 0x11d : 0);
  }
  return [exp, log];
})();

/** @param {number} one @param {number} other */
const times = (one, other) => (one && other ? EXP[(LOG[one] + LOG[other]) % 255] : 0);

/**
 * The codewords of error correction (Reed–Solomon).
 * @param {number[]} data @param {number} count
 */
function correction(data, count) {
  let divisor = [1];
  for (let power = 0; power < count; power += 1) {
    const next = [...divisor, 0];
    divisor.forEach((factor, at) => (next[at + 1] ^= times(factor, EXP[power])));
    divisor = next;
  }
  const rest = [...data, ...Array(count).fill(0)];
  for (let at = 0; at < data.length; at += 1) {
    const factor = rest[at];
    divisor.forEach((value, offset) => (rest[at + offset] ^= times(value, factor)));
  }
  return rest.slice(data.length);
}

/**
 * The codewords of all blocks, one of each in turn.
 * @param {number} version @param {number[]} words
 */
function interleaved(version, words) {
  const [count, lengths] = BLOCKS[version - 1];
  let at = 0;
  const blocks = lengths.map((length) => words.slice(at, (at += length)));
  const checks = blocks.map((block) => correction(block, count));
  const inTurn = (/** @type {number[][]} */ lists) => {
    const most = Math.max(...lists.map((list) => list.length));
    return Array.from({ length: most }, (_, index) =>
      lists.flatMap((list) => (index < list.length ? [list[index]] : [])),
    ).flat();
  };
  return [...inTurn(blocks), ...inTurn(checks)];
}

/** @param {Field} field @param {number} version */
function drawPatterns(field, version) {
  const { size } = field;
  for (let at = 0; at < size; at += 1) {
    field.fix(6, at, at % 2 === 0);
    field.fix(at, 6, at % 2 === 0);
  }
  for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]])
    for (let down = -4; down <= 4; down += 1)
      for (let right = -4; right <= 4; right += 1) {
        const ring = Math.max(Math.abs(down), Math.abs(right));
        field.fix(row + down, column + right, ring !== 2 && ring !== 4);
      }
  const centres = ALIGNED[version - 1];
  const last = centres.length - 1;
  centres.forEach((row, i) =>
    centres.forEach((column, j) => {
      // The corners hold the large patterns.
      if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
      for (let down = -2; down <= 2; down += 1)
        for (let right = -2; right <= 2; right += 1)
          field.fix(row + down, column + right, Math.max(Math.abs(down), Math.abs(right)) !== 1);
    }),
  );
  drawFormat(field, 0);
  if (version >= 7) drawVersion(field, version);
}

/**
 * The level and the mask, twice.
 * @param {Field} field @param {number} mask
 */
function drawFormat(field, mask) {
  const { size } = field;
  const data = (LEVEL << 3) | mask;
  let rest = data;
  for (let bit = 0; bit < 10; bit += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412;
  const dark = (/** @type {number} */ bit) => ((bits >> bit) & 1) === 1;
  for (let bit = 0; bit <= 5; bit += 1) field.fix(bit, 8, dark(bit));
  field.fix(7, 8, dark(6));
  field.fix(8, 8, dark(7));
  field.fix(8, 7, dark(8));
  for (let bit = 9; bit < 15; bit += 1) field.fix(8, 14 - bit, dark(bit));
  for (let bit = 0; bit < 8; bit += 1) field.fix(8, size - 1 - bit, dark(bit));
  for (let bit = 8; bit < 15; bit += 1) field.fix(size - 15 + bit, 8, dark(bit));
  field.fix(size - 8, 8, true);
}

/** @param {Field} field @param {number} version */
function drawVersion(field, version) {
  let rest = version;
  for (let bit = 0; bit < 12; bit += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let bit = 0; bit < 18; bit += 1) {
    const [far, near] = [field.size - 11 + (bit % 3), Math.floor(bit / 3)];
    field.fix(near, far, ((bits >> bit) & 1) === 1);
    field.fix(far, near, ((bits >> bit) & 1) === 1);
  }
}

/** @param {Field} field @param {number[]} words */
function drawData(field, words) {
  const { size } = field;
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    // The vertical timing pattern takes no data.
    if (right === 6) right = 5;
    const upward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step += 1) {
      const row = upward ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (field.fixed[row][column]) continue;
        field.dark[row][column] = ((words[at >> 3] >> (7 - (at & 7))) & 1) === 1;
        at += 1;
      }
    }
  }
}

/** @param {Field} field @param {number} mask */
function applyMask(field, mask) {
  for (let row = 0; row < field.size; row += 1)
    for (let column = 0; column < field.size; column += 1)
      if (!field.fixed[row][column] && MASKS[mask](row, column))
        field.dark[row][column] = !field.dark[row][column];
}

/**
 * How hard the modules are to read; the mask with the lowest value is used.
 * @param {boolean[][]} dark
 */
function penaltyOf(dark) {
  const size = dark.length;
  const columns = dark.map((_, column) => dark.map((row) => row[column]));
  let penalty = 0;
  for (const line of [...dark, ...columns]) {
    let run = 1;
    for (let at = 1; at <= size; at += 1) {
      if (at < size && line[at] === line[at - 1]) run += 1;
      else {
        if (run >= 5) penalty += run - 2;
        run = 1;
      }
    }
    const text = line.map((one) => (one ? "1" : "0")).join("");
    for (const shape of ["10111010000", "00001011101"])
      for (let at = text.indexOf(shape); at >= 0; at = text.indexOf(shape, at + 1)) penalty += 40;
  }
  for (let row = 1; row < size; row += 1)
    for (let column = 1; column < size; column += 1) {
      const one = dark[row][column];
      const same =
        one === dark[row - 1][column] &&
        one === dark[row][column - 1] &&
        one === dark[row - 1][column - 1];
      if (same) penalty += 3;
    }
  const share = dark.flat().filter(Boolean).length / (size * size);
  return penalty + 10 * Math.floor(Math.abs(share * 100 - 50) / 5);
}

/**
 * A QR code as a picture, dark on light in every theme, with the quiet zone around it.
 * @param {string} text @param {string} label
 */
export function qr(text, label) {
  const rows = modules(text);
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : "")))
    .join("");
  const size = rows.length + 8;
  return svg(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label },
    svg("rect", { width: size, height: size, fill: "#fff" }),
    svg("path", { d: path, fill: "#000" }),
  );
}
