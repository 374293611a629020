import assert from 'node:assert/strict'
import { CompletionStream } from '../../../../src/gateway/answer/stream.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

const streamOf = (more: object = {}) =>
  new CompletionStream(
    {
      publicModel: 'acme/chat',
      n: 1,
      includeUsage: false,
      hidesRunningUsage: false,
      expected: expectedOf(2),
      ...more,
    },
    null,
  )

const chunk = (index: number, delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  created: 1,
  choices: [{ index, delta, finish_reason }],
})

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

describe('a streamed completion', () => {
  it('is complete when all choices that were asked for have a reason, or the upstream says that it is done', () => {
    const stream = streamOf({ n: 2 })
    assert.equal(stream.isComplete, false)
    stream.take(chunk(0, { content: 'a' }, 'stop'))
    assert.equal(stream.isComplete, false)
    stream.take(chunk(1, { content: 'b' }))
    assert.equal(stream.isComplete, false)
    stream.take(chunk(1, {}, 'length'))
    assert.equal(stream.isComplete, true)
    const withoutReason = streamOf()
    withoutReason.take(chunk(0, { content: 'a' }))
    assert.equal(withoutReason.isComplete, false)
    withoutReason.done()
    assert.equal(withoutReason.isComplete, true)
    const withoutAnswer = streamOf()
    withoutAnswer.take(chunk(0, { role: 'assistant', content: '' }))
    withoutAnswer.done()
    assert.equal(withoutAnswer.isComplete, false)
  })

  it('is reported only when it is complete and the upstream said what was used', () => {
    const stream = streamOf()
    const metered = () => stream.metered
    assert.deepEqual(metered(), { metering: 'unknown', usage: null })
    stream.take(chunk(0, { content: 'four char' }))
    assert.equal(metered().metering, 'estimated')
    assert.equal(metered().usage?.completion_tokens, 3)
    stream.take({ choices: [], usage })
    assert.equal(metered().metering, 'estimated')
    stream.take(chunk(0, {}, 'stop'))
    assert.equal(metered().metering, 'reported')
    assert.equal(metered().usage?.total_tokens, 5)
  })

  it('is estimated by the figures that came last, and by what came where they count nothing', () => {
    const estimateOf = (figures: JsonObject | null) => {
      const stream = streamOf()
      stream.take({ ...chunk(0, { content: 'twelve bytes' }), usage: figures })
      const { metering, usage: used } = stream.metered
      return [metering, used?.prompt_tokens, used?.completion_tokens, used?.total_tokens]
    }
    assert.deepEqual(estimateOf(null), ['estimated', 2, 3, 5])
    assert.deepEqual(estimateOf(usage), ['estimated', 3, 2, 5])
    const nothing = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    assert.deepEqual(estimateOf(nothing), ['estimated', 2, 3, 5])
    assert.deepEqual(estimateOf({ ...nothing, prompt_tokens: 9 }), ['estimated', 9, 3, 12])
  })

  it('counts a whole message after its deltas once', () => {
    const stream = streamOf()
    stream.take(chunk(0, { content: 'twelve bytes' }))
    const last = { index: 0, delta: {}, message: { content: 'twelve bytes' }, finish_reason: 'stop' }
    stream.take({ choices: [last] })
    assert.equal(stream.metered.usage?.completion_tokens, 3)
  })

  it('has no usage reported by figures that are below zero or no numbers', () => {
    const meteredOf = (figures: JsonObject) => {
      const stream = streamOf()
      stream.take(chunk(0, { content: 'a' }, 'stop'))
      stream.take({ choices: [], usage: { ...usage, ...figures } })
      return stream.metered
    }
    for (const odd of [-1, -1e300, '1e3', {}])
      for (const figure of ['prompt_tokens', 'completion_tokens'])
        assert.equal(meteredOf({ [figure]: odd }).metering, 'estimated')
    assert.equal(meteredOf({ prompt_tokens: '3' }).metering, 'reported')
    for (const total_tokens of [-7, Infinity, 'x'])
      assert.equal(meteredOf({ total_tokens }).usage?.total_tokens, 5)
    for (const [cached, counted] of [
      [-5, 0],
      [2, 2],
      ['1', 1],
    ] as const)
      assert.equal(
        meteredOf({ prompt_tokens_details: { cached_tokens: cached } }).usage?.cache_read_input_tokens,
        counted,
      )
    assert.equal(meteredOf({ completion_tokens: 2.9 }).usage?.completion_tokens, 2)
  })

  it('counts cached tokens among those of the prompt, also where the upstream leaves them out', () => {
    const tokensOf = (figures: JsonObject) => {
      const stream = streamOf()
      stream.take(chunk(0, { content: 'a' }, 'stop'))
      stream.take({ choices: [], usage: { ...figures, completion_tokens: 5 } })
      const { usage: used } = stream.metered
      return [
        used?.prompt_tokens,
        used?.cache_read_input_tokens,
        used?.cache_creation_input_tokens,
        used?.total_tokens,
      ]
    }
    const cached = (cache_read_input_tokens: number, cache_creation_input_tokens: number) => ({
      cache_read_input_tokens,
      cache_creation_input_tokens,
    })
    assert.deepEqual(tokensOf({ prompt_tokens: 100, ...cached(60, 30) }), [100, 60, 30, 105])
    assert.deepEqual(tokensOf({ prompt_tokens: 70, ...cached(60, 30) }), [100, 60, 30, 105])
    assert.deepEqual(tokensOf({ prompt_tokens: 10, ...cached(60, 30), total_tokens: 15 }), [100, 60, 30, 105])
    assert.deepEqual(
      tokensOf({ prompt_tokens: 31, ...cached(0, 1253), total_tokens: 36 }),
      [1284, 0, 1253, 1289],
    )
  })

  it('shows the usage so far to those alone who asked for it', () => {
    const running = { ...chunk(0, { content: 'a' }), usage }
    const shown = (more: object) => {
      const result = streamOf(more).take(running)
      assert.ok('chunk' in result && result.chunk !== null)
      return result.chunk
    }
    assert.ok(!('usage' in shown({})))
    assert.deepEqual(shown({ includeUsage: true })['usage'], usage)
    assert.equal(shown({ includeUsage: true, hidesRunningUsage: true })['usage'], null)
  })

  it('has usage wherever the upstream reports it', () => {
    for (const more of [
      { choices: [{ index: 0, delta: {}, usage }] },
      { choices: [{ index: 0, delta: { usage } }] },
      { choices: [], x_groq: { id: 'x', usage } },
      { x_groq: { usage } },
      { choices: null, usage },
      { choices: [], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 } },
    ]) {
      const stream = streamOf()
      stream.take(chunk(0, { content: 'a' }, 'stop'))
      stream.take(more)
      const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
      stream.take({ choices: [], usage: zeros })
      assert.deepEqual(
        [stream.metered.metering, stream.metered.usage?.total_tokens],
        ['reported', 5],
        JSON.stringify(more),
      )
    }
  })

  it('skips what is no chunk, and tells errors in any form', () => {
    const take = (value: Json) => streamOf().take(value)
    const none = { chunk: null }
    for (const foreign of [
      'ping',
      7,
      null,
      [],
      {},
      { type: 'ping' },
      { id: 'x', choices: null },
      { choices: {} },
    ])
      assert.deepEqual(take(foreign), none, JSON.stringify(foreign))
    for (const error of [
      { error: { message: 'x' } },
      { error: 'x' },
      { object: 'error', message: 'x' },
      { type: 'error', error: { type: 'overloaded_error' } },
      { detail: 'x' },
      { message: 'x', code: 500 },
      [{ error: { message: 'x' } }],
    ])
      assert.deepEqual(take(error), { error }, JSON.stringify(error))
    const odd = { choices: [{ index: '0', delta: { content: 'a' } }, 'x', null] }
    assert.deepEqual(take(odd), { chunk: { ...odd, model: 'acme/chat' } })
  })
})
