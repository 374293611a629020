import { usageSums } from '../../application/calls/usage-sums.js'
import { pagesOf } from '../../application/calls/pages.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import type { CallId } from '../../projections/calls/pages.js'
import { callsByKey } from '../../projections/calls/read.js'
import { cellsOf } from '../../projections/calls/values.js'
import type { usageFrom } from '../../projections/usage/queries.js'

/** The fields that calls have as cells of a list. */
const CELLS = ['summary.weave.status', 'summary.weave.latency_ms', 'end_user'] as const

interface ExportedCall {
  readonly call: StoredCall
  readonly cells: readonly (string | null)[]
  readonly usage: ReturnType<typeof usageSums> | undefined
}

interface ExportedColumn {
  /** In the engine. */
  readonly type: 'String' | 'Nullable(String)' | 'Nullable(Int64)' | 'Float64' | 'Int64'
  readonly of: (call: ExportedCall) => string | number | null
  /** The text is JSON. */
  readonly isJson?: true
}

/** The columns of an export, each of the calls' JSON whole. */
export const EXPORTED: Readonly<Record<string, ExportedColumn>> = {
  id: { type: 'String', of: ({ call }) => call.id },
  trace_id: { type: 'String', of: ({ call }) => call.trace_id },
  parent_id: { type: 'Nullable(String)', of: ({ call }) => call.parent_id },
  op_name: { type: 'String', of: ({ call }) => call.op_name },
  display_name: { type: 'Nullable(String)', of: ({ call }) => call.display_name },
  status: { type: 'Nullable(String)', of: ({ cells }) => cells[0] ?? null },
  started_at: { type: 'String', of: ({ call }) => call.started_at },
  ended_at: { type: 'Nullable(String)', of: ({ call }) => call.ended_at },
  latency_ms: {
    type: 'Nullable(Int64)',
    of: ({ cells: [, latency] }) => (latency == null ? null : Number(latency)),
  },
  exception: { type: 'Nullable(String)', of: ({ call }) => call.exception },
  user: { type: 'Nullable(String)', of: ({ call }) => call.wb_user_id },
  end_user: { type: 'Nullable(String)', of: ({ cells }) => cells[2] ?? null },
  thread_id: { type: 'Nullable(String)', of: ({ call }) => call.thread_id },
  models: { type: 'String', of: ({ usage }) => JSON.stringify(usage?.models ?? []), isJson: true },
  total_tokens: { type: 'Int64', of: ({ usage }) => usage?.tokens ?? 0 },
  total_cost: { type: 'Float64', of: ({ usage }) => usage?.cost ?? 0 },
  attributes: { type: 'Nullable(String)', of: ({ call }) => call.attributes, isJson: true },
  inputs: { type: 'Nullable(String)', of: ({ call }) => call.inputs, isJson: true },
  output: { type: 'Nullable(String)', of: ({ call }) => call.output, isJson: true },
  summary: { type: 'Nullable(String)', of: ({ call }) => call.summary, isJson: true },
}

export type ExportedRow = readonly (string | number | null)[]

/** Memory for a byte of a page: the engine's rows, their values, and the text of the answer twice. */
const MEMORY_PER_BYTE = 4

interface Exporting {
  readonly reader: ClickHouseReader
  readonly project: string
  readonly memory: { readonly reserve: (bytes: number) => Promise<void> | undefined }
  readonly maxTraceCalls: number
  readonly usage: ReturnType<typeof usageFrom>
}

/** The rows of calls, in pages of bounded memory, with usage that includes all descendants. */
export async function* exportedRows(
  { reader, project, memory, maxTraceCalls, usage }: Exporting,
  ids: AsyncIterable<readonly CallId[]>,
  position: Position,
): AsyncGenerator<readonly ExportedRow[]> {
  let reserved = 0
  for await (const keys of pagesOf(ids)) {
    const call_ids = keys.map(({ id }) => id)
    const bytes = keys.reduce((sum, call) => sum + call.bytes, 0) * MEMORY_PER_BYTE
    if (bytes > reserved) await memory.reserve(bytes - reserved)
    reserved = Math.max(reserved, bytes)
    const [calls, cells, answer] = await Promise.all([
      callsByKey(reader)(project, keys, position),
      cellsOf(reader, project, call_ids, CELLS, position),
      usage(reader, {
        ...{ projectId: project, position, maxTraceCalls, limit: call_ids.length, operation: null },
        ...{ filter: { ...NO_FILTER, call_ids }, costs: { list: null } },
      }).catch(refuseTooLarge),
    ])
    const sums = new Map(answer.calls.map((call) => [call.id, usageSums(call)]))
    yield calls.map((call) => {
      const exported = { call, cells: cells.get(call.id) ?? [], usage: sums.get(call.id) }
      return Object.values(EXPORTED).map(({ of }) => of(exported))
    })
  }
}
