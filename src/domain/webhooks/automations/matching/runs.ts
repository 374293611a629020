import { entityOf } from '../../../../kernel/ids.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { runEvents, runStream, type EndState } from '../../../runs/events.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { RunState, RunTrigger } from './trigger.js'

const STATES: Readonly<Record<EndState, RunState>> = {
  finished: 'FINISHED',
  failed: 'FAILED',
  crashed: 'FAILED',
  killed: 'KILLED',
}

/** The trigger of a run's state change or of logged metrics. */
export const runTrigger = (event: RecordedEvent): RunTrigger | undefined => {
  switch (event.type) {
    case 'RunStarted': {
      const data = decodeData(runEvents.RunStarted, event)
      return data && ofRun(event, data, { state: 'RUNNING' })
    }
    case 'MetricsLogged': {
      const data = decodeData(runEvents.MetricsLogged, event)
      return data && ofRun(event, data, { metrics: data.metrics })
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

interface OfRun {
  readonly project_id: string
  readonly run_id: string
  readonly name: string
  readonly user: string
}

const ofRun = (
  event: RecordedEvent,
  { project_id, run_id, name, user }: OfRun,
  { state = null, metrics = {} }: Partial<Pick<RunTrigger, 'state' | 'metrics'>>,
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
        metrics,
      }
    : undefined
