import { Readable } from 'node:stream'
import { mayRead, mayReadFrom } from '../../domain/access/visible.js'
import type { EventStore, Position, RecordedEvent } from '../../domain/ports/event-store.js'
import { anyKey } from '../authorization.js'
import type { Principal } from '../principal.js'
import { prefetchFirst } from '../http/prefetch-first.js'
import { linesOf } from '../http/json-pages.js'
import type { AnyRoute } from '../route.js'
import { readDirectory } from '../route-kinds.js'
import type { Audit } from './audit.js'
import { eventsQuery } from './query.js'
import { cursorLine, cursorLineOf, eventLine, lineOf } from './event-line.js'

const NDJSON = 'application/x-ndjson'

/** Limits of one response without the administrator key: scanned events and their characters. */
const MOST_SCANNED = 20_000
const MOST_CHARACTERS = 32 * 1024 * 1024

export const eventsRoute = ({ ports: { eventStore } }: Pick<Audit, 'ports'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/events',
    summary:
      "Read the log in order: all of it for the administrator, otherwise the events of the caller's teams and their " +
      'projects; events of webhooks, secrets, upstreams, limits and members need the role team_administrator. To resume an interrupted response, request the events after the position of its last complete line. ' +
      `Without the administrator key a response ends after scanning ${MOST_SCANNED} events of the log, ` +
      'with a line that has only `position`, to continue after, and `more`.',
    query: eventsQuery,
    errors: ['overloaded'],
    response: {
      schema: linesOf('One event per line.', { anyOf: [eventLine.schema, cursorLine.schema] }),
      type: NDJSON,
      headers: ['Tallytree-Position'],
    },
    authorization: anyKey,
    handle: async ({ query, principal }) => {
      const head = await eventStore.head()
      const lines = linesFor(eventStore, { ...query, head }, principal)
      const body = Readable.from(await prefetchFirst(lines), { objectMode: false })
      return { body, type: NDJSON, position: head }
    },
  })

interface Question {
  readonly after: Position
  readonly stream: string | undefined
  readonly types: ReadonlySet<string> | undefined
  readonly limit: number | undefined
  readonly head: Position
}

/** Lines are written in chunks of about this many characters. */
const TOGETHER = 65_536

async function* linesFor(
  eventStore: EventStore,
  { limit = Infinity, ...question }: Question,
  principal: Principal,
): AsyncGenerator<string> {
  const isBounded = !principal.administrator && question.stream === undefined
  let gathered = ''
  let left = limit
  let scanned = 0
  let characters = 0
  let last = question.after
  for await (const event of eventsOf(eventStore, question, principal)) {
    if (isBounded && (scanned === MOST_SCANNED || characters > MOST_CHARACTERS)) {
      yield gathered + cursorLineOf(last)
      return
    }
    scanned += 1
    characters += event.size
    last = event.position
    if (question.types?.has(event.type) === false || !mayRead(principal, event)) continue
    gathered += lineOf(event)
    left -= 1
    if (left === 0) break
    if (gathered.length < TOGETHER) continue
    yield gathered
    gathered = ''
  }
  if (gathered !== '') yield gathered
}

/** Does not read a stream that the principal may not read, so that it looks the same as a missing one. */
async function* eventsOf(
  eventStore: EventStore,
  { after, stream, head }: Omit<Question, 'limit'>,
  principal: Principal,
): AsyncGenerator<RecordedEvent> {
  if (stream !== undefined && !mayReadFrom(principal, stream)) return
  const events = stream === undefined ? eventStore.readAll({ after }) : eventStore.readStream(stream)
  for await (const event of events) {
    if (event.position > head) return
    if (event.position > after) yield event
  }
}
