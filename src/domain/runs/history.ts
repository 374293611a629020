import type { Json } from '../../kernel/json/json.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH as MOST_LEVELS } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'

/** A line of a run's history. */
export interface HistoryLine {
  readonly text: string
  readonly step: number | null
}

/** Lines that are logged in one event. */
export interface HistoryPart {
  readonly offset: number
  readonly lines: readonly HistoryLine[]
}

/** In UTF-16 code units. A part is read as a whole, so a page of steps costs no more than one part. */
const PART_LENGTH = 524_288
const EMPTY = '{}'

/** A line with its step. What is no JSON object is an empty line, because lines are identified by their numbers. */
export const historyLine = (text: string): HistoryLine => {
  const row = rowOf(text)
  if (row === undefined) return { text: EMPTY, step: null }
  const step = row['_step']
  return { text, step: Number.isSafeInteger(step) ? (step as number) : null }
}

/** Each level of a JSON text takes two brackets. */
const SURELY_FLAT = 2 * MOST_LEVELS

/**
 * The row in a line; undefined if it is no JSON object, or nested deeper than any other JSON of the service. `NaN` and
 * infinities become texts.
 */
export const rowOf = (text: string): Readonly<Record<string, Json>> | undefined => {
  try {
    const row = parseJson(text)
    if (!isJsonObject(row)) return undefined
    return text.length > SURELY_FLAT && deeperThan(row, MOST_LEVELS) ? undefined : row
  } catch {
    return undefined
  }
}

/** Splits lines into parts of limited size, of at least one line each. */
export const partsOf = (offset: number, lines: readonly HistoryLine[]): readonly HistoryPart[] => {
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
