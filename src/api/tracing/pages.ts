import { inPages } from '../../domain/pages.js'

/** Calls are read in pages, so that an answer of any length needs the memory of one page. */
const PAGE = { items: 500, bytes: 16 * 1024 * 1024 }

export const pages = <Item extends { readonly bytes: number }>(
  items: Iterable<Item>,
): Generator<readonly Item[]> => inPages(items, ({ bytes }) => bytes, PAGE)
