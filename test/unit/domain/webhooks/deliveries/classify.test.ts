import assert from 'node:assert/strict'
import {
  classify,
  failureText,
  isReceiverUp,
} from '../../../../../src/domain/webhooks/deliveries/classify.js'
import type { SendError } from '../../../../../src/kernel/ports/webhook-sender.js'

const NOW = new Date('2026-11-21T12:00:00Z')

const answered = (status: number, headers: Readonly<Record<string, string>> = {}, stopOn4xx = false) =>
  classify({ status, headers, error: null, bodySent: true }, { now: NOW, stopOn4xx })

const failed = (error: SendError, bodySent = false) =>
  classify({ status: null, headers: {}, error, bodySent }, { now: NOW, stopOn4xx: true })

const retry = { outcome: 'retry', retryAfterMs: null, mayHaveArrived: false, disables: null }
const asksNothing = { retryAfterMs: null }
const dead = (reason: string, disables: string | null = null) => ({
  outcome: 'dead',
  reason,
  ...asksNothing,
  disables,
})

describe('what an attempt came to', () => {
  it('is success for every 2xx', () => {
    for (const status of [200, 201, 202, 204, 299])
      assert.deepEqual(answered(status, { 'retry-after': '5' }), {
        outcome: 'succeeded',
        ...asksNothing,
        disables: null,
      })
  })

  it('is another attempt for what is not followed, and for what time may mend', () => {
    for (const status of [101, 301, 302, 307, 308, 400, 401, 404, 408, 422, 425, 429, 500, 501, 503, 599])
      assert.deepEqual(answered(status), retry, String(status))
  })

  it('is the end for a 4xx where the owner said so, but for those that pass', () => {
    for (const status of [400, 401, 403, 404, 422])
      assert.deepEqual(answered(status, {}, true), dead('client_error'), String(status))
    for (const status of [408, 425, 429, 500, 302])
      assert.equal(answered(status, {}, true).outcome, 'retry', String(status))
  })

  it('disables the webhook that is gone, and the one whose receiver asks for it', () => {
    assert.deepEqual(answered(410), dead('gone', 'gone'))
    for (const asked of ['disable', ' Disable '])
      assert.deepEqual(answered(500, { 'webhook-delivery': asked }), dead('receiver_asked', 'receiver_asked'))
  })

  it('is success all the same where a receiver takes a message and wants no more', () => {
    assert.deepEqual(answered(200, { 'webhook-delivery': 'disable' }), {
      outcome: 'succeeded',
      ...asksNothing,
      disables: 'receiver_asked',
    })
  })

  it('is the end of a message that its receiver wants dropped', () => {
    assert.deepEqual(answered(500, { 'webhook-delivery': 'abort-message' }), dead('receiver_asked'))
    assert.deepEqual(answered(500, { 'webhook-delivery': 'whatever' }), retry)
  })

  it('makes the whole webhook wait beside the end of one message, where the receiver asks for that', () => {
    const waits = { retryAfterMs: 60_000 }
    const aborts = { 'webhook-delivery': 'abort-message', 'retry-after': '60' }
    assert.deepEqual(answered(503, aborts), { ...dead('receiver_asked'), ...waits })
  })

  it('makes only the message wait when a 4xx that time does not mend has a Retry-After', () => {
    for (const status of [400, 403, 404, 422])
      assert.deepEqual(answered(status, { 'retry-after': '60' }), { ...retry, retryAfterMs: 60_000 })
    for (const status of [408, 425, 429, 500])
      assert.deepEqual(answered(status, { 'retry-after': '60' }), { ...retry, retryAfterMs: 60_000 })
  })

  it('proves the receiver up for every status except 5xx, 408, 425 and 429', () => {
    for (const status of [200, 301, 400, 401, 403, 404, 409, 410, 413, 422, 451])
      assert.equal(isReceiverUp(status), true, String(status))
    for (const status of [408, 425, 429, 500, 502, 503, 504, 599])
      assert.equal(isReceiverUp(status), false, String(status))
    assert.equal(isReceiverUp(null), false)
  })

  it('is the end for an address that is not allowed, and not for a name, which can be mended', () => {
    assert.deepEqual(failed({ kind: 'forbidden-address', rule: 'port' }), dead('forbidden_address'))
    assert.deepEqual(failed({ kind: 'forbidden-name', rule: 'metadata' }), retry)
  })

  it('says where the message may have arrived although nobody said so', () => {
    assert.deepEqual(failed({ kind: 'timeout', phase: 'head' }, true), { ...retry, mayHaveArrived: true })
    assert.deepEqual(failed({ kind: 'tls', code: 'CERT_HAS_EXPIRED' }), retry)
    assert.deepEqual(failed({ kind: 'reset', code: 'ECONNRESET' }), retry)
  })

  const waits: readonly (readonly [string, number | null])[] = [
    ['7', 7000],
    ['0', 0],
    ['1.5', 1500],
    ['864000', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Sat, 21 Nov 2026 12:00:07 GMT', 7000],
    ['Saturday, 21-Nov-26 12:00:07 GMT', 7000],
    ['Sat Nov 21 12:00:07 2026', 7000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Tue, 01 Dec 2026 12:00:00 GMT', 86_400_000],
    ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['', null],
    ['7 seconds', null],
    ['2026-11-21T12:00:07Z', null],
    ['Sat, 21 Nov 2026 25:00:07 GMT', null],
    ['1, 2', null],
  ]
  for (const [header, wait] of waits)
    it(`waits ${wait === null ? 'as usual' : `${wait} ms`} for Retry-After: ${header.slice(0, 40)}`, () => {
      const asked = answered(500, { 'retry-after': header })
      assert.deepEqual(asked, { ...retry, retryAfterMs: wait })
    })
})

describe('what is said of a failure', () => {
  it('names its step and its code, and of a refused target nothing', () => {
    assert.equal(failureText({ kind: 'timeout', phase: 'head' }), 'timeout:head')
    assert.equal(failureText({ kind: 'tls', code: 'CERT_HAS_EXPIRED' }), 'tls:CERT_HAS_EXPIRED')
    assert.equal(failureText({ kind: 'aborted' }), 'aborted')
    assert.equal(
      failureText({ kind: 'forbidden-name', rule: 'port' }),
      failureText({ kind: 'forbidden-address', rule: 'url' }),
    )
  })
})
