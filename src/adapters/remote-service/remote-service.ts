import type { IncomingMessage } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { erasedSeal } from '../../kernel/event-seal.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { EventMetadata, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { LogSource } from '../../kernel/ports/log-source.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { unreadableEvent } from '../../kernel/unreadable-event.js'
import { askPatiently, asking, textOf, type Ask } from './request.js'

/** A running service, as a source for audits. */
export interface RemoteService extends LogSource {
  /** The response of `GET /api/admin/digests` as of a position. */
  digestsAt(position: Position): Promise<unknown>
  /** The response of `GET /api/log/checkpoints`; undefined for a service that does not seal its log. */
  checkpoints(): Promise<unknown>
}

const line = decode(
  open('Line', {
    required: {
      id: string,
      type: string,
      stream: string,
      revision: string,
      position: string,
      recorded_at: string,
      data: jsonObject,
      metadata: jsonObject,
    },
    optional: { salt: withDefault(string, undefined), content: withDefault(string, undefined) },
  }),
)

const unreadableLine = decode(
  open('UnreadableLine', {
    required: {
      id: string,
      type: string,
      stream: string,
      revision: string,
      position: string,
      unreadable: string,
    },
  }),
)

/** The service only responds after reading all of its read models. */
const DIGESTS_WITHIN_MS = 15 * 60_000

const NO_BLOB = '0'.repeat(64)

/**
 * Connects to a service with the administrator's key.
 *
 * @throws OperatorError if it cannot be reached, or the key is not the administrator's
 */
export const openRemoteService = async (url: string, apiKey: string): Promise<RemoteService> => {
  const ask = asking(url, apiKey)
  // Other keys would see only part of the log; this request refuses them.
  const probe = await ask(`/api/blobs/${NO_BLOB}`)
  probe.resume()
  if (probe.statusCode !== 404)
    throw new OperatorError(
      `${new URL(url).origin} answered ${probe.statusCode ?? 0}: TALLYTREE_API_KEY must be its administrator's key`,
    )
  // Earlier releases refuse to give salts, and copies of them get salts of their own.
  const sealed = await ask('/api/log/checkpoint')
  sealed.resume()
  const path = sealed.statusCode === 404 ? '/api/events?' : '/api/events?seal=true&'
  return {
    head: async () => {
      const answer = await askPatiently(ask, '/api/events?limit=1')
      answer.resume()
      return BigInt(String(answer.headers['tallytree-position'] ?? '0'))
    },
    readAll: (after) => eventsAfter(ask, path, after),
    eventAt: async ({ stream, position }) => {
      const query = new URLSearchParams({ stream, after: String(position - 1n), limit: '1' })
      for await (const event of eventsOf(await askPatiently(ask, `${path}${query.toString()}`))) return event
      return undefined
    },
    openBlob: async (digest) => {
      const answer = await askPatiently(ask, `/api/blobs/${digest}`)
      if (answer.statusCode === 404) {
        answer.resume()
        return undefined
      }
      return { size: Number(answer.headers['content-length'] ?? 0), chunks: answer as AsyncIterable<Buffer> }
    },
    digestsAt: async (position) => {
      const path = `/api/admin/digests?at=${position}`
      return JSON.parse(
        await textOf(await askPatiently(asking(url, apiKey, DIGESTS_WITHIN_MS), path)),
      ) as unknown
    },
    checkpoints: async () => {
      const answer = await ask('/api/log/checkpoints')
      const text = await textOf(answer)
      return answer.statusCode === 200 ? (JSON.parse(text) as unknown) : undefined
    },
    close: () => Promise.resolve(),
  }
}

/** Resumes an interrupted response after its last complete line, as long as each try makes progress. */
async function* eventsAfter(ask: Ask, path: string, start: Position): AsyncGenerator<RecordedEvent> {
  let after = start
  for (;;) {
    const before = after
    try {
      for await (const event of eventsOf(await askPatiently(ask, `${path}after=${after}`))) {
        after = event.position
        yield event
      }
      return
    } catch (error) {
      if (error instanceof OperatorError || after === before) throw error
    }
  }
}

async function* eventsOf(answer: IncomingMessage): AsyncGenerator<RecordedEvent> {
  for await (const text of linesOf(answer as AsyncIterable<Buffer>)) yield eventIn(text)
}

const eventIn = (text: string): RecordedEvent => {
  const parsed = parseJson(text)
  const unreadable = unreadableLine(parsed)
  if (E.isRight(unreadable)) {
    const { revision, position, unreadable: reason, ...event } = unreadable.right
    const place = {
      ...event,
      revision: BigInt(revision),
      position: BigInt(position),
      recordedAt: new Date(0),
    }
    return unreadableEvent(place, reason)
  }
  const decoded = line(parsed)
  if (E.isLeft(decoded)) throw new OperatorError('the service did not respond with events')
  const { revision, position, recorded_at, metadata, salt, content, ...event } = decoded.right
  return {
    ...event,
    metadata: metadata as EventMetadata,
    revision: BigInt(revision),
    position: BigInt(position),
    recordedAt: new Date(recorded_at),
    size: text.length,
    seal: sealIn(salt, content),
  }
}

/** An erased event comes with its digest in place of its salt. */
const sealIn = (salt: string | undefined, digest: string | undefined): Buffer | undefined => {
  if (digest !== undefined) return erasedSeal(Buffer.from(digest, 'base64'))
  return salt === undefined ? undefined : Buffer.from(salt, 'base64')
}

const LINE_FEED = 10

/** Splits a byte stream into lines. Throws if the last line is incomplete, since the response was cut off. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString('utf8')
      begun = []
      from = end + 1
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  }
  if (begun.length > 0) throw new Error('the last line is incomplete')
}
