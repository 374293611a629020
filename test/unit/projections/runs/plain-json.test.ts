import assert from 'node:assert/strict'
import { plainJson, plainTexts } from '../../../../src/projections/runs/plain-json.js'

const LONG = `{"a":[${'NaN, 1.0, "b\\ud83d", {"c":-Infinity},'.repeat(10_000)}1e999]}`

describe('the plain JSON of a run', () => {
  it('is the same for a text that is not in the event', async () => {
    for (const text of [LONG, '{"a":NaN}', 'no JSON', `${LONG}}`])
      assert.deepEqual(await plainTexts({ config: text }, { config: JSON.stringify(text), lines: '[]' }), {
        config: plainJson(text),
      })
  })
})
