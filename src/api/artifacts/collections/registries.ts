import { registryAdministrator } from '../../../domain/access/roles.js'
import { createRegistry, registriesOf } from '../../../application/artifacts/registries.js'
import type { Services } from '../../../application/services.js'
import type * as t from 'io-ts'
import { open } from '../../../kernel/codec/struct.js'
import { teamName } from '../../../kernel/ids.js'
import { sortedAfter } from '../../../kernel/sorted.js'
import { repeatableId } from '../../server/idempotency.js'
import { pageFields, pageOf, takePage } from '../../server/page.js'
import { requireRole } from '../../../application/access/rights.js'
import { memberOfTeam } from '../../server/authorization.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { readLog, writeDirectory } from '../../server/route-kinds.js'
import { writing } from '../../server/run.js'
import { newRegistry, registry } from './codecs.js'

const PATH = '/api/registries'

const listQuery = open('RegistriesOf', { required: { team: teamName }, optional: pageFields })

export const registryRoutes = (
  services: Pick<Services, 'eventStore' | 'ids' | 'sha256' | 'access' | 'reading'>,
): readonly AnyRoute[] => {
  const { access } = services
  return [
    writeDirectory({
      method: 'post',
      path: PATH,
      summary:
        'Creates a registry of a team. Needs the role registry_administrator, for this registry or all; a duplicate name is a ' +
        'conflict, except in a retry with the same Idempotency-Key.',
      body: newRegistry,
      requestHeaders: ['Idempotency-Key'],
      errors: ['conflict'],
      response: registry,
      authorization: {
        errors: ['not-found', 'forbidden'],
        authorize: async ({
          body: { name, team },
          principal,
          cause,
        }: RouteRequest<t.TypeOf<typeof newRegistry>>) => {
          await access.ensureTeam(principal, team, cause)
          requireRole(access, principal, team, registryAdministrator(name))
          return {}
        },
      },
      handle: (request) => {
        const { name, team } = request.body
        const id = repeatableId(services, request, team, 'registry')
        return writing(
          (cause) => createRegistry(services, { team, registry: name, id }, cause),
          () => ({ id, name, team }),
          ({ ids }) => ({ id: ids.get(name) ?? null, name, team }),
        )
      },
    }),
    readLog(services, {
      method: 'get',
      path: PATH,
      summary: "Lists a team's registries by name.",
      query: listQuery,
      response: pageOf(registry),
      authorization: memberOfTeam(access),
      handle:
        ({ query }) =>
        async () => {
          const { team, after, limit } = query
          const { ids } = await registriesOf(services, team)
          const listed = [...sortedAfter(ids, after)].map(([name, id]) => ({ id, name, team }))
          const body = takePage(listed, { limit, keyOf: ({ name }) => name })
          return { body }
        },
    }),
  ]
}
