import assert from 'node:assert/strict'
import { recordOfUse } from '../../../../src/application/access/sessions.js'
import type { ApiKey } from '../../../../src/domain/access/directory.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

const START = Date.parse('2026-01-01T00:00:00Z')
const HOUR = 3600 * 1000
const at = (hours: number) => instantOf(new Date(START + hours * HOUR))
const session = (expiresInHours: number): ApiKey => ({
  key_id: 'k',
  user: 'ada',
  name: null,
  prefix: 'tt',
  hash: 'h',
  issued_at: at(0),
  kind: 'session',
  scope: 'all',
  expires_at: at(expiresInHours),
  made_by: null,
  last_used_at: null,
})
const recorded = (key: ApiKey, nowInHours: number, latest: number | null = null) =>
  recordOfUse(key, new Date(START + nowInHours * HOUR), latest === null ? null : at(latest))
const renewed = (expires_at: string) =>
  ({ type: 'RenewSession', user: 'ada', key_id: 'k', expires_at }) as const

describe('the use of a session', () => {
  it('moves its expiry to 12 hours later, at most once an hour', () => {
    assert.equal(recorded(session(12), 0.5), undefined)
    assert.deepEqual(recorded(session(12), 2), renewed(at(14)))
  })

  it('never moves it beyond 7 days after the sign-in', () => {
    assert.deepEqual(recorded(session(165), 160), renewed(at(168)))
    assert.equal(recorded(session(168), 167), undefined)
  })
})

describe('the use of a session of a key that expires', () => {
  it('never moves its expiry beyond that of the key', () => {
    assert.deepEqual(recorded(session(12), 2, 13.5), renewed(at(13.5)))
    assert.equal(recorded(session(12), 11, 12), undefined)
  })
})

describe('the use of a key', () => {
  const key = (last_used_at: ApiKey['last_used_at']): ApiKey => ({
    ...session(0),
    kind: 'key',
    expires_at: null,
    last_used_at,
  })
  const used = (hours: number) => ({ type: 'RecordKeyUse', user: 'ada', key_id: 'k', used_at: at(hours) })

  it('is recorded once a day', () => {
    assert.deepEqual(recorded(key(null), 2), used(2))
    assert.equal(recorded(key(at(2)), 23), undefined)
    assert.deepEqual(recorded(key(at(2)), 24), used(24))
  })

  it('is not recorded again when the clock goes back', () =>
    assert.equal(recorded(key(at(49)), 30), undefined))
})
