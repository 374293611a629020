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
] as const

/** Who wrote a call; the place of each word is the number that stands for it in `TraceColumns`. */
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
})

export const factValues = (fact: UsageFact): readonly unknown[] => [
  fact.project_id,
  fact.trace_id,
  fact.call_id,
  fact.position,
  fact.started_position,
  fact.ended_position,
  fact.deleted_position,
  fact.parent_id,
  fact.started_at,
  fact.ended_at,
  fact.source,
  fact.status_total,
  fact.models,
  fact.figures,
]
