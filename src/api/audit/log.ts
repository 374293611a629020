import type { Services } from '../../application/services.js'
import { provableEvent } from '../../application/audit/provable-event.js'
import type { Sealing } from '../../application/audit/sealing.js'
import { Failure } from '../../application/failure.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { parseTilePath, type TilePath } from '../../kernel/tlog/entries.js'
import { administratorKey, anyKey } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { limitText } from './events.js'
import { readDirectory } from '../server/route-kinds.js'

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'

const text = (description: string) => ({ schema: { type: 'string', description }, type: 'text/plain' })
const bytes = (description: string) => ({
  schema: { type: 'string', format: 'binary', description },
  type: BYTES,
})

const unsealed = () =>
  new Failure('not-yet-readable', 'The log is not sealed so far yet. Try again.', { retryAfter: 2 })

const noTile = () => new Failure('not-found', 'The tree of the log has no such tile.')

export const logRoutes = (services: Pick<Services, 'eventStore' | 'sealing'>): readonly AnyRoute[] => {
  const { eventStore, sealing } = services
  const sealed = (): Sealing => {
    const current = sealing()
    if (current !== undefined) return current
    throw new Failure(
      'not-found',
      'This process does not seal the log: one with the roles api and projector does.',
    )
  }
  const checkpoint = () => {
    const latest = sealed().checkpoint()
    if (latest === undefined) throw unsealed()
    return latest
  }

  return [
    readDirectory({
      method: 'get',
      path: '/api/log/checkpoint',
      summary: 'The latest signed checkpoint of the event log (c2sp.org/tlog-checkpoint).',
      errors: ['not-yet-readable', 'not-found'],
      response: text('A signed note: origin, number of events, root of the Merkle tree, and signatures.'),
      authorization: anyKey,
      handle: async () => ({ body: checkpoint().note, type: TEXT }),
    }),
    readDirectory({
      method: 'get',
      path: '/api/log/checkpoints',
      summary:
        'Past checkpoints of the event log, by size: the last one of each minute, after a day of each hour, and after 30 ' +
        'days of each day; and the keys that verify them.',
      query: closed('CheckpointsQuery', {
        optional: {
          /** Only this number of the latest ones. */
          limit: withDefault(limitText, undefined),
        },
      }),
      errors: ['not-found'],
      response: signedLog,
      authorization: anyKey,
      handle: async ({ query: { limit } }) => {
        const { verifierKeys, previous, checkpoints } = sealed()
        const all = (await checkpoints()).map(({ size, signedAt, note }) => ({
          size,
          signed_at: signedAt.toISOString(),
          note,
        }))
        const sealed_since = all[0]?.signed_at ?? null
        const data = limit === undefined ? all : all.slice(-limit)
        return { body: { verifier_keys: verifierKeys(), previous: previous() ?? null, sealed_since, data } }
      },
    }),
    readDirectory({
      method: 'get',
      path: '/api/log/tile/entries/*path',
      summary:
        'Up to 256 entries of the tree of the event log, each after its length in two bytes (c2sp.org/tlog-tiles). Needs the ' +
        'administrator key.',
      errors: ['not-found'],
      response: bytes('A bundle of entries.'),
      authorization: administratorKey,
      handle: async ({ params }) => {
        const { index, width } = pathIn(params)
        const bundle = await sealed().entries(index, width)
        if (bundle === undefined) throw noTile()
        return { body: bundle, type: BYTES }
      },
    }),
    readDirectory({
      method: 'get',
      path: '/api/log/tile/:level/*path',
      summary: 'Up to 256 hashes of a level of the tree of the event log (c2sp.org/tlog-tiles).',
      errors: ['not-found'],
      response: bytes('Hashes of 32 bytes.'),
      authorization: anyKey,
      handle: async ({ params }) => {
        const { index, width } = pathIn(params)
        const level = params['level'] ?? ''
        const hashes = /^(0|[1-9]\d?)$/.test(level)
          ? await sealed().tile(Number(level), index, width)
          : undefined
        if (hashes === undefined) throw noTile()
        return { body: hashes, type: BYTES }
      },
    }),
    readDirectory({
      method: 'get',
      path: '/api/log/proof',
      summary:
        'A proof that an event is in the log, which can be checked without the service (c2sp.org/tlog-proof). Its extra data is ' +
        'the entry of the event.',
      query: closed('ProofOf', {
        required: {
          /** The id of the event. */
          event: string,
        },
        optional: {
          /** The full name of its stream, which a log in an EventStoreDB needs. */
          stream: withDefault(string, undefined),
        },
      }),
      errors: ['bad-request', 'not-found', 'not-yet-readable'],
      response: text('A proof with the latest checkpoint.'),
      authorization: anyKey,
      handle: async ({ query: { event: id, stream }, principal }) => {
        const { proof } = sealed()
        const event = await provableEvent(eventStore, { id, stream }, principal)
        const found = await proof(event.position)
        if (found === undefined) throw unsealed()
        return { body: found, type: TEXT }
      },
    }),
  ]
}

const signedLog = open('SignedLog', {
  required: {
    /** Former ones are included. */
    verifier_keys: arrayOf(string),
    /** The last checkpoint of the log that this one replaced. */
    previous: nullable(string),
    /** When the first checkpoint was signed. */
    sealed_since: nullable(string),
    data: arrayOf(open('SignedCheckpoint', { required: { size: int64, signed_at: string, note: string } })),
  },
})

const pathIn = (params: Readonly<Record<string, string>>): TilePath => {
  const parsed = parseTilePath(params['path'] ?? '')
  if (parsed === undefined) throw noTile()
  return parsed
}
