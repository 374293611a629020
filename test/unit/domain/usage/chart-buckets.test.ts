import assert from 'node:assert/strict'
import { chartStarts } from '../../../../src/domain/usage/chart-buckets.js'
import { offsetsOf } from '../../../../src/domain/usage/zone.js'

const DAY = 86_400
const FROM = Date.parse('2026-03-01T13:07:00Z') / 1000

describe('the buckets of a chart', () => {
  for (const days of [0.01, 0.5, 1, 7, 30, 90, 365, 3650])
    it(`are a few for ${days} days, and cover them`, () => {
      const starts = chartStarts(FROM, FROM + days * DAY, offsetsOf('Europe/Berlin')!)
      assert.ok(starts.length >= 5 && starts.length <= 130, `${starts.length} buckets`)
      assert.ok(starts[0]! <= FROM && starts[1]! > FROM)
      assert.ok(starts.at(-1)! < FROM + days * DAY)
    })
})
