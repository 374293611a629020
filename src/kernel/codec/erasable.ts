import { withDigitsOf } from '../json/digits.js'
import { completedBy, type Codec } from './codec.js'
import { withDefault } from './containers.js'
import { boolean } from './leaves.js'

/** Whether the content of an event was erased. */
export const erased = withDefault(boolean, undefined)

/** The codec of an event with the field {@link erased}, which only erased ones have. */
export const erasable = <A extends { readonly erased: boolean | undefined }>(codec: Codec<A>) =>
  completedBy(codec, (decoded): Omit<A, 'erased'> & { readonly erased?: boolean } => {
    const { erased: isErased, ...event } = decoded
    return withDigitsOf(decoded, isErased === undefined ? event : { ...event, erased: isErased })
  })
