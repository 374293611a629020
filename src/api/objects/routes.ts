import type { AnyRoute } from '../server/route.js'
import { labelListRoutes, labelRoutes } from './labels.js'
import { createObject, deleteObject, readObject, type Objects } from './objects.js'
import { queryObjects } from './query.js'

export const objectRoutes = (objects: Objects): readonly AnyRoute[] => [
  createObject(objects),
  readObject(objects),
  queryObjects(objects),
  deleteObject(objects),
  ...labelRoutes(objects),
  ...labelListRoutes(objects),
]
