import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import { versionNamed, type CollectionState } from '../../domain/artifacts/state.js'
import { versionIn, versionName } from '../../domain/artifacts/version-name.js'
import type { FoldCache } from '../../kernel/fold-cache.js'
import type { Services } from '../../application/services.js'
import { takePage, type PageQuery } from '../server/page.js'
import { invalid } from '../../application/failure.js'
import { noSuchCollection, noSuchVersion } from './place.js'
import {
  storedVersions,
  withAliases,
  type StoredVersion,
} from '../../application/artifacts/stored-versions.js'

/** Lists versions by number; `after` and `next` are version names. */
export const listVersions =
  (services: Pick<Services, 'eventStore'>, stateOf: FoldCache<CollectionState>) =>
  async <A>(place: CollectionPlace, query: PageQuery, shown: (version: StoredVersion) => A) => {
    const stream = collectionStream(place)
    const page = await stateOf(stream, ({ state }) => {
      if (state.next === 0) throw noSuchCollection()
      const { data, next } = takePage(
        query,
        (after) => versionsAfter(state, after),
        ({ version }) => versionName(version),
      )
      return { data: withAliases(state, data), next }
    })
    const data = await storedVersions(services, stream, page.data)
    const last = data.at(-1)
    const next = data.length === page.data.length ? page.next : versionName(last!.known.version)
    return { data: data.map(shown), next }
  }

function* versionsAfter({ versions, next }: CollectionState, after: string | undefined) {
  for (let version = firstAfter(after); version < next; version += 1) {
    const known = versions.get(version)
    if (known?.gone === false) yield known
  }
}

const firstAfter = (after: string | undefined): number => {
  if (after === undefined) return 0
  const version = versionIn(after)
  if (version !== undefined) return version + 1
  throw invalid([
    {
      loc: ['query', 'after'],
      type: 'value_error',
      msg: "Input should be the name of a version, such as 'v0'",
    },
  ])
}

/** Reads a version by its name or an alias. */
export const readVersion =
  (services: Pick<Services, 'eventStore'>, stateOf: FoldCache<CollectionState>) =>
  async (place: CollectionPlace, named: string): Promise<StoredVersion> => {
    const stream = collectionStream(place)
    const found = await stateOf(stream, ({ state }) => {
      const known = versionNamed(state, named)
      if (known === undefined) throw noSuchVersion()
      return withAliases(state, [known])
    })
    const [stored] = await storedVersions(services, stream, found)
    return stored!
  }
