import { describe, expect, it } from "vitest";
import { unpackLzma } from "../src/local/lzma.ts";

const bytes = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** Made by Python: `lzma.compress(text, format=lzma.FORMAT_ALONE)`. */
const TEXT = "XQAAAAT//////////wA4GEiZzVzXS6i8w77BppOFbfXjZVtBY1ORY1nE8DvaIh1fKA11svjvmukdvsfqYsl20hahSgPM+sNdcxwQFUdANf2T7XM31atFjQpouHJaQdQSPuKpCK21Xs7TfaRPwgHygfe3k5p1ilXfaWXfZVN8bxeFonY5xrRMGJ9qz4/iVA41FfLOj1CWi3CfsuEx0Cf4ZA5bincHR3tzFXcRQAEFnAcxYPYgK7XXCpfTQkTwLUxQQH/Vacw4OUakSAtdruAAQul2chLo+uJ8mdP5TcRgn8KxbKikcdwwrD9zzPgP/aQPkyqbv4AyVHPI26GHn8NqXLEZj3ILhBEr608ppW/9eVqgbLT9kkBAYDjyBhttp91MlOUTbBUJhbPvQvIKDxHkx1zz0ENtPtZP+bpsyr8BGVmGh9zFWo+MoGLES4BhO0doHxb/83XU1Ck/XE5KiW9A0ZvbTFs8Swv8GL8zSrl9XdP8cABvEeWSe/tezdudefR7uASX4///lSP9wA==";

describe("unpackLzma", () => {
  it("unpacks literals, matches near and far, and repeats", () => {
    const lines = Array.from({ length: 60 }, (_, line) => `packet ${line} of flow ${line % 7}, ${(line * line * 7919) % 10007} bytes\n`).join("");
    expect(new TextDecoder().decode(unpackLzma(bytes(TEXT), 1_000_000))).toBe(lines + lines);
  });

  it("refuses what is cut off, damaged or too large", () => {
    const whole = bytes(TEXT);
    expect(() => unpackLzma(whole.slice(0, 200), 1_000_000)).toThrow(/cut off/);
    expect(() => unpackLzma(whole, 100)).toThrow(/damaged/);
    const damaged = whole.slice();
    damaged.fill(0xff, 30, 60);
    expect(() => unpackLzma(damaged, 1_000_000)).toThrow();
  });
});
