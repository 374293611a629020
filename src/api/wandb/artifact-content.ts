import { readDraft, storedByMd5 } from '../../application/artifacts/uploads.js'
import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import { partsOfId } from './ids.js'
import type { Authorization } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'
import { contentOf, contentResponse } from '../files/linked-content.js'

type ContentServices = Pick<Services, 'eventStore' | 'blobs' | 'access'>

const noSuchFile = (): Failure =>
  new Failure('not-found', 'File not found, or the API key has no access to its team.')

/** The artifact that first had the file. Its project has the content, also for links from a registry of another team. */
const birthArtifact = ({
  access,
}: ContentServices): Authorization<{ readonly project: string; readonly artifact: string }> => ({
  errors: ['not-found'],
  authorize: ({ params, principal }) => {
    const [team, project, , artifact] = partsOfId('Artifact', unpadded(params['artifact']!)) ?? []
    if (team === undefined || project === undefined || artifact === undefined) throw noSuchFile()
    for (const entity of [params['entity']!, team])
      if (!access.canAccessTeam(principal, entity)) throw noSuchFile()
    if (!access.canAccessProject(principal, `${team}/${project}`)) throw noSuchFile()
    return { project: `${team}/${project}`, artifact }
  },
})

/** Clients encode the whole address twice where the name of the file has a `%`: it changes the padding. */
const unpadded = (id: string): string => id.replace(/(?:=|%(?:25)*3D)+$/i, '')

/** The addresses at which the package `wandb` reads one file of a version, with its key; the second is of older versions. */
export const artifactContentRoutes = (services: ContentServices): readonly AnyRoute[] =>
  ['/:project/:collection/:artifact/:md5/:name', '/:artifact/:md5'].map((rest) =>
    readDirectory({
      method: 'get',
      path: `/artifactsV2/:region/:entity${rest}`,
      summary:
        'Reads a file of an artifact by its MD5 in hexadecimal, or the `Range` of it that the request names.',
      response: contentResponse,
      errors: ['overloaded'],
      authorization: birthArtifact(services),
      handle: async ({ project, artifact, params, ...request }) => {
        const stored = await storedByMd5(services, project, params['md5']!)
        if (stored === undefined || (await readDraft(services, project, artifact)) === undefined)
          throw noSuchFile()
        return contentOf(services, stored.blob, params['name'] ?? '', request)
      },
    }),
  )
