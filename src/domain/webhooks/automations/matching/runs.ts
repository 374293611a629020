import { entityOf } from '../../../../kernel/ids.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { runEvents, runStream, type EndState } from '../../../runs/events.js'
import { numbersOfRow, rowOf } from '../../../runs/history.js'
import { onceFor } from '../../../../kernel/once-for.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { RunState, RunTrigger } from './trigger.js'

const STATES: Readonly<Record<EndState, RunState>> = {
  finished: 'FINISHED',
  failed: 'FAILED',
  crashed: 'FAILED',
  killed: 'KILLED',
}

/** The trigger of a run's state change or of logged metrics, whose lines must be in the event. */
export const runTrigger = (event: RecordedEvent): RunTrigger | undefined => {
  switch (event.type) {
    case 'RunStarted': {
      const data = decodeData(runEvents.RunStarted, event)
      return data && ofRun(event, data, { state: 'RUNNING' })
    }
    case 'MetricsLogged': {
      const data = decodeData(runEvents.MetricsLogged, event)
      return data && ofRun(event, data, { rows: [data.metrics] })
    }
    case 'HistoryLogged': {
      const data = decodeData(runEvents.HistoryLogged, event)
      return data && ofRun(event, data, { rows: rowsIn(event) })
    }
    case 'RunResumed': {
      const data = decodeData(runEvents.RunResumed, event)
      return data && ofRun(event, data, { state: 'RUNNING' })
    }
    case 'RunFinished':
    case 'RunFailed': {
      const data = decodeData(runEvents[event.type], event)
      return data && ofRun(event, data, { state: STATES[data.state] })
    }
    default:
      return undefined
  }
}

/** The rows of an event, which several automations ask for. */
const rowsIn = onceFor(({ data: { lines } }: RecordedEvent): RunTrigger['rows'] =>
  Array.isArray(lines) ? lines.map((line) => numbersOfRow(rowOf(String(line)) ?? {})) : [],
)

/** The values that an event logged for a metric, row by row. */
export const metricValues = (event: RecordedEvent, metric: string): readonly number[] => {
  const { metrics } = event.data
  const logged =
    event.type === 'HistoryLogged'
      ? rowsIn(event)
      : event.type === 'MetricsLogged' && typeof metrics === 'object' && metrics !== null
        ? [metrics as Readonly<Record<string, unknown>>]
        : []
  return logged.flatMap((row) => {
    const value: unknown = Object.hasOwn(row, metric) ? row[metric] : undefined
    return typeof value === 'number' && Number.isFinite(value) ? [value] : []
  })
}

interface OfRun {
  readonly project_id: string
  readonly run_id: string
  readonly name: string
  readonly user: string
}

const ofRun = (
  event: RecordedEvent,
  { project_id, run_id, name, user }: OfRun,
  { state = null, rows = [] }: Partial<Pick<RunTrigger, 'state' | 'rows'>>,
): RunTrigger | undefined =>
  runStream(project_id, run_id) === event.stream
    ? {
        kind: 'run',
        ...envelopeOf(event),
        team: entityOf(project_id),
        types: state === null ? ['RUN_METRIC', 'RUN_METRIC_CHANGE', 'RUN_METRIC_ZSCORE'] : ['RUN_STATE'],
        project_id,
        run_id,
        name,
        user,
        state,
        rows,
      }
    : undefined
