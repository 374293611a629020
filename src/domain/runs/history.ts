import { canonicalJson } from '../../kernel/json/canonical.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH as MOST_LEVELS } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { parseJsonInSteps } from '../../kernel/json/parse-in-steps.js'

/** A line of a run's history. */
export interface HistoryLine {
  readonly text: string
  /** Its `_step`; null unless that is an integer of at least 0. */
  readonly step: number | null
  /** Its `_timestamp`, if that is a number. */
  readonly time: number | null
}

/** Lines that are logged in one event. */
export interface HistoryPart {
  readonly offset: number
  readonly lines: readonly HistoryLine[]
}

/** Lines of one writer, which is null where the client names none. */
export interface WrittenLines extends HistoryPart {
  readonly writer: string | null
}

/** In UTF-16 code units. A part is read as a whole, so a page of steps costs no more than one part. */
const PART_LENGTH = 524_288
const EMPTY = '{}'

/** A line with its step. What is no JSON object is an empty line, because lines are identified by their numbers. */
export const historyLine = (text: string): HistoryLine => lineOf(text, rowOf(text))

/** As {@link historyLine}, in steps that let other work run in between: a line may have megabytes. */
export const historyLineInSteps = async (text: string): Promise<HistoryLine> =>
  lineOf(text, await rowInSteps(text))

const lineOf = (text: string, row: JsonObject | undefined): HistoryLine => {
  if (row === undefined) return { text: EMPTY, step: null, time: null }
  const time = row['_timestamp']
  return { text, step: stepIn(row['_step']), time: typeof time === 'number' ? time : null }
}

export const stepIn = (value: Json | undefined): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null

/** The least and the greatest of some numbers; null if all are null. */
export const rangeOf = (values: Iterable<number | null>): readonly [number, number] | null => {
  let [min, max] = [Infinity, -Infinity]
  for (const value of values) {
    if (value === null) continue
    if (value < min) min = value
    if (value > max) max = value
  }
  return min > max ? null : [min, max]
}

/** Each level of a JSON text takes two brackets. */
const SURELY_FLAT = 2 * MOST_LEVELS

/**
 * The row in a line; undefined if it is no JSON object, or nested deeper than any other JSON of the service. `NaN` and
 * infinities become texts.
 */
export const rowOf = (text: string): JsonObject | undefined => {
  try {
    const row = parseJson(text)
    if (!isJsonObject(row)) return undefined
    return text.length > SURELY_FLAT && deeperThan(row, MOST_LEVELS) ? undefined : row
  } catch {
    return undefined
  }
}

/** As {@link rowOf}, in steps. */
export const rowInSteps = async (text: string): Promise<JsonObject | undefined> => {
  try {
    const { value, isTooDeep } = await parseJsonInSteps(text, { isLimited: false, isWellFormed: false })
    return isTooDeep || !isJsonObject(value) ? undefined : value
  } catch {
    return undefined
  }
}

/**
 * The parts of sent lines that are not logged yet. A line is logged if its writer has the same text under its number, or
 * if an equal row with a time is there: who synchronises a folder again sends its rows under other numbers. Writers that
 * are both named have rows of their own.
 */
export const newParts = (
  { offset, lines, writer }: WrittenLines,
  logged: readonly WrittenLines[],
  isReplacing = false,
): readonly HistoryPart[] => {
  const timed = new Map<number, Rows>()
  const addTimed = ({ time, text }: HistoryLine) => {
    if (time === null) return
    const known = timed.get(time) ?? new Rows()
    timed.set(time, known)
    known.add(text)
  }
  for (const one of logged) if (mayShareRows(one.writer, writer)) one.lines.forEach(addTimed)
  const textsAt = new Map<number, string[]>()
  for (const one of logged)
    if (one.writer === writer)
      for (const [at, { text }] of one.lines.entries()) {
        const number = one.offset + at
        if (number < offset || number >= offset + lines.length) continue
        const texts = textsAt.get(number)
        if (texts === undefined || isReplacing) textsAt.set(number, [text])
        else texts.push(text)
      }
  const isLogged = (line: HistoryLine, number: number) =>
    textsAt.get(number)?.includes(line.text) === true ||
    (line.time !== null && timed.get(line.time)?.has(line.text) === true)
  const parts: HistoryPart[] = []
  let from = 0
  for (const [at, line] of lines.entries()) {
    if (!isLogged(line, offset + at)) {
      addTimed(line)
      continue
    }
    parts.push(...partsOf(offset + from, lines.slice(from, at)))
    from = at + 1
  }
  return [...parts, ...partsOf(offset + from, lines.slice(from))]
}

export const mayShareRows = (a: string | null, b: string | null): boolean =>
  a === b || a === null || b === null

/** Rows by their members in any order. Each text is parsed once at most: a program may log many rows of one time. */
class Rows {
  private readonly texts = new Set<string>()
  private readonly canonical = new Set<string>()
  private unparsed: string[] = []

  add(text: string): void {
    this.texts.add(text)
    this.unparsed.push(text)
  }

  has(text: string): boolean {
    if (this.texts.has(text)) return true
    for (const one of this.unparsed) this.canonical.add(canonicalJson(parseJson(one)))
    this.unparsed = []
    return this.canonical.has(canonicalJson(parseJson(text)))
  }
}

/** Splits lines into parts of limited size, of at least one line each. */
const partsOf = (offset: number, lines: readonly HistoryLine[]): readonly HistoryPart[] => {
  const parts: HistoryPart[] = []
  let from = 0
  let length = 0
  for (const [at, { text }] of lines.entries()) {
    if (at > from && length + text.length > PART_LENGTH) {
      parts.push({ offset: offset + from, lines: lines.slice(from, at) })
      from = at
      length = 0
    }
    length += text.length
  }
  if (from < lines.length) parts.push({ offset: offset + from, lines: lines.slice(from) })
  return parts
}

const MAX_DEPTH = 8

/**
 * The finite numbers of a row by name, those of nested objects as `a.b`. Left out are names that begin with `_`, which
 * are the client's own, and media.
 */
export const numbersOfRow = (row: Readonly<Record<string, Json>>): Readonly<Record<string, number>> => {
  const found: [string, number][] = []
  const add = (object: Readonly<Record<string, Json>>, prefix: string, depth: number) => {
    for (const [key, value] of Object.entries(object)) {
      if (key.startsWith('_')) continue
      if (typeof value === 'number') {
        if (Number.isFinite(value)) found.push([prefix + key, value])
      } else if (isJsonObject(value) && !('_type' in value) && depth < MAX_DEPTH)
        add(value, `${prefix}${key}.`, depth + 1)
    }
  }
  add(row, '', 0)
  return Object.fromEntries(found)
}
