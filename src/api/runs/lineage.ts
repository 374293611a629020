import type { Collections } from '../../application/artifacts/collections.js'
import { versionWithId } from '../../application/artifacts/find-version.js'
import type { Principal } from '../../application/principal.js'
import type { Runs } from '../../application/runs/runs.js'
import type { Services } from '../../application/services.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { madeBy } from '../../projections/artifacts/queries.js'
import { runsUsing, usedBy } from '../../projections/runs/queries.js'
import { placeInPath, placeInProject } from '../artifacts/place.js'
import { readVersion } from '../artifacts/version-list.js'
import { accessToProject, inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readPresent } from '../server/route-kinds.js'
import { noSuchRun, runInPath } from './runs.js'

const versionOfRun = open('VersionOfRun', {
  required: { project_id: string, collection: string, version: string, artifact_id: id },
})

const artifactsOfRun = open('ArtifactsOfRun', {
  required: { inputs: arrayOf(versionOfRun), outputs: arrayOf(versionOfRun) },
})

const runOfVersion = open('RunOfVersion', { required: { project_id: string, run_id: id, name: string } })

const runsOfVersion = open('RunsOfVersion', { required: { runs: arrayOf(runOfVersion) } })

/** What belongs to teams that the caller cannot access is left out. */
const canSee = ({ access }: Pick<Services, 'access'>, principal: Principal, project: string): boolean =>
  access.canAccessProject(principal, project)

/** Undefined for a version that was deleted. */
const versionOf = async (
  collections: Collections,
  project_id: string,
  collection: string,
  artifact_id: string,
) => {
  const known = versionWithId(artifact_id)(await collections.read(placeInProject(project_id, collection)))
  if (known === undefined || known.gone) return undefined
  return { project_id, collection, version: versionName(known.version), artifact_id }
}

const present = async <A>(each: readonly Promise<A | undefined>[]) =>
  (await Promise.all(each)).filter((one) => one !== undefined)

type LineageServices = Pick<Services, 'access' | 'reading' | 'eventStore'>

interface RunsAndCollections {
  readonly runs: Runs
  readonly collections: Collections
}

const inProject = (services: LineageServices) =>
  ({
    method: 'get',
    authorization: accessToProject(services.access, inPath),
    scope: ({ project }: { readonly project: string }) => project,
  }) as const

const artifactsOfRunRoute = (
  services: LineageServices,
  { runs, collections }: RunsAndCollections,
): AnyRoute =>
  readPresent(services, {
    ...inProject(services),
    path: '/api/runs/:entity/:project/:run/artifacts',
    summary: 'Lists the input and output artifact versions of a run.',
    response: artifactsOfRun,
    handle: (request) => {
      const { project, reader, principal } = request
      const run = runInPath(request)
      return async () => {
        if ((await runs.read(project, run, () => true)) === undefined) throw noSuchRun()
        const made = await madeBy(reader)(project, run)
        const used = await usedBy(reader)(project, run)
        const visible = used.filter(({ source_project }) => canSee(services, principal, source_project))
        const body = {
          inputs: await present(
            visible.map((one) => versionOf(collections, one.source_project, one.collection, one.artifact_id)),
          ),
          outputs: await present(
            made.map((one) => versionOf(collections, project, one.collection, one.artifact_id)),
          ),
        }
        return { body }
      }
    },
  })

const runsOfVersionRoute = (services: LineageServices, { runs, collections }: RunsAndCollections): AnyRoute =>
  readPresent(services, {
    ...inProject(services),
    path: '/api/artifacts/:entity/:project/:collection/versions/:version/used_by',
    summary: 'The runs that used a version, which is named by its number, such as v3, or an alias.',
    response: runsOfVersion,
    handle: (request) => {
      const { reader, principal } = request
      const place = placeInPath(request)
      const version = request.params['version']!
      return async () => {
        const { known } = await readVersion(services, collections)(place, version)
        const using = await runsUsing(reader)(known.artifactId)
        const visible = using.filter(({ project_id }) => canSee(services, principal, project_id))
        const named = visible.map(({ project_id, run_id }) =>
          runs.read(project_id, run_id, ({ state }) => ({ project_id, run_id, name: state.started!.name })),
        )
        return { body: { runs: await present(named) } }
      }
    },
  })

/** Which runs made and used which versions. */
export const lineageRoutes = (services: LineageServices, kept: RunsAndCollections): readonly AnyRoute[] => [
  artifactsOfRunRoute(services, kept),
  runsOfVersionRoute(services, kept),
]
