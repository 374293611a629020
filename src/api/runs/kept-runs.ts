import type { Loaded } from '../../runtime/execute.js'
import { keptFolds } from '../../runtime/kept-folds.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { RunState } from '../../domain/run/decider.js'
import type { EndState, MetricsLogged, RunEvent, RunStarted } from '../../domain/run/events.js'
import { LoggedSteps } from './logged-steps.js'

/** What is kept of a run: no metrics, but where those of a step are. */
interface KeptRun {
  readonly started: RunStarted | null
  readonly ended: EndState | null
  readonly steps: LoggedSteps
}

/** Steps, and runs, that are kept together: some 60 MB. */
const MOST = 4_000_000

type Metrics = MetricsLogged['metrics']

/**
 * The state of a run as a decision needs it: whether it has begun and ended, and what stands under the one step in
 * question. A decision asks for nothing else, so that it is the same as on a whole fold. Where that step is, is known
 * from a fold of the run's step numbers, which reads on from where it was; what stands there is read from the event
 * itself. The first look at a run that is not kept reads all of it, once.
 */
export const keptRuns = (ports: Pick<Ports, 'eventStore'>) => {
  const folds = keptFolds<KeptRun>(
    ports,
    {
      fresh: () => ({ started: null, ended: null, steps: new LoggedSteps() }),
      take: (run, { type, data, revision }) => took(run, { type, data } as unknown as RunEvent, revision),
      weightOf: ({ steps }) => steps.size + 1,
    },
    MOST,
  )

  const metricsAt = async (stream: string, revision: number): Promise<Metrics> => {
    for await (const { data } of ports.eventStore.readStream(stream, { from: BigInt(revision), limit: 1 }))
      return (data as unknown as MetricsLogged).metrics
    throw new Error('an event of the stream is missing from the event store')
  }

  return async (stream: string, step: number | null): Promise<Loaded<RunState>> => {
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

const took = (run: KeptRun, event: RunEvent, revision: bigint): KeptRun => {
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
      // A newer process may already write events that this one does not know.
      return run
  }
}
