import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../domain/codec/codec.js'
import { arrayOf } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import type { Position } from '../../domain/ports/event-store.js'
import { aliasesOf, tagsOf } from '../../projections/objects/queries.js'
import { readsProject } from '../conduct.js'
import { invalid } from '../failure.js'
import { authorizeRead } from '../projects/access.js'
import { route, type AnyRoute, type RouteRequest } from '../route.js'
import type { Objects } from './objects.js'

/** `GET /tags` and `GET /aliases`: all that a project's objects have now, each once, sorted. */
export const labelListRoutes = ({ teams, reading, reader }: Objects): readonly AnyRoute[] => {
  const list = (
    name: 'tags' | 'aliases',
    read: (project: string, at: Position) => Promise<readonly string[]>,
  ) =>
    route({
      method: 'get',
      path: `/${name}`,
      summary: `List the ${name} of a project's objects.`,
      query: ofProject,
      ...readsProject,
      response: open(name === 'tags' ? 'TagsList' : 'AliasesList', { required: { [name]: arrayOf(string) } }),
      handle: async ({ query, principal, headers }) => {
        const project = projectInQuery(query)
        authorizeRead(teams, principal, project)
        const position = await reading.waitForAsOf(project, headers)
        return { body: { [name]: await read(project, position) }, position }
      },
    })
  return [list('tags', tagsOf(reader)), list('aliases', aliasesOf(reader))]
}

const ofProject = open('ProjectQuery', { required: { project_id: projectId } })
const decodeQuery = decode(ofProject)

const projectInQuery = (query: RouteRequest<undefined>['query']): string => {
  const decoded = decodeQuery(query)
  if (E.isRight(decoded)) return decoded.right.project_id
  throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['query', ...problem.loc] })))
}
