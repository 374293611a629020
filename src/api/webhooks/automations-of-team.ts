import type { Services } from '../../application/services.js'
import type { RunExclusive } from './webhooks.js'
import type * as t from 'io-ts'
import { open } from '../../kernel/codec/struct.js'
import { teamName } from '../../kernel/ids.js'
import { namesAfter } from '../../domain/webhooks/names/names.js'
import { idFromKey } from '../server/idempotency.js'
import { pageFields, pageOf, takePage } from '../server/page.js'
import { requireRole } from '../../application/access/rights.js'
import { memberOfTeam } from '../server/authorization.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, idempotent, writeDirectory } from '../server/route-kinds.js'
import { automationJson, newAutomation, showingAutomations } from './automation-codecs.js'
import { roleFor, type ValidationPorts } from '../../application/webhooks/checks.js'
import { createAutomation } from '../../application/webhooks/automations.js'
import { writing } from '../server/run.js'
import { automationById, namedNow, rosterOf } from '../../application/webhooks/current-state.js'

const PATH = '/api/automations'

export const createAutomationRoute = (
  services: ValidationPorts & Pick<Services, 'clock' | 'access'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      'Creates an automation of a team for one of its webhooks, given by name or id. A duplicate name is a conflict; ' +
      'the response has the id of the existing automation. Needs the role project_administrator, registry_administrator or ' +
      'team_administrator, depending on its scope.',
    body: newAutomation,
    ...idempotent,
    response: automationJson,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { team, scope }, principal }: RouteRequest<t.TypeOf<typeof newAutomation>>) => {
        requireRole(services.access, principal, team, roleFor(scope))
        return {}
      },
    },
    handle: (request) => {
      const { action_type: _, ...automation } = request.body
      const { team } = automation
      const fromKey = idFromKey(services, request, team, 'automation')
      const id = fromKey ?? services.ids.next()
      const isRepeatable = fromKey !== undefined
      return writing(
        (cause) => runExclusive(() => createAutomation(services, { ...automation, id, isRepeatable }, cause)),
        async ({ state }) => (await showingAutomations(services, team, request))(state!),
      )
    },
  })

const listQuery = open('AutomationsAsked', { required: { team: teamName }, optional: pageFields })

export const listAutomations = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>,
): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: "Lists a team's automations by name. Needs membership in the team.",
    query: listQuery,
    response: pageOf(automationJson),
    authorization: memberOfTeam(services.access),
    handle: async ({ query, reader }) => {
      const roster = await rosterOf(services, query.team)
      const { data, next } = takePage(namesAfter(roster, 'automation', query.after), {
        limit: query.limit,
        keyOf: ({ name }) => name,
      })
      const listed = await namedNow(data, (id) => automationById(services, id))
      const show = await showingAutomations(services, query.team, { reader })
      return { body: { data: await Promise.all(listed.map(show)), next } }
    },
  })
