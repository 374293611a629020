import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { catalogue, type Aggregate } from '../../src/domain/catalogue.js'
import { newEvent, type Cause } from '../../src/kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../src/kernel/json/json.js'
import type { EventStore, NewEvent } from '../../src/kernel/ports/event-store.js'
import type { BlobStore } from '../../src/kernel/ports/blobs.js'
import { blobsNamedBy } from '../../src/kernel/spill/named-blobs.js'
import { appendNext } from './append-next.js'
import { arbitraryOf } from './arbitrary-of-codec.js'

/** Events of every type are in these projects. */
export const GENERATED_PROJECTS = ['made-0/every', 'made-1/every', 'made-2/every'] as const

/** The service carries it out at its start. */
export const GENERATED_REBUILD = 'made-0'

const SAMPLES = 30

/** Requests that the service carries out: they come once, or ask for nothing. */
const ONCE: ReadonlySet<string> = new Set(['RebuildRequested', 'ProjectDeleted'])
const HARMLESS: Readonly<Record<string, JsonObject>> = {
  RetentionChosen: { content_days: 0 },
  ProjectDeleted: { project_id: 'made-0/deleted' },
}

/**
 * Appends at least this many events in total, of every type of the catalogue, to the log of a stopped service. Each stream has the
 * types of its aggregate in the order of the catalogue, which is that of a life. Returns the number of events.
 */
export const appendEveryEvent = async (
  store: EventStore,
  blobs: Pick<BlobStore, 'put'>,
  least: number,
): Promise<number> => {
  const blob = await blobs.put(Buffer.from('{"content":"of a blob"}'))
  const samples = new Map(catalogue.map((aggregate) => [aggregate.name, samplesOf(aggregate, blob)]))
  let count = 0
  for (let round = 0; count < least; round += 1) {
    const project = GENERATED_PROJECTS[round % GENERATED_PROJECTS.length]!
    const streams = catalogue
      .map((aggregate) => {
        const lives = samples.get(aggregate.name)!
        const life = lives[round % lives.length]!.filter(({ type }) => round === 0 || !ONCE.has(type))
        return streamOf(aggregate, life, { project, id: `made-${round}` })
      })
      .filter(({ events }) => events.length > 0)
    await Promise.all(
      streams.map(({ stream, isNew, events }) =>
        isNew ? store.append(stream, 'none', events) : appendNext(store, stream, events),
      ),
    )
    count += streams.reduce((sum, { events }) => sum + events.length, 0)
  }
  return count
}

type Life = readonly { readonly type: string; readonly data: JsonObject }[]

const samplesOf = ({ events }: Aggregate, blob: string): readonly Life[] => {
  const byType = Object.entries(events).map(([type, codec]) =>
    fc
      .sample(arbitraryOf<JsonObject>(codec), { seed: 1, numRuns: SAMPLES })
      .map((data) => ({ type, data: naming(blob, type, data) })),
  )
  return Array.from({ length: SAMPLES }, (_, at) => byType.map((all) => all[at]!))
}

/** The data, not erased, where the one blob is in place of all that it names. */
const naming = (blob: string, type: string, data: JsonObject): JsonObject => {
  const own = withContent(data)
  const named = new Set(blobsNamedBy({ type, data: own }))
  const text = JSON.stringify(own, (_, value: unknown) =>
    typeof value === 'string' && named.has(value) ? blob : value,
  )
  return JSON.parse(text) as JsonObject
}

const withContent = (data: JsonObject): JsonObject => {
  const { spilled: _, erased: __, figures_erased: ___, ...rest } = data
  const nested = ['start', 'end'].flatMap((name) => {
    const holder = rest[name]
    return isJsonObject(holder) ? [[name, withContent(holder)] as const] : []
  })
  return { ...rest, ...Object.fromEntries(nested) }
}

const CAUSE: Cause = { correlationId: 'generated', causationId: 'generated', actor: 'generator' }

/** The stream and its data name the same project, team and thing. */
const streamOf = (
  { stream }: Aggregate,
  life: Life,
  { project, id }: { readonly project: string; readonly id: string },
): { readonly stream: string; readonly isNew: boolean; readonly events: readonly NewEvent[] } => {
  const team = project.split('/')[0]!
  const name = stream
    .split(',')[0]!
    .replace('<entity>/<project>', project)
    .replace('<team>', team)
    .replaceAll(/<[^>]+>/g, id)
  const events = life.map(({ type, data }) => {
    const placed: Record<string, Json> = { ...data }
    const places = { project_id: project, team, id, delivery_id: id }
    for (const [field, value] of Object.entries(places)) if (field in data) placed[field] = value
    return newEvent(randomUUID(), { type, data: { ...placed, ...HARMLESS[type] } }, CAUSE)
  })
  return { stream: name, isNew: name.endsWith(id), events }
}
