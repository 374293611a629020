import assert from 'node:assert/strict'
import fc from 'fast-check'
import { historyLine, historyLineInSteps, newParts } from '../../../../src/domain/runs/history.js'

const ROWS = 4000

describe('a line of a history', () => {
  it('is the same when it is read in steps', async () => {
    const long = `{"_step":3,"_timestamp":1.5,"a":[${'NaN,1.0,"b",'.repeat(20_000)}1e999]}`
    const deep = `{"_step":3,"a":${'['.repeat(300)}${'1,'.repeat(50_000)}1${']'.repeat(300)}}`
    const texts = [long, deep, `[${long}]`, long.slice(1), `${long}}`, 'null', '{"_step":-1}']
    for (const text of texts) assert.deepEqual(await historyLineInSteps(text), historyLine(text))
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        assert.deepEqual(await historyLineInSteps(text), historyLine(text))
      }),
    )
  })
})

describe('the new lines of a history', () => {
  it('are found among many rows of one time, whatever the order of their members', () => {
    const rows = Array.from({ length: ROWS }, (_, step) => ({ loss: step / 7, _step: step, _timestamp: 1 }))
    const logged = rows.map((row) => historyLine(JSON.stringify(row)))
    const sorted = ({ loss, _step, _timestamp }: (typeof rows)[number]) =>
      historyLine(JSON.stringify({ _timestamp, _step, loss }))
    const added = historyLine(JSON.stringify({ loss: -1, _step: 0, _timestamp: 1 }))
    const sent = { offset: ROWS, writer: null, lines: [...rows.map(sorted), added] }
    assert.deepEqual(newParts(sent, [{ offset: 0, writer: null, lines: logged }]), [
      { offset: 2 * ROWS, lines: [added] },
    ])
    assert.deepEqual(newParts({ offset: 0, writer: null, lines: logged }, []).length > 0, true)
  })
})
