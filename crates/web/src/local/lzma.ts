// A decoder of LZMA, after the format's specification (7-zip's lzma.txt). Browsers unpack gzip
// only,
// and a module packed that way has a third more bytes.

/** Probabilities have 11 bits, and adapt by a 32nd of what they were wrong. */
const HALF = 1024;
const ADAPT = 5;

class RangeDecoder {
  readonly #bytes: Uint8Array;
  #at: number;
  #range = 0xffffffff;
  #code = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    // The first byte is always zero.
    this.#at = at + 1;
    for (let byte = 0; byte < 4; byte += 1) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error("the packed data is cut off");
    this.#at += 1;
    return byte;
  }

  #normalize(): void {
    if (this.#range >= 0x1000000) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  bit(probabilities: Uint16Array, index: number): number {
    const probability = probabilities[index] ?? HALF;
    const bound = (this.#range >>> 11) * probability;
    let bit = 0;
    if (this.#code < bound) {
      this.#range = bound;
      probabilities[index] = probability + ((2048 - probability) >>> ADAPT);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      probabilities[index] = probability - (probability >>> ADAPT);
      bit = 1;
    }
    this.#normalize();
    return bit;
  }

  /** Bits that have no probability of their own. */
  direct(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = ((value << 1) | bit) >>> 0;
      this.#normalize();
    }
    return value;
  }

  /** A number of `bits` bits, the highest first. */
  tree(probabilities: Uint16Array, bits: number, from = 0): number {
    let node = 1;
    for (let left = bits; left > 0; left -= 1) node = (node << 1) | this.bit(probabilities, from + node);
    return node - (1 << bits);
  }

  /** A number of `bits` bits, the lowest first. */
  reversedTree(probabilities: Uint16Array, bits: number, from = 0): number {
    let [node, value] = [1, 0];
    for (let at = 0; at < bits; at += 1) {
      const bit = this.bit(probabilities, from + node);
      node = (node << 1) | bit;
      value |= bit << at;
    }
    return value;
  }
}

const fresh = (count: number): Uint16Array => new Uint16Array(count).fill(HALF);

/** Lengths of matches: short, middle or long. */
class Lengths {
  readonly #choice = fresh(2);
  readonly #short = fresh(16 << 3);
  readonly #middle = fresh(16 << 3);
  readonly #long = fresh(256);

  read(decoder: RangeDecoder, place: number): number {
    if (decoder.bit(this.#choice, 0) === 0) return 2 + decoder.tree(this.#short, 3, place << 3);
    if (decoder.bit(this.#choice, 1) === 0) return 10 + decoder.tree(this.#middle, 3, place << 3);
    return 18 + decoder.tree(this.#long, 8);
  }
}

/** Unpacks a file of `xz --format=lzma` or Python's `lzma.FORMAT_ALONE`, whose header gives the
 *  length or leaves it to an end marker; `most` bytes at most. */
export function unpackLzma(packed: Uint8Array, most: number): Uint8Array<ArrayBuffer> {
  const header = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const properties = header.getUint8(0);
  const [lc, lp, pb] = [properties % 9, Math.floor(properties / 9) % 5, Math.floor(properties / 45)];
  const announced = header.getBigUint64(5, true);
  const length = announced === 0xffffffffffffffffn ? most : Number(announced);
  if (pb > 4 || length > most) throw new Error("the packed data has no valid header");
  const out = new Uint8Array(length);
  const decoder = new RangeDecoder(packed, 13);
  const literals = fresh(0x300 << (lc + lp));
  const isMatch = fresh(12 << 4);
  const isRepeat = fresh(12);
  const isRepeat0 = fresh(12);
  const isRepeat1 = fresh(12);
  const isRepeat2 = fresh(12);
  const isRepeat0Long = fresh(12 << 4);
  const slots = fresh(4 << 6);
  const distances = fresh(128);
  const align = fresh(16);
  const lengths = new Lengths();
  const repeatLengths = new Lengths();
  let [repeat0, repeat1, repeat2, repeat3] = [0, 0, 0, 0];
  let [state, at] = [0, 0];

  const literal = (): void => {
    const before = at > 0 ? (out[at - 1] ?? 0) : 0;
    const from = 0x300 * (((at & ((1 << lp) - 1)) << lc) + (before >>> (8 - lc)));
    let symbol = 1;
    if (state >= 7) {
      let like = out[at - repeat0 - 1] ?? 0;
      while (symbol < 0x100) {
        const likeBit = like >>> 7;
        like = (like << 1) & 0xff;
        const bit = decoder.bit(literals, from + ((1 + likeBit) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (likeBit !== bit) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | decoder.bit(literals, from + symbol);
    out[at] = symbol & 0xff;
    at += 1;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };

  const distance = (length: number): number => {
    const slot = decoder.tree(slots, 6, Math.min(length - 2, 3) << 6);
    if (slot < 4) return slot;
    const direct = (slot >>> 1) - 1;
    const high = ((2 | (slot & 1)) << direct) >>> 0;
    if (slot < 14) return high + decoder.reversedTree(distances, direct, high - slot);
    return (high + ((decoder.direct(direct - 4) << 4) >>> 0) + decoder.reversedTree(align, 4)) >>> 0;
  };

  while (at < length) {
    const place = at & ((1 << pb) - 1);
    if (decoder.bit(isMatch, (state << 4) + place) === 0) {
      literal();
      continue;
    }
    let count: number;
    if (decoder.bit(isRepeat, state) === 0) {
      [repeat3, repeat2, repeat1] = [repeat2, repeat1, repeat0];
      count = lengths.read(decoder, place);
      repeat0 = distance(count);
      state = state < 7 ? 7 : 10;
      if (repeat0 === 0xffffffff) break;
    } else {
      if (decoder.bit(isRepeat0, state) === 0) {
        if (decoder.bit(isRepeat0Long, (state << 4) + place) === 0) {
          state = state < 7 ? 9 : 11;
          out[at] = out[at - repeat0 - 1] ?? 0;
          at += 1;
          continue;
        }
      } else if (decoder.bit(isRepeat1, state) === 0) {
        [repeat0, repeat1] = [repeat1, repeat0];
      } else if (decoder.bit(isRepeat2, state) === 0) {
        [repeat0, repeat1, repeat2] = [repeat2, repeat0, repeat1];
      } else {
        [repeat0, repeat1, repeat2, repeat3] = [repeat3, repeat0, repeat1, repeat2];
      }
      count = repeatLengths.read(decoder, place);
      state = state < 7 ? 8 : 11;
    }
    if (repeat0 >= at || at + count > length) throw new Error("the packed data is damaged");
    for (let left = count; left > 0; left -= 1, at += 1) out[at] = out[at - repeat0 - 1] ?? 0;
  }
  return out.slice(0, at);
}
