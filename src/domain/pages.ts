interface Bounds {
  readonly items: number
  readonly bytes: number
}

/** Splits items into pages of bounded count and size. An item larger than a page gets its own. */
export function* inPages<A>(
  items: Iterable<A>,
  bytesOf: (item: A) => number,
  most: Bounds,
): Generator<readonly A[]> {
  let page: A[] = []
  let bytes = 0
  for (const item of items) {
    const more = bytesOf(item)
    if (page.length > 0 && (page.length >= most.items || bytes + more > most.bytes)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(item)
    bytes += more
  }
  if (page.length > 0) yield page
}
