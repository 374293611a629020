import { MEASURES } from '../columns.js'
import type { Pricing, UsageFigures } from './queries.js'

export const sumOfFigures = (all: readonly UsageFigures[]): UsageFigures =>
  ({
    ...Object.fromEntries(
      MEASURES.map((measure) => [measure, all.reduce((sum, figures) => sum + figures[measure], 0n)]),
    ),
    pricing: pricingOf(all),
  }) as UsageFigures

/** Groups may share models, and name only some of them. */
const pricingOf = (all: readonly UsageFigures[]): Pricing => {
  const names = new Set(all.flatMap(({ pricing }) => pricing.unpriced))
  const unnamed = Math.max(0, ...all.map(({ pricing }) => pricing.unpricedCount - pricing.unpriced.length))
  return {
    isPriced: all.some(({ pricing }) => pricing.isPriced),
    unpriced: [...names].sort(),
    unpricedCount: names.size + unnamed,
  }
}
