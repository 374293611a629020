import type { Services } from '../../application/services.js'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import type { ObjectCommand } from '../../domain/objects/commands.js'
import { objectId } from '../../domain/objects/events.js'
import { aliasName, tagName } from '../../domain/objects/labels.js'
import { aliasesOf, tagsOf } from '../../projections/objects/queries.js'
import { inBody, inQuery } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { invalid } from '../../application/failure.js'
import { writeObject } from '../../application/objects/publish.js'
import type { AnyRoute, RouteSpec } from '../server/route.js'
import { changeProject, readProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

const user = { wb_user_id: nullable(string) }

const tagsBody = closed('ObjectTagsBody', {
  required: { project_id: projectId, tags: arrayOf(tagName) },
  optional: user,
})

const aliasesBody = closed('ObjectSetAliasesBody', {
  required: { project_id: projectId, digest: string, aliases: arrayOf(aliasName) },
  optional: user,
})

const noAliasesBody = closed('ObjectRemoveAliasesBody', {
  required: { project_id: projectId, aliases: arrayOf(string) },
  optional: user,
})

type LabelCommand = Exclude<ObjectCommand, { readonly type: 'PublishObject' | 'DeleteVersions' }>

interface LabelRoute<Body> extends Pick<RouteSpec<Body>, 'method' | 'path' | 'summary' | 'body'> {
  readonly command: (body: Body, version: OfVersion) => LabelCommand
}

interface OfVersion {
  readonly project_id: string
  readonly object_id: string
  readonly wb_user_id: string
  /** Empty if the path has none. */
  readonly version: string
}

/** Versions are named as in `/obj/read`. */
export const labelRoutes = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>,
): readonly AnyRoute[] => {
  const labelRoute = <Body extends { readonly project_id: string }>({ command, ...spec }: LabelRoute<Body>) =>
    changeProject(services, {
      ...spec,
      response: emptyResponse,
      project: inBody,
      handle: ({ body, params, project: project_id, principal }) => {
        const object_id = objectInPath(params)
        const version = params['digest'] ?? ''
        const labelled = command(body, { project_id, object_id, wb_user_id: principal.userId, version })
        return writing(writeObject(services, labelled))
      },
    })

  return [
    labelRoute({
      method: 'put',
      path: '/objs/:object_id/versions/:digest/tags',
      summary: 'Add tags to a version of an object.',
      body: tagsBody,
      command: ({ tags }, of) => ({ type: 'AddTags', ...of, tags }),
    }),
    labelRoute({
      method: 'post',
      path: '/objs/:object_id/versions/:digest/tags/remove',
      summary: 'Remove tags from a version of an object. Tags that it does not have are ignored.',
      body: closed('ObjectRemoveTagsBody', {
        required: { project_id: projectId, tags: arrayOf(string) },
        optional: user,
      }),
      command: ({ tags }, of) => ({ type: 'RemoveTags', ...of, tags }),
    }),
    labelRoute({
      method: 'put',
      path: '/objs/:object_id/aliases',
      summary: 'Point aliases at a version of an object, moving them from any other version.',
      body: aliasesBody,
      command: ({ digest: version, aliases }, of) => ({ type: 'SetAliases', ...of, version, aliases }),
    }),
    labelRoute({
      method: 'post',
      path: '/objs/:object_id/aliases/remove',
      summary: 'Remove aliases of an object. Aliases that are not set are ignored.',
      body: noAliasesBody,
      command: ({ aliases }, { version: _, ...of }) => ({ type: 'RemoveAliases', ...of, aliases }),
    }),
  ]
}

const decodePath = decode(open('Path', { required: { object_id: objectId } }))

const objectInPath = (params: Readonly<Record<string, string>>): string => {
  const decoded = decodePath(params)
  if (E.isRight(decoded)) return decoded.right.object_id
  throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['path', ...problem.loc] })))
}

/** The distinct labels of a project's objects, sorted. */
export const labelListRoutes = (services: Pick<Services, 'access' | 'reading'>): readonly AnyRoute[] => {
  const list = (name: 'tags' | 'aliases', listsFrom: typeof tagsOf) =>
    readProject(services, {
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
