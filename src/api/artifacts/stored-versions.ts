import type { KnownVersion, CollectionState } from '../../domain/artifact/state.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'

/** A version with its creation or link event. */
export interface StoredVersion {
  readonly known: KnownVersion
  readonly event: RecordedEvent
  readonly aliases: readonly string[]
}

const AT_ONCE = 16

/** A page ends after this many characters of events, because metadata may be large. */
const MAX_PAGE = 8_388_608

/** Reads the events of the versions, stopping at the size limit of a page. */
export const storedVersions = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
  state: CollectionState,
  versions: readonly KnownVersion[],
): Promise<readonly StoredVersion[]> => {
  const aliases = aliasesOf(state, new Set(versions.map(({ version }) => version)))
  const stored: StoredVersion[] = []
  let size = 0
  const readOne = async (known: KnownVersion): Promise<StoredVersion> => {
    const range = { from: BigInt(known.revision), limit: 1 }
    for await (const event of eventStore.readStream(stream, range))
      return { known, event, aliases: aliases.get(known.version) ?? [] }
    throw new Error('an event of the stream is missing from the event store')
  }
  for (let from = 0; from < versions.length && size < MAX_PAGE; from += AT_ONCE)
    for (const one of await Promise.all(versions.slice(from, from + AT_ONCE).map(readOne))) {
      if (size >= MAX_PAGE) break
      stored.push(one)
      size += one.event.size
    }
  return stored
}

const aliasesOf = (
  { aliases }: CollectionState,
  wanted: ReadonlySet<number>,
): ReadonlyMap<number, readonly string[]> => {
  const found = new Map<number, string[]>()
  for (const [alias, version] of aliases) {
    if (version === null || !wanted.has(version)) continue
    const known = found.get(version)
    if (known === undefined) found.set(version, [alias])
    else known.push(alias)
  }
  for (const names of found.values()) names.sort()
  return found
}
