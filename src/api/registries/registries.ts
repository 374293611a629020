import * as E from 'fp-ts/lib/Either.js'
import { registryStream } from '../../domain/artifact/events.js'
import { copyRegistries, registryDecider } from '../../domain/artifact/registry.js'
import { decode } from '../../domain/codec/codec.js'
import { open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import { teamName } from '../../domain/ids.js'
import { sortedAfter } from '../../domain/sorted.js'
import { repeatableId } from '../access/idempotency.js'
import { pageFields, pageOf, takePage } from '../access/page.js'
import { refuseIf, requireRole } from '../auth/rights.js'
import { readsLog, writesDirectory } from '../conduct.js'
import { invalid } from '../failure.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { newRegistry, registry } from './codecs.js'
import type { Linking } from './links.js'

const PATH = '/api/registries'

const listQuery = open('RegistriesOf', { required: { team: teamName }, optional: pageFields })

/** Registries of a team. */
export const registryRoutes = ({
  ports,
  access,
  teams,
  reading,
  registriesOf,
}: Linking): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: PATH,
    summary:
      'Creates a registry of a team. Needs the role registry_administrator; a name that the team uses already is a ' +
      'conflict, unless it was taken under the same Idempotency-Key.',
    body: newRegistry,
    ...writesDirectory,
    fails: [...writesDirectory.fails, 'not-found', 'forbidden', 'conflict'],
    takes: ['Idempotency-Key'],
    answer: registry,
    handle: async ({ body: { name, team }, headers, principal, cause }) => {
      await teams.ensureTeam(principal, team, cause)
      requireRole(access, principal, team, 'registry_administrator')
      const key = headers['idempotency-key']
      const id = repeatableId(ports, `${principal.userId}\n${team}\nregistry`, key)
      const stream = registryStream(team)
      const command = { type: 'CreateRegistry', team, registry: name, id } as const
      const reload = async () => {
        const { state, expected } = await registriesOf(stream)
        return { state: copyRegistries(state), expected }
      }
      const executed = await execute(ports)(registryDecider, stream, [command], cause, { reload })
      const { state, refusals, position } = executed
      refuseIf(refusals.get(0), { id: state.ids.get(name) ?? null, name, team })
      return { body: { id, name, team }, position }
    },
  }),
  route({
    method: 'get',
    path: PATH,
    summary: "Lists a team's registries by name.",
    query: listQuery,
    ...readsLog,
    answer: pageOf(registry),
    handle: async ({ query, headers, principal }) => {
      const team = teamIn(query)
      requireRole(access, principal, team, 'member')
      const position = await reading.inLog(headers)
      const { state } = await registriesOf(registryStream(team))
      const body = takePage(
        query,
        (after) => [...sortedAfter(state.ids, after)].map(([name, id]) => ({ id, name, team })),
        ({ name }) => name,
      )
      return { body, position }
    },
  }),
]

const decodeTeam = decode(open('Team', { required: { team: teamName } }))

const teamIn = (query: Asked<unknown>['query']): string => {
  const decoded = decodeTeam({ ...query })
  if (E.isRight(decoded)) return decoded.right.team
  throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['query', ...problem.loc] })))
}
