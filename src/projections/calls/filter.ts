import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'

/** Which calls are meant (spec 2.3): keys are AND-ed, the values of one key OR-ed, an empty list says nothing. */
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

/** The calls of a project that can be seen at a position and that a filter selects. */
export const condition = (projectId: string, filter: CallsFilter | null, position: Position): Condition => {
  const conditions = [
    'project_id = {project:String}',
    'started_position <= {position:UInt64}',
    '(deleted_position IS NULL OR deleted_position > {position:UInt64})',
  ]
  const parameters: Record<string, SqlParameter> = { project: projectId, position }
  const given = (name: string, values: readonly string[] | null, sql: (list: string) => string): void => {
    if (values === null || values.length === 0) return
    parameters[name] = values
    conditions.push(sql(`{${name}:Array(String)}`))
  }

  given('call_ids', filter?.call_ids ?? null, (list) => `id IN ${list}`)
  given('trace_ids', filter?.trace_ids ?? null, (list) => `trace_id IN ${list}`)
  given('parent_ids', filter?.parent_ids ?? null, (list) => `parent_id IN ${list}`)
  given('thread_ids', filter?.thread_ids ?? null, (list) => `thread_id IN ${list}`)
  given('turn_ids', filter?.turn_ids ?? null, (list) => `turn_id IN ${list}`)
  given('wb_user_ids', filter?.wb_user_ids ?? null, (list) => `wb_user_id IN ${list}`)
  given('wb_run_ids', qualified(projectId, filter?.wb_run_ids ?? null), (list) => `wb_run_id IN ${list}`)
  given('op_names', filter?.op_names ?? null, matchesOp)
  given('input_refs', filter?.input_refs ?? null, (list) => containsRef('input_refs', list))
  given(
    'output_refs',
    filter?.output_refs ?? null,
    (list) => `ended_position <= {position:UInt64} AND (${containsRef('output_refs', list)})`,
  )
  if (filter?.trace_roots_only === true) conditions.push('parent_id IS NULL')
  return { sql: conditions.map((one) => `(${one})`).join(' AND '), parameters }
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

/** The whole name or reference, the name inside a reference, or every version of one (`…:*`). */
const matchesOp = (list: string): string =>
  `op_name IN ${list}
    OR nullIf(extract(assumeNotNull(op_name), '^[a-z-]+:///[^/]+/[^/]+/op/([^:]+):'), '') IN ${list}
    OR arrayExists(o -> endsWith(o, ':*') AND startsWith(assumeNotNull(op_name), substring(o, 1, length(o) - 1)), ${list})`

/** Refs lie one a line; `…:*` means every version. */
const containsRef = (column: string, list: string): string =>
  `arrayExists(
    r -> position(assumeNotNull(${column}),
      concat('\\n', if(endsWith(r, ':*'), substring(r, 1, length(r) - 1), concat(r, '\\n')))) > 0,
    ${list})`
