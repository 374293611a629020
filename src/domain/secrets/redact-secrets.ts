/** An encoding in which a secret may appear in a text. */
type Encode = (secret: string) => string

interface EncodedSecret {
  readonly secret: string
  readonly encode: Encode
}

/** Text range, end exclusive. */
interface Match {
  readonly from: number
  readonly to: number
}

/** Finds secrets in a text, in all encodings. */
export interface SecretMatcher {
  readonly matches: (text: string) => readonly Match[]
}

export type Redact = (text: string) => string

const REDACTED = '[secret]'

/** Length of the prefix of an encoding that counts as a match; the match then extends as far as the text agrees. */
const HEAD_LENGTH = 32

/** Shorter encodings, or prefixes at the end of a text, match by chance. Unencoded secrets always count. */
const SHORTEST = 4

/** Up to this many prefixes, one `indexOf` each is faster than a look-up at every index. */
const FEW_HEADS = 32

/**
 * Stores only a prefix of each encoding, so that 200 secrets of 8 KB stay cheap. The search time depends on the
 * length of the text and hardly on the number of secrets.
 */
export const secretMatcher = (secrets: readonly string[]): SecretMatcher => {
  const headsByLength = new Map<number, Map<string, EncodedSecret[]>>()
  const headsByBeginning = new Map<string, string[]>()
  const values = secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')])
  for (const secret of new Set(values.map((value) => value.toWellFormed())))
    for (const encode of ENCODINGS) {
      const head = encode(secret.slice(0, 2 * HEAD_LENGTH).toWellFormed()).slice(0, HEAD_LENGTH)
      if (head.length < (encode === asIs ? 1 : SHORTEST)) continue
      const heads = headsByLength.get(head.length) ?? new Map<string, EncodedSecret[]>()
      headsByLength.set(head.length, heads)
      const isNew = !heads.has(head)
      addTo(heads, head, { secret, encode })
      if (isNew) addTo(headsByBeginning, head.slice(0, SHORTEST), head)
    }
  return {
    matches: (text) => {
      const matches = [...headsByLength].flatMap(([length, heads]) => matchesOf(text, length, heads))
      return [...matches, ...matchesAtEnd(text, headsByBeginning)]
    },
  }
}

/** Replaces each secret by a mark in one pass. */
export const redactSecrets =
  (matchers: readonly SecretMatcher[]): Redact =>
  (text) => {
    const matches = matchers.flatMap((matcher) => matcher.matches(text)).sort((a, b) => a.from - b.from)
    let redacted = ''
    let end = 0
    for (const { from, to } of matches) {
      if (from >= end) redacted += text.slice(end, from) + REDACTED
      end = Math.max(end, to)
    }
    return redacted + text.slice(end)
  }

const addTo = <A>(all: Map<string, A[]>, key: string, one: A): void => {
  const known = all.get(key)
  if (known === undefined) all.set(key, [one])
  else known.push(one)
}

const matchesOf = (
  text: string,
  length: number,
  heads: ReadonlyMap<string, readonly EncodedSecret[]>,
): readonly Match[] => {
  const matches: Match[] = []
  const encodings = new Map<string, ReadonlySet<string>>()
  const take = (from: number, head: string, found: readonly EncodedSecret[]): number => {
    const whole = encodings.get(head) ?? new Set(found.map(({ secret, encode }) => encode(secret)))
    encodings.set(head, whole)
    let to = from + length
    for (const encoding of whole) to = Math.max(to, from + commonLength(text, from, encoding))
    matches.push({ from, to })
    return to
  }
  if (heads.size <= FEW_HEADS)
    for (const [head, found] of heads)
      for (let at = text.indexOf(head); at !== -1;) at = text.indexOf(head, take(at, head, found))
  else
    for (let at = 0; at + length <= text.length;) {
      const head = text.slice(at, at + length)
      const found = heads.get(head)
      at = found === undefined ? at + 1 : take(at, head, found)
    }
  return matches
}

/** A secret truncated by the end of the text to less than its prefix. */
const matchesAtEnd = (
  text: string,
  headsByBeginning: ReadonlyMap<string, readonly string[]>,
): readonly Match[] => {
  for (let from = Math.max(0, text.length - HEAD_LENGTH); from + SHORTEST <= text.length; from += 1) {
    const end = text.slice(from)
    const heads = headsByBeginning.get(end.slice(0, SHORTEST)) ?? []
    if (heads.some((head) => head.startsWith(end))) return [{ from, to: text.length }]
  }
  return []
}

const commonLength = (text: string, from: number, encoding: string): number => {
  let length = 0
  while (length < encoding.length && text.charCodeAt(from + length) === encoding.charCodeAt(length))
    length += 1
  return length
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const asIs: Encode = (secret) => secret
const json: Encode = (secret) => JSON.stringify(secret).slice(1, -1)
const unicodeEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const capitalUnicodeEscape = (unit: string): string => `\\u${unicodeEscape(unit).slice(2).toUpperCase()}`
const hex: Encode = (secret) =>
  bytesOf(secret).reduce((digits, byte) => digits + (byte < 16 ? '0' : '') + byte.toString(16), '')
const base64: Encode = (secret) => base64Of(bytesOf(secret))

/** The base64 of a secret at a byte offset, without the characters that depend on neighbouring bytes. */
const base64Behind =
  (bytesBefore: number): Encode =>
  (secret) => {
    const bytes = bytesOf(`${'\0'.repeat(bytesBefore)}${secret}`)
    return base64Of(bytes).slice(Math.ceil((bytesBefore * 8) / 6), Math.floor((bytes.length * 8) / 6))
  }

const base64Of = (bytes: Uint8Array): string =>
  btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''))

const urlSafe =
  (encode: Encode): Encode =>
  (secret) =>
    encode(secret).replaceAll('+', '-').replaceAll('/', '_')

const unpadded: Encode = (secret) => base64(secret).replace(/=+$/, '')
const inBase64: readonly Encode[] = [base64, unpadded, base64Behind(0), base64Behind(1), base64Behind(2)]

const ENCODINGS: readonly Encode[] = [
  asIs,
  json,
  // PHP's escaping.
  (secret) => json(secret).replaceAll('/', '\\/'),
  // The escaping of Python, Go and .NET.
  (secret) => json(secret).replace(/[\x7f-\uffff]/g, unicodeEscape),
  (secret) => json(secret).replace(/[<>&]/g, unicodeEscape),
  (secret) =>
    json(secret)
      .replaceAll('\\"', '\\u0022')
      .replace(/[<>&'+`\x7f-\uffff]/g, capitalUnicodeEscape),
  encodeURIComponent,
  (secret) => encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  hex,
  (secret) => hex(secret).toUpperCase(),
  ...inBase64,
  ...inBase64.map(urlSafe),
]
