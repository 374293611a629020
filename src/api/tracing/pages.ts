/** Answers are read in pages, so that one of any length needs the memory of one page. */
const PAGE_ITEMS = 500
const PAGE_BYTES = 16 * 1024 * 1024

/** Cuts a list into pages by number and by bytes; an item that is larger alone is a page of its own. */
export function* pages<Item extends { readonly bytes: number }>(
  items: Iterable<Item>,
): Generator<readonly Item[]> {
  let page: Item[] = []
  let bytes = 0
  for (const item of items) {
    if (page.length > 0 && (page.length >= PAGE_ITEMS || bytes + item.bytes > PAGE_BYTES)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(item)
    bytes += item.bytes
  }
  if (page.length > 0) yield page
}
