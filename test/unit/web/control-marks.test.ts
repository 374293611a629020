import assert from 'node:assert/strict'
import fc from 'fast-check'
import { withMarks } from '../../../web/kit/control-marks.js'

/** The text with labels in brackets. */
const shown = (text: string, isProse = false): string =>
  withMarks(text, isProse)
    .map((part) => (typeof part === 'string' ? part : `[${part.label}]`))
    .join('')

describe('characters that are not seen', () => {
  it('are labels', () => {
    assert.equal(shown('a\u0000b\u202eevil\u202c'), 'a[NUL]b[RLO]evil[PDF]')
    assert.equal(shown('pay\u200bpal\ufeff\u2066x\u2069'), 'pay[ZWSP]pal[BOM][LRI]x[PDI]')
    assert.equal(shown('esc\u001b[31m\u0085'), 'esc[ESC][31m[U+0085]')
  })

  it('spell the text of tags', () => {
    assert.equal(shown('hi\u{e0068}\u{e0069}'), 'hi[TAG h][TAG i]')
  })

  it('are layout where they break lines or indent', () => {
    assert.equal(shown('a\r\n\tb\nc'), 'a\r\n\tb\nc')
    assert.equal(shown('covered\rcover'), 'covered[CR]cover')
  })

  it('are kept where letters and emojis are joined', () => {
    for (const text of ['👨‍👩‍👧', 'می‌خواهم', 'क्‍ष', '🏴\u{e0067}\u{e0062}\u{e007f}'])
      assert.equal(shown(text), text)
    assert.equal(shown('a\u200db'), 'a[ZWJ]b')
  })

  it('are kept in prose if writing needs them', () => {
    assert.equal(shown('سلام\u200f!', true), 'سلام\u200f!')
    assert.equal(shown('x\u202ey', true), 'x[RLO]y')
  })

  it('leave nothing of the text out', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.string({ minLength: 1, maxLength: 1 }),
        fc.integer({ min: 0, max: 0x2070 }).map((code) => String.fromCodePoint(code)),
      ),
    })
    fc.assert(
      fc.property(text, (of) => {
        const back = withMarks(of).map((part) =>
          typeof part === 'string' ? part : String.fromCodePoint(Number.parseInt(part.code.slice(2), 16)),
        )
        assert.equal(back.join(''), of)
      }),
    )
  })
})
