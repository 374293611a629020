import { registryStream } from '../../domain/artifacts/events.js'
import { registryDecider, type RegistriesState } from '../../domain/artifacts/registry.js'
import type { Cause } from '../../kernel/event.js'
import { execute, readState } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** The registries of a team as of now. Do not keep the state across an `await`. */
export const registriesOf = (ports: Pick<Ports, 'eventStore'>, team: string): Promise<RegistriesState> =>
  readState(ports, registryDecider, registryStream(team))

export const hasRegistry = async (
  ports: Pick<Ports, 'eventStore'>,
  team: string,
  registry: string,
): Promise<boolean> => (await registriesOf(ports, team)).ids.has(registry)

export const createRegistry = (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  registry: { readonly team: string; readonly registry: string; readonly id: string },
  cause: Cause,
) =>
  execute(ports)(
    registryDecider,
    registryStream(registry.team),
    [{ type: 'CreateRegistry', ...registry }],
    cause,
  )
