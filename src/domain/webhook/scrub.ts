import { binaryOf, bytesOf, hexOf, utf8, type Binary } from './binary.js'
import { WHSEC } from './signing.js'
import { soughtFor, spansIn, type Span } from './spans.js'

export interface Answered {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Scrub = <A extends Answered>(answer: A) => A

const MARK = '[secret]'

/** Shorter ones would take away what is no secret; of the whole secret any length is taken. */
const LEAST_TRACE = 4

/**
 * Takes secrets out of what a receiver answered, in every form in which it may have given them back: as they are, in
 * hexadecimal digits, in base64 of either alphabet at any place of a longer text, quoted as JSON or for a URL; also
 * where the end of the text cuts one off. Letters of either case count.
 */
export const scrubbing = (secrets: readonly string[]): Scrub => {
  const traces = [...new Set(secrets.filter((secret) => secret !== '').flatMap(tracesOf))].map((trace) =>
    soughtFor(trace.toLowerCase(), LEAST_TRACE),
  )
  if (traces.length === 0) return (answer) => answer
  const scrubbed = (text: Binary): Binary => {
    const lower = text.toLowerCase()
    return without(
      text,
      traces.flatMap((trace) => spansIn(trace, lower)),
    )
  }
  return (answer) => ({
    ...answer,
    headers: Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [scrubbed(name), scrubbed(value)]),
    ),
    body: bytesOf(scrubbed(binaryOf(answer.body))),
  })
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

const tracesOf = (secret: string): readonly Binary[] => {
  const plain = binaryOf(utf8(secret))
  const inside = WHSEC.exec(secret)?.[1]
  const encoded = [
    hexOf(plain),
    ...base64Of(plain),
    binaryOf(utf8(JSON.stringify(secret).slice(1, -1))),
    escaped(secret),
    encodeURIComponent(secret.toWellFormed()),
    ...(inside === undefined ? [] : [inside, ...decodedForms(inside)]),
  ]
  return [plain, secret, ...encoded.filter((trace) => trace.length >= LEAST_TRACE)]
}

const decodedForms = (base64: string): readonly Binary[] => {
  if (base64.replace(/=+$/, '').length % 4 === 1) return []
  const bytes = atob(base64)
  return [bytes, hexOf(bytes), ...base64Of(bytes)]
}

/** What of base64 stands fast whatever comes before and behind: for each of the three ways in which bytes fall. */
const base64Of = (plain: Binary): readonly Binary[] =>
  [0, 1, 2].flatMap((before) => {
    const bits = (before + plain.length) * 8
    const first = Math.ceil((before * 8) / 6)
    const text = btoa('\0'.repeat(before) + plain).slice(first, Math.floor(bits / 6))
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')]
  })

/** JSON as some write it, with all but ASCII in `\u` escapes. */
const escaped = (secret: string): string =>
  JSON.stringify(secret)
    .slice(1, -1)
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
