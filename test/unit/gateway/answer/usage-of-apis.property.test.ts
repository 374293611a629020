import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Usage } from '../../../../src/gateway/answer/usage-report.js'
import { UsageReports } from '../../../../src/gateway/answer/usage.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kernel/json/json.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

const count = fc.nat(100_000)
const arbitraryUsed = fc.record({
  fresh: fc.integer({ min: 1, max: 100_000 }),
  read: count,
  written5m: count,
  written1h: count,
  text: fc.integer({ min: 1, max: 10_000 }),
  reasoning: count,
  searches: fc.nat(5),
})
type Used = typeof arbitraryUsed extends fc.Arbitrary<infer A> ? A : never

const meteredOf = (values: readonly JsonObject[]): Usage => {
  const reports = new UsageReports(expectedOf(8))
  for (const value of values)
    reports.take(value, Array.isArray(value['choices']) ? value['choices'].filter(isJsonObject) : [])
  const { metering, usage } = reports.metered(40)
  assert.equal(metering, 'reported')
  return usage!
}

const expectedUsage = (of: Used, written1h: number, service_tier?: string) => {
  const written = of.written5m + of.written1h
  const prompt_tokens = of.fresh + of.read + written
  const completion_tokens = of.text + of.reasoning
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cache_read_input_tokens: of.read,
    cache_creation_input_tokens: written,
    cache_creation_1h_input_tokens: written1h,
    prompt_audio_tokens: 0,
    completion_audio_tokens: 0,
    web_search_requests: of.searches,
    seconds: 0,
    characters: 0,
    images: 0,
    reported_cost: 0,
    ...(service_tier === undefined ? {} : { service_tier }),
  }
}

/** Members of an object, each with a chance to be left out. */
const some = (members: JsonObject): fc.Arbitrary<JsonObject> =>
  fc
    .subarray(Object.keys(members))
    .map((names) => Object.fromEntries(names.map((name) => [name, members[name]!])))

/** Figures of a report that is not final. */
const less = (members: JsonObject): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      ...Object.values(members).map((value) =>
        typeof value === 'number' ? fc.nat(value) : fc.constant(value),
      ),
    )
    .map((values) => Object.fromEntries(Object.keys(members).map((name, place) => [name, values[place]!])))

const together = <A>(...parts: readonly fc.Arbitrary<A>[]): fc.Arbitrary<readonly A[]> => fc.tuple(...parts)

