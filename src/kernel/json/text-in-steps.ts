import { yielding } from '../yield-to-event-loop.js'
import { canonicalJson } from './canonical.js'
import { digitsIn, exactDigitsIn, hasDigits } from './digits.js'
import { isJsonObject, type Json, type JsonObject } from './json.js'
import { jsonText } from './text.js'

/** In values; 16 characters of a string count as one. JSON.stringify takes up to 5 ms for that much. */
const STEP = 16_384

const CHARACTERS_PER_VALUE = 16

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

export interface TextForm {
  /** Of a value that is small. */
  readonly text: (value: Json) => string
  readonly digits: (holder: object, key: string | number) => string | undefined
  readonly keys: (value: JsonObject) => readonly string[]
  readonly label: (key: string) => string
  readonly comma: string
  /** The text of a list of strings, numbers and literals, without its brackets. */
  readonly leaves: (items: readonly Json[]) => string
  /** A function that writes slices of a long string, without its quotes. No slice ends within a surrogate pair. */
  readonly sliced: (text: string) => { readonly replaced: string; readonly write: (slice: string) => string }
}

const MINIMAL = {
  label: (key: string) => `${JSON.stringify(key)}:`,
  comma: ',',
  leaves: (items: readonly Json[]) => JSON.stringify(items).slice(1, -1),
  sliced: (text: string) => ({
    replaced: text,
    write: (slice: string) => JSON.stringify(slice).slice(1, -1),
  }),
}

const AS_IT_IS: TextForm = {
  ...MINIMAL,
  text: jsonText,
  digits: digitsIn,
  keys: (value) => Object.keys(value),
}
const CANONICAL: TextForm = {
  ...MINIMAL,
  text: canonicalJson,
  digits: exactDigitsIn,
  keys: (value) => Object.keys(value).sort(),
}

/** As {@link jsonText}, in steps that let other work run in between. */
export const jsonTextInSteps = (value: Json, step = STEP): Promise<string> =>
  textInSteps(value, AS_IT_IS, step)

/** As {@link canonicalJson}, in steps that let other work run in between. */
export const canonicalJsonInSteps = (value: Json, step = STEP): Promise<string> =>
  textInSteps(value, CANONICAL, step)

/** The text of a value in a form, in steps. */
export const textInSteps = async (root: Json, form: TextForm, step = STEP): Promise<string> => {
  const pause = yielding()
  const characters = step * CHARACTERS_PER_VALUE
  const pieces: string[] = []
  /** Reading a character makes V8 copy the parts of a concatenated text now, not those of all pieces at the end. */
  const add = (...texts: readonly string[]) => {
    for (const text of texts) if (!Number.isNaN(text.charCodeAt(0))) pieces.push(text)
  }

  const writeLong = async (text: string) => {
    const { replaced, write } = form.sliced(text)
    add('"')
    for (let from = 0; from < replaced.length;) {
      const to = from + characters
      const end = isHighSurrogate(replaced.charCodeAt(to - 1)) ? to + 1 : to
      add(write(replaced.slice(from, end)))
      from = end
      await pause()
    }
    add('"')
  }

  const write = async (value: Json): Promise<void> => {
    if (typeof value === 'string' && value.length > characters) return writeLong(value)
    if (typeof value !== 'object' || value === null || weight(value, step) <= step) {
      add(form.text(value))
      return
    }
    const container = itemsOf(value, form)
    const { length, itemAt, label } = container
    add(isJsonObject(value) ? '{' : '[')
    let from = 0
    let taken = 0
    for (let at = 0; at < length; at += 1) {
      const own = weight(itemAt(at), step)
      taken += own
      if (taken <= step) continue
      if (from < at) add(from > 0 ? form.comma : '', container.run(from, at))
      from = at
      taken = own
      if (own > step) {
        add(at > 0 ? form.comma : '', label(at))
        await write(itemAt(at))
        from = at + 1
        taken = 0
      }
      await pause()
    }
    if (from < length) add(from > 0 ? form.comma : '', container.run(from, length))
    add(isJsonObject(value) ? '}' : ']')
  }

  await write(root)
  return pieces.join('')
}

interface Items {
  readonly length: number
  readonly itemAt: (at: number) => Json
  /** What is written before the item. */
  readonly label: (at: number) => string
  /** The text of some items, with commas in between. */
  readonly run: (from: number, to: number) => string
}

const itemsOf = (value: JsonObject | readonly Json[], form: TextForm): Items => {
  const holder = value as Readonly<Record<string | number, Json>>
  const keys = isJsonObject(value) ? form.keys(value) : undefined
  const keyAt = (at: number) => keys?.[at] ?? at
  const itemAt = (at: number) => holder[keyAt(at)]!
  const label = (at: number) => (keys === undefined ? '' : form.label(keys[at]!))
  const run = (from: number, to: number): string => {
    if (keys === undefined && !hasDigits(value)) {
      const items = (value as readonly Json[]).slice(from, to)
      if (items.every((item) => typeof item !== 'object')) return form.leaves(items)
    }
    let text = ''
    for (let at = from; at < to; at += 1)
      text +=
        (at > from ? form.comma : '') + label(at) + (form.digits(value, keyAt(at)) ?? form.text(itemAt(at)))
    return text
  }
  return { length: keys?.length ?? (value as readonly Json[]).length, itemAt, label, run }
}

/** Stops above `most`. */
const weight = (value: Json, most: number): number => {
  if (typeof value === 'string') return 1 + (value.length >> 4)
  if (typeof value !== 'object' || value === null) return 1
  let sum = 1
  if (!isJsonObject(value)) {
    for (const item of value) if ((sum += weight(item, most - sum)) > most) break
    return sum
  }
  for (const key in value) if ((sum += 1 + (key.length >> 4) + weight(value[key]!, most - sum)) > most) break
  return sum
}
