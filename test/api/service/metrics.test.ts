import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { aStart } from '../../support/call-requests.js'
import { accepted } from '../calls/given.js'

describe('GET /metrics', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  const read = () => service.send('GET', '/metrics', undefined, { key: null })
  const samples = async () => (await read()).text.split('\n').filter((line) => !line.startsWith('#'))
  const countOf = async (labels: string): Promise<number> => {
    const start = `http_request_duration_seconds_count{${labels}} `
    const sample = (await samples()).find((line) => line.startsWith(start))
    return Number(sample?.slice(start.length) ?? 0)
  }
  /** A request is counted when its answer is through, which the client may know first. */
  const becomes = async (labels: string, expected: number) => {
    let count = await countOf(labels)
    while (count < expected) count = await countOf(labels)
    assert.equal(count, expected)
  }

  it('needs no key, and is text that Prometheus reads', async () => {
    const { status, headers, text } = await read()
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const sample = /^[a-zA-Z_:][\w:]*(\{(\w+="(?:[^"\\\n]|\\.)*",?)*\})? (NaN|[+-]Inf|[-+\d.e]+)$/
    for (const line of text.trimEnd().split('\n'))
      assert.ok(line === '' || /^# (HELP|TYPE) \w+ \S/.test(line) || sample.test(line), line)
    for (const name of [
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_seconds',
      'nodejs_heap_size_used_bytes',
    ])
      assert.match(text, new RegExp(`^${name} `, 'm'))
  })

  it('counts requests by the template of their path and the class of their status', async () => {
    for (const id of ['a', 'b']) {
      const start = aStart('default/p', { id })
      accepted(await service.post('/v2/default/p/call/start', { start }))
    }
    await service.post('/v2/default/p/call/start', {})
    await service.send('DELETE', '/api/teams/default/members/nobody')

    const path = 'method="POST",route="/v2/:entity/:project/call/start"'
    await becomes(`${path},status="2xx"`, 2)
    await becomes(`${path},status="4xx"`, 1)
    await becomes('method="DELETE",route="/api/teams/:team/members/:user",status="4xx"', 1)
  })

  it('counts what no route serves as one, whatever it is called', async () => {
    for (let n = 0; n < 20; n += 1) await service.send('GET', `/${randomUUID()}`)
    await service.send('PROPFIND', '/call/start')
    await becomes('method="any",route="unmatched",status="4xx"', 21)
  })

  it('counts an answer that was cut off as that', async () => {
    await new Promise<void>((resolve) => {
      const sent = request(`${service.address}/call/start`, {
        method: 'POST',
        headers: { 'content-length': '9', authorization: `Bearer ${ADMINISTRATOR_KEY}` },
      })
      sent.on('error', () => resolve())
      sent.write('{', () => setTimeout(() => sent.destroy(), 50))
    })
    await becomes('method="POST",route="/call/start",status="aborted"', 1)
  })

  it('names no tenant, whatever they ask', async () => {
    const canary = `canary${randomUUID().slice(0, 8)}`
    await service.teams.create(canary).json()
    const paths = [`/api/teams/${canary}/members`, `/api/projects/${canary}/p?x=${canary}`, `/${canary}`]
    for (const path of paths) await service.send('GET', path, undefined, { headers: { 'x-canary': canary } })
    accepted(await service.send('PUT', `/api/teams/${canary}/secrets/${canary}`, { value: canary }))
    await service.in(`${canary}/p`).calls.start({ id: canary }).json()
    assert.ok(!(await read()).text.includes(canary))
  })

  it('says how many events cannot be read yet: none, once all were waited for', async () => {
    await service.in('default/p').calls.start({ id: 'c' }).json()
    assert.equal((await service.in('default/p').calls.query()).status, 200)
    assert.ok((await samples()).includes('projection_lag_events 0'))
  })
})
