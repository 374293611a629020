import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import * as does from '../../support/upstreams/behaviours.js'
import { MESSAGES, startGateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

describe('a client that does not read its stream', () => {
  it('gives back its place at the upstream after idle_ms', async () => {
    const id = `acme/single-${randomUUID().slice(0, 8)}`
    const { upstream, ...gateway } = await startGateway(await sharedService(), {
      id,
      upstream: { timeouts: { idle_ms: 1000 }, models: [{ id, upstream_id: 'chat-1', concurrency: 1 }] },
    })
    const { behaviour, progress } = does.endless(1_000_000, 16_384)
    upstream.behave(behaviour)
    const project = someProject()
    const sent = request(`${gateway.service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMINISTRATOR_KEY}`,
        'content-type': 'application/json',
        'openai-project': project,
      },
    })
    sent.end(JSON.stringify({ model: id, messages: MESSAGES, stream: true }))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
    const closed = new Promise((resolve) => response.once('close', resolve))

    const [call] = await gateway.ended(project)
    assert.match(call!.exception!, /did not read/)
    assert.equal(call?.summary.tallytree?.metering, 'estimated')
    assert.ok(progress.sent < 1_000_000)
    upstream.behave(does.saying(['Hello']))
    assert.equal((await gateway.complete()).status, 200)
    response.resume()
    await closed
    await upstream.close()
  })
})
