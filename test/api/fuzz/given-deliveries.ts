import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'
import type { Memory } from './memory.js'

/** Deliveries that wait in each round: requests cancel them, and send them again. */
const WAITING = 5

/** Nobody is allowed to be reached, and this address is known to be nobody without asking. */
const URL = 'http://127.0.0.1:9/in'

/** Deliveries at home that wait for a webhook which is disabled, or gone, as the requests leave it. */
export const givenDeliveries = async (service: TestService, memory: Memory, round: number): Promise<void> => {
  const hook = { name: `held ${round}`, url: URL, enabled: false }
  const webhook = textIn(accepted(await service.post('/api/teams/home/webhooks', hook)), 'id')
  const event = { type: 'RUN_STATE', states: ['FAILED'] }
  const scope = { type: 'project', project: 'first' }
  const body = { team: 'home', name: `held ${round}`, webhook, payload: '{}', scope, event }
  const automation = textIn(accepted(await service.post('/api/automations', body)), 'id')
  memory.remember('automations', { id: automation })
  const at = '2026-01-01T00:00:00.000000Z'
  for (let index = 0; index < WAITING; index += 1) {
    const delivery_id = `dlv_${round}_${index}`
    const source = { event_id: randomUUID(), type: 'RunFailed', stream: 'run-home/first/r', position: '1' }
    const data = {
      delivery_id,
      team: 'home',
      automation_id: automation,
      automation_revision: 0,
      webhook_id: webhook,
      source: { ...source, recorded_at: at },
      event_type: 'RUN_STATE',
      variables: {},
      depth: 0,
      scheduled_at: at,
      replay_id: null,
      sequence: 1,
    }
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'system', schemaVersion: 1 }
    const scheduled = { id: randomUUID(), type: 'DeliveryScheduled', data, metadata }
    await service.stores.eventStore.append(`delivery-${delivery_id}`, 'none', [scheduled])
    memory.remember('deliveries', { id: delivery_id })
  }
}
