import assert from 'node:assert/strict'
import { changeText } from '../../../web/overview/change.js'
import { bucketRange, draggedRange } from '../../../web/overview/buckets.js'

const HOUR = 3600
const at = (seconds: number) => new Date(seconds * 1000).toISOString()
const STARTS = [0, HOUR, 2 * HOUR, 3 * HOUR]
const RANGE = { start: at(600), end: at(3 * HOUR + 60) }

describe('the ranges of the overview', () => {
  it('cut the first and the last bucket at the range', () => {
    assert.deepEqual(bucketRange(STARTS, 0, RANGE), { start: at(600), end: at(HOUR) })
    assert.deepEqual(bucketRange(STARTS, 1, RANGE), { start: at(HOUR), end: at(2 * HOUR) })
    assert.deepEqual(bucketRange(STARTS, 3, RANGE), { start: at(3 * HOUR), end: RANGE.end })
  })

  it('follow the buckets that were dragged over, also where these differ in length', () => {
    const drag = (from: number, to: number) => draggedRange(STARTS, from * 1000, to * 1000, RANGE)
    assert.equal(drag(HOUR, 3 * HOUR), `${at(HOUR)}..${at(3 * HOUR)}`)
    assert.equal(drag(0, 4 * HOUR), `${RANGE.start}..${RANGE.end}`)
    const shorter = [0, HOUR, 1.5 * HOUR]
    const range = { start: at(0), end: at(2 * HOUR) }
    assert.equal(draggedRange(shorter, 0, 2 * HOUR * 1000, range), `${at(0)}..${at(1.5 * HOUR)}`)
  })
})

describe('the change to the range before', () => {
  it('is a percentage, or in points for percentages', () => {
    assert.equal(changeText(112, 100), '+12\u2009%')
    assert.equal(changeText(50, 100), '−50\u2009%')
    assert.equal(changeText(100, 100), 'as before')
    assert.equal(changeText(12, 9.5, true), '+2.5\u2009points')
  })

  it('is unknown without a figure, and none where there was nothing before', () => {
    assert.equal(changeText(null, 1), 'unknown')
    assert.equal(changeText(1, null), 'unknown')
    assert.equal(changeText(1, 0), 'none before')
  })
})
