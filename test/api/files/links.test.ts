import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { linksFor, readLink, type LinkServices } from '../../../src/api/files/links.js'

const HOUR_MS = 3_600_000

const servicesAt = (ms: number, publicUrl: string | null = null): LinkServices => ({
  publicUrl,
  clock: { now: () => new Date(ms) },
  signer: { sign: (text) => `signed-${text}`, verify: (text, signature) => signature === `signed-${text}` },
})

const baseFor = (headers: IncomingHttpHeaders, publicUrl: string | null = null): string =>
  new URL(linksFor(servicesAt(0, publicUrl), headers, 'ada').read('team/p', 'blob', 'a.txt')).origin

const tokenIn = (link: string): string => link.slice(link.lastIndexOf('/') + 1)

describe('a link to content', () => {
  it('expires after a day', () => {
    const token = tokenIn(linksFor(servicesAt(0), {}, 'ada').store('team/p', 'md5'))
    const { may, project, of, user } = readLink(servicesAt(23 * HOUR_MS), token)
    assert.deepEqual([may, project, of, user], ['store', 'team/p', ['md5'], 'ada'])
    assert.throws(() => readLink(servicesAt(25 * HOUR_MS), token), /not valid or has expired/)
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
