import assert from 'node:assert/strict'
import {
  AppendOutcomeUnknown,
  StreamContention,
  StoreUnavailable,
} from '../../../src/kernel/ports/event-store-errors.js'
import { KeyedMutex } from '../../../src/kernel/keyed-mutex.js'

describe('a keyed mutex', () => {
  it('runs tasks of one key in order, and those of other keys at the same time', async () => {
    const mutex = new KeyedMutex()
    const told: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const first = mutex.runExclusive('a', async () => {
      await held
      told.push('first of a')
    })
    const failing = mutex.runExclusive('a', () => Promise.reject(new Error('no')))
    const last = mutex.runExclusive('a', async () => told.push('last of a'))
    await mutex.runExclusive('b', async () => told.push('b'))
    assert.deepEqual([mutex.isLocked('a'), mutex.isLocked('b')], [true, false])
    release()
    await Promise.all([first, assert.rejects(failing), last])
    assert.deepEqual(told, ['b', 'first of a', 'last of a'])
    assert.equal(mutex.isLocked('a'), false)
    assert.equal(await mutex.runExclusive('a', async () => 'again'), 'again')
  })

  for (const away of [new StoreUnavailable('away'), new AppendOutcomeUnknown('no answer')])
    it(`fails the queued tasks, but not later ones, when a task fails with ${away.name}`, async () => {
      const mutex = new KeyedMutex()
      const ran: string[] = []
      const waiting = [
        mutex.runExclusive('a', () => Promise.reject(away)),
        mutex.runExclusive('a', async () => ran.push('second of a')),
        mutex.runExclusive('a', async () => ran.push('third of a')),
      ]
      const other = mutex.runExclusive('b', async () => ran.push('b'))
      const [first, ...others] = await Promise.allSettled(waiting)
      assert.deepEqual(first, { status: 'rejected', reason: away })
      for (const ended of others)
        assert.ok(ended.status === 'rejected' && ended.reason instanceof StoreUnavailable)
      await other
      await mutex.runExclusive('a', async () => ran.push('later'))
      assert.deepEqual(ran, ['b', 'later'])
    })

  it('continues after a task that failed because its stream was contended', async () => {
    const mutex = new KeyedMutex()
    const crowded = mutex.runExclusive('a', () => Promise.reject(new StreamContention('too many')))
    const next = mutex.runExclusive('a', async () => 'taken')
    await assert.rejects(crowded, StreamContention)
    assert.equal(await next, 'taken')
  })
})
