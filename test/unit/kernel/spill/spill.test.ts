import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import type { CallEnd, CallStart } from '../../../../src/domain/calls/content.js'
import { sameEnd, sameStart } from '../../../../src/domain/calls/content.js'
import { END_PAYLOAD, START_PAYLOAD } from '../../../../src/domain/calls/payload.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { EventTooLarge } from '../../../../src/kernel/ports/event-store-errors.js'
import type { SpilledField } from '../../../../src/kernel/spill/fields.js'
import { spill } from '../../../../src/kernel/spill/spill.js'
import { endCall, startCall } from '../../domain/calls/arbitrary.js'

const KIB = 1024

const ports = () => ({
  blobs: openInMemoryBlobStore(),
  sha256: (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex'),
})

const text = (bytes: number, letter = 'x'): string => letter.repeat(bytes)

const spilledStart = async (start: Partial<CallStart>, some = ports()): Promise<CallStart> =>
  spill(some)(startCall('id', start).start, START_PAYLOAD)

const spilledEnd = async (end: Partial<CallEnd>, rest?: Json, some = ports()): Promise<CallEnd> =>
  spill(some)(endCall('id', end).end, END_PAYLOAD, rest)

const fieldOf = ({ spilled }: CallStart | CallEnd, field: string): SpilledField => spilled[field]!

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

describe('a payload', () => {
  it('that is small stays as it is, untouched', async () => {
    const { start } = startCall('id', { inputs: { a: text(1000) } })
    assert.equal(await spill(ports())(start, START_PAYLOAD), start)
  })

  it('leaves field by field when it is over 256 KiB', async () => {
    const some = ports()
    const inputs = { a: text(300 * KIB) }
    const start = await spilledStart({ inputs, attributes: { b: 1 } }, some)
    assert.equal(start.inputs, null)
    assert.deepEqual(start.attributes, { b: 1 })
    assert.deepEqual(Object.keys(start.spilled), ['inputs'])
    const { digest, size } = fieldOf(start, 'inputs')
    assert.equal(size, bytesOf(inputs))
    assert.deepEqual(JSON.parse(Buffer.from((await some.blobs.get(digest))!).toString()), inputs)
  })

  it('leaves, the largest first, until a start and an end fit into one append together', async () => {
    const parts = {
      inputs: { a: text(200 * KIB) },
      attributes: { a: text(180 * KIB) },
      otel_dump: { a: text(190 * KIB) },
    }
    const start = await spilledStart(parts)
    assert.deepEqual(Object.keys(start.spilled), ['inputs'])
    const ends = { output: text(200 * KIB), summary: { a: text(190 * KIB) }, exception: text(180 * KIB) }
    const end = await spilledEnd(ends)
    assert.deepEqual(Object.keys(end.spilled), ['output'])
    assert.ok(bytesOf(start) + bytesOf(end) < 900 * KIB)
  })

  it('counts escapes and characters of several bytes', async () => {
    for (const letter of ['\u0000', '€', '😀', '"'])
      assert.deepEqual(Object.keys((await spilledEnd({ output: text(150 * KIB, letter) })).spilled), [
        'output',
      ])
    assert.deepEqual((await spilledEnd({ output: text(150 * KIB) })).spilled, {})
  })

  it('leaves also when what the event holds besides is large', async () => {
    const rest = Array.from({ length: 3000 }, () => text(100))
    assert.deepEqual(Object.keys((await spilledEnd({ output: text(200 * KIB) }, rest)).spilled), ['output'])
    assert.deepEqual((await spilledEnd({ output: text(20 * KIB) }, rest)).spilled, {})
  })

  it('stays where it is when it lies in a blob already, whatever else leaves', async () => {
    const output = { digest: 'aa', size: 1, canonical: 'bb' }
    const end = await spilledEnd({ output: null, summary: { a: text(300 * KIB) }, spilled: { output } })
    assert.deepEqual(Object.keys(end.spilled).sort(), ['output', 'summary'])
    assert.deepEqual(fieldOf(end, 'output'), output)
  })

  it('is refused when the rest alone is too large', async () => {
    const rest = text(500 * KIB)
    await assert.rejects(spilledEnd({ output: 1 }, rest), EventTooLarge)
    await assert.rejects(spilledEnd({ output: text(300 * KIB) }, rest), EventTooLarge)
  })

  it('keeps the beginning of an exception that leaves', async () => {
    const exception = `Error: boom ${text(4083)}😀${text(300 * KIB)}`
    const end = await spilledEnd({ exception })
    const kept = end.exception ?? ''
    assert.ok(kept.startsWith('Error: boom x') && kept.length <= 4096 && kept.isWellFormed())
    assert.ok(fieldOf(end, 'exception').size > 300 * KIB)
  })

  it('is the same in another order of keys, wherever it lies', async () => {
    const long = text(300 * KIB)
    const a = await spilledStart({ inputs: { a: long, b: { c: 1, d: [1, 2] } } })
    const b = await spilledStart({ inputs: { b: { d: [1, 2], c: 1 }, a: long } })
    const c = await spilledStart({ inputs: { b: { d: [2, 1], c: 1 }, a: long } })
    assert.ok(sameStart(a, b))
    assert.equal(sameStart(a, c), false)
    assert.equal(sameStart(a, await spilledStart({ inputs: null })), false)
  })

  it('of an end is the same as its like', async () => {
    const long = { summary: { a: text(300 * KIB) }, exception: text(300 * KIB), output: [text(300 * KIB)] }
    assert.ok(sameEnd(await spilledEnd(long), await spilledEnd(long)))
    for (const other of [{ summary: {} }, { exception: text(300 * KIB + 1) }, { output: [long.output] }])
      assert.equal(sameEnd(await spilledEnd(long), await spilledEnd({ ...long, ...other })), false)
  })
})
