import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readingsOf } from '../../../src/domain/webhook/readings.js'
import { scrubbing, soughtSecret } from '../../../src/domain/webhook/scrub.js'

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=='
const OLDER = 'pässwörd & "quotes"/+'

const scrubbed = (text: string | Buffer, ...secrets: readonly string[]): string => {
  const answer = { headers: { 'x-echo': 'as it was' }, body: Buffer.from(text), status: 200 }
  return Buffer.from(scrubbing([soughtSecret(secrets)])(answer).body).toString('latin1')
}

describe('scrubbing an answer', () => {
  it('leaves what holds no secret as it is, byte for byte', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
    assert.equal(scrubbed(bytes, SECRET, OLDER), bytes.toString('latin1'))
    assert.equal(scrubbed(bytes), bytes.toString('latin1'))
  })

  it('takes out every version, in headers and in the body', () => {
    const answer = { headers: { 'x-a': `<${SECRET}>`, [OLDER.toLowerCase()]: 'b' }, body: Buffer.from(OLDER) }
    const { headers, body } = scrubbing([soughtSecret([SECRET]), soughtSecret([OLDER])])(answer)
    assert.deepEqual(headers, { 'x-a': '<[secret]>', '[secret]': 'b' })
    assert.equal(Buffer.from(body).toString(), '[secret]')
  })

  const forms: Readonly<Record<string, (secret: string) => string>> = {
    'in hexadecimal digits': (secret) => Buffer.from(secret).toString('hex'),
    'in capital hexadecimal digits': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
    'as JSON': (secret) => JSON.stringify(secret).slice(1, -1),
    'for a URL': encodeURIComponent,
    'as what is behind whsec_': (secret) => secret.replace('whsec_', ''),
  }
  for (const [form, write] of Object.entries(forms))
    it(`takes out a secret ${form}`, () => {
      for (const secret of [SECRET, OLDER])
        assert.equal(scrubbed(`{"echo":"${write(secret)}"}`, SECRET, OLDER), '{"echo":"[secret]"}')
    })

  it('takes out the key that a whsec_ secret stands for', () => {
    assert.equal(scrubbed('key: secret of the tests', SECRET), 'key: [secret]')
    assert.equal(scrubbed(Buffer.from('secret of the tests').toString('hex'), SECRET), '[secret]')
  })

  it('leaves of a secret in base64 no more than the letters it shares with its neighbours', () => {
    const texts = fc.string({ maxLength: 9, unit: 'grapheme-ascii' })
    const longer = fc.string({ minLength: 12, maxLength: 40, unit: 'grapheme' })
    fc.assert(
      fc.property(
        texts,
        longer,
        texts,
        fc.constantFrom('base64', 'base64url'),
        (before, secret, behind, form) => {
          const encoded = Buffer.from(`${before}${secret}${behind}`).toString(form)
          const left = scrubbed(encoded, secret)
          assert.ok(left.includes('[secret]'), left)
          const bytes = Buffer.byteLength(`${before}${behind}`)
          assert.ok(left.replaceAll('[secret]', '').length <= Math.ceil((bytes * 8) / 6) + 8)
        },
      ),
    )
  })

  it('never leaves a secret that stands in a text', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, fc.string({ minLength: 9, unit: 'grapheme' }), text, (before, secret, behind) => {
        const left = scrubbed(`${before}${secret}${behind}`, secret)
        assert.ok(!left.toLowerCase().includes(Buffer.from(secret).toString('latin1').toLowerCase()))
      }),
    )
  })

  it('takes out the beginning of a secret where the text breaks off', () => {
    assert.equal(scrubbed(`{"echo":"${SECRET.slice(0, 20)}`, SECRET), '{"echo":"[secret]')
    assert.equal(scrubbed(Buffer.from(SECRET).toString('hex').slice(0, 31), SECRET), '[secret]')
  })

  const layers: Readonly<Record<string, (text: Buffer) => string>> = {
    json: (text) => JSON.stringify(text.toString()).slice(1, -1),
    ascii: (text) =>
      JSON.stringify(text.toString()).replace(
        /[^\0-\x7f/]|\//g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    url: (text) => encodeURIComponent(text.toString()),
    everyByte: (text) => text.toString('hex').replace(/../g, '%$&'),
    form: (text) => new URLSearchParams([['', text.toString()]]).toString().slice(1),
    html: (text) =>
      text
        .toString()
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;'),
    entities: (text) =>
      Array.from(text.toString(), (one) => `&#x${one.codePointAt(0)!.toString(16)};`).join(''),
    hex: (text) => text.toString('hex'),
    capitals: (text) => text.toString('hex').toUpperCase(),
    base64: (text) => text.toString('base64'),
    base64url: (text) => text.toString('base64url'),
    lines: (text) => text.toString('base64').replace(/.{7}(?=.)/g, '$&\r\n'),
  }
  const DENSE = new Set(['hex', 'capitals', 'base64', 'base64url', 'lines'])
  const layer = fc.constantFrom(...Object.keys(layers))
  const dense = fc.constantFrom(...DENSE)
  const plain = fc.string({ maxLength: 9, unit: 'grapheme' })
  const secretText = fc
    .string({ minLength: 9, maxLength: 40, unit: 'grapheme' })
    .filter((text) => !text.includes('secret'))

  const digitsBefore = fc.string({ maxLength: 5, unit: fc.constantFrom('0', '7', 'a', 'f') })
  /** The outer digits of three inner ones and of a line's end, at each side. */
  const MOST_SHARED = 24

  it('takes out a secret under any escape, and under two of them', () =>
    fc.assert(
      fc.property(plain, secretText, plain, layer, layer, (before, secret, behind, inner, outer) => {
        const written = (text: string) => layers[outer]!(Buffer.from(layers[inner]!(Buffer.from(text))))
        const text = written(`${before}${secret}${behind}`)
        const left = scrubbed(text, 'another secret', secret)
        assert.ok(left.includes('[secret]'), left)
        if (!DENSE.has(inner) && !DENSE.has(outer))
          assert.ok(!left.includes(Buffer.from(written(secret)).toString('latin1')))
      }),
      { numRuns: 500 },
    ))

  for (const inner of DENSE)
    for (const outer of DENSE) {
      const written = (text: string) => layers[outer]!(Buffer.from(layers[inner]!(Buffer.from(text))))

      it(`takes out a secret as ${inner} as ${outer}, and nothing around it`, () => {
        for (const secret of [SECRET, OLDER, 'plainsecretvalue123', 'p@ss!', 'пароль-日本語-🔑', 'abc'])
          assert.match(scrubbed(`pre ${written(secret)} post`, secret), /^pre \[secret\](?:\r\n=)? post$/)
      })

      it(`leaves of a secret as ${inner} as ${outer} no digits but those of its neighbours`, () =>
        fc.assert(
          fc.property(plain, secretText, plain, digitsBefore, (before, secret, behind, digits) => {
            const left = scrubbed(`${digits}${written(`${before}${secret}${behind}`)} .`, secret)
            assert.ok(left.includes('[secret]') && left.endsWith(' .'), left)
            const around = written(before).length + written(behind).length + digits.length
            assert.ok(left.replaceAll('[secret]', '').length <= around + MOST_SHARED, left)
          }),
        ))

      it(`takes out the beginning of a secret as ${inner} as ${outer} where the text breaks off`, () => {
        const whole = written(SECRET)
        for (let length = Math.ceil(whole.length / 2); length <= whole.length; length += 1)
          assert.match(scrubbed(whole.slice(0, length), SECRET), /^\[secret\](?:3|\r\n?=?)?$/)
      })
    }

  it('takes out what pads a secret in base64 with it, and no more', () => {
    const secret = 'plainsecretvalue123'
    const once = Buffer.from(secret).toString('base64')
    assert.equal(scrubbed(`pre ${once} post`, secret), 'pre [secret] post')
    assert.equal(scrubbed(`pre ${Buffer.from(once).toString('base64')} post`, secret), 'pre [secret] post')
    assert.equal(scrubbed(`${Buffer.from(secret).toString('hex')}=1`, secret), '[secret]=1')
  })

  it('looks for secrets of two bytes in hexadecimal digits, and of three in base64', () => {
    const [hex, base64] = [layers['hex']!, layers['base64']!]
    for (const outer of [hex, base64]) {
      assert.equal(scrubbed(`<${outer(Buffer.from(hex(Buffer.from('q~'))))}>`, 'q~'), '<[secret]>')
      assert.equal(scrubbed(`<${outer(Buffer.from(base64(Buffer.from('q~!'))))}>`, 'q~!'), '<[secret]>')
      for (const [inner, short] of [
        [hex, 'q'],
        [base64, 'q~'],
      ] as const) {
        const text = outer(Buffer.from(inner(Buffer.from(short))))
        assert.equal(scrubbed(text, short), text)
      }
    }
  })

  it('leaves digits upon digits as they are where they stand for no secret', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), dense, dense, (bytes, inner, outer) => {
        const text = layers[outer]!(Buffer.from(layers[inner]!(Buffer.from(bytes))))
        assert.equal(scrubbed(`${text} .`, SECRET, OLDER), `${text} .`)
      }),
      { numRuns: 500 },
    ))

  it('takes out the beginning of a secret where the text breaks off within an escape', () => {
    for (const [name, write] of Object.entries(layers)) {
      const whole = write(Buffer.from(OLDER))
      for (let length = Math.ceil(whole.length / 2); length <= whole.length; length += 1)
        assert.match(
          scrubbed(whole.slice(0, length), OLDER),
          /^"?\[secret\](?:"|=*)$/,
          `${name}: ${whole.slice(0, length)}`,
        )
    }
  })

  it('reads digits at most twenty times over, whatever they stand for', () => {
    for (const digits of ['V', '3', 'MzMz', 'VVVV,', '3333 MzMzVVVV.', 'aaaa']) {
      const text = digits.repeat(4000)
      let read = 0
      for (const { units } of readingsOf(text)) read += units.length
      assert.ok(read <= 20 * text.length, `${digits}: ${read / text.length}`)
    }
  })

  it('of thousands of versions takes each one out', () => {
    const versions = Array.from({ length: 5000 }, (_, at) => `version-${at}-of-the-secret`)
    const text = versions.map((one) => `<${one}>`).join('')
    assert.equal(scrubbed(text, ...versions), '<[secret]>'.repeat(5000))
  })
})
