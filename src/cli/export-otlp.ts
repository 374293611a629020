import { readFile } from 'node:fs/promises'
import type { WriteStream } from 'node:tty'
import * as E from 'fp-ts/lib/Either.js'
import { LRUCache } from 'lru-cache'
import { otlpSender, type OtlpSender } from '../adapters/outgoing/otlp-sender.js'
import { sha256 } from '../adapters/system/system.js'
import { spansOfCall } from '../application/otel/call-spans.js'
import { logUsage, type LogUsage } from '../application/otel/log-usage.js'
import { openLogSource } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import { callEvents, type CallEnded, type CallStarted } from '../domain/calls/call.js'
import { encodeSpan, requestText, type EncodedSpan } from '../domain/otel/encode.js'
import { usageReportingChosen } from '../domain/projects/project.js'
import { writeFileAtomic } from '../kernel/atomic-file.js'
import { decode, type Codec } from '../kernel/codec/codec.js'
import type { JsonObject } from '../kernel/json/json.js'
import type { Position, RecordedEvent } from '../kernel/ports/event-store.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { readBack } from '../kernel/spill/read-back.js'
import { progressOn } from './progress.js'

interface OtlpExport {
  readonly to: string
  readonly from: string | undefined
  readonly project: string | undefined
  readonly after: Position | undefined
  /** Holds the position to resume after. */
  readonly resume: string | undefined
  readonly headers: readonly string[]
}

/** With the waits between them, about two minutes. */
const TRIES = 8

/** `tallytree export otlp`: sends the finished calls of a log to an OTLP collector. Returns the exit code. */
export const exportOtlp = async (
  asked: OtlpExport,
  config: Pick<Config, 'apiKey' | 'dataDirectory' | 'eventStoreUrl'>,
  out: Pick<WriteStream, 'write'> = process.stdout,
): Promise<number> => {
  const named = asked.from ?? config.eventStoreUrl ?? config.dataDirectory
  const headers = Object.fromEntries(asked.headers.map(headerIn))
  if (!URL.canParse(asked.to) || !/^https?:/.test(asked.to))
    throw new OperatorError(
      '--to must be the address of a collector, such as http://127.0.0.1:4318/v1/traces',
    )
  const sender = otlpSender({ url: asked.to, headers, tries: TRIES })
  const { log: source } = await openLogSource(named, config)
  try {
    const end = await source.head()
    const after = asked.after ?? (await positionIn(asked.resume)) ?? 0n
    if (after > end) throw new OperatorError(`the log ends at position ${end}, before position ${after}`)
    const outcome = await sendCalls({ ...asked, source, sender, end, after })
    for (const [reason, spans] of outcome.refused) out.write(`refused ${spans} spans: ${reason}\n`)
    out.write(
      (outcome.spans === 0 ? 'no new calls' : `sent ${outcome.spans} spans of ${outcome.calls} calls`) +
        `; resume with --after ${end}\n`,
    )
    return outcome.refused.size === 0 ? 0 : 1
  } finally {
    await sender.close()
    await source.close()
  }
}

const headerIn = (text: string): readonly [string, string] => {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new OperatorError('--header must be NAME=VALUE')
}

const positionIn = async (file: string | undefined): Promise<Position | undefined> => {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new OperatorError(`cannot read ${file}`, { cause })
  })
  if (text === undefined) return undefined
  if (!/^\d{1,19}\n?$/.test(text)) throw new OperatorError(`${file} does not contain a position`)
  return BigInt(text.trim())
}

interface Sending extends Pick<OtlpExport, 'project' | 'resume'> {
  readonly source: LogSource
  readonly sender: OtlpSender
  readonly after: Position
  readonly end: Position
}

interface Outcome {
  readonly spans: number
  readonly calls: number
  /** Spans that were not taken, by the reason. */
  readonly refused: ReadonlyMap<string, number>
}

