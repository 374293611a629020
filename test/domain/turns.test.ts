import assert from 'node:assert/strict'
import { turns } from '../../src/domain/turns.js'

describe('taking turns', () => {
  it('lets tasks about one thing follow one another, and those about others go on', async () => {
    const { inTurn, isTaken } = turns()
    const told: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const first = inTurn('a', async () => {
      await held
      told.push('first of a')
    })
    const failing = inTurn('a', () => Promise.reject(new Error('no')))
    const last = inTurn('a', async () => told.push('last of a'))
    await inTurn('b', async () => told.push('b'))
    assert.deepEqual([isTaken('a'), isTaken('b')], [true, false])
    release()
    await Promise.all([first, assert.rejects(failing), last])
    assert.deepEqual(told, ['b', 'first of a', 'last of a'])
    assert.equal(isTaken('a'), false)
    assert.equal(await inTurn('a', async () => 'again'), 'again')
  })
})
