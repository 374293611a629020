import { arrayOf } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import { aliasesOf, tagsOf } from '../../projections/objects/queries.js'
import { inQuery } from '../authorization.js'
import type { AnyRoute } from '../route.js'
import { readProject } from '../route-kinds.js'
import type { Objects } from './objects.js'

/** The distinct labels of a project's objects, sorted. */
export const labelListRoutes = (objects: Objects): readonly AnyRoute[] => {
  const list = (name: 'tags' | 'aliases', listsFrom: typeof tagsOf) =>
    readProject(objects, {
      method: 'get',
      path: `/${name}`,
      summary: `List the ${name} of a project's objects.`,
      query: open('ProjectQuery', { required: { project_id: projectId } }),
      response: open(name === 'tags' ? 'TagsList' : 'AliasesList', { required: { [name]: arrayOf(string) } }),
      project: inQuery,
      handle:
        ({ project, reader }) =>
        async (position) => ({ body: { [name]: await listsFrom(reader)(project, position) } }),
    })
  return [list('tags', tagsOf), list('aliases', aliasesOf)]
}
