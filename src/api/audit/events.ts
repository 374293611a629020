import type { Services } from '../../application/services.js'
import { Readable } from 'node:stream'
import * as t from 'io-ts'
import { invalid } from '../../application/failure.js'
import { MAX_SCANNED, readableEvents } from '../../application/audit/events.js'
import { catalogue } from '../../domain/catalogue.js'
import { Codec, describedAs, refuse } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { isErased, SALT_BYTES } from '../../kernel/event-seal.js'
import { jsonText } from '../../kernel/json/text.js'
import { projectId } from '../../kernel/ids.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { anyKey } from '../server/authorization.js'
import { linesOf } from '../server/json-pages.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'

const MAX_POSITION = 2n ** 63n - 1n

export const positionText: Codec<Position> = new Codec<Position>(
  'position',
  (u): u is Position => typeof u === 'bigint',
  (u, c) =>
    typeof u === 'string' && /^\d{1,19}$/.test(u) && BigInt(u) <= MAX_POSITION
      ? t.success(BigInt(u))
      : refuse(u, c, 'int_parsing', 'Input should be a log position in decimal digits'),
  { type: 'integer', format: 'int64', minimum: 0 },
)

export const limitText: Codec<number> = new Codec<number>(
  'limit',
  (u): u is number => typeof u === 'number',
  (u, c) =>
    typeof u === 'string' && /^[1-9]\d{0,14}$/.test(u)
      ? t.success(Number(u))
      : refuse(u, c, 'int_parsing', 'Input should be a whole number of at least 1'),
  { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
)

const TYPES: ReadonlySet<string> = new Set(catalogue.flatMap(({ events }) => Object.keys(events)))

const typesText: Codec<ReadonlySet<string>> = new Codec<ReadonlySet<string>>(
  'types',
  (u): u is ReadonlySet<string> => u instanceof Set,
  (u, c) => {
    const types = typeof u === 'string' ? u.split(',') : []
    return types.length > 0 && types.every((type) => TYPES.has(type))
      ? t.success(new Set(types))
      : refuse(u, c, 'literal_error', 'Input should be a comma-separated list of event types')
  },
  {
    type: 'string',
    pattern: `^(${[...TYPES].join('|')})(,(${[...TYPES].join('|')}))*$`,
    description: 'A comma-separated list of event types.',
  },
)

const eventsQuery = closed('Events', {
  optional: {
    /** `desc` is newest first. */
    order: withDefault(oneOf('asc', 'desc'), 'asc' as const),
    /** Exclusive. */
    after: withDefault(positionText, 0n),
    /** Exclusive. */
    before: withDefault(positionText, undefined),
    /** The full name of a stream. */
    stream: withDefault(string, undefined),
    types: withDefault(typesText, undefined),
    /** Only events that name this project, in their stream or their data. */
    project_id: withDefault(projectId, undefined),
    /** Only events of a thing of the project or its team, by its id or name in the name of the stream. Needs `project_id`. */
    object: withDefault(string, undefined),
    /** Only events that this user caused, by `actor` in their metadata. */
    actor: withDefault(string, undefined),
    /** The maximum number of events; without it, all up to the head of the log at the time of the request. */
    limit: withDefault(limitText, undefined),
    /** `true` adds to each event its index and its salt, or `erased` and `content`, with which its entry in the tree of the log can be made. */
    seal: withDefault(oneOf('true', 'false'), 'false'),
  },
})

const digits = describedAs(string, { pattern: '^[0-9]+$', description: 'A 64-bit integer.' })

/** An event of the log, as one line of JSON. */
const eventLine = open('RecordedEvent', {
  required: {
    id: string,
    type: string,
    stream: string,
    /** Counts from 0 within the stream. */
    revision: digits,
    /** Its position in the log. */
    position: digits,
    recorded_at: describedAs(string, { format: 'date-time' }),
    data: jsonObject,
    metadata: jsonObject,
  },
  optional: {
    /** How many events the log has before it. Absent while no checkpoint covers it. */
    index: int64,
    /** In base64. Absent where the data is not shown whole, and where it was erased. */
    salt: string,
    /** True if the data is only what an erasure left. */
    erased: boolean,
    /** In base64: the digest that the entry of an erased event has in the tree of the log. */
    content: string,
  },
})

const unreadableLine = open('UnreadableEvent', {
  says: 'An event whose row in the log is damaged.',
  required: {
    id: string,
    type: string,
    stream: string,
    revision: digits,
    position: digits,
    /** What is damaged. */
    unreadable: string,
  },
})

/** The last line of a response that stops before the end of the log. */
const cursorLine = open('EventsCursor', { required: { position: digits, more: boolean } })

const cursorLineOf = (position: Position): string =>
  `${JSON.stringify({ position: String(position), more: true })}\n`

/** The seal as a line has it, which a copy can be made with. */
const sealMembers = (seal: Uint8Array) =>
  isErased(seal) ? { erased: true, content: base64Of(seal.subarray(SALT_BYTES)) } : { salt: base64Of(seal) }

const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const lineOf = (event: RecordedEvent, index: number | undefined): string => {
  const { id, type, stream, revision, position, recordedAt, data, metadata, unreadable, seal } = event
  const sealed = { ...(index === undefined ? {} : { index }), ...(seal && sealMembers(seal)) }
  const place = { id, type, stream, revision: String(revision), position: String(position) }
  const line =
    unreadable === undefined
      ? { ...place, recorded_at: recordedAt.toISOString(), data, metadata, ...sealed }
      : { ...place, unreadable, ...sealed }
  return `${jsonText(line)}\n`
}

const NDJSON = 'application/x-ndjson'

export const eventsRoute = ({ eventStore, sealing }: Pick<Services, 'eventStore' | 'sealing'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/events',
    summary:
      "Read the log in order: all of it for the administrator, otherwise the events of the caller's teams and their " +
      'projects; events of webhooks, secrets, upstreams, limits and members need the role team_administrator. To resume an interrupted response, request the events after the position of its last complete line. ' +
      `Without the administrator key, and with \`order=desc\`, \`project_id\` or \`actor\`, a response ends after scanning ${MAX_SCANNED} events of the log, ` +
      'with a line that has only `position`, to continue after (with `order=desc`: before), and `more`.',
    query: eventsQuery,
    errors: ['overloaded'],
    response: {
      schema: linesOf('One event per line.', {
        anyOf: [eventLine.schema, unreadableLine.schema, cursorLine.schema],
      }),
      type: NDJSON,
      headers: ['Tallytree-Position'],
    },
    authorization: anyKey,
    handle: async ({ query, principal }) => {
      const head = await eventStore.head()
      const { project_id: project, ...range } = query
      if (query.object !== undefined && project === undefined)
        throw invalid([
          { loc: ['query', 'object'], type: 'value_error', msg: 'Value error, "object" needs "project_id"' },
        ])
      const seals = query.seal === 'true' ? sealing() : undefined
      const request = { ...range, project, head, sealOf: seals?.sealOf }
      const events = readableEvents(eventStore, request, principal)
      const lines = linesOfEvents(events, seals?.indices())
      const body = Readable.from(await prefetchFirst(lines), { objectMode: false })
      return { body, type: NDJSON, position: head }
    },
  })

/** Lines are written in chunks of about this many characters. */
const CHUNK_CHARACTERS = 65_536

async function* linesOfEvents(
  events: AsyncIterable<RecordedEvent | Position>,
  indexAt?: (position: Position) => Promise<number | undefined>,
): AsyncGenerator<string> {
  let chunk = ''
  for await (const event of events) {
    chunk += typeof event === 'bigint' ? cursorLineOf(event) : lineOf(event, await indexAt?.(event.position))
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}
