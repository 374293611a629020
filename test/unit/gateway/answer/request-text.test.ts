import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RequestText } from '../../../../src/gateway/answer/request-text.js'
import { isJsonObject, type JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { arbitraryJson } from '../../../support/arbitrary-json.js'

describe('the text of a request', () => {
  it('is the JSON of the request, with its length in bytes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), arbitraryJson), (given) => {
        const { text, bytes } = new RequestText(given).whole
        assert.equal(text, jsonText(given as JsonObject))
        assert.equal(bytes, Buffer.byteLength(text))
      }),
    )
  })

  it('is the same when long members are written in steps', async () => {
    const list = `[${'1.0,"a",{"b":[]},'.repeat(30_000)}12345678901234567890]`
    const given = parseJson(`{"model":"a","messages":${list},"seed":12345678901234567890,"more":[1.0]}`)
    assert.ok(isJsonObject(given))
    assert.deepEqual((await RequestText.of(given)).whole, new RequestText(given).whole)
  })

  it('replaces and leaves out members, and keeps the digits of large numbers', () => {
    const given = parseJson('{"model":"a","seed":12345678901234567890,"stream_options":null}')
    assert.ok(isJsonObject(given))
    const text = new RequestText(given)
    assert.equal(
      text.with({ model: '"b"', stream_options: undefined }),
      '{"model":"b","seed":12345678901234567890}',
    )
    assert.equal(text.with({ stream: 'true' }), `${jsonText(given).slice(0, -1)},"stream":true}`)
  })
})
