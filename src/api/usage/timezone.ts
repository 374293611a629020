import { invalidField } from '../../application/failure.js'
import { offsetsOf, type Offset } from '../../domain/usage/zone.js'

const MAX_NAME = 64

/** The offsets of a time zone of a request. */
export const requestedOffset = (timezone: string): Offset => {
  const offset = timezone.length > MAX_NAME ? undefined : offsetsOf(timezone)
  if (offset !== undefined) return offset
  throw invalidField(['timezone'], 'value_error', 'Value error, input should be the IANA name of a time zone')
}
