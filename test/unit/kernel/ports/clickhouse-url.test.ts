import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { clickHouseAddress } from '../../../../src/kernel/ports/clickhouse-url.js'

describe('the URL of a ClickHouse server', () => {
  it('gives back any user and password that were written with %', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' }).map((some) => some.toWellFormed())
    fc.assert(
      fc.property(text, fc.option(text, { nil: '' }), (username, password) => {
        const url = `https://${encodeURIComponent(username)}:${encodeURIComponent(password)}@ch.example:8443/a_1`
        const origin = 'https://ch.example:8443'
        const expected = { origin, origins: [origin], username, password, database: 'a_1' }
        assert.deepEqual(clickHouseAddress(url), E.right(expected))
      }),
    )
  })

  it('names the default user and our own database where it says nothing', () => {
    for (const url of ['http://host:8123', 'http://host:8123/', 'http://@host:8123'])
      assert.deepEqual(
        clickHouseAddress(url),
        E.right({
          origin: 'http://host:8123',
          origins: ['http://host:8123'],
          username: 'default',
          password: '',
          database: 'tallytree',
        }),
      )
  })

  it('takes several hosts with one user and database', () => {
    const origins = ['http://a:8123', 'http://b:8124']
    assert.deepEqual(
      clickHouseAddress('http://u:p,w@a:8123,b:8124/db'),
      E.right({ origin: 'http://a:8123', origins, username: 'u', password: 'p,w', database: 'db' }),
    )
  })

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    'another scheme': ['tcp://u:hidden@host:9000/db', /must be the URL/],
    'no URL': ['hidden', /must be the URL/],
    'a port that is none': ['http://u:hidden@host:99999/db', /must be the URL/],
    'a slash in the password': ['http://u:hid/den@host:8123/db', /%2F/],
    'a number sign in the password': ['http://u:8#hidden@host:8123/db', /%/],
    'a question mark in the password': ['http://u:8?hidden@host:8123/db', /%/],
    'a percent sign in the password': ['http://u:hidden%zz@host:8123/db', /%25/],
    'a database that needs quotes': ['http://u:hidden@host:8123/a-b', /letters, digits and underscores/],
    'a path of several parts': ['http://u:hidden@host:8123/a/b', /letters, digits and underscores/],
    'statements for a database': ['http://u:hidden@host:8123/a;DROP', /letters, digits and underscores/],
    parameters: ['http://u:hidden@host:8123/db?session_id=1', /query parameters/],
  }
  for (const [name, [url, sentence]] of Object.entries(wrong))
    it(`is refused with a sentence that does not quote it: ${name}`, () => {
      const address = clickHouseAddress(url)
      assert.ok(E.isLeft(address))
      assert.match(address.left, sentence)
      assert.doesNotMatch(address.left, /hidden|hid/)
    })
})
