interface Bounds {
  readonly items: number
  readonly weight: number
}

/** Splits items into pages of bounded count and weight, such as bytes. An item heavier than a page gets its own. */
export function* inPages<A>(
  items: Iterable<A>,
  weightOf: (item: A) => number,
  most: Bounds,
): Generator<readonly A[]> {
  let page: A[] = []
  let weight = 0
  for (const item of items) {
    const more = weightOf(item)
    if (page.length > 0 && (page.length >= most.items || weight + more > most.weight)) {
      yield page
      page = []
      weight = 0
    }
    page.push(item)
    weight += more
  }
  if (page.length > 0) yield page
}
