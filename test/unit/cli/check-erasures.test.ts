import assert from 'node:assert/strict'
import { checkErasures } from '../../../src/cli/check-erasures.js'

const SEALED = 'ab'.repeat(48)
const ERASED = `${'00'.repeat(16)}${'ab'.repeat(32)}`

const receipt = (position: number, positions: string) => ({
  position,
  type: 'CallsErased',
  data: JSON.stringify({ project_id: 'team/p', positions }),
  seal: SEALED,
})
const call = (position: number, seal: string) => ({ position, type: 'CallStarted', data: '{}', seal })

describe('the receipts of erased events', () => {
  const checked = (...events: readonly Parameters<ReturnType<typeof checkErasures>['add']>[0][]) => {
    const check = checkErasures()
    events.forEach(check.add)
    return check.end()
  }

  it('name them, in any order and more than once', () => {
    const erased = [3, 4, 5, 9, 12].map((position) => call(position, ERASED))
    const receipts = [receipt(20, '9,12'), receipt(21, '3-5,9'), receipt(22, '')]
    assert.deepEqual(checked(call(1, SEALED), ...erased, ...receipts), { erased: 5, errors: [] })
  })

  it('are missed where an event only looks erased, also if it is a receipt', () => {
    const { erased, errors } = checked(
      ...[call(2, ERASED), call(3, ERASED), call(7, ERASED)],
      ...[receipt(20, '3-6'), { ...receipt(21, '2,7'), seal: ERASED }],
    )
    assert.equal(erased, 4)
    assert.deepEqual(
      errors,
      [2, 7, 21].map((position) => `position ${position}: the event is erased, but no receipt names it`),
    )
  })

  it('do not name the request, whose query is erased too', () => {
    const request = { position: 2, type: 'ErasureRequested', data: '{}', seal: ERASED }
    assert.deepEqual(checked(request), { erased: 1, errors: [] })
  })
})
