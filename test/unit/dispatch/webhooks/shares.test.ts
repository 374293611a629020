import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  openRotation,
  prefersRetries,
  type Ring,
  type Rotation,
} from '../../../../src/dispatch/webhooks/rotation.js'
import { openShares, USUAL_LIMITS, type Claim } from '../../../../src/dispatch/webhooks/shares.js'

const claim = fc.record({
  team: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  host: fc.integer({ min: 1, max: 20 }).map((port) => `h:${port}`),
  hangs: fc.boolean(),
  isNew: fc.boolean(),
})

describe('the shares of attempts', () => {
  it('never exceed a limit, and are all free again when all is given back', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(claim, fc.boolean()), { maxLength: 600 }), (steps) => {
        const shares = openShares()
        const taken: [Claim, () => void][] = []
        for (const [one, giveBack] of steps) {
          if (giveBack) taken.pop()?.[1]()
          if (shares.allows(one)) taken.push([one, shares.take(one)])
          const count = (holds: (claim: Claim) => boolean) => taken.filter(([held]) => holds(held)).length
          assert.ok(count(() => true) <= USUAL_LIMITS.all)
          assert.ok(count(({ team }) => team === one.team) <= USUAL_LIMITS.team)
          assert.ok(
            count(({ team, host }) => team === one.team && host === one.host) <= USUAL_LIMITS.teamAndHost,
          )
          assert.ok(count(({ hangs }) => hangs) <= USUAL_LIMITS.hanging)
          const newOnes = count(({ team, isNew }) => isNew && team === one.team)
          assert.equal(shares.hasManyNew(one.team), newOnes >= 16)
          assert.equal(shares.inFlight(), taken.length)
        }
        for (const [, give] of taken) give()
        assert.equal(shares.inFlight(), 0)
      }),
      { numRuns: 30 },
    ))

  it('keep room for others when hundreds of endpoints hang', () => {
    const shares = openShares()
    for (let index = 0; index < 600; index += 1) {
      const hanging = { team: `t${index % 20}`, host: `h:${index}`, hangs: true, isNew: false }
      if (shares.allows(hanging)) shares.take(hanging)
    }
    assert.equal(shares.inFlight(), 64)
    assert.ok(shares.allows({ team: 't', host: 'h', hangs: false, isNew: true }))
  })
})

describe('the turns of endpoints', () => {
  const ring = (team: string, hangs = false): Ring => ({ team, hangs })
  const turns = (rotation: Rotation, count: number, mayBeServed = (_: Ring) => true) =>
    Array.from({ length: count }, () => {
      const [next] = rotation.inTurn(mayBeServed)
      rotation.served(next!)
      return next
    })

  it('serve each one before anybody again', () => {
    const rotation = openRotation()
    for (const endpoint of ['a', 'b', 'c']) rotation.add(endpoint, ring('team'))
    assert.deepEqual(turns(rotation, 6), ['a', 'b', 'c', 'a', 'b', 'c'])
  })

  it('give a team with one endpoint as many turns as a team with many', () => {
    const rotation = openRotation()
    for (const endpoint of ['a', 'b', 'c']) rotation.add(endpoint, ring('many'))
    rotation.add('z', ring('one'))
    assert.deepEqual(turns(rotation, 6), ['a', 'z', 'b', 'z', 'c', 'z'])
    assert.deepEqual(
      turns(rotation, 2, ({ team }) => team === 'many'),
      ['a', 'b'],
    )
  })

  it('pass over what hangs as a whole, until it answers again', () => {
    const rotation = openRotation()
    for (const endpoint of ['a', 'b']) rotation.add(endpoint, ring('team', true))
    for (const endpoint of ['y', 'z']) rotation.add(endpoint, ring('team'))
    assert.deepEqual(turns(rotation, 4), ['a', 'y', 'b', 'z'])
    const answers = ({ hangs }: Ring) => !hangs
    assert.deepEqual([...rotation.inTurn(answers)], ['y', 'z'])
    rotation.add('b', ring('team'))
    assert.deepEqual([...rotation.inTurn(answers)], ['y', 'z', 'b'])
    assert.deepEqual([...rotation.inTurn(({ hangs }) => hangs)], ['a'])
  })

  it('end for who leaves, whatever team it was of', () => {
    const rotation = openRotation()
    rotation.add('a', ring('team'))
    rotation.add('a', ring('another'))
    assert.deepEqual([...rotation.inTurn(({ team }) => team === 'team')], [])
    rotation.leave('a')
    assert.deepEqual([...rotation.inTurn(() => true)], [])
  })

  it('give new messages three of four', () =>
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].map(prefersRetries), [
      false,
      false,
      false,
      true,
      false,
      false,
      false,
      true,
    ]))
})
