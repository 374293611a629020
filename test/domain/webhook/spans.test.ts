import assert from 'node:assert/strict'
import fc from 'fast-check'
import { soughtFor, spansIn } from '../../../src/domain/webhook/spans.js'

const text = (from: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), ...from })

describe('the places where a text stands in another', () => {
  it('are all there are, and the beginning of it at the end', () =>
    fc.assert(
      fc.property(
        text({ minLength: 1, maxLength: 6 }),
        text({ minLength: 0, maxLength: 40 }),
        (sought, whole) => {
          const wanted = Array.from(whole, () => false)
          for (let at = whole.indexOf(sought); at >= 0; at = whole.indexOf(sought, at + 1))
            wanted.fill(true, at, at + sought.length)
          for (let length = 2; length < sought.length; length += 1)
            if (whole.endsWith(sought.slice(0, length))) wanted.fill(true, whole.length - length)
          const found = Array.from(whole, () => false)
          for (const { from, to } of spansIn(soughtFor(sought, 2), whole)) found.fill(true, from, to)
          assert.deepEqual(found, wanted)
        },
      ),
    ))
})
