import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { AccessEvent } from '../../../../src/domain/access/events.js'
import {
  keysOf,
  membersOf,
  membershipsOf,
  principalOf,
  rolesIn,
  sessionsOf,
} from '../../../../src/domain/access/look-ups.js'
import { accessDecider } from '../../../../src/domain/access/decider.js'
import { missingRight } from '../../../../src/domain/access/rights.js'
import { parseInstant } from '../../../../src/kernel/codec/instant.js'
import { anyEvent, arbitraryNewKey, bootstrapped, folded, sha256 } from './arbitrary.js'

const NOW = parseInstant('2026-02-01T00:00:00Z')!
const key = arbitraryNewKey()

const alice: readonly AccessEvent[] = [
  ...bootstrapped(),
  { type: 'UserCreated', data: { user: 'alice', administrator: false } },
  { type: 'ApiKeyIssued', data: { ...key, user: 'alice' } },
  ...['red', 'blue', 'green'].flatMap((team): AccessEvent[] => [
    { type: 'TeamCreated', data: { team } },
    {
      type: 'MemberAdded',
      data: { team, user: 'alice', roles: [team === 'green' ? 'team_administrator' : 'member'] },
    },
  ]),
]

describe('the directory', () => {
  it('knows whom a key stands for, with teams sorted by name', () => {
    assert.deepEqual(principalOf(folded(alice), key.hash, 'key', NOW), {
      userId: 'alice',
      keyId: key.key_id,
      scope: 'all',
      administrator: false,
      teams: ['blue', 'green', 'red'],
      administers: ['green'],
    })
  })

  it('knows nobody for an unknown hash, nor for names every object has', () => {
    for (const hash of ['', sha256('x'), '__proto__', 'constructor', 'toString'])
      assert.equal(principalOf(folded(alice), hash, 'key', NOW), undefined)
  })

  it('forgets a revoked key and a left team', () => {
    const directory = folded([
      ...alice,
      { type: 'MemberRemoved', data: { team: 'blue', user: 'alice' } },
      { type: 'ApiKeyRevoked', data: { key_id: key.key_id, user: 'alice' } },
    ])
    assert.equal(principalOf(directory, key.hash, 'key', NOW), undefined)
    assert.deepEqual([...keysOf(directory, 'alice')], [])
    assert.deepEqual(
      [...membershipsOf(directory, 'alice')].map(({ team }) => team),
      ['green', 'red'],
    )
    assert.deepEqual([...membersOf(directory, 'blue')], [])
    assert.deepEqual(rolesIn(directory, 'alice', 'blue'), [])
  })

  it('knows a session until it expires, only as a session, and lists it apart from keys', () => {
    const expires_at = parseInstant('2026-02-01T12:00:00Z')!
    const session = { ...arbitraryNewKey(), kind: 'session', expires_at } as const
    const directory = folded([...alice, { type: 'ApiKeyIssued', data: { ...session, user: 'alice' } }])
    const known = (kind: 'key' | 'session', now: string) =>
      principalOf(directory, session.hash, kind, parseInstant(now)!)?.userId
    assert.equal(known('session', '2026-02-01T11:59:59Z'), 'alice')
    assert.equal(known('session', '2026-02-01T12:00:00Z'), undefined)
    assert.equal(known('key', '2026-02-01T00:00:00Z'), undefined)
    assert.deepEqual(
      [...keysOf(directory, 'alice')].map(({ key_id }) => key_id),
      [key.key_id],
    )
    assert.equal([...sessionsOf(directory, 'alice', NOW)].length, 1)
    const later = parseInstant('2026-02-01T20:00:00Z')!
    accessDecider.evolve(directory, {
      type: 'SessionRenewed',
      data: { key_id: session.key_id, user: 'alice', expires_at: later },
    })
    assert.equal(known('session', '2026-02-01T19:00:00Z'), 'alice')
  })

  it('says the same of a membership from either side', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        // A creation empties what it creates; none is decided for what exists.
        const directory = folded(events.filter(({ type }) => !type.endsWith('Created')))
        for (const [team] of directory.teams.entries())
          for (const { user, roles } of membersOf(directory, team))
            assert.deepEqual(rolesIn(directory, user, team), roles)
        for (const [user] of directory.users.entries())
          for (const { team, roles } of membershipsOf(directory, user))
            assert.deepEqual(directory.teams.get(team)?.members.get(user), roles)
      }),
    )
  })

  it('folds tens of thousands of users and keys', () => {
    const events: AccessEvent[] = [...bootstrapped()]
    for (let i = 0; i < 20_000; i += 1) {
      const user = `user-${i}`
      events.push(
        { type: 'UserCreated', data: { user, administrator: false } },
        { type: 'MemberAdded', data: { team: 'default', user, roles: ['member'] } },
        { type: 'ApiKeyIssued', data: { ...key, key_id: `key-${i}`, user, hash: sha256(user) } },
      )
    }
    assert.equal(principalOf(folded(events), sha256('user-19999'), 'key', NOW)?.userId, 'user-19999')
  })
})

describe('a right', () => {
  const directory = folded([
    ...alice,
    { type: 'MemberAdded', data: { team: 'red', user: 'alice', roles: ['team_administrator'] } },
    { type: 'MemberAdded', data: { team: 'blue', user: 'alice', roles: ['registry_administrator'] } },
  ])

  it('of a team administrator includes the other two', () => {
    for (const role of ['member', 'registry_administrator', 'project_administrator'] as const)
      assert.equal(missingRight(directory, 'alice', 'red', role), undefined)
  })

  it('of a member is everyone’s in the team', () => {
    assert.equal(missingRight(directory, 'alice', 'blue', 'member'), undefined)
  })

  it('that is missing is named', () => {
    const refusal = missingRight(directory, 'alice', 'blue', 'project_administrator')
    assert.equal(refusal?.kind, 'forbidden')
    assert.match(refusal.reason, /project_administrator/)
  })

  it('is refused in a team of others exactly as in none', () => {
    assert.deepEqual(
      missingRight(directory, 'alice', 'default', 'member'),
      missingRight(directory, 'alice', 'nowhere', 'member'),
    )
  })

  it('is the administrator’s everywhere', () => {
    assert.equal(missingRight(directory, 'admin', 'red', 'team_administrator'), undefined)
    assert.equal(missingRight(directory, 'admin', 'nowhere', 'member')?.kind, 'not-found')
  })
})
