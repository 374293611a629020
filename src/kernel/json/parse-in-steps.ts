import { yielding } from '../yield-to-event-loop.js'
import { moveDigits } from './digits.js'
import type { Json, JsonObject } from './json.js'
import { deeperThan, MAX_DEPTH } from './measure.js'
import { endOfString } from './number-tokens.js'
import { newWideNumbers, parseJson, parsePart } from './parse.js'
import { wellFormedOf } from './well-formed.js'

/** Limits in addition to the size: each value takes time and memory, and each member of a large object more. */
export const MOST_VALUES = 4_000_000
export const MOST_MEMBERS = 100_000

/** The text has too many values, or an object with too many members. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues'
}

/** In UTF-16 units. JSON.parse takes up to 5 ms for that much. */
const STEP = 65_536

/** What is nested deeper may be left out: it is refused, and fewer levels of it are stored. */
const MOST_LEVELS = 4 * MAX_DEPTH

/** Characters between two looks at the clock. */
const SLICE = 65_536

export interface ParsedJson {
  readonly value: Json
  /** Nested deeper than {@link MAX_DEPTH}. */
  readonly isTooDeep: boolean
}

interface Options {
  /** In UTF-16 units. */
  readonly step?: number
  /** False for what was stored before there were limits. */
  readonly isLimited?: boolean
  /** False for what keeps lone surrogates: the halves of a pair may be in two events of a stream. */
  readonly isWellFormed?: boolean
}

/**
 * As {@link parseJson}, in steps that let other work run in between, within the limits of values and members, and with
 * U+FFFD in place of lone surrogates. A container that is larger than a step is parsed in runs of its elements or
 * members.
 *
 * @throws SyntaxError, TooManyWideNumbers, TooManyValues
 */
export const parseJsonInSteps = async (
  text: string,
  { step = STEP, isLimited = true, isWellFormed = true }: Options = {},
): Promise<ParsedJson> => {
  const checked = isWellFormed ? wellFormedOf : (_: string, value: Json) => value
  if (text.length <= step) {
    const value = parseJson(text)
    return { value: checked(text, value), isTooDeep: deeperThan(value, MAX_DEPTH) }
  }
  const pause = yielding(0)
  const { root, depth } = await largeContainers(text, { step, isLimited }, pause)
  const numbers = newWideNumbers()

  const parsed = (from: number, to: number, open = '', close = ''): Json => {
    const part = open + text.slice(from, to) + close
    try {
      return checked(part, parsePart(part, numbers))
    } catch (error) {
      throw moved(error, from - open.length)
    }
  }

  const runOf = async (from: number, to: number, isList: boolean, { splits, large }: Container) => {
    const inner = large.get(from)
    if (inner === undefined) {
      if (splits.length > 0) requireContent(text, from, to)
      return (isList ? parsed(from, to, '[', ']') : parsed(from, to, '{', '}')) as
        JsonObject | readonly Json[]
    }
    requireBlank(text, inner.to + 1, to)
    if (isList) requireBlank(text, from, inner.from)
    const key = isList ? '' : keyOf(parsed(from, inner.from, '{', ' 0}'))
    const value = await build(inner)
    return isList ? [value] : { [key]: value }
  }

  const build = async (place: Container): Promise<Json> => {
    if (place.depth > MOST_LEVELS) return []
    const isList = text[place.from] === '['
    const list: Json[] = []
    const members: Record<string, Json> = {}
    const all = isList ? list : members
    let from = place.from + 1
    for (const to of [...place.splits, place.to]) {
      const run = await runOf(from, to, isList, place)
      if (isList) for (const item of run as readonly Json[]) list.push(item)
      else for (const [key, value] of Object.entries(run)) setMember(members, key, value)
      moveDigits(run, all, list.length - (Array.isArray(run) ? run.length : 0))
      from = to + 1
      await pause()
    }
    return all
  }

  const value = root === undefined ? parsed(0, text.length) : await build(root)
  return { value, isTooDeep: depth > MAX_DEPTH }
}

/** A container that is or may be larger than a step. */
interface Container {
  readonly from: number
  to: number
  /** 1 for the root. */
  readonly depth: number
  /** The commas at which its content is split. */
  readonly splits: number[]
  /** The containers larger than a step directly in it, by the index after the comma before them. */
  readonly large: Map<number, Container>
}

