/** The start of a period that is named by its day or month in UTC: `2026-01-31` or `2026-01`. */
const startOf = (period: string): number =>
  Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`)

/** Earlier than this part of a period, its rate says little about the rest. */
const LEAST_PART = 0.02

/** When a budget is used up if its use goes on as in the period so far; undefined if it lasts until the end. */
export const usedUpAt = (
  { of, ends_at }: { readonly of: string; readonly ends_at: string },
  used: number,
  amount: number,
  now: number,
): number | undefined => {
  const [start, end] = [startOf(of), Date.parse(ends_at)]
  const passed = now - start
  if (used <= 0 || passed < LEAST_PART * (end - start)) return undefined
  const at = used >= amount ? now : start + (passed * amount) / used
  return at < end ? at : undefined
}
