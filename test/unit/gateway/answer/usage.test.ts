import assert from 'node:assert/strict'
import { promptTokensOf } from '../../../../src/gateway/answer/prompt.js'
import { CompletionStream } from '../../../../src/gateway/answer/stream.js'
import { expectedUsage } from '../../../../src/gateway/answer/usage.js'
import { meteredWhole } from '../../../../src/gateway/answer/whole-answer.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { meteredWith } from '../../../support/upstreams/metered.js'

/** Ten tokens by its bytes; the prompt is estimated as eight. */
const content = 'forty bytes of an answer, as they arrive'
const expected = expectedUsage({ estimate: 8, most: 32 }, 100)

type Figures = readonly [metering: string, prompt: number, completion: number]

const meteredOf = (usage: JsonObject): Figures => {
  const metered = meteredWith(usage, { content, expected })
  assert.equal(metered.usage!.total_tokens, metered.usage!.prompt_tokens + metered.usage!.completion_tokens)
  return [metered.metering, metered.usage!.prompt_tokens, metered.usage!.completion_tokens]
}

const streamedOf = (...chunks: readonly JsonObject[]): Figures => {
  const request = { publicModel: 'm', n: 1, includeUsage: false, hidesRunningUsage: false, expected }
  const stream = new CompletionStream(request, null)
  stream.take({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })
  for (const chunk of chunks) stream.take(chunk)
  const { metering, usage } = stream.metered
  return [metering, usage!.prompt_tokens, usage!.completion_tokens]
}

describe('a report of usage', () => {
  const cases: readonly (readonly [report: JsonObject, figures: Figures])[] = [
    [{ prompt_tokens: 12, total_tokens: 399 }, ['reported', 12, 387]],
    [{ prompt_tokens: 12, completion_tokens: null, total_tokens: 399 }, ['reported', 12, 387]],
    [{ prompt_tokens: 12, completion_tokens: 0, total_tokens: 399 }, ['reported', 12, 387]],
    [{ completion_tokens: 387, total_tokens: 399 }, ['reported', 12, 387]],
    [{ prompt_tokens: null, completion_tokens: 387, total_tokens: 399 }, ['reported', 12, 387]],
    [{ prompt_tokens: 0, completion_tokens: 387, total_tokens: 399 }, ['reported', 12, 387]],
    [{ prompt_tokens: 12, completion_tokens: 387 }, ['reported', 12, 387]],
    [{ prompt_tokens: 12, completion_tokens: 387, total_tokens: null }, ['reported', 12, 387]],
    [{ promptTokenCount: 12, thoughtsTokenCount: 387, totalTokenCount: 399 }, ['reported', 12, 387]],
    [{ input_tokens: 12, total_tokens: 399 }, ['reported', 12, 387]],
    [
      { prompt_tokens: 12, total_tokens: 399, completion_tokens_details: { reasoning_tokens: 387 } },
      ['reported', 12, 387],
    ],
    // What is not reported and does not follow is estimated.
    [{ prompt_tokens: 100 }, ['estimated', 100, 10]],
    [{ completion_tokens: 30 }, ['estimated', 8, 30]],
    [{ total_tokens: 399 }, ['estimated', 8, 391]],
    [{ total_tokens: 5 }, ['estimated', 5, 10]],
    [{ prompt_tokens: 12, total_tokens: 12 }, ['estimated', 12, 10]],
    [{}, ['estimated', 8, 10]],
    // Absurd figures are not read.
    [{ prompt_tokens: 100, completion_tokens: -10, total_tokens: 90 }, ['estimated', 100, 10]],
    [{ prompt_tokens: -12, completion_tokens: 3, total_tokens: 15 }, ['estimated', 12, 3]],
    [{ prompt_tokens: 1e15, completion_tokens: 3, total_tokens: 15 }, ['estimated', 12, 3]],
    [{ prompt_tokens: 1e15, completion_tokens: 3 }, ['estimated', 8, 3]],
    [{ prompt_tokens: 12, completion_tokens: 1e15, total_tokens: 1e15 }, ['estimated', 12, 10]],
    [{ prompt_tokens: 12, completion_tokens: 3, total_tokens: 1e15 }, ['estimated', 12, 3]],
    [{ prompt_tokens: 12, completion_tokens: 5_000_000_000 }, ['estimated', 12, 10]],
    [{ prompt_tokens: Infinity, completion_tokens: '9'.repeat(400), total_tokens: -1 }, ['estimated', 8, 10]],
    [
      { prompt_tokens: 12, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 1e12 } },
      ['estimated', 12, 3],
    ],
    // A long answer and much unseen text are not absurd.
    [{ prompt_tokens: 1_000_000, completion_tokens: 500_000 }, ['reported', 1_000_000, 500_000]],
  ]
  for (const [report, figures] of cases)
    it(`has ${figures.join(' ')}: ${JSON.stringify(report).slice(0, 90)}`, () => {
      assert.deepEqual(meteredOf(report), figures)
      assert.deepEqual(streamedOf({ choices: [], usage: report }), figures)
    })

  it('has no cached tokens where their number is absurd', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3 }
    const { metering, usage: used } = meteredWith(
      { ...usage, cache_read_input_tokens: 1e15, prompt_tokens_details: { cached_tokens: -1 } },
      { content, expected },
    )
    assert.deepEqual([metering, used?.prompt_tokens, used?.cache_read_input_tokens], ['estimated', 12, 0])
  })

  it('has no cost that its tokens cannot have', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3 }
    const costOf = (cost: number) => {
      const { metering, usage: used } = meteredWith({ ...usage, cost }, { content, expected })
      return [metering, used?.reported_cost]
    }
    assert.deepEqual(costOf(0.25), ['reported', 250_000_000])
    assert.deepEqual(costOf(1e9), ['estimated', 0])
  })

  it('keeps what earlier chunks said where a later one has a hole', () =>
    assert.deepEqual(
      streamedOf(
        { choices: [], usage: { prompt_tokens: 12 } },
        { choices: [], usage: { completion_tokens: 387 } },
      ),
      ['reported', 12, 387],
    ))

  it('in each choice counts its completion, and the prompt once', () => {
    const of = (completion_tokens: number) => ({
      prompt_tokens: 12,
      completion_tokens,
      total_tokens: 12 + completion_tokens,
    })
    const choice = (index: number, usage: JsonObject) => ({ index, usage, finish_reason: 'stop' })
    const choices = [choice(0, of(10)), choice(1, of(30))]
    const whole = (more: JsonObject) => {
      const { usage, metering } = meteredWhole(
        { choices: choices.map((one) => ({ ...one, message: { content } })), ...more },
        expected,
      )
      return [metering, usage!.prompt_tokens, usage!.completion_tokens]
    }
    assert.deepEqual(whole({}), ['reported', 12, 40])
    assert.deepEqual(whole({ usage: of(40) }), ['reported', 12, 40])
    assert.deepEqual(whole({ usage: of(0) }), ['reported', 12, 40])
    assert.deepEqual(
      streamedOf({ choices: [choices[0]!] }, { choices: [choices[1]!] }, { choices: [choices[1]!] }),
      ['reported', 12, 40],
    )
  })

  it('may have a token for each byte of the prompt, and the whole length that was allowed', () => {
    const prompt = promptTokensOf({ messages: [{ role: 'user', content: '字'.repeat(1_000_000) }] })
    const usage = { prompt_tokens: 3_000_000, completion_tokens: 3_000_000 }
    const metered = meteredWith(usage, { content, expected: expectedUsage(prompt, 3_000_000) })
    assert.equal(metered.metering, 'reported')
  })
})
