import assert from 'node:assert/strict'
import { historyLine, newParts } from '../../../../src/domain/runs/history.js'

const ROWS = 4000

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
