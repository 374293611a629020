import assert from 'node:assert/strict'
import fc from 'fast-check'
import { keyIn } from '../../../src/api/server/serve.js'

const basic = (pair: string): string => `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
const visible = fc.string({
  minLength: 1,
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
})

describe('the key in an Authorization header', () => {
  it('is the password of Basic, whatever the user name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), visible, (user, key) => {
        assert.equal(keyIn(basic(`${user.replaceAll(':', '')}:${key}`)), key)
      }),
    )
  })

  it('may hold colons: the first one parts it from the user name', () => {
    assert.equal(keyIn(basic('api:a:b:c')), 'a:b:c')
  })

  it('needs no user name, nor its colon', () => {
    assert.equal(keyIn(basic(':key')), 'key')
    assert.equal(keyIn(basic('key')), 'key')
  })

  it('is the token of Bearer', () => {
    fc.assert(fc.property(visible, (key) => assert.equal(keyIn(`Bearer ${key}`), key)))
  })

  it('is found under any case of the scheme and any spaces', () => {
    for (const header of ['bearer key', 'BEARER   key', ' Bearer key  ', 'bAsIc  Omtleq==', 'BASIC OmtleQ'])
      assert.match(keyIn(header) ?? '', /^key|^ke\S$/)
  })

  it('is not in a malformed header', () => {
    const hostile = [
      undefined,
      '',
      ' ',
      'Bearer',
      'Bearer ',
      'Basic',
      'Basic    ',
      'Basic !!!!',
      'Basic ====',
      'Basic Og==',
      'Basic YXBpOg==',
      'Basic YTpi YTpi',
      'Bearer a b',
      'Bearer,key',
      'Token key',
      'Digest username="a"',
      'key',
      `Bearer ${'k'.repeat(5000)}`,
      `Basic ${'A'.repeat(1 << 20)}`,
      `${' '.repeat(100_000)}Bearer key`,
    ]
    for (const header of hostile) assert.equal(keyIn(header), undefined, String(header).slice(0, 40))
  })

  it('never makes it throw', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }).map((rest) => `Basic ${rest}`),
      fc.string({ unit: 'binary' }).map((rest) => `Bearer ${rest}`),
      fc.uint8Array().map((bytes) => `Basic ${Buffer.from(bytes).toString('base64')}`),
      fc.base64String().map((text) => `basic ${text}`),
    )
    fc.assert(
      fc.property(anything, (header) => {
        const key = keyIn(header)
        assert.ok(key === undefined || key.length > 0)
      }),
    )
    for (const odd of [null, 1, {}, [], ['Bearer a', 'Bearer b']])
      assert.equal(keyIn(odd as unknown as string), undefined)
  })
})
