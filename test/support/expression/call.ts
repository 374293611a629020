import type { JsonObject } from '../../../src/kernel/json/json.js'
import { selects } from '../oracle/select.js'
import type { Filter } from '../oracle/operations.js'
import type { Started } from '../oracle/started.js'
import { byCodePoints, leafAt, partsOf, type Meaning, type Single, type Value } from './evaluate.js'

/** A call and what happened to it, each at its log position; times are microseconds since 1970. */
export interface Call {
  readonly project_id: string
  readonly id: string
  readonly op_name: string
  readonly display_name: string | null
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly wb_user_id: string | null
  readonly wb_run_id: string | null
  readonly wb_run_step: number | null
  readonly at: number
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly started: number
  readonly end: End | null
  readonly renamed: { readonly position: number; readonly name: string } | null
  readonly deleted: number | null
  readonly feedback: readonly Feedback[]
}

interface End {
  readonly position: number
  readonly at: number
  readonly exception: string | null
  readonly output: JsonObject | string | null
  readonly summary: JsonObject
}

export interface Feedback {
  readonly id: string
  readonly type: string
  readonly creator: string | null
  readonly at: number
  readonly payload: JsonObject
  readonly position: number
  readonly purged: number | null
}

export const isThere = ({ started, deleted }: Call, position: number): boolean =>
  started <= position && (deleted === null || deleted > position)

export const isSelected = (filter: Filter, call: Call, position: number): boolean =>
  selects(filter, {
    id: call.id,
    traceId: call.trace_id,
    parentId: call.parent_id,
    start: call,
    end: endAt(call, position) ?? undefined,
  } as unknown as Started)

const endAt = ({ end }: Call, position: number): End | null =>
  end !== null && end.position <= position ? end : null

const nameAt = ({ renamed, display_name }: Call, position: number): string | null =>
  renamed !== null && renamed.position <= position ? renamed.name : display_name

const REFS = /^[a-z-]+:\/\/\/./

const refsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return REFS.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap(refsIn))]
}

const bytesOf = (call: Call, position: number): number => {
  const end = endAt(call, position)
  const length = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const ofEnd =
    end === null ? 0 : length(end.output) + length(end.summary) + Buffer.byteLength(end.exception ?? '')
  return length(call.inputs) + length(call.attributes) + ofEnd
}

const nameOfOp = (op: string): string => /^[a-z-]+:\/\/\/[^/]+\/[^/]+\/op\/([^:]+):/.exec(op)?.[1] ?? op

const statusOf = (end: End | null): string => {
  if (end?.exception != null) return 'error'
  if (end === null) return 'running'
  const counts = leafAt(end.summary, ['status_counts', 'error'])
  const isAny = counts !== null && 'leaf' in counts && typeof counts.leaf === 'number' && counts.leaf > 0
  return isAny ? 'descendant_error' : 'success'
}

const text = (value: string | null): Single => (value === null ? null : { text: value })
const number = (value: number | null): Single => (value === null ? null : { number: value })
const instant = (value: number | null | undefined): Single => (value == null ? null : { instant: value })

const KINDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'project_id',
      'id',
      'trace_id',
      'parent_id',
      'thread_id',
      'turn_id',
      'op_name',
      'display_name',
      'exception',
      'wb_user_id',
      'wb_run_id',
      'summary.weave.status',
      'summary.weave.trace_name',
      'summary.weave.display_name',
    ].map((name) => [name, 'text']),
  ),
  wb_run_step: 'number',
  storage_size_bytes: 'number',
  total_storage_size_bytes: 'number',
  'summary.weave.latency_ms': 'number',
  started_at: 'instant',
  ended_at: 'instant',
  deleted_at: 'instant',
}

const FEEDBACK = /^feedback\.\[(.+?)\]\.(creator|created_at|feedback_type|payload(?:\..*)?)$/s

/** What the fields of a query say of a call among all of its project, as of a position. */
export const meaningOf = (call: Call, calls: readonly Call[], position: number): Meaning => {
  const end = endAt(call, position)
  const feedbackValue = (name: string): Value => {
    const [, type, field] = FEEDBACK.exec(name)!
    const valueOf = (one: Feedback): Single => {
      if (field === 'creator') return text(one.creator)
      if (field === 'feedback_type') return text(one.type)
      if (field === 'created_at') return instant(one.at)
      return leafAt(one.payload, partsOf(field!).slice(1))
    }
    const several = call.feedback
      .filter((one) => one.position <= position && (one.purged === null || one.purged > position))
      .filter((one) => type === '*' || one.type === type)
      .toSorted((a, b) => b.at - a.at || byCodePoints(b.id, a.id))
      .map(valueOf)
    return { several: several.length === 0 ? [null] : several }
  }

  const plain: Readonly<Record<string, () => Value>> = {
    display_name: () => text(nameAt(call, position)),
    exception: () => text(end?.exception ?? null),
    started_at: () => instant(call.at),
    ended_at: () => instant(end?.at),
    deleted_at: () => null,
    turn_id: () => null,
    wb_run_step: () => number(call.wb_run_step),
    storage_size_bytes: () => number(bytesOf(call, position)),
    total_storage_size_bytes: () =>
      call.parent_id !== null
        ? null
        : number(
            calls
              .filter((one) => one.trace_id === call.trace_id && isThere(one, position))
              .reduce((sum, one) => sum + bytesOf(one, position), 0),
          ),
    'summary.weave.status': () => text(statusOf(end)),
    'summary.weave.trace_name': () => text(nameAt(call, position) || nameOfOp(call.op_name)),
    'summary.weave.display_name': () => text(nameAt(call, position)),
    'summary.weave.latency_ms': () =>
      end === null || end.at < call.at ? null : number(Math.floor((end.at - call.at) / 1000)),
    input_refs: () => ({ leaf: [...refsIn(call.inputs)] }),
    output_refs: () => ({ leaf: [...refsIn(end?.output)] }),
  }

  return {
    kind: (name) => {
      const feedback = FEEDBACK.exec(name)?.[2]
      if (feedback === undefined) return KINDS[name] ?? 'leaf'
      return { creator: 'text', feedback_type: 'text', created_at: 'instant' }[feedback] ?? 'leaf'
    },
    value: (name) => {
      if (Object.hasOwn(plain, name)) return plain[name]!()
      if (name.startsWith('feedback.')) return feedbackValue(name)
      const [root, ...path] = partsOf(name)
      const field = root!.replace(/_dump$/, '')
      if (path.length === 0 && KINDS[field] === 'text')
        return text((call as unknown as Record<string, string | null>)[field] ?? null)
      const payload = { output: end?.output ?? null, summary: end?.summary ?? null, otel: null }
      return leafAt({ ...payload, inputs: call.inputs, attributes: call.attributes }[field] ?? null, path)
    },
  }
}
