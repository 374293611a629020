import assert from 'node:assert/strict'
import {
  AppendOutcomeUnknown,
  CrowdedStream,
  StoreUnavailable,
} from '../../../src/domain/ports/event-store-errors.js'
import { turns } from '../../../src/domain/turns.js'

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

  for (const away of [new StoreUnavailable('away'), new AppendOutcomeUnknown('no answer')])
    it(`ends them with one that met ${away.name}, for all that waited, and for nobody who comes later`, async () => {
      const { inTurn } = turns()
      const ran: string[] = []
      const waiting = [
        inTurn('a', () => Promise.reject(away)),
        inTurn('a', async () => ran.push('second of a')),
        inTurn('a', async () => ran.push('third of a')),
      ]
      const other = inTurn('b', async () => ran.push('b'))
      const [first, ...others] = await Promise.allSettled(waiting)
      assert.deepEqual(first, { status: 'rejected', reason: away })
      for (const ended of others)
        assert.ok(ended.status === 'rejected' && ended.reason instanceof StoreUnavailable)
      await other
      await inTurn('a', async () => ran.push('later'))
      assert.deepEqual(ran, ['b', 'later'])
    })

  it('goes on behind one that others left no gap in a stream', async () => {
    const { inTurn } = turns()
    const crowded = inTurn('a', () => Promise.reject(new CrowdedStream('too many')))
    const next = inTurn('a', async () => 'taken')
    await assert.rejects(crowded, CrowdedStream)
    assert.equal(await next, 'taken')
  })
})
