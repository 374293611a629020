import assert from 'node:assert/strict'
import * as does from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import {
  assertNoneRefused,
  opOf,
  startSdkService,
  type Call,
  type SdkService,
} from '../../e2e/sdk-service.js'
import { usageOf } from '../../e2e/usage.js'

const PROJECT = 'acme/completing'
const MODEL = 'acme/chat'

interface Answered {
  readonly said: string
  readonly id: string
}

describe('a program of the SDK that asks models through the gateway', () => {
  let sdk: SdkService
  let upstream: ScriptedUpstream
  let answers: Readonly<Record<'wrapped' | 'plain', Answered>>
  let calls: readonly Call[]

  before(async () => {
    sdk = await startSdkService({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    upstream = await startUpstream(does.saying(['Hello', ', ', 'world']))
    await sdk.answered('/api/inference/upstreams', {
      name: 'scripted',
      base_url: upstream.baseUrl,
      models: [{ id: MODEL, upstream_id: 'chat-1' }],
    })
    answers = await sdk.told('completing', PROJECT, [`${sdk.service.address}/v1`, MODEL])
    calls = await sdk.callsOf(PROJECT)
  })
  after(async () => {
    await sdk.stop()
    await upstream.close()
  })

  const below = (id: string): readonly Call[] => {
    const children = calls.filter(({ parent_id }) => parent_id === id)
    return [...children, ...children.flatMap((child) => below(child.id))]
  }
  const ofGateway = ({ attributes }: Call) => attributes['tallytree'] !== undefined

  it('has each of its completions in its trace, under the op that asked', () => {
    assertNoneRefused(sdk.proxy)
    assert.equal(upstream.arrivals.length, 4)
    for (const [how, { id, said }] of Object.entries(answers)) {
      assert.equal(said, 'Hello, world')
      const completions = below(id).filter(ofGateway)
      assert.equal(completions.length, 2)
      const root = calls.find((call) => call.id === id)
      for (const { trace_id, parent_id, ended_at } of completions) {
        assert.ok(ended_at !== null)
        assert.equal(trace_id, root?.trace_id)
        const parent = calls.find((call) => call.id === parent_id)!
        assert.equal(opOf(parent), how === 'plain' ? 'plain' : 'openai.chat.completions.create')
      }
    }
  })

  it('has their usage counted once, whether or not the SDK counted it too', async () => {
    const once = usageOf({ [MODEL]: [2, 22, 6] })
    for (const { id } of Object.values(answers)) {
      const { call_usage } = await sdk.answered<{ call_usage: Record<string, unknown> }>('/trace/usage', {
        project_id: PROJECT,
        filter: { call_ids: [id] },
      })
      assert.deepEqual(call_usage[id], once)
    }
  })

  it('has nothing beside them in the sum of its project', async () => {
    const now = Date.now()
    const { usage_buckets } = await sdk.answered<{ usage_buckets: readonly Record<string, unknown>[] }>(
      '/calls/stats',
      {
        project_id: PROJECT,
        start: new Date(now - 3_600_000).toISOString(),
        end: new Date(now + 3_600_000).toISOString(),
        usage_metrics: [{ metric: 'requests' }, { metric: 'total_tokens' }],
      },
    )
    const sum = (name: string) =>
      usage_buckets.reduce((total, bucket) => total + Number(bucket[name] ?? 0), 0)
    assert.deepEqual([sum('sum_requests'), sum('sum_total_tokens')], [4, 56])
  })
})
