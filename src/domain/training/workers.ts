import { nothing, type Decider } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { WorkerEvent, WorkerRegistered } from './events.js'

export interface RegisterWorker {
  readonly type: 'RegisterWorker'
  readonly worker: WorkerRegistered
}

type Workers = Map<string, WorkerRegistered>

/** The workers by name. One that registers again as it is writes nothing. */
export const workerDecider: Decider<Workers, RegisterWorker, WorkerEvent> = {
  initialState: () => new Map(),
  evolve: (workers, { type, data }) =>
    (type as string) === 'WorkerRegistered' ? workers.set(data.worker, data) : workers,
  decide: (workers, { worker }) =>
    jsonEqual(workers.get(worker.worker) ?? null, worker)
      ? nothing
      : { events: [{ type: 'WorkerRegistered', data: worker }] },
}
