import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { chunkOf, sendingRaw, usageOf } from '../../support/upstreams/behaviours.js'
import { chunksIn, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { sharedService, someProject } from '../shared-service.js'

const MODEL = 'chat-1'
const USAGE = usageOf(7, 2)

const chunks: readonly JsonObject[] = [
  chunkOf(MODEL, [{ index: 0, delta: { content: 'Hé😀' }, finish_reason: '' }], null),
  chunkOf(MODEL, [{ index: 0, delta: {}, finish_reason: 'stop' }], null),
  chunkOf(MODEL, [], USAGE),
]
const DATA = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']

const written = (newline: string, before = 'data: ', after = ''): string =>
  DATA.map((data) => `${before}${data}${newline}${newline}${after}`).join('')

const withoutChoices = (text: string) => text.replace('"choices":[],', '')

describe('the events of an upstream', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const answered = async (text: string, include_usage = true) => {
    const project = someProject()
    gateway.upstream.behave(sendingRaw('text/event-stream', text))
    const answer = await gateway.complete(
      { stream: true, stream_options: { include_usage } },
      { headers: { 'openai-project': project } },
    )
    assert.equal(answer.status, 200, answer.text)
    const [call] = await gateway.ended(project)
    return { answer, call: call! }
  }

  const ways: readonly (readonly [string, string])[] = [
    ['LF', written('\n')],
    ['CRLF', written('\r\n')],
    ['CR alone', written('\r')],
    ['CR alone and no end', written('\r').replace('data: [DONE]\r\r', '')],
    ['a byte order mark', `\ufeff${written('\n')}`],
    ['comments', written('\n', ': here\n\ndata: ', ': still here\n')],
    ['no blank behind the colon', written('\n', 'data:')],
    ['other fields', written('\n', 'id: 7\nretry: 9\nunknown: x\ndata: ')],
    ['several lines', written('\n').replaceAll(',"choices"', ',\ndata: "choices"')],
    ['no data at times', written('\n', 'data:\n\ndata: \n\ndata: ')],
    ['blanks around the end', written('\n').replace('[DONE]', ' [DONE] ')],
    ['one line end at the end', written('\n').slice(0, -1)],
    ['no line end at the end', written('\n').trimEnd()],
    ['more behind the end', `${written('\n')}data: {"choices":0}\n\n`],
    ['usage without choices', withoutChoices(written('\n'))],
    ['usage with null for choices', written('\n').replace('"choices":[]', '"choices":null')],
  ]
  for (const [how, text] of ways)
    it(`are read with ${how}`, async () => {
      const { answer, call } = await answered(text)
      const expected = chunks.map((chunk) => ({ ...chunk, model: gateway.model }))
      assert.deepEqual(chunksIn(answer.text), expected)
      assert.equal(call.summary.tallytree?.metering, 'reported')
      assert.equal(call.exception, null)
    })

  it('keep all digits of whole numbers, as whole answers do', async () => {
    const chunk = (finish: string) =>
      `data: {"id":"c","seed":12345678901234567890,"choices":[{"index":0,"delta":{"content":"a"},${finish}` +
      `"logprobs":{"n":-98765432109876543210}}],"usage":{"prompt_tokens":1,"completion_tokens":1,` +
      `"total_tokens":2,"n":11111111111111111111}}\n\n`
    const text = `${chunk('')}${chunk('"finish_reason":"stop",')}data: [DONE]\n\n`
    for (const include_usage of [false, true]) {
      const { answer } = await answered(text, include_usage)
      assert.equal(answer.text.match(/"seed":12345678901234567890,/g)?.length, 2, answer.text)
      assert.equal(answer.text.match(/"n":-98765432109876543210}/g)?.length, 2)
      assert.equal(answer.text.match(/"n":11111111111111111111}/g)?.length ?? 0, include_usage ? 2 : 0)
    }
  })

  it('have not ended a choice by saying that it ended for no reason', async () => {
    const { answer, call } = await answered(`data: ${DATA[0]!}\n\n`)
    assert.match(answer.text, /upstream_error/)
    assert.notEqual(call.exception, null)
    assert.equal(call.summary.tallytree?.metering, 'estimated')
  })
})
