// What a list says of a run: when it was, and the first sentence of its verdict.

/** A time of this place as in `2026-03-01 17:05:09`, which is read the same everywhere. */
export function localTime(seconds: number): string {
  const at = new Date(seconds * 1000);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

/** Up to the first period that ends a sentence, as against one in a number. */
export function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}
