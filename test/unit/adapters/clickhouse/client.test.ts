import assert from 'node:assert/strict'
import { withLiterals } from '../../../../src/adapters/clickhouse/client.js'

describe('a statement with literals', () => {
  it('has them in place of all placeholders of a name', () => {
    assert.equal(
      withLiterals("SELECT {a:String}, {b:UInt64}, {a:String}, {c:Array(DateTime64(6, 'UTC'))}", {
        a: "it's {b:UInt64} \\",
        b: 5n,
        c: ['2026-01-01 00:00:00'],
      }),
      `SELECT 'it\\'s {b:UInt64} \\\\', CAST('5', 'UInt64'), 'it\\'s {b:UInt64} \\\\', ` +
        `CAST('[\\'2026-01-01 00:00:00\\']', 'Array(DateTime64(6, \\'UTC\\'))')`,
    )
  })

  it('keeps quoted text and names', () => {
    const quoted = ["'{a:String}'", '`{a:String}`', '"{a:String}"', "'\\'{a:String}'", "'it''s {a:String}'"]
    for (const text of quoted)
      assert.equal(withLiterals(`SELECT ${text}, {a:String}`, { a: 'x' }), `SELECT ${text}, 'x'`)
  })

  it('needs a value for each placeholder', () => {
    assert.throws(() => withLiterals('SELECT {missing:String}', {}), /parameter missing/)
  })
})
