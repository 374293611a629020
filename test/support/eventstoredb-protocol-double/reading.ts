import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerWritableStream } from '@grpc/grpc-js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { DoubleLog, StoredEvent } from './log.js'
import type { Misbehaviour } from './misbehaviour.js'
import type { Service } from './service.js'
import { errorOf, eventResponse, nameOf, readEventOf } from './wire.js'
import { Deleted } from './refusals.js'

type Options = streams.ReadReq.Options
type Response = streams.ReadResp | Buffer
type ReadCall = ServerWritableStream<streams.ReadReq, Response>

export interface Reads {
  readonly subscriptions: Set<ReadCall>
  written: number
  /** Waits until another event may be read. */
  readonly pace: () => Promise<void> | undefined
}

/** Each event that is read costs its share of a second. */
export const readPace = (misbehaviour: Pick<Misbehaviour, 'eventsPerSecond'>): Reads['pace'] => {
  let nextAt = 0
  return () => {
    const now = performance.now()
    nextAt = Math.max(nextAt, now) + 1000 / misbehaviour.eventsPerSecond
    return nextAt - now > COARSE_MS ? sleep(nextAt - now) : undefined
  }
}

/** Timers are not finer. */
const COARSE_MS = 5

const isBackwards = (options: Options): boolean =>
  options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS

/** `Read`: a stream or all, forwards or backwards, counted or as a subscription. */
export const read =
  (log: DoubleLog, misbehaviour: Misbehaviour, reads: Reads, { serve }: Service) =>
  (call: ReadCall): void => {
    if (misbehaviour.muteReads) return
    const options = call.request.getOptions()
    if (options === undefined) return void call.end()
    call.on('error', () => undefined)
    const begin = () => {
      const reading = options.hasSubscription() ? subscribed : counted
      reading(log, misbehaviour, options, call, reads).catch((error: unknown) => {
        if (error instanceof Deleted) call.emit('error', errorOf(error))
        else call.destroy(error as Error)
      })
    }
    if (options.hasSubscription()) begin()
    else serve(begin)
  }

const counted = async (
  log: DoubleLog,
  { hidePositions }: Misbehaviour,
  options: Options,
  call: ReadCall,
  reads: Reads,
) => {
  const from = options.getStream()
  const passes = from === undefined ? filterOf(options) : () => true
  const events = from === undefined ? ofAll(log, options) : ofStream(log, from, isBackwards(options))
  if (events === undefined) {
    const missing = new streams.ReadResp.StreamNotFound()
    call.write(
      new streams.ReadResp().setStreamNotFound(missing.setStreamIdentifier(from?.getStreamIdentifier())),
    )
    return void call.end()
  }
  let left = Number(options.getCount())
  for (const event of events) {
    if (left === 0 || call.cancelled) break
    const paced = reads.pace()
    if (paced !== undefined) await paced
    if (!passes(event)) continue
    left -= 1
    reads.written += 1
    const isWhole = from === undefined || !hidePositions
    await write(call, isWhole ? readEventOf(event) : eventResponse(event, false))
  }
  call.end()
}

const ofStream = (
  log: DoubleLog,
  from: streams.ReadReq.Options.StreamOptions,
  backwards: boolean,
): readonly StoredEvent[] | undefined => {
  const events = log.read(nameOf(from.getStreamIdentifier()))
  if (events === undefined) return undefined
  const revision = from.hasRevision() ? BigInt(from.getRevision()) : undefined
  if (!backwards)
    return from.hasEnd() ? [] : events.filter((event) => BigInt(event.revision) >= (revision ?? 0n))
  if (from.hasStart()) return events.slice(0, 1)
  return events.filter((event) => revision === undefined || BigInt(event.revision) <= revision).toReversed()
}

/** Forwards from a position it is inclusive, backwards it is not. */
function* ofAll(log: DoubleLog, options: Options): Iterable<StoredEvent> {
  const from = options.getAll()
  const position = from?.hasPosition() === true ? Number(from.getPosition()?.getCommitPosition()) : undefined
  if (isBackwards(options)) {
    const start = position === undefined ? log.all.length : placeOf(log, position)
    for (let place = from?.hasStart() === true ? -1 : start - 1; place >= 0; place -= 1) yield log.all[place]!
    return
  }
  for (let place = placeOf(log, position ?? 0); place < log.all.length; place += 1) yield log.all[place]!
}

/** The index of the first event at a position or after it. */
const placeOf = ({ all }: DoubleLog, position: number): number => {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle]!.position < position) low = middle + 1
    else high = middle
  }
  return low
}

/** As servers do: they report no position after fewer events that the filter leaves out. */
const CHECKPOINT_EVERY = 32

const subscribed = async (
  log: DoubleLog,
  misbehaviour: Misbehaviour,
  options: Options,
  call: ReadCall,
  reads: Reads,
) => {
  reads.subscriptions.add(call)
  const stopped = new AbortController()
  for (const end of ['cancelled', 'close', 'error', 'finish'])
    call.once(end, () => {
      reads.subscriptions.delete(call)
      stopped.abort()
    })
  const passes = filterOf(options)
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
  call.write(new streams.ReadResp().setConfirmation(confirmation))
  let next = startOf(log, options)
  let saidCaughtUp = 0
  let unmatched = 0
  while (!stopped.signal.aborted) {
    const event = log.all[next]
    if (event === undefined) {
      for (; saidCaughtUp < misbehaviour.caughtUp; saidCaughtUp += 1)
        call.write(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()))
      await once(log, 'appended', { signal: stopped.signal }).catch(() => undefined)
      continue
    }
    next += 1
    const paced = reads.pace()
    if (paced !== undefined) await paced
    reads.written += 1
    if (passes(event)) await write(call, readEventOf(event))
    else unmatched += 1
    if (unmatched < CHECKPOINT_EVERY) continue
    unmatched = 0
    await write(call, checkpointAt(event.position))
  }
}

/** One event is left out, the one at the position; servers up to 23.10 do so too if that one was scavenged. */
const startOf = (log: DoubleLog, options: Options): number => {
  const from = options.getAll()
  if (from?.hasEnd() === true) return log.all.length
  const position = from?.getPosition()
  return position === undefined ? 0 : placeOf(log, Number(position.getCommitPosition())) + 1
}

const filterOf = (options: Options): ((event: StoredEvent) => boolean) => {
  const stream = options.getStream()
  if (stream !== undefined) {
    const name = nameOf(stream.getStreamIdentifier())
    return (event) => event.stream === name
  }
  const filter = options.getFilter()
  const expression = filter?.getEventType() ?? filter?.getStreamIdentifier()
  if (filter === undefined || expression === undefined) return () => true
  const matches = expression.getRegex() === '' ? undefined : new RegExp(expression.getRegex(), 'u')
  const prefixes = expression.getPrefixList()
  return (event) => {
    const text = filter.hasEventType() ? event.type : event.stream
    return matches?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix))
  }
}

const checkpointAt = (position: number): streams.ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint()
      .setCommitPosition(String(position))
      .setPreparePosition(String(position)),
  )

const write = async (call: ReadCall, response: Response): Promise<void> => {
  if (call.write(response) || call.cancelled) return
  const gone = new AbortController()
  const stop = () => gone.abort()
  call.once('cancelled', stop).once('close', stop)
  await once(call, 'drain', { signal: gone.signal }).catch(() => undefined)
  call.off('cancelled', stop).off('close', stop)
}
