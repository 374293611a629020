import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { Webhook } from 'standardwebhooks'
import { itWith } from '../../../support/skipping.js'
import { hmacSha256 } from '../../../../src/adapters/system/system.js'
import {
  messageHeaders,
  scorerSecret,
  VENDOR,
  type MessageToSign,
} from '../../../../src/domain/webhooks/signing.js'

/** Verifiers refuse what is more than five minutes old: it is the time of the test, not that of the file's loading. */
let NOW = new Date()
const HOUR = 3_600_000
const BODY = Buffer.from('{"name":"Zoë \u{1F984}","line":"a\\nb"}')

const headersOf = (given: Partial<MessageToSign>): Readonly<Record<string, string>> => {
  const headers = messageHeaders(hmacSha256)({
    vendor: 'Vendor',
    id: 'dlv_abc',
    attempt: 1,
    sequence: '42',
    possibleDuplicate: false,
    now: NOW,
    body: BODY,
    accessToken: null,
    secrets: [],
    ...given,
  })
  assert.ok(E.isRight(headers))
  return headers.right
}

/** Versions of a secret with their ages in hours, the newest first. */
const versions = (...given: readonly (readonly [value: string, hours: number])[]) =>
  given.map(([value, hours]) => ({ value, storedAt: new Date(NOW.getTime() - hours * HOUR) }))

const verifies = (
  secret: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer = BODY,
): boolean => {
  try {
    const webhook = secret.startsWith('whsec_')
      ? new Webhook(secret)
      : new Webhook(Buffer.from(secret), { format: 'raw' })
    webhook.verify(body, headers, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

const opensslHmac = (secret: string, body: Buffer): string =>
  spawnSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: body })
    .stdout.toString()
    .slice(0, 64)

describe('the headers of a message', () => {
  beforeEach(() => {
    NOW = new Date()
  })

  it('are few where the webhook has neither a token nor a secret', () => {
    assert.deepEqual(headersOf({}), {
      'Content-Type': 'application/json',
      'webhook-id': 'dlv_abc',
      'webhook-timestamp': String(Math.floor(NOW.getTime() / 1000)),
      'X-Vendor-Delivery-Attempt': '1',
      'X-Vendor-Event-Sequence': '42',
    })
  })

  it('carry the vendor that is configured, and say where a message may be there already', () => {
    const headers = headersOf({ vendor: 'Acme', possibleDuplicate: true, secrets: versions(['s', 1]) })
    assert.equal(headers['X-Acme-Possible-Duplicate'], 'true')
    assert.match(headers['X-Acme-Signature']!, /^[0-9a-f]{64}$/)
  })

  it('take no vendor that could not stand in a name', () => {
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', '-a', 'a-', 'ä', 'a'.repeat(65)])
      assert.ok(!VENDOR.test(name), name)
    for (const name of ['a', 'Vendor', 'My-Vendor2', 'a'.repeat(64)]) assert.ok(VENDOR.test(name), name)
  })

  it('carry the access token, unless it cannot stand in a header', () => {
    assert.equal(headersOf({ accessToken: 'abc.def==' })['Authorization'], 'Bearer abc.def==')
    for (const accessToken of ['', ' a', 'a ', 'a\r\nX-Evil: 1', 'a\0', 'schlüssel', 'a\x7f']) {
      const given = { vendor: 'V', id: 'd', attempt: 1, sequence: '1', possibleDuplicate: false, now: NOW }
      const headers = messageHeaders(hmacSha256)({ ...given, body: BODY, accessToken, secrets: [] })
      assert.deepEqual(headers, E.left('unusable_token'))
    }
  })

  itWith('openssl')('sign the body as openssl does, keyed with the whole secret as it is written', () => {
    for (const secret of ['a secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'schlüssel \u{1F511}'])
      assert.equal(
        headersOf({ secrets: versions([secret, 100], ['older', 200]) })['X-Vendor-Signature'],
        opensslHmac(secret, BODY),
      )
  })

  it('verify with the package of Standard Webhooks: what is behind whsec_ as base64, anything else raw', () => {
    for (const secret of ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'a secret', 'schlüssel \u{1F511}']) {
      const headers = headersOf({ secrets: versions([secret, 100]) })
      assert.ok(verifies(secret, headers), secret)
      assert.ok(!verifies(secret, headers, Buffer.from(`${BODY.toString()} `)))
      assert.ok(!verifies(secret, { ...headers, 'webhook-id': 'dlv_abd' }))
    }
  })

  it('verify for whatever is sent and whatever it is keyed with', () => {
    const secrets = fc.oneof(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.uint8Array({ minLength: 1 }).map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
    )
    fc.assert(
      fc.property(secrets, fc.string({ unit: 'grapheme' }), (secret, text) => {
        const body = Buffer.from(JSON.stringify(text))
        assert.ok(verifies(secret, headersOf({ body, secrets: versions([secret, 1]) }), body))
      }),
    )
  })

  it('are for the old secret too, for a day from when it was replaced', () => {
    const rotated = versions(['new', 23], ['old', 5000], ['older', 6000])
    const headers = headersOf({ secrets: rotated })
    assert.ok(verifies('new', headers))
    assert.ok(verifies('old', headers))
    assert.ok(!verifies('older', headers))

    const later = headersOf({ secrets: versions(['new', 24], ['old', 5000]) })
    assert.ok(verifies('new', later))
    assert.ok(!verifies('old', later))
  })

  it('have one signature of a value that was stored several times', () => {
    const signaturesOf = (...values: readonly string[]) =>
      headersOf({ secrets: versions(...values.map((value, at) => [value, at] as const)) })[
        'webhook-signature'
      ]!.split(' ')
    assert.equal(signaturesOf('same', 'same').length, 1)
    assert.equal(signaturesOf('a', 'b', 'a', 'b').length, 2)
    assert.equal(signaturesOf('whsec_MfKQ9r8G', 'whsec_MfKQ9r8G=').length, 1)
  })

  it('of a scorer are keyed with HKDF of the secret, and verify with no webhook of the same secret', () => {
    for (const secret of ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'a secret', 'schlüssel \u{1F511}']) {
      const derived = versions([secret, 1]).map((one) => scorerSecret(hmacSha256, one))
      const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
      const expected = Buffer.from(hkdfSync('sha256', key, '', 'tallytree http-scorer v1', 32))
      assert.equal(derived[0]!.value, `whsec_${expected.toString('base64')}`)
      const ofWebhook = headersOf({ secrets: versions([secret, 1]) })
      const ofScorer = headersOf({ secrets: derived })
      assert.ok(verifies(derived[0]!.value, ofScorer))
      assert.ok(!verifies(secret, ofScorer))
      assert.ok(!verifies(derived[0]!.value, ofWebhook))
      assert.notEqual(ofScorer['X-Vendor-Signature'], ofWebhook['X-Vendor-Signature'])
    }
  })

  it('do not grow with every rotation', () => {
    const many = versions(...Array.from({ length: 100 }, (_, at) => [`secret ${at}`, at / 10] as const))
    const signatures = headersOf({ secrets: many })['webhook-signature']!
    assert.equal(signatures.split(' ').length, 10)
  })
})
