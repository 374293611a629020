import { inPages } from '../../kernel/pages.js'

/** Calls are read in pages, so that memory stays bounded by one page. */
const PAGE = { items: 1000, weight: 4 * 1024 * 1024 }

export const pages = <Item extends { readonly bytes: number }>(
  items: Iterable<Item>,
  size = PAGE,
): Generator<readonly Item[]> => inPages(items, ({ bytes }) => bytes, size)

/** As `pages`, for an asynchronous source. */
export async function* pagesOf<Item extends { readonly bytes: number }>(
  parts: AsyncIterable<readonly Item[]>,
  size = PAGE,
): AsyncGenerator<readonly Item[]> {
  for await (const part of parts) yield* pages(part, size)
}
