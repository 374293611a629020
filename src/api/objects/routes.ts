import type { AnyRoute } from '../route.js'
import { createObject } from './create.js'
import { deleteObject } from './delete.js'
import { labelListRoutes } from './label-lists.js'
import { labelRoutes } from './labels.js'
import type { Objects } from './objects.js'
import { queryObjects } from './query.js'
import { readObject } from './read.js'

export const objectRoutes = (objects: Objects): readonly AnyRoute[] => [
  createObject(objects),
  readObject(objects),
  queryObjects(objects),
  deleteObject(objects),
  ...labelRoutes(objects),
  ...labelListRoutes(objects),
]