describe('the usage of an answer of any API', () => {
  it('is that of Messages, with the input side in any of the events', () => {
    const tiers = [
      [{ service_tier: 'standard' }, undefined],
      [{ service_tier: 'batch' }, 'batch'],
      [{ service_tier: 'priority', speed: 'standard' }, 'priority'],
      [{ service_tier: 'standard', speed: 'fast' }, 'fast'],
    ] as const
    const events = fc.tuple(arbitraryUsed, fc.constantFrom(...tiers)).chain(([of, [tier, named]]) => {
      const input = {
        input_tokens: of.fresh,
        cache_read_input_tokens: of.read,
        cache_creation_input_tokens: of.written5m + of.written1h,
      }
      const rest = {
        cache_creation: { ephemeral_5m_input_tokens: of.written5m, ephemeral_1h_input_tokens: of.written1h },
        ...tier,
        inference_geo: 'not_available',
      }
      const output = {
        output_tokens: of.text + of.reasoning,
        output_tokens_details: { thinking_tokens: of.reasoning },
        server_tool_use: { web_search_requests: of.searches },
      }
      return fc.record({
        of: fc.constant(of),
        named: fc.constant(named),
        whole: fc.constant({ type: 'message', usage: { ...input, ...rest, ...output } }),
        // An event may lack or repeat members of the input. All of them are in one of the two.
        split: fc
          .tuple(some(input), some(input), less({ output_tokens: of.text }), fc.array(less(output)))
          .map(([left, right, begun, running]): readonly JsonObject[] => {
            const start = { ...input, ...rest, ...begun, output_tokens_details: output.output_tokens_details }
            for (const name of Object.keys(left)) if (name in right) start[name as keyof typeof input] = 0
            return [
              { type: 'message_start', message: { usage: start } },
              { type: 'ping' },
              ...running.map((usage) => ({
                type: 'message_delta',
                usage: { ...usage, output_tokens_details: null },
              })),
              { type: 'message_delta', usage: { ...right, ...output } },
              { type: 'message_stop' },
            ]
          }),
      })
    })
    fc.assert(
      fc.property(events, ({ of, named, whole, split }) => {
        const expected = expectedUsage(of, of.written1h, named)
        assert.deepEqual(meteredOf([whole]), expected)
        assert.deepEqual(meteredOf(split), expected)
      }),
    )
  })

  it('is that of Responses, whose searches are items of the output', () => {
    const search = (n: number): Json => ({
      type: 'web_search_call',
      id: `ws_${n}`,
      status: 'completed',
      action: { type: 'search' },
    })
    const opened: Json = { type: 'web_search_call', status: 'completed', action: { type: 'open_page' } }
    fc.assert(
      fc.property(
        arbitraryUsed,
        fc.constantFrom(undefined, 'flex', 'priority'),
        fc.constantFrom('response.completed', 'response.incomplete'),
        fc.boolean(),
        (of, tier, type, hasOutput) => {
          const output = [opened, ...Array.from({ length: of.searches }, (_, n) => search(n))]
          const expected = expectedUsage(of, 0, tier)
          const usage = {
            input_tokens: expected.prompt_tokens,
            input_tokens_details: { cached_tokens: of.read, cache_write_tokens: of.written5m + of.written1h },
            output_tokens: expected.completion_tokens,
            output_tokens_details: { reasoning_tokens: of.reasoning },
            total_tokens: expected.total_tokens,
          }
          const response = { object: 'response', service_tier: tier ?? 'default', output, usage }
          assert.deepEqual(meteredOf([response]), expected)
          const created = { ...response, service_tier: 'auto', output: [], usage: null }
          const events = [
            { type: 'response.created', response: { ...created, service_tier: 'flex' } },
            { type: 'response.in_progress', response: created },
            ...output.flatMap((item) => [
              {
                type: 'response.output_item.added',
                item: { ...(item as JsonObject), status: 'in_progress' },
              },
              { type: 'response.output_item.done', item },
            ]),
            { type, response: { ...response, output: hasOutput ? output : [] } },
          ]
          assert.deepEqual(meteredOf(events), expected)
        },
      ),
    )
  })

  it('is that of chat, in one chunk or in each', () => {
    const arbitrary = fc.tuple(arbitraryUsed, fc.constantFrom(undefined, 'flex')).chain(([of, tier]) => {
      const { prompt_tokens, completion_tokens, total_tokens } = expectedUsage(of, 0)
      const usage = {
        prompt_tokens,
        completion_tokens,
        total_tokens,
        prompt_tokens_details: { cached_tokens: of.read, cache_write_tokens: of.written5m + of.written1h },
        completion_tokens_details: { reasoning_tokens: of.reasoning },
        num_search_queries: of.searches,
      }
      const named = tier === undefined ? {} : { service_tier: tier }
      const running = less({ completion_tokens }).map((more) => ({ prompt_tokens, ...more }))
      return fc.record({
        expected: fc.constant(expectedUsage(of, 0, tier)),
        whole: fc.constant({ ...named, choices: [{ message: {} }], usage }),
        chunks: together<Json>(fc.constant(null), running, fc.constant(null), running).map((usages) => [
          ...usages.map((one) => ({ ...named, choices: [{ delta: {} }], usage: one })),
          { choices: [], service_tier: null, usage },
        ]),
      })
    })
    fc.assert(
      fc.property(arbitrary, ({ expected, whole, chunks }) => {
        assert.deepEqual(meteredOf([whole]), expected)
        assert.deepEqual(meteredOf(chunks), expected)
      }),
    )
  })

  it('is that of Gemini, whose last frame counts', () => {
    fc.assert(
      fc.property(arbitraryUsed, (given) => {
        const of = { ...given, written5m: 0, written1h: 0, searches: 0 }
        const expected = expectedUsage(of, 0)
        const prompt = { promptTokenCount: expected.prompt_tokens, cachedContentTokenCount: of.read }
        const last = {
          usageMetadata: {
            ...prompt,
            candidatesTokenCount: of.text,
            thoughtsTokenCount: of.reasoning,
            totalTokenCount: expected.total_tokens,
          },
        }
        const first = { usageMetadata: { ...prompt, totalTokenCount: expected.prompt_tokens } }
        assert.deepEqual(meteredOf([last]), expected)
        assert.deepEqual(meteredOf([first, last]), expected)
      }),
    )
  })
})
