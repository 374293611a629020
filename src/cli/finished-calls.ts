import * as E from 'fp-ts/lib/Either.js'
import { LRUCache } from 'lru-cache'
import { logUsage, type CallUsage, type LogUsage } from '../application/otel/log-usage.js'
import { callEvents, type CallEnded, type CallStarted } from '../domain/calls/call.js'
import { usageReportingChosen } from '../domain/projects/project.js'
import { decode, type Codec } from '../kernel/codec/codec.js'
import { isWithoutFigures } from '../kernel/codec/erasable.js'
import type { JsonObject } from '../kernel/json/json.js'
import type { Position, RecordedEvent } from '../kernel/ports/event-store.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { readBack } from '../kernel/spill/read-back.js'
import { progressOn } from './progress.js'

export interface LogRange {
  readonly source: LogSource
  /** All projects without one. */
  readonly project: string | undefined
  readonly after: Position
  readonly end: Position
}

export interface FinishedCall {
  readonly start: CallStarted
  readonly end: CallEnded
  /** Its usage without that of the calls below it. */
  readonly usage: CallUsage | undefined
  /** Of the event that completes it. */
  readonly position: Position
}

/** The calls that are completed in a range of a log and are not deleted, in log order. */
export async function* finishedCalls(range: LogRange): AsyncGenerator<FinishedCall> {
  const progress = progressOn(process.stderr, 'reading')
  const { usage, open } = await scan(range, progress.note)
  progress.end()
  const calls = pairing(range.source, open)
  for await (const event of eventsOf(range)) {
    const call = await calls.finishedBy(event)
    if (call === undefined) continue
    const { project_id, id } = call.start
    if (!usage.isDeleted(project_id, id))
      yield { ...call, usage: usage.usageOf(project_id, id), position: event.position }
  }
}

/** The events of calls, of one project or of all. */
async function* eventsOf({ source, after, end, project = '' }: LogRange): AsyncGenerator<RecordedEvent> {
  const prefix = project === '' ? 'call-' : `call-${project}/`
  for await (const event of source.readAll(after)) {
    if (event.position > end) return
    const isChoice = event.type === 'UsageReportingChosen'
    if (event.unreadable !== undefined || isWithoutFigures(event.data)) continue
    if (isChoice || event.stream.startsWith(prefix)) yield event
  }
}

type Place = Pick<RecordedEvent, 'stream' | 'revision' | 'position'>

/** Reads the whole log: usage that SDKs add up along a trace is told apart by all of its calls. */
const scan = async (
  range: LogRange,
  onProgress: (events: number, part: number) => void,
): Promise<{ readonly usage: LogUsage; readonly open: Map<string, Place> }> => {
  const facts = logUsage()
  const open = new Map<string, Place>()
  let events = 0
  for await (const event of eventsOf({ ...range, after: 0n })) {
    const { type, data, stream, revision, position } = event
    if (position <= range.after) {
      if (isHalf(event)) open.set(stream, { stream, revision, position })
      else if (isFinishing(event)) open.delete(stream)
    }
    if (type === 'CallStarted') facts.start(decoded(callEvents.CallStarted, data))
    if (type === 'CallEnded') facts.end(decoded(callEvents.CallEnded, data))
    if (type === 'CallDeleted') {
      const { project_id, trace_id, id } = decoded(callEvents.CallDeleted, data)
      if (trace_id !== null) facts.remove(project_id, trace_id, id)
    }
    if (type === 'UsageReportingChosen') {
      const { project_id, usage_reporting } = decoded(usageReportingChosen, data)
      facts.choose(project_id, usage_reporting)
    }
    onProgress((events += 1), Number(position) / Number(range.end))
  }
  return { usage: await facts.finish(), open }
}

const decoded = <A>(codec: Codec<A>, data: JsonObject): A => {
  const quick = codec.quick(data)
  if (quick !== undefined) return quick
  const result = decode(codec)(data)
  if (E.isRight(result)) return result.right
  throw new OperatorError(`an event does not match its codec, ${codec.name}: run tallytree verify`)
}

const hasOther = ({ type, data }: RecordedEvent): boolean =>
  (data[type === 'CallStarted' ? 'end' : 'start'] ?? null) !== null
const isPart = ({ type }: RecordedEvent): boolean => type === 'CallStarted' || type === 'CallEnded'
const isHalf = (event: RecordedEvent): boolean => isPart(event) && !hasOther(event)
const isFinishing = (event: RecordedEvent): boolean => isPart(event) && hasOther(event)

/** Characters of events that are kept until the other half of their call comes; others are read again. */
const KEPT_CHARACTERS = 64 * 1024 * 1024

/** Pairs starts with ends, in log order. */
const pairing = (source: LogSource, open: Map<string, Place>) => {
  const kept = new LRUCache<string, RecordedEvent>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ size }) => size + 1,
  })
  const whole = async <A>(codec: Codec<A>, { data }: RecordedEvent): Promise<A> =>
    decoded(codec, await readBack({ get: (digest) => blobAt(source, digest) }, data))
  return {
    finishedBy: async (
      event: RecordedEvent,
    ): Promise<{ readonly start: CallStarted; readonly end: CallEnded } | undefined> => {
      const { stream, revision, position } = event
      if (isHalf(event)) {
        open.set(stream, { stream, revision, position })
        kept.set(stream, event)
      }
      const place = open.get(stream)
      if (!isFinishing(event) || place === undefined) return undefined
      const half = kept.get(stream) ?? (await source.eventAt(place))
      open.delete(stream)
      kept.delete(stream)
      if (half === undefined || half.unreadable !== undefined) return undefined
      const [start, end] = event.type === 'CallEnded' ? [half, event] : [event, half]
      return {
        start: await whole(callEvents.CallStarted, start),
        end: await whole(callEvents.CallEnded, end),
      }
    },
  }
}

const blobAt = async (source: LogSource, digest: string): Promise<Uint8Array | undefined> => {
  const blob = await source.openBlob(digest)
  if (blob === undefined) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}
