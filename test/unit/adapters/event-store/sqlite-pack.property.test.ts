import assert from 'node:assert/strict'
import fc from 'fast-check'
import { pack, unpack } from '../../../../src/adapters/event-store/sqlite/pack.js'
import { COUNTS } from '../../../counts.js'

const RUNS = { numRuns: COUNTS.packs }

const texts = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  fc.constantFrom('', '{}', '\n', '\0', '漢字😀', '{"text":"\\ud800"}'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => text.repeat(15_000)),
)

const events = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 2 ** 31 }), data: texts, metadata: texts }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((given) => {
    let position = 0
    return given.map(({ gap, ...event }) => ({ ...event, position: (position += gap) }))
  })

type Event = { readonly position: number; readonly data: string; readonly metadata: string }

const packed = (given: readonly Event[]) =>
  pack(
    given.map(({ position, data, metadata }) => ({
      position,
      data: Buffer.from(data),
      metadata: Buffer.from(metadata),
    })),
  )

const textsIn = (bytes: Buffer, given: readonly Event[]) => {
  const unpacked = unpack(bytes)
  return unpacked && given.map(({ position }) => ({ position, ...unpacked(position) }))
}

describe('a pack of events', () => {
  it('has the texts of each event as they were, at its position and at no other', async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.integer(), async (given, other) => {
        const bytes = await packed(given)

        assert.deepEqual(textsIn(bytes, given), given)
        if (given.every(({ position }) => position !== other)) assert.equal(unpack(bytes)?.(other), undefined)
      }),
      RUNS,
    )
  })

  it('is never read with other texts when some of its bytes are changed', async () => {
    const changes = fc.array(
      fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), by: fc.integer({ min: 1, max: 255 }) }),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(events, changes, async (given, changed) => {
        const bytes = await packed(given)
        for (const { at, by } of changed) {
          const place = Math.floor(at * bytes.length)
          bytes[place] = bytes[place]! ^ by
        }

        const found = textsIn(bytes, given)

        if (found !== undefined) assert.deepEqual(found, given)
      }),
      RUNS,
    )
  })

  it('is not read when its end is missing', async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.double({ min: 0, max: 0.999, noNaN: true }), async (given, part) => {
        const bytes = await packed(given)

        assert.equal(unpack(bytes.subarray(0, Math.floor(part * bytes.length))), undefined)
      }),
      RUNS,
    )
  })
})
