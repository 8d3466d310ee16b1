// The functions of lzma1 that are used here. Its own declarations are its sources, which our
// compiler options are too strict for.

export function compress(data: Uint8Array, level: number): Uint8Array<ArrayBuffer>;
export function decompress(data: Uint8Array): Uint8Array<ArrayBuffer>;
