import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessEvent } from '../../../src/domain/access/events.js'
import { instantOf } from '../../../src/kernel/codec/instant.js'
import { arbitraryNewKey, folded } from '../../unit/domain/access/arbitrary.js'
import { linksFor, readLink, type LinkServices } from '../../../src/api/files/links.js'

const HOUR_MS = 3_600_000

const ada = { userId: 'ada', keyId: 'k1' }

/** Ada is a member of the team with a key that expires after 20 hours. */
const adasDirectory = (...later: readonly AccessEvent[]) =>
  folded([
    { type: 'TeamCreated', data: { team: 'team' } },
    { type: 'MemberAdded', data: { team: 'team', user: 'ada', roles: ['member'] } },
    {
      type: 'ApiKeyIssued',
      data: {
        ...arbitraryNewKey(),
        user: 'ada',
        key_id: 'k1',
        expires_at: instantOf(new Date(20 * HOUR_MS)),
      },
    },
    ...later,
  ])

const servicesAt = (
  ms: number,
  publicUrl: string | null = null,
  directory = adasDirectory(),
): LinkServices => ({
  publicUrl,
  access: { directory: () => directory },
  clock: { now: () => new Date(ms) },
  signer: { sign: (text) => `signed-${text}`, verify: (text, signature) => signature === `signed-${text}` },
})

const baseFor = (headers: IncomingHttpHeaders, publicUrl: string | null = null): string =>
  new URL(linksFor(servicesAt(0, publicUrl), headers, ada).read('team/p', 'blob', 'a.txt')).origin

const tokenIn = (link: string): string => link.slice(link.lastIndexOf('/') + 1)

describe('a link to content', () => {
  const token = tokenIn(linksFor(servicesAt(0), {}, ada).store('team/p', 'md5'))
  const read = (...at: Parameters<typeof servicesAt>) => readLink(servicesAt(...at), token)

  it('expires after a day, and with the key that got it', () => {
    const { may, project, of, user } = read(19 * HOUR_MS)
    assert.deepEqual([may, project, of, user], ['store', 'team/p', ['md5'], 'ada'])
    assert.throws(() => read(20 * HOUR_MS), /not valid or has expired/)
    const lasting = { type: 'SessionRenewed', data: { key_id: 'k1', user: 'ada' } } as const
    const renewed = { ...lasting, data: { ...lasting.data, expires_at: instantOf(new Date(99 * HOUR_MS)) } }
    assert.equal(read(23 * HOUR_MS, null, adasDirectory(renewed)).user, 'ada')
    assert.throws(() => read(25 * HOUR_MS, null, adasDirectory(renewed)), /not valid or has expired/)
  })

  it('ends with the key when it is revoked, and with the membership', () => {
    for (const event of [
      { type: 'ApiKeyRevoked', data: { key_id: 'k1', user: 'ada' } },
      { type: 'MemberRemoved', data: { team: 'team', user: 'ada' } },
    ] as const)
      assert.throws(() => read(0, null, adasDirectory(event)), /not valid or has expired/)
  })

  it('is not valid if it was made while the clock was ahead', () =>
    assert.throws(() => read(-365 * 24 * HOUR_MS), /not valid or has expired/))

  it('of an earlier release, which names no key, is valid for its day', () => {
    const text = Buffer.from(
      JSON.stringify({ may: 'store', project: 'team/p', of: ['md5'], until: 86_400, user: 'ada' }),
    ).toString('base64url')
    assert.equal(readLink(servicesAt(22 * HOUR_MS), `${text}~signed-${text}`).user, 'ada')
  })

  it('begins with the address that the client used, also through a proxy, or with the configured one', () => {
    assert.equal(baseFor({ host: '127.0.0.1:4600' }), 'http://127.0.0.1:4600')
    assert.equal(
      baseFor({ host: 'runs.example', 'x-forwarded-proto': 'https, http' }),
      'https://runs.example',
    )
    assert.equal(baseFor({ host: 'runs.example', 'x-forwarded-proto': 'ftp' }), 'http://runs.example')
    assert.equal(baseFor({ host: '127.0.0.1' }, 'https://public.example'), 'https://public.example')
  })
})
