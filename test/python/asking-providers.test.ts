import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { answeringAs, refusingAs, TEXT } from '../support/upstreams/provider.js'
import { CITY, PROVIDER_KEY, PROVIDERS } from '../support/upstreams/providers.js'
import { startUpstream, type ScriptedUpstream } from '../support/upstreams/upstream.js'
import type { Call } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/providers'
const PRICE = { prompt_token_cost: '0.000003', completion_token_cost: '0.000015' }
const CACHED_COST = '0.000001'
/** Texts and calls of tools, whole and streamed, by two packages. */
const ANSWERS = 8

describe('the Python packages openai and langchain-openai with imitated providers', () => {
  const upstreams = new Map<string, ScriptedUpstream>()
  let sdk: PythonSdk
  let models: readonly string[]
  let calls: readonly Call[]
  let costs: ReadonlyMap<string, number>
  let answers: Record<string, JsonObject>
  let errors: Record<string, readonly (readonly [number, string])[]>

  const modelOf = (name: string): string => `acme/${name.toLowerCase().replaceAll(' ', '-')}`

  before(async () => {
    sdk = await startPythonSdk({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    const team = PROJECT.split('/')[0]!
    await sdk.answered('/api/teams', { name: team })
    const { status } = await fetch(`${sdk.service.address}/api/teams/${team}/secrets/PROVIDER_KEY`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${sdk.service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ value: PROVIDER_KEY }),
    })
    assert.equal(status, 200)
    for (const [name, provider] of Object.entries(PROVIDERS)) {
      const upstream = await startUpstream(answeringAs(provider))
      upstreams.set(name, upstream)
      await sdk.answered('/api/inference/upstreams', {
        name,
        base_url: upstream.baseUrl,
        models: [
          {
            id: modelOf(name),
            upstream_id: 'chat-1',
            price: { ...PRICE, cache_read_input_token_cost: CACHED_COST },
          },
        ],
        team,
        ...provider.upstream,
      })
    }
    models = Object.keys(PROVIDERS).map(modelOf)
    answers = await sdk.printed<typeof answers>('asking_providers.py', [PROJECT, models.join()])
    calls = await sdk.callsOf(PROJECT)
    const { rows } = (await sdk.answered('/usage/query', {
      project_id: PROJECT,
      include_costs: true,
      group_by: ['model'],
    })) as unknown as { rows: readonly { group: { model: string }; usage: { total_cost: number } }[] }
    costs = new Map(rows.map(({ group, usage }) => [group.model, usage.total_cost]))
    for (const [name, upstream] of upstreams) upstream.behave(refusingAs(PROVIDERS[name]!))
    errors = await sdk.printed<typeof errors>('asking_providers.py', [PROJECT, models.join(), 'refused'])
  })
  after(async () => {
    await sdk.stop()
    for (const upstream of upstreams.values()) await upstream.close()
  })

  const callsOfModel = (name: string): readonly Call[] =>
    calls.filter(
      ({ attributes }) => (attributes['tallytree'] as { model?: Json } | undefined)?.model === modelOf(name),
    )

  for (const [name, { used, error }] of Object.entries(PROVIDERS)) {
    it(`get texts and calls of tools of ${name}`, () => {
      const expected = { texts: [TEXT, TEXT], arguments: [CITY, CITY] }
      assert.deepEqual(answers[modelOf(name)], { openai: expected, langchain: expected })
    })

    it(`are recorded with what ${name} reports`, () => {
      const recorded = callsOfModel(name)
      assert.equal(recorded.length, ANSWERS)
      for (const { summary } of recorded) {
        const usage = (summary['usage'] as Record<string, JsonObject>)[modelOf(name)]!
        assert.deepEqual(
          [usage['prompt_tokens'], usage['completion_tokens'], usage['cache_read_input_tokens']],
          [used.prompt, used.completion, used.cached ?? 0],
        )
      }
      const contents = recorded.map(({ output }) => contentOf(output)).filter((content) => content !== null)
      assert.deepEqual(contents, Array(ANSWERS / 2).fill(TEXT))
      const { prompt, completion, cached = 0 } = used
      const micros = (prompt - cached) * 3 + cached + completion * 15
      assert.equal(costs.get(modelOf(name))?.toFixed(6), ((ANSWERS * micros) / 1e6).toFixed(6))
    })

    it(`get the error of ${name}`, () => {
      for (const [status, message] of errors[modelOf(name)]!) {
        assert.equal(status, error.seen)
        assert.match(message, error.says)
      }
    })
  }
})

const contentOf = (output: Json): Json => {
  const [choice] = (output as JsonObject)['choices'] as readonly { message: JsonObject }[]
  return choice!.message['content'] || null
}
