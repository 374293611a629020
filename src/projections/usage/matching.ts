import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { yielding } from '../../yield-to-event-loop.js'
import { selection, SETTINGS, type CallSelection } from '../calls/select.js'
import { idHash } from './id-hash.js'
import { nativeBlocks, type Numbers, type Strings } from './native.js'

export interface MatchingCall {
  readonly id: string
  readonly trace_id: string
  /** See `idHash`. */
  readonly hash: number
}

export interface Matching {
  /** In the order of start and id. */
  readonly calls: readonly MatchingCall[]
  /** How many more there are beyond the limit. */
  readonly more: number
}

/**
 * The first calls that a filter and an operation select.
 *
 * @throws UnknownField
 */
export const matchingCalls = async (
  reader: ClickHouseReader,
  asked: CallSelection,
  limit: number,
): Promise<Matching> => {
  const byStart = [{ field: 'started_at', direction: 'asc' } as const]
  const { sql, order, parameters } = selection(COLUMNS, asked, byStart)
  const chunks = reader.stream(`${sql} ORDER BY ${order.join(', ')} LIMIT {limit:UInt64} ${SETTINGS}`, {
    ...parameters,
    limit,
  })
  const yieldNow = yielding()
  const calls: MatchingCall[] = []
  for await (const { rows, columns } of nativeBlocks(chunks)) {
    const [ids, traces, hashes] = columns as unknown as readonly [Strings, Strings, Numbers]
    for (let row = 0; row < rows; row += 1) {
      calls.push({ id: textAt(ids, row), trace_id: textAt(traces, row), hash: hashes.values[row]! })
      if (row % 64 === 0) await yieldNow()
    }
  }
  if (calls.length < limit) return { calls, more: 0 }
  const all = selection('count() AS total', asked)
  const [row] = await reader.query<{ total: number }>(`${all.sql} ${SETTINGS}`, all.parameters)
  return { calls, more: Math.max(0, (row?.total ?? 0) - calls.length) }
}

const COLUMNS = `call_id, assumeNotNull(call_trace_id), ${idHash('call_id')}`

const textAt = ({ bytes, starts, ends }: Strings, row: number): string =>
  Buffer.from(bytes.subarray(starts[row], ends[row])).toString('utf8')
