import { randomUUID, createHash } from 'node:crypto'
import fc from 'fast-check'
import type { NewApiKey } from '../../../../src/domain/access/commands.js'
import { randomKey } from '../../../../src/adapters/system/system.js'
import { accessDecider } from '../../../../src/domain/access/decider.js'
import type { AccessEvent } from '../../../../src/domain/access/events.js'
import { parseInstant } from '../../../../src/kernel/codec/instant.js'

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

export const arbitraryKey = randomKey

export const arbitraryNewKey = (): NewApiKey => ({
  key_id: randomUUID(),
  name: null,
  prefix: 'tt_abcde',
  hash: sha256(arbitraryKey()),
  issued_at: parseInstant('2026-01-31T09:30:00Z')!,
  kind: 'key',
  scope: 'all',
  expires_at: null,
  made_by: null,
})

export const folded = (events: readonly AccessEvent[]) =>
  events.reduce(accessDecider.evolve, accessDecider.initialState())

/** An administrator `admin` with one key, in team `default`. */
export const bootstrapped = (key = arbitraryNewKey()): readonly AccessEvent[] => [
  { type: 'UserCreated', data: { user: 'admin', administrator: true } },
  { type: 'TeamCreated', data: { team: 'default' } },
  { type: 'MemberAdded', data: { team: 'default', user: 'admin', roles: ['team_administrator'] } },
  { type: 'ApiKeyIssued', data: { ...key, user: 'admin' } },
]

const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const keyId = fc.constantFrom('k1', 'k2', 'k3', 'k4')
const roles = fc.subarray(['member', 'project_administrator', 'team_administrator'] as const, {
  minLength: 1,
})

/** Any event, also those that no decision would make in that order. */
export const anyEvent: fc.Arbitrary<AccessEvent> = fc.oneof(
  name.map((team): AccessEvent => ({ type: 'TeamCreated', data: { team } })),
  fc
    .record({ user: name, administrator: fc.boolean() })
    .map((data): AccessEvent => ({ type: 'UserCreated', data })),
  fc.record({ team: name, user: name, roles }).map((data): AccessEvent => ({ type: 'MemberAdded', data })),
  fc.record({ team: name, user: name }).map((data): AccessEvent => ({ type: 'MemberRemoved', data })),
  fc
    .record({ user: name, key_id: keyId, kind: fc.constantFrom('key', 'session'), made_by: fc.option(keyId) })
    .map((made): AccessEvent => ({
      type: 'ApiKeyIssued',
      data: { ...arbitraryNewKey(), ...made, hash: sha256(made.key_id) },
    })),
  fc.record({ user: name, key_id: keyId }).map((data): AccessEvent => ({ type: 'ApiKeyRevoked', data })),
)
