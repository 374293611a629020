import {
  fineTuningDecider,
  fineTuningStream,
  type FineTuningCommand,
  type FineTuningState,
} from '../../domain/training/fine-tuning.js'
import type { Cause } from '../../kernel/event.js'
import { execute, readState } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** The files and jobs of projects. `read` must not keep the state, which later events change in place. */
export const openFineTunings = (ports: Pick<Ports, 'eventStore' | 'ids'>) => ({
  read: async <A>(project: string, read: (state: FineTuningState) => A): Promise<A> =>
    read(await readState(ports, fineTuningDecider, fineTuningStream(project))),
  write: (project: string, command: FineTuningCommand, cause: Cause) =>
    execute(ports)(fineTuningDecider, fineTuningStream(project), [command], cause),
})

export type FineTunings = ReturnType<typeof openFineTunings>
