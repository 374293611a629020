import { positionsAsOf } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { json, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { parseRef, type Ref } from '../../domain/refs/ref.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readProjects } from '../server/route-kinds.js'
import { resolveRefs } from '../../application/refs/resolve.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'

/** The limit of the original servers. */
const MAX_REFS = 1000

const refsReadBatch = closed('RefsReadBatchRequest', { required: { refs: arrayOf(string) } })

export const refRoutes = (services: Pick<Services, 'access' | 'reading'>): readonly AnyRoute[] => [
  readProjects({
    method: 'post',
    path: '/refs/read_batch',
    summary:
      'Resolve references, in the given order; null for a reference that does not resolve. A text that is no reference ' +
      'is a 400.',
    body: refsReadBatch,
    response: open('RefsReadBatchResponse', { required: { vals: arrayOf(json) } }),
    handle: async (request) => {
      const {
        body: { refs },
        reader,
      } = request
      if (refs.length > MAX_REFS)
        throw new Failure(
          'bad-request',
          `At most ${MAX_REFS} refs per request. Split it into several requests.`,
        )
      const parsed = refs.map(referenceAt)
      let position: Position | undefined
      const positionOf = positionsAsOf(services, request)
      const sources = sourcesFrom(reader, async (projectId) => {
        const readable = await positionOf(projectId)
        return (position = readable ?? position) && readable
      })
      const values = await resolveRefs(sources, parsed)
      return { body: `{"vals":[${values.join(',')}]}`, type: 'application/json; charset=utf-8', position }
    },
  }),
]

/** @throws Failure for a text that is no reference, as other servers do: it can resolve nowhere */
const referenceAt = (text: string, place: number): Ref => {
  const parsed = parseRef(text)
  if (parsed !== undefined) return parsed
  throw new Failure(
    'bad-request',
    `refs[${place}] is not a reference: it should be weave:///entity/project/<object|op|table|call>/<name>[:<version>], ` +
      'followed by pairs of attr, key, index or id and a percent-encoded value.',
  )
}
