// What the page is unpacked from: one LZMA stream, in base64 in an element of the page, that holds
// these parts one after the other. crates/web/build/packed-page.ts writes it.

/** Text and binary parts of the page, in the order of the stream. */
export const PARTS = ["style", "script", "report", "module"] as const;

export type PartName = (typeof PARTS)[number];

/** The element with the stream; its attribute `data-lengths` has the bytes of each part. */
export const ELEMENT = "packed";

/** The global that the first script leaves for the second: the report without data, and the simulator. */
export interface WithUnpacked {
  goodqueueUnpacked: { readonly report: string; readonly module: Uint8Array<ArrayBuffer> };
}
