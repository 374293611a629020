import { yielding } from '../../kernel/yield-to-event-loop.js'

/** At most `most` of `total` indexes, evenly spread from the first to the last. */
export const spread = (total: number, most: number): readonly number[] => {
  if (most <= 0) return []
  if (total <= most) return Array.from({ length: total }, (_, at) => at)
  if (most === 1) return [total - 1]
  return Array.from({ length: most }, (_, at) => Math.floor((at * (total - 1)) / (most - 1)))
}

/** At most `most` of `total` indexes, among them the extremes of each of the series in stretches of equal length. */
export const withExtremes = async (
  total: number,
  series: readonly ((index: number) => number)[],
  most: number,
): Promise<readonly number[]> => {
  const stretches = Math.floor((most - 2) / (2 * series.length))
  if (total <= most || series.length === 0 || stretches < 1) return spread(total, most)
  const chosen = new Set([0, total - 1])
  const pause = yielding()
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const from = Math.floor((stretch * total) / stretches)
    const until = Math.floor(((stretch + 1) * total) / stretches)
    for (const valueAt of series) {
      let [least, min, greatest, max] = [from, NaN, from, NaN]
      for (let at = from; at < until; at += 1) {
        const value = valueAt(at)
        if (isNaN(value)) continue
        if (!(value >= min)) {
          least = at
          min = value
        }
        if (!(value <= max)) {
          greatest = at
          max = value
        }
      }
      chosen.add(least).add(greatest)
      await pause()
    }
  }
  for (const at of spread(total, most - chosen.size)) chosen.add(at)
  return [...chosen].sort((a, b) => a - b)
}

/** Members that the client adds to each row. */
export const CLIENTS_OWN = ['_step', '_runtime', '_timestamp']
