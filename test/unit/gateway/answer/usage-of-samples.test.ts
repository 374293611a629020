import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { UsageReports, type ReportedTokens } from '../../../../src/gateway/answer/usage.js'
import { isJsonObject, type Json } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

/** The JSON of an answer, or of each of its events. */
const valuesIn = async (file: string): Promise<readonly Json[]> => {
  const text = await readFile(`test/samples/gateway/${file}`, 'utf8')
  if (file.endsWith('.json')) return [parseJson(text)]
  return [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, data]) => parseJson(data!))
}

const meteredOf = async (file: string, reported: ReportedTokens, isFinal = true) => {
  const reports = new UsageReports(expectedOf(8), reported)
  for (const value of await valuesIn(file)) if (isJsonObject(value)) reports.take(value, [])
  const { metering, usage } = reports.metered('Hello'.length, isFinal)
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage!
  const { prompt_tokens, completion_tokens, cache_creation_1h_input_tokens: hour } = usage!
  return [metering, prompt_tokens, completion_tokens, read, written, hour]
}

describe('the usage of a recorded answer', () => {
  const cases: readonly (readonly [file: string, figures: readonly unknown[], ReportedTokens?])[] = [
    ['05-responses-cached.response.json', ['reported', 2100, 30, 1920, 100, 0]],
    ['06-responses-cut-stream.response.sse', ['reported', 12, 4, 0, 0, 0]],
    ['10-messages-thinking-stream.response.sse', ['reported', 120, 90, 0, 0, 0]],
    ['12-messages-cached-stream.response.sse', ['reported', 2100, 30, 1920, 100, 40]],
    ['15-embeddings-token-arrays.response.json', ['reported', 4, 0, 0, 0, 0], 'prompt'],
    ['16-completions-stream.response.sse', ['reported', 12, 4, 0, 0, 0]],
    ['17-gemini-thoughts-stream.response.sse', ['reported', 120, 90, 0, 0, 0]],
    ['18-chat-cached-stream.response.sse', ['reported', 2100, 30, 1920, 0, 0]],
  ]
  for (const [file, figures, reported] of cases)
    it(`is ${figures.join(' ')} in ${file}`, async () =>
      assert.deepEqual(await meteredOf(file, reported ?? 'both'), figures))

  it('has an estimate of the completion where a message breaks off', async () =>
    assert.deepEqual(await meteredOf('13-messages-error-within-stream.response.sse', 'both', false), [
      'estimated',
      12,
      2,
      0,
      0,
      0,
    ]))
})
