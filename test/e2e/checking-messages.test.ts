import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { hmacSha256 } from '../../src/adapters/system/system.js'
import { messageHeaders } from '../../src/domain/webhooks/signing.js'
import { pageOf } from './pages.js'

type IsGenuine = (secret: string, headers: Readonly<Record<string, string>>, body: Buffer) => boolean

const HOUR_MS = 3_600_000
const BODY = Buffer.from('{"name":"Zoë"}')
const WHSEC = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Headers as node:http shows them. */
const sentWith = (values: readonly string[], now = new Date()): Readonly<Record<string, string>> => {
  const headers = messageHeaders(hmacSha256)({
    vendor: 'Vendor',
    id: 'dlv_a',
    attempt: 1,
    sequence: '1',
    possibleDuplicate: false,
    now,
    body: BODY,
    accessToken: null,
    secrets: values.map((value, at) => ({ value, storedAt: new Date(now.getTime() - (at + 1) * HOUR_MS) })),
  })
  assert.ok(E.isRight(headers))
  return Object.fromEntries(Object.entries(headers.right).map(([name, value]) => [name.toLowerCase(), value]))
}

describe('the function with which the page on webhooks checks messages', () => {
  let directory: string
  let isGenuine: IsGenuine

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-checking-'))
    const file = join(directory, 'checking.mjs')
    await writeFile(file, pageOf('delivery-and-retries.md')('js')[0]!)
    ;({ isGenuine } = (await import(pathToFileURL(file).href)) as { isGenuine: IsGenuine })
  })
  after(() => rm(directory, { recursive: true, force: true }))

  it('takes what was signed with the secret, however it is written, and for a day with the one before', () => {
    for (const secret of ['nobody guesses this', 'mit Umläuten', WHSEC])
      assert.ok(isGenuine(secret, sentWith([secret]), BODY))
    const rotated = sentWith(['new', WHSEC])
    assert.deepEqual([isGenuine('new', rotated, BODY), isGenuine(WHSEC, rotated, BODY)], [true, true])
  })

  it('takes nothing else', () => {
    const sent = sentWith(['secret'])
    assert.equal(isGenuine('another', sent, BODY), false)
    assert.equal(isGenuine('secret', sent, Buffer.from('{}')), false)
    assert.equal(isGenuine('secret', { ...sent, 'webhook-id': 'dlv_b' }, BODY), false)
    assert.equal(isGenuine('secret', sentWith([]), BODY), false)
    assert.equal(isGenuine('secret', {}, BODY), false)
    assert.equal(isGenuine('secret', sentWith(['secret'], new Date(Date.now() - HOUR_MS)), BODY), false)
  })
})
