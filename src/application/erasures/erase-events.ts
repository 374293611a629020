import type { CountedCost } from '../../domain/calls/without-figures.js'
import { erasedData } from '../../domain/erased-data.js'
import { countedCost } from '../../domain/gateway/limits/ledger.js'
import { withoutFigures } from '../../domain/without-figures.js'
import { isWithoutFigures } from '../../kernel/codec/erasable.js'
import type { CallsErased } from '../../domain/erasures/erasure.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Erasure, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SpilledFields } from '../../kernel/spill/fields.js'
import { FieldUnreadable, readBack } from '../../kernel/spill/read-back.js'

type Receipt = Omit<CallsErased, 'project_id' | 'id' | 'part' | 'calls'>

type ReadingPorts = Pick<Ports, 'eventStore' | 'blobs'>

/**
 * What is left of the events of some streams, and the receipt for it. Events that are erased already, or in an earlier receipt,
 * are given again, but not counted.
 */
export const erasuresOf = async (
  { eventStore, blobs }: ReadingPorts,
  streams: readonly string[],
  counted: ReadonlySet<Position>,
  kind: ErasureKind,
): Promise<{ readonly erasures: readonly Erasure[]; readonly receipt: Receipt }> => {
  const erasures: Erasure[] = []
  const changed: Position[] = []
  const named = new Set<string>()
  let [bytes, unreadable] = [0, 0]
  for (const stream of streams) {
    const events: RecordedEvent[] = []
    for await (const event of eventStore.readStream(stream, { withUnreadable: true }))
      if (event.unreadable === undefined) events.push(event)
      else unreadable += 1
    const cost = kind === 'figures' ? countedCost(events) : undefined
    for (const event of events) {
      const data =
        kind === 'figures'
          ? figuresLeft(event, cost)
          : erasedData(event.type, await withSummary(blobs, event))
      if (data === undefined) continue
      erasures.push({ position: event.position, data })
      if (event.data[MARKS[kind]] === true || counted.has(event.position)) continue
      changed.push(event.position)
      bytes += jsonText(event.data).length - jsonText(data).length
      for (const { digest, size } of spilledIn(event)) {
        bytes += size
        named.add(digest)
      }
    }
  }
  const receipt = {
    events: changed.length,
    bytes: Math.max(0, bytes),
    positions: rangesOf(changed),
    blobs: [...named],
    unreadable,
  }
  return { erasures, receipt }
}

/** Whether an event has what an erasure removes and did not. */
export const hasMore = (kind: ErasureKind, { type, data, unreadable }: RecordedEvent): boolean =>
  unreadable === undefined &&
  data[MARKS[kind]] !== true &&
  (kind === 'figures' ? withoutFigures : erasedData)(type, data) !== undefined

export type ErasureKind = 'content' | 'figures'

const MARKS = { content: 'erased', figures: 'figures_erased' } as const

/** Figures that are erased already stay as they are left. */
const figuresLeft = ({ type, data }: RecordedEvent, cost: CountedCost | undefined): JsonObject | undefined =>
  isWithoutFigures(data) ? data : withoutFigures(type, data, cost)

const spilledIn = ({ data }: RecordedEvent) =>
  [data, data['start'], data['end']].flatMap((holder) =>
    isJsonObject(holder) && isJsonObject(holder['spilled'])
      ? Object.values(holder['spilled'] as unknown as SpilledFields)
      : [],
  )

/** The figures of a spilled summary are in its blob. */
export const withSummary = async (
  blobs: ReadingPorts['blobs'],
  { type, data }: RecordedEvent,
): Promise<JsonObject> => {
  const spilled = isJsonObject(data['spilled']) ? data['spilled'] : {}
  if (type !== 'CallEnded' || spilled['summary'] === undefined) return data
  try {
    const { summary } = await readBack(blobs, { spilled: { summary: spilled['summary'] } })
    return { ...data, summary: summary ?? null }
  } catch (error) {
    if (!(error instanceof FieldUnreadable)) throw error
    return data
  }
}

/** Such as `17-19,23`. */
export const rangesOf = (positions: readonly Position[]): string => {
  const ranges: [Position, Position][] = []
  for (const position of [...positions].sort((a, b) => (a < b ? -1 : 1))) {
    const last = ranges.at(-1)
    if (last !== undefined && position === last[1] + 1n) last[1] = position
    else ranges.push([position, position])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}

/** The positions in ranges such as `17-19,23`. */
export const positionsIn = (ranges: string): readonly Position[] =>
  ranges === '' ? [] : ranges.split(',').flatMap(positionsOf)

const positionsOf = (range: string): readonly Position[] => {
  const [first, last = first] = range.split('-').map(BigInt) as [Position, Position?]
  return Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at))
}
