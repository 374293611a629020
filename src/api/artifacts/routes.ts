import type { AnyRoute } from '../route.js'
import { labelRoutes } from './labels.js'
import { placeWritten } from './place.js'
import { COLLECTION, versionRoutes, type Artifacts } from './versions.js'

export const artifactRoutes = (artifacts: Artifacts): readonly AnyRoute[] => {
  const { teams, reading, collections } = artifacts
  return [
    ...versionRoutes(artifacts),
    ...labelRoutes({
      collection: COLLECTION,
      errors: [],
      placeOf: (asked) => placeWritten(teams, asked),
      write: collections.write,
      acknowledged: ({ project_id }, position) => reading.ackPosition(project_id, position),
    }),
  ]
}
