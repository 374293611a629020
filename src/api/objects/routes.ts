import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { labelListRoutes, labelRoutes } from './labels.js'
import { createObject, deleteObject, readObject } from './objects.js'
import { queryObjects } from './query.js'

export const objectRoutes = (services: Services): readonly AnyRoute[] => [
  createObject(services),
  readObject(services),
  queryObjects(services),
  deleteObject(services),
  ...labelRoutes(services),
  ...labelListRoutes(services),
]
