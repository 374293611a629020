import type { LoadedState } from '../../kernel/execute.js'
import { foldCache } from '../../kernel/fold-cache.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RunState } from '../../domain/runs/decider.js'
import type { EndState, MetricsLogged, RunEvent, RunStarted } from '../../domain/runs/events.js'
import { LoggedSteps } from './logged-steps.js'

/** The cached part of a run: its steps with their event revisions, without the metrics. */
interface CachedRun {
  readonly started: RunStarted | null
  readonly ended: EndState | null
  readonly steps: LoggedSteps
}

/** The steps and runs that the cache may hold together: about 60 MB. */
const MOST = 4_000_000

type Metrics = MetricsLogged['metrics']

/**
 * Loads the part of a run's state that a decision needs: its start, its end and the metrics of one step. A cache of
 * step numbers, which only reads new events, locates the step; its metrics are read from the event. Only a run that is
 * not cached is read as a whole.
 */
export const runCache = (ports: Pick<Ports, 'eventStore'>) => {
  const folds = foldCache<CachedRun>(
    ports,
    {
      initialState: () => ({ started: null, ended: null, steps: new LoggedSteps() }),
      evolve: (run, { type, data, revision }) =>
        applyEvent(run, { type, data } as unknown as RunEvent, revision),
      weightOf: ({ steps }) => steps.size + 1,
    },
    MOST,
  )

  const metricsAt = async (stream: string, revision: number): Promise<Metrics> => {
    for await (const { data } of ports.eventStore.readStream(stream, { from: BigInt(revision), limit: 1 }))
      return (data as unknown as MetricsLogged).metrics
    throw new Error('an event of the stream is missing from the event store')
  }

  return async (stream: string, step: number | null): Promise<LoadedState<RunState>> => {
    const { started, ended, revision, expected, position } = await folds(
      stream,
      ({ state: { started, ended, steps }, ...at }) => {
        const revision = step === null ? undefined : steps.revisionOf(step)
        return { started, ended, revision, ...at }
      },
    )
    const steps =
      step === null || revision === undefined
        ? new Map<number, Metrics>()
        : new Map([[step, await metricsAt(stream, revision)]])
    return { state: { started, ended, steps }, expected, position }
  }
}

const applyEvent = (run: CachedRun, event: RunEvent, revision: bigint): CachedRun => {
  switch (event.type) {
    case 'RunStarted':
      return { ...run, started: event.data }
    case 'MetricsLogged':
      if (event.data.step !== null) run.steps.add(event.data.step, Number(revision))
      return run
    case 'RunFinished':
    case 'RunFailed':
      return { ...run, ended: event.data.state }
    default:
      // Unknown events of a newer release leave the state unchanged.
      return run
  }
}
