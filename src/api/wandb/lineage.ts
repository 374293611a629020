import type { CollectionPlace } from '../../domain/artifacts/place.js'
import { projectOfPlace } from '../../domain/artifacts/place.js'
import type { RunPlace } from '../../application/runs/history.js'
import { madeBy } from '../../projections/artifacts/queries.js'
import { runsUsing, usedBy } from '../../projections/runs/queries.js'
import { canSeeProject, caughtUp, connectionOf, type Caller, type PageOf } from './caller.js'
import { artifactId, placeIn } from './places.js'

interface NamedArtifact {
  readonly project: string
  readonly collection: string
  readonly artifact_id: string
}

const artifactPage = (caller: Caller, artifacts: readonly NamedArtifact[], page: PageOf) =>
  connectionOf(
    caller,
    artifacts,
    page,
    ({ artifact_id }) => artifact_id,
    ({ project, collection, artifact_id }) =>
      () => {
        const place = placeIn(project, collection)
        return place === undefined ? null : caller.nodes.artifact(caller, artifactId(place, artifact_id))
      },
  )

/** The versions that a run logged. */
export const artifactsMadeBy = async (caller: Caller, { project, run }: RunPlace, page: PageOf) => {
  const made = await madeBy(await caughtUp(caller, project))(project, run)
  return artifactPage(
    caller,
    made.map((one) => ({ ...one, project })),
    page,
  )
}

/** The ids of the versions that a run logged, and no other run. */
export const idsMadeAloneBy = async (
  caller: Caller,
  { project, run }: RunPlace,
): Promise<readonly string[]> => {
  const made = await madeBy(await caughtUp(caller, project))(project, run, { alone: true })
  const places = made.map(({ collection, artifact_id }) => ({
    place: placeIn(project, collection),
    artifact_id,
  }))
  return places.flatMap(({ place, artifact_id }) =>
    place === undefined ? [] : [artifactId(place, artifact_id)],
  )
}

/** The versions that a run used. */
export const artifactsUsedBy = async (caller: Caller, { project, run }: RunPlace, page: PageOf) => {
  const used = await usedBy(await caughtUp(caller, project))(project, run)
  return artifactPage(
    caller,
    used.map(({ source_project, ...one }) => ({ ...one, project: source_project })),
    page,
  )
}

/** The runs that used a version, of the teams of the caller. */
export const runsThatUsed = async (caller: Caller, place: CollectionPlace, artifact: string) => {
  const runs = await runsUsing(await caughtUp(caller, projectOfPlace(place)))(artifact)
  const visible = runs.filter(({ project_id }) => canSeeProject(caller, project_id))
  return connectionOf(
    caller,
    visible,
    {},
    ({ project_id, run_id }) => `${project_id}/${run_id}`,
    ({ project_id, run_id }) =>
      () =>
        caller.nodes.run(caller, project_id, run_id),
  )
}
