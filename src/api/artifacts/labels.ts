import type { AddTag, LabelCommand, SetAlias } from '../../domain/artifacts/commands.js'
import type { CollectionPlace } from '../../domain/artifacts/place.js'
import { versionNamed, type CollectionState } from '../../domain/artifacts/state.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute, RouteRequest, RouteSpec } from '../server/route.js'
import { writing, type PlannedWrite } from '../server/run.js'
import { labelledVersion, newAlias, newTag } from './codecs.js'
import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'

/** A route that changes the labels of the collection in the request. */
export type LabelRoute<Body, Answer> = RouteSpec<Body, undefined, Answer> & {
  readonly handle: (
    request: Pick<RouteRequest<Body>, 'body' | 'params'>,
    place: CollectionPlace,
  ) => PlannedWrite<NoInfer<Answer>>
}

/** How the labels of one kind of collection are written. */
export interface LabelledKind {
  readonly collection: string
  readonly labelRoute: <Body = undefined, Answer = never>(route: LabelRoute<Body, Answer>) => AnyRoute
  readonly write: (command: LabelCommand, cause: Cause) => Promise<ExecuteResult<CollectionState, unknown>>
}

/** Aliases and tags of versions, for collections of projects and of registries. */
export const labelRoutes = ({ collection, labelRoute, write }: LabelledKind): readonly AnyRoute[] => {
  const set = (command: SetAlias | AddTag) =>
    writing(
      (cause) => write(command, cause),
      ({ state }) => ({ version: versionName(versionNamed(state, command.version)!.version) }),
    )
  const remove = (command: LabelCommand) => writing((cause) => write(command, cause))

  return [
    labelRoute({
      method: 'post',
      path: `${collection}/versions/:version/aliases`,
      summary: 'Points an alias at a version, moving it from any other version of the collection.',
      body: newAlias,
      response: labelledVersion,
      handle: ({ params, body: { alias } }, place) =>
        set({ type: 'SetAlias', place, version: params['version']!, alias }),
    }),
    labelRoute({
      method: 'delete',
      path: `${collection}/aliases/:alias`,
      summary: 'Removes an alias from a collection. Does nothing if the alias is not set.',
      response: emptyResponse,
      handle: ({ params }, place) => remove({ type: 'RemoveAlias', place, alias: params['alias']! }),
    }),
    labelRoute({
      method: 'post',
      path: `${collection}/versions/:version/tags`,
      summary: 'Adds a tag to a version.',
      body: newTag,
      response: labelledVersion,
      handle: ({ params, body: { tag } }, place) =>
        set({ type: 'AddTag', place, version: params['version']!, tag }),
    }),
    labelRoute({
      method: 'delete',
      path: `${collection}/versions/:version/tags/:tag`,
      summary: 'Removes a tag from a version. Does nothing if the version does not have it.',
      response: emptyResponse,
      handle: ({ params: { version, tag } }, place) =>
        remove({ type: 'RemoveTag', place, version: version!, tag: tag! }),
    }),
  ]
}
