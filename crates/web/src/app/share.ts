// State in the address: JSON, deflated, in the alphabet that addresses keep.

/** `data` as text for an address. */
export async function pack(data: unknown): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(data)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Unpacks the output of `pack`. Rejects anything else, and data that would exceed one megabyte. */
export async function unpack(text: string): Promise<unknown> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")))) as unknown;
}

const MOST_BYTES = 1_000_000;

async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const pieces: BlobPart[] = [];
  let length = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    length += piece.value.length;
    if (length > MOST_BYTES) throw new Error("the address holds more than a playground can be");
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
