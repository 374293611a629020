import { arrayOf } from '../../domain/codec/containers.js'
import { int64, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { digestsOf } from '../../projections/digests/queries.js'
import { KeyedMutex } from '../../runtime/keyed-mutex.js'
import { requireAdministrator } from '../auth/rights.js'
import { Failure } from '../failure.js'
import { route, type AnyRoute } from '../route.js'
import type { Audit } from './audit.js'
import { decodeQuery, digestsQuery } from './query.js'

const modelDigest = open('ModelDigest', { required: { model: string, rows: int64, digest: string } })

export const digestsRoute = ({ ports: { eventStore }, reading, reader }: Audit): AnyRoute => {
  // They read every table: two at once would only take twice as long, and keep two readers from others.
  const mutex = new KeyedMutex()

  return route({
    method: 'get',
    path: '/api/admin/digests',
    summary: 'What every read model says as of a log position, as digests. Needs the administrator key.',
    query: digestsQuery,
    takes: ['Tallytree-Min-Position', 'Tallytree-Stale'],
    fails: [
      ...['bad-request', 'forbidden', 'invalid', 'overloaded', 'not-yet-readable'],
      ...['too-slow', 'too-costly'],
    ] as const,
    answer: open('Digests', { required: { position: string, digests: arrayOf(modelDigest) } }),
    handle: async ({ query, headers, principal }) => {
      requireAdministrator(principal)
      const { at } = decodeQuery(digestsQuery, query)
      const head = await eventStore.head()
      if (at !== undefined && at > head)
        throw new Failure('bad-request', `The log ends at position ${head}: "at" lies beyond it.`)
      const reached = await reading.current('', headers, at ?? head)
      if (at !== undefined && at > reached)
        throw new Failure('not-yet-readable', 'The position "at" cannot be read yet. Try again.', {
          retryAfter: 1,
        })
      const position = at ?? reached
      const digests = await mutex.runExclusive('digests', () => digestsOf(reader, position))
      return { body: { position: String(position), digests }, position }
    },
  })
}
