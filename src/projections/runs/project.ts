import type { RunEvent } from '../../domain/runs/events.js'
import { dateTime64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { plainJson } from './plain-json.js'
import type { Rows } from '../../kernel/ports/clickhouse.js'

type Positioned = RunEvent & Pick<ProjectedEvent, 'position' | 'texts'>

/** Each change may have some of these; a run has the last value of each. */
export const LAST = [
  'user',
  'name',
  'state',
  'at',
  'started_at',
  'group_name',
  'job_type',
  'tags',
  'notes',
  'host',
  'config',
] as const
export const RUN_CHANGE_COLUMNS = ['project_id', 'run_id', 'position', ...LAST] as const

const USE_COLUMNS = [
  'project_id',
  'run_id',
  'artifact_id',
  'source_project',
  'collection',
  'position',
] as const

/** The state of runs that no query selects. */
export const DELETED = 'deleted'

type Change = Partial<Record<(typeof RUN_CHANGE_COLUMNS)[number], string | null>>

export const runsProjection: Projection = {
  name: 'runs',
  rowsOf: (events) => {
    const changes: Change[] = []
    const summaries: (string | null)[][] = []
    const uses: string[][] = []
    for (const event of events as readonly Positioned[]) {
      const change = changeOf(event)
      const { project_id, run_id } = event.data
      const position = String(event.position)
      if (change !== undefined) changes.push({ ...change, project_id, run_id, position })
      if (event.type === 'HistoryLogged' && event.data.summary !== null)
        summaries.push([
          project_id,
          run_id,
          position,
          event.texts?.['summary'] ?? plainJson(event.data.summary),
        ])
      if (event.type === 'ArtifactUsed') {
        const { artifact_id, source_project, collection } = event.data
        uses.push([project_id, run_id, artifact_id, source_project, collection, position])
      }
    }
    const rows: Rows[] = [
      {
        table: 'run_changes',
        columns: RUN_CHANGE_COLUMNS,
        values: changes.map((change) => RUN_CHANGE_COLUMNS.map((column) => change[column] ?? null)),
      },
      { table: 'run_summaries', columns: ['project_id', 'run_id', 'position', 'summary'], values: summaries },
      { table: 'artifact_uses', columns: USE_COLUMNS, values: uses },
    ]
    return rows.filter(({ values }) => values.length > 0)
  },
}

const changeOf = ({ type, data, texts }: Positioned): Change | undefined => {
  switch (type) {
    case 'RunStarted': {
      const at = dateTime64(data.started_at)
      return { user: data.user, name: data.name, state: 'running', at, started_at: at }
    }
    case 'RunDescribed': {
      const { group, job_type, tags, notes, host } = data.details
      return {
        name: data.name,
        group_name: group ?? '',
        job_type: job_type ?? '',
        tags: JSON.stringify(tags),
        notes: notes ?? '',
        host: host ?? '',
        config: data.config === null ? null : (texts?.['config'] ?? plainJson(data.config)),
      }
    }
    case 'RunResumed':
      return { state: 'running', at: dateTime64(data.resumed_at) }
    case 'RunFinished':
    case 'RunFailed':
      return { state: data.state, at: dateTime64(data.ended_at) }
    case 'RunDeleted':
      return { state: DELETED }
    default:
      return undefined
  }
}
