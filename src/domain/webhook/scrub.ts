import { binaryOf, bytesOf, utf8, type Binary } from './binary.js'
import { readingsOf } from './readings.js'
import { WHSEC } from './signing.js'
import { BREAK, soughtFor, type Sought, type Span } from './sought.js'

export interface Answered {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Scrub = <A extends Answered>(answer: A) => A

const MARK = '[secret]'
const MARK_OF_BREAK = String.fromCharCode(BREAK)

/** Less than that at the end of a text is no trace of a secret, nor is a key that is shorter. */
const LEAST_TRACE = 4

/**
 * Takes secrets out of what a receiver answered, in every form in which it may have given them back: as they are, escaped
 * for JSON, a URL or HTML, in hexadecimal digits, in base64 of either alphabet at any place of a longer text, and two of
 * these on top of each other; also where the end of the text cuts one off. Letters of either case count
 * but for those of base64. In hexadecimal digits it looks for secrets of two bytes and more, in base64 of three and more:
 * fewer stand there by chance. It takes as long for many secrets as for one.
 */
export const scrubbing =
  (secrets: readonly Sought[]): Scrub =>
  (answer) => {
    const among = secrets.filter(({ size }) => size > 1)
    if (among.length === 0) return answer
    // All at once: most headers are so short that each alone would cost as much.
    const said = [...Object.entries(answer.headers).flat(), binaryOf(answer.body)]
    const text = said.map((one) => one.replaceAll(MARK_OF_BREAK, '')).join(MARK_OF_BREAK)
    const left = without(text, [...spansOf(among, text)]).split(MARK_OF_BREAK)
    const headers = Array.from({ length: (left.length - 1) / 2 }, (_, at) => {
      return [left[2 * at]!, left[2 * at + 1]!] as const
    })
    return { ...answer, headers: Object.fromEntries(headers), body: bytesOf(left.at(-1)!) }
  }

/** All versions of a secret, ready to be looked for. */
export const soughtSecret = (versions: readonly string[]): Sought =>
  soughtFor(versions.flatMap(tracesOf).map(foldedText))

const spansOf = function* (secrets: readonly Sought[], text: Binary): Generator<Span> {
  for (const { units, from, to, least } of readingsOf(text)) {
    const folded = new Uint16Array(units.length)
    for (let at = 0; at < units.length; at += 1) folded[at] = FOLDED[units[at]!]!
    for (const secret of secrets)
      for (const span of secret.spansIn(folded, LEAST_TRACE)) {
        const isLast = span.to === units.length
        if (span.to - span.from >= least)
          yield { from: from[span.from]!, to: isLast ? text.length : to[span.to - 1]! }
      }
  }
}

const without = (text: Binary, spans: readonly Span[]): Binary => {
  let left = ''
  let end = 0
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    if (span.from >= end) left += text.slice(end, span.from) + MARK
    end = Math.max(end, span.to)
  }
  return left + text.slice(end)
}

/** A secret, as receivers have it; of one that says how it is encoded also the key that it stands for. */
const tracesOf = (secret: string): readonly Binary[] => {
  const inside = WHSEC.exec(secret)?.[1]
  const isKey = inside !== undefined && inside.replace(/=+$/, '').length % 4 !== 1
  const keys = inside === undefined ? [] : [inside, ...(isKey ? [atob(inside)] : [])]
  return [
    binaryOf(utf8(secret)),
    ...(/^[\0-\xff]*$/.test(secret) ? [secret] : []),
    ...keys.filter(({ length }) => length >= LEAST_TRACE),
  ]
}

/** Capital letters count as small ones, and a plus sign as the space that it stands for in forms. */
const FOLDED = Uint16Array.from({ length: 0x10000 }, (_, unit) => {
  if (unit >= 65 && unit <= 90) return unit + 32
  return unit === 43 ? 32 : unit
})

const foldedText = (text: Binary): Binary =>
  text.replace(/[A-Z+]/g, (character) => String.fromCharCode(FOLDED[character.charCodeAt(0)]!))
