import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { AccessCommand } from '../../../../src/domain/access/commands.js'
import { accessDecider } from '../../../../src/domain/access/decider.js'
import { accessEvents, type AccessEvent } from '../../../../src/domain/access/events.js'
import { nothing } from '../../../../src/kernel/decider.js'
import { anyEvent, arbitraryNewKey, bootstrapped, folded } from './arbitrary.js'

const given = (...events: readonly AccessEvent[]) => ({
  when: (command: AccessCommand) => accessDecider.decide(folded(events), command),
})

const adminKey = arbitraryNewKey()
const aliceKey = arbitraryNewKey()
const spareKey = arbitraryNewKey()

/** Team `red` with its administrator alice and bob, who has no right; team `blue` with carol. */
const teams: readonly AccessEvent[] = [
  ...bootstrapped(adminKey),
  { type: 'TeamCreated', data: { team: 'red' } },
  { type: 'TeamCreated', data: { team: 'blue' } },
  { type: 'UserCreated', data: { user: 'alice', administrator: false } },
  { type: 'MemberAdded', data: { team: 'red', user: 'alice', roles: ['team_administrator'] } },
  { type: 'ApiKeyIssued', data: { ...aliceKey, user: 'alice' } },
  { type: 'UserCreated', data: { user: 'bob', administrator: false } },
  { type: 'MemberAdded', data: { team: 'red', user: 'bob', roles: ['member'] } },
  { type: 'UserCreated', data: { user: 'carol', administrator: false } },
  { type: 'MemberAdded', data: { team: 'blue', user: 'carol', roles: ['team_administrator'] } },
]

const bootstrap = { type: 'Bootstrap', user: 'admin', team: 'default', key: adminKey } as const
const createTeam = { type: 'CreateTeam', by: 'admin', team: 'green' } as const
const addDave = {
  type: 'AddMember',
  by: 'alice',
  team: 'red',
  user: 'dave',
  roles: ['project_administrator', 'member'],
  keyOfNewUser: spareKey,
} as const
const removeBob = { type: 'RemoveMember', by: 'alice', team: 'red', user: 'bob' } as const
const issueKey = { type: 'IssueApiKey', user: 'bob', key: spareKey } as const
const revokeKey = {
  type: 'RevokeApiKey',
  by: 'alice',
  user: 'alice',
  key_id: aliceKey.key_id,
  cascade: false,
} as const

const refusalOf = (command: AccessCommand, events = teams) => {
  const decision = given(...events).when(command)
  assert.deepEqual(decision.events, [])
  return decision.refused?.kind
}

