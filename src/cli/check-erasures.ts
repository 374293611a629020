import type { WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { SALT_BYTES } from '../kernel/event-seal.js'

export interface ErasureCheck {
  /** To be called with every event, in log order. */
  readonly add: (event: Pick<WrittenEvent, 'position' | 'type' | 'data' | 'seal'>) => void
  readonly end: () => { readonly erased: number; readonly errors: readonly string[] }
}

/** The first and the last position. */
type Range = readonly [number, number]

const NO_SALT = '0'.repeat(2 * SALT_BYTES)

/**
 * Compares erased events with the receipts, which are events of the tree themselves. With access to the file an event can be
 * made to look erased, but not without a receipt that everybody can see.
 */
export const checkErasures = (): ErasureCheck => {
  const erased: number[] = []
  const receipts: Range[] = []
  let requests = 0
  return {
    add: ({ position, type, data, seal }) => {
      if (!seal.startsWith(NO_SALT)) {
        if (type === 'CallsErased') receipts.push(...rangesIn(data))
      } else if (type === 'ErasureRequested') requests += 1
      else erased.push(position)
    },
    end: () => {
      receipts.sort(([one], [other]) => one - other)
      let [next, covered] = [0, 0]
      const errors: string[] = []
      for (const position of erased) {
        for (; next < receipts.length && receipts[next]![0] <= position; next += 1)
          covered = Math.max(covered, receipts[next]![1])
        if (position > covered)
          errors.push(`position ${position}: the event is erased, but no receipt names it`)
      }
      return { erased: erased.length + requests, errors }
    },
  }
}

/** Positions as `17-19,23`. */
const rangesIn = (data: string): readonly Range[] => {
  const [, positions = ''] = /"positions":"([\d,-]*)"/.exec(data) ?? []
  return positions.split(',').map((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return [first!, last!]
  })
}