interface Structure {
  /** Undefined if the root is not a large container. */
  readonly root: Container | undefined
  readonly depth: number
}

/** Looks once at each character outside of strings. */
const largeContainers = async (
  text: string,
  { step, isLimited }: Required<Pick<Options, 'step' | 'isLimited'>>,
  pause: () => Promise<void> | undefined,
): Promise<Structure> => {
  const mostValues = isLimited ? MOST_VALUES : Infinity
  const mostMembers = isLimited ? MOST_MEMBERS : Infinity
  // Of the open containers. Most are small, so that only large ones become objects.
  const froms: number[] = []
  const commas: number[] = []
  const lastCommas: number[] = []
  const open: (Container | undefined)[] = []
  let depth = 0
  let deepest = 0
  let root: Container | undefined
  let end = -1
  let values = 0
  let next = SLICE

  const containerAt = (level: number): Container =>
    (open[level] ??= { from: froms[level]!, to: 0, depth: level + 1, splits: [], large: new Map() })
  const lastSplit = (level: number): number => open[level]?.splits.at(-1) ?? froms[level]!

  const opened = (at: number): void => {
    if (end >= 0) throw unexpected(at)
    values += 1
    froms[depth] = at
    commas[depth] = 0
    lastCommas[depth] = at
    open[depth] = undefined
    depth += 1
    if (depth > deepest) deepest = depth
  }
  const comma = (at: number): void => {
    const level = depth - 1
    if (level < 0) throw unexpected(at)
    values += 1
    commas[level]! += 1
    if (at - lastSplit(level) > step && level <= MOST_LEVELS) containerAt(level).splits.push(at)
    lastCommas[level] = at
  }
  const closed = (at: number, opening: number): void => {
    depth -= 1
    const from = froms[depth]
    if (depth < 0 || text.charCodeAt(from!) !== opening) throw unexpected(at)
    if (opening === OBJECT && commas[depth]! >= mostMembers) throw new TooManyValues()
    if (depth === 0) end = at
    if (at - from! <= step || depth > MOST_LEVELS) return
    const container = containerAt(depth)
    container.to = at
    if (depth === 0) root = container
    else {
      // A large container is alone between two splits. The next comma is more than a step away from this one.
      const before = lastCommas[depth - 1]!
      if (before > lastSplit(depth - 1)) containerAt(depth - 1).splits.push(before)
      containerAt(depth - 1).large.set(before + 1, container)
    }
  }

  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) at = endOfString(text, at)
    else if (unit === 0x2c) comma(at)
    else if (unit === LIST || unit === OBJECT) opened(at)
    else if (unit === 0x5d) closed(at, LIST)
    else if (unit === 0x7d) closed(at, OBJECT)
    if (at < next) continue
    next = at + SLICE
    if (values > mostValues) throw new TooManyValues()
    await pause()
  }
  if (depth > 0) throw new SyntaxError('Unexpected end of JSON input')
  if (values > mostValues) throw new TooManyValues()
  if (root !== undefined) {
    requireBlank(text, 0, root.from)
    requireBlank(text, root.to + 1, text.length)
  }
  return { root, depth: deepest }
}

const LIST = 0x5b
const OBJECT = 0x7b

/** By assignment, `__proto__` would not become a member. */
const setMember = (holder: Record<string, Json>, key: string, value: Json): void => {
  if (key === '__proto__')
    Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true })
  else holder[key] = value
}

const keyOf = (parsed: Json): string => Object.keys(parsed as object)[0]!

const BLANK = /[^ \n\r\t]/

const requireBlank = (text: string, from: number, to: number): void => {
  const at = text.slice(from, to).search(BLANK)
  if (at >= 0) throw unexpected(from + at)
}

const requireContent = (text: string, from: number, to: number): void => {
  if (!BLANK.test(text.slice(from, to))) throw unexpected(to)
}

/** As the errors of JSON.parse. */
const unexpected = (at: number): SyntaxError => new SyntaxError(`Unexpected token in JSON at position ${at}`)

/** A syntax error of a part, at its place in the whole text. */
const moved = (error: unknown, by: number): unknown => {
  // Other messages quote the text, which could look like a position.
  const found = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(error))?.[1]
  return error instanceof SyntaxError && found !== undefined ? unexpected(Number(found) + by) : error
}
