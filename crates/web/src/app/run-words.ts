// What a list says of a run: when it was, and the first sentence of its verdict.

/** A time of this place as in `2026-03-01 17:05:09`, which is read the same everywhere. */
export function localTime(seconds: number): string {
  // Swedes write it like this.
  return new Date(seconds * 1000).toLocaleString("sv");
}

/** Up to the first period that ends a sentence, as against one in a number. */
export function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}
