import type { CallEvent, CallStarted } from '../../domain/calls/call.js'
import type { ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import { id, projectId } from '../../kernel/ids.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import { listed, select, sql } from '../sql.js'
import type { ProjectedEvent } from '../projection.js'

type Querying = Pick<ClickHouseWriter, 'query'>
type Positioned = CallEvent & Pick<ProjectedEvent, 'position'>
type Start = Pick<CallStarted, 'project_id' | 'id' | 'trace_id' | 'parent_id' | 'started_at'>

/**
 * Adds a deletion for each call below a deleted one, at the position from which it is below: a program may go on after
 * its trace was deleted, and a child may come before its parent. The result does not depend on how events are batched.
 */
export const withInheritedDeletions = async (
  clickHouse: Querying,
  events: readonly ProjectedEvent[],
): Promise<readonly ProjectedEvent[]> => {
  const traces = await tracesWithDeletions(clickHouse, events as readonly Positioned[])
  if (traces.size === 0) return events
  const family = await storedFamily(clickHouse, traces)
  const added: ProjectedEvent[] = []
  for (const event of events) {
    added.push(event)
    const { type, data, position } = event as Positioned
    if (!isPlaced(data) || !traces.has(keyOf(data))) continue
    if (type === 'CallDeleted') added.push(...family.remove(data, position))
    else if (type === 'CallStarted') added.push(...family.add(data, position))
  }
  return added
}

const keyOf = (
  { project_id, trace_id }: Pick<Start, 'project_id' | 'trace_id'>,
  id: string | null = '',
): string => JSON.stringify([project_id, trace_id, id])

type Placed = Pick<Start, 'project_id' | 'trace_id' | 'id'>

/** Events are not decoded; one that does not match its codec is refused when its rows are made. */
const isPlaced = <Data extends CallEvent['data']>(data: Data): data is Data & Placed =>
  projectId.is(data.project_id) && id.is(data.id) && id.is((data as Partial<Placed>).trace_id)

/** The projects with deletions: the others, which are most, cost no query. */
const projectsOf = new WeakMap<Querying, Promise<Set<string>>>()

const projectsWithDeletions = (clickHouse: Querying): Promise<Set<string>> => {
  const known = projectsOf.get(clickHouse)
  if (known !== undefined) return known
  const asked = clickHouse
    .query<{ project_id: string }>('SELECT DISTINCT project_id FROM calls WHERE deleted_position > 0')
    .then((rows) => new Set(rows.map(({ project_id }) => project_id)))
  projectsOf.set(clickHouse, asked)
  asked.catch(() => projectsOf.delete(clickHouse))
  return asked
}

/** The traces of the batch in which a call is deleted for the first time, or is started below a deleted one. */
const tracesWithDeletions = async (
  clickHouse: Querying,
  events: readonly Positioned[],
): Promise<ReadonlyMap<string, Placed>> => {
  const projects = await projectsWithDeletions(clickHouse)
  const deletions: (readonly [Placed, Position])[] = []
  const starts: (readonly [Placed, parentId: string])[] = []
  for (const { type, data, position } of events) {
    if (type === 'CallDeleted' && isPlaced(data)) {
      projects.add(data.project_id)
      deletions.push([data, position])
    }
    if (type === 'CallStarted' && projects.has(data.project_id) && id.is(data.parent_id) && isPlaced(data))
      starts.push([data, data.parent_id])
  }
  if (deletions.length + starts.length === 0) return new Map()
  const deletedAt = await deletedPositions(clickHouse, [
    ...deletions.map(([call]) => call),
    ...starts.map(([{ project_id }, parentId]) => ({ project_id, id: parentId })),
  ])
  const found = new Map<string, Placed>()
  for (const [call, position] of deletions) {
    const earlier = deletedAt.get(`${call.project_id} ${call.id}`)
    if (earlier === undefined || earlier >= position) found.set(keyOf(call), call)
  }
  for (const [start, parentId] of starts)
    if (deletedAt.has(`${start.project_id} ${parentId}`)) found.set(keyOf(start), start)
  return found
}

const deletedPositions = async (
  clickHouse: Querying,
  calls: readonly Pick<Placed, 'project_id' | 'id'>[],
): Promise<ReadonlyMap<string, Position>> => {
  const rows = await select<{ call: string; position: string }>(
    clickHouse,
    sql`SELECT concat(project_id, ' ', id) AS call, toString(min(deleted_position)) AS position FROM calls
    WHERE deleted_position > 0 AND (project_id, started_at, id) IN (
      SELECT project_id, started_at, id FROM call_index
      WHERE project_id IN ${listed([...new Set(calls.map(({ project_id }) => project_id))])}
        AND id IN ${listed([...new Set(calls.map(({ id }) => id))])})
    GROUP BY call`,
  )
  return new Map(rows.map(({ call, position }) => [call, BigInt(position)]))
}

interface StoredFact extends Omit<Start, 'started_at'> {
  readonly started_at: string
  readonly started_position: string
  readonly deleted_position: string
}

/** The starts and deletions of traces that are projected already. */
const storedFamily = async (clickHouse: Querying, traces: ReadonlyMap<string, Placed>) => {
  const family = newFamily()
  const placed = [...traces.values()]
  const facts = await select<StoredFact>(
    clickHouse,
    sql`SELECT project_id, trace_id, call_id AS id, parent_id, toString(started_at) AS started_at,
      toString(started_position) AS started_position, toString(deleted_position) AS deleted_position
    FROM usage_facts WHERE project_id IN ${listed([...new Set(placed.map(({ project_id }) => project_id))])}
      AND trace_id IN ${listed([...new Set(placed.map(({ trace_id }) => trace_id))])}`,
  )
  for (const { started_at, started_position, deleted_position, ...fact } of facts) {
    if (!traces.has(keyOf(fact))) continue
    if (started_position !== '0')
      family.know({ ...fact, started_at: instantFrom(started_at) }, BigInt(started_position))
    if (deleted_position !== '0') family.knowDeleted(fact, BigInt(deleted_position))
  }
  return family
}

/** The calls of some traces, by their parents. */
const newFamily = () => {
  const children = new Map<string, (readonly [Start, Position])[]>()
  const deletedAt = new Map<string, Position>()

  const know = (start: Start, position: Position): void => {
    const key = keyOf(start, start.parent_id)
    const siblings = children.get(key)
    if (siblings === undefined) children.set(key, [[start, position]])
    else siblings.push([start, position])
  }
  /** False if the call is deleted earlier. A deletion at the same position is of the same event, which comes again. */
  const knowDeleted = (call: Placed, position: Position): boolean => {
    const key = keyOf(call, call.id)
    const known = deletedAt.get(key)
    if (known !== undefined && known < position) return false
    deletedAt.set(key, position)
    return true
  }
  /** The deletions of the calls below one that is deleted from a position on. */
  const remove = (call: Placed, since: Position): readonly ProjectedEvent[] => {
    const deletions: ProjectedEvent[] = []
    // Parents may be on a cycle.
    const seen = new Set([call.id])
    const removed: (readonly [Placed, Position])[] = [[call, since]]
    knowDeleted(call, since)
    for (const [above, position] of removed)
      for (const [child, started] of children.get(keyOf(above, above.id)) ?? []) {
        const from = started > position ? started : position
        if (seen.has(child.id) || !knowDeleted(child, from)) continue
        seen.add(child.id)
        deletions.push(deletionOf(child, from))
        removed.push([child, from])
      }
    return deletions
  }
  return {
    know,
    knowDeleted,
    remove,
    /** A new start, and the deletions that follow from it. */
    add: (start: Start, position: Position): readonly ProjectedEvent[] => {
      know(start, position)
      const above = start.parent_id === null ? undefined : deletedAt.get(keyOf(start, start.parent_id))
      if (above === undefined) return []
      const from = position > above ? position : above
      return knowDeleted(start, from) ? [deletionOf(start, from), ...remove(start, from)] : []
    },
  }
}

const deletionOf = ({ project_id, id, trace_id, started_at }: Start, position: Position): ProjectedEvent => ({
  type: 'CallDeleted',
  data: { project_id, id, trace_id, started_at },
  position,
})
