import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mostTokensIn, promptTokensOf as tokensOf } from '../../../../src/gateway/answer/prompt.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { arbitraryJson } from '../../../support/arbitrary-json.js'

const MESSAGES: readonly JsonObject[] = [{ role: 'user', content: 'Hello' }]

const promptTokensOf = (given: JsonObject): number => tokensOf(given).estimate

const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

const holding = (...parts: readonly JsonObject[]): JsonObject => ({
  messages: [{ role: 'user', content: parts }],
})

describe('the tokens of a prompt', () => {
  it('are one for each four bytes of the messages, and of all else that a model reads', () => {
    const plain = bytesOf(MESSAGES)
    assert.equal(promptTokensOf({ model: 'm', messages: MESSAGES, stream: true }), Math.ceil(plain / 4))
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    const functions = [{ name: 'weather', description: 'tells the weather', parameters }]
    const schema = { name: 'answer', schema: parameters }
    for (const more of [
      { tools: functions.map((one) => ({ type: 'function', function: one })) },
      { functions },
      { response_format: { type: 'json_schema', json_schema: schema } },
      { guided_json: parameters },
      { documents: ['one', 'two'] },
    ]) {
      const [bytes] = Object.values(more).map((value) => bytesOf(value as Json))
      assert.equal(promptTokensOf({ messages: MESSAGES, ...more }), Math.ceil((plain + bytes!) / 4))
    }
  })

  it('leave out what no model reads', () => {
    const unread = { metadata: { a: 'b' }, logit_bias: { 5: 1 }, stop: ['x'], user: 'u', seed: 7, top_p: 1 }
    assert.equal(promptTokensOf({ messages: MESSAGES, ...unread }), promptTokensOf({ messages: MESSAGES }))
  })

  it('are as many for each picture, however large it is and wherever it lies', () => {
    const picture = (url: string) => promptTokensOf(holding({ type: 'image_url', image_url: { url } }))
    const least = picture('data:image/png;base64,')
    assert.ok(least > 4096 && least < 4200)
    assert.equal(picture(`data:image/png;base64,${'A'.repeat(1_000_000)}`), least)
    assert.ok(Math.abs(picture('https://pictures.example/a.png') - least) < 50)
    assert.equal(promptTokensOf(holding({ type: 'image_url', image_url: 'data:,' })) > 4096, true)
  })

  it('are fewer for sound than for text as long, and as many for files', () => {
    const data = 'A'.repeat(1_000_000)
    const sound = promptTokensOf(holding({ type: 'input_audio', input_audio: { data, format: 'wav' } }))
    assert.ok(sound > 15_625 && sound < 15_700, String(sound))
    const file = promptTokensOf(holding({ type: 'file', file: { file_data: data } }))
    assert.ok(file > 250_000 && file < 250_100, String(file))
  })

  it('hide no text in what is attached', () => {
    const text = 'x'.repeat(400_000)
    for (const part of [
      { type: 'image_url', image_url: { url: text } },
      { type: 'image_url', image_url: { url: 'data:,', detail: text, data: text } },
      { type: 'image_url', image_url: { url: 'data:,' }, text },
      { type: 'text', text, image_url: { url: 'data:,' } },
      { type: 'text', text: `data:${text}` },
    ])
      assert.ok(promptTokensOf(holding(part)) >= 100_000, JSON.stringify(part).slice(0, 60))
  })

  it('are a whole number of a fourth at least of any messages without anything attached', () =>
    fc.assert(
      fc.property(arbitraryJson, (content) => {
        const tokens = promptTokensOf({ messages: [{ role: 'user', content: content }] })
        assert.ok(Number.isSafeInteger(tokens))
        assert.ok(tokens * 4 >= bytesOf([{ role: 'user', content: content }]))
      }),
    ))

  it('are at most one for each byte of any script, and one for two letters of ASCII', () => {
    assert.equal(mostTokensIn('你好'), 6)
    assert.equal(mostTokensIn('12345'), 5)
    assert.equal(mostTokensIn('two words'), 5)
    assert.equal(mostTokensIn('a1b2'), 4)
    assert.equal(mostTokensIn('😀'), 4)
    const chinese = '价格'.repeat(1000)
    const { estimate, most } = tokensOf({ messages: [{ role: 'user', content: chinese }] })
    assert.ok(estimate < 1600 && most > 6000 && most < 6050, `${estimate} ${most}`)
  })

  it('are the same at most for a picture, however large it is', () => {
    const most = (url: string) => tokensOf(holding({ type: 'image_url', image_url: { url } })).most
    assert.equal(most(`data:image/png;base64,${'A1+/'.repeat(100_000)}`), most('data:image/png;base64,'))
  })

  it('are never fewer at most than estimated', () =>
    fc.assert(
      fc.property(arbitraryJson, (content) => {
        const { estimate, most } = tokensOf({ messages: [{ role: 'user', content }] })
        assert.ok(most >= estimate)
      }),
    ))
})
