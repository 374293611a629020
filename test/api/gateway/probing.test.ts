import assert from 'node:assert/strict'
import { undiciUpstreamClient } from '../../../src/adapters/outgoing/upstream-client/undici-upstream-client.js'
import { startProbing } from '../../../src/gateway/upstreams/probing.js'
import type { Upstream } from '../../../src/domain/gateway/upstreams/directory.js'
import { answers, answersHugely, closes } from '../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../support/receivers/receiver.js'
import { until } from '../../support/until.js'
import { aContent } from '../../unit/domain/gateway/upstreams/given.js'

describe('probing upstreams', () => {
  it('asks those that are to be probed whether anybody is there, whatever they answer, without a credential', async () => {
    const behaviours: readonly (readonly [string, Behaviour, boolean])[] = [
      ['well', answers(200, {}, '{"data":[]}'), true],
      ['unauthorised', answers(401), true],
      ['broken', answers(500), true],
      ['huge', answersHugely(200, 50_000_000), true],
      ['closing', closes, false],
    ]
    const receivers: Receiver[] = []
    const upstreams = new Map<string, Upstream>()
    for (const [id, behaviour] of behaviours) {
      const receiver = await startReceiver(behaviour)
      receivers.push(receiver)
      const content = aContent({ base_url: `${receiver.url}v1/`, probe: true })
      upstreams.set(id, { id, team: null, content, isConfigured: true })
    }
    const silent = await startReceiver(answers(200))
    for (const more of [{ probe: false }, { probe: true, enabled: false }]) {
      const content = aContent({ base_url: silent.url, ...more })
      upstreams.set(`silent ${upstreams.size}`, { id: 'silent', team: null, content, isConfigured: true })
    }
    const upstreamClient = undiciUpstreamClient()
    const found = new Map<string, boolean>()
    const probing = startProbing(
      {
        upstreams: () => upstreams,
        upstreamClient,
        targets: { found: (id, isReachable) => void found.set(id, isReachable) },
      },
      20,
    )
    await until(
      () => found.size === behaviours.length && receivers.every(({ received }) => received.length > 1),
    )
    probing.stop()
    for (const [id, , isReachable] of behaviours) assert.equal(found.get(id), isReachable, id)
    const [{ method, path, headers } = assert.fail()] = receivers[0]!.received
    assert.deepEqual([method, path, headers['authorization']], ['GET', '/v1/models', undefined])
    assert.equal(silent.received.length, 0)
    await upstreamClient.close()
    await until(() => receivers.every((receiver) => receiver.open() === 0))
    await Promise.all([...receivers, silent].map((receiver) => receiver.stop()))
  })
})
