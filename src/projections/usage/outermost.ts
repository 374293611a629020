import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { Turn } from '../calls/threads.js'
import { batchesOfTraces, loadTraces } from './facts.js'
import { livingForest } from './inclusive-usage.js'
import type { TraceCalls } from './trace.js'

interface Reading {
  readonly projectId: string
  readonly position: Position
  readonly maxTraceCalls: number
}

/**
 * The turns that are not below another turn of their thread, whose usage would include theirs. Of several turns on a cycle of
 * parents the first counts. `turns` has all turns of each thread in their traces.
 *
 * @throws TraceTooLarge
 */
export const outermostTurns = async (
  reader: Pick<ClickHouseReader, 'query' | 'stream'>,
  { projectId, position, maxTraceCalls }: Reading,
  turns: readonly Turn[],
): Promise<readonly Turn[]> => {
  const byTrace = grouped(turns, ({ trace_id }) => trace_id)
  const outermost: Turn[] = []
  const nested: string[] = []
  for (const [traceId, ofTrace] of byTrace)
    if (mayBeNested(ofTrace)) nested.push(traceId)
    else outermost.push(...ofTrace)
  for await (const traceIds of batchesOfTraces(reader, projectId, nested)) {
    const calls = await loadTraces(reader, projectId, traceIds, position, { maxTraceCalls })
    outermost.push(
      ...(await outermostIn(
        calls,
        traceIds.flatMap((traceId) => byTrace.get(traceId) ?? []),
      )),
    )
  }
  return outermost
}

const mayBeNested = (turns: readonly Turn[]): boolean =>
  new Set(turns.map(({ thread_id }) => thread_id)).size < turns.length &&
  turns.some(({ parent_id }) => parent_id !== null)

const grouped = <Key>(turns: readonly Turn[], keyOf: (turn: Turn) => Key): ReadonlyMap<Key, Turn[]> => {
  const groups = new Map<Key, Turn[]>()
  for (const turn of turns) {
    const group = groups.get(keyOf(turn))
    if (group === undefined) groups.set(keyOf(turn), [turn])
    else group.push(turn)
  }
  return groups
}

const outermostIn = async (calls: TraceCalls, turns: readonly Turn[]): Promise<readonly Turn[]> => {
  const pause = yielding()
  const { node, parent, order } = livingForest(calls)
  const turnsAt = grouped(turns, ({ id }) => node[calls.indexOf.get(id)!]!)
  const threadsAt = new Map<number, Set<string>>()
  /** The nearest node above with an outermost turn. */
  const above = new Int32Array(node.length).fill(-1)
  const outermost: Turn[] = []
  for (let n = order.length - 1; n >= 0; n -= 1) {
    if (n % 64 === 0) await pause()
    const at = order[n]!
    const up = parent[at]!
    if (up >= 0) above[at] = threadsAt.has(up) ? up : above[up]!
    for (const turn of turnsAt.get(at) ?? []) {
      let found = at
      while (found >= 0 && threadsAt.get(found)?.has(turn.thread_id) !== true) found = above[found]!
      if (found >= 0) continue
      threadsAt.set(at, (threadsAt.get(at) ?? new Set()).add(turn.thread_id))
      outermost.push(turn)
    }
  }
  return outermost
}
