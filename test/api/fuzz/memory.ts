import { isJsonObject, type Json, type JsonObject } from '../../../src/kernel/json/json.js'
import { HOME } from './places.js'

/** Stands for a string that an answer to an earlier request holds; which one is found when it is sent. */
export class Remembered {
  constructor(
    readonly area: string,
    readonly kinds: readonly string[],
    readonly pick: number,
    readonly otherwise: unknown,
  ) {}
}

/** The area of a path template. */
export type AreaOf = (template: string) => string

/** Strings of answers, by the area of the operation and by the key they stood under. */
export interface Memory {
  readonly remember: (area: string, answer: Json) => void
  /** The same value with all that is to be remembered in its place. */
  readonly recalled: (value: unknown) => unknown
}

const MOST = 60
const KINDS = new Set([
  'id',
  'trace_id',
  'thread_id',
  'op_name',
  'digest',
  'row_digests',
  'updated_row_digests',
  'object_id',
  'weave_ref',
  'tags',
  'aliases',
  'user',
  'api_key',
  'name',
  'next',
  'project_id',
  'base_object_class',
  'version',
  'evaluation_run_id',
  'prediction_id',
  'score_id',
  'call_id',
  'queue_id',
  'item_id',
])

/** `kept` are strings that no request may name: what the requests themselves depend on. */
export const newMemory = (kept: ReadonlySet<string>): Memory => {
  const strings = new Map<string, string[]>()
  let turn = 0

  const keep = (area: string, kind: string, text: string): void => {
    if (kept.has(text) || text.length > 500) return
    for (const key of [`${area} ${kind}`, kind]) {
      const known = strings.get(key) ?? []
      if (known.length < MOST) strings.set(key, [...known, text])
      // The first of all are those that were made on purpose, before the requests.
      else known[MOST / 3 + (turn++ % ((MOST * 2) / 3))] = text
    }
  }

  const remember = (area: string, answer: Json, kind = ''): void => {
    if (typeof answer === 'string' && KINDS.has(kind)) keep(area, kind, answer)
    else if (Array.isArray(answer)) for (const item of answer.slice(0, 5)) remember(area, item as Json, kind)
    else if (isJsonObject(answer)) {
      for (const ref of refsTo(answer)) keep(area, 'ref', ref)
      for (const [key, member] of Object.entries(answer)) remember(area, member, key)
    }
  }

  const recalled = (value: unknown): unknown => {
    if (value instanceof Remembered) {
      const { area, kinds, pick, otherwise } = value
      const known = kinds.flatMap((kind) => strings.get(`${area} ${kind}`) ?? strings.get(kind) ?? [])
      return known.length === 0 ? otherwise : known[pick % known.length]
    }
    if (Array.isArray(value)) return value.map(recalled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, recalled(member)]))
  }

  return { remember, recalled }
}

/** References to what an answer describes; those to other projects are refused nearly everywhere. */
const refsTo = ({ project_id, object_id, digest, id, op_name }: JsonObject): readonly string[] => {
  if (project_id !== HOME) return []
  if (typeof object_id === 'string' && typeof digest === 'string')
    return [`weave:///${project_id}/object/${object_id}:${digest}`]
  return typeof id === 'string' && typeof op_name === 'string' ? [`weave:///${project_id}/call/${id}`] : []
}
