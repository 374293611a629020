import assert from 'node:assert/strict'
import fc from 'fast-check'
import { answerRoom } from '../../../../src/gateway/answer/answer-room.js'
import { MemoryAccount } from '../../../../src/kernel/memory-account.js'
import { AnswerFold } from '../../../../src/gateway/answer/fold.js'
import { COUNTS } from '../../../counts.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kernel/json/json.js'

/** Names of members of a message whose texts come in pieces, known and not. */
const TEXTS = ['content', 'refusal', 'reasoning', 'reasoning_content', 'thinking', 'x_text']

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
const word = fc.stringMatching(/^[a-z]{3,8}$/)
const idOf = (prefix: string) => fc.uuid().map((id) => prefix + id)
/** Arguments as a model writes them: complete JSON only at their end. */
const argumentsText = fc.dictionary(word, text, { maxKeys: 3 }).map((value) => JSON.stringify(value))

const functionCall = fc.record({
  id: idOf('call_'),
  type: fc.constant('function'),
  function: fc.record({ name: word, arguments: argumentsText }),
})
const customCall = fc.record({
  id: idOf('call_'),
  type: fc.constant('custom'),
  custom: fc.record({ name: word, input: text }),
})

/** No two neighbours are texts, which would be one text. */
const parts = fc.array(text, { minLength: 1, maxLength: 3 }).map((texts) =>
  texts.flatMap((one, at) => [
    { type: 'text', text: one },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${at}` } },
  ]),
)

const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(text, parts, fc.constant(null)),
    refusal: fc.oneof(text, fc.constant(null)),
    reasoning: text,
    reasoning_content: text,
    thinking: text,
    x_text: text,
    reasoning_details: fc
      .array(fc.record({ type: fc.constant('reasoning.text'), text, signature: text }), { maxLength: 3 })
      .map((details) => details.map((detail, index) => ({ ...detail, index }))),
    thinking_blocks: fc.array(fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }), {
      minLength: 1,
      maxLength: 3,
    }),
    provider: word,
    tool_calls: fc.array(fc.oneof(functionCall, customCall), { minLength: 1, maxLength: 3 }),
    function_call: fc.record({ name: word, arguments: argumentsText }),
    audio: fc.record({
      id: idOf('audio_'),
      transcript: text,
      data: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
      expires_at: fc.nat(),
    }),
    annotations: fc.array(
      fc.record({ type: fc.constant('url_citation'), url_citation: fc.record({ url: text }) }),
    ),
    x_list: fc.array(text, { maxLength: 3 }),
    x_object: fc.record({ count: fc.nat(), note: text }),
  },
  { requiredKeys: ['role', 'content'] },
)

const choice = fc.record(
  {
    message,
    finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    logprobs: fc.record({
      content: fc.array(fc.record({ token: text, logprob: fc.double({ noNaN: true, max: 0 }) }), {
        minLength: 1,
      }),
    }),
    token_ids: fc.array(fc.nat(300), { minLength: 1 }),
    stop_reason: fc.oneof(fc.constant(null), word),
    content_filter_results: fc.record({ hate: fc.record({ filtered: fc.boolean() }) }),
  },
  { requiredKeys: ['message', 'finish_reason'] },
)

const answer = fc.record(
  {
    id: idOf('chatcmpl-'),
    created: fc.nat(),
    choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    system_fingerprint: word,
    service_tier: word,
    citations: fc.array(text, { minLength: 1, maxLength: 3 }),
    x_head: fc.record({ region: word }),
    usage: fc.record({ prompt_tokens: fc.nat({ max: 99 }), completion_tokens: fc.nat({ max: 99 }) }),
  },
  { requiredKeys: ['id', 'created', 'choices'] },
)

type Draw = (most: number) => number

/** A text in pieces, which may part a character. */
const piecesOf = (whole: string, draw: Draw): readonly string[] => {
  const pieces: string[] = []
  for (let rest = whole; rest !== '';) {
    const length = 1 + draw(rest.length)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return pieces
}

type Piece = Readonly<Record<string, Json>>

/** The pieces of one member of a message, in their order. */
const piecesOfMember = (key: string, value: Json, style: Style, draw: Draw): readonly Piece[] => {
  if (Array.isArray(value) && value.length === 0) return [{ [key]: value }]
  if (key === 'tool_calls') return callPieces(value as readonly JsonObject[], style, draw)
  if (TEXTS.includes(key) && typeof value === 'string') {
    const pieces = piecesOf(value, draw)
    // Equal pieces of an unknown member would be one text that each chunk repeats.
    const areEqual = key === 'x_text' && pieces.every((piece) => piece === pieces[0])
    return (areEqual ? [value] : pieces).map((piece) => ({ [key]: piece }))
  }
  if (key === 'reasoning_details')
    return (value as readonly JsonObject[]).flatMap(({ type, text, signature, index }) => [
      ...piecesOf(text as string, draw).map((piece) => ({
        [key]: [{ type: type!, index: index!, text: piece }],
      })),
      { [key]: [{ type: type!, index: index!, signature: signature! }] },
    ])
  if (key === 'thinking_blocks')
    return (value as readonly JsonObject[]).flatMap(({ type, thinking, signature }) => [
      ...piecesOf(thinking as string, draw).map((piece) => ({ [key]: [{ type: type!, thinking: piece }] })),
      { [key]: [{ type: type!, thinking: '', signature: signature! }] },
    ])
  if (key === 'provider') return [{ [key]: value }, { [key]: value }]
  if (key === 'function_call') {
    const { name, arguments: given } = value as { readonly name: string; readonly arguments: string }
    return [
      { [key]: { name, arguments: '' } },
      ...piecesOf(given, draw).map((piece) => ({ [key]: { arguments: piece } })),
    ]
  }
  if (key === 'audio') {
    const { id, transcript, data, expires_at } = value as Record<string, string>
    const encoded = Buffer.from(data!, 'base64')
    const middle = draw(encoded.length + 1)
    return [
      { [key]: { id: id! } },
      ...piecesOf(transcript!, draw).map((piece) => ({ [key]: { transcript: piece } })),
      ...[encoded.subarray(0, middle), encoded.subarray(middle)].map((part) => ({
        [key]: { data: part.toString('base64') },
      })),
      { [key]: { expires_at: expires_at! } },
    ]
  }
  if (key === 'content' && Array.isArray(value))
    return (value as readonly JsonObject[]).flatMap((part) =>
      part['type'] === 'text'
        ? piecesOf(part['text'] as string, draw).map((piece) => ({ [key]: [{ type: 'text', text: piece }] }))
        : [{ [key]: [part] }],
    )
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => ({ [key]: [item] }))
  return [{ [key]: value }]
}

/** How an upstream says which tool call a piece is of. */
type Style = 'index' | 'text index' | 'same index' | 'no index' | 'repeated names' | 'all at once'

const STYLES: readonly Style[] = [
  'index',
  'text index',
  'same index',
  'no index',
  'repeated names',
  'all at once',
]

const callPieces = (calls: readonly JsonObject[], style: Style, draw: Draw): readonly Piece[] =>
  calls.flatMap((call, at) => {
    const index: Piece =
      style === 'no index'
        ? {}
        : {
            index:
              style === 'text index'
                ? String(at)
                : style === 'same index' || style === 'all at once'
                  ? 0
                  : at,
          }
    if (style === 'all at once') return [{ tool_calls: [{ ...index, ...call }] }]
    const kind = call['type'] as 'function' | 'custom'
    const { name, ...rest } = call[kind] as Readonly<Record<string, string>>
    const [[member, given]] = Object.entries(rest) as [[string, string]]
    return [
      { tool_calls: [{ ...index, id: call['id']!, type: kind, [kind]: { name: name!, [member]: '' } }] },
      ...piecesOf(given, draw).map((piece) => ({
        tool_calls: [
          { ...index, [kind]: { ...(style === 'repeated names' ? { name: name! } : {}), [member]: piece } },
        ],
      })),
    ]
  })

/** The lists as one, each in its order. */
const interleaved = <A>(lists: readonly (readonly A[])[], draw: Draw): readonly A[] => {
  const left = lists.filter((list) => list.length > 0).map((list) => [...list])
  const all: A[] = []
  while (left.length > 0) {
    const at = draw(left.length)
    all.push(left[at]!.shift()!)
    if (left[at]!.length === 0) left.splice(at, 1)
  }
  return all
}

const chunksOf = (whole: JsonObject, style: Style, draw: Draw): readonly JsonObject[] => {
  const { choices, usage, ...head } = whole
  const deltas = (choices as readonly JsonObject[]).map((one, index) => {
    const { message, finish_reason, logprobs, token_ids, ...facts } = one
    const members = Object.entries(message as JsonObject)
    const ofMessage = interleaved(
      members
        .filter(([key]) => key !== 'role')
        .map(([key, value]) => piecesOfMember(key, value, style, draw)),
      draw,
    ).map((delta) => ({ index, delta }))
    const tokens = isJsonObject(logprobs) ? (logprobs['content'] as readonly Json[]) : []
    const more = interleaved(
      [
        ofMessage,
        tokens.map((token) => ({ index, delta: {}, logprobs: { content: [token] } })),
        ((token_ids ?? []) as readonly number[]).map((id) => ({ index, delta: {}, token_ids: [id] })),
      ],
      draw,
    )
    const { content, refusal, tool_calls, function_call, audio } = message as JsonObject
    const hasOther = [refusal, tool_calls, function_call, audio].some(
      (other) => other !== undefined && other !== null,
    )
    const empty = typeof content === 'string' || (content === null && hasOther) ? { content: '' } : {}
    return [
      { index, delta: { role: 'assistant', ...empty }, finish_reason: null },
      ...more,
      { index, delta: {}, ...facts, finish_reason: finish_reason! },
    ]
  })
  const object = 'chat.completion.chunk'
  return [
    ...interleaved<JsonObject>(deltas, draw).map((one) => ({ ...head, object, model: 'up', choices: [one] })),
    ...(usage === undefined ? [] : [{ ...head, object, model: 'up', choices: [], usage }]),
  ]
}

describe('a streamed answer', () => {
  it('is put together to what it is in one piece, however it was cut', () => {
    fc.assert(
      fc.property(
        answer,
        fc.constantFrom(...STYLES),
        fc.infiniteStream(fc.nat()),
        (whole, style, numbers) => {
          const draw: Draw = (most) => numbers.next().value! % most
          const given = JSON.parse(JSON.stringify(whole)) as JsonObject
          const fold = new AnswerFold('public', answerRoom(new MemoryAccount(Infinity).lease('')))
          for (const chunk of chunksOf(given, style, draw))
            fold.take(chunk, chunk['choices'] as readonly JsonObject[])
          const expected = {
            ...given,
            object: 'chat.completion',
            model: 'public',
            usage: given['usage'] ?? null,
            choices: (given['choices'] as readonly JsonObject[]).map((one, index) => ({ ...one, index })),
          }
          assert.deepEqual(JSON.parse(JSON.stringify(fold.whole())), JSON.parse(JSON.stringify(expected)))
        },
      ),
      { numRuns: COUNTS.streamedAnswers },
    )
  })
})
