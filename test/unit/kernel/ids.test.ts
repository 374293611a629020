import assert from 'node:assert/strict'
import fc from 'fast-check'
import { decode } from '../../../src/kernel/codec/codec.js'
import { entityOf, id, projectId, projectName, projectNameOf, teamName } from '../../../src/kernel/ids.js'

const typeOf = (value: unknown, codec = id): string => {
  const decoded = decode(codec)(value)
  return decoded._tag === 'Right' ? 'ok' : decoded.left.map(({ type }) => type).join()
}

describe('an id', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['a letter', 'a', 'ok'],
    ['a UUID', '01890a5d-ac96-774b-bcce-b302099a8057', 'ok'],
    ['256 bytes', 'x'.repeat(256), 'ok'],
    ['257 bytes', 'x'.repeat(257), 'string_too_long'],
    ['128 characters of two bytes', 'é'.repeat(128), 'ok'],
    ['129 characters of two bytes', 'é'.repeat(129), 'string_too_long'],
    ['64 characters of four bytes', '😀'.repeat(64), 'ok'],
    ['65 characters of four bytes', '😀'.repeat(65), 'string_too_long'],
    ['86 characters of three bytes', '€'.repeat(86), 'string_too_long'],
    ['10 MB', 'x'.repeat(10_000_000), 'string_too_long'],
    ['nothing', '', 'string_too_short'],
    ['NUL', 'a\u0000b', 'string_pattern_mismatch'],
    ['a line break', 'a\nb', 'string_pattern_mismatch'],
    ['a tab at the end', 'a\t', 'string_pattern_mismatch'],
    ['DEL', '\u007f', 'string_pattern_mismatch'],
    ['a C1 control', 'a\u0085', 'string_pattern_mismatch'],
    ['a control in a text that is too long', `${'x'.repeat(300)}\u0000`, 'string_pattern_mismatch'],
    ['blanks', '  ', 'ok'],
    ['slashes, quotes and percents', `/../'"%\\`, 'ok'],
    ['right-to-left text', '\u05d0\u202e', 'ok'],
    ['a number', 1, 'string_type'],
    ['null', null, 'string_type'],
    ['a boolean', true, 'string_type'],
    ['a list', ['a'], 'string_type'],
    ['an object', { toString: 'a' }, 'string_type'],
    ['undefined', undefined, 'string_type'],
  ]
  for (const [name, value, type] of cases)
    it(`is ${type === 'ok' ? '' : 'not '}${name}`, () => {
      assert.equal(typeOf(value), type)
      assert.equal(id.is(value), type === 'ok')
    })

  it('is any text of 1 to 256 bytes without control characters, unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const bytes = Buffer.byteLength(text)
        const controls = /\p{Cc}/u.test(text)
        const decoded = decode(id)(text)
        assert.equal(decoded._tag === 'Right', bytes > 0 && bytes <= 256 && !controls)
        if (decoded._tag === 'Right') assert.equal(decoded.right, text)
      }),
    )
  })
})

describe('a project', () => {
  const names = [
    'e/p',
    'A.b_c-1/.',
    '../..',
    `${'e'.repeat(128)}/${'p'.repeat(128)}`,
    'e/my project',
    'e/R&D',
    'e/проект',
    'e/naïve+é',
    'e/项目 1',
    'e/می\u200cخواهم',
    'e/👩\u200d👩\u200d👧',
    `e/${'😀'.repeat(128)}`,
    "e/p'; DROP TABLE calls",
    'e/"$*~^`|<>{}[]()=;,@!\'',
  ]
  for (const name of names)
    it(`may be ${name.slice(0, 20)}`, () => {
      assert.equal(typeOf(name, projectId), 'ok')
      assert.equal(typeOf(name.slice(name.indexOf('/') + 1), projectName), 'ok')
    })

  const others = [
    '',
    '/',
    'e',
    'e/',
    '/p',
    'e/p/q',
    'e//p',
    'e /p',
    'é/p',
    'e/p\n',
    '\ne/p',
    'e/p\u0000',
    'e\\p',
    'e/p?',
    'e%2Fp',
    `${'e'.repeat(129)}/p`,
    `e/${'p'.repeat(129)}`,
    `e/${'😀'.repeat(129)}`,
    ...Array.from(
      '/\\#?%:\u0000\n\u007f\u0085\u2028\u200b\u202e\u2066\ufeff\ufffd\ud800',
      (sign) => `e/a${sign}b`,
    ),
    ...Array.from(' \t\u00a0\u3000', (blank) => [`e/${blank}p`, `e/p${blank}`, `e/${blank}`]).flat(),
    'e/e\u0301',
    `${'e'.repeat(1e6)}/p`,
  ]
  for (const name of others)
    it(`may not be ${JSON.stringify(name.slice(0, 20))}`, () =>
      assert.equal(typeOf(name, projectId), 'string_pattern_mismatch'))

  it('belongs to the entity before its slash', () => assert.equal(entityOf('team.one/p_1'), 'team.one'))

  it('has the name after its slash', () => assert.equal(projectNameOf('team.one/p 1'), 'p 1'))

  it('is entity and project name, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), (name) => {
        assert.equal(projectId.is(`e/${name}`), projectName.is(name))
        if (!projectName.is(name)) return
        assert.equal(name, name.trim().normalize('NFC').toWellFormed())
        assert.doesNotMatch(name, /[/\\#?%:\p{Cc}]/u)
        assert.ok(Array.from(name).length <= 128)
      }),
    )
  })
})

describe('a team', () => {
  for (const [name, type] of [
    ['team-1', 'ok'],
    ['', 'string_pattern_mismatch'],
    ['a/b', 'string_pattern_mismatch'],
    ['a\n', 'string_pattern_mismatch'],
    ['t'.repeat(129), 'string_pattern_mismatch'],
    [7, 'string_type'],
  ] as const)
    it(`${type === 'ok' ? 'may' : 'may not'} be called ${JSON.stringify(name).slice(0, 20)}`, () =>
      assert.equal(typeOf(name, teamName), type))
})
