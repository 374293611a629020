import assert from 'node:assert/strict'
import fc from 'fast-check'
import { soughtFor } from '../../../src/domain/webhook/sought.js'

const text = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength })

const unitsOf = (whole: string) => Uint16Array.from(whole, (unit) => unit.charCodeAt(0))

describe('the places where texts stand in another', () => {
  it('are all there are, and the beginnings of them at the end', () =>
    fc.assert(
      fc.property(fc.array(text(1, 6), { maxLength: 5 }), text(0, 40), (texts, whole) => {
        const wanted = Array.from(whole, () => false)
        for (const sought of texts) {
          for (let at = whole.indexOf(sought); at >= 0; at = whole.indexOf(sought, at + 1))
            wanted.fill(true, at, at + sought.length)
          for (let length = 2; length < sought.length; length += 1)
            if (whole.endsWith(sought.slice(0, length))) wanted.fill(true, whole.length - length)
        }
        const found = Array.from(whole, () => false)
        for (const { from, to } of soughtFor(texts).spansIn(unitsOf(whole), 2)) found.fill(true, from, to)
        assert.deepEqual(found, wanted)
      }),
      { numRuns: 1000 },
    ))
})
