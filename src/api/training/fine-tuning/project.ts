import { projectFromHeaders } from '../../../gateway/completions/request-context.js'
import { foldCache, executeOnFold, type FoldCache } from '../../../kernel/fold-cache.js'
import {
  fineTuningDecider,
  fineTuningStream,
  type FineTuningCommand,
  type FineTuningEvent,
  type FineTuningState,
} from '../../../domain/training/fine-tuning.js'
import type { Cause } from '../../../kernel/event.js'
import type { Ports } from '../../../kernel/ports/ports.js'
import type { Services } from '../../../application/services.js'
import type { Training } from '../../../application/training/services.js'
import type { Authorization } from '../../server/authorization.js'

export interface FineTuningServices extends Pick<
  Services,
  keyof Ports | 'access' | 'reading' | 'throttle' | 'vendor'
> {
  readonly training: Training
}

const MOST = 100_000

/** The files and jobs of projects. */
export const openFineTunings = (ports: Pick<Ports, 'eventStore' | 'ids'>) => {
  const stateOf: FoldCache<FineTuningState> = foldCache(
    ports,
    {
      initialState: fineTuningDecider.initialState,
      evolve: (state, event) => fineTuningDecider.evolve(state, event as unknown as FineTuningEvent),
      weightOf: ({ files, jobs }) => 1 + files.size + jobs.size,
    },
    MOST,
  )
  return {
    read: <A>(project: string, read: (state: FineTuningState) => A): Promise<A> =>
      stateOf(fineTuningStream(project), ({ state }) => read(state)),
    write: (project: string, command: FineTuningCommand, cause: Cause) =>
      executeOnFold(ports)(
        stateOf,
        fineTuningDecider,
        fineTuningStream(project),
        command,
        cause,
        () => undefined,
      ),
  }
}

export type FineTunings = ReturnType<typeof openFineTunings>

/** The project of the header, as for completions, or else the default project of completions. */
export const projectInHeader = (
  services: Pick<Services, 'access' | 'vendor'>,
): Authorization<{ readonly project: string }> => ({
  errors: [],
  authorize: ({ headers, principal }) => ({ project: projectFromHeaders(services, headers, principal) }),
})
