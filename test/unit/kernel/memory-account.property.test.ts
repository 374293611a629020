import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MemoryAccount, type MemoryLease } from '../../../src/kernel/memory-account.js'

const TOTAL = 64 * 1_048_576
const HEADROOM = TOTAL / 8

const arbitraryStep = fc.record({
  team: fc.constantFrom('a', 'b', 'c'),
  bytes: fc.oneof(fc.nat(524_288), fc.nat(TOTAL)),
  /** Releases one of the leases so far in place of a new one. */
  releases: fc.option(fc.nat(), { freq: 2 }),
  grows: fc.boolean(),
})

describe('the memory account, after any requests', () => {
  it('stays within the total and the shares, and grants everything once memory is free', () =>
    fc.assert(
      fc.asyncProperty(fc.array(arbitraryStep, { maxLength: 80 }), async (steps) => {
        const account = new MemoryAccount(TOTAL)
        const open: { team: string; bytes: number; lease: MemoryLease }[] = []
        let [waiting, granted] = [0, 0]
        const usedBy = (team?: string) =>
          open.reduce((sum, one) => sum + (team === undefined || one.team === team ? one.bytes : 0), 0)
        for (const { team, bytes, releases, grows } of steps) {
          if (releases !== null && open.length > 0) {
            const [one] = open.splice(releases % open.length, 1)
            one!.lease.release()
            one!.lease.release()
          } else {
            const lease = account.lease(team)
            const took = { team, bytes: Math.min(bytes, TOTAL / 4), lease }
            const wait = grows ? undefined : lease.reserve(bytes)
            if (wait !== undefined) {
              waiting += 1
              void wait.then(() => {
                granted += 1
                open.push(took)
              })
            } else if (!grows || lease.grow(bytes)) open.push(took)
          }
          await new Promise(setImmediate)
          assert.ok(usedBy() <= TOTAL + HEADROOM)
          for (const each of ['a', 'b', 'c']) assert.ok(usedBy(each) <= TOTAL / 2 + HEADROOM)
        }
        while (open.length > 0) {
          open.pop()!.lease.release()
          await new Promise(setImmediate)
        }
        assert.equal(granted, waiting)
        for (const team of ['a', 'b'])
          for (let n = 0; n < 2; n += 1) assert.ok(account.lease(team).grow(TOTAL / 4))
      }),
    ))
})
