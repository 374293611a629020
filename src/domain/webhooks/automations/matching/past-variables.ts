import { deliveryStream } from '../../deliveries/events.js'
import type { EventStore } from '../../../../kernel/ports/event-store.js'
import { variablesIn, type Template } from '../../templates/template.js'
import { METADATA_PREFIX, type Variables } from '../../templates/variables.js'
import type { EventType } from '../events.js'
import type { Trigger } from './trigger.js'
import { variablesFor, type MessageNames } from './variables.js'
import type { Figure } from './verdict.js'
import { findVersionInfo } from './version-info.js'

type Streams = Pick<EventStore, 'readStream'>

interface Fired {
  readonly trigger: Trigger
  readonly eventType: EventType
  readonly figure: Figure | null
}

/** The variables of a message about a past event. */
export const pastVariables = async (
  eventStore: Streams,
  template: Template,
  { trigger, eventType, figure }: Fired,
  { vendor, publicUrl }: MessageNames,
): Promise<Variables> => {
  const shown =
    trigger.kind === 'artifact' && tellsOfVersion(template)
      ? (trigger.shown ?? (await findVersionInfo({ eventStore }, trigger, trigger.version)))
      : undefined
  return variablesFor(template, trigger, { eventType, figure, shown, vendor, publicUrl })
}

const tellsOfVersion = (template: Template): boolean =>
  variablesIn(template).some((name) => name === 'artifact_version' || name.startsWith(METADATA_PREFIX))

/** The number of deliveries between the original event and a delivery about this event. */
export const depthOf = async (eventStore: Streams, trigger: Trigger): Promise<number> => {
  if (trigger.depth !== null) return trigger.depth
  if (trigger.kind !== 'delivery') return 0
  const first = eventStore.readStream(deliveryStream(trigger.delivery_id), { limit: 1 })
  for await (const { type, data } of first)
    if (type === 'DeliveryScheduled' && typeof data['depth'] === 'number') return data['depth'] + 1
  return 1
}
