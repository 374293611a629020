export const FACT_COLUMNS = [
  'project_id',
  'trace_id',
  'call_id',
  'position',
  'started_position',
  'ended_position',
  'deleted_position',
  'parent_id',
  'started_at',
  'ended_at',
  'source',
  'status_total',
  'models',
  'figures',
  'op',
  'wb_user_id',
  'thread_id',
  'wb_run_id',
  'status',
] as const

/** What wrote a call. `TraceCalls.source` has its index. */
export const SOURCES = ['', 'js-sdk', 'python-sdk', 'gateway'] as const

/** A row of `usage_facts`; positions are decimal digits. */
export interface UsageFact {
  readonly project_id: string
  readonly trace_id: string
  readonly call_id: string
  position: string
  started_position: string
  ended_position: string
  deleted_position: string
  parent_id: string
  started_at: string
  ended_at: string
  source: (typeof SOURCES)[number]
  status_total: number | null
  models: readonly string[]
  /** Eight figures a model, in the order of `FIGURES`. */
  figures: readonly number[]
  /** Of the row of the start. */
  op: string
  wb_user_id: string
  thread_id: string
  wb_run_id: string
  /** Of the row of the end. */
  status: string
}

const EPOCH = '1970-01-01 00:00:00.000000'

export const emptyFact = (project_id: string, trace_id: string, call_id: string): UsageFact => ({
  project_id,
  trace_id,
  call_id,
  position: '0',
  started_position: '0',
  ended_position: '0',
  deleted_position: '0',
  parent_id: '',
  started_at: EPOCH,
  ended_at: EPOCH,
  source: '',
  status_total: null,
  models: [],
  figures: [],
  op: '',
  wb_user_id: '',
  thread_id: '',
  wb_run_id: '',
  status: '',
})

export const factValues = (fact: UsageFact): readonly unknown[] => FACT_COLUMNS.map((column) => fact[column])
