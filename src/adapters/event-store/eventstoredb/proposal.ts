import type { EventData } from '@eventstore/db-client'
import type { JsonObject } from '../../../kernel/json/json.js'
import { parseJson } from '../../../kernel/json/parse.js'
import type { Expected, NewEvent } from '../../../kernel/ports/event-store.js'
import { InvalidAppend } from '../../../kernel/ports/event-store-errors.js'
import { serialise, type SerialisedEvent } from '../serialise.js'
import { metadataBeside } from './digits-beside.js'
import { isSystemName } from './recorded-event.js'

/** An append as the client takes it. */
export interface Proposal {
  readonly stream: string
  readonly expected: Expected
  readonly ids: readonly string[]
  readonly events: EventData[]
  readonly bytes: number
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * What the client cannot write as JSON would end the process, so it gets only what has been written here.
 *
 * @throws InvalidAppend, EventTooLarge as `serialise` does; InvalidAppend for names and ids the server does not take
 */
export const proposalOf = (stream: string, expected: Expected, given: readonly NewEvent[]): Proposal => {
  const { events, bytes } = serialise(stream, given)
  requireName(stream)
  for (const { id, type } of events) {
    requireName(type)
    if (!UUID.test(id)) throw new InvalidAppend('an event id must be a lower-case UUID')
  }
  return { stream, expected, ids: events.map(({ id }) => id), events: events.map(toEventData), bytes }
}

const requireName = (name: string): void => {
  if (name === '' || isSystemName(name))
    throw new InvalidAppend('a name must not be empty or start with $, which the EventStoreDB reserves')
}

const encoder = new TextEncoder()

/** The client takes metadata as bytes, data only as something to write. */
const toEventData = ({ id, type, data: text, metadata }: SerialisedEvent): EventData => {
  const data = parseJson(text) as JsonObject
  return {
    id,
    type,
    data,
    contentType: 'application/json',
    metadata: encoder.encode(metadataBeside(data, metadata)),
  }
}
