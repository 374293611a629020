import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers, dependingOn, hangs } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'

describe('two teams with webhooks on one host', () => {
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
    receiver = await startReceiver(dependingOn(({ path }) => (path === '/fast' ? answers(200) : hangs)))
  })
  afterEach(async () => {
    await log.stop(50)
    await receiver.stop()
  })
  const receivedAt = (matches: (path: string) => boolean) =>
    receiver.received.filter(({ path }) => matches(path)).length

  it('delays no message of one team while 40 webhooks of the other hang', async () => {
    for (let index = 0; index < 40; index += 1) {
      const id = `h-${index}`
      await log.append(`webhook-${id}`, webhookCreated(id, `${receiver.url}${id}`, { timeout_s: 30 }))
      await log.append(`automation-${id}`, automationCreated(id, id))
    }
    const team = 'others'
    await log.append('webhook-f', webhookCreated('f', `${receiver.url}fast`, { team }))
    const scope = { type: 'project', entity: team, project: 'p' }
    await log.append('automation-f', automationCreated('f', 'f', { team, scope }))
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receivedAt((path) => path !== '/fast') === 32)
    await log.append('artifact-others/p/model', aliasAdded('two', { team, project_id: 'others/p' }))
    await until(() => receivedAt((path) => path === '/fast') === 1, 5000)
  })
})
