import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { WORDS } from '../../support/upstreams/counting-upstream.js'
import { startMeteredUpstream, type MeteredUpstream } from '../../support/faults/metered-upstream.js'

const ROUNDS = COUNTS.completionKills
const REQUESTS = COUNTS.completionsBetweenKills
const AT_ONCE = 24
/** So many answers are over at least, every second time, when the service is killed. */
const SEEN_WHOLE = 10
const PROJECT = 'default/metered'
/** Of an upstream that speaks all APIs, and of one that speaks chat only. */
const MODELS = ['acme/metered', 'acme/translated'] as const

const turns = (content: string) => [{ role: 'user', content }]

/** Requests of each API, and the last event of a whole stream. */
const APIS = {
  'chat/completions': { body: (text: string) => ({ messages: turns(text) }), end: 'data: [DONE]' },
  responses: { body: (text: string) => ({ input: text }), end: '"type":"response.completed"' },
  messages: {
    body: (text: string) => ({ messages: turns(text), max_tokens: 100 }),
    end: '"type":"message_stop"',
  },
} as const
type Path = keyof typeof APIS
const PATHS = Object.keys(APIS) as Path[]

/** The text of an answer, in any API. */
const ANSWER = new RegExp(`"(text|content)":"${WORDS.join('')}"`)

interface SeenCall {
  readonly id: string
  readonly inputs: { readonly user: string }
  readonly output: unknown
  readonly ended_at: string | null
  readonly summary: {
    readonly usage?: Readonly<
      Record<string, { readonly prompt_tokens: number; readonly completion_tokens: number }>
    >
    readonly tallytree?: { readonly metering: 'reported' | 'estimated' | 'unknown' }
  }
}

const oneOf = <A>(all: readonly A[]): A => all[Math.floor(Math.random() * all.length)]!

describe('kill -9 under completions', () => {
  let service: RunningService
  let upstream: MeteredUpstream
  before(async () => {
    upstream = await startMeteredUpstream()
    service = await startRunningService({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    for (const id of MODELS) {
      const made = await service.post('/api/inference/upstreams', {
        name: id.replace('acme/', ''),
        base_url: upstream.baseUrl,
        apis: id === 'acme/metered' ? ['chat', 'responses', 'messages'] : ['chat'],
        models: [{ id, upstream_id: 'm' }],
      })
      assert.equal(made.status, 200, made.text)
    }
  })
  after(async () => {
    await service.remove()
    await upstream.close()
  })

  /** Whether the client has seen a whole answer; some clients leave on their way. */
  const complete = async (user: string): Promise<boolean> => {
    const path = oneOf(PATHS)
    const { body, end } = APIS[path]
    const leaving = new AbortController()
    const stream = Math.random() < 0.6
    const timer = Math.random() < 0.2 ? setTimeout(() => leaving.abort(), Math.random() * 60) : undefined
    try {
      const response = await fetch(`${service.address}/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/json',
          'openai-project': PROJECT,
        },
        body: JSON.stringify({ ...body(`count for ${user}`), model: oneOf(MODELS), stream, user }),
        signal: leaving.signal,
      })
      const text = await response.text()
      return response.status === 200 && (!stream || text.includes(end))
    } catch {
      return false
    } finally {
      clearTimeout(timer)
    }
  }

  const allCalls = async (): Promise<readonly SeenCall[]> => {
    for (;;) {
      const { status, text } = await service.in(PROJECT).calls.stream()
      const lines = text.split('\n').filter((line) => line !== '')
      const calls = status === 200 ? lines.map((line) => JSON.parse(line) as SeenCall) : undefined
      if (calls?.every(({ ended_at }) => ended_at !== null) === true) return calls
      await sleep(200)
    }
  }

  it(`counts what the upstream reported, once, and lists the rest as what it is, in ${ROUNDS} rounds`, async () => {
    const whole = new Set<string>()
    let sent = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      let isDown = false
      const client = async () => {
        for (let left = Math.ceil(REQUESTS / AT_ONCE); left > 0 && !isDown; left -= 1) {
          const user = `r${round}-${(sent += 1)}`
          if (await complete(user)) whole.add(user)
        }
      }
      const before = whole.size
      const clients = Promise.all(Array.from({ length: AT_ONCE }, client))
      if (round % 2 === 0) await until(() => whole.size >= before + SEEN_WHOLE)
      await Promise.race([clients, sleep(30 + Math.random() * (REQUESTS / AT_ONCE) * 60)])
      await service.kill('SIGKILL')
      isDown = true
      await clients
      await service.restart()
    }

    const calls = await allCalls()
    const told = {
      sent,
      arrived: upstream.served.size,
      whole: whole.size,
      reported: 0,
      estimated: 0,
      unknown: 0,
    }
    const byUser = new Map(calls.map((call) => [call.inputs.user, call]))
    assert.equal(byUser.size, calls.length, 'a request is listed twice')
    for (const user of upstream.served.keys())
      assert.ok(byUser.has(user), `${user} reached the upstream unrecorded`)
    const sums = { ours: 0, upstream: 0 }
    for (const { inputs, summary, output } of calls) {
      const metering = summary.tallytree?.metering
      assert.ok(metering !== undefined, JSON.stringify(summary))
      told[metering] += 1
      const served = upstream.served.get(inputs.user)
      const used = usageIn(summary)
      if (whole.has(inputs.user)) assert.match(JSON.stringify(output), ANSWER)
      if (metering === 'unknown') assert.equal(summary.usage, undefined)
      if (metering !== 'reported') {
        assert.ok(!(whole.has(inputs.user) && served?.reported === true), `${inputs.user} was seen whole`)
        continue
      }
      assert.ok(served !== undefined && used !== undefined)
      sums.ours += used.prompt_tokens + used.completion_tokens
      sums.upstream += served.usage.prompt + served.usage.completion
    }
    assert.ok(told.reported > 0, 'nothing was reported before it was killed')
    assert.equal(sums.ours, sums.upstream)
    assert.deepEqual(await totals(), sumOf(calls))
    console.log(`      ${ROUNDS} rounds: ${JSON.stringify({ ...told, ...sums })}`)
  })

  const totals = async (): Promise<JsonObject> => {
    const { text } = await service.in(PROJECT).usage.ofTraces({ limit: 1_000_000 })
    const { call_usage } = JSON.parse(text) as { call_usage: Record<string, Record<string, Used>> }
    return summed(Object.values(call_usage).flatMap((usage) => MODELS.map((model) => usage[model])))
  }
})

interface Used {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

const summed = (all: readonly (Used | undefined)[]) => ({
  prompt_tokens: all.reduce((sum, used) => sum + (used?.prompt_tokens ?? 0), 0),
  completion_tokens: all.reduce((sum, used) => sum + (used?.completion_tokens ?? 0), 0),
})

const usageIn = ({ usage }: SeenCall['summary']): Used | undefined => Object.values(usage ?? {})[0]

const sumOf = (calls: readonly SeenCall[]) => summed(calls.map(({ summary }) => usageIn(summary)))
