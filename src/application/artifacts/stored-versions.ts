import type { Described } from '../../domain/artifacts/commands.js'
import type { VersionCreated, VersionLinked } from '../../domain/artifacts/events.js'
import type { KnownVersion, CollectionState } from '../../domain/artifacts/state.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'

interface LabelledVersion {
  readonly known: KnownVersion
  readonly aliases: readonly string[]
}

/** A version with the event that made it or linked it, and what is said of it now. */
export interface StoredVersion extends LabelledVersion {
  readonly event: RecordedEvent
  readonly described: Described
}

/** What made a version of a project's collection. */
export const createdOf = ({ event }: Pick<StoredVersion, 'event'>) => event.data as VersionCreated

/** What made a version of a registry's collection. */
export const linkedOf = ({ event }: Pick<StoredVersion, 'event'>) => event.data as VersionLinked

const AT_ONCE = 16

/** A page ends after this many characters of events, because metadata may be large. */
const MAX_PAGE = 8_388_608

/** Reads the events of the versions, stopping at the size limit of a page. */
export const storedVersions = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
  versions: readonly LabelledVersion[],
): Promise<readonly StoredVersion[]> => {
  const stored: StoredVersion[] = []
  let size = 0
  const eventAt = async (revision: number): Promise<RecordedEvent> => {
    const range = { from: BigInt(revision), limit: 1 }
    for await (const event of eventStore.readStream(stream, range)) return event
    throw new Error('an event of the stream is missing from the event store')
  }
  const readOne = async (version: LabelledVersion): Promise<StoredVersion> => {
    const event = await eventAt(version.known.revision)
    const { described: at } = version.known
    const { data } = at === null ? event : await eventAt(at)
    const { metadata, description, ttl_seconds } = data as Partial<Described>
    return {
      ...version,
      event,
      described: {
        metadata: metadata ?? {},
        description: description ?? null,
        ttl_seconds: ttl_seconds ?? null,
      },
    }
  }
  for (let from = 0; from < versions.length && size < MAX_PAGE; from += AT_ONCE)
    for (const one of await Promise.all(versions.slice(from, from + AT_ONCE).map(readOne))) {
      if (size >= MAX_PAGE) break
      stored.push(one)
      size += one.event.size
    }
  return stored
}

export const withAliases = (
  state: CollectionState,
  versions: readonly KnownVersion[],
): readonly LabelledVersion[] => {
  const aliases = aliasesOf(state, new Set(versions.map(({ version }) => version)))
  return versions.map((known) => ({ known, aliases: aliases.get(known.version) ?? [] }))
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
