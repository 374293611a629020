import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { redactSecrets, secretMatcher } from '../../../../src/domain/secrets/redact-secrets.js'

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=='
const OLDER = 'pässwörd & "quotes"/+'

const redacted = (text: string, ...secrets: readonly string[]): string =>
  redactSecrets([secretMatcher(secrets)])(text)

const upper = (text: string) => text.toUpperCase()
const unicodeEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const asciiJson = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\x7f-\uffff]/g, unicodeEscape)

const encodings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'escaped for JSON': (text) => JSON.stringify(text).slice(1, -1),
  'escaped for JSON by PHP': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'escaped for JSON by Python': (text) => asciiJson(text),
  'escaped for JSON by Go': (text) => JSON.stringify(text).slice(1, -1).replace(/[<>&]/g, unicodeEscape),
  'escaped for JSON by .NET': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll('\\"', '\\u0022')
      .replace(/[<>&'+`\x7f-\uffff]/g, (unit) => `\\u${upper(unicodeEscape(unit).slice(2))}`),
  'encoded for a URL': encodeURIComponent,
  'encoded for a URL in small hexadecimal': (text) =>
    encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'encoded for a form': (text) => new URLSearchParams([['', text]]).toString().slice(1),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in capital hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64url': (text) => Buffer.from(text).toString('base64url'),
}

describe('redacting secrets', () => {
  for (const [how, encode] of Object.entries(encodings)) {
    it(`redacts a secret ${how}, of every length`, () => {
      const long = randomBytes(6144).toString('base64')
      for (const secret of [SECRET, OLDER, 'p@ss', 'пароль-日本語-🔑', long]) {
        const text = `{"echo":"${encode(secret)}", "again":"${encode(secret)}"}`
        assert.equal(
          redacted(text, 'another', SECRET, OLDER, 'p@ss', 'пароль-日本語-🔑', long),
          '{"echo":"[secret]", "again":"[secret]"}',
        )
      }
    })

    it(`redacts any secret ${how}`, () => {
      const plain = fc.string({ maxLength: 9, unit: 'grapheme-ascii' })
      const secretText = fc
        .string({ minLength: 4, maxLength: 80, unit: 'grapheme' })
        .filter((text) => !text.includes('secret'))
      fc.assert(
        fc.property(plain, secretText, plain, (before, secret, after) => {
          const text = redacted(`${before}<${encode(secret)}>${after}`, 'another secret', secret)
          assert.ok(text.includes('[secret]') && !text.includes(encode(secret)), text)
        }),
      )
    })

    it(`redacts the beginning of a secret ${how} where the text is cut`, () => {
      const whole = encode(SECRET)
      for (let length = 4; length <= whole.length; length += 1)
        assert.match(redacted(`"echo":"${whole.slice(0, length)}`, SECRET), /^"echo":"\[secret\]=?$/)
    })
  }

  it('leaves of a secret within a longer base64 text only the characters that it shares with its neighbours', () => {
    const texts = fc.string({ maxLength: 9, unit: 'grapheme-ascii' })
    const secrets = fc.string({ minLength: 12, maxLength: 40, unit: 'grapheme' })
    fc.assert(
      fc.property(
        texts,
        secrets,
        texts,
        fc.constantFrom('base64', 'base64url'),
        (before, secret, after, form) => {
          const left = redacted(Buffer.from(`${before}${secret}${after}`).toString(form), secret)
          assert.ok(left.includes('[secret]'), left)
          const bytes = Buffer.byteLength(`${before}${after}`)
          assert.ok(left.replaceAll('[secret]', '').length <= Math.ceil((bytes * 8) / 6) + 4)
        },
      ),
    )
  })

  it('redacts what follows whsec_, alone too', () => {
    assert.equal(redacted(`key ${SECRET.replace('whsec_', '')}`, SECRET), 'key [secret]')
  })

  it('redacts overlapping secrets with one mark, and no mark within another', () => {
    assert.equal(redacted('<abcdefghi>', 'abcdef', 'defghi'), '<[secret]>')
    assert.equal(redacted('the secret is abcdef', 'secret', 'abcdef'), 'the [secret] is [secret]')
  })

  it('leaves a text without secrets as it is', () => {
    // The end of a text may be the beginning of a secret, by chance.
    const hexDigits = `${randomBytes(8192).toString('hex')}.`
    for (const text of ['', 'no such thing', hexDigits, '\ud800 lone', 'ab'.repeat(5000)])
      assert.equal(redacted(text, SECRET, OLDER, 'x', ''), text.replaceAll('x', '[secret]'))
    assert.equal(redacted('no secrets at all'), 'no secrets at all')
  })

  it('redacts each of thousands of versions', () => {
    const versions = Array.from({ length: 5000 }, (_, at) => `version-${at}-of-the-secret`)
    const text = versions.map((one) => `<${one}>`).join('')
    assert.equal(redacted(text, ...versions), '<[secret]>'.repeat(5000))
  })

  const milliseconds = (work: () => void): number => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }

  it('is cheap with 200 secrets of 8 KB and an answer of 16 KiB', () => {
    const secrets = Array.from({ length: 200 }, () => randomBytes(6144).toString('base64'))
    const answer = randomBytes(8192).toString('hex')
    const spent = milliseconds(() => {
      const redact = redactSecrets([secretMatcher(secrets)])
      for (let round = 0; round < 20; round += 1) redact(answer)
    })
    assert.ok(spent < 600, `${spent} ms for 20 answers`)
  })

  it('is cheap with hostile secrets and answers', () => {
    const ends = Array.from({ length: 200 }, (_, at) => `${at}`)
    const hostile = [
      ends.map((end) => `${'a'.repeat(4096)}b${'a'.repeat(4000)}${end}`),
      ends.map((end) => `${end}b${'a'.repeat(30)}`),
      ends.map((_, at) => `${'a'.repeat(at % 32)}b${'a'.repeat(31 - (at % 32))}`),
      ends.map((_, at) => `${'a'.repeat(at % 31)}b`),
    ]
    for (const secrets of hostile) {
      const matcher = secretMatcher(secrets)
      const answer = 'a'.repeat(16_384)
      const searched = milliseconds(() => redactSecrets([matcher])(answer))
      assert.ok(searched < 1000, `${searched} ms`)
    }
  })
})
