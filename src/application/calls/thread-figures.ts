import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { listRows } from '../../projections/calls/list-rows.js'
import { subtreeCounts } from '../../projections/calls/subtree-counts.js'
import { turnParts, type Thread, type Turn } from '../../projections/calls/threads.js'
import { cellsOf } from '../../projections/calls/values.js'
import { outermostTurns } from '../../projections/usage/outermost.js'
import type { usageFrom } from '../../projections/usage/queries.js'
import { Failure } from '../failure.js'
import { preview } from './preview.js'
import { refuseTooLarge } from './too-large.js'
import { usageSummer, type TOKENS } from './usage-sums.js'

/** What is only read on request. */
export interface ThreadExtras {
  readonly include_usage: boolean
  readonly include_costs: boolean
  readonly include_details: boolean
}

interface Reading extends ThreadExtras {
  readonly projectId: string
  readonly position: Position
  readonly maxTraceCalls: number
}

export interface ThreadFigures extends Partial<Readonly<Record<(typeof TOKENS)[number], number>>> {
  /** Null if all tokens are of models without a price. */
  readonly cost?: number | null
  readonly unpriced?: boolean
  /** Null where there are too many calls to count. */
  readonly error_count?: number | null
  readonly end_user?: string | null
  readonly first_message?: string | null
}

interface TurnSums {
  readonly usage: ReturnType<typeof usageSummer>
  errors: number | null
  readonly firstId: string
  first?: Turn
  user?: Turn & { readonly name: string }
}

/**
 * The figures of threads, by id. Usage and errors are those of the turns and of all calls below them. A turn below another one of its
 * thread is part of that one's figures.
 *
 * @throws Failure
 */
export const threadFigures = async (
  reader: ClickHouseReader,
  usageOf: ReturnType<typeof usageFrom>,
  threads: readonly Thread[],
  reading: Reading,
): Promise<(threadId: string) => ThreadFigures> => {
  const { projectId, position, include_usage, include_costs, include_details } = reading
  const hasUsage = include_usage || include_costs
  if (threads.length === 0 || !(hasUsage || include_details)) return () => ({})
  const sums = new Map<string, TurnSums>()
  const threadIds = threads.map(({ thread_id }) => thread_id)
  for (const { thread_id, first_turn_id: firstId } of threads)
    sums.set(thread_id, { usage: usageSummer(), errors: 0, firstId })
  for await (const turns of wholeTraces(turnParts(reader, { projectId, threadIds, position }))) {
    const outermost = await outermostTurns(reader, reading, turns).catch(refuseTooLarge)
    await Promise.all([
      hasUsage ? addUsage(reader, usageOf, outermost, reading, sums) : undefined,
      include_details ? addDetails(reader, turns, outermost, reading, sums) : undefined,
    ])
  }
  const firstMessage = include_details ? await firstMessages(reader, reading, sums) : () => null
  return (threadId) => {
    const { usage, errors, user } = sums.get(threadId)!
    const { tokens, cost, unpriced, isCostUnknown } = usage.sums()
    return {
      ...(include_usage ? tokens : {}),
      ...(include_costs ? { cost: isCostUnknown ? null : cost, unpriced } : {}),
      ...(include_details
        ? { error_count: errors, end_user: user?.name ?? null, first_message: firstMessage(threadId) }
        : {}),
    }
  }
}

const TURNS_AT_ONCE = 1000
const MAX_TURNS_OF_TRACE = 100_000

/** The turns in pages that split no trace. */
async function* wholeTraces(parts: AsyncIterable<readonly Turn[]>): AsyncGenerator<readonly Turn[]> {
  let page: Turn[] = []
  let ofTrace = 0
  for await (const part of parts)
    for (const turn of part) {
      ofTrace = turn.trace_id === page.at(-1)?.trace_id ? ofTrace + 1 : 1
      if (ofTrace > MAX_TURNS_OF_TRACE)
        throw new Failure(
          'too-large',
          `A trace has more than ${MAX_TURNS_OF_TRACE} turns. Request its threads without usage, costs and details.`,
        )
      if (page.length >= TURNS_AT_ONCE && ofTrace === 1) {
        yield page
        page = []
      }
      page.push(turn)
    }
  if (page.length > 0) yield page
}

const addUsage = async (
  reader: ClickHouseReader,
  usageOf: ReturnType<typeof usageFrom>,
  turns: readonly Turn[],
  { projectId, position, maxTraceCalls, include_costs }: Reading,
  sums: ReadonlyMap<string, TurnSums>,
): Promise<void> => {
  const threadOf = new Map(turns.map(({ id, thread_id }) => [id, thread_id]))
  for (const page of pagesOf(turns, TURNS_AT_ONCE)) {
    const { calls } = await usageOf(reader, {
      ...{ projectId, position, maxTraceCalls, limit: page.length, operation: null },
      filter: { ...NO_FILTER, call_ids: page.map(({ id }) => id) },
      costs: include_costs ? { list: null } : null,
    }).catch(refuseTooLarge)
    for (const call of calls) sums.get(threadOf.get(call.id)!)!.usage.add(call)
  }
}

const addDetails = async (
  reader: ClickHouseReader,
  turns: readonly Turn[],
  outermost: readonly Turn[],
  { projectId, position }: Reading,
  sums: ReadonlyMap<string, TurnSums>,
): Promise<void> => {
  const counts = await subtreeCounts(reader, projectId, outermost, position)
  for (const { id, thread_id } of outermost) {
    const ofThread = sums.get(thread_id)!
    const errors = counts.get(id)?.errors
    ofThread.errors = errors === undefined || ofThread.errors === null ? null : ofThread.errors + errors
  }
  for (const page of pagesOf(turns, TURNS_AT_ONCE)) {
    const ids = page.map(({ id }) => id)
    const users = await cellsOf(reader, projectId, ids, ['end_user'], position)
    for (const turn of page) {
      const ofThread = sums.get(turn.thread_id)!
      if (turn.id === ofThread.firstId) ofThread.first = turn
      const name = users.get(turn.id)?.[0] ?? ''
      if (name !== '' && isBefore(turn, ofThread.user)) ofThread.user = { ...turn, name }
    }
  }
}

const isBefore = (turn: Turn, other: Turn | undefined): boolean =>
  other === undefined ||
  turn.started_at < other.started_at ||
  (turn.started_at === other.started_at && turn.id < other.id)

/** Their payload is in memory. */
const ROWS_AT_ONCE = 200
const PREVIEW_CHARACTERS = 200

const firstMessages = async (
  reader: ClickHouseReader,
  { projectId, position }: Reading,
  sums: ReadonlyMap<string, TurnSums>,
): Promise<(threadId: string) => string | null> => {
  const messages = new Map<string, string>()
  const firsts = [...sums.values()].flatMap(({ first = [] }) => first)
  for (const page of pagesOf(firsts, ROWS_AT_ONCE))
    for (const { thread, inputs } of await listRows(reader, projectId, page, position))
      messages.set(thread!, preview(inputs, 'first input', PREVIEW_CHARACTERS))
  return (threadId) => messages.get(threadId) || null
}

const pagesOf = <Item>(items: readonly Item[], atOnce: number) =>
  inPages(items, () => 0, { items: atOnce, weight: Infinity })
