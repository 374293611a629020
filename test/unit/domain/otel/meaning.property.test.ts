import { deepStrictEqual, ok } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { spansInJson } from '../../../../src/api/otel/json-request.js'
import { reportedUsageOf } from '../../../../src/domain/calls/usage/reported.js'
import { meaningOf } from '../../../../src/domain/otel/meaning.js'
import type { Span } from '../../../../src/domain/otel/span.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { arbitraryJson, troublesomeText } from '../../../support/arbitrary-json.js'
import { aResource, aScope, aSpan, anEvent } from './arbitrary.js'

const FOLDER = new URL('../../../samples/otlp/', import.meta.url)

const sentSpans = async (): Promise<readonly Span[]> => {
  const spans: Span[] = []
  for (const name of readdirSync(FOLDER)) {
    const request = parseJson(readFileSync(new URL(name, FOLDER), 'utf8'))
    if (!isJsonObject(request) || request['resourceSpans'] === undefined) continue
    for (const { span } of await spansInJson(request)) if ('spanId' in span) spans.push(span)
  }
  return spans
}

/** Names that no sample has. */
const OTHER_NAMES = [
  ...[
    'langfuse.startTime',
    'langfuse.observation.cost_details',
    'langfuse.observation.completion_start_time',
  ],
  ...['wandb.wb_run_id', 'wandb.wb_run_step', 'wandb.attributes', 'weave.eval.run_id', 'weave', '__proto__'],
  ...[
    'gen_ai.prompt',
    'gen_ai.prompt.0.content',
    'gen_ai.prompt.1.tool_calls.0',
    'gen_ai.prompt.__proto__.x',
  ],
  ...['gen_ai.usage.cost', 'gen_ai.usage.cache_creation.input_tokens', 'input', 'output', 'input_tokens'],
  ...[
    'all_messages_events',
    'events',
    'ai.prompt',
    'ai.response.object',
    'retrieval.documents.0.document.id',
  ],
  'llm.input_messages.0.message.contents.0.message_content.image.image.url',
]

/** Members of messages, which have values of every type in any place. */
const MEMBERS = [
  ...['role', 'content', 'parts', 'contents', 'type', 'text', 'tool_calls', 'function', 'arguments', 'name'],
  ...['message', 'choices', 'messages', 'output', 'result', 'kwargs', 'lc', 'image', 'mime_type', 'system'],
  ...['function_call', 'tools', 'config', 'prompt', 'tool', 'json_schema', 'event.name', 'modality'],
]
const WORDS = ['user', 'assistant', 'tool', 'text', 'tool_call', 'tool-result', 'blob', 'image', 'reasoning']

const messageLike: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(...WORDS, 'image/png', 'gen_ai.choice', null, 0, false, ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...MEMBERS), tie('value'), { maxKeys: 5 }),
  ),
})).value

const given = async () => {
  const spans = await sentSpans()
  const names = [...new Set([...spans.flatMap(({ attributes }) => Object.keys(attributes)), ...OTHER_NAMES])]
  const texts = spans.flatMap(({ attributes }) =>
    Object.values(attributes).filter((value) => typeof value === 'string'),
  )
  const cutText = fc.tuple(fc.constantFrom(...texts), fc.nat(400)).map(([text, most]) => text.slice(0, most))
  const figure = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom('120', '1e5', 'NaN', '99999999999999999999', 1e300, -1),
  )
  const value: fc.Arbitrary<Json> = fc.oneof(
    figure.map((one) => (typeof one === 'number' && !Number.isFinite(one) ? String(one) : one)),
    cutText,
    arbitraryJson,
    messageLike,
    fc.oneof(arbitraryJson, messageLike).map((one) => JSON.stringify(one)),
  )
  const attributes = fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...names), troublesomeText()), value), { maxLength: 12 })
    .map((members): JsonObject => Object.fromEntries(members))
  const event = fc
    .tuple(
      fc.constantFrom('exception', 'gen_ai.choice', 'gen_ai.user.message', 'gen_ai.content.prompt', 'other'),
      attributes,
    )
    .map(([name, members]) => anEvent(name, members))
  return fc
    .record({
      attributes,
      events: fc.array(event, { maxLength: 3 }),
      name: troublesomeText(),
      code: fc.nat(3),
    })
    .map(({ code, ...others }) => aSpan({}, { ...others, status: { code, message: '' } }))
}

describe('the meaning of any span', () => {
  it('is JSON whose figures are whole and at least 0, and is read again as it is', async () => {
    fc.assert(
      fc.property(await given(), (span) => {
        const { inputs, output, attributes, usage, exception, displayName } = meaningOf(
          span,
          aScope,
          aResource(),
        )
        const value = { inputs, output, attributes, usage, exception, displayName }
        // An object of JSON.parse has an own `__proto__`, and -0 is 0 in JSON.
        deepStrictEqual(jsonText(parseJson(jsonText(value))), jsonText(value))
        if (usage === null) return
        const counts = Object.entries(usage).filter(([name]) => name.endsWith('tokens'))
        for (const [name, count] of counts) ok(Number.isInteger(count) && (count as number) >= 0, name)
        const read = reportedUsageOf({ usage: { x: usage } }).models[0]!
        deepStrictEqual(read.requests, 1)
        if (usage['prompt_tokens'] !== undefined) deepStrictEqual(read.prompt_tokens, usage['prompt_tokens'])
        deepStrictEqual(read.cache_read_input_tokens, usage['cache_read_input_tokens'] ?? 0)
      }),
    )
  })
})
