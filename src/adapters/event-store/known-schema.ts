import { SCHEMA_VERSION } from '../../kernel/event.js'
import { NewerEvents } from '../../kernel/ports/event-store-errors.js'

/** @throws NewerEvents for an event that a newer release wrote: decisions would ignore facts that this one cannot read */
export const requireKnownSchema = (version: number): void => {
  if (version > SCHEMA_VERSION)
    throw new NewerEvents(
      `the event log has an event written by a newer release (schema version ${version}; this release supports up to ` +
        `${SCHEMA_VERSION}): start the newer release, or restore a backup from before the upgrade`,
    )
}
