// Choices from lists.

/** At most `count` of the items, evenly spread from the first to the last. */
export function evenly<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  const place = (at: number): number => Math.round((at * (items.length - 1)) / Math.max(1, count - 1));
  return Array.from({ length: count }, (_, at) => items[place(at)]).filter((item) => item !== undefined);
}

/** Places of equal texts, of those that are there more than once. */
export function equalPlaces(texts: readonly string[]): number[][] {
  const groups = [...new Set(texts)].map((text) => texts.flatMap((other, at) => (other === text ? [at] : [])));
  return groups.filter((group) => group.length > 1);
}
