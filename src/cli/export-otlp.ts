import { readFile } from 'node:fs/promises'
import type { WriteStream } from 'node:tty'
import { otlpSender, type OtlpSender } from '../adapters/outgoing/otlp-sender.js'
import { sha256 } from '../adapters/system/system.js'
import { spansOfCall } from '../application/otel/call-spans.js'
import { openLogSource } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import { encodeSpan, requestText, type EncodedSpan } from '../domain/otel/encode.js'
import { writeFileAtomic } from '../kernel/atomic-file.js'
import type { Position } from '../kernel/ports/event-store.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { finishedCalls, type LogRange } from './finished-calls.js'
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
  config: Pick<Config, 'apiKey' | 'dataDirectory' | 'eventStoreUrl' | 'objects'>,
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

interface Sending extends LogRange, Pick<OtlpExport, 'resume'> {
  readonly sender: OtlpSender
}

interface Outcome {
  readonly spans: number
  readonly calls: number
  /** Spans that were not taken, by the reason. */
  readonly refused: ReadonlyMap<string, number>
}

const sendCalls = async ({ sender, resume, ...range }: Sending): Promise<Outcome> => {
  const { after, end } = range
  const progress = progressOn(process.stderr, 'sending', undefined, 'spans')
  const batches = batchesTo(sender)
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
  for await (const { position, ...call } of finishedCalls(range)) {
    const spans = spansOfCall(sha256)(call).map(encodeSpan)
    if (!batches.fits(spans)) await flush()
    batches.add(spans)
    last = position
    count += 1
    progress.note(batches.spans(), Number(position - after) / Number(end - after))
  }
  last = end
  await flush()
  progress.end()
  return { spans: batches.spans(), calls: count, refused: batches.refused }
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
