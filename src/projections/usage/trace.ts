import { FIGURES } from '../../domain/calls/usage/reported.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { END_LABELS, LABEL_COLUMNS, START_LABELS, type CallLabel } from './columns.js'

/** In microseconds since 1970. Doubles represent the microseconds since 2100 exactly for 1900 to 2299. */
export const YEAR_2100 = 4_102_444_800_000_000n

/** SQL for a time like `TraceCalls.started`. */
export const sinceYear2100 = (column: string): string =>
  `toFloat64(toUnixTimestamp64Micro(${column}) - ${YEAR_2100})`

/** The calls of one or several traces, one per index, ordered by trace and id. */
export interface TraceCalls {
  readonly ids: readonly string[]
  readonly indexOf: ReadonlyMap<string, number>
  /** The trace of each call, an index of `traceIds`. */
  readonly trace: readonly number[]
  readonly traceIds: readonly string[]
  /** The parent's index if it is in the same trace, else -1. */
  readonly parent: Int32Array
  /** 1 for calls whose start names no parent. */
  readonly hasNoParent: ArrayLike<number>
  /** Microseconds since `YEAR_2100`. */
  readonly started: ArrayLike<number>
  /** NaN while the call is running. */
  readonly ended: ArrayLike<number>
  /** 1 for deleted calls. They count nowhere, but the figures of an SDK parent may include theirs. */
  readonly isDeleted: ArrayLike<number>
  /** An index of `SOURCES`. */
  readonly source: ArrayLike<number>
  /** The sum of the status counts; NaN without any. */
  readonly statusTotal: ArrayLike<number>
  /** The provider's id of the response that a span reports, or ''. */
  readonly responseId: readonly string[]
  /** The names of the models that `reported` refers to by index. */
  readonly models: readonly string[]
  /** Empty if they were not loaded. */
  readonly labels: readonly CallLabels[]
  /** The usage that the calls reported, `FIGURES` per entry. */
  readonly reported: ModelEntries
}

/** What totals are grouped by. */
export type CallLabels = Readonly<Record<CallLabel, string>>

/** Entries per call and model: those of call `i` are `offsets[i]` to `offsets[i + 1]`. */
export interface ModelEntries {
  readonly offsets: readonly number[]
  readonly model: readonly number[]
  /** A fixed number of values per entry. */
  readonly values: readonly number[]
}

/** A trace has more calls than allowed. */
export class TraceTooLarge extends Error {
  override readonly name = 'TraceTooLarge'
  constructor(readonly limit: number) {
    super(`a trace has more than ${limit} calls`)
  }
}

/** A row of `usage_facts` as of a position. */
export interface Fact {
  readonly traceId: string
  readonly id: string
  readonly parentId: string
  /** Whether the row has the columns of the start, and those of the end. */
  readonly hasStart: boolean
  readonly hasEnd: boolean
  readonly isDeleted: boolean
  readonly started: number
  readonly ended: number
  readonly source: number
  readonly statusTotal: number
  readonly responseId: string
  readonly models: readonly string[]
  readonly figures: ArrayLike<number>
  /** Only those of the events in this row. */
  readonly labels?: Partial<CallLabels>
}

const NO_LABELS = Object.fromEntries([
  ...START_LABELS.map((label) => [label, '']),
  ...END_LABELS.map((label) => [label, LABEL_COLUMNS[label].before]),
]) as CallLabels

/** Makes calls of facts ordered by trace, call and position. A later fact of a call replaces earlier values. */
export const traceBuilder = (maxTraceCalls = Infinity) => {
  const ids: string[] = []
  const parentIds: string[] = []
  const trace: number[] = []
  const traceIds: string[] = []
  const started: number[] = []
  const ended: number[] = []
  const hasStart: boolean[] = []
  const isDeleted: boolean[] = []
  const source: number[] = []
  const statusTotal: number[] = []
  const responseId: string[] = []
  const labels: CallLabels[] = []
  const entries = entryBuilder()
  let callsOfTrace = 0

  const startCall = (fact: Fact): number => {
    if (fact.traceId === traceIds.at(-1)) callsOfTrace += 1
    else {
      traceIds.push(fact.traceId)
      callsOfTrace = 1
    }
    if (callsOfTrace > maxTraceCalls) throw new TraceTooLarge(maxTraceCalls)
    trace.push(traceIds.length - 1)
    parentIds.push('')
    started.push(NaN)
    ended.push(NaN)
    hasStart.push(false)
    isDeleted.push(false)
    source.push(0)
    statusTotal.push(NaN)
    responseId.push('')
    entries.startCall()
    return ids.push(fact.id) - 1
  }

  return {
    add: (fact: Fact): void => {
      const last = ids.length - 1
      const call = fact.id === ids[last] && fact.traceId === traceIds.at(-1) ? last : startCall(fact)
      if (fact.labels !== undefined) labels[call] = { ...(labels[call] ?? NO_LABELS), ...fact.labels }
      if (fact.isDeleted) isDeleted[call] = true
      if (fact.hasStart) {
        hasStart[call] = true
        parentIds[call] = fact.parentId
        started[call] = fact.started
        source[call] = fact.source
      }
      if (fact.hasEnd) {
        ended[call] = fact.ended
        statusTotal[call] = fact.statusTotal
        responseId[call] = fact.responseId
        entries.replaceLast(fact)
      }
    },

    finish: async (): Promise<TraceCalls> => ({
      ids,
      trace,
      traceIds,
      labels,
      started,
      ended,
      source,
      statusTotal,
      responseId,
      ...entries.finish(),
      ...(await linked(ids, parentIds, trace)),
      hasNoParent: Uint8Array.from(parentIds, (id) => Number(id === '')),
      isDeleted: Uint8Array.from(isDeleted, (is, call) => Number(is || !hasStart[call]!)),
    }),
  }
}

const entryBuilder = () => {
  const models: string[] = []
  const indexes = new Map<string, number>()
  const [offsets, model, values]: [number[], number[], number[]] = [[0], [], []]
  return {
    startCall: (): void => void offsets.push(model.length),
    replaceLast: ({ models: names, figures }: Pick<Fact, 'models' | 'figures'>): void => {
      const start = offsets[offsets.length - 2]!
      if (start < model.length) {
        model.length = start
        values.length = start * FIGURES.length
      }
      for (const name of names) {
        let index = indexes.get(name)
        if (index === undefined) indexes.set(name, (index = models.push(name) - 1))
        model.push(index)
      }
      for (let k = 0; k < figures.length; k += 1) values.push(figures[k]!)
      offsets[offsets.length - 1] = model.length
    },
    finish: () => ({ models, reported: { offsets, model, values } }),
  }
}

const linked = async (ids: readonly string[], parentIds: readonly string[], trace: readonly number[]) => {
  const pause = yielding()
  const indexOf = new Map<string, number>()
  for (const [call, id] of ids.entries()) {
    indexOf.set(id, call)
    if (call % 64 === 0) await pause()
  }
  const parent = new Int32Array(ids.length).fill(-1)
  for (const [call, id] of parentIds.entries()) {
    const found = id === '' ? undefined : indexOf.get(id)
    if (found !== undefined && trace[found] === trace[call]) parent[call] = found
    if (call % 64 === 0) await pause()
  }
  return { indexOf, parent }
}
