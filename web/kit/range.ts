const SPANS: Readonly<Record<string, number>> = {
  '1h': 3_600,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
  '90d': 7_776_000,
  '365d': 31_536_000,
}

export const RANGES: readonly (readonly [range: string, label: string])[] = [
  ['', 'All time'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
]

/** Of pages that need a start. */
export const BOUNDED_RANGES: typeof RANGES = [
  ...RANGES.slice(1),
  ['90d', 'Last 90 days'],
  ['365d', 'Last 365 days'],
]

/** The start of a range such as `24h` or `2026-11-01T00:00:00Z..2026-11-02T00:00:00Z`. */
export const rangeOf = (range: string, now: number): { readonly from?: string; readonly to?: string } => {
  const span = SPANS[range]
  if (span !== undefined) return { from: new Date(now - span * 1000).toISOString() }
  const [from = '', to = ''] = range.split('..')
  const isTime = (text: string) => !Number.isNaN(Date.parse(text))
  return { ...(isTime(from) ? { from } : {}), ...(isTime(to) ? { to } : {}) }
}

/** The range of the same length just before (-1) or after (1), undefined for an open range. */
export const neighbourRange = (range: string, step: -1 | 1, now: number): string | undefined => {
  const { from, to = new Date(now).toISOString() } = rangeOf(range, now)
  if (from === undefined) return undefined
  const length = Date.parse(to) - Date.parse(from)
  return [from, to].map((end) => new Date(Date.parse(end) + step * length).toISOString()).join('..')
}
