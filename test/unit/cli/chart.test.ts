import assert from 'node:assert/strict'
import fc from 'fast-check'
import { chartOf } from '../../../src/cli/chart.js'

describe('a chart on a terminal', () => {
  it('has the greatest value on top and the least at the bottom', () => {
    assert.deepEqual(chartOf([0, 1, 2, 3, 4], 60, 2), ['4   ▁▄█', '0 ▁▅███'])
    assert.deepEqual(chartOf([], 60, 3), [])
    assert.deepEqual(chartOf([0.5, 0.5], 60, 1), ['0.5 ██'])
  })

  it('is never larger than asked, whatever the values', () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 })
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 80 }),
        (values, width) => {
          const lines = chartOf(values, width, 4)
          assert.equal(lines.length, 4)
          for (const line of lines)
            assert.match(line.slice(-Math.min(width, values.length)), /^[ ▁▂▃▄▅▆▇█]*$/)
        },
      ),
    )
  })
})
