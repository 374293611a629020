import type * as t from 'io-ts'
import type { deliveryDetail, deliveryJson } from '../../../../src/api/webhooks/deliveries/codecs.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { anAutomation, aWebhook, givenTeam } from '../given.js'
import { accepted, textIn } from '../../calls/given.js'

export type Listed = t.TypeOf<typeof deliveryJson>
type Detail = t.TypeOf<typeof deliveryDetail>

/** Endpoints of deliveries, and of what automations did. */
export const OF_DELIVERIES = [
  'GET /api/deliveries',
  'GET /api/deliveries/counts',
  'POST /api/deliveries/actions',
  'GET /api/deliveries/{id}',
  'POST /api/deliveries/{id}/resend',
  'POST /api/deliveries/{id}/cancel',
  'GET /api/automations/{id}/deliveries',
  'GET /api/automations/{id}/why',
  'POST /api/automations/{id}/backtest',
  'POST /api/automations/{id}/redrive',
]

/** Waits that tests can bear, in seconds. */
export const FAST = { retry_waits_s: [0.05, 0.05], timeout_s: 30 }

/** Where people reach the service. */
export const PUBLIC_URL = 'https://traces.example'

export interface Sending {
  readonly service: TestService
  readonly stop: () => Promise<void>
  readonly receiver: (behaviour: Behaviour) => Promise<Receiver>
}

/** A service that sends to receivers of this machine. */
export const startSending = async (settings: Readonly<Record<string, string>> = {}): Promise<Sending> => {
  const service = await startTestService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...settings })
  const receivers: Receiver[] = []
  return {
    service,
    receiver: async (behaviour) => {
      const started = await startReceiver(behaviour)
      receivers.push(started)
      return started
    },
    stop: async () => {
      await service.stop()
      for (const receiver of receivers) await receiver.stop()
    },
  }
}

/** A team with a webhook at a receiver, and an automation for every alias in its project. */
export const givenAutomation = async (
  { service, receiver }: Sending,
  behaviour: Behaviour,
  content: object = FAST,
) => {
  const team = await givenTeam(service)
  const { url, received } = await receiver(behaviour)
  const webhook = textIn(accepted(await team.postWebhook(aWebhook({ url: `${url}in`, ...content }))), 'id')
  const payload = '{"alias": "${alias}", "token": "${ACCESS_TOKEN}"}'
  const withToken = await team.send('PATCH', `${team.webhooks}/${webhook}`, { access_token: 'TOKEN' })
  accepted(withToken)
  await service.stores.secrets.put({ team: team.team, name: 'TOKEN', version: 1 }, 'very-secret')
  const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '.' }
  const made = await team.postAutomation(anAutomation(team.team, { webhook, payload, event }))
  const automation = textIn(accepted(made), 'id')

  const aliasAdded = (alias: string) =>
    team.append(`artifact-${team.team}/project/model`, 'AliasAdded', {
      team: team.team,
      project_id: `${team.team}/project`,
      registry: null,
      collection: 'model',
      version: 0,
      alias,
    })
  const listed = async (query = ''): Promise<readonly Listed[]> => {
    const answer = accepted(await team.send('GET', `/api/automations/${automation}/deliveries?${query}`))
    return answer['data'] as unknown as readonly Listed[]
  }
  const detailOf = async (delivery: string): Promise<Detail> =>
    accepted(await team.send('GET', `/api/deliveries/${delivery}`)) as unknown as Detail
  return { ...team, webhook, automation, received, aliasAdded, listed, detailOf }
}
