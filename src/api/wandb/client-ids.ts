import { artifactsOfClientId } from '../../application/artifacts/client-ids.js'
import { artifactWithId } from './artifacts.js'
import { canSeeProject, type Caller } from './caller.js'
import { artifactId, placeIn } from './places.js'

/** The id of the artifact that was created last with the id of a client, as a version if it is one. */
export const idOfClientId = async (caller: Caller, clientId: string): Promise<string | undefined> => {
  const artifacts = await artifactsOfClientId(caller.services, clientId)
  const last = artifacts.findLast(({ project_id }) => canSeeProject(caller, project_id))
  const place = last && placeIn(last.project_id, last.collection)
  if (place === undefined) return undefined
  return (await artifactWithId(caller, artifactId(place, last!.artifact_id)))?.id
}
