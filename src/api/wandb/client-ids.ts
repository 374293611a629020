import { clientIdDecider, clientIdStream, type ClientIdGiven } from '../../domain/artifacts/client-id.js'
import { execute, load } from '../../kernel/execute.js'
import { entityOf as entityNameOf } from '../../kernel/ids.js'
import { artifactWithId } from './artifacts.js'
import { canSee, type Caller } from './caller.js'
import { artifactId, placeIn } from './places.js'

const streamOf = ({ services }: Caller, clientId: string): string => clientIdStream(services.sha256(clientId))

export const giveClientId = async (caller: Caller, given: ClientIdGiven): Promise<void> => {
  const stream = streamOf(caller, given.client_id)
  await execute(caller.services)(clientIdDecider, stream, [{ type: 'GiveClientId', given }], caller.cause)
}

/** The id of the artifact that was created last with the id of a client, as a version if it is one. */
export const idOfClientId = async (caller: Caller, clientId: string): Promise<string | undefined> => {
  const { state } = await load(caller.services, clientIdDecider, streamOf(caller, clientId))
  const given = state.findLast(({ project_id }) => canSee(caller, entityNameOf(project_id)))
  const place = given && placeIn(given.project_id, given.collection)
  if (place === undefined) return undefined
  return (await artifactWithId(caller, artifactId(place, given!.artifact_id)))?.id
}
