import assert from 'node:assert/strict'
import { renewedUntil } from '../../../../src/application/access/sessions.js'
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
  expires_at: at(expiresInHours),
  revoked: false,
})
const renewed = (expiresInHours: number, nowInHours: number) =>
  renewedUntil(session(expiresInHours), new Date(START + nowInHours * HOUR))

describe('the expiry of a session', () => {
  it('moves to 12 hours after its use, at most once an hour', () => {
    assert.equal(renewed(12, 0.5), undefined)
    assert.equal(renewed(12, 2), at(14))
  })

  it('is never later than 7 days after the sign-in', () => {
    assert.equal(renewed(165, 160), at(168))
    assert.equal(renewed(168, 167), undefined)
  })

  it('does not move for a key', () =>
    assert.equal(renewedUntil({ ...session(12), kind: 'key' }, new Date(START + 2 * HOUR)), undefined))
})
