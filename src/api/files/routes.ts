import type { AnyRoute } from '../route.js'
import { contentRoutes } from './content.js'
import { createRoutes } from './create.js'
import type { Files } from './files.js'

export const fileRoutes = (files: Files): readonly AnyRoute[] => [
  ...createRoutes(files),
  ...contentRoutes(files),
]
