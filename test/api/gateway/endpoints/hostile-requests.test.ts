import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { within } from '../../../../src/kernel/within.js'
import { startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import { sharedService, someProject } from '../../shared-service.js'

const turns = [{ role: 'user', content: 'Hi' }]
/** Requests by path, with all fields that are read. */
const REQUESTS: Readonly<Record<string, { readonly usual: JsonObject; readonly fields: string }>> = {
  'chat/completions': {
    usual: { messages: turns },
    fields:
      'messages tools tool_choice stream stream_options max_tokens max_completion_tokens n user metadata',
  },
  responses: {
    usual: { input: 'Hi' },
    fields:
      'input instructions tools tool_choice text reasoning max_output_tokens include stream metadata user store ' +
      'previous_response_id conversation background prompt prompt_cache_key service_tier safety_identifier',
  },
  messages: {
    usual: { messages: turns, max_tokens: 10 },
    fields:
      'messages max_tokens system tools tool_choice thinking output_config stop_sequences stream metadata ' +
      'service_tier cache_control mcp_servers container',
  },
  'messages/count_tokens': { usual: { messages: turns }, fields: 'messages system tools thinking' },
  embeddings: { usual: { input: 'Hi' }, fields: 'input encoding_format dimensions user' },
  completions: { usual: { prompt: 'Hi' }, fields: 'prompt n suffix max_tokens stream stream_options' },
  moderations: { usual: { input: 'Hi' }, fields: 'input' },
  rerank: { usual: { query: 'Hi', documents: ['a'] }, fields: 'query documents top_n' },
}

const nested = (depth: number): Json =>
  Array.from({ length: depth }).reduce<Json>((value) => ({ a: value, role: [value] }), 'x')

const PROTO = JSON.parse('{"__proto__":{"isSpoilt":true},"constructor":[],"role":"user"}') as JsonObject

const ODD: readonly Json[] = [
  ...[null, true, 0, -1, 1.5, 1e300, '', 'text', '\ud800', '\u0000', '__proto__'],
  ...[[], {}, [null], [1], [[]], [{}], ['\ud800\u0000'], PROTO, [PROTO]],
  [{ role: 'user' }],
  [{ role: 'user', content: {} }],
  [{ role: 1, content: 2 }],
  [{ role: 'user', content: [null, 1, [], {}, { type: 1 }, { type: 'text', text: {} }] }],
  [{ type: 'function', function: 1, name: {}, parameters: [], input_schema: 'x' }],
  [{ type: 'tool_result', tool_use_id: {}, content: [[]] }],
  { type: 'function', name: {}, function: [] },
  { format: { type: {}, schema: [] }, effort: {}, user_id: {}, budget_tokens: 'x' },
  nested(12),
]

const MANY = 10_000
const LARGE: Readonly<Record<string, JsonObject>> = {
  tokens: {
    input: Array.from({ length: 500_000 }, (_, at) => at),
    prompt: Array.from({ length: 500_000 }, (_, at) => at),
  },
  'lists of tokens': { input: Array.from({ length: MANY }, () => [1, 2, 3]) },
  texts: { input: Array.from({ length: MANY }, () => ({ role: 'user', content: 'x' })) },
  turns: { messages: Array.from({ length: MANY }, (_, at) => ({ role: 'user', content: `${at}` })) },
  tools: {
    tools: Array.from({ length: MANY }, (_, at) => ({
      ...{ type: 'function', name: `f${at}`, function: { name: `f${at}`, parameters: {} } },
      ...{ parameters: {}, input_schema: { type: 'object' } },
    })),
  },
  members: Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`member${at}`, at])),
}

describe('hostile requests', () => {
  const gateways = new Map<string, Gateway>()
  before(async () => {
    const service = await sharedService()
    const all = ['chat', 'responses', 'messages', 'embeddings', 'completions', 'moderations', 'rerank']
    for (const [kind, apis] of [
      ['native', all],
      ['translated', ['chat']],
    ] as const)
      gateways.set(kind, await startGateway(service, { upstream: { apis } }))
  })
  after(() => Promise.all([...gateways.values()].map(({ upstream }) => upstream.close())))

  const judge = async (kind: string, path: string, body: JsonObject, what: string): Promise<void> => {
    const { service, model } = gateways.get(kind)!
    const headers = { 'openai-project': someProject() }
    const sent = { ...REQUESTS[path]!.usual, model, ...body }
    const answer = await within(30_000, service.post(`/v1/${path}`, sent, { headers }))
    assert.ok(answer !== undefined, `it hangs: ${what}`)
    // The upstream speaks chat completions whatever it is asked.
    const isServed = answer.status === 200 || answer.status === 502
    assert.ok(
      isServed || [400, 404, 413, 422].includes(answer.status),
      `${what}: ${answer.text.slice(0, 500)}`,
    )
    assert.equal(({} as { isSpoilt?: boolean }).isSpoilt, undefined)
    if (answer.status === 200) return
    const { type, error } = answer.json<{ type?: string; error?: { message?: unknown; type?: unknown } }>()
    assert.deepEqual([typeof error?.message, typeof error?.type], ['string', 'string'], what)
    if (path.startsWith('messages')) assert.equal(type, 'error', what)
  }

  for (const [path, { fields }] of Object.entries(REQUESTS))
    for (const kind of ['native', 'translated']) {
      it(`are answered on ${path} where a field has another type, ${kind}`, async () => {
        for (const field of fields.split(' '))
          await Promise.all(
            ODD.map((odd) =>
              judge(kind, path, { [field]: odd }, `${field}: ${JSON.stringify(odd).slice(0, 100)}`),
            ),
          )
      })
      it(`are answered on ${path} where they are large, ${kind}`, async () => {
        for (const [what, body] of Object.entries(LARGE)) await judge(kind, path, body, what)
      })
    }
})
