import { answerRoom } from '../src/gateway/answer/answer-room.js'
import { AnswerFold } from '../src/gateway/answer/fold.js'
import { CompletionStream } from '../src/gateway/answer/stream.js'
import { eventReader } from '../src/gateway/completions/read-events.js'
import type { UpstreamAnswer } from '../src/domain/gateway/upstreams/upstream-client.js'
import { historyLine, newParts } from '../src/domain/runs/history.js'
import { choiceText } from '../src/gateway/training/choice-text.js'
import { MemoryAccount } from '../src/kernel/memory-account.js'
import type { JsonObject } from '../src/kernel/json/json.js'
import { nativeBlocks } from '../src/projections/usage/native.js'
import { median, ratio } from './support/report.js'

/**
 * Is the work of everything that grows by pieces linear? The CPU time of 8 × PIECES=20000 pieces against eight times that of
 * PIECES, the baseline of the same run: 1 where it is linear, 8 where it is quadratic.
 */
const PIECES = Number(process.env['PIECES'] ?? 20_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const TIMES = 8
const MOST = 2.5

type Work = (pieces: number) => unknown

const NO_LIMIT = 1e12
const MEMORY = new MemoryAccount(Infinity).lease('')

const fold = (choiceAt: (at: number) => JsonObject, more: (at: number) => JsonObject = () => ({})): Work => {
  return (pieces) => {
    const answer = new AnswerFold('m', answerRoom(MEMORY, NO_LIMIT))
    const request = {
      publicModel: 'm',
      n: 1,
      includeUsage: false,
      hidesRunningUsage: false,
      expected: { promptTokens: 1, mostTokens: 1e9 },
    }
    const stream = new CompletionStream(request, answer)
    for (let at = 0; at < pieces; at += 1)
      stream.take({ id: 'x', choices: [{ index: 0, ...choiceAt(at) }], ...more(at) })
    return JSON.stringify(answer.whole()).length
  }
}

const delta = (deltaAt: (at: number) => JsonObject): Work => fold((at) => ({ delta: deltaAt(at) }))
const text = (key: string): Work => delta(() => ({ [key]: 'abcd' }))
const call = (callAt: (at: number) => JsonObject): Work => delta((at) => ({ tool_calls: [callAt(at)] }))

const answerOf = (pieces: number, pieceAt: (at: number) => string): UpstreamAnswer => ({
  status: 200,
  headers: {},
  body: (async function* () {
    const encoder = new TextEncoder()
    for (let at = 0; at < pieces; at += 1) yield Promise.resolve(encoder.encode(pieceAt(at)))
  })(),
  ended: Promise.resolve('complete'),
  sentAt: performance.now(),
  giveUp: () => undefined,
})

const HOUR_MS = 3_600_000
const TIMEOUTS = { connect_ms: HOUR_MS, first_byte_ms: HOUR_MS, idle_ms: HOUR_MS, total_ms: HOUR_MS }

const events =
  (pieceAt: (at: number) => string): Work =>
  async (pieces) => {
    const reader = eventReader(answerOf(pieces, pieceAt), TIMEOUTS, MEMORY)
    let read = 0
    for (let next = await reader.next(); next !== undefined; next = await reader.next()) read += next.length
    reader.close()
    return read
  }

const WORKS: Readonly<Record<string, Work>> = {
  content: text('content'),
  'content of one character': delta(() => ({ content: 'a' })),
  reasoning: text('reasoning_content'),
  refusal: text('refusal'),
  'unknown text': text('x_text'),
  'text that is repeated, then not': delta((at) => ({ x: at % 1000 === 999 ? 'b' : 'a' })),
  'repeated provider': text('provider'),
  name: delta(() => ({ name: 'a' })),
  'tool arguments': call(() => ({ index: 0, function: { arguments: '1,2,' } })),
  'arguments with repeated names': call(() => ({ index: 0, function: { name: 'f', arguments: '{"' } })),
  'arguments without an index': call(() => ({ function: { arguments: '1,2,' } })),
  'arguments with other ids': call((at) => ({ index: 0, id: `c${at}`, function: { arguments: '1' } })),
  'input of custom tools': call(() => ({ index: 0, type: 'custom', custom: { input: 'abcd' } })),
  'many tool calls': call((at) => ({ index: at, id: `c${at}`, function: { name: 'f', arguments: '{}' } })),
  'one list of tool calls': delta((at) => ({ tool_calls: [0, 1].map((index) => ({ index, id: `${at}` })) })),
  'function call': delta(() => ({ function_call: { arguments: '1,2,' } })),
  'thinking block': delta(() => ({ thinking_blocks: [{ type: 'thinking', thinking: 'abcd' }] })),
  'signed thinking blocks': delta(() => ({
    thinking_blocks: [{ type: 'thinking', thinking: 'a', signature: 's' }],
  })),
  'thinking in a part': delta(() => ({
    content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'abcd' }] }],
  })),
  'text parts': delta(() => ({ content: [{ type: 'text', text: 'abcd' }] })),
  'indexed details': delta(() => ({ reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'ab' }] })),
  'audio data': delta(() => ({ audio: { data: 'YWJj' } })),
  'padded audio data': delta(() => ({ audio: { data: 'YQ==' } })),
  transcript: delta(() => ({ audio: { transcript: 'abcd' } })),
  annotations: delta((at) => ({ annotations: [{ type: 'url_citation', url_citation: { at } }] })),
  'a list that changes': delta((at) => ({ x: [at] })),
  'many members': delta((at) => ({ [`x${at}`]: 'a' })),
  logprobs: fold(() => ({ delta: {}, logprobs: { content: [{ token: 'a', logprob: -1 }] } })),
  'token ids': fold((at) => ({ delta: {}, token_ids: [at] })),
  'stop reason': fold(() => ({ delta: {}, stop_reason: 'a' })),
  'citations of chunks': fold(
    () => ({ delta: {} }),
    (at) => ({ citations: [`c${at}`] }),
  ),
  'members of chunks': fold(
    () => ({ delta: {} }),
    (at) => ({ x: { [`x${at}`]: at } }),
  ),
  'usage in each chunk': fold(
    () => ({ delta: { content: 'a' } }),
    (at) => ({ usage: { prompt_tokens: 1, completion_tokens: at, total_tokens: at + 1 } }),
  ),
  'many choices': fold((at) => ({ index: at, delta: { content: 'a' } })),
  events: events(() => 'data: {"x":1}\n\n'),
  'events of CR': events(() => 'data: {"x":1}\r\r'),
  'events of CRLF': events(() => 'data: {"x":1}\r\n\r\n'),
  'blank lines of CR': events(() => '\r'.repeat(100)),
  'events byte by byte': events((at) => 'data: {"x":1}\n\n'[at % 15]!),
  'a line without an end': events((at) => (at === 0 ? 'data: ' : 'x'.repeat(100))),
  'an event of many lines': events(() => 'data: a\n'),
  comments: events(() => ': comment\n\n'),
  'unknown fields': events(() => 'x: y\n'),
  'lines of JSON': events(() => '{"x":1}\n'),
  'JSON in place of events': events((at) => (at === 0 ? '{"x":\n[' : '1,\n')),
  'a whole answer': events((at) => (at === 0 ? '["' : 'abcd')),
  'text of the engine': (pieces) => {
    const choice = choiceText(['stop', 'aaaaaab'])
    let length = 0
    for (let at = 0; at < pieces; at += 1) length += choice.add(97).length
    return length
  },
  'rows of ClickHouse': async (pieces) => {
    const block = Uint8Array.from([1, 1, 1, 97, 5, ...Buffer.from('UInt8'), 7])
    let rows = 0
    const chunks = (async function* () {
      for (let at = 0; at < pieces; at += 1) yield Promise.resolve(block)
    })()
    for await (const read of nativeBlocks(chunks)) rows += read.rows
    return rows
  },
  'rows of one time': (pieces) =>
    newParts(
      {
        offset: 0,
        writer: null,
        lines: Array.from({ length: pieces }, (_, at) => historyLine(`{"_timestamp":1,"x":${at}}`)),
      },
      [],
    ).length,
}

const cpuMs = async (work: Work, pieces: number): Promise<number> => {
  const start = process.cpuUsage()
  await work(pieces)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const named = process.env['ONLY']
for (const [name, work] of Object.entries(WORKS)) {
  if (named !== undefined && !name.includes(named)) continue
  await work(PIECES)
  const ratios: number[] = []
  let ms = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const baseline = await cpuMs(work, PIECES)
    ms = await cpuMs(work, PIECES * TIMES)
    ratios.push(ms / (TIMES * baseline))
  }
  const reached = median(ratios)
  ratio(
    name,
    reached,
    `<= ${MOST}`,
    reached <= MOST,
    `${((ms * 1000) / (PIECES * TIMES)).toFixed(2)} µs a piece`,
  )
}
