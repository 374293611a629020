import {
  erasesFigures,
  erasureDecider,
  erasureStream,
  totalsOf,
  type ErasureRequested,
  type ErasureState,
} from '../../domain/erasures/erasure.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { readState } from '../../kernel/execute.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../../kernel/ports/event-store.js'
import { instantFrom } from '../../projections/clickhouse-values.js'
import { selectedCalls } from '../../projections/erasures/selected-calls.js'
import { selectionAt, type ErasureSelection } from './selection.js'

type Reading = { readonly eventStore: EventStore }

export interface ErasurePreview {
  readonly calls: number
  /** Of the JSON of their payload. */
  readonly bytes: number
  readonly oldest: Instant | null
}

/** What an erasure of a selection would remove. */
export const previewErasure = async (
  reader: ClickHouseReader,
  project: string,
  selection: ErasureSelection,
  position: Position,
  figures: boolean,
): Promise<ErasurePreview> => {
  let [calls, bytes, oldest] = [0, 0, '']
  const selected = selectionAt(project, selection, position)
  for await (const page of selectedCalls(reader, selected, { ...selection, figures }))
    for (const call of page) {
      calls += 1
      bytes += call.bytes
      if (oldest === '' || call.started_at < oldest) oldest = call.started_at
    }
  return { calls, bytes, oldest: oldest === '' ? null : instantFrom(oldest) }
}

/** What is known of an erasure: its request, progress and receipt. */
export const erasureOf = async ({ eventStore }: Reading, project: string, id: string) => {
  const state = await readState({ eventStore }, erasureDecider, erasureStream(project, id))
  return state.request === null ? undefined : shown(state, state.request)
}

/** The newest erasures of a project, newest first. */
export const latestErasures = async (reading: Reading, project: string, limit: number) => {
  const ids: string[] = []
  if (reading.eventStore.erase === undefined) return []
  for await (const { data } of reading.eventStore.readBackwards(new Set(['ErasureRequested']))) {
    if (ids.length === limit) break
    const { project_id, id } = data as unknown as ErasureRequested
    if (project_id === project) ids.push(id)
  }
  const found = await Promise.all(ids.map((id) => erasureOf(reading, project, id)))
  return found.flatMap((erasure) => erasure ?? [])
}

const shown = (
  state: ErasureState,
  { id, requested_at, requested_by, reason, ...request }: ErasureRequested,
) => {
  const { selected, receipts, finished } = state
  return {
    id,
    state: stageOf(state),
    requested_at,
    requested_by,
    reason,
    figures: erasesFigures(request),
    finished_at: finished?.finished_at ?? null,
    selected_calls: selected.reduce((sum, part) => sum + part.length, 0),
    ...totalsOf(state),
    blobs_deleted: finished?.blobs_deleted ?? 0,
    positions: receipts.map(({ positions }) => positions).filter((ranges) => ranges !== ''),
  }
}

/** `clearing`: the log has no content any more; read models and blobs are cleared. */
export const ERASURE_STAGES = ['selecting', 'erasing', 'clearing', 'finished'] as const

const stageOf = ({
  request,
  finished,
  isSelected,
  parts,
  selected,
}: ErasureState): (typeof ERASURE_STAGES)[number] => {
  if (finished !== null) return 'finished'
  if (request?.whole_project === true) return 'erasing'
  if (!isSelected) return 'selecting'
  return parts < selected.length ? 'erasing' : 'clearing'
}
