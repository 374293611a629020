import assert from 'node:assert/strict'
import fc from 'fast-check'
import { messages } from '../../../../src/gateway/translation/messages.js'
import { responses } from '../../../../src/gateway/translation/responses.js'
import type { TranslatedEvent } from '../../../../src/gateway/translation/translation.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { COUNTS } from '../../../counts.js'
import { chunkOf, completionOf, ended, eventsOf, usageChunk, wholeOf } from './translated.js'

const GIVEN = { model: 'm', tools: [{ type: 'custom', name: 'shell' }] }

const text = fc.string({ maxLength: 12, unit: 'grapheme' })

const call = fc.record({
  id: fc.uuid(),
  name: fc.constantFrom('get', 'shell'),
  arguments: fc.oneof(
    fc
      .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
      .map((given) => JSON.stringify(given)),
    fc.record({ input: text }).map((given) => JSON.stringify(given)),
    fc.constant(''),
  ),
})

const usage = fc
  .record({
    prompt: fc.nat({ max: 99 }),
    cached: fc.nat({ max: 99 }),
    written: fc.nat({ max: 9 }),
    output: fc.nat({ max: 99 }),
  })
  .map(({ prompt, cached, written, output }) => ({
    prompt_tokens: prompt + 1,
    completion_tokens: output + 1,
    total_tokens: prompt + output + 2,
    prompt_tokens_details: { cached_tokens: Math.min(cached, prompt), cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: Math.min(output, cached) },
  }))

const answer = fc.record({
  content: text,
  refusal: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text }),
  reasoning: text,
  calls: fc.array(call, { maxLength: 4 }),
  usage: fc.option(usage),
  finish: fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter'),
})

type ChatAnswer = typeof answer extends fc.Arbitrary<infer A> ? A : never
type Draw = (most: number) => number

