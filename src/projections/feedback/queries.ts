import { digitsIn } from '../../kernel/json/digits.js'
import type { Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operand, Operation } from '../../domain/query/expression.js'
import { fieldPath, memberAt } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/errors.js'
import { REACTION } from '../../domain/feedback/kinds.js'
import { callRef } from '../../domain/refs/ref.js'
import { compileCondition } from '../expression/compile.js'
import { pageSql, type Page } from '../expression/page.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import { ofProject, raw, select, sql, type Sql } from '../sql.js'
import { FEEDBACK_FIELDS, SELECTED, storedFeedback, withReadable, type StoredFeedback } from './columns.js'

export type { StoredFeedback } from './columns.js'

/** The feedback of a project that is visible at a position, where both are parameters. */
export const VISIBLE = `project_id = {project:String} AND given_position <= {position:UInt64}
  AND (purged_position IS NULL OR purged_position > {position:UInt64})`

/** Not on a call that is deleted at the position. Deleted calls are few: an index knows the granules without any. */
const onNoDeletedCall = (calls: string): Sql => sql`NOT (startsWith(ifNull(weave_ref, ''), ${calls})
  AND splitByChar('/', substring(assumeNotNull(weave_ref), length(${calls}) + 1))[1] IN (
    SELECT id FROM calls WHERE project_id = {project:String} AND deleted_position <= {position:UInt64}))`

interface FeedbackSelection {
  readonly projectId: string
  readonly operation: Operation | null
  readonly position: Position
}

export interface FeedbackQuery extends FeedbackSelection, Page {}

const condition = ({ projectId, operation, position }: FeedbackSelection): Sql => {
  const readable = sql`${ofProject(projectId, position)} AND ${raw(VISIBLE)} AND ${onNoDeletedCall(callRef(projectId, ''))}`
  if (operation === null) return readable
  const refs = refsIn(operation)
  // The index on references is only used for a plain condition.
  const indexed = refs === undefined ? sql`` : sql`AND weave_ref IN ${refs}`
  return sql`${readable} ${indexed} AND ${compileCondition(operation, FEEDBACK_FIELDS)}`
}

/** The references that a condition allows; undefined if it allows any. */
const refsIn = (operand: Operand): readonly string[] | undefined => {
  if ('$and' in operand) {
    for (const one of operand.$and) {
      const refs = refsIn(one)
      if (refs !== undefined) return refs
    }
  }
  const [field, values]: readonly [Operand?, (readonly Operand[])?] =
    '$eq' in operand ? [operand.$eq[0], [operand.$eq[1]]] : '$in' in operand ? operand.$in : []
  if (field === undefined || values === undefined || !('$getField' in field)) return undefined
  if (field.$getField !== 'weave_ref') return undefined
  const refs = values.flatMap((value) => ('$literal' in value ? [value.$literal] : []))
  const areTexts = refs.length === values.length && refs.every((ref) => typeof ref === 'string' && ref !== '')
  return areTexts ? (refs as readonly string[]) : undefined
}

export interface FeedbackId {
  readonly id: string
  /** Bytes of its payload, to cut pages before they are read. */
  readonly bytes: number
}

/**
 * The ids of the feedback that a query selects, in order.
 *
 * @throws UnknownField
 */
export const feedbackIds =
  (reader: ClickHouseReader) =>
  (query: FeedbackQuery): Promise<readonly FeedbackId[]> => {
    const selected = sql`WHERE ${condition(query)} ${pageSql(query, FEEDBACK_FIELDS)}`
    return select<FeedbackId>(
      reader,
      sql`${raw(withReadable(selected.text))} SELECT id, ifNull(bytes, 0) AS bytes FROM feedback FINAL
      ${selected} SETTINGS ${raw(JSON_SETTINGS)}`,
    )
  }

export const countFeedback =
  (reader: ClickHouseReader) =>
  async (selection: FeedbackSelection): Promise<number> => {
    const selected = condition(selection)
    const [row] = await select<{ total: number }>(
      reader,
      sql`${raw(withReadable(selected.text))} SELECT count() AS total FROM feedback FINAL WHERE ${selected}
      SETTINGS ${raw(JSON_SETTINGS)}`,
    )
    return row?.total ?? 0
  }

