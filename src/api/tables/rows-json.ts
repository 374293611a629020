import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { rowsByDigest, type TableOrder } from '../../projections/tables/queries.js'

/** Rows are read in pages, so that memory stays bounded by one page. */
const PAGE_ROWS = 8192
const PAGE_BYTES = 8 * 1024 * 1024

/** Serialises pages of rows as `{digest, val, original_index}`. */
export async function* pagesOfRows(
  reader: ClickHouseReader,
  projectId: string,
  order: TableOrder,
  position: Position,
): AsyncGenerator<readonly string[]> {
  for (let first = 0; first < order.size;) {
    const next = endOfPage(order, first)
    const digests: string[] = []
    for (let at = first; at < next; at += 1) digests.push(order.digestOf(at))
    const contents = await rowsByDigest(reader)(projectId, digests, position)
    yield digests.map((digest, i) => {
      const val = contents.get(digest)
      if (val === undefined) throw new Error('a row of a table is missing from the read model')
      return `{"digest":"${digest}","val":${val},"original_index":${order.indexOf(first + i)}}`
    })
    first = next
  }
}

const endOfPage = (order: TableOrder, first: number): number => {
  let bytes = order.bytesOf(first)
  let next = first + 1
  while (next < order.size && next - first < PAGE_ROWS && bytes + order.bytesOf(next) <= PAGE_BYTES) {
    bytes += order.bytesOf(next)
    next += 1
  }
  return next
}
