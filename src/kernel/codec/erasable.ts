import { withDigitsOf } from '../json/digits.js'
import { completedBy, type Codec } from './codec.js'
import { withDefault } from './containers.js'
import { boolean } from './leaves.js'

/** The content of an event was erased, or its figures too. */
export const erasureFields = {
  erased: withDefault(boolean, undefined),
  figures_erased: withDefault(boolean, undefined),
}

interface Marks {
  readonly erased: boolean | undefined
  readonly figures_erased: boolean | undefined
}

/** The codec of an event with {@link erasureFields}, which only erased ones have. */
export const erasable = <A extends Marks>(codec: Codec<A>) =>
  completedBy(
    codec,
    (decoded): Omit<A, keyof Marks> & { readonly erased?: boolean; readonly figures_erased?: boolean } => {
      const { erased, figures_erased, ...event } = decoded
      return withDigitsOf(decoded, {
        ...event,
        ...(erased === undefined ? {} : { erased }),
        ...(figures_erased === undefined ? {} : { figures_erased }),
      })
    },
  )

/** Whether nothing is left of an event but what its subject was, and on which day. Clients cannot write this mark. */
export const isWithoutFigures = (data: unknown): boolean =>
  (data as Readonly<Record<string, unknown>> | null)?.['figures_erased'] === true