const sendCalls = async ({ source, sender, after, end, project, resume }: Sending): Promise<Outcome> => {
  const scanning = progressOn(process.stderr, 'reading')
  const { usage, open } = await scan({ source, after, end, project }, scanning.note)
  scanning.end()
  const progress = progressOn(process.stderr, 'sending', undefined, 'spans')
  const batches = batchesTo(sender)
  const calls = finishedCalls(source, open)
  let [count, last, acknowledged] = [0, after, after]
  const flush = async () => {
    try {
      await batches.flush()
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      throw new OperatorError(`${error.message}; resume with --after ${acknowledged}`, { cause: error })
    }
    acknowledged = last
    if (resume !== undefined) await writeFileAtomic(resume, `${acknowledged}\n`)
  }
  for await (const event of eventsOf({ source, after, end, project })) {
    const call = await calls.finishedBy(event)
    if (call === undefined) continue
    const { project_id, id } = call.start
    if (usage.isDeleted(project_id, id)) continue
    const spans = spansOfCall(sha256)({ ...call, usage: usage.usageOf(project_id, id) }).map(encodeSpan)
    if (!batches.fits(spans)) await flush()
    batches.add(spans)
    last = event.position
    count += 1
    progress.note(batches.spans(), Number(event.position - after) / Number(end - after))
  }
  last = end
  await flush()
  progress.end()
  return { spans: batches.spans(), calls: count, refused: batches.refused }
}

type Range = Pick<Sending, 'source' | 'after' | 'end' | 'project'>

/** The events of calls, of one project or of all. */
async function* eventsOf({ source, after, end, project = '' }: Range): AsyncGenerator<RecordedEvent> {
  const prefix = project === '' ? 'call-' : `call-${project}/`
  for await (const event of source.readAll(after)) {
    if (event.position > end) return
    const isChoice = event.type === 'UsageReportingChosen'
    if (event.unreadable === undefined && (isChoice || event.stream.startsWith(prefix))) yield event
  }
}

type Place = Pick<RecordedEvent, 'stream' | 'revision' | 'position'>

/** Reads the whole log: usage that SDKs add up along a trace is told apart by all of its calls. */
const scan = async (
  range: Range,
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
const finishedCalls = (source: LogSource, open: Map<string, Place>) => {
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

const MOST = { spans: 512, bytes: 4 * 1024 * 1024 }

const batchesTo = (sender: OtlpSender) => {
  const refused = new Map<string, number>()
  let batch: EncodedSpan[] = []
  let [bytes, sent] = [0, 0]

  const refuse = (spans: number, reason: string): void =>
    void refused.set(reason, (refused.get(reason) ?? 0) + spans)

  const send = async (spans: readonly EncodedSpan[]): Promise<void> => {
    const { status, rejected, message } = await sender.send(requestText(spans))
    if (status === 200) {
      if (rejected > 0) refuse(rejected, message)
    } else if (status === 413 && spans.length > 1) {
      const half = Math.ceil(spans.length / 2)
      await send(spans.slice(0, half))
      await send(spans.slice(half))
    } else if (status === 400 || status === 413) refuse(spans.length, `${status} ${message}`)
    else
      throw new OperatorError(
        `the collector ${status === undefined ? 'cannot be reached' : `answered ${status}`}: ${message}`,
      )
  }

  return {
    refused: refused as ReadonlyMap<string, number>,
    spans: () => sent,
    fits: (spans: readonly EncodedSpan[]) =>
      batch.length === 0 ||
      (batch.length + spans.length <= MOST.spans && bytes + sizeOf(spans) <= MOST.bytes),
    add: (spans: readonly EncodedSpan[]): void => {
      batch.push(...spans)
      bytes += sizeOf(spans)
    },
    flush: async (): Promise<void> => {
      const full = batch
      batch = []
      bytes = 0
      if (full.length > 0) await send(full)
      sent += full.length
    },
  }
}

const sizeOf = (spans: readonly EncodedSpan[]): number =>
  spans.reduce(
    (sum, { resource, scope, span }) =>
      sum + Buffer.byteLength(resource) + Buffer.byteLength(scope) + Buffer.byteLength(span),
    0,
  )
