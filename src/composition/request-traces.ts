import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { otlpSender } from '../adapters/outgoing/otlp-sender.js'
import type { FinishedRequest } from '../api/server/app.js'
import type { Config } from '../config.js'
import { encodeSpan, requestText, type EncodedSpan } from '../domain/otel/encode.js'
import type { Log } from '../kernel/ports/log.js'
import type { Metrics } from '../kernel/ports/metrics.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/** Sends a span for each request of this service to a collector, in the background. */
interface RequestTraces {
  readonly add: (request: FinishedRequest) => void
  /** Sends what is queued, for a short time. */
  readonly close: () => Promise<void>
}

const MOST_QUEUED = 2048
const BATCH = 512
const EVERY_MS = 5000
const TRIES = 5
const CLOSE_WITHIN_MS = 2000

/** What clients record is traced by them, and its spans may come back here. */
const INGEST = /^\/call\/|\/calls\/complete$|\/v1\/(?:traces|metrics|logs)$/

export const openRequestTraces = (
  url: string,
  log: Log,
  metrics: Pick<Metrics, 'spansDropped'>,
): RequestTraces => {
  const closing = new AbortController()
  const sender = otlpSender({ url, tries: TRIES, signal: closing.signal })
  let queue: EncodedSpan[] = []
  let sending: Promise<void> | undefined
  let isLogged = false

  const drop = (spans: number, reason: string): void => {
    metrics.spansDropped.add({}, spans)
    if (!isLogged) log.warn('traces.dropped', { spans, reason })
    isLogged = true
  }

  const sendAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, BATCH)
      queue = queue.slice(BATCH)
      const { status, rejected, message } = await sender.send(requestText(batch))
      if (status !== 200) drop(batch.length, `${status ?? 'unreachable'} ${message}`)
      else if (rejected > 0) drop(rejected, message)
      else isLogged = false
    }
  }

  const flush = (): Promise<void> => (sending ??= sendAll().finally(() => (sending = undefined)))
  const timer = setInterval(() => void flush(), EVERY_MS).unref()

  return {
    add: (request) => {
      if (INGEST.test(request.route)) return
      if (queue.length >= MOST_QUEUED) drop(1, 'the queue is full')
      else if (queue.push(encodeSpan(spanOf(request))) >= BATCH) void flush()
    },
    close: async () => {
      clearInterval(timer)
      const over = setTimeout(() => closing.abort(), CLOSE_WITHIN_MS)
      await flush()
      clearTimeout(over)
      await sender.close()
    },
  }
}

const SERVER = 2
const NOTHING_ELSE = { attributes: {}, droppedAttributes: 0, schemaUrl: '' }

const spanOf = ({ method, route, status, startedAt, seconds, requestId }: FinishedRequest) => {
  const start = BigInt(startedAt) * 1_000_000n
  const error = status === undefined ? 'aborted' : status >= 500 ? String(status) : undefined
  return {
    resource: { ...NOTHING_ELSE, attributes: { 'service.name': 'tallytree' } },
    scope: { ...NOTHING_ELSE, name: 'tallytree', version: '' },
    span: {
      ...{ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') },
      ...{ parentSpanId: '', traceState: '', flags: 0 },
      name: `${method} ${route}`,
      kind: SERVER,
      start,
      end: start + BigInt(Math.round(seconds * 1e9)),
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'tallytree.request_id': requestId,
        ...(status !== undefined && { 'http.response.status_code': status }),
        ...(error !== undefined && { 'error.type': error }),
      },
      ...{ droppedAttributes: 0, events: [], droppedEvents: 0, links: [], droppedLinks: 0 },
      status: { code: error === undefined ? 0 : 2, message: '' },
    },
  }
}

/**
 * Spans of requests that carry spans of requests would never end.
 *
 * @throws OperatorError if the collector is this service
 */
export const refuseOwnAddress = (
  url: string,
  address: string,
  { host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>,
): void => {
  const [collector, own] = [new URL(url), new URL(address)]
  const names = new Set([host, own.hostname, 'localhost', '0.0.0.0', '[::]', '[::1]', ...interfaces()])
  const isOwn = names.has(collector.hostname) || /^127\./.test(collector.hostname)
  if (collector.origin === publicUrl || (isOwn && collector.port === own.port))
    throw new OperatorError(
      `TALLYTREE_OTLP_EXPORT_URL: ${collector.origin} is this service; name the address of a collector`,
    )
}

const interfaces = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((ofOne = []) =>
    ofOne.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  )
