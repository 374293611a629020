import { shortNumber } from '../kit/format.js'

export const UNKNOWN = 'unknown'

/** `+12 %`; in points where the figures are percentages themselves. */
export const changeText = (now: number | null, before: number | null, isPercentage = false): string => {
  if (now === null || before === null || (before === 0 && !isPercentage))
    return now !== null && now > 0 && before === 0 ? 'none before' : UNKNOWN
  const change = isPercentage ? now - before : (100 * (now - before)) / before
  const size = Math.abs(change)
  if (size < 0.05) return 'as before'
  const digits =
    size >= 1000 ? shortNumber(Math.round(size)) : size >= 10 ? String(Math.round(size)) : size.toFixed(1)
  return `${change < 0 ? '−' : '+'}${digits}\u2009${isPercentage ? 'points' : '%'}`
}
