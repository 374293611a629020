import assert from 'node:assert/strict'
import { openedBucket } from '../../../support/buckets.js'
import {
  startS3Double,
  type FaultyRequests,
  type S3Double,
  type S3Fault,
} from '../../../support/s3-double.js'
import { selfSigned } from '../../../support/self-signed.js'

const error = (status: number, code: string, more: Partial<Extract<S3Fault, { kind: 'error' }>> = {}) =>
  ({ kind: 'error', status, code, ...more }) as const

describe('the probe of a bucket at the start', () => {
  let double: S3Double
  beforeEach(async () => {
    double = await startS3Double()
  })
  afterEach(() => double.stop())

  const failsWith = async (message: RegExp, url = double.url) =>
    assert.rejects(openedBucket(url), (thrown: Error) => {
      assert.equal(thrown.name, 'BucketUnavailable')
      assert.match(thrown.message, message)
      assert.doesNotMatch(thrown.message, /\n/)
      return true
    })

  it('leaves nothing behind', async () => {
    ;(await openedBucket(double.url)).close()

    assert.equal(double.objects.size, 0)
    assert.equal(double.unfinished(), 0)
  })

  const named: readonly (readonly [string, S3Fault, FaultyRequests, RegExp])[] = [
    [
      'another region',
      error(301, 'PermanentRedirect', { headers: { 'x-amz-bucket-region': 'eu-west-3' } }),
      {},
      /it is in another region: use region=eu-west-3/,
    ],
    [
      'another region, as a store that checks the signature first answers',
      error(400, 'AuthorizationHeaderMalformed', { members: '<Region>eu-west-3</Region>' }),
      {},
      /use region=eu-west-3/,
    ],
    [
      'a redirect',
      error(307, 'TemporaryRedirect', { headers: { Location: 'http://10.0.0.1/' } }),
      {},
      /redirects/,
    ],
    ['a denied write', error(403, 'AccessDenied'), { method: /PUT/ }, /s3:PutObject.* is denied/],
    ['a denied read', error(403, 'AccessDenied'), { method: /GET/ }, /s3:GetObject is denied/],
    ['a denied list', error(403, 'AccessDenied'), { path: /list-type/ }, /s3:ListBucket is denied/],
    ['a denied deletion', error(403, 'AccessDenied'), { method: /DELETE/ }, /s3:(Delete|Abort).* is denied/],
    [
      'a denied abort of an upload',
      error(403, 'AccessDenied'),
      { method: /DELETE/, path: /uploadId/ },
      /s3:AbortMultipartUpload is denied/,
    ],
    [
      'a wrong clock',
      error(403, 'RequestTimeTooSkewed', { members: '<ServerTime>2026-11-30T00:00:00Z</ServerTime>' }),
      {},
      /the clock of this machine is wrong \(RequestTimeTooSkewed/,
    ],
    ['a wrong key', error(403, 'InvalidAccessKeyId'), {}, /the credentials are wrong/],
    ['an expired credential', error(400, 'ExpiredToken'), {}, /the credentials have expired/],
    ['a full store', error(507, 'InsufficientStorage'), {}, /it is full/],
    ['a busy store', error(503, 'SlowDown'), {}, /takes no more requests at present/],
    [
      'what the store does not implement',
      error(501, 'NotImplemented'),
      {},
      /it does not support s3:PutObject/,
    ],
  ]
  for (const [what, fault, on, message] of named)
    it(`names ${what}`, async () => {
      double.have(fault, on)
      await failsWith(message)
    })

  it('names a store that ignores If-None-Match', async () => {
    double.ignoreConditions()
    await failsWith(/ignores If-None-Match/)
  })

  it('names a store that ignores Content-MD5 where clients store content themselves', async () => {
    double.ignoreMd5()
    ;(await openedBucket(double.url)).close()
    await failsWith(
      /ignores Content-MD5.*leave out public_endpoint/,
      `${double.url}&public_endpoint=http://store`,
    )
  })

  it('names a store that gives back something else', async () => {
    double.have({ kind: 'wrong content' }, { method: /GET/ })
    await failsWith(/gave back other content/)
  })

  it('is content with a write that took effect although its answer was an error', async () => {
    double.have({ kind: 'error after the bytes' }, { method: /PUT/, times: 1 })
    ;(await openedBucket(double.url)).close()
  })

  it('names a bucket that does not exist', () =>
    failsWith(
      /the bucket other at 127.0.0.1:\d+ failed: there is no such bucket/,
      double.url.replace('bucket', 'other'),
    ))

  it('names a host that does not exist', () =>
    failsWith(/unknown host \((ENOTFOUND|EAI_AGAIN)\)/, 's3://bucket?endpoint=http://no-such-host.invalid'))

  it('names a host that refuses connections', async () => {
    const { url } = double
    await double.stop()
    await failsWith(/no connection \(ECONNREFUSED\)/, url)
    double = await startS3Double()
  })

  it('names an endpoint that does not speak TLS', () =>
    failsWith(/does not answer with TLS/, double.url.replace('http:', 'https:')))

  it('names a certificate that is not trusted', async () => {
    const certified = await startS3Double(selfSigned())
    await failsWith(/certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/, certified.url)
    await certified.stop()
  })
})
