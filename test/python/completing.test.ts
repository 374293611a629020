import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { statusesOf } from '../support/recording-proxy.js'
import { saying } from '../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../support/upstreams/upstream.js'
import { opOf, type Call } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/completing'
const MODEL = 'acme/scripted'
/** What the upstream reports for each completion. */
const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 }

describe('completions through the gateway by the Python packages openai and weave', () => {
  let upstream: ScriptedUpstream
  let sdk: PythonSdk
  let printed: JsonObject
  let calls: readonly Call[]
  before(async () => {
    upstream = await startUpstream(saying(['Hello', ', ', 'world'], USAGE))
    sdk = await startPythonSdk({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    await sdk.answered('/api/inference/upstreams', {
      name: 'scripted',
      base_url: upstream.baseUrl,
      models: [{ id: MODEL, upstream_id: 'chat-1' }],
    })
    printed = await sdk.printed('completing.py', [PROJECT, MODEL])
    calls = await sdk.callsOf(PROJECT)
  })
  after(async () => {
    await sdk.stop()
    await upstream.close()
  })

  const callOf = (op: string) => calls.find((call) => opOf(call) === op)!
  const askedBy = (op: string) => calls.filter(({ parent_id }) => parent_id === callOf(op).id)
  const usageOf = async (call: Call): Promise<JsonObject> => {
    const { call_usage } = await sdk.answered<{ call_usage: Record<string, JsonObject> }>('/calls/usage', {
      project_id: PROJECT,
      call_ids: [call.id],
    })
    return call_usage[call.id]!
  }

  it('are answered, whole, streamed and by a coroutine', () => {
    assert.deepEqual(printed['answers'], ['Hello, world', 'Hello, world', 'Hello, world', 404])
    assert.deepEqual(printed['models'], [MODEL, 'tiny/byte', 'tiny/byte-2k', 'tiny/byte-large'])
    assert.deepEqual(
      upstream.arrivals.map(({ body }) => [body['model'], body['stream'] ?? false]),
      [
        ['chat-1', false],
        ['chat-1', true],
        ['chat-1', false],
      ],
    )
  })

  it('are traced with their usage, which the caller includes', async () => {
    for (const op of ['ask_whole', 'ask_stream', 'ask_async']) {
      const [completion, ...more] = askedBy(op)
      assert.deepEqual([opOf(completion!), more], ['openai.chat.completions.create', []])
      for (const call of [callOf(op), completion!]) {
        const { [MODEL]: used, ...others } = await usageOf(call)
        const { requests, prompt_tokens, completion_tokens, total_tokens } = used as JsonObject
        assert.deepEqual(
          { requests, prompt_tokens, completion_tokens, total_tokens, others },
          { requests: 1, ...USAGE, others: {} },
        )
      }
      assert.equal(callOf(op).output, 'Hello, world')
    }
  })

  it('are recorded by the gateway too, each as a call of its own', () => {
    const recorded = calls.filter(({ attributes }) => attributes['tallytree'] !== undefined)
    assert.deepEqual(
      recorded.map(
        ({ summary }) => (summary['usage'] as Record<string, JsonObject>)[MODEL]?.['total_tokens'],
      ),
      [14, 14, 14],
    )
  })

  it('are traced with the error of an unknown model', () => {
    const [failed] = askedBy('ask_unknown')
    for (const call of [failed!, callOf('ask_unknown')]) {
      const { type, message } = JSON.parse(call.exception!) as JsonObject
      assert.equal(type, 'NotFoundError')
      assert.match(message as string, /^Error code: 404 - The model does not exist/)
    }
  })

  it('cost what the client says that the model costs', async () => {
    assert.deepEqual(printed['prices'], [[MODEL, 0.5]])
    const [costs] = printed['costs'] as readonly [Record<string, JsonObject>]
    const { prompt_tokens_total_cost, completion_tokens_total_cost } = costs[MODEL]!
    assert.deepEqual([prompt_tokens_total_cost, completion_tokens_total_cost], [5.5, 6])
    const { results } = await sdk.answered<{ results: readonly Record<string, Json>[] }>('/cost/query', {
      project_id: PROJECT,
    })
    assert.deepEqual(
      results.map(({ llm_id, prompt_token_cost, completion_token_cost }) => [
        llm_id,
        prompt_token_cost,
        completion_token_cost,
      ]),
      [[MODEL, 0.5, 2]],
    )
  })

  it('had no request refused but the one for the unknown model', () => {
    const refused = sdk.proxy.exchanges.filter(({ status }) => status !== 200 && status !== 503)
    assert.deepEqual(statusesOf(refused), { '404 /v1/chat/completions': 1 })
  })
})
