import { Readable } from 'node:stream'
import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { eventsRoute, positionText } from './events.js'
import { logRoutes } from './log.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import { arrayOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { digestsOf } from '../../projections/audit/queries.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import { administratorKey } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import { readPresent, readDirectory } from '../server/route-kinds.js'

const blobsRoute = ({ blobs }: Pick<Services, 'blobs'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/blobs/:digest',
    summary:
      'Read content that events reference instead of containing it, by its SHA-256 in lower-case hex. Needs the ' +
      'administrator key.',
    errors: ['not-found'],
    response: { schema: { type: 'string', format: 'binary' }, type: 'application/octet-stream' },
    authorization: administratorKey,
    handle: async ({ params }) => {
      const blob = await blobs.open(params['digest'] ?? '')
      if (blob === undefined) throw new Failure('not-found', 'Blob not found.')
      return {
        body: Readable.from(blob.chunks, { objectMode: false }),
        type: 'application/octet-stream',
        headers: { 'Content-Length': String(blob.size) },
      }
    },
  })

const digestsQuery = closed('DigestsAt', { optional: { at: withDefault(positionText, undefined) } })
const modelDigest = open('ModelDigest', { required: { model: string, rows: int64, digest: string } })

const digestsRoute = (services: Pick<Services, 'eventStore' | 'reading'>): AnyRoute => {
  const { eventStore, reading } = services
  // Digests read every table: one at a time leaves readers to other requests.
  const mutex = new KeyedMutex()

  return readPresent(services, {
    method: 'get',
    path: '/api/admin/digests',
    summary: 'Digests of the rows of every read model as of a log position. Needs the administrator key.',
    query: digestsQuery,
    errors: ['bad-request'],
    response: open('Digests', { required: { position: string, digests: arrayOf(modelDigest) } }),
    authorization: administratorKey,
    scope: () => '',
    handle: async ({ query: { at }, headers, reader }) => {
      const head = await eventStore.head()
      if (at !== undefined && at > head)
        throw new Failure('bad-request', `"at" is beyond the end of the log, position ${head}.`)
      return {
        waitFor: () => reading.waitForNow('', presentConditionsIn(headers), at ?? head),
        read: async (reached) => {
          if (at !== undefined && at > reached)
            throw new Failure(
              'not-yet-readable',
              'The read models have not reached the position "at" yet. Try again.',
              { retryAfter: 1 },
            )
          const position = at ?? reached
          const digests = await mutex.runExclusive('digests', () => digestsOf(reader, position))
          return { body: { position: String(position), digests }, position }
        },
      }
    },
  })
}

export const auditRoutes = (services: Services): readonly AnyRoute[] => [
  eventsRoute(services),
  ...logRoutes(services),
  blobsRoute(services),
  digestsRoute(services),
]
