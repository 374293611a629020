import type { NewEvent } from '../../../src/kernel/ports/event-store.js'
import { arbitraryEvent } from '../../contract/event-store/arbitrary-events.js'

/** What the event with this id has. */
export const dataOf = (id: string) => ({ text: id.repeat(1 + (parseInt(id.slice(0, 2), 16) % 60)) })

export const eventOfItself = (): NewEvent => {
  const event = arbitraryEvent()
  return { ...event, data: dataOf(event.id) }
}
