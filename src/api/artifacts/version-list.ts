import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import { versionNamed, type CollectionState } from '../../domain/artifacts/state.js'
import { versionIn, versionName } from '../../domain/artifacts/version-name.js'
import type { Collections } from '../../application/artifacts/collections.js'
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
  (services: Pick<Services, 'eventStore'>, { read }: Pick<Collections, 'read'>) =>
  async <A>(place: CollectionPlace, query: PageQuery, shown: (version: StoredVersion) => A) => {
    const state = await read(place)
    if (state.next === 0) throw noSuchCollection()
    const page = takePage(versionsAfter(state, query.after), {
      limit: query.limit,
      keyOf: ({ version }) => versionName(version),
    })
    const data = await storedVersions(services, collectionStream(place), withAliases(state, page.data))
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
  (services: Pick<Services, 'eventStore'>, { read }: Pick<Collections, 'read'>) =>
  async (place: CollectionPlace, named: string): Promise<StoredVersion> => {
    const state = await read(place)
    const known = versionNamed(state, named)
    if (known === undefined) throw noSuchVersion()
    const [stored] = await storedVersions(services, collectionStream(place), withAliases(state, [known]))
    return stored!
  }
