import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.js'

const read = (url: string) => readConfig({ TALLYTREE_OBJECTS_URL: url }).objects

describe('TALLYTREE_OBJECTS_URL', () => {
  it('names a bucket of AWS', () => {
    assert.deepEqual(read('s3://bucket'), {
      bucket: 'bucket',
      prefix: '',
      region: undefined,
      endpoint: undefined,
      pathStyle: false,
      publicEndpoint: undefined,
    })
    assert.deepEqual(read('s3://my.bucket/some/where/?region=eu-central-1'), {
      bucket: 'my.bucket',
      prefix: 'some/where/',
      region: 'eu-central-1',
      endpoint: undefined,
      pathStyle: false,
      publicEndpoint: undefined,
    })
  })

  it('names another store, with the path style unless it says otherwise', () => {
    const url = 's3://bucket/p?endpoint=https://store.internal:9000'
    const store = {
      bucket: 'bucket',
      prefix: 'p/',
      region: 'us-east-1',
      endpoint: 'https://store.internal:9000',
      publicEndpoint: undefined,
    }
    assert.deepEqual(read(url), { ...store, pathStyle: true })
    assert.deepEqual(read(`${url}&path_style=false`), { ...store, pathStyle: false })
  })

  it('may name an address of the store for clients', () => {
    const url = 's3://bucket?endpoint=http://store:9000&public_endpoint=https://store.example'
    assert.equal(read(url)?.publicEndpoint, 'https://store.example')
  })

  for (const [url, message] of [
    ['https://bucket', /must be the URL of a bucket/],
    ['s3://', /must be the URL of a bucket/],
    ['s3://Bucket', /must be the URL of a bucket/],
    ['s3://key:secret@bucket', /must not contain credentials/],
    ['s3://bucket/a b', /the prefix must be letters/],
    ['s3://bucket?regoin=x', /has the unknown option regoin/],
    ['s3://bucket?endpoint=store:9000', /endpoint must be the http/],
    ['s3://bucket?endpoint=http://store/path', /endpoint must be the http/],
    ['s3://bucket?public_endpoint=https://store.example/path', /public_endpoint must be the http/],
    ['s3://bucket?path_style=yes', /path_style must be true or false/],
    [
      's3://bucket?endpoint=https://account.blob.core.windows.net',
      /Azure's blob service, which does not speak S3/,
    ],
  ] as const)
    it(`must not be ${url}`, () => {
      assert.throws(() => read(url), { name: 'OperatorError', message })
    })
})
