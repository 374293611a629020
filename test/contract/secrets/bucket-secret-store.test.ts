import assert from 'node:assert/strict'
import {
  openBucketSecretStore,
  reencryptBucketSecrets,
} from '../../../src/adapters/secrets/bucket-secret-store.js'
import type { HeldSecret, SecretStore } from '../../../src/kernel/ports/secret-store.js'
import { openedBucket } from '../../support/buckets.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { ringOf, someKey, spellingsOf } from '../../unit/adapters/secrets/given.js'
import { secretStoreContract } from './secret-store-contract.js'

const secret = { team: 'team', name: 'A', version: 1 }

describe('the store of secrets in a bucket', () => {
  const ring = ringOf(someKey('one'))
  const doubles: S3Double[] = []
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop()
  })
  const opened = async (keys = ring) => {
    const double = doubles[0] ?? (await startS3Double())
    doubles[0] = double
    const bucket = await openedBucket(double.url)
    const store = openBucketSecretStore(bucket, keys)
    return { double, bucket, store: { ...store, close: async () => bucket.close() } }
  }

  secretStoreContract(async (): Promise<SecretStore> => (await opened()).store)

  it('keeps no value as it is', async () => {
    const { double, store } = await opened()
    const value = 'canary-5f0c1d9e-of-some-length'

    await store.put(secret, value)

    const content = Buffer.concat([...double.objects.values()].map((object) => object.content)).toString(
      'latin1',
    )
    for (const spelling of spellingsOf(value)) assert.ok(!content.includes(spelling))
  })

  it('gives one of two processes a version, whatever their order', async () => {
    const { store: one } = await opened()
    const { store: other } = await opened()

    const taken = await Promise.all([one.put(secret, 'first'), other.put(secret, 'second')])

    assert.deepEqual(taken.toSorted(), [false, true])
    const value = taken[0] ? 'first' : 'second'
    assert.deepEqual([await one.get(secret), await other.get(secret)], [value, value])
  })

  it('recognises its own value when the answer to the first attempt was an error', async () => {
    const { double, store } = await opened()
    double.have({ kind: 'error after the bytes' }, { method: /PUT/, times: 1 })

    assert.equal(await store.put(secret, 'value'), true)
  })

  it('says which keys it needs and does not have', async () => {
    const { store } = await opened()
    await store.put(secret, 'value')
    assert.deepEqual(await store.missingKeys(), [])

    const { store: without } = await opened(ringOf(someKey('two')))

    assert.deepEqual(await without.missingKeys(), ['one'])
    await assert.rejects(without.get(secret), { name: 'SecretUnreadable', message: /"one"/ })
  })

  it('is re-encrypted with another key, and keeps its time', async () => {
    const { double, store } = await opened()
    const [one, two] = [someKey('first'), someKey('second')]
    const { store: before } = await opened(ringOf(one))
    const { store: after, bucket } = await opened(ringOf(two, one))
    await before.put(secret, 'value')
    await before.confirm(secret)
    const [{ storedAt }] = (await before.versions(secret)) as [HeldSecret]
    await store.put({ ...secret, name: 'B' }, 'unreadable')

    const done = await reencryptBucketSecrets(bucket, ringOf(two, one), () => undefined)

    assert.deepEqual(done, {
      activeKey: 'second',
      reencrypted: 1,
      already: 0,
      unreadable: new Map([['one', 1]]),
    })
    assert.equal(await after.get(secret), 'value')
    assert.match(
      double.objects.get('data/secrets/team-team/A/0000000001')!.content.toString(),
      /^v1\.second\./,
    )
    assert.ok((await after.versions(secret))[0]!.storedAt.getTime() - storedAt.getTime() < 1000)
    assert.equal((await reencryptBucketSecrets(bucket, ringOf(two, one), () => undefined)).already, 1)
  })

  it('stays destroyed when it is re-encrypted meanwhile', async () => {
    const { store, bucket } = await opened()
    await store.put(secret, 'value')

    const isReplaced = await bucket.replace('secrets/team-team/A/0000000001', (content) => {
      doubles[0]!.objects.clear()
      return content
    })

    assert.equal(isReplaced, false)
    assert.equal(await store.get(secret), undefined)
  })

  it('fails while the bucket is away, and says why', async () => {
    const { double, store } = await opened()
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })

    for (const use of [() => store.put(secret, 'value'), () => store.get(secret), () => store.teams()])
      await assert.rejects(use(), { name: 'SecretsUnavailable', message: /the credentials have expired/ })
  })

  it('keeps a team named .. within its prefix', async () => {
    const { double, store } = await opened()

    await store.put({ ...secret, team: '..' }, 'value')

    assert.deepEqual([...double.objects.keys()], ['data/secrets/team-../A/0000000001'])
    assert.equal(await store.get({ ...secret, team: '..' }), 'value')
  })
})
