/** A leaf page of a table whose unused parts are not empty. https://www.sqlite.org/fileformat2.html#b_tree_pages */
export interface UsedGap {
  /** The smallest row of the page. */
  readonly rowid: number
  /** How many columns it has. */
  readonly columns: number
  /** By as many bytes the row may grow on the page, which then has almost no unused part. */
  readonly room: number
}

const LEAF_OF_TABLE = 0x0d
const HEADER_BYTES = 8
/** For the lengths of a row that grows, and for what SQLite cannot use. */
const SPARE_BYTES = 12

interface Cell {
  readonly rowid: number
  readonly columns: number
  /** Bytes of its payload on this page. */
  readonly local: number
}

/**
 * SQLite zeroes what it deletes, but when it moves rows between pages, it leaves copies of them in unused parts. Returns
 * undefined for other pages, and for those whose unused parts are zero.
 */
export const usedGapIn = (page: Buffer): UsedGap | undefined => {
  if (page[0] !== LEAF_OF_TABLE) return undefined
  const count = page.readUInt16BE(3)
  const start = HEADER_BYTES + 2 * count
  const end = page.readUInt16BE(5)
  if (count === 0 || end < start || end > page.length) return undefined
  let free = end - start + page[7]!
  let isEmpty = isZero(page, start, end)
  for (let at = page.readUInt16BE(1); at >= end && at + 4 <= page.length; at = page.readUInt16BE(at)) {
    const size = page.readUInt16BE(at + 2)
    free += size
    isEmpty &&= isZero(page, at + 4, at + size)
    if (page.readUInt16BE(at) <= at) break
  }
  if (isEmpty) return undefined
  const cells = Array.from({ length: count }, (_, index) =>
    cellAt(page, page.readUInt16BE(HEADER_BYTES + 2 * index)),
  )
  const { rowid, columns, local } = cells.reduce((one, other) => (other.local < one.local ? other : one))
  const room = Math.min(free - SPARE_BYTES, mostLocal(page) - local - SPARE_BYTES)
  return room > 0 ? { rowid, columns, room } : undefined
}

const isZero = (page: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at += 1) if (page[at] !== 0) return false
  return true
}

const mostLocal = ({ length }: Buffer): number => length - 35

const cellAt = (page: Buffer, at: number): Cell => {
  const [payload, afterPayload] = varintAt(page, at)
  const [rowid, start] = varintAt(page, afterPayload)
  const [header, first] = varintAt(page, start)
  let columns = 0
  for (let next = first; next < start + header; columns += 1) next = varintAt(page, next)[1]
  return { rowid, columns, local: localOf(page, payload) }
}

/** The rest of a large payload is on overflow pages. */
const localOf = (page: Buffer, payload: number): number => {
  if (payload <= mostLocal(page)) return payload
  const least = Math.floor(((page.length - 12) * 32) / 255) - 23
  const local = least + ((payload - least) % (page.length - 4))
  return local <= mostLocal(page) ? local : least
}

/** The number, exact up to 2^53, and the place after it. */
const varintAt = (page: Buffer, from: number): readonly [value: number, next: number] => {
  let value = 0
  for (let at = from; at < from + 8; at += 1) {
    const byte = page[at]!
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + 1]
  }
  return [value * 256 + page[from + 8]!, from + 9]
}
