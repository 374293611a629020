import assert from 'node:assert/strict'
import fc from 'fast-check'
import { lossesSince, lostRows, type BlocksOfTables } from '../../../../src/projections/runtime/table-note.js'

type Ranges = BlocksOfTables[string]['ranges']

const calls = (ranges: Ranges, rows = ranges.length) => ({
  calls: { ranges, parts: JSON.stringify(ranges), rows },
})

/** Parts whose ranges follow one another, with gaps where inserts failed. */
const parts = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 5 })), { minLength: 1 })
  .map((steps): Ranges => {
    let next = 1
    return steps.map(([gap, length]) => {
      const first = next + gap
      next = first + length + 1
      return [first, next - 1]
    })
  })

/** The same rows after neighbours were merged. */
const merged = (ranges: Ranges, isMerged: readonly boolean[]): Ranges => {
  const all: [number, number][] = []
  ranges.forEach(([first, last], index) => {
    const before = all.at(-1)
    if (before !== undefined && isMerged[index % isMerged.length]!) before[1] = last
    else all.push([first, last])
  })
  return all
}

const merges = fc.array(fc.boolean(), { minLength: 1 })

describe('what the tables consist of', () => {
  it('is the same after any merges and inserts', () => {
    fc.assert(
      fc.property(parts, merges, (noted, isMerged) => {
        const last = noted.at(-1)![1]
        const found: Ranges = [...merged(noted, isMerged), [last + 1, last + 3]]
        assert.deepEqual(lostRows(calls(noted), calls(found)), [])
      }),
    )
  })

  it('lacks any part that is lost, before and after the others are merged and more is inserted', () => {
    fc.assert(
      fc.property(parts, fc.nat(), (noted, at) => {
        const lost = at % noted.length
        const rest = noted.filter((_, index) => index !== lost)
        const last = noted.at(-1)![1]
        assert.deepEqual(lostRows(calls(noted), calls([...rest, [last + 1, last + 1]])), ['calls'])
      }),
    )
  })

  it('lacks rows where the same parts have other numbers of them', () => {
    assert.deepEqual(lostRows(calls([[1, 3]], 5), calls([[1, 3]], 4)), ['calls'])
    assert.deepEqual(lostRows(calls([[1, 3]], 5), calls([[1, 4]], 4)), [])
  })

  it('lacks a table that is gone, and one with other columns', () => {
    const blocks = { ...calls([[1, 2]]), feedback: calls([[1, 1]]).calls }
    const noted = { columns: { calls: '1', feedback: '2' }, blocks }
    assert.deepEqual(
      lossesSince(noted, { columns: { feedback: '3' }, blocks: { feedback: blocks.feedback } }),
      ['the table calls is gone', 'columns of feedback are missing or changed'],
    )
    assert.deepEqual(lossesSince(noted, noted), [])
  })
})
