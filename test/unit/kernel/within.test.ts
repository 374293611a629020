import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../../../src/kernel/within.js'

describe('a promise with a time limit', () => {
  it('resolves to its value, or to undefined when the time is over', async () => {
    assert.equal(await within(1000, sleep(1, 'value')), 'value')
    assert.equal(await within(5, sleep(200, 'value')), undefined)
    assert.equal(await within(0, sleep(200, 'value')), undefined)
  })

  it('waits without a limit when the limit is infinite', async () => {
    assert.equal(await within(Infinity, sleep(50, 'value')), 'value')
  })

  it('rejects when the promise does', async () => {
    await assert.rejects(within(1000, Promise.reject(new Error('no'))), /no/)
  })
})
