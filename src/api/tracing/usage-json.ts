import type { Answered } from '../../projections/usage/queries.js'

const COUNTERS = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]
const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
]

const CHUNK_BYTES = 256 * 1024

/** One entry more than a full chunk usually fits without growing. */
const SLACK_BYTES = 8 * 1024

/** Up to this length a loop is faster than a call. */
const SHORT = 32
const bytes = (text: string) => Buffer.from(text)

const NAMES = COUNTERS.map((name, i) => bytes(`${i === 0 ? '' : ','}"${name}":`))
const AFTER = bytes(COSTS.map((name) => `,"${name}":null`).join('') + '}')
/** The end of most entries: neither cache counter has anything to say. */
const NO_CACHE_AFTER = Buffer.concat([NAMES[4]!, bytes('0'), NAMES[5]!, bytes('0'), AFTER])
const [QUOTE, BACKSLASH, COMMA, MINUS, ZERO] = [34, 92, 44, 45, 48]

/**
 * The usage response (spec 2.5) as bytes, chunk by chunk as they are asked for: the answer for a large trace is never
 * in memory as a whole, nor as objects.
 */
export function* usageJson(answers: readonly Answered[], others: readonly string[] = []): Generator<Buffer> {
  const out = new Chunk()
  out.text('{"call_usage":{')
  let first = true
  for (const answer of answers) {
    const models = answer.models.map((model) => bytes(`${JSON.stringify(model)}:{`))
    for (let call = 0; call < answer.size; call += 1) {
      if (!first) out.byte(COMMA)
      first = false
      writeCall(out, answer, models, call)
      if (out.isFull()) yield out.take()
    }
  }
  for (const id of others) {
    out.text(`${first ? '' : ','}${JSON.stringify(id)}:{}`)
    first = false
    if (out.isFull()) yield out.take()
  }
  out.text('},"unfinished_call_ids":[')
  let separator = ''
  for (const id of unfinishedIds(answers)) {
    out.text(`${separator}${JSON.stringify(id)}`)
    separator = ','
    if (out.isFull()) yield out.take()
  }
  out.text(']}')
  yield out.take()
}

const unfinishedIds = (answers: readonly Answered[]): readonly string[] =>
  answers
    .flatMap(({ size, ids, isUnfinished }) => {
      const found: string[] = []
      for (let call = 0; call < size; call += 1)
        if (isUnfinished[call] === 1)
          found.push(
            Buffer.from(ids.bytes.subarray(ids.offsets[call], ids.offsets[call + 1])).toString('utf8'),
          )
      return found
    })
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

const writeCall = (
  out: Chunk,
  { ids, inclusive: { set, sets, offsets, values } }: Answered,
  models: readonly Buffer[],
  call: number,
): void => {
  out.byte(QUOTE)
  out.escaped(ids.bytes, ids.offsets[call]!, ids.offsets[call + 1]!)
  out.text('":{')
  let at = offsets[call]! * NAMES.length
  let isFirst = true
  for (const model of sets.models(set[call]!)) {
    if (!isFirst) out.byte(COMMA)
    isFirst = false
    out.copy(models[model]!)
    for (let k = 0; k < 4; k += 1) {
      out.copy(NAMES[k]!)
      out.integer(values[at + k]!)
    }
    if (values[at + 4] === 0 && values[at + 5] === 0) out.copy(NO_CACHE_AFTER)
    else {
      out.copy(NAMES[4]!)
      out.integer(values[at + 4]!)
      out.copy(NAMES[5]!)
      out.integer(values[at + 5]!)
      out.copy(AFTER)
    }
    at += NAMES.length
  }
  out.text('}')
}

/** Bytes being written, handed over when there are enough of them. */
class Chunk {
  #bytes = Buffer.allocUnsafe(CHUNK_BYTES + SLACK_BYTES)
  #at = 0

  isFull(): boolean {
    return this.#at >= CHUNK_BYTES
  }

  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at)
    this.#bytes = Buffer.allocUnsafe(CHUNK_BYTES + SLACK_BYTES)
    this.#at = 0
    return taken
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  copy(from: Uint8Array): void {
    this.#reserve(from.length)
    if (from.length > SHORT) this.#bytes.set(from, this.#at)
    else for (let i = 0; i < from.length; i += 1) this.#bytes[this.#at + i] = from[i]!
    this.#at += from.length
  }

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.#at += this.#bytes.write(text, this.#at)
  }

  /** Ids have no control characters: only quotes and backslashes need escaping. */
  escaped(from: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * 2)
    const out = this.#bytes
    let at = this.#at
    for (let i = start; i < end; i += 1) {
      const byte = from[i]!
      if (byte === QUOTE || byte === BACKSLASH) out[at++] = BACKSLASH
      out[at++] = byte
    }
    this.#at = at
  }

  integer(value: number): void {
    this.#reserve(24)
    if (value < 0) {
      this.#bytes[this.#at++] = MINUS
      this.integer(-value)
      return
    }
    if (value >= 1e9) {
      this.#at += this.#bytes.write(String(value), this.#at)
      return
    }
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits += 1
    let rest = value | 0
    for (let i = this.#at + digits - 1; i >= this.#at; i -= 1) {
      const quotient = (rest / 10) | 0
      this.#bytes[i] = ZERO + rest - quotient * 10
      rest = quotient
    }
    this.#at += digits
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
