import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import {
  headerProblems,
  headerSecrets,
  renderHeaders,
} from '../../../../src/domain/secrets/static-headers.js'

const unknownIn = (headers: Record<string, string>) =>
  new Map(
    headerSecrets(headers)
      .filter((name) => name !== 'KEY' && name !== 'OTHER')
      .map((name) => [name, 'unknown']),
  )

const problemsOf = (headers: Record<string, string>, access_token: string | null = null) =>
  headerProblems({ headers, access_token }, 'Vendor', unknownIn(headers)).map(({ loc, ctx }) => [
    ...loc.slice(1),
    ...(ctx === undefined ? [] : [ctx.start, ctx.end]),
  ])
const rendered = (value: string, secret: string | undefined = 'v') =>
  renderHeaders({ X: value }, (name) => (name === 'KEY' ? secret : undefined))

describe('the static headers of a webhook', () => {
  it('contain secrets by name, and a literal $ where nothing is named', () => {
    for (const [value, expected] of [
      ['key $KEY', 'key v'],
      ['${KEY}${KEY}', 'vv'],
      ['$$KEY ${KEY}', '$KEY v'],
      ['$${KEY}', '${KEY}'],
      ['costs $5 or 100 %', 'costs $5 or 100 %'],
      ['a$', 'a$'],
      ['', ''],
    ] as const)
      assert.deepEqual(rendered(value), E.right({ X: expected }), value)
    assert.deepEqual(headerSecrets({ A: '$KEY', B: '${OTHER} $KEY $$NOT' }), ['KEY', 'OTHER'])
    assert.deepEqual(headerSecrets(null), [])
  })

  it('are refused by name', () => {
    for (const name of [
      'Host',
      'content-type',
      'Transfer-Encoding',
      'webhook-id',
      'X-VENDOR-Signature',
      'Connection',
    ])
      assert.deepEqual(problemsOf({ [name]: 'x' }), [[name]], name)
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', '__proto__', 'é', 'x'.repeat(129)])
      assert.deepEqual(problemsOf(Object.fromEntries([[name, 'x']])), [[]], name)
    for (const value of [' x', 'x ', 'a\r\nInjected: 1', 'a\nb', '\u0000', 'é', '\t'])
      assert.deepEqual(problemsOf({ 'X-A': value }), [['X-A']], JSON.stringify(value))
    assert.deepEqual(problemsOf({ 'X-A': '1', 'x-a': '2' }), [['x-a']])
    assert.deepEqual(problemsOf({ Authorization: 'x' }), [])
    assert.deepEqual(problemsOf({ Authorization: 'x' }, 'KEY'), [['Authorization']])
    assert.deepEqual(problemsOf({ 'X-A': 'is $UNKNOWN' }), [['X-A', 3, 11]])
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`X-${n}`, '1']))
    assert.deepEqual(problemsOf(many), [[]])
    assert.deepEqual(problemsOf({ 'X-A': 'x'.repeat(8200) }), [[]])
  })

  it('are not made with a secret that is gone or cannot be part of a header', () => {
    assert.deepEqual(
      renderHeaders({ X: '$GONE' }, () => undefined),
      E.left('missing_secret'),
    )
    assert.deepEqual(rendered('$KEY', 'a\r\nb: c'), E.left('unusable_header'))
    assert.deepEqual(rendered('$KEY', ' '), E.left('unusable_header'))
  })

  it('without problems are always valid headers', () =>
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 12 }), fc.string({ maxLength: 20 }), { maxKeys: 4 }),
        fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
        (headers, secret) => {
          if (headerProblems({ headers, access_token: null }, 'Vendor', new Map()).length > 0) return
          const made = renderHeaders(headers, () => secret)
          if (E.isRight(made)) new Headers(made.right)
        },
      ),
    ))
})
