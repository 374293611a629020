import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { COUNTS } from '../../counts.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

const ROUNDS = COUNTS.spanKills
const CLIENTS = 6
const SPANS = 32
const TOKENS = 7
const compressed = promisify(gzip)

/** An agent that repeats the tokens of its model calls, which come before it. */
const exportOf = () => {
  const traceId = randomBytes(16).toString('hex')
  const agent = randomBytes(8).toString('hex')
  const span = (spanId: string, parentSpanId: string, name: string, tokens: number) => ({
    ...{ traceId, spanId, parentSpanId, name, kind: 3 },
    startTimeUnixNano: '1767225600000000001',
    endTimeUnixNano: '1767225601000000002',
    attributes: [
      { key: 'gen_ai.request.model', value: { stringValue: 'some-model' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: String(tokens) } },
      { key: 'text', value: { stringValue: 'x'.repeat(500) } },
    ],
  })
  const children = Array.from({ length: SPANS - 1 }, () =>
    span(randomBytes(8).toString('hex'), agent, 'chat some-model', TOKENS),
  )
  const spans = [...children, span(agent, '', 'agent', TOKENS * children.length)]
  return { traceId, request: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }) }
}

interface Sent {
  readonly request: string
  isAcknowledged: boolean
}

describe('kill -9 under spans', function () {
  this.timeout(60_000 * (5 + ROUNDS))
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const send = async (project: string, request: string): Promise<boolean> => {
    try {
      const response = await fetch(`${service.address}/v2/${project}/otel/v1/traces`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          authorization: `Bearer ${service.key}`,
        },
        body: await compressed(request),
      })
      return response.status === 200 && (await response.text()) === '{}'
    } catch {
      return false
    }
  }

  it(`loses no acknowledged span and counts each once, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const project = `default/spans-${round}`
      const sent = new Map<string, Sent>()
      let isDown = false
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (!isDown) {
          const { traceId, request } = exportOf()
          const one = { request, isAcknowledged: false }
          sent.set(traceId, one)
          one.isAcknowledged = await send(project, request)
        }
      })
      const acknowledged = () => [...sent.values()].filter(({ isAcknowledged }) => isAcknowledged).length
      await until(() => acknowledged() >= 2 * CLIENTS)
      await sleep(Math.random() * 200)
      await service.kill('SIGKILL')
      isDown = true
      await Promise.all(clients)
      await service.restart()

      const client = service.in(project)
      const spansIn = async () => {
        const { calls } = await client.calls.query({ limit: 100_000, columns: ['id', 'trace_id'] }).json()
        assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length)
        const counts = new Map<string, number>()
        for (const { trace_id } of calls) counts.set(trace_id, (counts.get(trace_id) ?? 0) + 1)
        return counts
      }
      const found = await spansIn()
      for (const [traceId, { isAcknowledged }] of sent)
        if (isAcknowledged) assert.equal(found.get(traceId), SPANS, `spans of ${traceId} are lost`)

      for (const { request } of sent.values()) assert.ok(await send(project, request))
      assert.deepEqual(await spansIn(), new Map([...sent.keys()].map((traceId) => [traceId, SPANS])))
      const { call_usage: usage } = (await client.usage
        .ofTraces({ filter: { trace_roots_only: true } })
        .json()) as { call_usage: Record<string, Record<string, { prompt_tokens: number }>> }
      const tokens = Object.values(usage).map((byModel) => byModel['some-model']?.prompt_tokens)
      assert.deepEqual(
        tokens,
        [...sent.keys()].map(() => TOKENS * (SPANS - 1)),
      )
    }
  })
})
