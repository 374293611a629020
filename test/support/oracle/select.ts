import { stringsIn } from './json.js'
import type { Filter } from './operations.js'
import { text } from './record.js'
import type { Started } from './started.js'

/** The calls filter: keys are AND-ed, the values of one key OR-ed, an empty list asks nothing. */
export const selects = (filter: Filter, call: Started): boolean =>
  oneOf(filter.call_ids, call.id) &&
  oneOf(filter.trace_ids, call.traceId) &&
  oneOf(filter.parent_ids, call.parentId) &&
  oneOf(filter.thread_ids, text(call.start.thread_id)) &&
  oneOf(filter.turn_ids, text(call.start.turn_id)) &&
  some(filter.op_names, (wanted) => namesOp(wanted, call.start.op_name)) &&
  some(filter.input_refs, (wanted) => holdsRef(wanted, stringsIn(call.start.inputs))) &&
  some(filter.output_refs, (wanted) => holdsRef(wanted, stringsIn(call.end?.output))) &&
  some(filter.wb_run_ids, (wanted) => sameRun(wanted, text(call.start.wb_run_id), call.start.project_id)) &&
  (filter.trace_roots_only !== true || call.parentId === null)

const some = (
  values: ReadonlyArray<string> | null | undefined,
  matches: (value: string) => boolean,
): boolean => values == null || values.length === 0 || values.some(matches)

const oneOf = (values: ReadonlyArray<string> | null | undefined, actual: string | null): boolean =>
  some(values, (value) => value === actual)

/** `…:*` is every version; without it a full reference or the plain name within one. */
const namesOp = (wanted: string, opName: string): boolean =>
  wanted.endsWith(':*')
    ? opName.startsWith(wanted.slice(0, -1))
    : wanted === opName || wanted === nameInRef(opName)

const nameInRef = (opName: string): string | undefined =>
  /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^:/]+):[^:/]+$/u.exec(opName)?.[1]

const holdsRef = (wanted: string, strings: ReadonlyArray<string>): boolean =>
  strings
    .filter((ref) => ref.startsWith('weave:///'))
    .some((ref) => (wanted.endsWith(':*') ? ref.startsWith(wanted.slice(0, -1)) : ref === wanted))

const sameRun = (wanted: string, runId: string | null, projectId: string): boolean =>
  runId !== null && qualified(wanted, projectId) === qualified(runId, projectId)

const qualified = (runId: string, projectId: string): string =>
  runId.includes('/') ? runId : `${projectId}/${runId}`
