import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { REBUILDS_SCOPE, requestRebuilds } from '../../application/rebuilds/rebuilds.js'
import { rebuildOf, rebuildsIn, REBUILD_STATES, type Rebuild } from '../../projections/rebuilds/queries.js'
import { administratorKey } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, readPresent, writeDirectory } from '../server/route-kinds.js'

const rebuild = open('Rebuild', {
  required: { id: string, state: oneOf(...REBUILD_STATES), requested_at: instant, requested_by: string },
  optional: {
    started_at: nullable(instant),
    finished_at: nullable(instant),
    reached: string,
    target: string,
    events: number,
    events_per_second: number,
    remaining_seconds: nullable(number),
    reason: nullable(string),
  },
})

const PATH = '/api/admin/rebuilds'

const MANY = 100

type RebuildServices = Pick<Services, 'eventStore' | 'clock' | 'ids' | 'reading'>

export const rebuildRoutes = (services: RebuildServices): readonly AnyRoute[] => [
  requestRebuild(services),
  listRebuilds(services),
  showRebuild(services),
]

const requestRebuild = (services: RebuildServices): AnyRoute => {
  const requestOne = requestRebuilds(services)
  return writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      'Starts a rebuild of all read models from the log, one rebuild at a time. Needs the administrator key.',
    requestHeaders: ['Tallytree-Min-Position'],
    errors: [...alsoReads.errors, 'conflict'],
    response: rebuild,
    authorization: administratorKey,
    handle: ({ principal, headers, reader }) => {
      const write = requestOne(principal.userId, reader, presentConditionsIn(headers))
      return async (cause) => {
        const { request, position } = await write(cause)
        return { body: { state: 'requested' as const, ...request }, position }
      }
    },
  })
}

const listRebuilds = (services: Pick<Services, 'reading'>): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: PATH,
    summary: 'Lists the latest rebuilds and their progress, newest first. Needs the administrator key.',
    response: open('RebuildList', { required: { data: arrayOf(rebuild) } }),
    authorization: administratorKey,
    scope: () => REBUILDS_SCOPE,
    handle:
      ({ reader }) =>
      async () => {
        const rebuilds = await rebuildsIn(reader, REBUILD_STATES, MANY)
        return { body: { data: rebuilds.map(rebuildJson) } }
      },
  })

const showRebuild = (services: Pick<Services, 'reading'>): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: `${PATH}/:id`,
    summary: 'The progress of a rebuild. Needs the administrator key.',
    errors: ['not-found'],
    response: rebuild,
    authorization: administratorKey,
    scope: () => REBUILDS_SCOPE,
    handle:
      ({ params, reader }) =>
      async () => {
        const found = await rebuildOf(reader, params['id'] ?? '')
        if (found === undefined) throw new Failure('not-found', 'Rebuild not found.')
        return { body: rebuildJson(found) }
      },
  })

const rebuildJson = ({ version: _, rebuilt: __, requested_position: ___, ...said }: Rebuild) => ({
  ...said,
  reached: String(said.reached),
  target: String(said.target),
})
