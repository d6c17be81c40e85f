// @ts-check
/**
 * Fair luck in JavaScript: SHA-256, HMAC, ChaCha20 and the numbers read from its stream, exactly as
 * docs/protocol/log.md defines them. It is implemented here because a page without TLS has no
 * `crypto.subtle`, and because a saved replay must still verify itself in ten years.
 */

const PRIMES = (() => {
  const found = /** @type {number[]} */ ([]);
  for (let n = 2; found.length < 64; n++) if (found.every((p) => n % p)) found.push(n);
  return found;
})();

/**
 * The first 32 bits of the fraction of `x`.
 * @param {number} x
 */
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUND = PRIMES.map((p) => fraction(Math.cbrt(p)));
const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));

/** @param {number} x @param {number} n */
const right = (x, n) => (x >>> n) | (x << (32 - n));
/** @param {number} x @param {number} n */
const left = (x, n) => (x << n) | (x >>> (32 - n));

/** @param {Uint8Array} bytes @returns {Uint8Array} */
export function sha256(bytes) {
  const length = ((bytes.length + 8) >> 6) + 1;
  const padded = new Uint8Array(length * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = Int32Array.from(START);
  const w = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        w[i] = view.getInt32(block + i * 4);
        continue;
      }
      const [x, y] = [w[i - 15], w[i - 2]];
      const s0 = right(x, 7) ^ right(x, 18) ^ (x >>> 3);
      const s1 = right(y, 17) ^ right(y, 19) ^ (y >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
      const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      // Separate variables: an array for every round would take most of the time.
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (hash[i] += x));
  }
  const out = new DataView(new ArrayBuffer(32));
  hash.forEach((x, i) => out.setInt32(i * 4, x));
  return new Uint8Array(out.buffer);
}

/** @param {Uint8Array[]} parts */
export function joined(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param {Uint8Array} key at most 64 bytes @param {Uint8Array} message */
export function hmac(key, message) {
  const pad = (/** @type {number} */ byte) => {
    const block = new Uint8Array(64).fill(byte);
    key.forEach((x, i) => (block[i] ^= x));
    return block;
  };
  return sha256(joined(pad(0x5c), sha256(joined(pad(0x36), message))));
}

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

/**
 * 32 bytes from their 64 hexadecimal digits; throws an error that says what is wrong.
 * @param {unknown} text
 */
export function fromHex(text) {
  if (typeof text !== "string" || !/^[0-9a-f]{64}$/.test(text)) {
    throw new Error("64 hexadecimal digits were expected");
  }
  return Uint8Array.from({ length: 32 }, (_, i) => parseInt(text.slice(i * 2, i * 2 + 2), 16));
}

/**
 * The commitment to a secret, which is published before the secret.
 * @param {Uint8Array} secret
 */
export const commitment = (secret) => toHex(sha256(joined(utf8("agon commit 1\n"), secret)));

/** @param {Uint8Array} tournament @param {string} match */
export const matchSecret = (tournament, match) => hmac(tournament, utf8(`agon match 1\n${match}`));

/** @param {Uint8Array} match @param {number} game */
export const gameSecret = (match, game) => hmac(match, utf8(`agon game 1\n${game}`));

/**
 * The seed of a game's luck.
 * @param {Uint8Array} secret that of the game
 * @param {string} tournament @param {string} match @param {number} game
 * @param {(string | null)[]} nonces by seat
 */
export function gameSeed(secret, tournament, match, game, nonces) {
  const names = [tournament, match, game, ...nonces.map((nonce) => nonce ?? "")];
  return hmac(secret, utf8(`agon seed 1\n${names.join("\n")}`));
}

/**
 * The sixteen words of a ChaCha20 block.
 * @param {Uint32Array} input
 */
function chacha(input) {
  const x = Uint32Array.from(input);
  const quarter = (/** @type {number[]} */ ...[a, b, c, d]) => {
    x[a] += x[b];
    x[d] = left(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = left(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = left(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = left(x[b] ^ x[c], 7);
  };
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 4; i++) quarter(i, i + 4, i + 8, i + 12);
    for (let i = 0; i < 4; i++) {
      quarter(i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
    }
  }
  return x.map((word, i) => word + input[i]);
}

const WORDS = 2n ** 64n;

/** The stream of one label, read by index. */
export class Luck {
  /** @param {Uint8Array} seed @param {string} label up to eight ASCII characters */
  constructor(seed, label) {
    const nonce = new Uint8Array(8);
    nonce.set(utf8(label));
    const constant = utf8("expand 32-byte k");
    const view = new DataView(joined(constant, seed, new Uint8Array(8), nonce).buffer);
    this.input = Uint32Array.from({ length: 16 }, (_, i) => view.getUint32(i * 4, true));
    this.at = -1;
    this.block = this.input;
  }

  /** @param {number} index @param {number} attempt @returns {bigint} */
  word(index, attempt = 0) {
    const counter = Math.floor(index / 8);
    const at = counter + attempt * 2 ** 32;
    if (at !== this.at) {
      this.input[12] = counter;
      this.input[13] = attempt;
      [this.at, this.block] = [at, chacha(this.input)];
    }
    const low = 2 * (index % 8);
    return BigInt(this.block[low]) | (BigInt(this.block[low + 1]) << 32n);
  }

  /**
   * An unbiased number below `n`.
   * @param {number} index @param {bigint} n
   */
  below(index, n) {
    const end = (WORDS / n) * n;
    for (let attempt = 0; ; attempt++) {
      const word = this.word(index, attempt);
      if (word < end) return word % n;
    }
  }

  /**
   * Shuffles in place.
   * @template T @param {number} start @param {T[]} things
   */
  shuffle(start, things) {
    for (let j = things.length - 1; j > 0; j--) {
      const other = Number(this.below(start + things.length - 1 - j, BigInt(j + 1)));
      [things[j], things[other]] = [things[other], things[j]];
    }
    return things;
  }
}
