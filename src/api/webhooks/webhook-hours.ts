import type { Services } from '../../application/services.js'
import { invalid } from '../../application/failure.js'
import { hoursOfWebhook } from '../../projections/webhooks/statistics.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { int64, number } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readPresent } from '../server/route-kinds.js'
import { ackScopeOf } from './deliveries/list.js'
import { existingWebhook } from '../../application/webhooks/webhooks.js'
import { webhookInPath, WEBHOOK_PATH } from './one-webhook.js'

const DAY_MS = 24 * 3600 * 1000
const MAX_DAYS = 92

const hoursQuery = closed('WebhookHealthQuery', {
  optional: { from: withDefault(instant, undefined), to: withDefault(instant, undefined) },
})

const hoursJson = open('WebhookHealth', {
  says: 'The attempts of a webhook by the hour in which they ended, in UTC. Hours without attempts are left out.',
  required: {
    data: arrayOf(
      open('WebhookHour', {
        required: { hour: instant, attempts: int64, succeeded: int64, success_rate: number },
        optional: { p50_ms: nullable(number), p95_ms: nullable(number) },
      }),
    ),
  },
})

export const webhookHoursRoute = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: `${WEBHOOK_PATH}/health`,
    summary:
      'The attempts of a webhook by the hour, their share of successes, and their durations: of the last 24 hours, or from ' +
      '`from` until before `to`, at most 92 days. Needs the role team_administrator.',
    query: hoursQuery,
    response: hoursJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    scope: ({ team }) => ackScopeOf(team),
    handle: async (request) => {
      const { id, team } = await existingWebhook(services, webhookInPath(request))
      const now = services.clock.now().getTime()
      const { to = instantOf(new Date(now)) } = request.query
      const { from = instantOf(new Date(Date.parse(to) - DAY_MS)) } = request.query
      const isTooLong = Date.parse(to) - Date.parse(from) > MAX_DAYS * DAY_MS
      if (isTooLong || from >= to) {
        const msg = isTooLong
          ? `Input should be at most ${MAX_DAYS} days before to`
          : 'Input should be before to'
        throw invalid([{ loc: ['query', 'from'], type: 'value_error', msg }])
      }
      return async () => {
        const hours = await hoursOfWebhook(request.reader)(team, id, from, to)
        const data = hours.map((hour) => ({ ...hour, success_rate: hour.succeeded / hour.attempts }))
        return { body: { data } }
      }
    },
  })
