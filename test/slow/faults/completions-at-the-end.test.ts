import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import * as does from '../../support/upstreams/behaviours.js'
import { eventsIn, MESSAGES } from '../../support/upstreams/gateway.js'
import { rambling } from '../../support/upstreams/rambling.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

interface CallEnded {
  readonly exception: string
  readonly output: JsonObject | null
  readonly summary: { readonly tallytree: { readonly metering: string } }
}

describe('a service that is stopped', () => {
  let service: RunningService
  let upstream: ScriptedUpstream
  before(async () => {
    service = await startRunningService({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    upstream = await startUpstream(does.beginningWith(['Hel', 'lo'], does.behind.silence))
    const made = await service.post('/api/inference/upstreams', {
      name: 'scripted',
      base_url: upstream.baseUrl,
      models: [{ id: 'acme/chat', upstream_id: 'chat-1' }],
    })
    assert.equal(made.status, 200, made.text)
  })
  after(async () => {
    await service.remove()
    await upstream.close()
  })

  const ask = (project: string, more: object) =>
    service.post(
      '/v1/chat/completions',
      { model: 'acme/chat', messages: MESSAGES, ...more },
      { headers: { 'openai-project': project } },
    )

  const posted = (project: string) => ({
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.key}`,
      'content-type': 'application/json',
      'openai-project': project,
    },
  })

  /** A stream of which so many events have come, and all that come until it ends. */
  const streaming = async (project: string, count: number, more: object = {}) => {
    const response = await fetch(`${service.address}/v1/chat/completions`, {
      ...posted(project),
      body: JSON.stringify({ model: 'acme/chat', messages: MESSAGES, stream: true, ...more }),
    })
    const pieces = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const read = async (): Promise<boolean> => {
      const { done, value } = await pieces.read()
      text += value ?? ''
      return !done
    }
    while (text.split('\n\n').length <= count) assert.ok(await read(), text)
    return {
      allEvents: async () => {
        while (await read());
        return eventsIn(text)
      },
    }
  }

  /** A stream whose client reads nothing of it but its head. */
  const unread = async (project: string): Promise<void> => {
    const sent = request(`${service.address}/v1/chat/completions`, posted(project))
    sent.on('error', () => undefined)
    sent.end(JSON.stringify({ model: 'acme/chat', messages: MESSAGES, stream: true }))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
  }

  it('tells the clients of open completions, ends their calls and stops in time', async () => {
    const streamed = await streaming('acme/streamed', 3)
    upstream.behave(does.hanging)
    const whole = ask('acme/whole', {})
    await Promise.race([whole, until(() => upstream.arrivals.length > 1)])
    assert.equal(upstream.arrivals.length, 2)

    const { behaviour, events: longEvents } = rambling(100_000, 'silence')
    upstream.behave(behaviour)
    const long = await streaming('acme/long', longEvents, { n: 2 })

    upstream.behave(does.endless(1_000_000, 1000).behaviour)
    await unread('acme/unread')

    const stopped = service.stop()
    const events = await streamed.allEvents()
    assert.equal(events.length, 4)
    assert.match(events.at(-1)!, /^\{"error":\{"message":"The service is stopping/)
    assert.ok(events.slice(0, -1).every((event) => event.includes('"choices"')))
    const refused = await whole
    assert.equal(refused.status, 503)
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.match((await long.allEvents()).at(-1)!, /The service is stopping/)
    assert.equal(await stopped, 0)

    const store = openSqliteEventStore(join(service.dataDirectory, 'events.db'))
    const endings = new Map<unknown, CallEnded>()
    for await (const { type, data } of store.readAll())
      if (type === 'CallEnded') endings.set(data['project_id'], data as unknown as CallEnded)
    await store.close()
    assert.equal(endings.size, 4)
    for (const { exception } of endings.values()) assert.match(exception, /^The service is stopping/)
    assert.equal(endings.get('acme/streamed')?.summary.tallytree.metering, 'estimated')
    assert.equal(endings.get('acme/whole')?.summary.tallytree.metering, 'unknown')
    assert.ok(JSON.stringify(endings.get('acme/long')).length > 1000)
  })
})
