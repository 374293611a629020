import { clientIdDecider, clientIdStream, type ClientIdGiven } from '../../domain/artifacts/client-id.js'
import type { Cause } from '../../kernel/event.js'
import { execute, readState } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** Records which artifact was created with the id that a client chose. */
export const giveClientId = (
  ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256'>,
  given: ClientIdGiven,
  cause: Cause,
) => {
  const stream = clientIdStream(ports.sha256(given.client_id))
  return execute(ports)(clientIdDecider, stream, [{ type: 'GiveClientId', given }], cause)
}

/** The artifacts that were created with the id of a client, the first one first. */
export const artifactsOfClientId = (
  ports: Pick<Ports, 'eventStore' | 'sha256'>,
  clientId: string,
): Promise<readonly ClientIdGiven[]> =>
  readState(ports, clientIdDecider, clientIdStream(ports.sha256(clientId)))
