import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Narrowing } from './narrowing.js'
import { READABLE_OF_THE_START } from './of-the-start.js'
import { opsMeantBy } from './op-names.js'

/** Which calls are meant: keys are AND-ed, the values of one key OR-ed, an empty list says nothing. */
export interface CallsFilter {
  readonly op_names: readonly string[] | null
  readonly input_refs: readonly string[] | null
  readonly output_refs: readonly string[] | null
  readonly parent_ids: readonly string[] | null
  readonly trace_ids: readonly string[] | null
  readonly call_ids: readonly string[] | null
  readonly thread_ids: readonly string[] | null
  readonly turn_ids: readonly string[] | null
  readonly trace_roots_only: boolean | null
  readonly wb_user_ids: readonly string[] | null
  readonly wb_run_ids: readonly string[] | null
}

export const NO_FILTER: CallsFilter = {
  op_names: null,
  input_refs: null,
  output_refs: null,
  parent_ids: null,
  trace_ids: null,
  call_ids: null,
  thread_ids: null,
  turn_ids: null,
  trace_roots_only: null,
  wb_user_ids: null,
  wb_run_ids: null,
}

export interface Condition {
  readonly sql: string
  readonly parameters: Readonly<Record<string, SqlParameter>>
}

/**
 * The calls of a project that can be seen at a position and that a filter selects; none but those with one of some
 * values, where a narrowing knows that no others are meant, and none without a start that meets a condition.
 */
export const condition = (
  projectId: string,
  filter: CallsFilter | null,
  position: Position,
  narrowed: Narrowing = {},
  ofStarts?: string,
): Condition => {
  const conditions = [
    'project_id = {project:String}',
    'started_position <= {position:UInt64}',
    '(deleted_position IS NULL OR deleted_position > {position:UInt64})',
  ]
  const found: string[] = []
  const parameters: Record<string, SqlParameter> = { project: projectId, position }
  const listed = (name: string, values: readonly string[]): string => {
    parameters[name] = values
    return `{${name}:Array(String)}`
  }
  const given = (name: keyof CallsFilter, sql: (list: string) => string, values = filter?.[name] ?? null) => {
    if (Array.isArray(values) && values.length > 0) conditions.push(sql(listed(name, values as string[])))
  }
  const indexed = (name: keyof CallsFilter, column: string) =>
    given(name, (list) => {
      found.push(`${column} IN ${list}`)
      return `${column} IN ${list}`
    })

  given('call_ids', (list) => `id IN ${list}`)
  indexed('trace_ids', 'trace_id')
  indexed('parent_ids', 'parent_id')
  given('thread_ids', (list) => `thread_id IN ${list}`)
  given('turn_ids', (list) => `turn_id IN ${list}`)
  given('wb_user_ids', (list) => `wb_user_id IN ${list}`)
  given('wb_run_ids', (list) => `wb_run_id IN ${list}`, qualified(projectId, filter?.wb_run_ids ?? null))
  given('op_names', filter?.op_names?.some((name) => name.endsWith(':*')) === true ? matchesOp : isOp)
  given('input_refs', (list) => containsRef('input_refs', list))
  given(
    'output_refs',
    (list) => `ended_position <= {position:UInt64} AND (${containsRef('output_refs', list)})`,
  )
  if (filter?.trace_roots_only === true) conditions.push('parent_id IS NULL')

  const ops = opsMeantBy(filter?.op_names ?? [])
  if (ops !== undefined && ops.length > 0) found.push(`op IN ${listed('ops', ops)}`)
  if (narrowed.id !== undefined) conditions.push(`id IN ${listed('narrowed_ids', narrowed.id)}`)
  for (const column of ['trace_id', 'parent_id', 'op_name'] as const) {
    const values = narrowed[column]
    if (values !== undefined) found.push(`${column} IN ${listed(`narrowed_${column}s`, values)}`)
  }
  if (found.length > 0 || ofStarts !== undefined) conditions.push(`id IN (${idsOfRows(found, ofStarts)})`)
  return { sql: conditions.map((one) => `(${one})`).join(' AND '), parameters }
}

/** Ids of calls by their single rows, which are not yet put together. */
const idsOfRows = (found: readonly string[], ofStarts: string | undefined): string => {
  const rows = `FROM calls WHERE ${['project_id = {project:String}', ...found].join(' AND ')}`
  return ofStarts === undefined
    ? `SELECT id ${rows}`
    : `${READABLE_OF_THE_START} SELECT id ${rows} AND ${ofStarts}`
}

/** A run is named bare or as `entity/project/run`: both forms of each value are looked for. */
const qualified = (projectId: string, runs: readonly string[] | null): readonly string[] | null =>
  runs?.flatMap((run) => {
    const prefix = `${projectId}/`
    return run.startsWith(prefix)
      ? [run, run.slice(prefix.length)]
      : run.includes('/')
        ? [run]
        : [run, prefix + run]
  }) ?? null

/** The whole name or reference, or the name inside a reference. */
const isOp = (list: string): string => `op_name IN ${list} OR op IN ${list}`

/** The same, or every version of one (`…:*`). */
const matchesOp = (list: string): string =>
  `${isOp(list)}
    OR arrayExists(o -> endsWith(o, ':*') AND startsWith(assumeNotNull(op_name), substring(o, 1, length(o) - 1)), ${list})`

/** Refs lie one a line; `…:*` means every version. */
const containsRef = (column: string, list: string): string =>
  `arrayExists(
    r -> position(assumeNotNull(${column}),
      concat('\\n', if(endsWith(r, ':*'), substring(r, 1, length(r) - 1), concat(r, '\\n')))) > 0,
    ${list})`
