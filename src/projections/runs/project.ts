import { runEvents, type RunEvent } from '../../domain/runs/events.js'
import { projectionOf, type Projected } from '../projection.js'
import type { RowOf } from '../table.js'
import { plainJson } from './plain-json.js'
import { ARTIFACT_USES, RUN_CHANGES, RUN_SUMMARIES } from './tables.js'

/** A run has the last value of each. */
export const LAST = RUN_CHANGES.names.slice(3)

/** The state of runs that no query selects. */
export const DELETED = 'deleted'

type Change = RowOf<typeof RUN_CHANGES>

export const runsProjection = projectionOf('runs', runEvents, (events) => {
  const changes: Change[] = []
  const summaries: RowOf<typeof RUN_SUMMARIES>[] = []
  const uses: RowOf<typeof ARTIFACT_USES>[] = []
  for (const event of events) {
    const { type, data, position, texts } = event
    const { project_id, run_id } = data
    const change = changeOf(event)
    if (change !== undefined) changes.push({ ...change, project_id, run_id, position })
    if (type === 'HistoryLogged' && data.summary !== null)
      summaries.push({ project_id, run_id, position, summary: texts?.['summary'] ?? plainJson(data.summary) })
    if (type === 'ArtifactUsed') uses.push({ ...data, position })
  }
  return [RUN_CHANGES.rows(changes), RUN_SUMMARIES.rows(summaries), ARTIFACT_USES.rows(uses)]
})

const changeOf = ({
  type,
  data,
  texts,
}: Projected<RunEvent>): Omit<Change, 'project_id' | 'run_id' | 'position'> | undefined => {
  switch (type) {
    case 'RunStarted': {
      const { user, name, started_at } = data
      return { user, name, state: 'running', at: started_at, started_at }
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
      return { state: 'running', at: data.resumed_at }
    case 'RunFinished':
    case 'RunFailed':
      return { state: data.state, at: data.ended_at }
    case 'RunDeleted':
      return { state: DELETED }
    default:
      return undefined
  }
}
