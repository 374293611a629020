import assert from 'node:assert/strict'
import { MemoryAccount, MemoryExhausted, type MemoryLease } from '../../../src/kernel/memory-account.js'

const MIB = 1_048_576
const TOTAL = 64 * MIB
/** As much as one request counts. */
const LARGE = TOTAL / 4

/** Notes who was granted memory, in order. */
const reservations = (account: MemoryAccount) => {
  const granted: string[] = []
  const reserve = (team: string, name = team, bytes = LARGE): MemoryLease => {
    const lease = account.lease(team)
    const waiting = lease.reserve(bytes)
    if (waiting === undefined) granted.push(name)
    else
      waiting.then(
        () => granted.push(name),
        () => granted.push(`not ${name}`),
      )
    return lease
  }
  return { granted, reserve }
}

const settle = () => new Promise(setImmediate)

describe('the memory account', () => {
  it('makes a team wait beyond its share, and others not', () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    for (const team of ['a', 'a', 'a', 'b', 'b', 'c']) reserve(team)
    assert.deepEqual(granted, ['a', 'a', 'b', 'b'])
  })

  it('serves the requests of a team in the order of their arrival', async () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    const first = ['1', '2'].map((name) => reserve('a', name))
    for (const name of ['3', '4']) reserve('a', name)
    reserve('a', 'smaller', MIB)
    for (const lease of first) lease.release()
    await settle()
    assert.deepEqual(granted, ['1', '2', '3', '4'])
  })

  it('serves waiting teams by turns', async () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    const running = ['x', 'x', 'y', 'y'].map((team) => reserve(team))
    for (const name of ['a1', 'a2', 'b1', 'b2']) reserve(name[0]!, name)
    for (const lease of running) {
      lease.release()
      await settle()
    }
    assert.deepEqual(granted.slice(4), ['a1', 'b1', 'a2', 'b2'])
  })

  it('grants small requests at once while large ones wait', () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    for (const team of ['a', 'a', 'a', 'b', 'b']) reserve(team)
    for (const team of ['a', 'b', 'c']) reserve(team, `small of ${team}`, MIB / 2)
    assert.deepEqual(granted.slice(4), ['small of a', 'small of b', 'small of c'])
  })

  it('bounds small requests, too', () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    for (let n = 0; n < 1000; n += 1) reserve('a', 'a', MIB / 2)
    assert.equal(granted.length, (TOTAL / 2 + TOTAL / 8) / (MIB / 2))
  })

  it('serves a request that is larger than all memory', () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL))
    reserve('a', 'first', 10 * TOTAL)
    reserve('a', 'second', 10 * TOTAL)
    assert.deepEqual(granted, ['first', 'second'])
  })

  it('refuses a request after the deadline, and serves the next', async () => {
    const { granted, reserve } = reservations(new MemoryAccount(TOTAL, 10))
    for (const name of ['1', '2', '3']) reserve('a', name)
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.deepEqual(granted, ['1', '2', 'not 3'])
  })

  it('withdraws a waiting request when its lease is released', async () => {
    const account = new MemoryAccount(TOTAL)
    const held = [account.lease('a'), account.lease('a')]
    for (const lease of held) assert.equal(lease.reserve(LARGE), undefined)
    const leaving = account.lease('a')
    const waiting = leaving.reserve(LARGE)
    leaving.release()
    await assert.rejects(waiting!, MemoryExhausted)
    held[0]!.release()
    assert.equal(account.lease('a').reserve(LARGE), undefined)
  })

  const withShareUsed = () => {
    const account = new MemoryAccount(TOTAL)
    assert.equal(account.lease('a').reserve(LARGE), undefined)
    assert.equal(account.lease('a').reserve(LARGE), undefined)
    return account
  }

  it('grows small leases beyond the share, up to the headroom', () => {
    const account = withShareUsed()
    const small = MIB / 2
    const grown = Array.from({ length: TOTAL / 8 / small + 1 }, () => account.lease('a').grow(small))
    assert.deepEqual(grown, [...grown.slice(1).map(() => true), false])
    assert.equal(account.lease('a').grow(0), true)
  })

  it('leaves the headroom to small requests when a large one takes its memory in small steps', () => {
    const account = withShareUsed()
    const inSteps = account.lease('a')
    const waits = [1, 2, 3].map(() => inSteps.reserve(MIB / 4))
    assert.deepEqual(
      waits.map((waiting) => waiting instanceof Promise),
      [false, false, true],
    )
    waits[2]!.catch(() => undefined)
    assert.equal(account.lease('a').reserve(MIB / 4), undefined)
  })

  it('grows a lease only within the share', () => {
    const account = new MemoryAccount(TOTAL)
    const [one, other] = [account.lease('a'), account.lease('a')]
    assert.deepEqual(
      [one.grow(LARGE), other.grow(LARGE - 1), account.lease('a').grow(MIB)],
      [true, true, false],
    )
    one.release()
    assert.equal(account.lease('a').grow(MIB), true)
  })
})