describe('the access decider', () => {
  it('makes the administrator with key and team in an empty directory', () => {
    assert.deepEqual(given().when(bootstrap), { events: bootstrapped(adminKey) })
  })

  it('makes no second administrator', () => {
    assert.deepEqual(given(...teams).when({ ...bootstrap, key: spareKey }), nothing)
  })

  it('creates a team for the administrator', () => {
    const decision = given(...teams).when(createTeam)
    assert.deepEqual(decision, { events: [{ type: 'TeamCreated', data: { team: 'green' } }] })
  })

  it('creates no team for others, and none whose name is taken', () => {
    assert.equal(refusalOf({ ...createTeam, by: 'alice' }), 'forbidden')
    assert.equal(refusalOf({ ...createTeam, by: 'nobody' }), 'forbidden')
    assert.equal(refusalOf({ ...createTeam, team: 'red' }), 'conflict')
  })

  it('brings a new member into being, with a key', () => {
    const roles = ['member', 'project_administrator'] as const
    assert.deepEqual(given(...teams).when(addDave).events, [
      { type: 'UserCreated', data: { user: 'dave', administrator: false } },
      { type: 'MemberAdded', data: { team: 'red', user: 'dave', roles } },
      { type: 'ApiKeyIssued', data: { ...spareKey, user: 'dave' } },
    ])
  })

  it('replaces the roles of a member and issues no key', () => {
    const roles = ['registry_administrator'] as const
    assert.deepEqual(given(...teams).when({ ...addDave, user: 'bob', roles }).events, [
      { type: 'MemberAdded', data: { team: 'red', user: 'bob', roles } },
    ])
  })

  it('takes the same roles in another order for the same', () => {
    const again = { ...addDave, roles: ['member', 'project_administrator', 'member'] } as const
    assert.deepEqual(given(...teams, ...given(...teams).when(addDave).events).when(again), nothing)
  })

  it('lets only administrators change a team, and hides the team from those outside', () => {
    for (const command of [addDave, removeBob]) {
      assert.equal(refusalOf({ ...command, by: 'bob' }), 'forbidden')
      assert.equal(refusalOf({ ...command, by: 'carol' }), 'not-found')
      assert.equal(refusalOf({ ...command, team: 'grey' }), 'not-found')
      assert.equal(refusalOf({ ...command, by: 'admin', team: 'grey' }), 'not-found')
      assert.equal(given(...teams).when({ ...command, by: 'admin' }).refused, undefined)
    }
  })

  it('draws nobody from other teams in without the administrator', () => {
    const addCarol = { ...addDave, user: 'carol' }
    assert.equal(refusalOf(addCarol), 'forbidden')
    assert.deepEqual(
      given(...teams)
        .when({ ...addCarol, by: 'admin' })
        .events.map(({ type }) => type),
      ['MemberAdded'],
    )
  })

  it('takes back a member who left', () => {
    const left = [...teams, ...given(...teams).when(removeBob).events]
    assert.equal(given(...left).when({ ...addDave, user: 'bob', roles: ['member'] }).events.length, 1)
  })

  it('removes a member, the last administrator too', () => {
    const removed = { type: 'MemberRemoved', data: { team: 'red', user: 'bob' } }
    assert.deepEqual(given(...teams).when(removeBob), { events: [removed] })
    assert.equal(given(...teams).when({ ...removeBob, user: 'alice' }).events.length, 1)
    assert.equal(refusalOf({ ...removeBob, user: 'carol' }), 'not-found')
  })

  it('issues a key to a user, and none to nobody', () => {
    assert.deepEqual(given(...teams).when(issueKey).events, [
      { type: 'ApiKeyIssued', data: { ...spareKey, user: 'bob' } },
    ])
    assert.equal(refusalOf({ ...issueKey, user: 'nobody' }), 'not-found')
  })

  it('issues no key that is known', () => {
    assert.equal(refusalOf({ ...issueKey, key: { ...spareKey, hash: aliceKey.hash } }), 'conflict')
    assert.equal(refusalOf({ ...issueKey, key: { ...spareKey, key_id: aliceKey.key_id } }), 'conflict')
  })

  it("revokes one's own key only", () => {
    const data = { key_id: aliceKey.key_id, user: 'alice' }
    assert.deepEqual(given(...teams).when(revokeKey).events, [{ type: 'ApiKeyRevoked', data }])
    for (const by of ['bob', 'carol']) {
      assert.equal(refusalOf({ ...revokeKey, by }), 'not-found')
      assert.equal(refusalOf({ ...revokeKey, by, user: by }), 'not-found')
    }
    assert.equal(refusalOf({ ...revokeKey, by: 'admin', user: 'admin' }), 'not-found')
    assert.equal(refusalOf({ ...revokeKey, key_id: 'unknown' }), 'not-found')
  })

  it("keeps the administrator's last key", () => {
    const revoke = { ...revokeKey, by: 'admin', user: 'admin', key_id: adminKey.key_id } as const
    assert.equal(refusalOf(revoke), 'conflict')
    const two = [...teams, ...given(...teams).when({ ...issueKey, user: 'admin' }).events]
    assert.equal(given(...two).when(revoke).events.length, 1)
  })

  for (const command of [bootstrap, createTeam, addDave, removeBob, issueKey, revokeKey]) {
    it(`writes nothing when ${command.type} comes a second time`, () => {
      const before = command.type === 'Bootstrap' ? [] : teams
      const { events } = given(...before).when(command)
      assert.notEqual(events.length, 0)
      assert.deepEqual(given(...before, ...events).when(command).events, [])
    })
  }

  it('decides only events that their codecs take unchanged', () => {
    for (const command of [bootstrap, createTeam, addDave, removeBob, issueKey, revokeKey])
      for (const { type, data } of given(...(command.type === 'Bootstrap' ? [] : teams)).when(command)
        .events) {
        const decoded = accessEvents[type].decode(JSON.parse(JSON.stringify(data)))
        assert.deepEqual(decoded, { _tag: 'Right', right: data })
      }
  })

  it('folds any events in any order, and passes over those of a newer process', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        const newer = { type: 'FromTheFuture', data: {} } as unknown as AccessEvent
        const state = folded(events)
        assert.equal(accessDecider.evolve(state, newer), state)
      }),
    )
  })
})
