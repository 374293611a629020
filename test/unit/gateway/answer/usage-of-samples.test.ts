import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Api } from '../../../../src/domain/gateway/upstreams/apis.js'
import { UsageReports, type Metered } from '../../../../src/gateway/answer/usage.js'
import { ENDPOINTS } from '../../../../src/gateway/endpoints/all.js'
import { isJsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

const textOf = (file: string) => readFile(`test/samples/gateway/${file}`, 'utf8')
const eventsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^data: (.*?)\r?$/gm)].map(([, data]) => data!)

/** As an endpoint of the gateway meters an answer, whole or in events. */
const meteredBy = async (api: Api, file: string): Promise<Metered> => {
  const text = await textOf(file)
  const isWhole = file.endsWith('.json')
  const answer = ENDPOINTS[api].answer({
    given: { stream: !isWhole },
    publicModel: 'm',
    expected: expectedOf(8),
    room: null,
    hidesRunningUsage: false,
  })
  if (isWhole) return answer.whole(parseJson(text), text)!.metered
  for (const data of eventsIn(text)) await answer.take({ data })
  return answer.metered()
}

const figuresOf = ({ metering, usage }: Metered) => {
  const { prompt_tokens, completion_tokens, cache_read_input_tokens: read } = usage!
  const { cache_creation_input_tokens: written, cache_creation_1h_input_tokens: hour } = usage!
  return [metering, prompt_tokens, completion_tokens, read, written, hour]
}

describe('the usage of a recorded answer', () => {
  for (const [api, file, figures] of [
    ['responses', '05-responses-cached.response.json', ['reported', 2100, 30, 1920, 100, 0]],
    ['responses', '06-responses-cut-stream.response.sse', ['reported', 12, 4, 0, 0, 0]],
    ['messages', '10-messages-thinking-stream.response.sse', ['reported', 120, 90, 0, 0, 0]],
    ['messages', '12-messages-cached-stream.response.sse', ['reported', 2100, 30, 1920, 100, 40]],
    // Only the prompt was reported.
    ['messages', '13-messages-error-within-stream.response.sse', ['estimated', 12, 2, 0, 0, 0]],
    ['embeddings', '15-embeddings-token-arrays.response.json', ['reported', 4, 0, 0, 0, 0]],
    ['completions', '16-completions-stream.response.sse', ['reported', 12, 4, 0, 0, 0]],
    ['chat', '18-chat-cached-stream.response.sse', ['reported', 2100, 30, 1920, 0, 0]],
  ] as const)
    it(`is ${figures.join(' ')} in ${file}`, async () =>
      assert.deepEqual(figuresOf(await meteredBy(api, file)), figures))

  it('is that of the last frame of Gemini, with thoughts on top', async () => {
    const reports = new UsageReports(expectedOf(8))
    for (const data of eventsIn(await textOf('17-gemini-thoughts-stream.response.sse'))) {
      const value = parseJson(data)
      if (isJsonObject(value)) reports.take(value, [])
    }
    assert.deepEqual(figuresOf(reports.metered(5)), ['reported', 120, 90, 0, 0, 0])
  })
})
