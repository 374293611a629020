import type { LoadedState } from '../../kernel/execute.js'
import { foldCache } from '../../kernel/fold-cache.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RunState } from '../../domain/runs/decider.js'
import type { EndState, MetricsLogged, RunEvent, RunStarted } from '../../domain/runs/events.js'

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

/**
 * The logged steps of a run with the revisions of their events. Steps mostly ascend: those are stored in two arrays, 16
 * bytes per step, the others in a map.
 */
export class LoggedSteps {
  private readonly steps: number[] = []
  private readonly revisions: number[] = []
  private readonly others = new Map<number, number>()

  get size(): number {
    return this.steps.length + this.others.size
  }

  add(step: number, revision: number): void {
    const last = this.steps.at(-1)
    if (last === undefined || step > last) {
      this.steps.push(step)
      this.revisions.push(revision)
    } else if (this.revisionOf(step) === undefined) this.others.set(step, revision)
  }

  revisionOf(step: number): number | undefined {
    let [from, to] = [0, this.steps.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.steps[middle]! < step) from = middle + 1
      else to = middle
    }
    return this.steps[from] === step ? this.revisions[from] : this.others.get(step)
  }
}
