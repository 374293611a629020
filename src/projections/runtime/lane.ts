import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { entityOf } from '../../kernel/ids.js'

/** The limits of one batch: events, and characters of JSON. */
export const MAX_BATCH = { events: 20_000, characters: 16 * 1024 * 1024 }

/** The team of an event, or '' where it is of all teams. */
export const teamOf = ({ data: { project_id } }: RecordedEvent): string =>
  typeof project_id === 'string' ? entityOf(project_id) : ''

/** Characters of an event's JSON, with those of its spilled fields. */
export const sizeOf = ({ data, size }: RecordedEvent): number => {
  const { spilled } = data
  if (!isJsonObject(spilled)) return size
  return Object.values(spilled).reduce<number>((sum, field) => sum + sizeOfBlob(field), size)
}

/** A malformed reference counts nothing here; the event is quarantined when it is resolved. */
const sizeOfBlob = (field: Json): number =>
  isJsonObject(field) && typeof field['size'] === 'number' ? field['size'] : 0

/** Events that were read from the log and are not inserted yet, in the order of the log. */
export class Lane {
  #pending: RecordedEvent[] = []
  #inserting: readonly RecordedEvent[] = []
  /** When the first of them arrived. */
  #pendingSince = Infinity
  #insertingSince = Infinity
  /** Of the pending events: characters with those of spilled fields, and without. */
  #characters = 0
  #held = 0
  readonly #charactersOf = new Map<string, number>()

  add(event: RecordedEvent): void {
    if (this.#pending.length === 0) this.#pendingSince = performance.now()
    this.#pending.push(event)
    this.#characters += sizeOf(event)
    this.#held += event.size
    this.#charactersOf.set(teamOf(event), this.charactersOf(teamOf(event)) + sizeOf(event))
  }

  /** Removes the next batch from the pending events; it is in the lane until it is inserted. */
  take(): readonly RecordedEvent[] {
    let count = 0
    let characters = 0
    for (const event of this.#pending) {
      if (count >= MAX_BATCH.events || characters >= MAX_BATCH.characters) break
      count += 1
      characters += sizeOf(event)
      this.#held -= event.size
    }
    this.#characters -= characters
    this.#inserting = this.#pending.splice(0, count)
    this.#insertingSince = this.#pendingSince
    if (this.#pending.length === 0) this.#pendingSince = Infinity
    return this.#inserting
  }

  /** The batch that was taken is inserted. */
  inserted(): void {
    for (const event of this.#inserting) {
      const rest = this.charactersOf(teamOf(event)) - sizeOf(event)
      if (rest > 0) this.#charactersOf.set(teamOf(event), rest)
      else this.#charactersOf.delete(teamOf(event))
    }
    this.#inserting = []
    this.#insertingSince = Infinity
  }

  /** Characters of a team's events. */
  charactersOf(team: string): number {
    return this.#charactersOf.get(team) ?? 0
  }

  /** All events before it are inserted, or in another lane. */
  first(): RecordedEvent | undefined {
    return this.#inserting[0] ?? this.#pending[0]
  }

  firstOf(team: string): RecordedEvent | undefined {
    if (this.charactersOf(team) === 0) return undefined
    const isOfTeam = (event: RecordedEvent) => teamOf(event) === team
    return this.#inserting.find(isOfTeam) ?? this.#pending.find(isOfTeam)
  }

  length(): number {
    return this.#inserting.length + this.#pending.length
  }

  hasBatch(): boolean {
    return this.#pending.length >= MAX_BATCH.events || this.#characters >= MAX_BATCH.characters
  }

  /** Spilled fields are read when they are inserted, so they need no room. */
  hasRoom(): boolean {
    return this.#pending.length < MAX_BATCH.events && this.#held < MAX_BATCH.characters
  }

  pendingSince(): number {
    return this.#pendingSince
  }

  since(): number {
    return Math.min(this.#insertingSince, this.#pendingSince)
  }
}