const piecesOf = (whole: string, draw: Draw): readonly string[] => {
  const pieces: string[] = []
  for (let rest = whole; rest !== '';) {
    const length = 1 + draw(rest.length)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return pieces
}

const interleaved = (lists: readonly (readonly JsonObject[])[], draw: Draw): readonly JsonObject[] => {
  const left = lists.filter((list) => list.length > 0).map((list) => [...list])
  const all: JsonObject[] = []
  while (left.length > 0) {
    const at = draw(left.length)
    all.push(left[at]!.shift()!)
    if (left[at]!.length === 0) left.splice(at, 1)
  }
  return all
}

/** Some deltas have the next member of the message too. */
const joined = (deltas: readonly JsonObject[], draw: Draw): readonly JsonObject[] => {
  const all: JsonObject[] = []
  for (const delta of deltas) {
    const last = all.at(-1)
    const isOther = last !== undefined && Object.keys(delta).every((key) => !(key in last))
    if (isOther && draw(3) === 0) all[all.length - 1] = { ...last, ...delta }
    else all.push(delta)
  }
  return all
}

const callPieces = (
  { id, name, arguments: given }: ChatAnswer['calls'][number],
  place: number,
  draw: Draw,
) => {
  const index = draw(2) === 0 ? place : String(place)
  const piece = (members: JsonObject, called: JsonObject) => ({
    tool_calls: [{ index, ...members, function: called }],
  })
  const head = { id, type: 'function' }
  if (draw(3) === 0) return [piece(head, { name, arguments: given })]
  return [
    piece(head, { name, arguments: '' }),
    ...piecesOf(given, draw).map((one) => piece({}, { arguments: one })),
  ]
}

const chunksOf = (
  { content, refusal, reasoning, calls, usage, finish }: ChatAnswer,
  draw: Draw,
): readonly JsonObject[] => {
  const deltas = interleaved(
    [
      ...Object.entries({ content, refusal, reasoning_content: reasoning }).map(([key, whole]) =>
        piecesOf(whole, draw).map((piece) => ({ [key]: piece })),
      ),
      ...calls.map((one, place) => callPieces(one, place, draw)),
    ],
    draw,
  )
  const chunks = [{ role: 'assistant', content: '' }, ...joined(deltas, draw)].map((delta) => chunkOf(delta))
  if (usage === null) return [...chunks, ended(finish)]
  if (draw(2) === 0) return [...chunks, ended(finish), usageChunk(usage)]
  return [...chunks, { ...ended(finish), usage }]
}

const completion = ({ content, refusal, reasoning, calls, usage, finish }: ChatAnswer): JsonObject =>
  completionOf(
    {
      content,
      refusal,
      reasoning_content: reasoning,
      tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    },
    finish,
    { usage },
  )

/** What an answer says, whatever its blocks are. */
interface Said {
  readonly text: string
  readonly reasoning: string
  readonly calls: ReadonlyMap<Json | undefined, JsonObject>
}

const said = (
  blocks: readonly (readonly [kind: 'text' | 'reasoning' | JsonObject, text: string])[],
): Said => ({
  text: blocks.map(([kind, one]) => (kind === 'text' ? one : '')).join(''),
  reasoning: blocks.map(([kind, one]) => (kind === 'reasoning' ? one : '')).join(''),
  calls: new Map(
    blocks.flatMap(([kind]) => (typeof kind === 'string' ? [] : [[kind['call_id'] ?? kind['id'], kind]])),
  ),
})

const members = (value: JsonObject) => value as unknown as Record<string, Record<string, string>>

/** The message that a client makes of the events, which must be nested rightly. */
const foldedMessage = (events: readonly TranslatedEvent[]): JsonObject => {
  const names = events.map(({ event }) => event)
  assert.equal(names[0], 'message_start')
  assert.deepEqual(names.slice(-2), ['message_delta', 'message_stop'])
  const content: { block: JsonObject; text: string }[] = []
  let open: number | undefined
  for (const { event, value } of events.slice(1, -2)) {
    const { delta } = members(value)
    const index = value['index'] as number
    if (event === 'content_block_start') {
      assert.deepEqual([open, index], [undefined, content.length])
      open = index
      content.push({ block: value['content_block'] as JsonObject, text: '' })
    } else {
      assert.equal(index, open)
      if (event === 'content_block_stop') open = undefined
      else {
        assert.equal(event, 'content_block_delta')
        const last = content.at(-1)!
        assert.equal(delta!['type'], DELTAS[last.block['type'] as keyof typeof DELTAS])
        last.text += delta!['text'] ?? delta!['thinking'] ?? delta!['partial_json']!
      }
    }
  }
  assert.equal(open, undefined)
  const { delta, usage } = events.at(-2)!.value
  const blocks = content.map(({ block, text: whole }) => {
    if (block['type'] === 'tool_use') return { ...block, input: JSON.parse(whole || '{}') as Json }
    return { ...block, [block['type'] === 'text' ? 'text' : 'thinking']: whole }
  })
  return {
    ...(members(events[0]!.value)['message'] as JsonObject),
    content: blocks,
    ...(delta as JsonObject),
    usage: usage!,
  }
}

const DELTAS = { text: 'text_delta', thinking: 'thinking_delta', tool_use: 'input_json_delta' }

const saidInMessage = ({ content }: JsonObject): Said =>
  said(
    (content as readonly JsonObject[]).map((block) => {
      if (block['type'] === 'text') return ['text', block['text'] as string]
      return block['type'] === 'thinking' ? ['reasoning', block['thinking'] as string] : [block, '']
    }),
  )

/** The response of the last event, which the events before must agree with. */
const foldedResponse = (events: readonly TranslatedEvent[]): JsonObject => {
  assert.deepEqual(
    events.map(({ value }) => value['sequence_number']),
    events.map((_, at) => at),
  )
  const done: JsonObject[] = []
  let open: { readonly item: JsonObject; readonly index: number; text: string } | undefined
  for (const { event, value } of events.slice(2, -1)) {
    const index = value['output_index'] as number
    if (event === 'response.output_item.added') {
      assert.deepEqual([open, index], [undefined, done.length])
      open = { item: value['item'] as JsonObject, index, text: '' }
      continue
    }
    assert.equal(index, open!.index)
    if (event === 'response.output_item.done') {
      const item = value['item'] as JsonObject
      assert.deepEqual([item['id'], textIn(item)], [open!.item['id'], open!.text])
      done.push(item)
      open = undefined
    } else {
      assert.equal(value['item_id'], open!.item['id'])
      if (event.endsWith('.delta')) open!.text += value['delta'] as string
    }
  }
  assert.equal(open, undefined)
  const response = events.at(-1)!.value['response'] as JsonObject
  assert.deepEqual(response['output'], done)
  return response
}

const textIn = ({ type, content, summary, arguments: given, input }: JsonObject): string => {
  if (type !== 'message' && type !== 'reasoning') return (given ?? input) as string
  return ((content ?? summary) as readonly Record<string, string>[])
    .map(({ text: one, refusal }) => one ?? refusal!)
    .join('')
}

const saidInResponse = ({ output }: JsonObject): Said =>
  said(
    (output as readonly JsonObject[]).map(({ id: _, status: __, ...item }) => {
      if (item['type'] === 'message') return ['text', textIn(item)]
      return item['type'] === 'reasoning' ? ['reasoning', textIn(item)] : [item, '']
    }),
  )

describe('a translated stream', () => {
  const forAnswers = (check: (chunks: readonly JsonObject[], whole: JsonObject) => void) => () => {
    fc.assert(
      fc.property(answer, fc.infiniteStream(fc.nat()), (one, numbers) => {
        const draw: Draw = (most) => numbers.next().value! % most
        // Interleaved texts of two kinds are in another order than in the whole answer.
        const { refusal, content } = one
        const chat = { ...one, content: refusal === '' ? content : '' }
        check(chunksOf(chat, draw), completion(chat))
      }),
      { numRuns: COUNTS.endpointStreams },
    )
  }

  it(
    'of messages is nested, and says the same as the whole answer',
    forAnswers((chunks, whole) => {
      const folded = foldedMessage(eventsOf(messages, chunks, GIVEN))
      const expected = wholeOf(messages, whole, GIVEN)
      assert.deepEqual(saidInMessage(folded), saidInMessage(expected))
      assert.deepEqual({ ...folded, content: [] }, { ...expected, content: [] })
    }),
  )

  it(
    'of responses is nested, and says the same as the whole answer',
    forAnswers((chunks, whole) => {
      const folded = foldedResponse(eventsOf(responses, chunks, GIVEN))
      const expected = wholeOf(responses, whole, GIVEN)
      assert.deepEqual(saidInResponse(folded), saidInResponse(expected))
      assert.deepEqual({ ...folded, output: [] }, { ...expected, output: [] })
    }),
  )
})
