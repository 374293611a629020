import type { Sha256 } from '../../kernel/ports/sha256.js'
import { digestedRow } from '../../domain/tables/digests.js'
import { RowOrder } from '../../domain/tables/row-order.js'
import { invalidField } from '../../application/failure.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { TableUpdate } from './codecs.js'
import type { DigestedRow } from '../../application/tables/publish-table.js'

interface UpdatedTable {
  readonly rowDigests: readonly string[]
  /** For each update, the row that it inserted or removed. */
  readonly updated: readonly string[]
  /** The new rows. */
  readonly contents: readonly DigestedRow[]
}

/** Applies updates in order, each to the result of the previous one. */
export const applyUpdates = async (
  sha256: Sha256,
  base: readonly string[],
  updates: readonly TableUpdate[],
): Promise<UpdatedTable> => {
  const yieldNow = yielding()
  const order = new RowOrder(base)
  const known = new Set(base)
  const added = new Map<string, DigestedRow>()
  const updated: string[] = []
  const put = async (index: number, val: DigestedRow['val']) => {
    const row = { val, ...(await digestedRow(sha256, val)) }
    order.insert(index, row.digest)
    if (!known.has(row.digest)) added.set(row.digest, row)
    return row.digest
  }
  for (const [i, update] of updates.entries()) {
    if ('append' in update) updated.push(await put(order.length, update.append.row))
    else if ('insert' in update) {
      const { index, row } = update.insert
      requireWithin(index, order.length, order.length, ['updates', i, 'insert', 'index'])
      updated.push(await put(index, row))
    } else {
      const { index } = update.pop
      requireWithin(index, order.length - 1, order.length, ['updates', i, 'pop', 'index'])
      updated.push(order.pop(index))
    }
    const pause = yieldNow()
    if (pause !== undefined) await pause
  }
  const rowDigests = order.toArray()
  const left = new Set(rowDigests)
  return { rowDigests, updated, contents: [...added.values()].filter(({ digest }) => left.has(digest)) }
}

const requireWithin = (index: number, most: number, rows: number, loc: readonly (string | number)[]) => {
  if (index >= 0 && index <= most) return
  const msg = `Value error, index ${index} is out of range: the table has ${rows} rows at this point`
  throw invalidField(loc, 'value_error', msg)
}
