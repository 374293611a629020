import type { LabelCommand } from '../../domain/artifact/commands.js'
import type { CollectionPlace } from '../../domain/artifact/place.js'
import { versionNamed, type CollectionState } from '../../domain/artifact/state.js'
import { versionName } from '../../domain/artifact/version-name.js'
import type { AnyCodec } from '../../domain/codec/codec.js'
import type { Cause } from '../../domain/event.js'
import type { Executed } from '../../runtime/execute.js'
import type { Position } from '../../domain/ports/event-store.js'
import { writesProject } from '../conduct.js'
import type { FailureKind } from '../failure.js'
import { nothingToSay } from '../nothing-to-say.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { labelledVersion, newAlias, newTag } from './codecs.js'

/** Collections of one kind, as their labels are written. */
export interface LabelledKind<Place extends CollectionPlace> {
  /** The path of a collection. */
  readonly collection: string
  readonly query?: AnyCodec
  /** How a write may fail beyond what all writes of a project may. */
  readonly fails: readonly FailureKind[]
  /** The collection that a request names, to somebody who may write there. */
  readonly placeOf: (asked: Asked<unknown>) => Promise<Place>
  readonly write: (command: LabelCommand, cause: Cause) => Promise<Executed<CollectionState>>
  readonly acknowledged: (place: Place, position: Position | undefined) => Position | undefined
}

/** Aliases and tags of versions, in projects and in registries alike. */
export const labelRoutes = <Place extends CollectionPlace>(
  kind: LabelledKind<Place>,
): readonly AnyRoute[] => {
  const { collection, placeOf, acknowledged, write } = kind
  const written = {
    ...(kind.query && { query: kind.query }),
    takes: [],
    fails: [...writesProject.fails, ...kind.fails],
  } as const
  const removed = { ...written, fails: [...written.fails, 'invalid'], answer: nothingToSay } as const

  const label = async (asked: Asked<unknown>, commandIn: (place: Place) => LabelCommand) => {
    const place = await placeOf(asked)
    const command = commandIn(place)
    const { state, position } = await write(command, asked.cause)
    return { state, position: acknowledged(place, position) }
  }

  const set = async (
    asked: Asked<unknown>,
    more: { type: 'SetAlias'; alias: string } | { type: 'AddTag'; tag: string },
  ) => {
    const version = asked.params['version']!
    const { state, position } = await label(asked, (place) => ({ ...more, place, version }))
    return { body: { version: versionName(versionNamed(state, version)!.version) }, position }
  }

  return [
    route({
      method: 'post',
      path: `${collection}/versions/:version/aliases`,
      summary: 'Points an alias at a version; it points at one version of a collection at a time.',
      body: newAlias,
      ...written,
      answer: labelledVersion,
      handle: (asked) => set(asked, { type: 'SetAlias', alias: asked.body.alias }),
    }),
    route({
      method: 'delete',
      path: `${collection}/aliases/:alias`,
      summary: 'Removes an alias from a collection; one that is not set changes nothing.',
      ...removed,
      handle: async (asked) => {
        const alias = asked.params['alias']!
        const { position } = await label(asked, (place) => ({ type: 'RemoveAlias', place, alias }))
        return { body: {}, position }
      },
    }),
    route({
      method: 'post',
      path: `${collection}/versions/:version/tags`,
      summary: 'Gives a tag to a version.',
      body: newTag,
      ...written,
      answer: labelledVersion,
      handle: (asked) => set(asked, { type: 'AddTag', tag: asked.body.tag }),
    }),
    route({
      method: 'delete',
      path: `${collection}/versions/:version/tags/:tag`,
      summary: 'Takes a tag from a version; one that it does not have changes nothing.',
      ...removed,
      handle: async (asked) => {
        const { version, tag } = asked.params
        const { position } = await label(asked, (place) => ({
          type: 'RemoveTag',
          place,
          version: version!,
          tag: tag!,
        }))
        return { body: {}, position }
      },
    }),
  ]
}
