import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { parseJson } from '../../../src/kernel/json/parse.js'
import { jsonText } from '../../../src/kernel/json/text.js'
import type { NewEvent } from '../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryStream } from './arbitrary-events.js'
import { collect } from './collect.js'
import type { Opened } from './store-under-test.js'

export const roundTrip = (opened: Opened): void => {
  const appendAndRead = async (event: NewEvent, stream = arbitraryStream()) => {
    const { store } = opened()
    const after = await store.head()
    await store.append(stream, 'none', [event])
    const [inStream] = await collect(store.readStream(stream))
    const [inLog] = await collect(store.readAll({ after }))
    assert.ok(inStream)
    assert.deepEqual(inLog, inStream)
    return inStream
  }

  describe('what is read', () => {
    it('is what was appended, and where and when', async () => {
      const stream = arbitraryStream()
      const event = arbitraryEvent()

      const { recordedAt, position, size, ...read } = await appendAndRead(event, stream)

      assert.deepEqual(read, { ...event, stream, revision: 0n })
      assert.equal(size, JSON.stringify(event.data).length + JSON.stringify(event.metadata).length)
      assert.equal(typeof position, 'bigint')
      assert.ok(recordedAt.getTime() > 0)
    })

    it('has every kind of JSON value', async () => {
      const data = {
        null: null,
        booleans: [true, false],
        numbers: [0, -1, 1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER],
        nested: { empty: {}, none: [], deep: [[[{ a: [1] }]]] },
        '': 'an empty key',
        instant: '2026-01-02T03:04:05.678901Z',
      }

      const read = await appendAndRead(arbitraryEvent({ data }))

      assert.deepEqual(read.data, data)
    })

    it('has all digits of whole numbers, also of those that no double holds', async () => {
      const text = '{"list":[-9007199254740993,{"":18446744073709551617}],"number":1700000000000000123}'

      const { data, metadata } = await appendAndRead(arbitraryEvent({ data: parseJson(text) as JsonObject }))

      assert.equal(jsonText(data), text)
      assert.deepEqual(Object.keys(metadata).sort(), Object.keys(arbitraryEvent().metadata).sort())
    })

    it('has every character of names and data, in data zero too', async () => {
      const text = 'ü 漢 🌳 \u2028 \\ " \' ﬁ e\u0301'
      const data = { [text]: `${text} \u0000 \r\n \u001f` }

      const read = await appendAndRead(arbitraryEvent({ data, type: text }), `${text}-${arbitraryStream()}`)

      assert.deepEqual(read.data, data)
      assert.equal(read.type, text)
    })

    it('has lone surrogates in strings and keys', async () => {
      const data = { '\ud800': 'a \udfff b' }

      const read = await appendAndRead(arbitraryEvent({ data }))

      assert.deepEqual(read.data, data)
    })

    it('is not changed by what the writer does with its event afterwards', async () => {
      const { store } = opened()
      const stream = arbitraryStream()
      const data = { inputs: { question: 'before' } }

      const appended = store.append(stream, 'none', [arbitraryEvent({ data })])
      data.inputs.question = 'after'
      await appended

      const [read] = await collect(store.readStream(stream))
      assert.deepEqual(read?.data, { inputs: { question: 'before' } })
    })
  })
}
