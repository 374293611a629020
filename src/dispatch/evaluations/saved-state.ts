import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { findAnchor, type LogAnchor } from '../../kernel/follow-log.js'

/** A position in the log, with the event there, which identifies the log. */
export interface LogPlace {
  readonly position: Position
  /** Null at the start of the log. */
  readonly anchor: LogAnchor | null
}

export const LOG_START: LogPlace = { position: 0n, anchor: null }

export const placeOf = ({ position, id, stream, revision }: RecordedEvent): LogPlace => ({
  position,
  anchor: { id, stream, revision },
})

/** Loads the state of an earlier process; undefined if there is none, it is damaged, or it belongs to another log. */
export const loadState = async (
  snapshots: Pick<Snapshots, 'read'>,
  eventStore: Pick<EventStore, 'readStream'>,
): Promise<{ readonly place: LogPlace; readonly state: JsonObject } | undefined> => {
  const state = jsonIn(await snapshots.read())
  if (!isJsonObject(state)) return undefined
  const { position, anchor = null } = state
  if (!isDigits(position) || !isJsonObject(anchor)) return undefined
  const { id, stream, revision } = anchor
  if (typeof id !== 'string' || typeof stream !== 'string' || !isDigits(revision)) return undefined
  const place = { position: BigInt(position), anchor: { id, stream, revision: BigInt(revision) } }
  return (await findAnchor(eventStore, place.anchor)) === undefined ? undefined : { place, state }
}

interface Saving {
  readonly snapshots: Pick<Snapshots, 'write'>
  readonly log: Pick<Log, 'warn'>
  /** The place that was loaded. */
  readonly from: LogPlace
  readonly current: () => { readonly place: LogPlace; readonly state: JsonObject }
}

const SAVE_EVERY_MS = 1000

/** Saves the current state every second if its place has changed. Returns how to stop, which saves once more. */
export const saveRegularly = ({ snapshots, log, from, current }: Saving): (() => Promise<void>) => {
  let saved = from.position
  const save = async () => {
    const { place, state } = current()
    const { position, anchor } = place
    if (position === saved || anchor === null) return
    const text = JSON.stringify({
      ...state,
      position: String(position),
      anchor: { ...anchor, revision: String(anchor.revision) },
    })
    await snapshots.write(text)
    saved = position
  }
  let saving = Promise.resolve()
  const saveOrWarn = () => {
    saving = saving.then(save).catch((error: unknown) => {
      log.warn('evaluation.state_not_saved', { error: error instanceof Error ? error.name : 'unknown' })
    })
    return saving
  }
  const timer = setInterval(() => void saveOrWarn(), SAVE_EVERY_MS)
  return () => {
    clearInterval(timer)
    return saveOrWarn()
  }
}

/** Decimal digits of a position or revision. */
export const isDigits = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^\d{1,19}$/.test(value)

const jsonIn = (text: string | undefined): Json => {
  try {
    return text === undefined ? null : parseJson(text)
  } catch {
    return null
  }
}