/** The given feedback as of a position, in the order of the ids. Missing feedback is omitted. */
export const feedbackById =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    ids: readonly string[],
    position: Position,
  ): Promise<readonly StoredFeedback[]> => {
    const rows = await reader.query<Record<string, string | null>>(
      `SELECT ${SELECTED} FROM feedback FINAL WHERE ${VISIBLE} AND id IN {ids:Array(String)}`,
      { project: projectId, position, ids },
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedFeedback(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

/** Bytes of payload of all feedback, by reference. */
export const feedbackBytes =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    refs: readonly string[],
    position: Position,
  ): Promise<ReadonlyMap<string, number>> => {
    const rows = await reader.query<{ ref: string; total: number }>(
      `SELECT weave_ref AS ref, sum(ifNull(bytes, 0)) AS total FROM feedback FINAL
      WHERE ${VISIBLE} AND weave_ref IN {refs:Array(String)} GROUP BY ref`,
      { project: projectId, position, refs },
    )
    return new Map(rows.map(({ ref, total }) => [ref, total]))
  }

/** All feedback by reference, in the order of creation. */
export const feedbackOn =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    refs: readonly string[],
    position: Position,
  ): Promise<ReadonlyMap<string, readonly StoredFeedback[]>> => {
    const rows = await reader.query<Record<string, string | null>>(
      `SELECT ${SELECTED} FROM feedback FINAL WHERE ${VISIBLE} AND weave_ref IN {refs:Array(String)} ORDER BY created_at, id`,
      { project: projectId, position, refs },
    )
    const byRef = new Map<string, StoredFeedback[]>()
    for (const feedback of rows.map(storedFeedback)) {
      const ref = feedback.weave_ref as string
      const known = byRef.get(ref)
      if (known === undefined) byRef.set(ref, [feedback])
      else known.push(feedback)
    }
    return byRef
  }

/**
 * Reads a dotted field of feedback as JSON text; null if it is missing.
 *
 * @throws UnknownField
 */
export const fieldPicker = (name: string): ((feedback: StoredFeedback) => string) => {
  const [root, ...path] = fieldPath(name)
  const field = Object.hasOwn(FEEDBACK_FIELDS, root) ? FEEDBACK_FIELDS[root] : undefined
  if (field === undefined || (path.length > 0 && field.kind !== 'json')) throw new UnknownField(name)
  const column = (root === 'payload_dump' ? 'payload' : root) as keyof StoredFeedback
  return (feedback) => textAt(feedback[column], path)
}

const textAt = (root: Json, path: readonly string[]): string => {
  if (path.length === 0) return jsonText(root)
  const member = memberAt(root, path)
  if (member === undefined) return 'null'
  const { holder, key } = member
  return digitsIn(holder, key) ?? jsonText(holder[key]!)
}

/** The number of items of feedback on each call of a trace that has any, by reference. */
export const feedbackCounts = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceId: string,
  position: Position,
): Promise<ReadonlyMap<string, number>> => {
  const rows = await reader.query<{ ref: string; items: string }>(
    `SELECT assumeNotNull(weave_ref) AS ref, count() AS items FROM feedback FINAL
    WHERE ${VISIBLE} AND weave_ref IS NOT NULL
      AND substring(weave_ref, {prefix:UInt64} + 1) IN (SELECT call_id FROM usage_facts
        WHERE project_id = {project:String} AND trace_id = {trace:String})
    GROUP BY ref`,
    { project: projectId, trace: traceId, position, prefix: callRef(projectId, '').length },
  )
  return new Map(rows.map(({ ref, items }) => [ref, Number(items)]))
}

/** Kinds of feedback on a call beyond this number are left out. */
const MAX_KINDS = 20

/** The number of items of feedback on each of some calls, by call, then by emoji or else by type, the most first. */
export const feedbackKinds = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  callIds: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, Readonly<Record<string, number>>>> => {
  if (callIds.length === 0) return new Map()
  const callOf = new Map(callIds.map((id) => [callRef(projectId, id), id]))
  const rows = await reader.query<{ ref: string; kind: string; items: string }>(
    `SELECT assumeNotNull(weave_ref) AS ref, count() AS items,
      if(feedback_type = '${REACTION}', JSONExtractString(assumeNotNull(payload), 'emoji'), assumeNotNull(feedback_type)) AS kind
    FROM feedback FINAL WHERE ${VISIBLE} AND weave_ref IN {refs:Array(String)}
    GROUP BY ref, kind ORDER BY items DESC, kind LIMIT ${MAX_KINDS} BY ref`,
    { project: projectId, position, refs: [...callOf.keys()] },
  )
  const kinds = new Map<string, [string, number][]>()
  for (const { ref, kind, items } of rows) {
    const id = callOf.get(ref)!
    kinds.set(id, [...(kinds.get(id) ?? []), [kind, Number(items)]])
  }
  return new Map([...kinds].map(([id, entries]) => [id, Object.fromEntries(entries)]))
}
